//! `explain` of every page of real graphs, by cores: the answer is of the right kind, and its
//! numbers are those of a recount from the crawl itself: membership from `cores`, nearness and row
//! sums from the links.
//!
//! Catches: pages without an answer or with that of another page; nearness to a later core than the
//! first; links counted for pages that took no part; row sums of another graph; answers whose cost
//! grows.

use std::collections::BTreeMap;

use crate::support::banks::{TestBank, cores_of};
use crate::support::graphs::{Page, Web};
use crate::support::plans::plan;
use crate::support::shared;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::Pages;
use seedbank::engine::query::{
    CoreView, Explanation, IneligibleReason, NotAdded, Role, RowSums, SidePosition, Why,
};
use seedbank_algorithms::cores::{Growth, Hits};

/// The links between pages of different hosts, by number.
struct Links {
    urls: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// Whether each page is on any inter-site link at all.
    linked: Vec<bool>,
    /// The links between pages that take part.
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
}

fn host(url: &str) -> String {
    url::Url::parse(url).unwrap().host_str().unwrap().to_owned()
}

impl Links {
    fn of(web: &Web, takes_part: impl Fn(&Page) -> bool) -> Self {
        let urls: Vec<String> = web.pages.keys().cloned().collect();
        let numbers: BTreeMap<String, usize> = urls.iter().cloned().zip(0..).collect();
        let hosts: Vec<String> = urls.iter().map(|url| host(url)).collect();
        let live: Vec<bool> = web.pages.values().map(takes_part).collect();
        let mut links = Self {
            linked: vec![false; urls.len()],
            out: vec![Vec::new(); urls.len()],
            into: vec![Vec::new(); urls.len()],
            urls,
            numbers,
        };
        for (from, page) in web.pages.values().enumerate() {
            let mut targets: Vec<usize> = page.outlinks.iter().map(|u| links.numbers[u]).collect();
            targets.sort_unstable();
            targets.dedup();
            for to in targets.into_iter().filter(|&to| hosts[to] != hosts[from]) {
                links.linked[from] = true;
                links.linked[to] = true;
                if live[from] && live[to] {
                    links.out[from].push(to);
                    links.into[to].push(from);
                }
            }
        }
        links
    }

    fn sums(&self, page: usize) -> (u64, u64) {
        let sum = |of: &[usize], degrees: &[Vec<usize>]| -> u64 {
            of.iter().map(|&other| degrees[other].len() as u64).sum()
        };
        (
            sum(&self.into[page], &self.out),
            sum(&self.out[page], &self.into),
        )
    }
}

/// Where a page is in the cores: the core, and its place on each side.
#[derive(Clone, Copy, Default)]
struct InCore {
    core: usize,
    hub: Option<usize>,
    authority: Option<usize>,
}

struct Judge<'a> {
    links: Links,
    cores: &'a [CoreView],
    members: BTreeMap<usize, InCore>,
    options: &'a PlanOptions,
}

fn same(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
}

/// Equal scores are ranked by URL.
fn fits(place: &SidePosition, at: usize, scores: &[f64], urls: &[String]) {
    same(place.score, scores[at]);
    assert_eq!(place.position as usize, at + 1);
    let is_before = |(score, url): &(&f64, &String)| {
        let is_better = **score > scores[at] * (1.0 + 2e-9);
        let is_equal = !is_better && **score >= scores[at] * (1.0 - 2e-9);
        is_better || is_equal && **url < urls[at]
    };
    let before = scores.iter().zip(urls).filter(is_before).count();
    assert_eq!(place.rank as usize, before + 1, "{place:?}");
}

impl<'a> Judge<'a> {
    fn new(links: Links, cores: &'a [CoreView], options: &'a PlanOptions) -> Self {
        let mut members: BTreeMap<usize, InCore> = BTreeMap::new();
        for (core, view) in cores.iter().enumerate() {
            for (at, url) in view.hubs.iter().enumerate() {
                let member = members.entry(links.numbers[url]).or_default();
                (member.core, member.hub) = (core, Some(at));
            }
            for (at, url) in view.authorities.iter().enumerate() {
                let member = members.entry(links.numbers[url]).or_default();
                (member.core, member.authority) = (core, Some(at));
            }
        }
        Self {
            links,
            cores,
            members,
            options,
        }
    }

