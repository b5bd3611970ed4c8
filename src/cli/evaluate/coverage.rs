//! `evaluate coverage` and `evaluate distances`: compare every cover method with random seeds, and measure distances
//! between cores.

use std::path::Path;

use clap::Args;

use super::output::{TableFormatArgs, claim_lines, state_line};

use crate::cli::failure::CliError;
use crate::cli::parameter_flags::{ParameterFlags, Selection};
use crate::cli::session::{Outcome, Session};
use crate::cli::values::{WhichArgs, integer};
use seedbank::answers::{Cell, Table, with_error};
use seedbank::display::counted;
use seedbank::engine::evaluate::{
    CoverageCurve, CoverageEvaluation, CoveragePoint, CoverageRequest, CoverageShare,
    DistancesEvaluation, DistancesRequest,
};
use seedbank::engine::plan::{Covered, Parameter, TakenBy};

const COVERAGE_EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank coverage
  seedbank evaluate bank coverage --per-site 5 --hops 3 --max-sites 200
  seedbank evaluate bank coverage --format csv > coverage.csv";

/// Compare what the seeds of every cover method cover, on the same sites
///
/// Runs two experiments: 1 to `--per-site` seeds per site at `--hops` hops, and 1 to `--hops` hops with
/// `--fixed-seeds` seeds per site, on sites to which another site links. Reports the covered share of pages and
/// of positive value, averaged over sites, and the improvement over random seeds: its mean over sites, as
/// published, and the ratio of the mean coverages.
#[derive(Debug, Args)]
#[command(after_help = COVERAGE_EXAMPLES)]
pub(super) struct CoverageArgs {
    /// Maximum number of seeds per site; every number from 1 is tried
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = integer::<u32>(1..=1000))]
    per_site: u32,
    /// Maximum number of hops; every number from 1 is tried
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = integer::<u32>(1..=100))]
    hops: u32,
    /// Seeds per site in the experiment that varies the hops
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = integer::<u32>(1..=1000))]
    fixed_seeds: u32,
    /// Skip sites with fewer crawled pages, since almost any seeds cover them
    #[arg(long, value_name = "N", default_value_t = CoverageRequest::default().min_pages,
        value_parser = integer::<u32>(1..=u32::MAX))]
    min_pages: u32,
    /// Maximum number of sites; if there are more, a random sample is drawn
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = integer::<u32>(1..=1_000_000))]
    max_sites: u32,
    /// Number of random seed sets to average over
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = integer::<u32>(1..=10_000))]
    draws: u32,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    value: ParameterFlags<SiteValues>,
    #[command(flatten)]
    format: TableFormatArgs,
}

/// The parameters from which the values of a site's pages follow.
#[derive(Clone, Debug)]
struct SiteValues;

impl Selection for SiteValues {
    fn includes(parameter: &Parameter) -> bool {
        parameter.values_pages && parameter.taken_by == TakenBy::Cover
    }

    fn heading(_: &Parameter) -> Option<&'static str> {
        Some("What pages are worth")
    }
}

pub(super) fn coverage(
    bank: &Path,
    args: CoverageArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let request = CoverageRequest {
        per_site: args.per_site,
        hops: args.hops,
        fixed_seeds: args.fixed_seeds,
        min_pages: args.min_pages,
        max_sites: args.max_sites,
        draws: args.draws,
        rng_seed: args.rng_seed,
        value: args.value.into_options(),
    };
    let found = session.with_bank(bank, |bank| bank.evaluate_coverage(&request))?;
    args.format.print(&found, coverage_text, coverage_csv)
}

/// Selects which share of a point to show.
type ShareOf = fn(&CoveragePoint) -> &CoverageShare;
/// Selects the coordinate of a point on the axis.
type Axis = fn(&CoveragePoint) -> u32;

/// The two measures of coverage.
const MEASURES: [(&str, ShareOf); 2] = [
    ("value", |point| &point.value),
    ("pages", |point| &point.pages),
];

