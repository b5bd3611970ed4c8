//! The crawl from the seeds beside crawls from random pages: how many pages, how much PageRank, how
//! important a page is.

use super::chart::{Frame, Point, Series, lines};
use super::data::Crawl;
use super::figure::Figure;
use super::text::{Count, Measure, optional, put};

/// The three figures on the crawl.
pub(super) fn figures(crawl: &Crawl) -> [Figure; 3] {
    [pages_found(crawl), pagerank_found(crawl), rank_found(crawl)]
}

/// The two lines of a crawl.
fn pair(ours: Vec<Point>, random: Vec<Point>) -> [Series; 2] {
    let line = |name: &str, look, points| Series {
        name: name.to_owned(),
        look,
        points,
    };
    [line("these seeds", 0, ours), line("random", 1, random)]
}

fn pages_found(crawl: &Crawl) -> Figure {
    let share = |pages: f64| 100.0 * pages / (crawl.web.max(1)) as f64;
    let ours = crawl.depths.iter();
    let ours = ours.map(|d| Point::at(d.depth, share(d.reached as f64), 0.0));
    let random = crawl.depths.iter().map(|d| {
        let of_random = d.reached_random;
        Point::at(d.depth, share(of_random.mean), share(of_random.error))
    });
    let series = pair(ours.collect(), random.collect());
    let title = "Pages that a crawl finds";
    let mut about = format!(
        "From {}, and from as many random crawled pages (mean of {}, ± standard error).",
        crawl.seeds.counted("seed", "seeds"),
        crawl.draws.counted("draw", "draws")
    );
    if crawl.dead > 0 {
        put(
            &mut about,
            format_args!(
                " {} since they were selected.",
                crawl.dead.counted("seed died", "seeds died")
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
    let chart = lines(&frame, &series, 88.0);
    let rows = crawl
        .depths
        .iter()
        .map(|d| {
            let times = d.reached as f64 / d.reached_random.mean;
            vec![
                d.depth.to_string(),
                d.reached.whole(),
                d.reached_random.with_error(),
                format!("×{}", times.short()),
                d.value.short(),
                d.value_random.with_error(),
            ]
        })
        .collect();
    let heads = [
        "Depth",
        "Pages so far",
        "Random",
        "Seeds : random",
        "Value at this depth",
        "Random",
    ];
    Figure::open(title, about, chart, &heads, rows)
}

fn pagerank_found(crawl: &Crawl) -> Figure {
    let ours = crawl.depths.iter();
    let ours = ours.map(|d| Point::at(d.depth, d.pagerank, 0.0));
    let random = crawl.depths.iter();
    let random =
        random.map(|d| Point::at(d.depth, d.pagerank_random.mean, d.pagerank_random.error));
    let series = pair(ours.collect(), random.collect());
    let title = "How much of the important that is";
    let about = "PageRank of all pages found, in per cent of the web's: important pages weigh more than others.";
    let frame = Frame {
        id: "pagerank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "PageRank found up to this depth (% of the web)",
    };
    let chart = lines(&frame, &series, 88.0);
    let rows = crawl
        .depths
        .iter()
        .map(|d| {
            let times = d.pagerank / d.pagerank_random.mean;
            vec![
                d.depth.to_string(),
                d.pagerank.short(),
                d.pagerank_random.with_error(),
                format!("×{}", times.short()),
            ]
        })
        .collect();
    let heads = ["Depth", "PageRank so far (%)", "Random", "Seeds : random"];
    Figure::open(title, about, chart, &heads, rows)
}

fn rank_found(crawl: &Crawl) -> Figure {
    let ours = crawl.depths.iter();
    let ours = ours.filter_map(|d| Some(Point::at(d.depth, d.rank?, 0.0)));
    let random = crawl.depths.iter();
    let random = random.filter_map(|d| {
        let of_random = d.rank_random?;
        Some(Point::at(d.depth, of_random.mean, of_random.error))
    });
    let series = pair(ours.collect(), random.collect());
    let title = "How important a page is that it finds";
    let about = "Mean PageRank of the pages at each depth: 1 is the average page of this web.";
    let frame = Frame {
        id: "rank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "mean PageRank of new pages (× average page)",
    };
    let chart = lines(&frame, &series, 88.0);
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), Measure::short);
    let rows = crawl
        .depths
        .iter()
        .map(|d| {
            vec![
                d.depth.to_string(),
                number(d.rank),
                optional(d.rank_random),
                number(d.spam),
                optional(d.spam_random),
            ]
        })
        .collect();
    let heads = ["Depth", "PageRank", "Random", "Spam (%)", "Random"];
    Figure::open(title, about, chart, &heads, rows)
}
