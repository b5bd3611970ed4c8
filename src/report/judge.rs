//! Whether the seeds are worth it: one word and the figures that it rests on, told as plainly where
//! it is a no.
//!
//! A number is above or below random where it is more than two standard errors away from the
//! random mean, else level with it.

use std::cmp::Ordering;

use super::Report;
use super::bars::{Bar, bars};
use super::chart::Frame;
use super::crawl::{Found, depths};
use super::text::{Count, Measure};
use crate::engine::{CoverMethod, CoverageCurve, CrawlEvaluation, Estimate, Method};

/// Where a number is beside random.
fn side(number: f64, random: Estimate) -> Ordering {
    use Ordering::{Equal, Greater, Less};
    let Some(error) = random.standard_error else {
        // A single observation: nothing is above it for certain.
        return Equal;
    };
    let margin = (2.0 * error).max(1e-9 * random.mean.abs());
    match number - random.mean {
        far if far > margin => Greater,
        far if far < -margin => Less,
        _ => Equal,
    }
}

/// Whether it is worth it: one word, how that looks, and the figures for it.
pub(super) struct Verdict<'a> {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    /// A few words on why.
    pub(super) brief: Option<String>,
    /// What the plan's method covers; `None` where it was not measured, or is not by cover.
    pub(super) covered: Option<Covered>,
    /// The crawl's last depth of up to three links; `None` where none was measured.
    pub(super) reached: Option<Found<'a>>,
    /// How the PageRank of single pages compares; `None` where it was not measured.
    pub(super) quality: Option<String>,
}

/// What the method of a cover plan covers.
pub(super) struct Covered {
    /// Seeds for each site.
    pub(super) seeds: u32,
    /// Value beyond what random pages cover, in per cent.
    pub(super) more: Estimate,
    /// Sites that `more` is the mean of.
    pub(super) sites: u64,
    /// With how many numbers of seeds it covers more than random, and of how many.
    better: (usize, usize),
}

/// The verdict goes by what the plan is for: a cover plan by the value that its method covers, with
/// any number of seeds; cores by the pages that a crawl of up to three links finds, and by the
/// PageRank of those together. (A mean over the pages falls where more of them are found, so it is
/// told but does not decide.)
pub(super) fn verdict(report: &Report) -> Verdict<'_> {
    let near = report.crawl.as_ref().map(near).unwrap_or_default();
    judged(&near, covered(report))
}

fn judged<'a>(near: &[Found<'a>], covered: Option<Covered>) -> Verdict<'a> {
    let mut counts = covered.as_ref().map(|covered| covered.better);
    let mut brief = None;
    let reached = near.last().copied();
    if let Some(last) = reached
        && counts.is_none()
    {
        let above = |d: &&Found<'_>| side(d.depth.pages as f64, d.depth.random.pages).is_gt();
        let good = near.iter().filter(above).count();
        // That it reaches more of the PageRank counts as much as one depth.
        let pagerank = side(last.pagerank, last.pagerank_random).is_gt();
        counts = Some((good + usize::from(pagerank), near.len() + 1));
        brief = Some(in_brief(&last));
    }
    let (word, class) = match counts {
        None => ("Not measured", "unknown"),
        Some((0, _)) => ("No", "fails"),
        Some((good, all)) if good == all => ("Yes", "holds"),
        Some(_) => ("In part", "partly"),
    };
    Verdict {
        word,
        class,
        brief,
        covered,
        reached,
        quality: quality(near),
    }
}

/// The depths of up to three links, the seeds themselves aside.
fn near(crawl: &CrawlEvaluation) -> Vec<Found<'_>> {
    let mut near = depths(crawl);
    near.retain(|found| (1..=3).contains(&found.depth.depth));
    near
}

/// The verdict on a crawl in a few words.
fn in_brief(found: &Found<'_>) -> String {
    format!(
        "{} times the pages and {} times the PageRank of random pages",
        (found.depth.pages as f64 / found.depth.random.pages.mean).short(),
        (found.pagerank / found.pagerank_random.mean).short()
    )
}

/// Whether a curve is that of the plan's method, with its depth where it has one.
pub(super) fn is_ours(report: &Report, curve: &CoverageCurve) -> bool {
    let depth = report.refresh.parameters.depth.unwrap_or(2);
    let same_depth = curve.depth.is_none_or(|of_curve| of_curve == depth);
    report.method == Method::Cover(curve.method)
        && (same_depth || curve.method == CoverMethod::Greedy)
}

/// What the method of a cover plan covers with the plan's number of seeds, else with the largest.
fn covered(report: &Report) -> Option<Covered> {
    let coverage = report.coverage.as_ref()?;
    let mut of_plan = coverage.by_seeds.iter();
    let ours = of_plan.find(|curve| is_ours(report, curve))?;
    let points = ours.points.iter();
    let more: Vec<(u32, Estimate)> = points
        .filter_map(|p| Some((p.seeds, p.value.improvement?)))
        .collect();
    let wanted = report.refresh.parameters.per_site;
    let of_plan = more.iter().find(|(seeds, _)| Some(*seeds) == wanted);
    let good = more.iter().filter(|(_, more)| side(0.0, *more).is_lt());
    let &(seeds, value) = of_plan.or(more.last())?;
    Some(Covered {
        seeds,
        more: value,
        sites: coverage.sites,
        better: (good.count(), more.len()),
    })
}

