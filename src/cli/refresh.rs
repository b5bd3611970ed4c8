//! `refresh`: runs a plan.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::engine::{
    Bank, Cost, DryRun, Reason, RefreshReport, RefreshRequest, SiteChange, StepsView, TuningView,
};
use seedbank::render;
use seedbank::shown::counted;

use super::failure::CliError;
use super::metrics_file::MetricsArgs;
use super::output::{print, print_json};
use super::plan_flags::PlanFlags;
use super::session::{Outcome, Session};
use super::time_limit::TimeLimit;
use super::values::{Format, FormatArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank refresh bank                           the plan `default`, as it was last time
  seedbank refresh bank --seeds 50 --pick stable  50 seeds; keep last time's where possible
  seedbank refresh bank --plan dense --density 80 another plan, with parameters of its own
  seedbank refresh bank --plan-file weekly.toml   parameters from a file
  seedbank refresh bank --plan sites --method max-weight --per-site 10
                                                  10 seeds on each site, by the value they cover
  seedbank refresh bank --plan total --method greedy --seeds 500 --share value
  seedbank refresh bank --plan crawl --method greedy --scope web --seeds 20 --budget 5000
                                                  20 seeds for a crawl of 5,000 pages
  seedbank refresh bank --max-per-site 3 --exclude @media
                                                  at most 3 seeds of a site, no documents or images
  seedbank refresh bank --exclude no.txt --min-hubs 2
                                                  none that a line of no.txt names, none for a lone hub
  seedbank refresh bank --pin ours.txt --max-changes 10
                                                  our own pages first; at most 10 seeds change
  seedbank refresh bank --hits classic --iterations 60
  seedbank refresh bank --keep 30                 forget all but the plan's last 30 refreshes
  seedbank refresh bank --time-limit 20m          done in 20 minutes, or nothing is stored
  seedbank refresh bank --explain-cost            which batch and site made it compute cores
  seedbank refresh bank --seeds 50 --dry-run      what it would select; nothing is stored

A plan keeps its parameters: give them once, later only its name. Exit status 5 means that nothing
could be selected; the refresh is recorded, empty.";

/// Select seeds by a plan, and keep them with the reasons
///
/// The refresh gets a number. It computes on the state after the last batch, and an ingest can go
/// on meanwhile.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and any of them go together"
)]
pub(super) struct RefreshArgs {
    /// The bank
    bank: PathBuf,
    /// The plan; `default` unless said otherwise
    #[arg(long, value_name = "NAME", env = "SEEDBANK_PLAN")]
    plan: Option<String>,
    /// Take nothing over from earlier refreshes; the seeds are the same, unless the plan is within a bound
    #[arg(long)]
    cold: bool,
    /// Keep only the plan's last N refreshes, this one included
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Say which batch and which site made it necessary to compute cores
    #[arg(long)]
    explain_cost: bool,
    /// Compute and print what it would select, and store nothing: no refresh, no parameters
    #[arg(long)]
    dry_run: bool,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_WAIT")]
    wait: bool,
    /// End with status 1, and store nothing, where it is not done in so long: 90s, 20m, 1h30m
    ///
    /// Waiting for another process counts too. A list never depends on the time.
    #[arg(long, value_name = "DURATION", env = "SEEDBANK_TIME_LIMIT")]
    time_limit: Option<TimeLimit>,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    format: FormatArgs,
    // Last, since its headings would also apply to flags that follow.
    #[command(flatten)]
    parameters: PlanFlags,
}

pub(super) fn run(args: RefreshArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    args.metrics.check(&args.bank)?;
    // Reading a list from a pipe may take time too.
    let watch = session.watch()?.within(args.time_limit);
    let tune = args.parameters.tune();
    let options = args.parameters.options(&watch);
    let request = RefreshRequest {
        plan: args.plan,
        tune,
        options: watch.ended(options)?,
        cold: args.cold,
        keep: args.keep,
        wait: args.wait,
        explain_cost: args.explain_cost,
    };
    if args.dry_run {
        let tried = bank.dry_run(&request, &watch);
        let tried = watch.ended(tried)?;
        drop(watch);
        let shown = show(&tried, args.format.format, session);
        args.metrics.write(&bank)?;
        return shown;
    }
    let report = bank.refresh(&request, &watch);
    let report = watch.ended(report)?;
    drop(watch);
    // The refresh is stored: that is told first, and what is wrong with the file after it.
    let written = args.metrics.write(&bank);
    if report.plan_changed {
        session.note(format_args!(
            "plan {} had other parameters before; from now on it has these",
            report.view.plan
        ));
    }
    if let Some(doubt) = &report.view.uncertified_reason {
        session.warn(format_args!("the result is not certified: {doubt}"));
    }
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report, true))?,
    }
    written?;
    if report.view.seeds == 0 {
        session.warn(format_args!(
            "nothing could be selected; refresh {} is recorded, empty",
            report.view.refresh
        ));
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Done)
}

