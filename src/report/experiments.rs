//! The figures of the experiments: crawls by depth, coverage, and distances between cores as a map.

use super::Report;
use super::core_figures::by_difference;
use super::verdict::{self, is_own_method};

use crate::engine::evaluate::{
    BudgetEvaluation, CoverageCurve, CoverageEvaluation, CoveragePoint, CrawlDepth,
    CrawlEvaluation, DistancesEvaluation, Estimate,
};
use crate::engine::plan::{CoverMethod, Covered, Method};
use crate::html::bars::{Bar, bars};
use crate::html::chart::{Frame, LOOKS, Point, Series, WIDTH, label, lines, open};
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional, put};

/// The figures of value per page fetched.
pub(super) fn by_fetches(report: &Report) -> Vec<Figure> {
    let fetches = report
        .crawl
        .iter()
        .filter_map(|crawl| crawl.fetches.as_ref());
    let mut all: Vec<Figure> = fetches.flat_map(verdict::figures).collect();
    all.extend(report.budget.as_ref().map(budgets));
    all
}

/// The papers' experiments that concern the plan, in the order of the page.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let mut all = Vec::new();
    if let Some(crawl) = &report.crawl {
        all.extend(crawl_figures(crawl));
    }
    if covers_sites(report) {
        all.extend(coverage_figures(report));
    }
    if let Some(found) = &report.distances {
        all.push(distance_figure(found));
        all.extend(by_difference(&found.distances, found.graph.mean));
    }
    all
}

/// The papers' experiments on other methods than the plan's.
pub(super) fn other_figures(report: &Report) -> Vec<Figure> {
    if covers_sites(report) {
        return Vec::new();
    }
    coverage_figures(report)
}

fn coverage_figures(report: &Report) -> Vec<Figure> {
    let coverage = report.coverage.iter();
    coverage
        .flat_map(|found| figures_of_coverage(report, found))
        .collect()
}

/// Whether the plan covers sites.
pub(super) fn covers_sites(report: &Report) -> bool {
    report.method != Method::Cores && !report.is_web()
}