fn coverage_text(found: &CoverageEvaluation) -> String {
    let mut text = format!(
        "{} of {} with at least {} and a link from another site, {} together; {} of random seeds\n{}",
        found.sites,
        counted(found.eligible_sites, "site"),
        counted(found.min_pages, "crawled page"),
        counted(found.pages, "page"),
        counted(found.draws, "stream"),
        state_line(&found.state)
    );
    for (measure, share) in MEASURES {
        let by: [(&str, &[CoverageCurve], Axis); 2] = [
            ("k", &found.by_seeds, |point| point.seeds),
            ("h", &found.by_hops, |point| point.hops),
        ];
        for (axis, curves, at) in by {
            text.push('\n');
            text.push_str(&curve_title(measure, axis, curves));
            text.push_str(&curve_text(axis, curves, at, share));
        }
    }
    text.push('\n');
    text + &claim_lines(&found.claims)
}

fn curve_title(measure: &str, axis: &str, curves: &[CoverageCurve]) -> String {
    let point = curves.first().and_then(|curve| curve.points.last());
    let fixed = point.map_or_else(String::new, |point| {
        if axis == "k" {
            format!("k seeds per site, {}", counted(point.hops, "hop"))
        } else {
            format!("{} per site, h hops", counted(point.seeds, "seed"))
        }
    });
    format!(
        "{measure} covered: improvement over random in percent, mean over sites ± standard error ({fixed})\n"
    )
}

fn curve_text(axis: &str, curves: &[CoverageCurve], at: Axis, share_of: ShareOf) -> String {
    let mut table = Table::of("curves", "", (0..).zip(curves)).text(
        "",
        "method",
        |(_, curve): (usize, &CoverageCurve)| curve.name(),
    );
    let points = curves.first().map_or(&[][..], |curve| &curve.points);
    for (number, point) in points.iter().enumerate() {
        let title = format!("{axis}={}", at(point));
        table = table.shown(title, |(place, curve)| {
            let share = curve.points.get(number).map(share_of);
            match (place, share) {
                // The first curve is the random baseline itself, so its absolute coverage is shown.
                (0, Some(share)) => format!("({:.1} %)", share.percent.mean).into(),
                (_, share) => Cell::Estimate(share.and_then(|share| share.mean_improvement)),
            }
        });
        table = table.decimals(1);
    }
    if let Some(last) = points.last() {
        let title = format!("{axis}={}, ratio of means", at(last));
        let of_means = |curve: &CoverageCurve| {
            let share = curve.points.last().map(share_of);
            Cell::Estimate(share.and_then(|share| share.improvement_of_means))
        };
        table = table.shown(title, |(_, curve)| of_means(curve)).decimals(1);
    }
    table.done().aligned()
}

/// Formats the result as CSV: one line per experiment, method and point.
fn coverage_csv(found: &CoverageEvaluation) -> String {
    let experiments = [("seeds", &found.by_seeds), ("hops", &found.by_hops)];
    let mut rows = Vec::new();
    for (by, curves) in experiments {
        for (curve, point) in curves
            .iter()
            .flat_map(|of| of.points.iter().map(move |at| (of, at)))
        {
            let shares = MEASURES.map(|(measure, share_of)| (measure, share_of(point)));
            rows.extend(shares.map(|(measure, share)| (by, curve, point, measure, share)));
        }
    }
    let table = Table::of("points", "", rows)
        .field("by", |(by, ..)| by)
        .field("method", |(_, curve, ..)| curve.method.name())
        .optional_field("depth", |(_, curve, ..)| curve.depth)
        .optional_field("covered", |(_, curve, ..)| curve.covered.map(covered_name))
        .field("seeds", |(_, _, point, ..)| point.seeds)
        .field("hops", |(_, _, point, ..)| point.hops)
        .field("measure", |(_, _, _, measure, _)| measure)
        .estimate("percent", "", 0, |(.., share)| share.percent)
        .estimate("above_random", "", 0, |(.., share)| share.above_random)
        .estimate("mean_improvement", "", 0, |(.., share)| {
            share.mean_improvement
        })
        .estimate("improvement_of_means", "", 0, |(.., share)| {
            share.improvement_of_means
        });
    table.done().csv()
}

const fn covered_name(covered: Covered) -> &'static str {
    match covered {
        Covered::Zero => "zero",
        Covered::Remove => "remove",
    }
}

/// The maximum number of cores in the distance matrix of text output.
const SHOWN: usize = 25;

