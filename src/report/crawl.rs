//! Figures of crawls from the seeds and from random pages: pages found, PageRank found, and mean PageRank.

use crate::engine::evaluate::{CrawlDepth, CrawlEvaluation, Estimate};
use crate::html::chart::{Frame, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional, put};

/// The limit of percentages of the web.
const WHOLE: Option<f64> = Some(100.0);

/// A number at one depth, from the seeds and from random pages; `None` without pages at that depth.
struct Pair {
    depth: u32,
    seeds: Option<f64>,
    random: Option<Estimate>,
}

/// The figures on a crawl.
pub(super) fn figures(crawl: &CrawlEvaluation) -> [Figure; 3] {
    [
        pages_found(crawl),
        pagerank_found(crawl),
        mean_pagerank(crawl),
    ]
}

/// Draws the lines of the seeds and of random pages; `limit` is the greatest possible number.
fn chart(id: &str, title: &str, y: &str, pairs: &[Pair], limit: Option<f64>) -> String {
    let seeds = |pair: &Pair| Some(Point::at(pair.depth, pair.seeds?, 0.0));
    let random = |pair: &Pair| {
        let random = pair.random?;
        Some(Point::at(pair.depth, random.mean, random.error()))
    };
    let series = [
        Series {
            name: "these seeds".to_owned(),
            look: 0,
            points: pairs.iter().filter_map(seeds).collect(),
        },
        Series {
            name: "random".to_owned(),
            look: 1,
            points: pairs.iter().filter_map(random).collect(),
        },
    ];
    let frame = Frame {
        id,
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y,
    };
    lines(&frame, &series, 88.0, limit)
}

/// How many times the number of random pages the seeds have.
fn times(seeds: f64, random: Estimate) -> String {
    format!("×{}", (seeds / random.mean).short())
}

fn pages_found(crawl: &CrawlEvaluation) -> Figure {
    let share = 100.0 / crawl.state.pages.max(1) as f64;
    let pair = |found: &CrawlDepth| Pair {
        depth: found.depth,
        seeds: Some(share * found.pages as f64),
        random: Some(found.random.pages.times(share)),
    };
    let pairs: Vec<Pair> = crawl.depths.iter().map(pair).collect();
    let title = "Pages that a crawl finds";
    let mut about = format!(
        "From {}, and from as many random crawled pages (mean of {}, ± standard error).",
        crawl.list.seeds.counted("seed", "seeds"),
        crawl.draws.counted("draw", "draws")
    );
    if crawl.list.dead > 0 {
        let died = crawl.list.dead.counted("seed died", "seeds died");
        put(
            &mut about,
            format_args!(" {died} since they were selected."),
        );
    }
    let rows = crawl.depths.iter().map(|found| {
        vec![
            found.depth.to_string(),
            found.pages.whole(),
            found.random.pages.with_error(),
            times(found.pages as f64, found.random.pages),
            found.value.short(),
            found.random.value.with_error(),
        ]
    });
    let heads = [
        "Depth (links)",
        "Found so far (pages)",
        "From random (pages)",
        "Seeds to random (times)",
        "Value at this depth",
        "Value from random",
    ];
    let y = "pages found up to this depth (% of the web)";
    let chart = chart("pages", title, y, &pairs, WHOLE);
    Figure::open(title, about, chart, &heads, rows.collect())
}

/// The PageRank of the pages up to each depth, in per cent of the web's. The error of random pages is an upper
/// bound: the sum of the errors of the depths.
fn pagerank_found(crawl: &CrawlEvaluation) -> Figure {
    let mut seeds = 0.0;
    let mut random = Estimate {
        mean: 0.0,
        standard_error: Some(0.0),
    };
    let mut pairs = Vec::with_capacity(crawl.depths.len());
    let mut rows = Vec::with_capacity(crawl.depths.len());
    for found in &crawl.depths {
        let here = found.random.pagerank.times(100.0);
        let errors = random.standard_error.zip(here.standard_error);
        seeds += 100.0 * found.pagerank;
        random = Estimate {
            mean: random.mean + here.mean,
            standard_error: errors.map(|(sum, here)| sum + here),
        };
        pairs.push(Pair {
            depth: found.depth,
            seeds: Some(seeds),
            random: Some(random),
        });
        rows.push(vec![
            found.depth.to_string(),
            seeds.short(),
            random.with_error(),
            times(seeds, random),
        ]);
    }
    let heads = [
        "Depth (links)",
        "PageRank so far (% of the web)",
        "From random (% of the web)",
        "Seeds to random (times)",
    ];
    let title = "PageRank that a crawl finds";
    let about = "PageRank of all pages found, in per cent of the web's: important pages weigh more than others.";
    let y = "PageRank found up to this depth (% of the web)";
    let chart = chart("pagerank", title, y, &pairs, WHOLE);
    Figure::open(title, about, chart, &heads, rows)
}

/// The mean PageRank of the pages at each depth, relative to the average page.
fn mean_pagerank(crawl: &CrawlEvaluation) -> Figure {
    // PageRanks add up to 1, so the average page has 1 / pages.
    let web = crawl.state.pages as f64;
    let pair = |found: &CrawlDepth| Pair {
        depth: found.depth,
        seeds: found.mean_pagerank.map(|rank| rank * web),
        random: found.random.mean_pagerank.map(|rank| rank.times(web)),
    };
    let pairs: Vec<Pair> = crawl.depths.iter().map(pair).collect();
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), Measure::short);
    let rows = crawl.depths.iter().zip(&pairs).map(|(found, pair)| {
        vec![
            found.depth.to_string(),
            number(pair.seeds),
            optional(pair.random),
            number(found.spam_share.map(|share| share * 100.0)),
            optional(found.random.spam_share.map(|share| share.times(100.0))),
        ]
    });
    let heads = [
        "Depth (links)",
        "PageRank (times the average page)",
        "From random (times)",
        "Spam (% of pages)",
        "From random (%)",
    ];
    let title = "Mean PageRank of the pages that a crawl finds";
    let about = "By depth; 1 is the average page of this web.";
    let y = "mean PageRank of new pages (× average page)";
    let chart = chart("rank", title, y, &pairs, None);
    Figure::open(title, about, chart, &heads, rows.collect())
}