    fn row_sums(&self, page: usize, sums: &RowSums) {
        assert_eq!((sums.as_authority, sums.as_hub), self.links.sums(page));
        let lambda = self.cores.last().map(|core| core.sigma.powi(2));
        assert_eq!(sums.last_lambda, lambda);
        let largest = sums.as_authority.max(sums.as_hub) as f64;
        let reaches = lambda.is_none_or(|lambda| largest >= lambda * (1.0 - 1e-8));
        assert_eq!(sums.reaches_last_core, reaches);
    }

    fn member(&self, url: &str, member: InCore, why: &Why) {
        let view = &self.cores[member.core];
        match why {
            Why::CoreSeed(seed) => {
                assert_eq!((url, seed.core.rank), (view.seed.as_str(), view.rank));
                assert_eq!((seed.rank, seed.since), (view.rank, view.refresh));
                fits(&seed.hub, member.hub.unwrap(), &view.hub_scores, &view.hubs);
                let out = &self.links.out[self.links.numbers[url]];
                let leads = |a: &&String| out.binary_search(&self.links.numbers[*a]).is_ok();
                let leads_to: Vec<&String> = view.authorities.iter().filter(leads).collect();
                assert_eq!(seed.linked_authorities as usize, leads_to.len());
                let mut sites: Vec<String> = leads_to.iter().map(|url| host(url)).collect();
                sites.sort();
                sites.dedup();
                assert_eq!(seed.linked_sites as usize, sites.len());
                assert!(
                    seed.first_authorities
                        .iter()
                        .eq(leads_to.into_iter().take(3))
                );
                assert_eq!(seed.runner_up.is_some(), view.hubs.len() > 1);
                if let Some(second) = &seed.runner_up {
                    assert_ne!(second.url, url);
                    let at = view.hubs.iter().position(|hub| *hub == second.url);
                    same(second.score, view.hub_scores[at.unwrap()]);
                    let others = view.hubs.iter().zip(&view.hub_scores);
                    let others = others.filter(|(hub, _)| *hub != url);
                    let best = others.map(|(_, score)| *score).fold(0.0, f64::max);
                    assert!(second.score >= best * (1.0 - 1e-9));
                }
            }
            Why::CoreMember(found) => {
                assert_ne!(url, view.seed);
                assert_eq!(found.core.rank, view.rank);
                assert_eq!(found.seed.url, view.seed);
                let hub = found.hub.as_ref().zip(member.hub);
                let authority = found.authority.as_ref().zip(member.authority);
                assert_eq!(found.hub.is_some(), member.hub.is_some());
                assert_eq!(found.authority.is_some(), member.authority.is_some());
                if let Some((place, at)) = hub {
                    fits(place, at, &view.hub_scores, &view.hubs);
                }
                if let Some((place, at)) = authority {
                    fits(place, at, &view.authority_scores, &view.authorities);
                }
            }
            other => panic!("{url} is in core {}: {other:?}", view.rank),
        }
    }

    /// The first core that a page was near, and whether as a hub, which counts where the core is
    /// the same.
    fn near(&self, page: usize) -> Option<(usize, bool, u32)> {
        let mut found: BTreeMap<(usize, bool), u32> = BTreeMap::new();
        for to in &self.links.out[page] {
            if let Some(member) = self.members.get(to).filter(|m| m.authority.is_some()) {
                *found.entry((member.core, false)).or_default() += 1;
            }
        }
        for from in &self.links.into[page] {
            if let Some(member) = self.members.get(from).filter(|m| m.hub.is_some()) {
                *found.entry((member.core, true)).or_default() += 1;
            }
        }
        let first = found.into_iter().next();
        first.map(|((core, authority), links)| (core, !authority, links))
    }

    fn near_core(&self, page: usize, why: &Why, wanted: (usize, bool, u32)) {
        let (core, hub, links) = wanted;
        let Why::NearCore(near) = why else {
            panic!("{} is near core {core}: {why:?}", self.links.urls[page]);
        };
        let view = &self.cores[core];
        let role = if hub { Role::Hub } else { Role::Authority };
        assert_eq!(
            (near.core.rank, near.role, near.links),
            (view.rank, role, links)
        );
        assert_eq!(near.seed.url, view.seed);
        self.row_sums(page, &near.row_sums);
        let (h, a) = (view.hubs.len() as u64, view.authorities.len() as u64);
        let pairs = if hub { (h + 1) * a } else { h * (a + 1) };
        let density = self.options.density.unwrap_or_default().millionths();
        let edges = (pairs * density).div_ceil(100_000_000);
        let needs = match self.options.core_size {
            Some(_) => 1,
            None => (edges - view.edges).max(1),
        };
        assert_eq!(near.links_needed, needs);
        let full = self
            .options
            .max_hubs
            .is_some_and(|most| h >= u64::from(most));
        let reason = match (hub && full, self.options.core_size, self.options.growth) {
            (true, ..) => NotAdded::MaxHubs,
            (_, Some(_), _) => NotAdded::CoreSize,
            (_, _, Some(Growth::Literal)) if u64::from(links) >= needs => NotAdded::GrowthEnded,
            _ => {
                assert!(u64::from(links) < needs, "it would have fitted");
                NotAdded::TooFewLinks
            }
        };
        assert_eq!(near.reason, reason);
        let (scores, own) = if hub {
            (&view.hub_scores, &view.authority_scores)
        } else {
            (&view.authority_scores, &view.hub_scores)
        };
        let weakest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        same(near.weakest.score, weakest);
        // Sigma times its score is the sum of the scores of all pages that it is linked with.
        let least = own.iter().copied().fold(f64::INFINITY, f64::min) * f64::from(links);
        if self.options.hits != Some(Hits::Classic) {
            assert!(near.score * view.sigma >= least * (1.0 - 1e-6), "{near:?}");
        }
    }

