//! Whether the seeds are worth it: one word and the figures that it rests on, told as plainly where
//! it is a no.
//!
//! A number is above or below random where it is more than two standard errors away from the
//! random mean, else level with it.

use std::cmp::Ordering;

use super::bars::{Bar, bars};
use super::chart::Frame;
use super::data::{Crawl, CrawlDepth, Mean, MethodCurve, Report};
use super::text::{Count, Measure};

/// Where a number is beside random.
pub(super) fn side(number: f64, random: Mean) -> Ordering {
    use Ordering::{Equal, Greater, Less};
    if random.error.is_nan() {
        // A single observation: nothing is above it for certain.
        return Equal;
    }
    let margin = (2.0 * random.error).max(1e-9 * random.mean.abs());
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
    /// The crawl and its last depth of up to three links; `None` where none was measured.
    pub(super) reached: Option<(&'a Crawl, &'a CrawlDepth)>,
    /// How the PageRank of single pages compares; `None` where it was not measured.
    pub(super) quality: Option<String>,
}

/// What the method of a cover plan covers.
pub(super) struct Covered {
    /// Seeds for each site.
    pub(super) seeds: u32,
    /// Value beyond what random pages cover, in per cent.
    pub(super) more: Mean,
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
    let covered = covered(report);
    let mut counts = covered.as_ref().map(|covered| covered.better);
    let mut brief = None;
    let near = report.crawl.iter().flat_map(|crawl| &crawl.depths);
    let near: Vec<&CrawlDepth> = near.filter(|d| (1..=3).contains(&d.depth)).collect();
    let reached = report.crawl.as_ref().zip(near.last().copied());
    if let Some((_, last)) = reached
        && counts.is_none()
    {
        let above = |d: &&&CrawlDepth| side(d.reached as f64, d.reached_random).is_gt();
        let good = near.iter().filter(above).count();
        // That it reaches more of the PageRank counts as much as one depth.
        let pagerank = side(last.pagerank, last.pagerank_random).is_gt();
        counts = Some((good + usize::from(pagerank), near.len() + 1));
        brief = Some(in_brief(last));
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
        quality: quality(&near),
    }
}

/// The verdict on a crawl in a few words.
fn in_brief(depth: &CrawlDepth) -> String {
    format!(
        "{} times the pages and {} times the PageRank of random pages",
        (depth.reached as f64 / depth.reached_random.mean).short(),
        (depth.pagerank / depth.pagerank_random.mean).short()
    )
}

/// Whether a curve is that of the plan's method, with its depth where it has one.
pub(super) fn is_ours(report: &Report, curve: &MethodCurve) -> bool {
    let depth = parameter(report, "depth").unwrap_or(2);
    let same_depth = curve.depth.is_none_or(|of_curve| of_curve == depth);
    curve.method == report.method && (same_depth || report.method == "greedy")
}

fn parameter(report: &Report, name: &str) -> Option<u32> {
    let found = report.parameters.iter().find(|p| p.name == name);
    found.and_then(|parameter| parameter.value.parse().ok())
}

/// What the method of a cover plan covers with the plan's number of seeds, else with the largest.
fn covered(report: &Report) -> Option<Covered> {
    let coverage = report.coverage.as_ref()?;
    let mut of_plan = coverage.by_seeds.iter();
    let ours = of_plan.find(|curve| is_ours(report, curve))?;
    let points = ours.points.iter();
    let more: Vec<(u32, Mean)> = points
        .filter_map(|p| Some((p.per_site, p.more_value?)))
        .collect();
    let wanted = parameter(report, "per-site");
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
    let mut near = crawl.depths.iter().filter(|d| (1..=3).contains(&d.depth));
    let depth = near.next_back()?;
    let random = depth.reached_random;
    let both = [
        Bar {
            name: "these seeds".to_owned(),
            number: depth.reached as f64,
            error: 0.0,
            text: depth.reached.whole(),
            ours: true,
        },
        Bar {
            name: "random".to_owned(),
            number: random.mean,
            error: random.error,
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
fn quality(near: &[&CrawlDepth]) -> Option<String> {
    let ranked: Vec<(u32, f64, Mean)> = near
        .iter()
        .filter(|d| d.depth > 1)
        .filter_map(|d| Some((d.depth, d.rank?, d.rank_random?)))
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

    fn depth(depth: u32, reached: u64, random: f64, rank: f64) -> CrawlDepth {
        let mean = |mean| Mean { mean, error: 1.0 };
        CrawlDepth {
            depth,
            reached,
            reached_random: mean(random),
            pagerank: rank,
            pagerank_random: mean(5.0),
            rank: Some(rank),
            rank_random: Some(mean(5.0)),
            spam: None,
            spam_random: None,
            value: 0.0,
            value_random: mean(0.0),
        }
    }

    fn judged(depths: Vec<CrawlDepth>) -> Report {
        Report {
            method: "cores".to_owned(),
            crawl: Some(Crawl {
                seeds: 9,
                dead: 0,
                draws: 5,
                web: 1000,
                depths,
            }),
            ..Report::default()
        }
    }

    #[test]
    fn two_standard_errors_decide() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let random = Mean {
            mean: 10.0,
            error: 1.0,
        };
        assert_eq!(side(12.0, random), Equal);
        assert_eq!(side(12.1, random), Greater);
        assert_eq!(side(7.9, random), Less);
    }

    #[test]
    fn what_does_not_hold_is_said() {
        let good = judged(vec![
            depth(0, 9, 9.0, 1.0),
            depth(1, 20, 10.0, 9.0),
            depth(2, 40, 20.0, 9.0),
        ]);
        assert_eq!(verdict(&good).word, "Yes");
        let partly = judged(vec![depth(1, 20, 10.0, 9.0), depth(2, 40, 90.0, 1.0)]);
        assert_eq!(verdict(&partly).word, "In part");
        let bad = judged(vec![depth(1, 10, 20.0, 1.0)]);
        assert_eq!(verdict(&bad).word, "No");
        let common = judged(vec![depth(1, 20, 10.0, 9.0), depth(2, 40, 20.0, 1.0)]);
        assert_eq!(verdict(&common).word, "In part");
        let brief = verdict(&common).brief;
        assert_eq!(
            brief.as_deref(),
            Some("2 times the pages and 0.2 times the PageRank of random pages")
        );
        assert_eq!(verdict(&Report::default()).word, "Not measured");
    }
}
