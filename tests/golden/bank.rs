//! Real graphs through a bank: ingested, checked, refreshed. Cores equal the results of an
//! independent implementation, with any number of threads and however the input is cut.
//!
//! Up to the first core that is delicate there (rounding could decide it) everything must match:
//! pages, orders, sides, seed, density; sigma and scores to 1e-6.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support;
use crate::support::banks::{cores_of, seeds_of};
use crate::support::graphs::Web;
use crate::support::model::{assert_clean, pages_of, totals_of};
use crate::support::plans::exact_cores;
use seedbank::engine::ingest::Format;
use seedbank::engine::plan::Pages;
use seedbank::engine::query::{CoreView, Seed};
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank_algorithms::cores::{Growth, Hits};
use seedbank_store::records::PageState;
use serde_json::Value;

/// The kinds of golden results, as plans.
fn kinds() -> Vec<(&'static str, PlanOptions)> {
    let seeds = |seeds| PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    };
    vec![
        ("converged-maximal", seeds(100)),
        (
            "converged-literal",
            PlanOptions {
                growth: Some(Growth::Literal),
                ..seeds(100)
            },
        ),
        (
            "converged-maximal-crawled",
            PlanOptions {
                pages: Some(Pages::Crawled),
                ..seeds(50)
            },
        ),
        (
            "converged-maximal-keepspam",
            PlanOptions {
                keep_spam: Some(true),
                ..seeds(50)
            },
        ),
        (
            "converged-maximal-hubs50",
            PlanOptions {
                max_hubs: Some(50),
                ..seeds(50)
            },
        ),
        (
            "converged-density60-maximal",
            PlanOptions {
                density: Some("60".parse().unwrap()),
                ..seeds(30)
            },
        ),
        (
            "converged-size20-new2",
            PlanOptions {
                core_size: Some(20),
                new_members: Some(2),
                ..seeds(30)
            },
        ),
        (
            "classic-maximal",
            PlanOptions {
                hits: Some(Hits::Classic),
                ..seeds(20)
            },
        ),
    ]
}

/// Ingests the files of a graph as one batch.
fn ingest_graph(bank: &Bank, folder: &Path) {
    let crawl = folder.join("crawl.jsonl.gz");
    let request = if crawl.exists() {
        request(vec![crawl])
    } else {
        IngestRequest {
            format: Format::Links {
                pages: Some(Input::File(folder.join("pages.tsv.gz"))),
            },
            ..request(vec![folder.join("links.tsv.gz")])
        }
    };
    let report = bank.ingest(&request).unwrap();
    assert_eq!(report.counts.rejected, 0);
}

/// Hosts of the days that are no DNS names, and names like them. The golden results are of all links.
const OTHER_HOSTS: [(&str, &str); 6] = [
    ("//www,qwee.xyz", "//www-qwee.xyz"),
    ("//wapj,cn", "//wapj-cn"),
    ("//www..aobp.cn", "//www.-aobp.cn"),
    ("//.178tiyupt.com", "//-178tiyupt.com"),
    (
        "//xn--aiskillclaude-h00uvlx1d94bnpp01cptap80amxc7s1b64di75ekjfeyus89e0fb062ji8skg1aj35afa2261dga340p.md",
        "//xn-aiskillclaude-p80.md",
    ),
    (
        "//xn--aiskillclaude-h00uvlx1d94bnpp01cptak19agrwwzds30fl4nr05e5ivb7eryuyv23afa5346cga885n.md",
        "//xn-aiskillclaude-k19.md",
    ),
];

fn with_names(text: String) -> String {
    let replaced = OTHER_HOSTS.iter();
    replaced.fold(text, |text, (host, name)| text.replace(host, name))
}

/// The records of a day.
fn text_of(day: &Path) -> String {
    with_names(support::gunzip(day))
}

/// The golden results of days.
fn golden_days(shared: &Path) -> Value {
    let golden = support::golden(shared, "friendlinks.days");
    serde_json::from_str(&with_names(golden.to_string())).unwrap()
}

