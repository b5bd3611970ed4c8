//! The experiments: a crawl from the seeds beside random ones, how far cores are from each other,
//! what cover methods cover. Each chart has its numbers in a table under it.

use super::bars::{Bar, bars};
use super::chart::{Frame, LOOKS, Point, Series, lines};
use super::data::{Coverage, CoveragePoint, Crawl, Distances, Mean, MethodCurve, Report};
use super::judge::is_ours;
use super::map;
use super::text::{counted, escape, put, short, whole, with_error};

/// Where curves are told in numbers; a column for every point would be wider than the page.
const IN_TABLE: [u32; 4] = [1, 2, 3, 5];

/// Whether anything was measured.
pub(super) fn any(report: &Report) -> bool {
    report.crawl.is_some() || report.distances.is_some() || report.coverage.is_some()
}

pub(super) fn worth(out: &mut String, report: &Report) {
    if !any(report) {
        return;
    }
    out.push_str("<section id=\"worth\"><h2>Is it worth it? The experiments</h2>\n");
    claims(out, report);
    out.push_str("<div class=\"charts\">\n");
    if let Some(crawl) = &report.crawl {
        pages_found(out, crawl);
        rank_found(out, crawl);
    }
    if let Some(coverage) = &report.coverage {
        covered_by_method(out, report, coverage);
        covered(
            out,
            "Value covered, by the number of seeds",
            &format!(
                "each seed covering what is within {}",
                counted(coverage.hops.into(), "link", "links")
            ),
            ("by-seeds", "seeds for each site"),
            &coverage.by_seeds,
            |point| point.per_site,
        );
        covered(
            out,
            "Value covered, by how far a seed reaches",
            &format!(
                "with {} for each site",
                counted(coverage.per_site.into(), "seed", "seeds")
            ),
            ("by-hops", "links that a seed reaches (hops)"),
            &coverage.by_hops,
            |point| point.hops,
        );
    }
    if let Some(distances) = &report.distances {
        distance_map(out, distances);
    }
    out.push_str("</div></section>\n");
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
fn figure(out: &mut String, title: &str, about: &str) {
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
fn table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
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

fn optional(mean: Option<Mean>) -> String {
    mean.map_or_else(|| "–".to_owned(), with_error)
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

fn point(depth: u32, y: f64, error: f64) -> Point {
    Point {
        x: f64::from(depth),
        y,
        error,
    }
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

fn rank_found(out: &mut String, crawl: &Crawl) {
    let ours = crawl.depths.iter();
    let ours = ours.filter_map(|d| Some(point(d.depth, d.rank?, 0.0)));
    let random = crawl.depths.iter();
    let random = random.filter_map(|d| {
        let of_random = d.rank_random?;
        Some(point(d.depth, of_random.mean, of_random.error))
    });
    let series = pair(ours.collect(), random.collect());
    let title = "How important the pages are that it finds";
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

/// A method's name, with the depth of its weight.
fn name(curve: &MethodCurve) -> String {
    match curve.depth {
        // Greedy looks as far as a seed reaches.
        Some(depth) if curve.method != "greedy" => format!("{} d{depth}", curve.method),
        _ => curve.method.clone(),
    }
}

fn covered_by_method(out: &mut String, report: &Report, coverage: &Coverage) {
    let most = coverage.by_seeds.iter();
    let most = most.filter_map(|curve| curve.points.last().map(|point| point.per_site));
    let title = format!(
        "Value that {} for each site cover, by method",
        counted(most.max().unwrap_or(0).into(), "seed", "seeds")
    );
    let about = format!(
        "Beyond what random pages cover: mean over {} of the {} with {} crawled pages or more, whiskers: ± standard error. d2 weighs what lies within 2 links.",
        whole(coverage.sites),
        counted(coverage.sites_all, "site", "sites"),
        coverage.min_pages
    );
    let mut of_methods: Vec<(Mean, String, bool)> = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let more = curve.points.last()?.more_value?;
            Some((more, name(curve), is_ours(report, curve)))
        })
        .collect();
    of_methods.sort_by(|a, b| b.0.mean.total_cmp(&a.0.mean).then(a.1.cmp(&b.1)));
    let all: Vec<Bar> = of_methods
        .into_iter()
        .map(|(more, name, ours)| Bar {
            name,
            number: more.mean,
            error: more.error,
            text: {
                let plus = if more.mean > 0.0 { "+" } else { "" };
                format!("{plus}{} %", short(more.mean))
            },
            ours,
        })
        .collect();
    figure(out, &title, &about);
    let frame = Frame {
        id: "methods",
        title: &title,
        description: "One bar for each method with its number beside it, the best first.",
        x: "value covered above random (%)",
        y: "",
    };
    out.push_str(&bars(&frame, &all, 96.0, 58.0));
    let rows: Vec<Vec<String>> = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let last = curve.points.last()?;
            Some(vec![
                name(curve),
                optional(last.more_value),
                with_error(last.value),
                with_error(last.pages),
            ])
        })
        .collect();
    table(
        out,
        &[
            "Method",
            "Value above random (%)",
            "Value (% of site)",
            "Pages (% of site)",
        ],
        &rows,
    );
    out.push_str("</figure>\n");
}

fn covered(
    out: &mut String,
    title: &str,
    about: &str,
    (id, axis): (&str, &str),
    curves: &[MethodCurve],
    along: impl Fn(&CoveragePoint) -> u32,
) {
    let methods: Vec<&MethodCurve> = curves
        .iter()
        .filter(|curve| curve.points.iter().any(|p| p.more_value.is_some()))
        .collect();
    let series: Vec<Series> = methods
        .iter()
        .enumerate()
        .map(|(look, curve)| Series {
            name: name(curve),
            look: look % LOOKS,
            points: curve
                .points
                .iter()
                // Errors are in the table: so many whiskers would hide the lines.
                .filter_map(|p| Some(point(along(p), p.more_value?.mean, 0.0)))
                .collect(),
        })
        .collect();
    if series.is_empty() {
        return;
    }
    figure(
        out,
        title,
        &format!("Beyond what random pages cover, {about}. Zero is random itself."),
    );
    let frame = Frame {
        id,
        title,
        description: "One line for each method; the table below has the numbers.",
        x: axis,
        y: "value covered above random (%)",
    };
    out.push_str(&lines(&frame, &series, 100.0));
    let mut heads = vec!["Above random (%)".to_owned()];
    heads.extend(IN_TABLE.iter().map(ToString::to_string));
    let rows: Vec<Vec<String>> = methods
        .iter()
        .map(|curve| {
            let cells = IN_TABLE.iter().map(|&at| {
                let here = curve.points.iter().find(|p| along(p) == at);
                optional(here.and_then(|p| p.more_value))
            });
            std::iter::once(name(curve)).chain(cells).collect()
        })
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table(out, &heads, &rows);
    out.push_str("</figure>\n");
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
