//! `evaluate coverage`: compares every cover method with random seeds.

use std::path::Path;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::evaluate::{
    CoverageCurve, CoverageEvaluation, CoveragePoint, CoverageRequest, CoverageShare,
};
use seedbank::engine::plan::{CoverMethod, Parameter, TakenBy};

use super::output::{TableFormatArgs, claim_lines, state_line};
use crate::cli::failure::CliError;
use crate::cli::parameter_flags::{ParameterFlags, Selection};
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, fields, or_nothing, plus_minus};
use crate::cli::values::integer;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank coverage
  seedbank evaluate bank coverage --per-site 5 --hops 3 --max-sites 200
  seedbank evaluate bank coverage --format csv > coverage.csv";

/// Compare what the seeds of every cover method cover, on the same sites
///
/// Runs two experiments: 1 to `--per-site` seeds per site at `--hops` hops, and 1 to `--hops` hops with
/// `--fixed-seeds` seeds per site. Reports the covered share of pages and of positive value, averaged
/// over sites, and the improvement over random seeds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    #[arg(long, value_name = "N", default_value_t = 10,
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

pub(super) fn run(bank: &Path, args: CoverageArgs, session: &Session) -> Result<Outcome, CliError> {
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
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_coverage(&request)
    })?;
    args.format.print(&found, text, csv)
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

fn text(found: &CoverageEvaluation) -> String {
    let mut text = format!(
        "{} of {} with at least {}, {} together; {} of random seeds\n{}",
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
            text.push_str(&title(measure, axis, curves));
            text.push_str(&table(axis, curves, at, share));
        }
    }
    text.push('\n');
    text + &claim_lines(&found.claims)
}

fn title(measure: &str, axis: &str, curves: &[CoverageCurve]) -> String {
    let point = curves.first().and_then(|curve| curve.points.last());
    let fixed = point.map_or_else(String::new, |point| {
        if axis == "k" {
            format!("k seeds per site, {}", counted(point.hops, "hop"))
        } else {
            format!("{} per site, h hops", counted(point.seeds, "seed"))
        }
    });
    format!("{measure} covered, in percent above random ± standard error ({fixed})\n")
}

fn table(axis: &str, curves: &[CoverageCurve], at: Axis, share_of: ShareOf) -> String {
    let points = curves.first().map_or(&[][..], |curve| &curve.points);
    let columns: Vec<String> = points
        .iter()
        .map(|point| format!("{axis}={}", at(point)))
        .collect();
    let mut header = vec!["method"];
    header.extend(columns.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = curves
        .iter()
        .enumerate()
        .map(|(place, curve)| {
            let mut row = vec![name(curve)];
            row.extend(curve.points.iter().map(|point| {
                let share = share_of(point);
                // The first curve is the random baseline itself, so its absolute coverage is shown.
                if place == 0 {
                    format!("({:.1} %)", share.percent.mean)
                } else {
                    plus_minus(share.improvement, 1)
                }
            }));
            row
        })
        .collect();
    aligned(&header, &rows)
}

fn name(curve: &CoverageCurve) -> String {
    match curve.depth {
        Some(depth) if curve.method != CoverMethod::Greedy => {
            format!("{}, depth {depth}", curve.method.name())
        }
        _ => curve.method.name().to_owned(),
    }
}

/// Formats the result as CSV: one line per experiment, method and point.
fn csv(found: &CoverageEvaluation) -> String {
    let header = "by,method,depth,seeds,hops,measure,percent,percent_error,above_random,\
                  above_random_error,improvement,improvement_error";
    let mut rows = Vec::new();
    for (by, curves) in [("seeds", &found.by_seeds), ("hops", &found.by_hops)] {
        for curve in curves {
            for point in &curve.points {
                for (measure, share_of) in MEASURES {
                    let share = share_of(point);
                    let mut row = vec![
                        by.to_owned(),
                        curve.method.name().to_owned(),
                        or_nothing(curve.depth),
                        point.seeds.to_string(),
                        point.hops.to_string(),
                        measure.to_owned(),
                    ];
                    for estimate in [Some(share.percent), share.above_random, share.improvement] {
                        row.extend(fields(estimate));
                    }
                    rows.push(row);
                }
            }
        }
    }
    comma_separated(header, &rows)
}
