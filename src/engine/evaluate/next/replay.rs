//! Crawls over what later batches brought: from the list of one day, and in a closed loop.

use std::collections::BTreeMap;

use super::answers::NextList;
use super::list_selection::{KnownWeb, Terms};
use super::timeline::{Knowledge, Step, Timeline};
use crate::engine::Result;
use seedbank_algorithms::evaluate::fetch_simulator::{CrawlInput, FetchSimulator};
use seedbank_algorithms::graph::Csr;
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::Yield;
use seedbank_store::records::PageState;

/// The web as the fetches of some batches found it.
pub(super) struct Content {
    successors: Csr,
    crawled: Vec<bool>,
    /// Pages that were not known before these batches.
    unseen: Vec<bool>,
    values: Vec<i64>,
    ranks: Vec<f64>,
}

impl Content {
    /// A page has the links that were known of it, and those that its fetches in `steps` added.
    pub(super) fn new(known: &Knowledge, steps: &[Step]) -> Self {
        let count = known.links.len();
        let mut crawled: Vec<bool> = (0..count).map(|page| known.is_crawled(page)).collect();
        let mut unseen = vec![false; count];
        let mut gained: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for change in steps.iter().flat_map(|step| &step.changes) {
            if !change.is_fetch {
                continue;
            }
            crawled[change.page as usize] = true;
            let links = gained.entry(change.page).or_default();
            links.extend(&change.gained);
            for to in &change.gained {
                unseen[*to as usize] |= !known.has(*to as usize);
            }
        }
        let mut successors = Csr::default();
        for (page, links) in (0..).zip(&known.links) {
            let more = gained.get(&page).into_iter().flatten();
            let mut all: Vec<u32> = links.iter().chain(more).copied().collect();
            all.sort_unstable();
            all.dedup();
            successors.push(all);
        }
        Self {
            successors,
            crawled,
            unseen,
            values: vec![0; count],
            ranks: vec![0.0; count],
        }
    }

    pub(super) fn simulator(&self) -> FetchSimulator<'_> {
        FetchSimulator::new(CrawlInput {
            successors: &self.successors,
            crawled: &self.crawled,
            values: &self.values,
            pagerank: &self.ranks,
        })
    }

    /// Pages that were not known when the lists were made.
    pub(super) fn unseen(&self) -> &[bool] {
        &self.unseen
    }
}

/// What a crawl of the closed loop brought.
#[derive(Clone, Copy, Default)]
pub(super) struct DayInLoop {
    /// URLs that the loop saw for the first time.
    pub(super) found: u64,
    /// Pages among all found so far that it fetched for the first time.
    pub(super) fetched: u64,
}

/// Crawls once for every batch, each time from the seeds of a list that only knows what its own crawls found.
/// A fetch finds a page as the last fetch of the bank did. `settings` has the setting of each day.
pub(super) fn closed_loop(
    timeline: &Timeline,
    list: NextList,
    settings: &[usize],
    terms: Terms,
    watch: &dyn Watch,
) -> Result<Vec<DayInLoop>> {
    let mut truth = timeline.start.clone();
    let mut own = timeline.start.clone();
    let mut days = Vec::new();
    for (day, (step, setting)) in (0..).zip(timeline.steps.iter().zip(settings)) {
        watch.proceed()?;
        let seeds = KnownWeb::new(&own, terms).seeds(list, *setting, day, watch)?;
        truth.apply(step);
        let crawl = Crawl {
            truth: &truth,
            start: &timeline.start,
            own: &mut own,
            now: truth.last_fetch,
            day: DayInLoop::default(),
        };
        days.push(crawl.run(seeds, terms.budget));
    }
    Ok(days)
}

/// A crawl whose finds become known to the list that it began from.
struct Crawl<'a> {
    truth: &'a Knowledge,
    /// What was known before the first crawl.
    start: &'a Knowledge,
    own: &'a mut Knowledge,
    now: u64,
    day: DayInLoop,
}

impl Crawl<'_> {
    /// Fetches the seeds in their order, then level by level in URL order.
    fn run(mut self, seeds: Vec<u32>, budget: u64) -> DayInLoop {
        let mut met = vec![false; self.own.links.len()];
        let mut level = seeds;
        for page in &level {
            met[*page as usize] = true;
        }
        let mut left = budget;
        while !level.is_empty() && left > 0 {
            let mut next = Vec::new();
            for page in level {
                if left == 0 {
                    break;
                }
                left -= 1;
                self.fetch(page as usize);
                let links = self.own.links[page as usize].iter().copied();
                next.extend(links.filter(|to| !std::mem::replace(&mut met[*to as usize], true)));
            }
            next.sort_unstable();
            level = next;
        }
        self.own.last_fetch = self.now;
        self.own.next_crawl = self.truth.next_crawl;
        self.day
    }

    fn fetch(&mut self, page: usize) {
        let was_crawled = self.own.is_crawled(page);
        if !was_crawled && !self.start.has(page) {
            self.day.fetched += 1;
        }
        // The bank does not know the links of a page that it never fetched, or that is gone.
        let links = match self.truth.states[page] {
            PageState::Crawled => self.truth.links[page].clone(),
            _ => Vec::new(),
        };
        let mut new = 0;
        for to in &links {
            if !self.own.has(*to as usize) {
                self.own.states[*to as usize] = PageState::Known;
                new += 1;
            }
        }
        self.day.found += new;
        match self.own.fetched[page].filter(|_| was_crawled) {
            Some(before) if self.now > before => {
                let sums: Yield = self.own.sums[page];
                self.own.sums[page] = sums.after_fetch(self.now - before, new);
            }
            Some(_) => {}
            None => {
                self.own.first.tried += 1;
                self.own.first.answered += 1;
                self.own.first.new += new;
            }
        }
        self.own.links[page] = links;
        self.own.states[page] = PageState::Crawled;
        self.own.fetched[page] = Some(self.now);
    }
}