/// Prints what a refresh would select.
fn show(tried: &DryRun, format: Format, session: &Session) -> Result<Outcome, CliError> {
    let view = &tried.report.view;
    if tried.report.plan_changed {
        session.note(format_args!(
            "plan {} has other parameters, and keeps them",
            view.plan
        ));
    }
    if let Some(doubt) = &view.uncertified_reason {
        session.warn(format_args!("the result is not certified: {doubt}"));
    }
    match format {
        Format::Json => print_json(tried)?,
        Format::Text => {
            let mut shown = format!("dry run, nothing is stored: {}", text(&tried.report, false));
            for seed in &tried.seed_list {
                shown.push_str(&seed.url);
                shown.push('\n');
            }
            print(&shown)?;
        }
    }
    if view.seeds == 0 {
        session.warn("nothing could be selected");
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Done)
}

/// Why some cores were computed, for people.
fn cost_text(cost: &Cost) -> String {
    let mut text = String::from("computed: ");
    let runs = cost.cores.chunk_by(|a, b| a + 1 == *b);
    let runs: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            one => one.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let plural = if cost.cores.len() == 1 { "" } else { "s" };
    // Writing to a String cannot fail.
    let _ = write!(text, "core{plural} {}: ", runs.join(", "));
    text.push_str(match cost.reason {
        Reason::Cold => "nothing to take over, or not asked to\n",
        Reason::Bound => "what was kept of them proves too little\n",
        Reason::Further => "nothing changed, and nothing from there on was kept\n",
        Reason::Changed if cost.cores.len() == 1 => "pages that it is linked with changed\n",
        Reason::Changed => "pages that they are linked with changed\n",
    });
    for change in &cost.changes {
        let SiteChange { batch, site, pages } = change;
        let pages = counted(*pages, "page");
        let _ = writeln!(text, "  batch {batch}: {pages} of {site}");
    }
    if cost.more > 0 {
        let _ = writeln!(text, "  and {} more (batch and site)", cost.more);
    }
    text
}

/// What trying hops and prices came to, for people.
fn tuning_text(tuning: &TuningView, stored: bool) -> String {
    let mut text = format!(
        "tried for a crawl of {} pages; {} hops {} and fetch-cost {}:\n",
        tuning.budget,
        if stored {
            "from now on the plan has"
        } else {
            "the plan would have"
        },
        tuning.hops,
        tuning.fetch_cost
    );
    for trial in &tuning.trials {
        let is_taken = (trial.hops, trial.fetch_cost) == (tuning.hops, tuning.fetch_cost);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  hops {}, fetch-cost {}: {} seeds, {} pages fetched, value {}{}",
            trial.hops,
            trial.fetch_cost,
            trial.seeds,
            trial.fetched,
            trial.gathered,
            if is_taken { " (taken)" } else { "" }
        );
    }
    for hops in &tuning.left_out {
        let _ = writeln!(
            text,
            "  hops {hops} not tried: a search from every page would take more visits than --tune-visits"
        );
    }
    text
}

/// The report for people.
fn text(report: &RefreshReport, stored: bool) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "refresh {} of plan {} ({}), state after batch {}: {} in {:.2} s",
        report.view.refresh,
        report.view.plan,
        report.method,
        report.view.batch,
        counted(report.view.seeds, "seed"),
        report.view.seconds
    );
    let _ = writeln!(
        text,
        "{}{}, {} reused, {} computed, {}, {}, {} read{}",
        if report.view.certified {
            "certified"
        } else {
            "not certified"
        },
        if report.view.cold { ", cold" } else { "" },
        counted(report.view.steps_reused, "step"),
        report.view.steps_recomputed,
        counted(report.view.link_visits, "link visit"),
        counted(report.view.page_visits, "page visit"),
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
        let _ = writeln!(
            text,
            "steps: {bound_inherited} kept by an earlier bound, {proven} by their own, {repaired} by their own mended, \
             {bound_recomputed} by one computed anew; {computed} computed"
        );
    } else if !report.view.cold && report.components > 0 {
        let _ = writeln!(
            text,
            "verified: {} of {}, page for page and link for link; {} loaded",
            report.components_verified,
            counted(report.components, "component"),
            counted(report.pages_loaded, "page")
        );
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
        let _ = writeln!(
            text,
            "{}: refresh{} {}",
            if stored {
                "forgotten"
            } else {
                "would be forgotten"
            },
            if numbers.len() == 1 { "" } else { "es" },
            numbers.join(", ")
        );
    }
    text
}
