//! A list of start pages compared with the list of a plan, for random histories, a generated crawl and
//! a real one: counts that add up, standings recounted from seeds, cores and reasons, and crawls
//! checked twice, by a search over all pages in memory and by `evaluate budget`. Catches links to gone
//! pages, rows that are followed twice or never, starts in another order than the list's, and a depth
//! that is not truncated in URL order.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::Instant;

use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::histories::for_each_history;
use crate::support::model::pages_of;
use crate::support::over_web::over_web;
use crate::support::plans::exact_cores;
use crate::support::shared;
use seedbank::engine::evaluate::{BudgetRequest, SeedList};
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{
    CompareRequest, CrawlResult, LineState, ListComparison, ListRelation, PageState, PageView,
    UrlList, Why,
};
use seedbank::engine::{Bank, PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, Web};
use seedbank::watch::Watch;

fn list(urls: &[String]) -> UrlList {
    UrlList {
        name: "today".to_owned(),
        urls: (1..).zip(urls.iter().cloned()).collect(),
    }
}

fn of(plan: &str) -> Which {
    Which {
        plan: Some(plan.to_owned()),
        refresh: None,
    }
}

/// Pages as a bank tells them, for crawls in memory.
struct Judge(BTreeMap<String, PageView>);

impl Judge {
    fn live(&self, url: &str) -> Option<&PageView> {
        let page = self.0.get(url);
        page.filter(|page| matches!(page.state, PageState::Known | PageState::Crawled))
    }

    /// What a crawl finds, by the definition.
    fn crawl(&self, starts: &[&str], fetches: u64) -> CrawlResult {
        let room = usize::try_from(fetches).unwrap();
        let mut order: Vec<(&str, u32)> = starts.iter().map(|url| (*url, 0)).collect();
        let mut seen: BTreeSet<&str> = starts.iter().copied().collect();
        let mut level: Vec<&str> = starts.to_vec();
        for depth in 1.. {
            if level.is_empty() || order.len() >= room {
                break;
            }
            let mut next = BTreeSet::new();
            for url in level {
                let to = self.0[url].outlinks.iter().map(String::as_str);
                next.extend(to.filter(|to| self.live(to).is_some() && seen.insert(to)));
            }
            order.extend(next.iter().map(|url| (*url, depth)));
            level = next.into_iter().collect();
        }
        order.truncate(room);
        let pages: Vec<&PageView> = order.iter().map(|(url, _)| &self.0[*url]).collect();
        let count = |is: fn(&PageView) -> bool| pages.iter().filter(|p| is(p)).count() as u64;
        let sites: BTreeSet<&str> = pages.iter().map(|page| &*page.site).collect();
        let mut found = CrawlResult::default();
        found.starts = starts.len() as u64;
        found.pages = pages.len() as u64;
        found.crawled = count(|page| page.state == PageState::Crawled);
        found.spam = count(|page| page.spam);
        found.clicked_pages = count(|page| page.clicks > 0);
        found.clicks = pages.iter().map(|page| page.clicks).sum();
        found.sites = sites.len() as u64;
        found.depth = order.last().map(|(_, depth)| *depth);
        found
    }
}

/// What `evaluate budget` counts of a list, but for the sites, which it does not; with the URLs of the
/// list that take no part.
fn budget(bank: &Bank, of: SeedList, pages: u64) -> (CrawlResult, BTreeSet<String>) {
    let lists = vec![of];
    let asked = BudgetRequest { lists, pages };
    let found = bank.evaluate_budget(&asked).unwrap();
    let row = &found.lists[0];
    let mut told = CrawlResult::default();
    told.starts = row.list.seeds;
    told.pages = row.pages;
    told.crawled = row.crawled;
    told.spam = row.spam;
    told.clicks = row.clicks;
    told.clicked_pages = row.clicked_pages;
    told.depth = row.depth;
    let absent = row.list.absent.iter().map(|seed| seed.url.clone());
    (told, absent.collect())
}