    /// Judges an answer; returns its kind.
    fn judge(&self, web: &Web, answer: &Explanation) -> &'static str {
        let number = self.links.numbers[&answer.url];
        let page = &web.pages[&answer.url];
        assert!(answer.cost.reads <= 20, "{} reads", answer.cost.reads);
        assert!(answer.cost.bytes < 1 << 20, "{} bytes", answer.cost.bytes);
        if let Some(member) = self.members.get(&number) {
            self.member(&answer.url, *member, &answer.why);
            return "in a core";
        }
        let spam = page.spam && self.options.keep_spam != Some(true);
        let not_crawled = !page.crawled && self.options.pages == Some(Pages::Crawled);
        if spam || not_crawled {
            let reason = if spam {
                IneligibleReason::Spam
            } else {
                IneligibleReason::NotCrawled
            };
            assert_eq!(answer.why, Why::Ineligible { reason }, "{}", answer.url);
            return "left out";
        }
        let links = &self.links;
        if links.out[number].is_empty() && links.into[number].is_empty() {
            let neighbours_ineligible = links.linked[number];
            assert_eq!(
                answer.why,
                Why::NoInterSiteLinks {
                    neighbours_ineligible
                }
            );
            return "unlinked";
        }
        if let Some(wanted) = self.near(number) {
            self.near_core(number, &answer.why, wanted);
            return "near a core";
        }
        let Why::NoCore(sums) = &answer.why else {
            panic!("{}: {:?}", answer.url, answer.why);
        };
        self.row_sums(number, sums);
        "row sum"
    }
}

fn every_page(web: &Web, bank: &TestBank, plan: &str, options: &PlanOptions) {
    bank.refresh(plan, options, false);
    let cores = cores_of(&bank.bank, plan);
    let takes_part = |page: &Page| {
        (!page.spam || options.keep_spam == Some(true))
            && (page.crawled || options.pages != Some(Pages::Crawled))
    };
    let judge = Judge::new(Links::of(web, takes_part), &cores, options);
    let explainer = bank.bank.explainer(plan).unwrap();
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    // Most of a crawl is pages without a record and without inter-site links, which are all alike:
    // one plan is asked about each of them, the others about every sixteenth.
    let dull = |number: usize, page: &Page| !page.crawled && !judge.links.linked[number];
    for (number, (url, page)) in web.pages.iter().enumerate() {
        if plan != "maximal" && dull(number, page) && number % 16 > 0 {
            continue;
        }
        let answer = explainer.page(url).unwrap();
        assert_eq!(answer.url, *url);
        *kinds.entry(judge.judge(web, &answer)).or_default() += 1;
    }
    assert!(kinds["in a core"] > 0 && kinds["near a core"] > 0);
}

const PLANS: [(&str, &str); 7] = [
    ("maximal", "seeds=25"),
    ("literal", "seeds=6 growth=literal"),
    ("crawled", "seeds=6 pages=crawled"),
    ("keep-spam", "seeds=6 keep-spam=true max-hubs=5"),
    ("dense", "seeds=3 density=60"),
    ("size", "seeds=3 core-size=20 new-members=2"),
    ("classic", "seeds=3 hits=classic"),
];

fn agrees(name: &str) {
    let Some(shared) = shared(name) else {
        return;
    };
    let web = Web::load(&shared.join("data").join(name));
    let bank = TestBank::real(&shared, name);
    for (name, parameters) in PLANS {
        every_page(&web, &bank, name, &plan(parameters));
    }
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
