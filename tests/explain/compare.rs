//! A list of start pages compared with the list of a plan, for random histories and a real crawl: counts that add up, standings recounted from seeds, cores and reasons, and crawls
//! checked by a search over all pages in memory, and with limits by those of `evaluate budget`. Catches links to gone
//! pages, rows that are followed twice or never, starts in another order than the list's, a depth
//! that is not truncated in URL order, and limits that two crawls understand differently.

use std::collections::{BTreeMap, BTreeSet};

use crate::lookups::Stopped;
use crate::support::banks::{TestBank, seeds_of};
use crate::support::histories::for_each_history;
use crate::support::model::pages_of;
use crate::support::plans::{exact_cores, plan};
use crate::support::shared;
use seedbank::engine::evaluate::{BudgetRequest, SeedList};
use seedbank::engine::plan::Method;
use seedbank::engine::query::{
    CompareRequest, CrawlResult, LineState, ListComparison, ListRelation, PageState, PageView,
    UrlList, Why,
};
use seedbank::engine::{Bank, PlanOptions, RefreshRequest};

fn list(urls: &[String]) -> UrlList {
    UrlList {
        name: "today".to_owned(),
        urls: (1..).zip(urls.iter().cloned()).collect(),
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

/// The crawls from the first seeds of the plan, as many as the list has, and from all of them.
fn judge_crawls(bank: &Bank, plan: &str, found: &ListComparison) {
    let judge = Judge(pages_of(bank));
    let seeds: Vec<String> = seeds_of(bank, plan)
        .into_iter()
        .map(|seed| seed.url)
        .collect();
    // Cores never start from spam, and these plans do not keep it.
    let no_spam = found.run.method == Method::Cores;
    let alive: Vec<&str> = seeds
        .iter()
        .map(String::as_str)
        .filter(|url| judge.live(url).is_some_and(|page| !(no_spam && page.spam)))
        .collect();
    for crawls in &found.crawls {
        let starts = usize::try_from(crawls.list.starts).unwrap();
        let first = &alive[..starts.min(alive.len())];
        let expected = |starts: &[&str]| match starts {
            [] => CrawlResult::default(),
            _ => judge.crawl(starts, crawls.fetches),
        };
        assert_eq!(without_contents(crawls.first_seeds), expected(first));
        match &crawls.all_seeds {
            Some(all) => assert_eq!(without_contents(*all), expected(&alive)),
            None => assert!(alive.len() <= starts),
        }
    }
}

/// Counts, states and relations by what the other answers say, and the list's crawls in memory.
fn judge_counts(bank: &Bank, plan: &str, urls: &[String], found: &ListComparison) {
    let judge = Judge(pages_of(bank));
    let counts = found.counts;
    assert_eq!(found.lines.len(), urls.len());
    assert_eq!(counts.lines, urls.len() as u64);
    assert_eq!(
        counts.lines,
        counts.pages + counts.duplicates + counts.invalid_urls
    );
    let in_bank =
        counts.alive + counts.spam + counts.gone + counts.alias + counts.resource + counts.unlinked;
    assert_eq!(counts.pages, in_bank + counts.not_in_bank);
    let relations = counts.seeds + counts.covered + counts.near_core + counts.not_covered;
    assert_eq!(in_bank, relations);
    let seeds = seeds_of(bank, plan).into_iter();
    let ranks: BTreeMap<String, u32> = seeds.map(|seed| (seed.url, seed.rank)).collect();
    let mut cores: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for core in bank.cores(plan).unwrap() {
        let core = core.unwrap();
        for page in core.hubs.iter().chain(&core.authorities) {
            cores.insert(page.clone(), (core.rank, core.seed.clone()));
        }
    }
    let by_cores = found.run.method == Method::Cores;
    let explainer = bank.explainer(plan).unwrap();
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
            Some((PageState::Resource, _)) => LineState::Resource,
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
        let explanation = explainer.page(url).unwrap();
        assert_eq!(
            (&explanation.policy, &explanation.why),
            (&page.policy, &page.why),
            "{url}"
        );
        assert_eq!(
            (&explanation.page, &explanation.site),
            (&page.current, &page.site),
            "{url}"
        );
        let relation = match (ranks.get(url), cores.get(url), &explanation.why) {
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
        let list = without_contents(crawls.list);
        assert_eq!(list, judge.crawl(&starts, crawls.fetches));
    }
}

/// A result without the number of contents, which views of pages do not tell.
fn without_contents(mut found: CrawlResult) -> CrawlResult {
    found.contents = 0;
    found
}

/// Crawls with limits from a list are those that `evaluate budget` simulates on the whole graph.
fn judge_limits(bank: &Bank, plan: &str, urls: &[String], fetches: u64) {
    for limits in [
        "none",
        "panel",
        "per-site=2",
        "depth=1,per-site=34%",
        "sites-at-once=3,rounds=50%",
        "round=4,per-site-round=2,enter=seeds",
        "per-site-round=1,enter=crawled",
    ] {
        let crawl = Some(limits.parse().unwrap());
        let request = CompareRequest {
            fetches: vec![fetches],
            crawl,
            ..CompareRequest::new(plan.into())
        };
        let found = bank.compare(&list(urls), &request).unwrap().crawls[0].list;
        let list = SeedList::Urls {
            name: "today".to_owned(),
            urls: urls.to_vec(),
        };
        let request = BudgetRequest {
            lists: vec![list],
            pages: fetches,
            crawl,
        };
        let row = bank.evaluate_budget(&request).unwrap().lists.remove(0);
        assert_eq!(
            (found.pages, found.crawled, found.contents, found.depth),
            (row.pages, row.crawled, row.contents, row.depth),
            "{limits}, {fetches}"
        );
        assert_eq!(
            (found.clicks, found.clicked_pages, found.spam),
            (row.clicks, row.clicked_pages, row.spam),
            "{limits}, {fetches}"
        );
    }
}

fn compared(bank: &Bank, plan: &str, urls: &[String], fetches: &[u64]) -> ListComparison {
    let request = CompareRequest {
        fetches: fetches.to_vec(),
        ..CompareRequest::new(plan.into())
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
    let plans = [
        ("cores", plan("seeds=5")),
        ("web", plan("method=greedy scope=web seeds=3")),
        ("sites", plan("method=greedy")),
    ];
    for_each_history(6, 1, |bank, more| {
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
                judge_counts(bank, plan, &urls, &found);
                judge_crawls(bank, plan, &found);
                for fetches in [3, 8, 300] {
                    judge_limits(bank, plan, &urls, fetches);
                }
            }
        }
    });
}

#[test]
fn a_real_crawl() {
    let Some(shared) = shared("compare::a_real_crawl") else {
        return;
    };
    let bank = TestBank::real(&shared, "ku-2017-webir");
    bank.refresh("cores", &plan("seeds=50"), false);
    let urls = some_of(&bank.bank, 1_000);
    let found = compared(&bank.bank, "cores", &urls, &[1_000, 5_000]);
    judge_counts(&bank.bank, "cores", &urls, &found);
    judge_crawls(&bank.bank, "cores", &found);
    judge_limits(&bank.bank, "cores", &urls, 2_000);
    let few = compared(&bank.bank, "cores", &urls[..3], &[1_000, 20_000]);
    judge_crawls(&bank.bank, "cores", &few);
}

#[test]
fn a_comparison_can_be_stopped_and_refuses_lists_and_crawls_out_of_range() {
    let bank = TestBank::new();
    bank.delta("{\"url\": \"http://a.example/\", \"outlinks\": [\"http://x.example/\"]}\n");
    let urls = ["http://a.example/".to_owned()];
    let crawls = |fetches: &[u64]| CompareRequest {
        fetches: fetches.to_vec(),
        most: 1,
        ..CompareRequest::default()
    };
    let compare = |bank: &Bank, urls: &[String], request: &CompareRequest| {
        let found = bank.compare(&list(urls), request);
        found.map_err(|error| error.to_string())
    };
    let default = CompareRequest::default();
    let none = compare(&bank.bank, &urls, &default).unwrap_err();
    assert!(none.contains("has no plan \"default\""), "{none}");
    bank.refresh("default", &PlanOptions::default(), false);
    let stopped = compare(&bank.bank.watched(Stopped), &urls, &default).unwrap_err();
    assert!(stopped.contains("interrupted"), "{stopped}");
    let [url] = &urls;
    for (urls, request, message) in [
        (
            vec![String::new(), "# a".to_owned()],
            default,
            "today contains no seeds",
        ),
        (
            urls.to_vec(),
            crawls(&[1, 0]),
            "expected crawls of 1 to 20000 fetches",
        ),
        (
            urls.to_vec(),
            crawls(&[1, 20_001]),
            "expected crawls of 1 to 20000 fetches",
        ),
        (
            vec![url.clone(); 2],
            crawls(&[]),
            "expected a list of at most 1 URLs, found 2 URLs",
        ),
    ] {
        let error = compare(&bank.bank, &urls, &request).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let found = compare(&bank.bank, &urls, &crawls(&[])).unwrap();
    assert!(found.crawls.is_empty() && found.counts.alive == 1);
}
