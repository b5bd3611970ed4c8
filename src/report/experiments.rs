//! The experiments: what is claimed and whether it holds, the charts, and how far the cores are from
//! each other. Each chart has its numbers in a table under it.

use super::bars::{Bar, bars};
use super::chart::{Frame, Point};
use super::data::{Budget, Distances, Mean, Report};
use super::text::{counted, escape, put, short, whole, with_error};
use super::{coverage, crawl, map};

/// Whether anything was measured.
pub(super) fn any(report: &Report) -> bool {
    report.crawl.is_some()
        || report.distances.is_some()
        || report.coverage.is_some()
        || !report.left_out.is_empty()
}

pub(super) fn worth(out: &mut String, report: &Report) {
    if !any(report) {
        return;
    }
    out.push_str("<section id=\"worth\"><h2>Is it worth it? The experiments</h2>\n");
    claims(out, report);
    out.push_str("<div class=\"charts\">\n");
    if let Some(crawl) = &report.crawl {
        crawl::charts(out, crawl);
    }
    if let Some(coverage) = &report.coverage {
        coverage::charts(out, report, coverage);
    }
    if let Some(budget) = &report.budget {
        budgets(out, budget);
    }
    if let Some(distances) = &report.distances {
        distance_map(out, distances);
    }
    out.push_str("</div>\n");
    for why in &report.left_out {
        put(
            out,
            format_args!(
                "<p class=\"small soft\">Not measured: {}.</p>\n",
                escape(why)
            ),
        );
    }
    out.push_str("</section>\n");
}

fn budgets(out: &mut String, budget: &Budget) {
    let title = format!(
        "What a crawl of {} gives",
        counted(budget.pages, "page", "pages")
    );
    figure(
        out,
        &title,
        "Breadth first from the seeds, of this refresh and of other plans, in PageRank reached together (% of the web).",
    );
    let all: Vec<Bar> = (0..)
        .zip(&budget.lists)
        .map(|(at, line)| Bar {
            name: if at == 0 {
                "these seeds".to_owned()
            } else {
                format!("list {}", at + 1)
            },
            number: line.pagerank,
            error: 0.0,
            text: format!("{} %", short((line.pagerank * 100.0).round() / 100.0)),
            ours: at == 0,
        })
        .collect();
    let frame = Frame {
        id: "budget",
        title: &title,
        description: "One bar for each list of seeds with its number beside it.",
        x: "PageRank reached (% of the web)",
        y: "",
    };
    out.push_str(&bars(&frame, &all, 108.0, 66.0));
    let rows: Vec<Vec<String>> = (1..)
        .zip(&budget.lists)
        .map(|(at, line)| {
            vec![
                format!("{at}: {}", line.name),
                whole(line.pages),
                short(line.value),
                whole(line.clicks),
                whole(line.spam),
                short(line.pagerank),
            ]
        })
        .collect();
    let heads = ["List", "Pages", "Value", "Clicks", "Spam", "PageRank (%)"];
    table(out, &heads, &rows);
    out.push_str("</figure>\n");
}

fn claims(out: &mut String, report: &Report) {
    if report.claims.is_empty() {
        return;
    }
    out.push_str(
        "<p>What was published about seeds like these, on this web:</p>\n\
         <table class=\"claims\"><tbody>\n",
    );
    for claim in &report.claims {
        let (class, word) = if claim.holds {
            ("holds", "✓ holds")
        } else {
            ("fails", "✗ does not hold")
        };
        put(
            out,
            format_args!(
                "<tr><td class=\"text keep\"><span class=\"tag {class}\">{word}</span></td><td class=\"text\">{}</td></tr>\n",
                escape(&claim.text)
            ),
        );
    }
    out.push_str("</tbody></table>\n");
}

/// Opens a figure with its title and what to see in it.
pub(super) fn figure(out: &mut String, title: &str, about: &str) {
    put(
        out,
        format_args!(
            "<figure><figcaption><h3>{}</h3>{}</figcaption>\n",
            escape(title),
            escape(about)
        ),
    );
}

/// A table under a chart, scrolling by itself where it is wide.
pub(super) fn table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    out.push_str("<div class=\"wide\" tabindex=\"0\"><table><thead><tr>");
    for head in heads {
        put(out, format_args!("<th>{}</th>", escape(head)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let tag = if at == 0 { "th" } else { "td" };
            put(out, format_args!("<{tag}>{}</{tag}>", escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

pub(super) fn optional(mean: Option<Mean>) -> String {
    mean.map_or_else(|| "–".to_owned(), with_error)
}

pub(super) fn point(depth: u32, y: f64, error: f64) -> Point {
    Point {
        x: f64::from(depth),
        y,
        error,
    }
}

fn distance_map(out: &mut String, distances: &Distances) {
    let all = distances.matrix.len();
    let shown = all.min(map::SHOWN);
    let title = "How far the cores are from each other";
    let mut about =
        "Links on the shortest way from a core (row) to another (column). On average".to_owned();
    let means = [
        (
            distances.neighbours.map(short),
            "between cores that are neighbours in rank",
        ),
        (distances.mean.map(short), "between any two cores"),
        (
            distances.average.map(with_error),
            "between two pages of the web",
        ),
    ];
    let known = means
        .into_iter()
        .filter_map(|(mean, of)| Some(format!(" {} {of}", mean?)));
    about.push_str(&known.collect::<Vec<String>>().join(","));
    put(
        &mut about,
        format_args!(
            "; {} without a way. Pale is far, and far is good: seeds should not lead to the same places.",
            counted(distances.unreachable, "pair is", "pairs are")
        ),
    );
    figure(out, title, &about);
    let frame = Frame {
        id: "distances",
        title,
        description: "A square for each pair of cores, dark where they are near each other; the table below has the numbers.",
        x: "to core",
        y: "from",
    };
    out.push_str(&map::map(&frame, distances));
    let heads: Vec<String> = std::iter::once("From \\ to".to_owned())
        .chain((1..=shown).map(|rank| rank.to_string()))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = (0..shown)
        .map(|from| {
            let cells = distances.matrix[from].iter().take(shown).enumerate();
            let cells = cells.map(|(to, distance)| match distance {
                _ if to == from => "·".to_owned(),
                None => "–".to_owned(),
                Some(distance) => distance.to_string(),
            });
            std::iter::once((from + 1).to_string())
                .chain(cells)
                .collect()
        })
        .collect();
    if all > shown {
        put(
            out,
            format_args!("<p class=\"small soft\">The first {shown} of {all} cores.</p>\n"),
        );
    }
    out.push_str("<details><summary>The distances as a table</summary>\n");
    table(out, &heads, &rows);
    out.push_str("</details></figure>\n");
}
