//! The page *The papers* of the guide: every table, figure and claim of the papers on cores and on cover, on four webs.
//!
//! Catches figures that no command gives any more, and claims of which the page says something else than the figures:
//! whether a claim holds is computed here.

use std::collections::BTreeMap;

use crate::support::marked_tables::{
    ABSENT, Banks, check, commands, estimate, figure, number, table,
};
use crate::support::shared;
use serde_json::Value;

const WEBS: [&str; 4] = ["ku", "friendlinks", "hollins", "uk"];

const BANKS: &str = "\
seedbank init ku --site host --url-rules whatwg
seedbank ingest ku data/ku-2017-webir/crawl.jsonl.gz --snapshot
seedbank init friendlinks --site host --url-rules whatwg
for day in data/friendlinks/*.jsonl.gz; do seedbank ingest friendlinks $day --max-loss 100 --as-of $(basename $day .jsonl.gz); done
seedbank init hollins --site host --url-rules whatwg
seedbank ingest hollins data/hollins/links.tsv.gz --input links --pages data/hollins/pages.tsv.gz
seedbank synth crawl --pages 20000 --like uk-2002 --days 0
seedbank init uk --site host --url-rules whatwg
seedbank ingest uk crawl/day-000.jsonl.zst --snapshot";

/// A claim, and whether it holds on each web; `None` where it cannot be measured.
struct Claim {
    text: &'static str,
    holds: [Option<bool>; 4],
}

impl Claim {
    fn new<T>(text: &'static str, webs: &[T; 4], holds: impl Fn(&T) -> Option<bool>) -> Self {
        let holds = webs.each_ref().map(holds);
        Self { text, holds }
    }

    fn sentence(&self) -> String {
        let outcomes = [
            (Some(true), "**holds** on"),
            (Some(false), "**does not hold** on"),
            (None, "cannot be measured on"),
        ];
        let parts = outcomes.map(|(outcome, verb)| {
            let webs = WEBS.iter().zip(self.holds);
            let webs = webs.filter(|(_, holds)| *holds == outcome);
            let webs: Vec<&str> = webs.map(|(web, _)| *web).collect();
            (!webs.is_empty()).then(|| format!("{verb} {}", webs.join(", ")))
        });
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("*{}*: {}.\n\n", self.text, parts.join("; "))
    }

    fn row(&self) -> Vec<String> {
        let cell = |holds| match holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => ABSENT,
        };
        let cells = self.holds.map(cell).map(str::to_owned);
        [vec![self.text.to_owned()], cells.to_vec()].concat()
    }
}

/// The tables that are computed so far, and the claims of the papers.
struct Page {
    banks: Banks,
    tables: BTreeMap<&'static str, String>,
    claims: Vec<Claim>,
}

impl Page {
    /// What a command prints about each web.
    fn ask(&self, command: &str) -> [Value; 4] {
        WEBS.map(|web| self.banks.one(command, &[("web", web)]))
    }

    /// Adds a table with a column for each web, its commands above it, and its claims below.
    fn add(
        &mut self,
        name: &'static str,
        typed: &str,
        rows: Vec<Vec<String>>,
        claims: impl IntoIterator<Item = Claim>,
    ) {
        let head = [&[""][..], &WEBS].concat();
        let mut text = commands(typed) + &table(&head, rows);
        for claim in claims {
            text += &claim.sentence();
            self.claims.push(claim);
        }
        self.tables.insert(name, text);
    }
}

/// A row with a cell for each web.
fn row<T>(title: impl Into<String>, webs: &[T; 4], cell: impl Fn(&T) -> String) -> Vec<String> {
    let cells = webs.each_ref().map(cell);
    [vec![title.into()], cells.to_vec()].concat()
}

/// A row of one figure of the answer about each web.
fn figures(title: &str, answers: &[Value; 4], pointer: &str, decimals: usize) -> Vec<String> {
    row(title, answers, |answer| {
        number(figure(answer, pointer), decimals)
    })
}

fn array<'a>(answer: &'a Value, pointer: &str) -> &'a [Value] {
    let array = answer.pointer(pointer).and_then(Value::as_array);
    array.map_or(&[], Vec::as_slice)
}

#[test]
fn the_papers_on_four_webs() {
    let Some(shared) = shared("the_papers_on_four_webs") else {
        return;
    };
    let mut page = Page {
        banks: Banks::new(&shared, BANKS),
        tables: BTreeMap::new(),
        claims: Vec::new(),
    };
    webs(&mut page);
    degrees_and_components(&mut page);
    iterations(&mut page);
    cores(&mut page);
    distances(&mut page);
    crawl(&mut page);
    work(&mut page);
    worked_example(&mut page);
    coverage(&mut page);
    good_and_bad_pages(&mut page);
    let head = [&["claim"][..], &WEBS].concat();
    let rows = page.claims.iter().map(Claim::row).collect();
    page.tables.insert("claims", table(&head, rows));
    check("src/guide/papers.md", page.tables);
    let next = next_crawls(&page.banks);
    check("benches/README.md", BTreeMap::from([("next-crawls", next)]));
}

fn webs(page: &mut Page) {
    let status = "seedbank status $web --format json";
    let found = page.ask(status);
    let rows = vec![
        figures("crawled pages", &found, "/crawled", 0),
        figures("pages only linked to", &found, "/known", 0),
        figures("sites", &found, "/sites", 0),
        figures("links within sites", &found, "/intra_links", 0),
        figures("links between sites", &found, "/inter_links", 0),
        figures("spam pages", &found, "/spam", 0),
    ];
    page.add("webs", &format!("{BANKS}\n{status}"), rows, []);
}

/// The sites of at least 100 crawled pages: their number, components, sum of the shares of the largest component, and the
/// sites where it has at most half of the pages. `None` if there is none.
fn large_sites(structure: &Value) -> Option<[f64; 4]> {
    let classes = array(structure, "/components/by_pages").iter();
    let large = classes.filter(|class| figure(class, "/from") >= Some(100.0));
    let mut sums = [0.0; 4];
    for class in large {
        let of = |name: &str| figure(class, name).unwrap_or_default();
        let sites = of("/sites");
        let figures = [
            sites,
            of("/components"),
            sites * of("/largest"),
            of("/without_majority"),
        ];
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    (sums[0] > 0.0).then_some(sums)
}

fn degrees_and_components(page: &mut Page) {
    let command = "seedbank status $web --graph --format json";
    let found = page.ask(command);
    let mut rows = Vec::new();
    for (kind, title) in [
        ("in", "links to a page"),
        ("out", "links of a crawled page"),
    ] {
        let degrees = found.each_ref().map(|structure| {
            let mut degrees = array(structure, "/degrees").iter();
            let of_kind = degrees.find(|degrees| degrees["kind"] == kind);
            of_kind.cloned().unwrap_or_default()
        });
        rows.extend([
            figures(&format!("{title}: mean"), &degrees, "/mean", 1),
            figures(&format!("{title}: largest"), &degrees, "/max", 0),
            row(format!("{title}: exponent"), &degrees, |degrees| {
                let error = number(figure(degrees, "/power_law/standard_error"), 2);
                let exponent = figure(degrees, "/power_law/exponent");
                exponent.map_or_else(
                    || ABSENT.to_owned(),
                    |exponent| format!("{exponent:.2} ±{error}"),
                )
            }),
            figures(&format!("{title}: from"), &degrees, "/power_law/min", 0),
            figures(
                &format!("{title}: distance from the law"),
                &degrees,
                "/power_law/distance",
                3,
            ),
        ]);
    }
    rows.push(row("average distance of pages", &found, |structure| {
        estimate(structure, "/distance/mean", 1.0, 2)
    }));
    rows.push(row(
        "pages with a path from a page, %",
        &found,
        |structure| estimate(structure, "/distance/reached", 100.0, 1),
    ));
    page.add("degrees", command, rows, []);
    let large = found.each_ref().map(large_sites);
    let cell = |title: &str, decimals: usize, of: fn([f64; 4]) -> f64| {
        row(title, &large, |sites| number(sites.map(of), decimals))
    };
    let rows = vec![
        cell("sites of at least 100 crawled pages", 0, |of| of[0]),
        cell("components of such a site", 1, |of| of[1] / of[0]),
        cell("pages in its largest component, %", 1, |of| {
            100.0 * of[2] / of[0]
        }),
        cell("sites where these are at most half", 0, |of| of[3]),
    ];
    let claim = Claim::new(
        "Most sites consist of many small strongly connected components",
        &large,
        |sites| sites.map(|of| 2.0 * of[3] > of[0]),
    );
    page.add("components", command, rows, [claim]);
}

const CLASSIC: &str = "seedbank refresh $web --plan classic-$n --method cores --hits classic --iterations $n --seeds 20 --format json";

fn iterations(page: &mut Page) {
    let crawl = "seedbank evaluate $web crawl --plan classic-$n --depth 1 --draws 1 --holdouts 0 --budget 1000 --format json";
    let mut rows = Vec::new();
    let mut claim = None;
    for n in ["10", "50", "60", "200"] {
        let found = WEBS.map(|web| {
            let variables = [("web", web), ("n", n)];
            page.banks.run(CLASSIC, &variables);
            page.banks.one(crawl, &variables)
        });
        rows.push(row(
            format!("{n} iterations: cores of converged HITS"),
            &found,
            |answer| {
                let cores = array(answer, "/convergence/cores");
                let is_one = |core: &&Value| core["converged_rank"].is_u64();
                let common = cores.iter().filter(is_one).count();
                let first = figure(answer, "/convergence/first_difference");
                let first = first.map_or_else(String::new, |rank| format!(", order from {rank}"));
                format!("{common} of {}{first}", cores.len())
            },
        ));
        for (title, name) in [
            ("largest residual", "/residual"),
            ("largest share of sigma added last", "/sigma_change"),
        ] {
            rows.push(row(format!("{n} iterations: {title}"), &found, |answer| {
                let cores = array(answer, "/convergence/cores").iter();
                let largest = cores.filter_map(|core| figure(core, name)).reduce(f64::max);
                largest.map_or_else(|| ABSENT.to_owned(), |largest| format!("{largest:.0e}"))
            }));
        }
        if n == "60" {
            claim = Some(Claim::new(
                "More than 50 iterations are enough",
                &found,
                |answer| checked(answer, "iterations-are-enough"),
            ));
        }
    }
    page.add("iterations", &[CLASSIC, crawl].join("\n"), rows, claim);
}

const CONVERGED: &str =
    "seedbank refresh $web --plan cores --method cores --within 0 --seeds 20 --format json";
const CONVERGED_CORES: &str = "seedbank cores $web --plan cores --format jsonl";

fn cores(page: &mut Page) {
    page.ask(CONVERGED);
    let found = WEBS.map(|web| page.banks.run(CONVERGED_CORES, &[("web", web)]));
    let rows = [1, 2, 3, 5, 10, 20].map(|rank: usize| {
        row(
            format!("core {rank}: hubs × authorities"),
            &found,
            |cores| {
                let core = cores.get(rank - 1);
                core.map_or_else(
                    || ABSENT.to_owned(),
                    |core| {
                        let sizes = ["/hubs", "/authorities"].map(|side| array(core, side).len());
                        format!("{} × {}", sizes[0], sizes[1])
                    },
                )
            },
        )
    });
    let mut rows = rows.to_vec();
    rows.push(row("cores with all hubs on one site", &found, |cores| {
        let on_one_site = cores.iter().filter(|core| core["hub_sites"] == 1);
        format!("{} of {}", on_one_site.count(), cores.len())
    }));
    page.add("cores", &[CONVERGED, CONVERGED_CORES].join("\n"), rows, []);
}

/// The mean distance of cores whose ranks differ by so much, over both directions and the pairs with a path.
fn mean_distance(answer: &Value, difference: usize) -> Option<f64> {
    let distances = array(answer, "/distances");
    let mut found = Vec::new();
    for (from, row) in distances.iter().enumerate() {
        let row = row.as_array().map_or(&[][..], Vec::as_slice);
        let others = row.iter().enumerate();
        let others = others.filter(|(to, _)| to.abs_diff(from) == difference);
        found.extend(others.filter_map(|(_, distance)| distance.as_f64()));
    }
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

fn distances(page: &mut Page) {
    let command = "seedbank evaluate $web distances --plan cores --format json";
    let found = page.ask(command);
    let mut rows: Vec<Vec<String>> = [1, 2, 3, 5, 10]
        .map(|difference| {
            let title = format!("cores whose iterations differ by {difference}");
            row(title, &found, |answer| {
                number(mean_distance(answer, difference), 2)
            })
        })
        .into();
    rows.push(row("pages", &found, |answer| {
        estimate(answer, "/graph/mean", 1.0, 2)
    }));
    rows.push(row("neighbouring cores without a path", &found, |answer| {
        let [without, all] = ["unreachable", "pairs"]
            .map(|name| number(figure(answer, &format!("/neighbours/{name}")), 0));
        format!("{without} of {all}")
    }));
    let claim = Claim::new(
        "Neighbouring cores are at least an average distance apart",
        &found,
        |answer| checked(answer, "neighbouring-cores-at-least-average"),
    );
    page.add("distances", command, rows, [claim]);
}

/// Whether a claim holds that the command checks itself.
fn checked(answer: &Value, name: &str) -> Option<bool> {
    let mut claims = array(answer, "/claims").iter();
    claims.find(|claim| claim["claim"] == name)?["holds"].as_bool()
}

/// Where a crawl starts, and where its figures are at each depth.
const STARTS: [(&str, &str); 3] = [
    ("seeds", ""),
    ("random hubs", "/hubs"),
    ("random pages", "/random"),
];

/// A figure of a crawl at a depth; that of random starts is a mean.
fn at_depth(answer: &Value, depth: usize, start: &str, name: &str) -> Option<f64> {
    let mean = if start.is_empty() { "" } else { "/mean" };
    figure(answer, &format!("/depths/{depth}{start}/{name}{mean}"))
}

/// Whether a figure is above that of random pages at all of these depths; `None` if one of them lacks it.
fn is_above_random(answer: &Value, depths: &[usize], start: &str, name: &str) -> Option<bool> {
    let mut above = depths.iter().map(|&depth| {
        let random = at_depth(answer, depth, "/random", name)?;
        Some(at_depth(answer, depth, start, name)? > random)
    });
    above.try_fold(true, |all, is| Some(all & is?))
}

fn crawl(page: &mut Page) {
    let command = "seedbank evaluate $web crawl --plan cores --depth 3 --holdouts 0 --budget 1000 --format json";
    let found = page.ask(command);
    let mut rows = Vec::new();
    for depth in 1..=3 {
        for (title, start) in STARTS {
            let title = format!("% of the web within {depth}: {title}");
            rows.push(row(title, &found, |answer| {
                let pages = figure(answer, "/state/pages");
                let reached = at_depth(answer, depth, start, "pages");
                number(reached.zip(pages).map(|(some, all)| 100.0 * some / all), 2)
            }));
        }
    }
    for depth in 1..=3 {
        for (title, start) in STARTS {
            let title = format!("mean PageRank at {depth}: {title}");
            rows.push(row(title, &found, |answer| {
                let pages = figure(answer, "/state/pages");
                let rank = at_depth(answer, depth, start, "mean_pagerank");
                number(rank.zip(pages).map(|(rank, pages)| rank * pages), 2)
            }));
        }
    }
    let claim = |text, depths: &'static [usize], start: &'static str, name: &'static str| {
        Claim::new(text, &found, |answer| {
            is_above_random(answer, depths, start, name)
        })
    };
    let claims = [
        claim(
            "Seeds reach more pages than random ones within 1, 2 and 3 links",
            &[1, 2, 3],
            "",
            "pages",
        ),
        claim(
            "So do random hubs of the cores, as published",
            &[1, 2, 3],
            "/hubs",
            "pages",
        ),
        claim(
            "The pages that seeds reach at depths 2 and 3 have a higher mean PageRank",
            &[2, 3],
            "",
            "mean_pagerank",
        ),
        claim(
            "So have those that random hubs of the cores reach, as published",
            &[2, 3],
            "/hubs",
            "mean_pagerank",
        ),
        Claim::new(
            "The pages within every depth have more PageRank in all",
            &found,
            |answer| checked(answer, "more-pagerank-at-every-depth"),
        ),
    ];
    page.add("crawl", command, rows, claims);
}

fn work(page: &mut Page) {
    let web = "\
seedbank synth crawl-$pages --pages $pages --like uk-2002 --days 0
seedbank init uk-$pages --site host --url-rules whatwg
seedbank ingest uk-$pages crawl-$pages/day-000.jsonl.zst --snapshot";
    let refresh = "seedbank refresh uk-$pages --plan classic-60 --method cores --hits classic --iterations 60 --seeds 20 --format json";
    let status = "seedbank status uk-$pages --format json";
    let found = ["10000", "20000", "40000"].map(|pages| {
        let variables = [("pages", pages)];
        for line in web.lines() {
            page.banks.run(line, &variables);
        }
        let visits = figure(&page.banks.one(refresh, &variables), "/link_visits");
        let links = figure(&page.banks.one(status, &variables), "/inter_links");
        (pages, links, visits)
    });
    let per_link = |(_, links, visits): &(&str, Option<f64>, Option<f64>)| {
        Some((*visits)? / (*links).filter(|links| *links > 0.0)?)
    };
    let rows = found.iter().map(|web| {
        let pages = number(web.0.parse().ok(), 0);
        let per_link = number(per_link(web), 0);
        vec![pages, number(web.1, 0), number(web.2, 0), per_link]
    });
    let head = [
        "pages",
        "links between sites",
        "link visits",
        "for each link",
    ];
    let smallest = per_link(&found[0]);
    let holds = smallest
        .zip(per_link(&found[2]))
        .map(|(smallest, largest)| largest <= 1.25 * smallest);
    let claim = Claim {
        text: "The running time is linear in the size of the web",
        holds: [None, None, None, holds],
    };
    let typed = commands(&[web, refresh, status].join("\n"));
    let text = typed + &table(&head, rows.collect()) + &claim.sentence();
    page.claims.push(claim);
    page.tables.insert("work", text);
}

fn worked_example(page: &mut Page) {
    let web = "\
printf 'http://a.example/%s\\thttp://a.example/%s\\n' 1 3 1 4 1 5 1 6 1 11 2 4 2 5 2 6 2 11 9 7 9 8 9 10 > example.tsv
printf 'http://a.example/%s\\t0\\t0\\t0\\n' $(seq 11) > pages.tsv
seedbank init example
seedbank ingest example example.tsv --input links --pages pages.tsv";
    let refresh = "seedbank refresh example --plan $method --method $method --per-site 2 --hops 1";
    let seeds = "seedbank seeds example --plan $method --format jsonl";
    for line in web.lines() {
        page.banks.run(line, &[]);
    }
    let rows = ["out-degree", "max-out"].map(|method| {
        let variables = [("method", method)];
        page.banks.run(refresh, &variables);
        let found = page.banks.run(seeds, &variables);
        let picks = found.iter().filter_map(|seed| seed["url"].as_str());
        let picks: Vec<&str> = picks.filter_map(|url| url.rsplit('/').next()).collect();
        let covered = found
            .iter()
            .filter_map(|seed| figure(seed, "/covered_pages"));
        let covered = number(Some(covered.sum()), 0);
        vec![method.to_owned(), picks.join(", "), covered]
    });
    let typed = commands(&[web, refresh, seeds].join("\n"));
    let head = ["method", "picks", "pages covered"];
    page.tables
        .insert("example", typed + &table(&head, rows.to_vec()));
}

/// The name of a method that the poster has, by the method's own name, depth and treatment of covered pages.
fn poster_name(curve: &Value) -> Option<&'static str> {
    let method = curve["method"].as_str()?;
    match (method, curve["depth"].as_u64(), curve["covered"].as_str()) {
        ("max-out", ..) => Some("L1"),
        ("max-weight", Some(1), Some("remove")) => Some("L2"),
        ("max-weight", Some(2), Some("remove")) => Some("L3"),
        ("max-scc", Some(1), Some("remove")) => Some("SCC"),
        _ => None,
    }
}

fn curve_name(curve: &Value) -> String {
    let method = curve["method"].as_str().unwrap_or_default();
    // The depth of greedy is that of the hops.
    let depth = curve["depth"].as_u64().filter(|_| method != "greedy");
    let depth = depth.map_or_else(String::new, |depth| format!(", depth {depth}"));
    let poster = poster_name(curve).map_or_else(String::new, |name| format!(" ({name})"));
    format!("{method}{depth}{poster}")
}

/// The value covered by a curve with each number of seeds, and then with each number of hops.
fn covered(answer: &Value, curve: usize) -> Vec<f64> {
    let points = ["by_seeds", "by_hops"].map(|by| array(answer, &format!("/{by}/{curve}/points")));
    let points = points.into_iter().flatten();
    points
        .filter_map(|point| figure(point, "/value/percent/mean"))
        .collect()
}

/// In how many settings one curve covers more value than another.
fn settings_above(answer: &Value, curve: usize, other: usize) -> usize {
    let (curve, other) = (covered(answer, curve), covered(answer, other));
    curve.iter().zip(&other).filter(|(a, b)| a > b).count()
}

fn curves_of(answer: &Value) -> impl Iterator<Item = (usize, &Value)> {
    array(answer, "/by_seeds").iter().enumerate()
}

/// The table of one web; nothing if no site is large enough.
fn coverage_table(web: &str, answer: &Value) -> String {
    let place = |method: &str| curves_of(answer).find(|(_, curve)| curve["method"] == method);
    let (Some(random), Some(out_degree), Some(pagerank)) =
        (place("random"), place("out-degree"), place("pagerank"))
    else {
        return String::new();
    };
    let row = |(at, curve): (usize, &Value)| {
        let share = |by: &str, number: usize, what: &str| {
            let pointer = format!("/{by}/{at}/points/{}/{what}", number - 1);
            if at == random.0 {
                let pointer = pointer.replace("mean_improvement", "percent");
                return format!("({})", estimate(answer, &pointer, 1.0, 1));
            }
            estimate(answer, &pointer, 1.0, 1)
        };
        let above = [random, out_degree, pagerank].map(|(other, _)| {
            let above = settings_above(answer, at, other);
            if at == other {
                ABSENT.to_owned()
            } else {
                above.to_string()
            }
        });
        let ratio = format!("/by_seeds/{at}/points/4/value/improvement_of_means");
        vec![
            curve_name(curve),
            share("by_seeds", 1, "value/mean_improvement"),
            share("by_seeds", 5, "value/mean_improvement"),
            share("by_seeds", 10, "value/mean_improvement"),
            share("by_hops", 1, "value/mean_improvement"),
            share("by_hops", 3, "value/mean_improvement"),
            estimate(answer, &ratio, 1.0, 1),
            share("by_seeds", 5, "pages/mean_improvement"),
            above.join(", "),
        ]
    };
    let head = [
        "",
        "k = 1",
        "k = 5",
        "k = 10",
        "h = 1",
        "h = 3",
        "ratio of means",
        "pages",
        "above",
    ];
    let settings = covered(answer, random.0).len();
    let [sites, pages] =
        ["sites", "pages"].map(|name| number(figure(answer, &format!("/{name}")), 0));
    format!(
        "`{web}`, {sites} sites with {pages} pages, {settings} settings:\n\n{}",
        table(&head, curves_of(answer).map(row).collect())
    )
}

fn coverage(page: &mut Page) {
    let command = "seedbank evaluate $web coverage --min-pages 100 --format json";
    let found = page.ask(command);
    let mut text = commands(command);
    for (web, answer) in WEBS.iter().zip(&found) {
        text += &coverage_table(web, answer);
    }
    let claim = |text, name: &'static str| Claim::new(text, &found, |answer| checked(answer, name));
    let claims = [
        claim(
            "Methods that look at coverage cover more value than random seeds",
            "cover-above-random",
        ),
        claim(
            "They cover more than out-degree and PageRank",
            "cover-above-heuristics",
        ),
        claim(
            "Out-degree and PageRank cover more than random seeds",
            "heuristics-above-random",
        ),
    ];
    for claim in claims {
        text += &claim.sentence();
        page.claims.push(claim);
    }
    page.tables.insert("coverage", text);
    let mut rows = Vec::new();
    for name in ["L1", "L2", "L3", "SCC"] {
        rows.push(row(name, &found, |answer| {
            let Some((at, _)) = curves_of(answer).find(|(_, c)| poster_name(c) == Some(name))
            else {
                return ABSENT.to_owned();
            };
            let share = |seeds: usize| {
                let pointer = format!("/by_seeds/{at}/points/{}/value/mean_improvement", seeds - 1);
                estimate(answer, &pointer, 1.0, 1)
            };
            [1, 5, 10].map(share).join(", ")
        }));
    }
    let claim = Claim::new(
        "L1, L2, L3 and SCC cover more value than random seeds in all settings",
        &found,
        |answer| {
            let of_poster = curves_of(answer).filter(|(_, curve)| poster_name(curve).is_some());
            let of_poster: Vec<usize> = of_poster.map(|(at, _)| at).collect();
            let settings = covered(answer, 0).len();
            let is_above = |at: &usize| settings_above(answer, *at, 0) == settings;
            (of_poster.len() == 4).then(|| of_poster.iter().all(is_above))
        },
    );
    page.add("poster", command, rows, [claim]);
}

/// What a crawl from seeds gathers up to its last depth, and one from random pages: value, and the share of spam.
fn gathered(answer: &Value, start: &str) -> Option<[f64; 2]> {
    let (mut value, mut spam, mut pages) = (0.0, 0.0, 0.0);
    for depth in 0..array(answer, "/depths").len() {
        let of = |name| at_depth(answer, depth, start, name);
        value += of("value")?;
        let new_pages = of("new_pages")?;
        spam += of("spam_share").unwrap_or_default() * new_pages;
        pages += new_pages;
    }
    (pages > 0.0).then(|| [value, spam / pages])
}

fn good_and_bad_pages(page: &mut Page) {
    let refresh =
        "seedbank refresh uk --plan $plan $flags --covered remove --seeds 100 --share pages";
    let crawl = "seedbank evaluate uk crawl --plan $plan --depth 5 --draws 20 --holdouts 0 --budget 1000 --format json";
    let methods = [
        ("L1", "--method max-out"),
        ("L2", "--method max-weight --depth 1"),
        ("L3", "--method max-weight --depth 2"),
        ("SCC", "--method max-scc --depth 1"),
    ];
    let mut rows = Vec::new();
    let mut holds = Some(true);
    for (plan, flags) in methods {
        let variables = [("plan", plan), ("flags", flags)];
        page.banks.run(refresh, &variables);
        let answer = page.banks.one(crawl, &variables);
        let [seeds, random] = ["", "/random"].map(|start| gathered(&answer, start));
        let is_better =
            |(seeds, random): ([f64; 2], [f64; 2])| seeds[0] > random[0] && seeds[1] < random[1];
        let is_better = seeds.zip(random).map(is_better);
        holds = holds.zip(is_better).map(|(all, is)| all && is);
        let cells = [seeds, random].map(|found| {
            let found = found.map(|[value, spam]| (value, 100.0 * spam));
            let (value, spam) = found.unzip();
            [number(value, 0), number(spam, 1)]
        });
        let name = format!("{plan}: `{flags}`");
        rows.push([vec![name], cells.concat()].concat());
    }
    let claim = Claim {
        text: "Seeds by L1, L2, L3 and SCC bring more good pages and fewer bad ones",
        holds: [None, None, None, holds],
    };
    let head = ["", "value", "% spam", "random: value", "% spam"];
    let typed = commands(&format!("{refresh}\n{crawl}"));
    let text = typed + &table(&head, rows) + &claim.sentence();
    page.claims.push(claim);
    page.tables.insert("good-and-bad", text);
}

/// The table of `benches/README.md` on lists for the next crawls.
fn next_crawls(banks: &Banks) -> String {
    let command = "seedbank evaluate $web methods --next --seeds 20 --budget 100 --format json";
    let answer = banks.one(command, &[("web", "friendlinks")]);
    let rows = array(&answer, "/rows").iter().map(|row| {
        let name = row["list"].as_str().unwrap_or_default().to_owned();
        let found =
            ["replayed", "closed_loop"].map(|run| number(figure(row, &format!("/{run}/found")), 0));
        [vec![name], found.to_vec()].concat()
    });
    let recommended = answer.pointer("/recommended");
    let recommended = recommended.and_then(Value::as_str).unwrap_or(ABSENT);
    format!(
        "{}{}The list to take is *{recommended}*.",
        commands(&command.replace("$web", "friendlinks")),
        table(&["list", "replayed", "closed loop"], rows.collect())
    )
}
