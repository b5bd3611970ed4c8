//! Figures of crawls from the seeds and from random pages: pages found, PageRank found, and mean PageRank.

use crate::engine::evaluate::{CrawlDepth, CrawlEvaluation, Estimate};
use crate::html::chart::{Frame, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional, put};

/// The limit of percentages of the web.
const WHOLE: f64 = 100.0;

/// The results at one depth of a crawl, in the units of the figures.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) depth: &'a CrawlDepth,
    /// The PageRank of the pages up to this depth, in per cent of the web's.
    pub(super) pagerank: f64,
    /// The same from random pages. The error is an upper bound: the sum of the errors of the depths.
    pub(super) pagerank_random: Estimate,
    /// The mean PageRank of the pages at this depth, relative to the average page; `None` without pages.
    pub(super) rank: Option<f64>,
    /// The same from random pages.
    pub(super) rank_random: Option<Estimate>,
}

/// The depths of a crawl, starting with the seeds.
pub(super) fn depths(crawl: &CrawlEvaluation) -> Vec<Found<'_>> {
    // PageRanks add up to 1, so the average page has 1 / pages.
    let web = crawl.state.pages as f64;
    let mut pagerank = 0.0;
    let mut of_random = Estimate {
        mean: 0.0,
        standard_error: Some(0.0),
    };
    let found = crawl.depths.iter().map(|depth| {
        let here = depth.random.pagerank.times(100.0);
        let errors = of_random.standard_error.zip(here.standard_error);
        pagerank += 100.0 * depth.pagerank;
        of_random = Estimate {
            mean: of_random.mean + here.mean,
            standard_error: errors.map(|(before, here)| before + here),
        };
        Found {
            depth,
            pagerank,
            pagerank_random: of_random,
            rank: depth.mean_pagerank.map(|rank| rank * web),
            rank_random: depth.random.mean_pagerank.map(|rank| rank.times(web)),
        }
    });
    found.collect()
}

/// The figures on a crawl.
pub(super) fn figures(crawl: &CrawlEvaluation) -> [Figure; 3] {
    let depths = depths(crawl);
    [
        pages_found(crawl),
        pagerank_found(&depths),
        rank_found(&depths),
    ]
}

/// The lines of the seeds and of random pages.
fn pair(seeds: Vec<Point>, random: Vec<Point>) -> [Series; 2] {
    let line = |name: &str, look, points| Series {
        name: name.to_owned(),
        look,
        points,
    };
    [line("these seeds", 0, seeds), line("random", 1, random)]
}

fn pages_found(crawl: &CrawlEvaluation) -> Figure {
    let share = |pages: f64| 100.0 * pages / (crawl.state.pages.max(1)) as f64;
    let seeds = crawl.depths.iter();
    let seeds = seeds.map(|d| Point::at(d.depth, share(d.pages as f64), 0.0));
    let random = crawl.depths.iter().map(|d| {
        let of_random = d.random.pages;
        Point::at(d.depth, share(of_random.mean), share(of_random.error()))
    });
    let series = pair(seeds.collect(), random.collect());
    let title = "Pages that a crawl finds";
    let mut about = format!(
        "From {}, and from as many random crawled pages (mean of {}, ± standard error).",
        crawl.list.seeds.counted("seed", "seeds"),
        crawl.draws.counted("draw", "draws")
    );
    if crawl.list.dead > 0 {
        put(
            &mut about,
            format_args!(
                " {} since they were selected.",
                crawl.list.dead.counted("seed died", "seeds died")
            ),
        );
    }
    let frame = Frame {
        id: "pages",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "pages found up to this depth (% of the web)",
    };
    let chart = lines(&frame, &series, 88.0, Some(WHOLE));
    let rows = crawl
        .depths
        .iter()
        .map(|d| {
            let times = d.pages as f64 / d.random.pages.mean;
            vec![
                d.depth.to_string(),
                d.pages.whole(),
                d.random.pages.with_error(),
                format!("×{}", times.short()),
                d.value.short(),
                d.random.value.with_error(),
            ]
        })
        .collect();
    let heads = [
        "Depth (links)",
        "Found so far (pages)",
        "From random (pages)",
        "Seeds to random (times)",
        "Value at this depth",
        "Value from random",
    ];
    Figure::open(title, about, chart, &heads, rows)
}

fn pagerank_found(depths: &[Found<'_>]) -> Figure {
    let seeds = depths.iter();
    let seeds = seeds.map(|d| Point::at(d.depth.depth, d.pagerank, 0.0));
    let random = depths.iter().map(|d| {
        let of_random = d.pagerank_random;
        Point::at(d.depth.depth, of_random.mean, of_random.error())
    });
    let series = pair(seeds.collect(), random.collect());
    let title = "Their share of PageRank";
    let about = "PageRank of all pages found, in per cent of the web's: important pages weigh more than others.";
    let frame = Frame {
        id: "pagerank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "PageRank found up to this depth (% of the web)",
    };
    let chart = lines(&frame, &series, 88.0, Some(WHOLE));
    let rows = depths
        .iter()
        .map(|d| {
            let times = d.pagerank / d.pagerank_random.mean;
            vec![
                d.depth.depth.to_string(),
                d.pagerank.short(),
                d.pagerank_random.with_error(),
                format!("×{}", times.short()),
            ]
        })
        .collect();
    let heads = [
        "Depth (links)",
        "PageRank so far (% of the web)",
        "From random (% of the web)",
        "Seeds to random (times)",
    ];
    Figure::open(title, about, chart, &heads, rows)
}

fn rank_found(depths: &[Found<'_>]) -> Figure {
    let seeds = depths.iter();
    let seeds = seeds.filter_map(|d| Some(Point::at(d.depth.depth, d.rank?, 0.0)));
    let random = depths.iter().filter_map(|d| {
        let of_random = d.rank_random?;
        Some(Point::at(d.depth.depth, of_random.mean, of_random.error()))
    });
    let series = pair(seeds.collect(), random.collect());
    let title = "Mean PageRank of the pages that it finds";
    let about = "Mean PageRank of the pages at each depth: 1 is the average page of this web.";
    let frame = Frame {
        id: "rank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "mean PageRank of new pages (× average page)",
    };
    let chart = lines(&frame, &series, 88.0, None);
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), Measure::short);
    let rows = depths
        .iter()
        .map(|d| {
            let of_random = d.depth.random.spam_share;
            vec![
                d.depth.depth.to_string(),
                number(d.rank),
                optional(d.rank_random),
                number(d.depth.spam_share.map(|share| share * 100.0)),
                optional(of_random.map(|share| share.times(100.0))),
            ]
        })
        .collect();
    let heads = [
        "Depth (links)",
        "PageRank (times the average page)",
        "From random (times)",
        "Spam (% of pages)",
        "From random (%)",
    ];
    Figure::open(title, about, chart, &heads, rows)
}