/// The answer at a glance: what a crawl finds from the seeds and from random pages.
pub(super) fn chart(report: &Report) -> Option<String> {
    let crawl = report.crawl.as_ref()?;
    let depth = near(crawl).last()?.depth;
    let random = depth.random.pages;
    let both = [
        Bar {
            name: "these seeds".to_owned(),
            number: depth.pages as f64,
            error: 0.0,
            text: depth.pages.whole(),
            ours: true,
        },
        Bar {
            name: "random".to_owned(),
            number: random.mean,
            error: random.error(),
            text: random.mean.short(),
            ours: false,
        },
    ];
    let within = depth.depth.counted("link", "links");
    let frame = Frame {
        id: "answer-chart",
        title: &format!("Pages found within {within}"),
        description: "Two bars, for the seeds and for random pages, with their numbers.",
        x: "",
        y: &format!("pages found within {within}"),
    };
    Some(bars(&frame, &both, 102.0, 66.0))
}

/// How the mean PageRank of the pages found at depths 2 and 3 compares.
fn quality(near: &[Found<'_>]) -> Option<String> {
    let ranked: Vec<(u32, f64, Estimate)> = near
        .iter()
        .filter(|d| d.depth.depth > 1)
        .filter_map(|d| Some((d.depth.depth, d.rank?, d.rank_random?)))
        .collect();
    let sides = ranked.iter().map(|(_, rank, random)| side(*rank, *random));
    let (least, most) = (sides.clone().min()?, sides.max()?);
    let word = match (least, most) {
        (Ordering::Greater, _) => "higher",
        (_, Ordering::Less) => "lower",
        _ => "not clearly higher",
    };
    let figures: Vec<String> = ranked
        .iter()
        .map(|(depth, rank, random)| {
            format!(
                "{} against {} at depth {depth}",
                rank.short(),
                random.with_error()
            )
        })
        .collect();
    Some(format!(
        "Page by page the PageRank is {word}: {} (1 is the average page).",
        figures.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{CrawlDepth, RandomDepth};

    fn estimate(mean: f64) -> Estimate {
        Estimate {
            mean,
            standard_error: Some(1.0),
        }
    }

    /// A depth with these pages and this PageRank, beside 5 of random pages.
    fn depth(depth: u32, pages: u64, random: f64, pagerank: f64) -> (CrawlDepth, f64) {
        let depth = CrawlDepth {
            depth,
            new_pages: 0,
            pages,
            share: 0.0,
            pagerank: 0.0,
            mean_pagerank: None,
            spam_share: None,
            value: 0.0,
            random: RandomDepth {
                new_pages: estimate(0.0),
                pages: estimate(random),
                share: estimate(0.0),
                pagerank: estimate(0.0),
                mean_pagerank: None,
                spam_share: None,
                value: estimate(0.0),
            },
        };
        (depth, pagerank)
    }

    fn found((depth, pagerank): &(CrawlDepth, f64)) -> Found<'_> {
        Found {
            depth,
            pagerank: *pagerank,
            pagerank_random: estimate(5.0),
            rank: Some(*pagerank),
            rank_random: Some(estimate(5.0)),
        }
    }

    #[track_caller]
    fn word(depths: &[(CrawlDepth, f64)], expected: &str) -> Option<String> {
        let near: Vec<Found<'_>> = depths.iter().map(found).collect();
        let verdict = judged(&near, None);
        assert_eq!(verdict.word, expected);
        verdict.brief
    }

    #[test]
    fn two_standard_errors_decide() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let random = estimate(10.0);
        assert_eq!(side(12.0, random), Equal);
        assert_eq!(side(12.1, random), Greater);
        assert_eq!(side(7.9, random), Less);
        let standard_error = None;
        let mean = 10.0;
        let single = Estimate {
            mean,
            standard_error,
        };
        assert_eq!(side(99.0, single), Equal);
    }

    #[test]
    fn what_does_not_hold_is_said() {
        word(&[depth(1, 20, 10.0, 9.0), depth(2, 40, 20.0, 9.0)], "Yes");
        let partly = [depth(1, 20, 10.0, 9.0), depth(2, 40, 90.0, 1.0)];
        word(&partly, "In part");
        word(&[depth(1, 10, 20.0, 1.0)], "No");
        let common = [depth(1, 20, 10.0, 9.0), depth(2, 40, 20.0, 1.0)];
        assert_eq!(
            word(&common, "In part").as_deref(),
            Some("2 times the pages and 0.2 times the PageRank of random pages")
        );
        word(&[], "Not measured");
    }
}