const DISTANCES_EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank distances
  seedbank evaluate bank distances --refresh 3 --cores 20 --samples 5000
  seedbank evaluate bank distances --format csv > distances.csv";

/// Measure distances between the cores of a refresh
///
/// The distance of two cores is the smallest number of links from any page of one to any page of the
/// other, over all links of the current state. It is compared with the average distance between pages,
/// estimated by searches from a random sample of the pages that have links.
#[derive(Debug, Args)]
#[command(after_help = DISTANCES_EXAMPLES)]
pub(super) struct DistancesArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Maximum number of cores, in order of rank
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = integer::<u32>(1..=10_000))]
    cores: u32,
    /// Number of pages to estimate the average distance from
    #[arg(long, value_name = "N", default_value_t = 400,
        value_parser = integer::<u32>(1..=u32::MAX))]
    samples: u32,
    /// Seed of the random sample
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn distances(
    bank: &Path,
    args: DistancesArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let request = DistancesRequest {
        which: args.which.into(),
        cores: args.cores,
        samples: args.samples,
        rng_seed: args.rng_seed,
    };
    let found = session.with_bank(bank, |bank| bank.evaluate_distances(&request))?;
    args.format.print(&found, distances_text, distances_csv)
}

fn distances_text(found: &DistancesEvaluation) -> String {
    let mut text = format!(
        "refresh {} of plan {}: {}\n{}",
        found.refresh,
        found.plan,
        counted(found.cores.len(), "core"),
        state_line(&found.state)
    );
    append_line!(
        text,
        "average distance between pages: {} links, from {} of {} with links\n",
        found
            .graph
            .mean
            .map_or_else(|| "-".to_owned(), |mean| with_error(mean, 3)),
        found.graph.samples,
        counted(found.graph.sources, "page")
    );
    let spreads = [
        ("all cores", &found.all),
        ("neighbours in rank", &found.neighbours),
    ];
    let table = Table::of("spreads", "", spreads)
        .text("", "ordered pairs of", |(name, _)| name)
        .shown("pairs", |(_, spread)| spread.pairs)
        .shown("unreachable", |(_, spread)| spread.unreachable)
        .optional("", "min", |(_, spread)| spread.min)
        .optional("", "mean", |(_, spread)| spread.mean)
        .decimals(3)
        .optional("", "max", |(_, spread)| spread.max);
    text.push_str(&table.done().aligned());
    text.push('\n');
    text.push_str(&matrix(found));
    text.push('\n');
    text + &claim_lines(&found.claims)
}

/// Formats the distances between pairs of cores as a matrix: from the row's core to the column's.
fn matrix(found: &DistancesEvaluation) -> String {
    let cores = &found.cores[..found.cores.len().min(SHOWN)];
    let rows = cores.iter().zip(&found.distances);
    let mut table =
        Table::of("matrix", "", rows).text("", "from \\ to", |(core, _)| core.rank.to_string());
    for (at, core) in cores.iter().enumerate() {
        table = table.shown(core.rank.to_string(), |(_, row)| match row.get(at) {
            Some(Some(distance)) => Cell::from(*distance),
            _ => ".".into(),
        });
    }
    let mut text = table.done().aligned();
    if found.cores.len() > SHOWN {
        let more = found.cores.len() - SHOWN;
        append_line!(
            text,
            "{} more; --format csv prints all",
            counted(more, "core")
        );
    }
    text
}

/// Formats the result as CSV: one line per ordered pair of cores.
fn distances_csv(found: &DistancesEvaluation) -> String {
    let rows = found.cores.iter().zip(&found.distances);
    let pairs = rows.flat_map(|(from, row)| {
        let pairs = found
            .cores
            .iter()
            .zip(row)
            .map(move |(to, distance)| (from, to, *distance));
        pairs.filter(|(from, to, _)| from.rank != to.rank)
    });
    let table = Table::of("distances", "", pairs)
        .field("from", |(from, ..)| from.rank)
        .field("to", |(_, to, _)| to.rank)
        .field("from_seed", |(from, ..)| &from.seed)
        .field("to_seed", |(_, to, _)| &to.seed)
        .optional_field("distance", |(.., distance)| distance);
    table.done().csv()
}
