//! `refresh`: runs a plan.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::display::thousands;
use seedbank::engine::plan::{PlanOptions, Scope, Value, ValueBy};
use seedbank::engine::query::DryRun;
use seedbank::engine::{EngineError, RefreshReport, RefreshRequest};
use seedbank::render;

use super::failure::CliError;
use super::metrics_file::MetricsArgs;
use super::plan_flags::PlanFlags;
use super::refresh_text::{earlier, refresh_text};
use super::session::{Outcome, Session};
use super::time_limit::TimeLimit;
use super::values::{Format, FormatArgs, integer};

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
    /// The seeds are the same, unless the plan allows a deviation with `--within`.
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
    /// A new or tuned plan with a budget is compared without this flag.
    #[arg(long)]
    judge: bool,
    /// Replace the parameters of the plan
    ///
    /// Policies that all methods have are kept. Needed to change the goal, the method or the scope
    /// of a plan.
    #[arg(long)]
    replace: bool,
    /// Print the seeds without storing the refresh or the parameters
    #[arg(long)]
    dry_run: bool,
    /// In a cluster bank with more pages than this, let all processes find cores [default: 50M]
    ///
    /// Each then has only its share of the links in memory. With fewer pages, one process finds cores, as in any other bank,
    /// which takes less time. Exact cores of a component of links with at most this many pages are also found by one process.
    /// With more pages, a new list is compared with baselines only if `--judge` is given, because that takes all pages and
    /// links in one process.
    #[arg(long, value_name = "PAGES", value_parser = integer::<u64>(0..=u64::MAX), env = "SEEDBANK_SHARE_ABOVE",
        hide_short_help = true)]
    share_above: Option<u64>,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_WAIT", hide_short_help = true)]
    wait: bool,
    /// Fail after this time, such as 90s, 20m or 1h30m, without storing anything [default: no limit]
    ///
    /// The exit status is then 1. The time includes waiting for another process. The seeds do not depend on
    /// the limit.
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
        replace: args.replace,
        share_above: args.share_above,
    };
    if bank.is_empty()? {
        // Errors in the parameters come first.
        watch.ended(bank.watched(watch.clone()).dry_run(&request))?;
        return Err(EngineError::EmptyBank.into());
    }
    if args.dry_run {
        let run = bank.watched(watch.clone()).dry_run(&request);
        let run = watch.ended(run)?;
        drop(watch);
        let verbose = args.explain_cost || session.is_verbose();
        let outcome = print_dry_run(&run, args.format.format, args.judge, verbose, session);
        args.metrics.write(&bank)?;
        return outcome;
    }
    let report = bank.watched(watch.clone()).refresh(&request);
    let report = watch.ended(report)?;
    let earlier = match args.format.format {
        Format::Text => earlier(&bank, &report)?,
        Format::Json => None,
    };
    drop(watch);
    // The refresh is stored, so an error of the metrics file is reported after it.
    let written = args.metrics.write(&bank);
    if report.plan_changed {
        session.note(format_args!(
            "the parameters of plan {} have been replaced",
            report.view.plan
        ));
    }
    warn(&report, args.judge, session);
    let verbose = args.explain_cost || session.is_verbose();
    args.format.format.print(&report, |report| {
        refresh_text(report, earlier.as_ref(), true, verbose)
    })?;
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
    warn(&run.report, judge, session);
    format.print(run, |run| {
        let mut output = format!(
            "dry run, nothing is stored: {}",
            refresh_text(&run.report, None, false, verbose)
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
fn warn(report: &RefreshReport, judge: bool, session: &Session) {
    let view = &report.view;
    if let Some(doubt) = &view.uncertified_reason {
        session.warn(format_args!("the result is not certified: {doubt}"));
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
    if let Some(times) = report.grown_since_tuned {
        session.warn(format_args!(
            "the bank has {times:.1} times the crawled pages for which the plan was tuned; --tune tunes it again"
        ));
    }
    match &report.verdict {
        Some(verdict) => {
            if let Some(advice) = render::verdict_advice(verdict, &view.parameters) {
                session.warn(format_args!(
                    "the list finds less than a baseline: {}; {advice}",
                    render::verdict_ratio(verdict)
                ));
            }
        }
        None if judge => {
            session
                .warn("too few pages are crawled to hold some out, so the list was not compared");
        }
        None => {}
    }
    if let Some(pages) = report.not_compared {
        session.note(format_args!(
            "the bank has {} pages, so the list was not compared with baselines; --judge loads all of them into this process",
            thousands(pages)
        ));
    }
}

/// Returns whether the values of a plan over the web contain uncrawled outlinks.
fn counts_uncrawled_twice(plan: &PlanOptions) -> bool {
    let is_over_web = plan.scope == Some(Scope::Web) && plan.value_by != Some(ValueBy::Pagerank);
    is_over_web && plan.p_uniq.is_some_and(|p_uniq| p_uniq != Value(0))
}