fn without_sites(mut found: CrawlResult) -> CrawlResult {
    found.sites = 0;
    found
}

/// The crawls of a comparison are those of `evaluate budget`.
fn is_the_same_crawl(bank: &Bank, plan: &str, urls: &[String], found: &ListComparison) {
    for crawls in &found.crawls {
        let given = |urls: Vec<String>| SeedList::Urls {
            name: "urls".to_owned(),
            urls,
        };
        let (of_list, _) = budget(bank, given(urls.to_vec()), crawls.fetches);
        assert_eq!(without_sites(crawls.list), of_list);
        if found.run.seeds == 0 {
            assert_eq!(crawls.first_seeds, CrawlResult::default());
            assert!(crawls.all_seeds.is_none());
            continue;
        }
        let (all, dead) = budget(bank, SeedList::Refresh(of(plan)), crawls.fetches);
        let told = crawls.all_seeds.unwrap_or(crawls.first_seeds);
        assert_eq!(without_sites(told), all);
        if crawls.all_seeds.is_none() {
            assert!(all.starts <= of_list.starts);
            continue;
        }
        let seeds = seeds_of(bank, of(plan)).into_iter();
        let alive = seeds.map(|seed| seed.url).filter(|url| !dead.contains(url));
        let first: Vec<String> = alive
            .take(usize::try_from(of_list.starts).unwrap())
            .collect();
        if first.is_empty() {
            assert_eq!(crawls.first_seeds, CrawlResult::default());
        } else {
            let (first, _) = budget(bank, given(first), crawls.fetches);
            assert_eq!(without_sites(crawls.first_seeds), first);
        }
    }
}

/// Counts, states and relations by what the other answers say, and the list's crawls in memory.
fn is_told_as_it_is(bank: &Bank, plan: &str, urls: &[String], found: &ListComparison) {
    let judge = Judge(pages_of(bank));
    let counts = found.counts;
    assert_eq!(found.lines.len(), urls.len());
    assert_eq!(counts.lines, urls.len() as u64);
    assert_eq!(
        counts.lines,
        counts.pages + counts.duplicates + counts.invalid_urls
    );
    let in_bank = counts.alive + counts.spam + counts.gone + counts.alias + counts.unlinked;
    assert_eq!(counts.pages, in_bank + counts.not_in_bank);
    let relations = counts.seeds + counts.covered + counts.near_core + counts.not_covered;
    assert_eq!(in_bank, relations);
    let seeds = seeds_of(bank, of(plan)).into_iter();
    let ranks: BTreeMap<String, u32> = seeds.map(|seed| (seed.url, seed.rank)).collect();
    let mut cores: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for core in bank.cores(of(plan)).unwrap() {
        let core = core.unwrap();
        for page in core.hubs.iter().chain(&core.authorities) {
            cores.insert(page.clone(), (core.rank, core.seed.clone()));
        }
    }
    let by_cores = found.run.method == Method::Cores;
    let explainer = bank.explainer(of(plan)).unwrap();
    let mut starts = Vec::new();
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for listed in &found.lines {
        let Some(url) = &listed.url else {
            assert_eq!(listed.state, LineState::InvalidUrl);
            assert!(listed.error.is_some() && listed.page.is_none());
            continue;
        };
        if let Some(line) = first.get(&**url) {
            assert_eq!(
                (listed.state, listed.first_line),
                (LineState::Duplicate, Some(*line))
            );
            continue;
        }
        first.insert(url, listed.line);
        let state = match judge.0.get(url).map(|page| (page.state, page.spam)) {
            Some((PageState::Known | PageState::Crawled, true)) => LineState::Spam,
            Some((PageState::Known | PageState::Crawled, false)) => LineState::Alive,
            Some((PageState::Gone, _)) => LineState::Gone,
            Some((PageState::Alias, _)) => LineState::Alias,
            // Pages that nobody links to are not among those of a bank.
            _ if listed.page.is_some() => LineState::Unlinked,
            _ => LineState::NotInBank,
        };
        assert_eq!(listed.state, state, "{url}");
        if judge.live(url).is_some() {
            starts.push(&**url);
        }
        let Some(page) = &listed.page else {
            continue;
        };
        let told = explainer.page(url).unwrap();
        assert_eq!(
            (&told.policy, &told.why),
            (&page.policy, &page.why),
            "{url}"
        );
        assert_eq!(
            (&told.page, &told.site),
            (&page.current, &page.site),
            "{url}"
        );
        let relation = match (ranks.get(url), cores.get(url), &told.why) {
            (Some(rank), _, _) => ListRelation::Seed { rank: *rank },
            (None, Some((core, seed)), _) => ListRelation::InCore {
                core: *core,
                seed: seed.clone(),
            },
            (None, None, Why::NearCore(near)) if by_cores => ListRelation::NearCore {
                core: near.core.rank,
                seed: near.seed.url.clone(),
            },
            (None, None, Why::Covered { by, hop } | Why::Reached { by, hop }) => {
                assert_eq!(ranks.get(&by.url), Some(&by.rank));
                ListRelation::Covered {
                    by: by.url.clone(),
                    rank: by.rank,
                    hop: *hop,
                }
            }
            _ => ListRelation::NotCovered,
        };
        assert_eq!(page.relation, relation, "{url}");
    }
    for crawls in &found.crawls {
        assert_eq!(crawls.list, judge.crawl(&starts, crawls.fetches));
    }
}

