//! The text of `refresh`.

use seedbank::display::{counted, thousands};
use seedbank::engine::plan::{Method, Scope};
use seedbank::engine::refresh::{
    RecomputeReason, RecomputedCores, RefreshId, SiteChange, StepsView, TuningView,
};
use seedbank::engine::{Bank, EngineError, RefreshReport};
use seedbank::render;

use super::values::human_bytes;

/// Formats why a range of cores was recomputed.
fn cost_text(cost: &RecomputedCores) -> String {
    let mut text = String::from("computed: ");
    let runs = cost.cores.chunk_by(|a, b| a + 1 == *b);
    let runs: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            one => one.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let plural = if cost.cores.len() == 1 { "" } else { "s" };
    append!(text, "core{plural} {}: ", runs.join(", "));
    text.push_str(match cost.reason {
        RecomputeReason::Cold => "no previous refresh to reuse, or --cold\n",
        RecomputeReason::Bound => "the cached bounds prove too little\n",
        RecomputeReason::Further => "the previous refresh did not extract them\n",
        RecomputeReason::Changed if cost.cores.len() == 1 => {
            "its pages or their neighbours changed\n"
        }
        RecomputeReason::Changed => "their pages or neighbours changed\n",
    });
    for change in &cost.changes {
        let SiteChange { batch, site, pages } = change;
        let pages = counted(*pages, "page");
        append_line!(text, "  batch {batch}: {pages} of {site}");
    }
    if cost.more > 0 {
        append_line!(text, "  and {} more (batch and site)", cost.more);
    }
    text
}

/// Formats the result of tuning.
fn tuning_text(tuning: &TuningView, stored: bool) -> String {
    let mut text = format!(
        "tuned for a crawl of {}: {} --hops {} --fetch-cost {} --value-known {}, the best of {}{}\n",
        counted(tuning.budget, "page"),
        if stored {
            "the plan now has"
        } else {
            "the plan would have"
        },
        tuning.hops,
        tuning.fetch_cost,
        tuning.value_known,
        counted(tuning.trials.len(), "setting"),
        match tuning.draws {
            0 => ", by known pages: too few are crawled to hold some out".to_owned(),
            draws => format!(
                ", by a tenth of the crawled pages held out {}",
                counted(draws, "time")
            ),
        }
    );
    for hops in &tuning.left_out {
        append_line!(
            text,
            "  hops {hops}: not tried, since the searches would take too much of --tune-visits"
        );
    }
    text
}

/// The refreshes of the plan that came before.
pub(super) struct Earlier {
    /// The first one that the history has, and how long it took, in seconds.
    first: (RefreshId, f64),
    /// Number of seeds of the last one.
    seeds: u64,
    /// Number of seeds that it shares with the new list.
    kept: u64,
}

/// Returns what the new list is compared with; `None` if the history has no other refresh of the plan.
pub(super) fn earlier(bank: &Bank, report: &RefreshReport) -> Result<Option<Earlier>, EngineError> {
    // The state is opened once for both questions.
    let bank = bank.pinned()?;
    let history = bank.history()?;
    let new = report.view.refresh;
    let mut of_plan = history
        .refreshes
        .iter()
        .filter(|of| of.plan == report.view.plan && of.refresh < new);
    let Some(first) = of_plan.next() else {
        return Ok(None);
    };
    let last = of_plan.next_back().unwrap_or(first);
    let turnover = bank.turnover(&[last.refresh, new])?;
    Ok(turnover.first().map(|of| Earlier {
        first: (first.refresh, first.seconds),
        seeds: of.kept + of.lost,
        kept: of.kept,
    }))
}

