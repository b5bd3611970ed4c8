//! `explain` of every page of real graphs, by each cover method: the answer is of the right kind,
//! and its numbers are those of plain searches from the seeds in a graph that the test builds
//! itself.
//!
//! Catches: pages covered by another seed or at another hop, gains and their parts that do not add
//! up, scores of uncovered pages that none of their picks would bring, pages that are mixed up.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::{TestBank, seeds_of};
use crate::support::graphs::Web;
use crate::support::plans::plan;
use crate::support::shared;
use crate::support::sites::{self, Loaded, LoadedSite};
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{Evidence, Explainer, IneligibleReason, Seed, SiteWhy, Why};
use seedbank_algorithms::cover::{Covered, SiteGraph};

/// The distances of pages, up to `hops`, over the pages that are alive.
fn search(graph: &SiteGraph, from: u32, hops: u32, alive: &[bool]) -> BTreeMap<u32, u32> {
    let mut found = BTreeMap::from([(from, 0)]);
    let mut level = vec![from];
    for hop in 1..=hops {
        let mut next = Vec::new();
        for page in level {
            for &target in graph.successors(page) {
                if alive[target as usize] && !found.contains_key(&target) {
                    found.insert(target, hop);
                    next.push(target);
                }
            }
        }
        level = next;
    }
    found
}

struct Judge<'a> {
    site: &'a LoadedSite,
    options: &'a PlanOptions,
    method: CoverMethod,
    /// Seeds of the site by pick.
    seeds: Vec<&'a Seed>,
    /// For each page the first pick that covers it, and the hop.
    covered: BTreeMap<u32, (usize, u32)>,
    alive: Vec<bool>,
}

const HOPS: u32 = 5;

impl<'a> Judge<'a> {
    fn new(site: &'a LoadedSite, options: &'a PlanOptions, seeds: Vec<&'a Seed>) -> Self {
        let graph = &site.graph;
        let Some(Method::Cover(method)) = options.method else {
            panic!("{options:?}");
        };
        let whole = vec![true; graph.pages() as usize];
        let mut alive = whole.clone();
        let mut covered = BTreeMap::new();
        let removing = method == CoverMethod::MaxOut || options.covered == Some(Covered::Remove);
        for (pick, seed) in seeds.iter().enumerate() {
            let page = site.page(&seed.url);
            for (page, hop) in search(graph, page, HOPS, &whole) {
                covered.entry(page).or_insert((pick, hop));
            }
            if removing {
                for page in search(graph, page, HOPS, &alive).into_keys() {
                    alive[page as usize] = false;
                }
            }
        }
        Self {
            site,
            options,
            method,
            seeds,
            covered,
            alive,
        }
    }

    /// What an uncovered page would bring, in the method's score; `None` where pages are drawn, or
    /// where the score is judged by its order only.
    fn score(&self, page: u32) -> Option<f64> {
        let graph = &self.site.graph;
        let depth = match self.method {
            CoverMethod::Random | CoverMethod::Pagerank => return None,
            CoverMethod::OutDegree => return Some(f64::from(graph.out_degree(page))),
            CoverMethod::MaxOut => {
                let left = graph.successors(page).iter();
                let left = left.filter(|&&target| self.alive[target as usize]);
                return Some(f64::from(u32::try_from(left.count()).unwrap()));
            }
            CoverMethod::Greedy => HOPS,
            _ => self.options.depth.unwrap_or(2),
        };
        let zeroing = self.options.covered != Some(Covered::Remove);
        let within = search(graph, page, depth, &self.alive).into_keys();
        let worth = within.filter(|page| !(zeroing && self.covered.contains_key(page)));
        let sum: i64 = worth.map(|page| graph.values()[page as usize]).sum();
        Some(sum as f64 / 1e6)
    }

    fn judge(&self, page: u32, why: &Why) -> &'static str {
        let url = &self.site.urls[page as usize];
        let pick = self.seeds.iter().position(|seed| seed.url == *url);
        if let Some(pick) = pick {
            let Why::CoverSeed(found) = why else {
                panic!("{url} is a seed: {why:?}");
            };
            self.seed(pick, found);
            let earlier = self.covered[&page];
            let by = found
                .covered_by
                .as_ref()
                .map(|(by, hop)| (by.url.as_str(), *hop));
            let wanted =
                (earlier.0 != pick).then(|| (self.seeds[earlier.0].url.as_str(), earlier.1));
            assert_eq!(by, wanted);
            return "seed";
        }
        if let Some(&(pick, hop)) = self.covered.get(&page) {
            let Why::Covered { by, hop: found } = why else {
                panic!("{url} is covered: {why:?}");
            };
            let seed = self.seeds[pick];
            assert_eq!((&by.url, by.rank, *found), (&seed.url, seed.rank, hop));
            assert_eq!(by.pick as usize, pick + 1);
            return "covered";
        }
        let Why::Uncovered(found) = why else {
            panic!("{url} is not covered: {why:?}");
        };
        assert!(found.exact);
        assert_eq!(found.picks as usize, self.seeds.len());
        let last = found.last_pick.as_ref().map(|last| &last.url);
        assert_eq!(last, self.seeds.last().map(|seed| &seed.url));
        match self.method {
            CoverMethod::Random => assert_eq!(found.score, None),
            CoverMethod::Pagerank => {
                let best = found.last_pick.as_ref().and_then(|last| last.gain).unwrap();
                assert!(found.score.unwrap() <= best * (1.0 + 1e-9));
            }
            _ => assert_eq!(found.score, self.score(page), "{url}"),
        }
        "uncovered"
    }

    fn seed(&self, pick: usize, found: &seedbank::engine::query::CoverSeed) {
        let values = self.site.graph.values();
        let mut hops: Vec<(u64, i64)> = Vec::new();
        for (page, &(by, hop)) in &self.covered {
            if by == pick {
                hops.resize(hops.len().max(hop as usize + 1), (0, 0));
                hops[hop as usize].0 += 1;
                hops[hop as usize].1 += values[*page as usize];
            }
        }
        let kept = found.hops.iter().map(|hop| (hop.pages, hop.value));
        let mut kept: Vec<(u64, f64)> = kept.collect();
        kept.resize(kept.len().max(hops.len()), (0, 0.0));
        hops.resize(kept.len(), (0, 0));
        let hops: Vec<(u64, f64)> = hops.into_iter().map(|(p, v)| (p, v as f64 / 1e6)).collect();
        assert_eq!(kept, hops);
        let seed = self.seeds[pick];
        assert_eq!((found.rank, found.pick as usize), (seed.rank, pick + 1));
        let Evidence::Cover { gain, .. } = seed.evidence else {
            panic!("{seed:?}");
        };
        assert_eq!(found.gain, gain);
    }
}

