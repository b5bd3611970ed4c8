//! Seeds over the web by the definition, worked out from the pages of a bank alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method, Scope};
use seedbank::engine::query::{PageKind, PageState, PageView};
use seedbank::ingest::{self, SiteMode};
use seedbank_store::{Reader, tables};

use super::banks::TestBank;
use super::model::pages_of;

/// A plan over the web.
pub fn over_web(method: CoverMethod, seeds: u32) -> PlanOptions {
    PlanOptions {
        method: Some(Method::Cover(method)),
        scope: Some(Scope::Web),
        seeds: Some(seeds),
        ..PlanOptions::default()
    }
}

/// The live pages of a bank in URL order, with values and links as a plan sees them.
pub struct Judge {
    pub pages: BTreeMap<String, PageView>,
    links: BTreeMap<String, BTreeSet<String>>,
    /// Crawled pages with the digest of another one, each with the page that represents it.
    pub represented_by: BTreeMap<String, String>,
}

/// What a plan of the judge says: values of known pages, of a quality of 1, the price, hops, all in
/// millionths.
#[derive(Clone, Copy)]
pub struct Terms {
    pub p_uniq: i64,
    pub known: i64,
    pub quality: i64,
    pub price: i64,
    pub hops: usize,
    /// Whether pages with one digest count once.
    pub once: bool,
}

/// The crawled pages with each digest.
fn contents(bank: &TestBank) -> BTreeMap<[u8; 16], Vec<String>> {
    let reader = Reader::open(bank.bank.path()).unwrap();
    let mut contents: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for entry in reader.scan(&tables::PAGES).unwrap() {
        let (page, record) = entry.unwrap();
        let site = reader.need(&tables::SITES, &page.site()).unwrap().name;
        if let (PageState::Crawled, Some(digest)) = (record.state, record.digest) {
            let url = ingest::url(&site, &record.local, SiteMode::Host);
            contents.entry(digest).or_default().push(url);
        }
    }
    contents
}

impl Judge {
    pub fn of(bank: &TestBank) -> Self {
        let mut pages = pages_of(&bank.bank);
        pages.retain(|_, page| matches!(page.state, PageState::Known | PageState::Crawled));
        let live = |to: &String| pages.contains_key(to);
        let links = pages.iter().map(|(url, page)| {
            let to = page.outlinks.iter().filter(|to| live(to)).cloned();
            (url.clone(), to.collect())
        });
        let links: BTreeMap<String, BTreeSet<String>> = links.collect();
        let in_links = |url: &String| links.values().filter(|to| to.contains(url)).count();
        let mut represented_by = BTreeMap::new();
        for urls in contents(bank).values() {
            let suitability = |url: &&String| (Reverse(in_links(url)), url.len(), (*url).clone());
            let first = urls.iter().min_by_key(suitability).unwrap();
            let others = urls.iter().filter(|url| *url != first);
            represented_by.extend(others.map(|url| (url.clone(), first.clone())));
        }
        Self {
            pages,
            links,
            represented_by,
        }
    }

    fn is_copy(&self, url: &str, terms: Terms) -> bool {
        terms.once && self.represented_by.contains_key(url)
    }

    fn value(&self, url: &str, terms: Terms) -> i64 {
        if self.is_copy(url, terms) {
            return 0;
        }
        let page = &self.pages[url];
        // In ten-thousandths.
        let quality = page.quality.map_or(0, |quality| quality.0 / 100);
        let quality = (terms.quality * quality * 2 + 10_000).div_euclid(20_000);
        let weight = match (page.state, page.spam, page.clicks) {
            (PageState::Known, ..) => return terms.known + quality,
            (_, true, _) => -10_000_000,
            (_, false, 0) => 1_000_000,
            _ => 10_000_000,
        };
        let uncrawled = i64::try_from(page.uncrawled_outlinks).unwrap();
        weight + quality + uncrawled * terms.p_uniq
    }

    pub fn candidates(&self, terms: Terms) -> Vec<&String> {
        let pages = self.pages.iter();
        let candidates = pages.filter(|(url, page)| {
            let may_be = page.state == PageState::Crawled && page.kind != PageKind::Document;
            let may_be = may_be && !self.is_copy(url, terms);
            may_be && !page.spam && !self.links[*url].is_empty()
        });
        candidates.map(|(url, _)| url).collect()
    }

    /// The pages within so many hops, with their distances.
    pub fn within(&self, from: &str, hops: usize) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::from([(from.to_owned(), 0)]);
        for hop in 1..=hops {
            let last: Vec<String> = found
                .iter()
                .filter(|(_, at)| **at == hop - 1)
                .map(|(url, _)| url.clone())
                .collect();
            for to in last.iter().flat_map(|url| &self.links[url]) {
                found.entry(to.clone()).or_insert(hop);
            }
        }
        found
    }

    pub fn gain(&self, url: &str, reached: &BTreeSet<String>, terms: Terms) -> i64 {
        let within = self.within(url, terms.hops);
        let new = within.keys().filter(|page| !reached.contains(*page));
        new.map(|page| self.value(page, terms) - terms.price).sum()
    }

    /// Greedy by the definition: seeds with their gains.
    pub fn greedy(&self, seeds: usize, terms: Terms) -> Vec<(String, i64)> {
        let mut reached = BTreeSet::new();
        let mut picks: Vec<(String, i64)> = Vec::new();
        while picks.len() < seeds {
            let open = self.candidates(terms).into_iter();
            let open = open.filter(|url| picks.iter().all(|pick| pick.0 != **url));
            let gains = open.map(|url| (self.gain(url, &reached, terms), url));
            // Of several the first, which has the smallest URL.
            let best = gains.fold(None, |best: Option<(i64, &String)>, next| match best {
                Some(best) if best.0 >= next.0 => Some(best),
                _ => Some(next),
            });
            let Some((gain, url)) = best.filter(|best| best.0 > 0) else {
                break;
            };
            reached.extend(self.within(url, terms.hops).into_keys());
            picks.push((url.clone(), gain));
        }
        picks
    }
}