fn request(files: Vec<PathBuf>) -> IngestRequest {
    IngestRequest {
        inputs: files.into_iter().map(Input::File).collect(),
        // Some days are clean-ups.
        max_loss: 100.0,
        // The golden results are of all links.
        allow_private: true,
        ..IngestRequest::default()
    }
}

/// Refreshes a plan; returns its seeds and cores.
fn selected(bank: &Bank, plan: &str, options: PlanOptions) -> (Vec<Seed>, Vec<CoreView>) {
    let request = RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(options),
        ..RefreshRequest::default()
    };
    let report = bank.refresh(&request).unwrap();
    let which = Which {
        plan: Some(plan.to_owned()),
        refresh: Some(report.view.refresh),
    };
    let cores = cores_of(bank, &which);
    let seeds = seeds_of(bank, &which);
    assert_eq!(seeds.len(), cores.len());
    for (seed, core) in seeds.iter().zip(&cores) {
        assert_eq!((seed.rank, &seed.url), (core.rank, &core.seed));
    }
    (seeds, cores)
}

fn near(ours: f64, golden: &Value) -> bool {
    let golden = golden.as_f64().unwrap();
    (ours - golden).abs() <= 1e-6 * golden.abs()
}

/// The first field in which a core differs from the golden one.
fn difference(core: &CoreView, golden: &Value) -> Option<&'static str> {
    let urls = |ours: &[String], field: &str| {
        let golden = golden[field].as_array().unwrap();
        golden.len() == ours.len() && ours.iter().zip(golden).all(|(o, g)| g == o.as_str())
    };
    let scores = |ours: &[f64], field: &str| {
        let golden = golden[field].as_array().unwrap();
        golden.len() == ours.len().min(5) && ours.iter().zip(golden).all(|(o, g)| near(*o, g))
    };
    let checks = [
        ("rank", golden["rank"] == core.rank),
        ("sigma", near(core.sigma, &golden["sigma"])),
        ("sides", golden["sides"] == core.sides.as_str()),
        ("hubs", urls(&core.hubs, "hubs")),
        ("authorities", urls(&core.authorities, "authorities")),
        ("density", near(core.density, &golden["density"])),
        ("seed", golden["seed"] == core.seed.as_str()),
        ("hub_scores", scores(&core.hub_scores, "hub_scores")),
        (
            "authority_scores",
            scores(&core.authority_scores, "authority_scores"),
        ),
    ];
    checks.iter().find(|check| !check.1).map(|check| check.0)
}

fn assert_golden(name: &str, cores: &[CoreView], golden: &Value) {
    let golden = golden.as_array().unwrap();
    let delicate = golden.iter().position(|core| core["delicate"] == true);
    let exact = delicate.unwrap_or(golden.len());
    if delicate.is_none() {
        assert_eq!(cores.len(), golden.len(), "{name}: number of cores");
    }
    assert!(cores.len() >= exact, "{name}: too few cores");
    for (core, golden) in cores.iter().zip(golden).take(exact) {
        let difference = difference(core, golden);
        assert_eq!(difference, None, "{name}: core {}: {core:?}", core.rank);
    }
    println!("{name}: {exact} of {} cores compared", golden.len());
}

/// Compares pages, links and attributes with a model that applies the records one by one.
fn assert_pages(bank: &Bank, web: &Web) {
    let mut pages = pages_of(bank);
    let totals = totals_of(bank);
    let mut sites = std::collections::BTreeSet::new();
    let mut links = 0;
    for (url, page) in &web.pages {
        let Some(view) = pages.remove(url) else {
            panic!("{url} is missing");
        };
        let state = match (page.gone, page.crawled) {
            (true, _) => PageState::Gone,
            (_, true) => PageState::Crawled,
            _ => PageState::Known,
        };
        let mut outlinks = page.outlinks.clone();
        outlinks.sort_unstable();
        outlinks.dedup();
        outlinks.retain(|target| target != url);
        let known = |url: &&String| {
            let page = &web.pages[*url];
            !page.gone && !page.crawled
        };
        let counted = outlinks.iter().filter(known).count() as u64;
        links += outlinks.len() as u64;
        assert_eq!(
            (state, page.spam, page.clicks),
            (view.state, view.spam, view.clicks),
            "{url}"
        );
        assert_eq!(
            page.uncrawled_outlinks.unwrap_or(counted),
            view.uncrawled_outlinks,
            "{url}"
        );
        assert_eq!(outlinks, view.outlinks, "{url}");
        sites.insert(view.site);
    }
    assert_eq!(pages.keys().next(), None, "pages that nobody named");
    assert_eq!(totals.intra_links + totals.inter_links, links);
    assert_eq!(totals.sites, sites.len() as u64);
}

