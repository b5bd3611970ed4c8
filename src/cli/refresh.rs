//! `refresh`: runs a plan. Flags take precedence over the plan file, and that over the stored plan.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;

use super::failure::{CliError, for_shell};
use super::output::MetricsArgs;
use super::parameter_flags::{ParameterFlags, Selection};
use super::session::{Outcome, Session};
use super::time_limit::TimeLimit;
use super::values::{Format, FormatArgs, human_bytes, integer};

use seedbank::answers;
use seedbank::display::{counted, escape_controls, thousands};
use seedbank::engine::plan::{Method, Parameter, Scope, Section, Value, ValueBy};
use seedbank::engine::query::DryRun;
use seedbank::engine::refresh::{
    EarlierRefreshes, LeadingList, RecomputeReason, RecomputedCores, SiteChange, StepsView,
    TuningView,
};
use seedbank::engine::{PlanOptions, RefreshReport, RefreshRequest};
use seedbank::watch::{Interruptible, Watch};

const SHORT_EXAMPLES: &str = "\
Examples:
  seedbank refresh bank --seeds 50 --budget 20k   50 seeds for a crawl of 20,000 pages
  seedbank refresh bank                           the same plan, after the next delta
  seedbank refresh bank --plan new --goal discovery

A plan stores its parameters. --help lists all of them.";

const EXAMPLES: &str = "\
Examples:
  seedbank refresh bank --seeds 50 --budget 20k   50 seeds for a crawl of 20,000 pages
  seedbank refresh bank                           the same plan, with its stored parameters
  seedbank refresh bank --plan new --goal discovery
                                                  seeds from which a crawl finds new pages
  seedbank refresh bank --plan groups --goal communities --pick stable
                                                  one seed for each dense group of pages, kept where
                                                  possible
  seedbank refresh bank --plan dense --density 80
                                                  cores with another density
  seedbank refresh bank --plan-file weekly.toml   parameters from a file
  seedbank refresh bank --plan sites --goal sites --per-site 10
                                                  10 seeds per site, by the value that they cover
  seedbank refresh bank --plan total --method greedy --seeds 500 --share value
  seedbank refresh bank --goal importance --replace
                                                  replaces the parameters of the plan
  seedbank refresh bank --judge                   compares the list with baselines again
  seedbank refresh bank --max-per-site 3 --exclude @media
                                                  at most 3 seeds per site, no documents or images
  seedbank refresh bank --plan groups --exclude no.txt --min-hubs 2
                                                  excludes the pages in no.txt, and cores with one hub
  seedbank refresh bank --pin ours.txt --max-changes 10
                                                  our own pages first; replaces at most 10 seeds
  seedbank refresh bank --plan classic --hits classic --iterations 60
  seedbank refresh bank --keep 30                 keeps only the last 30 refreshes of the plan
  seedbank refresh bank --time-limit 20m          fails after 20 minutes without storing anything
  seedbank refresh bank --explain-cost            shows which batches and sites required work
  seedbank refresh bank --seeds 50 --dry-run      prints the seeds without storing anything

A plan stores its parameters: give them once, and later only the name of the plan. Exit status 5 means
that nothing could be selected; the empty refresh is recorded.";