/// Formats what a refresh took over from the previous one.
fn reuse_text(report: &RefreshReport) -> String {
    let view = &report.view;
    let (reused, all) = (view.steps_reused, view.steps_reused + view.steps_recomputed);
    let is_over_web = view.parameters.scope == Some(Scope::Web);
    let unit = match report.method {
        Method::Cores => "core",
        Method::Cover(_) if is_over_web => "seed",
        Method::Cover(_) => "site",
    };
    if reused == 0 && is_over_web && view.parameters.tuned.is_some() && report.tuning.is_none() {
        return "setting reused, seeds selected again".to_owned();
    }
    if reused == 0 {
        return "nothing reused".to_owned();
    }
    format!("{} of {} reused", thousands(reused), counted(all, unit))
}

/// Formats what was selected, what the list has in common with the previous one, and how long it took.
fn headline(report: &RefreshReport, earlier: Option<&Earlier>) -> String {
    let view = &report.view;
    let mut text = String::new();
    append!(
        text,
        "refresh {} of plan {} ({}), state after batch {}: {}",
        view.refresh,
        view.plan,
        report.method,
        view.batch,
        counted(view.seeds, "seed"),
    );
    if let Some(earlier) = earlier {
        append!(
            text,
            ", {} of the previous {} kept",
            earlier.kept,
            earlier.seeds
        );
    }
    append!(text, "; {}; {:.2} s", reuse_text(report), view.seconds);
    if let Some((refresh, seconds)) = earlier.map(|earlier| earlier.first) {
        append!(text, " (refresh {refresh}: {seconds:.2} s)");
    }
    text.push('\n');
    text
}

/// Appends the work that a refresh took.
fn append_costs(text: &mut String, report: &RefreshReport) {
    let view = &report.view;
    append_line!(
        text,
        "{}, {}, {}, {} read{}",
        if view.certified {
            "proven"
        } else {
            "not proven"
        },
        counted(view.link_visits, "link visit"),
        counted(view.page_visits, "page visit"),
        human_bytes(report.bytes_read),
        report.peak_memory.map_or_else(String::new, |bytes| {
            format!(", {} of memory", human_bytes(bytes))
        })
    );
    if let Some(steps) = &report.steps {
        let StepsView {
            bound_inherited,
            proven,
            repaired,
            bound_recomputed,
            computed,
            ..
        } = steps;
        append_line!(
            text,
            "steps reused: {bound_inherited} by an earlier bound, {proven} by their own, {repaired} by a repaired one, \
             {bound_recomputed} by a new one; {computed} recomputed"
        );
    } else if !report.view.cold && report.components > 0 {
        append_line!(
            text,
            "verified: {} of {}; {} loaded",
            report.components_verified,
            counted(report.components, "component"),
            counted(report.pages_loaded, "page")
        );
    }
}

/// Formats the report as text. `earlier` has the refreshes before a refresh that is stored.
pub(super) fn refresh_text(
    report: &RefreshReport,
    earlier: Option<&Earlier>,
    stored: bool,
    verbose: bool,
) -> String {
    let mut text = headline(report, earlier);
    if verbose {
        append_costs(&mut text, report);
    }
    if let Some(short) = report.shortage {
        render::write_shortage(&mut text, short, report.view.seeds);
    }
    if let Some(policy) = &report.view.policy {
        render::write_policy(&mut text, policy);
    }
    if let Some(stars) = report.stars {
        render::write_stars(&mut text, stars);
    }
    if let Some(tuning) = &report.tuning {
        text.push_str(&tuning_text(tuning, stored));
    }
    for cost in report.costs.iter().flatten() {
        text.push_str(&cost_text(cost));
    }
    if !report.pruned.is_empty() {
        let numbers: Vec<String> = report.pruned.iter().map(ToString::to_string).collect();
        append_line!(
            text,
            "{}: refresh{} {}",
            if stored {
                "deleted"
            } else {
                "would be deleted"
            },
            if numbers.len() == 1 { "" } else { "es" },
            numbers.join(", ")
        );
    }
    if let Some(verdict) = &report.verdict {
        append_line!(text, "{}", render::verdict_sentence(verdict));
    }
    text
}