fn compared(bank: &Bank, plan: &str, urls: &[String], fetches: &[u64]) -> ListComparison {
    let request = CompareRequest {
        fetches: fetches.to_vec(),
        ..CompareRequest::new(of(plan))
    };
    bank.compare(&list(urls), &request).unwrap()
}

/// Some of the pages of a bank, in an order of their own, with lines that are nothing.
fn some_of(bank: &Bank, step: usize) -> Vec<String> {
    let mut urls: Vec<String> = pages_of(bank).into_keys().step_by(step).collect();
    urls.sort_by_key(|url| *blake3::hash(url.as_bytes()).as_bytes());
    let again = urls.first().cloned();
    urls.extend(again);
    urls.push("http://nobody.example/knows/".to_owned());
    urls.push("mailto:somebody".to_owned());
    urls
}

#[test]
fn random_histories() {
    let seeds = Some(5);
    let plans = [
        (
            "cores",
            PlanOptions {
                seeds,
                ..PlanOptions::default()
            },
        ),
        ("web", over_web(CoverMethod::Greedy, 3)),
        (
            "sites",
            PlanOptions {
                method: Some(Method::Cover(CoverMethod::Greedy)),
                ..PlanOptions::default()
            },
        ),
    ];
    for_each_history(8, 1, |bank, more| {
        for (plan, options) in &plans {
            let request = RefreshRequest {
                plan: Some((*plan).to_owned()),
                options: exact_cores(options.clone()),
                ..RefreshRequest::default()
            };
            bank.refresh(&request).unwrap();
        }
        crate::support::model::ingest(bank, &more[0], crate::support::histories::PLENTY);
        for (plan, _) in &plans {
            for step in [1, 3] {
                let urls = some_of(bank, step);
                let found = compared(bank, plan, &urls, &[1, 2, 3, 5, 8, 300]);
                is_told_as_it_is(bank, plan, &urls, &found);
                is_the_same_crawl(bank, plan, &urls, &found);
            }
        }
    });
}