/// Select seeds by a plan and store them with the reasons
///
/// A goal sets the parameters of a new plan; without one, the goal is coverage. A list for a crawl of a number
/// of pages is compared with those of common baselines, with pages held out. Each refresh gets a number. It
/// reads the state after the last batch; another process can ingest meanwhile.
#[derive(Debug, Args)]
#[command(after_help = SHORT_EXAMPLES, after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(super) struct RefreshArgs {
    /// The bank
    bank: PathBuf,
    /// Name of the plan [default: default]
    #[arg(long, value_name = "NAME", env = "SEEDBANK_PLAN")]
    plan: Option<String>,
    /// Reuse nothing from earlier refreshes
    ///
    /// The seeds are the same, unless the plan allows a deviation with `--within`. Seeds of the previous list stay as
    /// `--keep-seeds` says.
    #[arg(long, hide_short_help = true)]
    cold: bool,
    /// Delete all but the last N refreshes of the plan, including this one
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX))]
    keep: Option<u32>,
    /// Report which batches and sites made it necessary to recompute cores
    #[arg(long, hide_short_help = true)]
    explain_cost: bool,
    /// Compare the list with common baselines, with pages held out
    ///
    /// A new or tuned plan with a budget is compared without this flag, unless the bank is a cluster bank of more than
    /// 50 million pages: all pages and links are loaded into one process.
    #[arg(long)]
    judge: bool,
    /// Do not compare the list with baselines; the next refresh does
    #[arg(long, conflicts_with = "judge", hide_short_help = true)]
    quick: bool,
    /// Replace the parameters of the plan
    ///
    /// Policies that all methods have are kept, seeds of the previous list are not. Needed to change the goal, the method or the scope
    /// of a plan.
    #[arg(long)]
    replace: bool,
    /// Print the seeds without storing the refresh or the parameters
    #[arg(long)]
    dry_run: bool,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_WAIT", hide_short_help = true)]
    wait: bool,
    /// Fail after this time, such as 90s, 20m or 1h30m, without storing anything [default: no limit]
    ///
    /// The exit status is then 1. The time includes waiting for another process. The seeds do not depend on
    /// the limit. If only the comparison with baselines is not finished, the list is stored.
    #[arg(
        long,
        value_name = "DURATION",
        env = "SEEDBANK_TIME_LIMIT",
        hide_short_help = true
    )]
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
    let bank = session.bank(&args.bank);
    args.metrics.check(&args.bank)?;
    // The time limit includes reading lists, since a pipe may block.
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
        judge: args.judge,
        quick: args.quick,
        rejects_empty_bank: true,
        replace: args.replace,
    };
    if args.dry_run {
        let run = bank.watched(watch.clone()).dry_run(&request);
        let run = watch.ended(run)?;
        drop(watch);
        let verbose = args.explain_cost || session.is_verbose();
        let outcome = print_dry_run(&run, args.format.format, args.judge, verbose, session);
        args.metrics.write(&bank)?;
        return outcome;
    }
    let verbose = args.explain_cost || session.is_verbose();
    let tell = |report: &RefreshReport| {
        if report.plan_changed {
            session.note(changes_text(report, request.replace));
        }
        warn_of_list(report, session);
    };
    // As text, the list is reported before it is compared.
    let mut reported = None;
    let report = bank
        .watched(watch.clone())
        .refresh_then(&request, |report| {
            if args.format.format == Format::Text {
                watch.clear();
                tell(report);
                let text = |report: &RefreshReport| refresh_text(report, true, verbose);
                reported = Some(args.format.format.print(report, text));
            }
        });
    let report = watch.ended(report)?;
    drop(watch);
    // The refresh is stored, so an error of the metrics file is reported after it.
    let written = args.metrics.write(&bank);
    let is_reported = reported.is_some();
    if !is_reported {
        tell(&report);
    }
    warn_of_verdict(&report, args.judge, session);
    args.format.format.print(&report, |report| {
        if is_reported {
            verdict_text(report, verbose)
        } else {
            refresh_text(report, true, verbose)
        }
    })?;
    reported.transpose()?;
    written?;
    if report.view.seeds == 0 {
        session.warn(format_args!(
            "nothing could be selected; refresh {} is recorded as empty",
            report.view.refresh
        ));
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Done)
}