/// A plan by each method, and one that removes covered pages.
fn plans() -> Vec<(&'static str, PlanOptions)> {
    let by = |method: CoverMethod| {
        let options = plan(&format!("method={} per-site=3", method.name()));
        (method.name(), options)
    };
    let mut plans: Vec<(&'static str, PlanOptions)> = CoverMethod::ALL
        .into_iter()
        .filter(|of| *of != CoverMethod::Oldest)
        .map(by)
        .collect();
    plans.push((
        "removing",
        plan("method=max-weight per-site=3 covered=remove"),
    ));
    plans
}

fn site_agrees(explainer: &Explainer, judge: &Judge<'_>, uncovered: u64) {
    let answer = explainer.site(&judge.site.name).unwrap();
    let SiteWhy::CoverOfSite(found) = &answer.why else {
        panic!("{answer:?}");
    };
    assert!(
        found
            .site_seeds
            .iter()
            .map(|s| &s.url)
            .eq(judge.seeds.iter().map(|s| &s.url))
    );
    assert_eq!(found.uncovered, uncovered);
    assert_eq!(found.covers.pages, judge.covered.len() as u64);
    assert_eq!(found.crawled_at_refresh, judge.site.graph.pages());
    let scored = if judge.method == CoverMethod::Random {
        0
    } else {
        uncovered.min(10)
    };
    assert_eq!(found.best_uncovered.len() as u64, scored);
}

fn every_page(bank: &TestBank, loaded: &Loaded, plan: &str, options: &PlanOptions) {
    bank.refresh(plan, options, false);
    let seeds = seeds_of(&bank.bank, plan);
    let mut by_site: BTreeMap<&str, Vec<&Seed>> = BTreeMap::new();
    for seed in &seeds {
        by_site.entry(&seed.site).or_default().push(seed);
    }
    let explainer = bank.bank.explainer(plan).unwrap();
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for site in loaded.sites.values() {
        let of_site = by_site.remove(site.name.as_str()).unwrap_or_default();
        let judge = Judge::new(site, options, of_site);
        let mut uncovered = 0;
        for (url, page) in site.urls.iter().zip(0..) {
            let answer = explainer.page(url).unwrap();
            assert!(answer.cost.reads <= 20 && answer.cost.bytes < 1 << 20);
            let kind = judge.judge(page, &answer.why);
            uncovered += u64::from(kind == "uncovered");
            *kinds.entry(kind).or_default() += 1;
        }
        site_agrees(&explainer, &judge, uncovered);
    }
    assert_eq!(kinds["seed"] as usize, seeds.len());
    assert!(kinds["covered"] > 0 && kinds["uncovered"] > 0);
}

fn agrees(name: &str) {
    let Some(shared) = shared(name) else {
        return;
    };
    let loaded = sites::load(&shared, name);
    let bank = TestBank::real(&shared, name);
    for (plan, options) in plans() {
        every_page(&bank, &loaded, plan, &options);
    }
    let crawled = loaded.crawled.values().filter(|crawled| **crawled > 0);
    assert_eq!(crawled.count(), loaded.sites.len());
    // Pages that are only linked to.
    let crawled: BTreeSet<&String> = loaded.sites.values().flat_map(|site| &site.urls).collect();
    let web = Web::load(&shared.join("data").join(name));
    let explainer = bank.bank.explainer("greedy").unwrap();
    let mut known = 0;
    for url in web.pages.keys().filter(|url| !crawled.contains(url)) {
        let reason = IneligibleReason::NotCrawled;
        let why = explainer.page(url).unwrap().why;
        assert_eq!(why, Why::Ineligible { reason }, "{url}");
        known += 1;
    }
    assert!(known > 100);
    bank.is_sound();
}

#[test]
fn every_page_of_a_university() {
    agrees("ku-2017-webir");
}

#[test]
fn every_page_of_a_generated_crawl() {
    agrees("generated");
}
