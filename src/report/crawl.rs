//! The crawl from the seeds beside crawls from random pages: how many pages, how much PageRank, how
//! important a page is.

use super::chart::{Frame, Point, Series, lines};
use super::data::Crawl;
use super::experiments::{figure, optional, point, table};
use super::text::{counted, put, short, whole, with_error};

/// The three charts on the crawl.
pub(super) fn charts(out: &mut String, crawl: &Crawl) {
    pages_found(out, crawl);
    pagerank_found(out, crawl);
    rank_found(out, crawl);
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

fn pages_found(out: &mut String, crawl: &Crawl) {
    let share = |pages: f64| 100.0 * pages / (crawl.web.max(1)) as f64;
    let ours = crawl.depths.iter();
    let ours = ours.map(|d| point(d.depth, share(d.reached as f64), 0.0));
    let random = crawl.depths.iter().map(|d| {
        let of_random = d.reached_random;
        point(d.depth, share(of_random.mean), share(of_random.error))
    });
    let series = pair(ours.collect(), random.collect());
    let title = "Pages that a crawl finds";
    let mut about = format!(
        "From {}, and from as many random crawled pages (mean of {}, ± standard error).",
        counted(crawl.seeds, "seed", "seeds"),
        counted(crawl.draws.into(), "draw", "draws")
    );
    if crawl.dead > 0 {
        put(
            &mut about,
            format_args!(
                " {} since they were selected.",
                counted(crawl.dead, "seed died", "seeds died")
            ),
        );
    }
    figure(out, title, &about);
    let frame = Frame {
        id: "pages",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "pages found up to this depth (% of the web)",
    };
    out.push_str(&lines(&frame, &series, 88.0));
    let rows: Vec<Vec<String>> = crawl
        .depths
        .iter()
        .map(|d| {
            let times = d.reached as f64 / d.reached_random.mean;
            vec![
                d.depth.to_string(),
                whole(d.reached),
                with_error(d.reached_random),
                format!("×{}", short(times)),
                short(d.value),
                with_error(d.value_random),
            ]
        })
        .collect();
    table(
        out,
        &[
            "Depth",
            "Pages so far",
            "Random",
            "Seeds : random",
            "Value at this depth",
            "Random",
        ],
        &rows,
    );
    out.push_str("</figure>\n");
}

fn pagerank_found(out: &mut String, crawl: &Crawl) {
    let ours = crawl.depths.iter();
    let ours = ours.map(|d| point(d.depth, d.pagerank, 0.0));
    let random = crawl.depths.iter();
    let random = random.map(|d| point(d.depth, d.pagerank_random.mean, d.pagerank_random.error));
    let series = pair(ours.collect(), random.collect());
    let title = "How much of the important that is";
    figure(
        out,
        title,
        "PageRank of all pages found, in per cent of the web's: important pages weigh more than others.",
    );
    let frame = Frame {
        id: "pagerank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "PageRank found up to this depth (% of the web)",
    };
    out.push_str(&lines(&frame, &series, 88.0));
    let rows: Vec<Vec<String>> = crawl
        .depths
        .iter()
        .map(|d| {
            let times = d.pagerank / d.pagerank_random.mean;
            vec![
                d.depth.to_string(),
                short(d.pagerank),
                with_error(d.pagerank_random),
                format!("×{}", short(times)),
            ]
        })
        .collect();
    table(
        out,
        &["Depth", "PageRank so far (%)", "Random", "Seeds : random"],
        &rows,
    );
    out.push_str("</figure>\n");
}

fn rank_found(out: &mut String, crawl: &Crawl) {
    let ours = crawl.depths.iter();
    let ours = ours.filter_map(|d| Some(point(d.depth, d.rank?, 0.0)));
    let random = crawl.depths.iter();
    let random = random.filter_map(|d| {
        let of_random = d.rank_random?;
        Some(point(d.depth, of_random.mean, of_random.error))
    });
    let series = pair(ours.collect(), random.collect());
    let title = "How important a page is that it finds";
    figure(
        out,
        title,
        "Mean PageRank of the pages at each depth: 1 is the average page of this web.",
    );
    let frame = Frame {
        id: "rank",
        title,
        description: "Two lines over the depth of the crawl, from the seeds and from random pages; the table below has the numbers.",
        x: "depth (links from the nearest seed)",
        y: "mean PageRank of new pages (× average page)",
    };
    out.push_str(&lines(&frame, &series, 88.0));
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), short);
    let rows: Vec<Vec<String>> = crawl
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
    table(
        out,
        &["Depth", "PageRank", "Random", "Spam (%)", "Random"],
        &rows,
    );
    out.push_str("</figure>\n");
}