/// Formats which parameters of a plan have changed, and the command that takes the change back.
fn changes_text(report: &RefreshReport, is_replaced: bool) -> String {
    let plan = &report.view.plan;
    let flag = |name: &str, value: &str| match value {
        "true" => format!("--{name}"),
        value if value.starts_with('-') => format!("--{name} {value}"),
        value => format!("--{name} {}", for_shell(value)),
    };
    if is_replaced {
        return format!("the parameters of plan {plan} have been replaced");
    }
    if report.changes.is_empty() {
        return format!("plan {plan} has other lines in its lists now");
    }
    let changes = report.changes.iter().map(|of| {
        let before = escape_controls(of.before.as_deref().unwrap_or("none"));
        match &of.now {
            Some(now) => format!("{} (before: {before})", flag(&of.parameter, now)),
            None => format!("no --{} (before: {before})", of.parameter),
        }
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    let back = report.changes.iter().map(|of| {
        let before = of.before.as_deref().filter(|_| of.now.is_some());
        before.map(|before| flag(&of.parameter, before))
    });
    let of_plan = match plan.as_str() {
        "default" => String::new(),
        plan => format!(" --plan {plan}"),
    };
    let back = match back.collect::<Option<Vec<_>>>() {
        Some(back) => format!(
            "; `refresh BANK{of_plan} {}` takes that back",
            back.join(" ")
        ),
        None => String::new(),
    };
    format!("plan {plan} has {changes} now{back}")
}

/// Prints the result of a dry run.
fn print_dry_run(
    run: &DryRun,
    format: Format,
    judge: bool,
    verbose: bool,
    session: &Session,
) -> Result<Outcome, CliError> {
    let view = &run.report.view;
    if run.report.plan_changed {
        session.note(format_args!(
            "the stored parameters of plan {} differ and are unchanged",
            view.plan
        ));
    }
    warn_of_list(&run.report, session);
    warn_of_verdict(&run.report, judge, session);
    format.print(run, |run| {
        let mut output = format!(
            "dry run, nothing is stored: {}",
            refresh_text(&run.report, false, verbose)
        );
        for seed in &run.seed_list {
            output.push_str(&seed.url);
            output.push('\n');
        }
        output
    })?;
    if view.seeds == 0 {
        session.warn("nothing could be selected");
        return Ok(Outcome::Nothing);
    }
    Ok(Outcome::Done)
}

/// Prints what the user should know about the list and the plan.
fn warn_of_list(report: &RefreshReport, session: &Session) {
    let view = &report.view;
    if let Some(doubt) = &view.uncertified_reason {
        session.warn(format_args!("not all cores are decided: {doubt}"));
    }
    if let Some(of) = report.default_budget {
        let budget = thousands(of.budget);
        match of.delta {
            Some(batch) => session.note(format_args!(
                "no --budget: the list is for a crawl of {budget} pages, as many as batch {batch} has"
            )),
            None => session.note(format_args!(
                "no --budget: the list is for a crawl of {budget} pages, half of the crawled pages"
            )),
        }
    }
    if counts_uncrawled_twice(&view.parameters) {
        session.note(
            "--p-uniq over the web: an uncrawled page counts for itself by --value-known, and again for every page that links to it",
        );
    }
    if let Some(times) = report.crawled_since_tuned {
        let grown =
            format!("the bank has {times:.2} times the crawled pages for which the plan was tuned");
        if report.tuning.is_some() {
            session.note(format_args!("{grown}; it is tuned again"));
        } else {
            session.warn(format_args!("{grown}; --tune tunes it again"));
        }
    }
    if let Some(pages) = report.not_compared {
        session.note(format_args!(
            "the bank has {} pages, so the list was not compared with baselines; --judge loads all of them into this process",
            thousands(pages)
        ));
    }
}

/// Prints what the user should know about the comparison with baselines.
fn warn_of_verdict(report: &RefreshReport, judge: bool, session: &Session) {
    let view = &report.view;
    match &report.verdict {
        None if report.is_unjudged => {
            session.warn("stopped while comparing the list with baselines; the list is stored");
        }
        Some(verdict) => {
            if let Some(advice) = answers::verdict_advice(verdict, &view.parameters) {
                session.warn(format_args!(
                    "the list finds less than a baseline: {}; {advice}",
                    answers::verdict_ratio(verdict)
                ));
            }
        }
        None if judge => {
            session
                .warn("too few pages are crawled to hold some out, so the list was not compared");
        }
        None => {}
    }
    if let Some(leading) = &report.leading {
        let LeadingList {
            list,
            parameters,
            replaces,
            times_plan,
            batches,
            ..
        } = leading;
        session.note(format_args!(
            "over the last {}, crawls from the list {list} found {:.2} times the new pages of this plan; `refresh BANK {}` takes it",
            counted(*batches, "batch"),
            times_plan.mean,
            answers::flags_of_list(&view.plan, parameters, *replaces)
        ));
    }
}

/// Returns whether the values of a plan over the web contain uncrawled outlinks.
fn counts_uncrawled_twice(plan: &PlanOptions) -> bool {
    let is_over_web = plan.scope == Some(Scope::Web) && plan.value_by != Some(ValueBy::Pagerank);
    is_over_web && plan.p_uniq.is_some_and(|p_uniq| p_uniq != Value(0))
}

/// Maximum size of a plan file in bytes; typical files have a few hundred.
const MAX_PLAN_FILE: u64 = 1 << 20;

/// The heading of parameters of plans over the whole web.
const OVER_WEB: &str =
    "Advanced: plans over the whole web (greedy, max-weight, max-out, baselines)";

/// The flags for all plan parameters.
#[derive(Debug, Args)]
pub(super) struct PlanFlags {
    /// TOML file with parameters, named like the flags, for example `seeds = 50`
    ///
    /// Flags take precedence over the file, and the file over the stored parameters of the plan.
    #[arg(
        long,
        value_name = "FILE",
        env = "SEEDBANK_PLAN_FILE",
        hide_short_help = true
    )]
    plan_file: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterFlags<All>,
    /// Tune the plan for its budget again
    ///
    /// Tunes --hops, --fetch-cost and --value-known, unless they are given. A refresh does it by itself once the crawled
    /// pages have grown or shrunk by half.
    #[arg(long, help_heading = None)]
    tune: bool,
}