fn check(graph: &str) {
    let Some(shared) = support::shared(graph) else {
        return;
    };
    let folder = shared.join("data").join(graph);
    let place = support::scratch();
    let bank = Bank::create(
        place.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    ingest_graph(&bank, &folder);
    assert_pages(&bank, &Web::load(&folder));
    let mut compared = 0;
    for (kind, options) in kinds() {
        let name = format!("{graph}.cores-{kind}");
        let file = shared.join("golden").join(format!("{name}.json.gz"));
        if file.exists() {
            let (_, cores) = selected(&bank, kind, options);
            assert_golden(&name, &cores, &support::golden(&shared, &name));
            compared += 1;
        }
    }
    assert!(
        compared >= 6 || graph == "wikispeedia",
        "{graph}: golden results are missing"
    );
    assert_clean(&bank);
}

real_graphs! {
    check:
    a_university_crawl => "ku-2017-webir",
    a_query_graph_about_movies => "toronto-movies",
    a_query_graph_about_cheese => "toronto-cheese",
    pages_that_link_to_an_agency => "epa",
    a_small_university_where_links_run_out => "hollins",
    a_generated_crawl_with_spam => "generated",
}

/// Without inter-site links there is no core: the refresh is kept, empty.
#[test]
fn one_site_alone() {
    check("wikispeedia");
    let Some(shared) = support::shared("one_site_alone") else {
        return;
    };
    let place = support::scratch();
    let bank = Bank::create(
        place.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    ingest_graph(&bank, &shared.join("data/wikispeedia"));
    let options = PlanOptions {
        seeds: Some(100),
        ..PlanOptions::default()
    };
    let (seeds, cores) = selected(&bank, "empty", options);
    assert_eq!((seeds.len(), cores.len()), (0, 0));
    assert_clean(&bank);
}

fn thirty() -> PlanOptions {
    PlanOptions {
        seeds: Some(30),
        ..PlanOptions::default()
    }
}

#[test]
fn a_crawl_day_by_day() {
    let Some(shared) = support::shared("a_crawl_day_by_day") else {
        return;
    };
    let golden = golden_days(&shared);
    let place = support::scratch();
    let bank = Bank::create(
        place.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let mut web = Web::default();
    let mut clean_ups = Vec::new();
    for (day, file) in support::real_days(&shared, 17) {
        let text = text_of(&file);
        web.apply(&text);
        let file = place.path().join("day.jsonl");
        fs::write(&file, text).unwrap();
        let all = request(vec![file]);
        let ordinary = IngestRequest {
            max_loss: IngestRequest::default().max_loss,
            ..all.clone()
        };
        let before = bank.status().unwrap().counters;
        match bank.ingest(&ordinary) {
            Err(EngineError::TooMuchLost(loss)) => {
                let counted = [before.crawled, before.intra_links + before.inter_links];
                assert_eq!([loss.pages_before, loss.links_before], counted);
                let left = [loss.pages_after, loss.links_after];
                clean_ups.push((day.clone(), counted, left));
                // The limit that is named accepts the batch, and the next smaller one does not.
                let limited = |max_loss: f64| {
                    let request = IngestRequest {
                        max_loss,
                        ..all.clone()
                    };
                    bank.ingest(&request)
                };
                assert!(limited(loss.least_limit - 0.1).is_err());
                limited(loss.least_limit).unwrap();
            }
            done => assert!(done.is_ok(), "{day}: {done:?}"),
        }
        let (_, cores) = selected(&bank, "days", thirty());
        assert_golden(&day, &cores, &golden[&day]);
        assert_clean(&bank);
    }
    // A clean-up. On no other day does the bank shrink by more than a fifth.
    let clean_up = ("2026-07-04".to_owned(), [8_692, 98_303], [6_840, 82_383]);
    assert_eq!(clean_ups, [clean_up]);
    // Pages that were once linked to and never had a record are not pages.
    let linked: std::collections::BTreeSet<String> = web
        .pages
        .values()
        .flat_map(|page| page.outlinks.iter().cloned())
        .collect();
    web.pages
        .retain(|url, page| page.crawled || page.gone || linked.contains(url));
    assert_pages(&bank, &web);
}

/// Equal except for what rounding may change.
fn assert_same_cores(ours: &[CoreView], others: &[CoreView]) {
    assert_eq!(ours.len(), others.len());
    for (ours, other) in ours.iter().zip(others) {
        let value = serde_json::to_value(other).unwrap();
        let mut value = value;
        for field in ["hub_scores", "authority_scores"] {
            value[field].as_array_mut().unwrap().truncate(5);
        }
        assert_eq!(difference(ours, &value), None, "{ours:?}\n{other:?}");
    }
}

/// The days merged by threes, and each day cut in two with the later half first.
#[test]
fn a_crawl_cut_otherwise() {
    let Some(shared) = support::shared("a_crawl_cut_otherwise") else {
        return;
    };
    let golden = golden_days(&shared);
    let place = support::scratch();
    let bank_at = |name: &str| {
        Bank::create(
            place.path().join(name),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap()
    };
    let (merged, cut) = (bank_at("merged"), bank_at("cut"));
    let days = support::real_days(&shared, 9);
    for group in days.chunks(3) {
        // Of two records of a page in one batch the one that was fetched later counts.
        let dated = |(day, file): &(String, PathBuf)| {
            let fetched = format!("{{\"fetched\": \"{day}T00:00:00Z\", \"url\"");
            text_of(file).replace("{\"url\"", &fetched)
        };
        let file_of = |name: &str, text: &str| {
            let file = place.path().join(format!("{name}.jsonl"));
            fs::write(&file, text).unwrap();
            file
        };
        let files = group.iter().map(|day| file_of(&day.0, &dated(day)));
        merged.ingest(&request(files.collect())).unwrap();
        for day in group {
            let text = dated(day);
            let lines: Vec<&str> = text.lines().collect();
            let (first, second) = lines.split_at(lines.len() / 2);
            for (name, half) in [("second", second), ("first", first)] {
                let again = IngestRequest {
                    again: true,
                    ..request(vec![file_of(name, &half.join("\n"))])
                };
                cut.ingest(&again).unwrap();
            }
        }
        let (day, _) = group.last().unwrap();
        let (_, from_merged) = selected(&merged, "days", thirty());
        let (_, from_cut) = selected(&cut, "days", thirty());
        assert_golden(&format!("{day} merged"), &from_merged, &golden[day]);
        assert_golden(&format!("{day} cut"), &from_cut, &golden[day]);
        assert_same_cores(&from_merged, &from_cut);
        assert_eq!(totals_of(&merged), totals_of(&cut));
    }
    assert_eq!(pages_of(&merged), pages_of(&cut));
    assert_clean(&merged);
    assert_clean(&cut);
}

/// What a bank says of a graph, byte for byte.
fn output(place: &Path, threads: usize, folder: &Path) -> BTreeMap<&'static str, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let bank = Bank::create(
            place.join(threads.to_string()),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
        ingest_graph(&bank, folder);
        kinds()
            .into_iter()
            .filter(|(kind, _)| ["converged-maximal", "classic-maximal"].contains(kind))
            .map(|(kind, options)| {
                let selected = selected(&bank, kind, options);
                (kind, serde_json::to_string(&selected).unwrap())
            })
            .collect()
    })
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let Some(shared) = support::shared("any_number_of_threads_gives_the_same_bytes") else {
        return;
    };
    for graph in ["generated", "toronto-movies"] {
        let place = support::scratch();
        let folder = shared.join("data").join(graph);
        let one = output(place.path(), 1, &folder);
        for threads in [2, 4] {
            assert!(
                output(place.path(), threads, &folder) == one,
                "{graph} with {threads} threads"
            );
        }
    }
}
