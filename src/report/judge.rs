//! Whether the seeds are worth it: one word and the figures that it rests on, told as plainly where
//! it is a no.
//!
//! A number is above or below random where it is more than two standard errors away from the
//! random mean, else level with it.

use super::bars::{Bar, bars};
use super::chart::Frame;
use super::data::{Crawl, CrawlDepth, Mean, Report};
use super::text::{counted, escape, short, signed_percent, whole, with_error};

/// Where a number is beside random.
pub(super) fn side(number: f64, random: Mean) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let margin = (2.0 * random.error).max(1e-9 * random.mean.abs());
    match number - random.mean {
        far if far > margin => Greater,
        far if far < -margin => Less,
        _ => Equal,
    }
}

/// Whether it is worth it: one word, how that looks, and the sentence for it.
pub(super) struct Verdict {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    pub(super) sentences: Vec<String>,
}

/// The verdict goes by what the plan is for: a cover plan by the value that its method covers, with
/// any number of seeds; cores by the pages that a crawl of up to three links finds.
pub(super) fn verdict(report: &Report) -> Verdict {
    let mut sentences = Vec::new();
    let mut counts = None;
    if let Some((good, all, sentence)) = covered(report) {
        counts = Some((good, all));
        sentences.push(sentence);
    }
    let near = report.crawl.iter().flat_map(|crawl| &crawl.depths);
    let near: Vec<&CrawlDepth> = near.filter(|d| (1..=3).contains(&d.depth)).collect();
    if let (Some(crawl), Some(last)) = (&report.crawl, near.last()) {
        let above = |d: &&&CrawlDepth| side(d.reached as f64, d.reached_random).is_gt();
        let good = near.iter().filter(above).count();
        counts = counts.or(Some((good, near.len())));
        sentences.push(reached(crawl, last));
        let mut ranked = near
            .iter()
            .rev()
            .filter_map(|d| Some((d.depth, d.rank?, d.rank_random?)));
        if let Some((depth, rank, random)) = ranked.next() {
            sentences.push(quality(depth, rank, random));
        }
    }
    let (word, class) = match counts {
        None => ("Not measured", "unknown"),
        Some((0, _)) => ("No", "fails"),
        Some((good, all)) if good == all => ("Yes", "holds"),
        Some(_) => ("In part", "partly"),
    };
    if sentences.is_empty() {
        let why = if report.seeds.is_empty() {
            "There are no seeds to judge."
        } else {
            "The experiments were left out; run the report without <code>--no-evaluate</code>."
        };
        sentences.push(why.to_owned());
    }
    Verdict {
        word,
        class,
        sentences,
    }
}

/// Where the plan is a cover plan: with how many numbers of seeds its method covers more value than
/// random, of how many, and the sentence for the largest.
fn covered(report: &Report) -> Option<(usize, usize, String)> {
    let coverage = report.coverage.as_ref()?;
    let of_plan = coverage.by_seeds.iter();
    let ours = of_plan
        .filter(|curve| curve.method == report.method)
        .next()?;
    let more: Vec<Mean> = ours.points.iter().filter_map(|p| p.more_value).collect();
    let last = more.last()?;
    let good = more.iter().filter(|more| side(0.0, **more).is_lt()).count();
    let sentence = format!(
        "With {} for each site, {} covers <b>{}</b> more value than random pages (mean of {}).",
        counted(more.len() as u64, "seed", "seeds"),
        escape(&report.method),
        signed_percent(*last),
        counted(coverage.sites, "site", "sites")
    );
    Some((good, more.len(), sentence))
}

/// The answer at a glance: what a crawl finds from the seeds and from random pages.
pub(super) fn chart(report: &Report) -> Option<String> {
    let crawl = report.crawl.as_ref()?;
    let near = crawl.depths.iter().filter(|d| (1..=3).contains(&d.depth));
    let depth = near.last()?;
    let random = depth.reached_random;
    let both = [
        Bar {
            name: "these seeds".to_owned(),
            number: depth.reached as f64,
            error: 0.0,
            text: whole(depth.reached),
            ours: true,
        },
        Bar {
            name: "random".to_owned(),
            number: random.mean,
            error: random.error,
            text: short(random.mean),
            ours: false,
        },
    ];
    let within = counted(depth.depth.into(), "link", "links");
    let frame = Frame {
        id: "answer-chart",
        title: &format!("Pages found within {within}"),
        description: "Two bars, for the seeds and for random pages, with their numbers.",
        x: "",
        y: &format!("pages found within {within}"),
    };
    Some(bars(&frame, &both, 84.0, 62.0))
}

fn reached(crawl: &Crawl, depth: &CrawlDepth) -> String {
    let random = depth.reached_random;
    let beside = match side(depth.reached as f64, random) {
        std::cmp::Ordering::Equal => "no clear difference".to_owned(),
        _ => format!(
            "<b>{} times</b> as many",
            short(depth.reached as f64 / random.mean)
        ),
    };
    format!(
        "Within {} links of the seeds lie <b>{} pages</b>; within as many links of {} random pages, {}: {beside}.",
        depth.depth,
        whole(depth.reached),
        whole(crawl.seeds),
        with_error(random)
    )
}

fn quality(depth: u32, rank: f64, random: Mean) -> String {
    let word = match side(rank, random) {
        std::cmp::Ordering::Greater => "more important",
        std::cmp::Ordering::Less => "less important",
        std::cmp::Ordering::Equal => "about as important",
    };
    format!(
        "Those at depth {depth} are {word}: mean PageRank {} times the average page, from random pages {}.",
        short(rank),
        with_error(random)
    )
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
        assert_eq!(verdict(&Report::default()).word, "Not measured");
    }
}