#[derive(Clone, Debug)]
struct All;

impl Selection for All {
    fn includes(_: &Parameter) -> bool {
        true
    }

    fn heading(parameter: &Parameter) -> Option<&'static str> {
        if Self::is_short(parameter) {
            return None;
        }
        match parameter.section {
            Section::Plan => Some("Advanced: the method"),
            Section::Cores => Some("Advanced: method cores"),
            Section::Cover => Some("Advanced: methods that cover each site (all but cores)"),
            Section::Web => Some(OVER_WEB),
            Section::Policies => Some("Policies (any method)"),
        }
    }

    /// Only what most users need is in the short help.
    fn is_short(parameter: &Parameter) -> bool {
        ["goal", "seeds", "budget", "max-per-site", "exclude", "pin"].contains(&&*parameter.name)
    }
}

/// Reads a plan file, which may be a pipe without an end.
fn read(path: &Path, watch: &dyn Watch) -> Result<String, CliError> {
    let failed = |source| {
        CliError::reading(source, |source| {
            let path = path.to_path_buf();
            CliError::PlanFile { path, source }
        })
    };
    let bytes = Interruptible::file(path, watch)
        .and_then(|file| file.read_at_most(MAX_PLAN_FILE))
        .map_err(failed)?;
    let Some(bytes) = bytes else {
        return Err(CliError::Usage(format!(
            "plan file {}: expected at most {} of TOML",
            path.display(),
            human_bytes(MAX_PLAN_FILE)
        )));
    };
    String::from_utf8(bytes).map_err(|e| failed(io::Error::new(ErrorKind::InvalidData, e)))
}

impl PlanFlags {
    pub(super) fn tune(&self) -> bool {
        self.tune
    }