#[test]
fn a_generated_crawl() {
    let options = SynthOptions {
        rng_seed: 5,
        days: 2,
        ..SynthOptions::new(1_500)
    };
    let web = Web::new(&options).unwrap();
    let bank = TestBank::new();
    let cores = PlanOptions {
        seeds: Some(30),
        ..PlanOptions::default()
    };
    for day in 0..3 {
        let mut text = String::new();
        web.day(day).unwrap().read_to_string(&mut text).unwrap();
        bank.delta(&text);
        if day == 0 {
            bank.refresh("cores", &cores, false);
            bank.refresh("web", &over_web(CoverMethod::Greedy, 30), false);
        }
    }
    for plan in ["cores", "web"] {
        for step in [7, 170] {
            let mut urls = some_of(&bank.bank, step);
            let seeds = bank.seeds(plan).into_iter().step_by(9);
            urls.extend(seeds.map(|seed| seed.url));
            let found = compared(&bank.bank, plan, &urls, &[500, 1, 37, 1, 20_000]);
            let fetches: Vec<u64> = found.crawls.iter().map(|crawls| crawls.fetches).collect();
            assert_eq!(fetches, [1, 37, 500, 20_000]);
            assert!(found.counts.seeds > 0);
            is_told_as_it_is(&bank.bank, plan, &urls, &found);
            is_the_same_crawl(&bank.bank, plan, &urls, &found);
        }
    }
}

#[test]
fn a_real_crawl() {
    let Some(shared) = shared("compare::a_real_crawl") else {
        return;
    };
    let bank = TestBank::real(&shared, "ku-2017-webir");
    let cores = PlanOptions {
        seeds: Some(50),
        ..PlanOptions::default()
    };
    bank.refresh("cores", &cores, false);
    let urls = some_of(&bank.bank, 1_000);
    let began = Instant::now();
    let found = compared(&bank.bank, "cores", &urls, &[1_000, 5_000]);
    let took = began.elapsed();
    eprintln!(
        "{} lines and 3 crawls of 5,000 fetches: {took:?}",
        urls.len()
    );
    is_told_as_it_is(&bank.bank, "cores", &urls, &found);
    is_the_same_crawl(&bank.bank, "cores", &urls, &found);
    let few = compared(&bank.bank, "cores", &urls[..3], &[1_000, 20_000]);
    is_the_same_crawl(&bank.bank, "cores", &urls[..3], &few);
}

#[test]
fn a_comparison_can_be_stopped_and_refuses_what_makes_no_sense() {
    struct Stopped;
    impl Watch for Stopped {
        fn stopped(&self) -> bool {
            true
        }
    }
    let bank = TestBank::new();
    bank.delta("{\"url\": \"http://a.example/\", \"outlinks\": [\"http://x.example/\"]}\n");
    let urls = ["http://a.example/".to_owned()];
    let asked = CompareRequest::default();
    let told = |bank: &Bank, list: &UrlList, asked: &CompareRequest| {
        let found = bank.compare(list, asked);
        found.map_err(|error| error.to_string())
    };
    let none = told(&bank.bank, &list(&urls), &asked).unwrap_err();
    assert!(none.contains("has no plan \"default\""), "{none}");
    bank.refresh("default", &PlanOptions::default(), false);
    let stopped = told(&bank.bank.watched(Stopped), &list(&urls), &asked).unwrap_err();
    assert!(stopped.contains("interrupted"), "{stopped}");
    let empty = told(
        &bank.bank,
        &list(&[String::new(), "# a".to_owned()]),
        &asked,
    )
    .unwrap_err();
    assert_eq!(empty, "today contains no seeds");
    for fetches in [0, 20_001] {
        let asked = CompareRequest {
            fetches: vec![1, fetches],
            ..CompareRequest::default()
        };
        let error = told(&bank.bank, &list(&urls), &asked).unwrap_err();
        assert!(
            error.contains("expected crawls of 1 to 20000 fetches"),
            "{error}"
        );
    }
    let asked = CompareRequest {
        fetches: Vec::new(),
        most: 1,
        ..CompareRequest::default()
    };
    let found = told(&bank.bank, &list(&urls), &asked).unwrap();
    assert!(found.crawls.is_empty() && found.counts.alive == 1);
    let long = [urls[0].clone(), urls[0].clone()];
    let error = told(&bank.bank, &list(&long), &asked).unwrap_err();
    assert!(
        error.contains("expected a list of at most 1 URLs, found 2 URLs"),
        "{error}"
    );
}