fn budgets(budget: &BudgetEvaluation) -> Figure {
    let title = format!(
        "What a crawl of {} gives",
        budget.budget.counted("page", "pages")
    );
    let all: Vec<Bar> = (0..)
        .zip(&budget.lists)
        .map(|(at, row)| {
            let pagerank = 100.0 * row.pagerank;
            Bar {
                name: if at == 0 {
                    "these seeds".to_owned()
                } else {
                    format!("{}: {}", at + 1, row.list.name)
                },
                number: pagerank,
                error: 0.0,
                text: format!("{} %", ((pagerank * 100.0).round() / 100.0).short()),
                is_highlighted: at == 0,
            }
        })
        .collect();
    let frame = Frame {
        id: "budget",
        title: &title,
        description: "One bar for each list of seeds with its number beside it.",
        x: "PageRank reached (% of the web)",
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let rows = (1..)
        .zip(&budget.lists)
        .map(|(at, row)| {
            vec![
                format!("{at}: {}", row.list.name),
                row.pages.whole(),
                row.value.short(),
                row.clicks.whole(),
                row.spam.whole(),
                (100.0 * row.pagerank).short(),
            ]
        })
        .collect();
    let heads = [
        "List",
        "Pages fetched",
        "Value",
        "Clicks",
        "Spam (pages)",
        "PageRank (% of the web)",
    ];
    let about = "Breadth first from the seeds, of this refresh and of other plans, in PageRank reached together (% of the web).";
    Figure::open(&*title, about, chart, &heads, rows)
}

fn distance_figure(found: &DistancesEvaluation) -> Figure {
    let distances = &found.distances;
    let all = distances.len();
    let shown = all.min(SHOWN_CORES);
    let title = "How far the cores are from each other";
    let means = [
        (
            found.neighbours.mean.map(Measure::short),
            "between cores that are neighbours in rank",
        ),
        (found.all.mean.map(Measure::short), "between any two cores"),
        (
            found.graph.mean.map(Estimate::with_error),
            "between two pages of the web",
        ),
    ];
    let known = means
        .into_iter()
        .filter_map(|(mean, of)| Some(format!(" {} {of}", mean?)));
    let about = format!(
        "Links on the shortest path from a core (row) to another (column). On average{}; {} without a path. The farther the better: seeds should not lead to the same places.",
        known.collect::<Vec<String>>().join(","),
        found.all.unreachable.counted("pair is", "pairs are")
    );
    let frame = Frame {
        id: "distances",
        title,
        description: "A square for each pair of cores, shaded by the scale under the map, which goes from near to far; the table below has the numbers.",
        x: "to core",
        y: "from",
    };
    let heads = std::iter::once("From \\ to (links)".to_owned())
        .chain((1..=shown).map(|rank| rank.to_string()))
        .collect();
    let rows = (0..shown)
        .map(|from| {
            let cells = distances[from].iter().take(shown).enumerate();
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
    Figure {
        title: title.to_owned(),
        about,
        chart: distance_map(&frame, distances),
        note: (all > shown).then(|| format!("The first {shown} of {all} cores.")),
        folded: Some("The distances as a table"),
        heads,
        rows,
    }
}

/// The points of a curve that the table shows; all points would be wider than the page.
const TABLE_POINTS: [u32; 4] = [1, 2, 3, 5];

/// The figures on coverage, without curves that cannot be compared with random.
fn figures_of_coverage(
    report: &Report,
    coverage: &CoverageEvaluation,
) -> impl Iterator<Item = Figure> {
    let by_seeds = covered(
        "Value covered, by the number of seeds",
        |point| {
            let links = point.hops.counted("link", "links");
            format!("each seed covering what is within {links}")
        },
        &Axis {
            id: "by-seeds",
            title: "seeds for each site",
            one: "seed",
            many: "seeds",
        },
        &coverage.by_seeds,
        |point| point.seeds,
    );
    let by_hops = covered(
        "Value covered, by how far a seed reaches",
        |point| {
            format!(
                "with {} for each site",
                point.seeds.counted("seed", "seeds")
            )
        },
        &Axis {
            id: "by-hops",
            title: "links that a seed reaches (hops)",
            one: "link",
            many: "links",
        },
        &coverage.by_hops,
        |point| point.hops,
    );
    let all = [Some(by_method(report, coverage)), by_seeds, by_hops];
    all.into_iter().flatten()
}

/// The horizontal axis of a figure, with the noun of its numbers.
struct Axis<'a> {
    id: &'a str,
    title: &'a str,
    one: &'a str,
    many: &'a str,
}

/// The name of a method, with the depth of its weight.
fn curve_name(curve: &CoverageCurve) -> String {
    let method = curve.method.name();
    match curve.depth {
        // The depth of greedy is always the number of hops.
        Some(depth) if curve.method != CoverMethod::Greedy => format!("{method} d{depth}"),
        _ => method.to_owned(),
    }
}

/// The curves that figures have room for: those of the poster that remove covered pages are in JSON alone.
fn in_figures(curves: &[CoverageCurve]) -> impl Iterator<Item = &CoverageCurve> {
    let removes = |curve: &CoverageCurve| curve.covered == Some(Covered::Remove);
    let curves = curves.iter();
    curves.filter(move |curve| curve.method == CoverMethod::MaxOut || !removes(curve))
}

fn by_method(report: &Report, coverage: &CoverageEvaluation) -> Figure {
    let most = coverage.by_seeds.iter();
    let most = most.filter_map(|curve| curve.points.last().map(|point| point.seeds));
    let title = format!(
        "Value that {} for each site cover, by method",
        most.max().unwrap_or(0).counted("seed", "seeds")
    );
    let about = format!(
        "Beyond what random pages cover: mean over {} of the {} with {} crawled pages or more and a link from another site, whiskers: ± standard error. d2 weighs what lies within 2 links.",
        coverage.sites.whole(),
        coverage.eligible_sites.counted("site", "sites"),
        coverage.min_pages
    );
    let mut of_methods: Vec<(Estimate, String, bool)> = in_figures(&coverage.by_seeds)
        .filter_map(|curve| {
            let more = curve.points.last()?.value.mean_improvement?;
            Some((more, curve_name(curve), is_own_method(report, curve)))
        })
        .collect();
    of_methods.sort_by(|a, b| b.0.mean.total_cmp(&a.0.mean).then(a.1.cmp(&b.1)));
    let all: Vec<Bar> = of_methods
        .into_iter()
        .map(|(more, name, is_own)| Bar {
            name,
            number: more.mean,
            error: more.error(),
            text: {
                let plus = if more.mean > 0.0 { "+" } else { "" };
                // At most two decimals fit beside the bar.
                format!("{plus}{} %", ((more.mean * 100.0).round() / 100.0).short())
            },
            is_highlighted: is_own,
        })
        .collect();
    let frame = Frame {
        id: "methods",
        title: &title,
        description: "One bar for each method with its number beside it, the best first.",
        x: "value covered above random (%)",
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let rows = in_figures(&coverage.by_seeds)
        .filter_map(|curve| {
            let last = curve.points.last()?;
            Some(vec![
                curve_name(curve),
                optional(last.value.mean_improvement),
                last.value.percent.with_error(),
                last.pages.percent.with_error(),
            ])
        })
        .collect();
    let heads = [
        "Method",
        "Value above random (%)",
        "Value (% of site)",
        "Pages (% of site)",
    ];
    Figure::open(&*title, about, chart, &heads, rows)
}

/// A figure with a line for each method that can be compared with random; `None` if there is none.
fn covered(
    title: &str,
    about: impl Fn(&CoveragePoint) -> String,
    axis: &Axis<'_>,
    curves: &[CoverageCurve],
    x: impl Fn(&CoveragePoint) -> u32,
) -> Option<Figure> {
    let has_points = |curve: &CoverageCurve| {
        curve
            .points
            .iter()
            .any(|p| p.value.mean_improvement.is_some())
    };
    let methods: Vec<&CoverageCurve> = in_figures(curves)
        .filter(|curve| has_points(curve))
        .collect();
    let series: Vec<Series> = methods
        .iter()
        .enumerate()
        .map(|(look, curve)| Series {
            name: curve_name(curve),
            look: look % LOOKS,
            points: curve
                .points
                .iter()
                // Errors are in the table: error bars would hide the lines.
                .filter_map(|p| Some(Point::at(x(p), p.value.mean_improvement?.mean, 0.0)))
                .collect(),
        })
        .collect();
    let about = about(methods.first()?.points.first()?);
    let about = format!("Beyond what random pages cover, {about}. Zero is random itself.");
    let frame = Frame {
        id: axis.id,
        title,
        description: "One line for each method; the table below has the numbers.",
        x: axis.title,
        y: "value covered above random (%)",
    };
    let chart = lines(&frame, &series, 110.0, None);
    let numbers = TABLE_POINTS.map(|at| at.counted(axis.one, axis.many));
    let mut heads = vec!["Above random (%)"];
    heads.extend(numbers.iter().map(String::as_str));
    let rows = methods
        .iter()
        .map(|curve| {
            let cells = TABLE_POINTS.iter().map(|&at| {
                let here = curve.points.iter().find(|p| x(p) == at);
                optional(here.and_then(|p| p.value.mean_improvement))
            });
            std::iter::once(curve_name(curve)).chain(cells).collect()
        })
        .collect();
    Some(Figure::open(title, about, chart, &heads, rows))
}

/// The limit of percentages of the web.
const WHOLE: Option<f64> = Some(100.0);

/// A number at one depth, from the seeds, from random pages, and from random hubs of the seeds' cores; `None` without
/// pages at that depth, or without cores.
struct Pair {
    depth: u32,
    seeds: Option<f64>,
    random: Option<Estimate>,
    hubs: Option<Estimate>,
}

/// The figures on a crawl.
fn crawl_figures(crawl: &CrawlEvaluation) -> [Figure; 3] {
    [
        pages_found(crawl),
        pagerank_found(crawl),
        mean_pagerank(crawl),
    ]
}

/// Draws the lines of the seeds, of random pages and of random hubs; `limit` is the greatest possible number.
fn pair_chart(id: &str, title: &str, y: &str, pairs: &[Pair], limit: Option<f64>) -> String {
    let seeds = |pair: &Pair| Some(Point::at(pair.depth, pair.seeds?, 0.0));
    let drawn = |name: &str, look, of: fn(&Pair) -> Option<Estimate>| Series {
        name: name.to_owned(),
        look,
        points: pairs
            .iter()
            .filter_map(|pair| of(pair).map(|of| Point::at(pair.depth, of.mean, of.error())))
            .collect(),
    };
    let mut series = vec![
        Series {
            name: "these seeds".to_owned(),
            look: 0,
            points: pairs.iter().filter_map(seeds).collect(),
        },
        drawn("random", 1, |pair| pair.random),
    ];
    if pairs.iter().any(|pair| pair.hubs.is_some()) {
        series.push(drawn("random hubs", 2, |pair| pair.hubs));
    }
    let frame = Frame {
        id,
        title,
        description: "Lines over the depth of the crawl, from the seeds, from random pages and, for cores, from random hubs; the table below has the numbers.",
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
        hubs: found.hubs.map(|hubs| hubs.pages.times(share)),
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
    let has_hubs = crawl.depths.iter().any(|found| found.hubs.is_some());
    if has_hubs {
        about.push_str(" Random hubs are of the same cores, as many as there are seeds.");
    }
    let rows = crawl.depths.iter().map(|found| {
        let mut row = vec![
            found.depth.to_string(),
            found.pages.whole(),
            found.random.pages.with_error(),
            times(found.pages as f64, found.random.pages),
            found.value.short(),
            found.random.value.with_error(),
        ];
        row.extend(has_hubs.then(|| optional(found.hubs.map(|hubs| hubs.pages))));
        row
    });
    let mut heads = vec![
        "Depth (links)",
        "Found so far (pages)",
        "From random (pages)",
        "Seeds to random (times)",
        "Value at this depth",
        "Value from random",
    ];
    heads.extend(has_hubs.then_some("From random hubs (pages)"));
    let y = "pages found up to this depth (% of the web)";
    let chart = pair_chart("pages", title, y, &pairs, WHOLE);
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
            hubs: None,
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
    let chart = pair_chart("pagerank", title, y, &pairs, WHOLE);
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
        hubs: found
            .hubs
            .and_then(|hubs| hubs.mean_pagerank)
            .map(|rank| rank.times(web)),
    };
    let pairs: Vec<Pair> = crawl.depths.iter().map(pair).collect();
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), Measure::short);
    let has_hubs = pairs.iter().any(|pair| pair.hubs.is_some());
    let rows = crawl.depths.iter().zip(&pairs).map(|(found, pair)| {
        let mut row = vec![
            found.depth.to_string(),
            number(pair.seeds),
            optional(pair.random),
            number(found.spam_share.map(|share| share * 100.0)),
            optional(found.random.spam_share.map(|share| share.times(100.0))),
        ];
        row.extend(has_hubs.then(|| optional(pair.hubs)));
        row
    });
    let mut heads = vec![
        "Depth (links)",
        "PageRank (times the average page)",
        "From random (times)",
        "Spam (% of pages)",
        "From random (%)",
    ];
    heads.extend(has_hubs.then_some("PageRank from random hubs (times)"));
    let title = "Mean PageRank of the pages that a crawl finds";
    let about = "By depth; 1 is the average page of this web.";
    let y = "mean PageRank of new pages (× average page)";
    let chart = pair_chart("rank", title, y, &pairs, None);
    Figure::open(title, about, chart, &heads, rows.collect())
}

/// The most cores on the map; with more, squares would be too small.
const SHOWN_CORES: usize = 40;
/// Up to this many cores, the squares contain the distances.
const NUMBERED: usize = 24;
const LEFT: f64 = 36.0;
const TOP: f64 = 34.0;
/// The number of shades, from near to far; the style sheet has a colour for each.
const SHADES: u32 = 7;

/// The shade of a distance; all distances from [`SHADES`] on have the same.
fn shade(distance: u32) -> u32 {
    distance.clamp(1, SHADES)
}

/// Draws the distances from each (row) of the first [`SHOWN_CORES`] cores to each (column), in links; `None`
/// without a path.
fn distance_map(frame: &Frame<'_>, distances: &[Vec<Option<u32>>]) -> String {
    let shown = distances.len().min(SHOWN_CORES);
    // With few cores, squares do not fill the width.
    let size = ((WIDTH - LEFT - 4.0) / shown.max(1) as f64).min(30.0);
    let bottom = TOP + size * shown as f64;
    let mut out = String::new();
    open(&mut out, frame, bottom + 56.0);
    label(&mut out, LEFT, 12.0, "axis", frame.x);
    label(&mut out, 2.0, 12.0, "axis", frame.y);
    let every = shown.div_ceil(20).max(1);
    for (row, from) in (0_u32..).zip(distances.iter().take(shown)) {
        let y = TOP + size * f64::from(row);
        if (row as usize).is_multiple_of(every) {
            let name = (row + 1).to_string();
            label(
                &mut out,
                LEFT - 5.0,
                y + size / 2.0 + 4.0,
                "end tiny",
                &name,
            );
            let x = LEFT + size * (f64::from(row) + 0.5);
            label(&mut out, x, TOP - 5.0, "mid tiny", &name);
        }
        for (column, distance) in (0_u32..).zip(from.iter().take(shown)) {
            let x = LEFT + size * f64::from(column);
            let middle = (x + size / 2.0, y + size / 2.0);
            let class = match distance {
                _ if row == column => "self".to_owned(),
                None => "none".to_owned(),
                Some(distance) => format!("d{}", shade(*distance)),
            };
            put(
                &mut out,
                format_args!(
                    "<rect class=\"cell {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    size - 0.8,
                    size - 0.8
                ),
            );
            match distance {
                _ if row == column => {}
                None => put(
                    &mut out,
                    format_args!(
                        "<circle class=\"no\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.3\"/>",
                        middle.0, middle.1
                    ),
                ),
                Some(distance) if shown <= NUMBERED => {
                    let class = format!("mid cell-text t{}", shade(*distance));
                    label(
                        &mut out,
                        middle.0,
                        middle.1 + 3.6,
                        &class,
                        &distance.to_string(),
                    );
                }
                Some(_) => {}
            }
        }
    }
    legend(&mut out, bottom + 14.0);
    out.push_str("</svg>");
    out
}

/// Draws the legend of the shades.
fn legend(out: &mut String, y: f64) {
    label(out, 2.0, y + 11.0, "", "links:");
    for shade in 1..=SHADES {
        let x = LEFT + 33.0 * f64::from(shade - 1);
        put(
            out,
            format_args!(
                "<rect class=\"cell d{shade}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\"/>"
            ),
        );
        let more = if shade == SHADES { "+" } else { "" };
        label(out, x + 17.0, y + 11.0, "", &format!("{shade}{more}"));
        let end = match shade {
            1 => "near",
            SHADES => "far",
            _ => continue,
        };
        label(out, x, y + 28.0, "axis", end);
    }
    let x = LEFT + 33.0 * f64::from(SHADES) + 5.0;
    put(
        out,
        format_args!(
            "<rect class=\"cell none\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\"/>\
             <circle class=\"no\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.3\"/>",
            x + 7.0,
            y + 7.0
        ),
    );
    label(out, x + 17.0, y + 11.0, "", "no path");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_square() {
        let frame = Frame {
            id: "m",
            title: "",
            description: "",
            x: "",
            y: "",
        };
        let distances = [
            vec![Some(0), Some(1), None],
            vec![Some(9), Some(0), Some(2)],
            vec![None, None, Some(0)],
        ];
        let drawn = distance_map(&frame, &distances);
        let legend = |class: &str| drawn.matches(&format!("cell {class}\"")).count() - 1;
        assert_eq!((legend("d1"), legend("d2"), legend("d7")), (1, 1, 1));
        assert_eq!(legend("none"), 3);
        assert_eq!(drawn.matches("cell self\"").count(), 3);
        assert!(drawn.contains(">9</text>"), "{drawn}");
    }
}