    /// Merges flags and plan file, and reads the lists that they name.
    pub(super) fn options(self, watch: &dyn Watch) -> Result<PlanOptions, CliError> {
        let file = match &self.plan_file {
            None => PlanOptions::default(),
            Some(path) => {
                let text = read(path, watch)?;
                let options =
                    PlanOptions::from_toml(&text).map_err(|source| CliError::PlanText {
                        path: path.clone(),
                        source,
                    })?;
                let folder = path.parent().unwrap_or(Path::new(""));
                options.read_lists(folder, watch)?
            }
        };
        Ok(self.parameters.read(watch)?.merged_over(&file))
    }
}

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
fn tuning_text(tuning: &TuningView, stored: bool, verbose: bool) -> String {
    let fetches = if tuning.budget == 1 {
        "fetch"
    } else {
        "fetches"
    };
    let budget = thousands(tuning.budget);
    if !verbose {
        let tuned = if stored { "tuned" } else { "would be tuned" };
        return format!("{tuned} for {budget} {fetches}\n");
    }
    let mut text = format!(
        "tuned for {budget} {fetches}: {} --hops {} --fetch-cost {} --value-known {}{}, the best of {}{}\n",
        if stored {
            "the plan now has"
        } else {
            "the plan would have"
        },
        tuning.hops,
        tuning.fetch_cost,
        tuning.value_known,
        answers::site_limit_flag(tuning.max_per_site),
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
    if let Some(of) = report.candidates.filter(|_| !view.cold) {
        let (searched, all) = (thousands(of.searched), thousands(of.all));
        return format!("{searched} of {all} candidates searched");
    }
    if reused == 0 && is_over_web && view.parameters.tuned.is_some() && report.tuning.is_none() {
        return "setting reused, seeds selected again".to_owned();
    }
    if reused == 0 {
        return "nothing reused".to_owned();
    }
    format!("{} of {} reused", thousands(reused), counted(all, unit))
}

/// Formats what was selected, what the list has in common with the previous one, and how long it took.
fn headline(report: &RefreshReport) -> String {
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
    if let Some(earlier) = &report.earlier {
        append!(
            text,
            ", {} of the previous {} kept",
            earlier.kept,
            earlier.seeds
        );
    }
    append!(text, "; {}; {:.2} s", reuse_text(report), view.seconds);
    if let Some(EarlierRefreshes { first, seconds, .. }) = &report.earlier {
        append!(text, " (refresh {first}: {seconds:.2} s)");
    }
    text.push('\n');
    if let Some(kept) = report.kept.filter(|kept| kept.worth < 1.0) {
        let percent = (kept.worth * 1000.0).floor() / 10.0;
        append_line!(
            text,
            "worth {percent} % of a new list (--keep-seeds 0 selects one)"
        );
    }
    text
}

/// Appends the work that a refresh took.
fn append_costs(text: &mut String, report: &RefreshReport) {
    let view = &report.view;
    append_line!(
        text,
        "{}{}, {}, {} read{}",
        answers::proof(view.proof).map_or_else(String::new, |proof| format!("{proof}, ")),
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

/// Formats the report as text.
pub(super) fn refresh_text(report: &RefreshReport, stored: bool, verbose: bool) -> String {
    let mut text = headline(report);
    if verbose {
        append_costs(&mut text, report);
    }
    if let Some(short) = report.shortage {
        answers::write_shortage(&mut text, short, report.view.seeds);
    }
    if let Some(policy) = &report.view.policy {
        answers::write_policy(&mut text, policy);
    }
    if let Some(stars) = report.stars {
        answers::write_stars(&mut text, stars);
    }
    for trap in &report.traps {
        append_line!(
            text,
            "likely trap: {}; `seedbank site BANK {}` has its URLs",
            answers::repeated_content(trap),
            escape_controls(&trap.site)
        );
    }
    let shown = if verbose { usize::MAX } else { 1 };
    for mirrored in report.mirrored.iter().take(shown) {
        append_line!(text, "{}", answers::mirrored_hosts(mirrored));
    }
    if report.mirrored.len() > shown {
        let more = report.mirrored.len() - shown;
        append_line!(
            text,
            "{} of mirrored hosts (-v names them)",
            counted(more, "more pair")
        );
    }
    if let Some(tuning) = &report.tuning {
        text.push_str(&tuning_text(tuning, stored, verbose));
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
    text + &verdict_text(report, verbose)
}

/// Formats the comparison with baselines; empty without one.
fn verdict_text(report: &RefreshReport, verbose: bool) -> String {
    let mut text = String::new();
    if let Some(verdict) = &report.verdict {
        append_line!(text, "test: {}", answers::verdict_sentence(verdict));
        if verbose {
            append_line!(text, "{}", answers::verdict_figures(verdict));
        }
    }
    text
}
