//! The bank as it was after each of its last batches, reconstructed from what batches overwrote.

use std::collections::BTreeMap;

use crate::engine::Result;
use crate::engine::applied_batches::{applied_batches, first_fetches, next_crawl};
use crate::engine::web_graph::{Numbering, load_image};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::{FirstFetches, Yield};
use seedbank_store::records::{BatchId, BatchRecord, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};

/// What is known after a batch; pages are numbered in URL order.
#[derive(Clone, Default)]
pub(super) struct Knowledge {
    /// The links of each page, ascending.
    pub(super) links: Vec<Vec<u32>>,
    pub(super) states: Vec<PageState>,
    pub(super) spam: Vec<bool>,
    /// The times of the last fetches, in seconds since 1970 (UTC).
    pub(super) fetched: Vec<Option<u64>>,
    pub(super) sums: Vec<Yield>,
    pub(super) first: FirstFetches,
    /// The time of the last fetch, and that at which the next crawl is expected.
    pub(super) last_fetch: u64,
    pub(super) next_crawl: u64,
}

/// What a batch changed of a page.
#[derive(Clone, Debug)]
pub(super) struct PageChange {
    pub(super) page: u32,
    /// Whether the batch has a fetch of the page that did not fail.
    pub(super) is_fetch: bool,
    state: PageState,
    spam: bool,
    fetched: Option<u64>,
    sums: Yield,
    /// Links that it added, ascending, and links that it removed.
    pub(super) gained: Vec<u32>,
    lost: Vec<u32>,
}

/// A batch.
pub(super) struct Step {
    pub(super) batch: BatchId,
    /// The changes, by page.
    pub(super) changes: Vec<PageChange>,
    first: FirstFetches,
    last_fetch: u64,
    next_crawl: u64,
}

/// The last batches of a bank.
pub(super) struct Timeline {
    /// What was known before the first of them.
    pub(super) start: Knowledge,
    pub(super) steps: Vec<Step>,
}

impl Knowledge {
    /// Applies the next batch.
    pub(super) fn apply(&mut self, step: &Step) {
        for change in &step.changes {
            let at = change.page as usize;
            let links = &mut self.links[at];
            links.retain(|to| change.lost.binary_search(to).is_err());
            links.extend(&change.gained);
            links.sort_unstable();
            links.dedup();
            self.states[at] = change.state;
            self.spam[at] = change.spam;
            self.fetched[at] = change.fetched;
            self.sums[at] = change.sums;
        }
        self.first = step.first;
        self.last_fetch = step.last_fetch;
        self.next_crawl = step.next_crawl;
    }

    /// Whether a page was known, in any state.
    pub(super) fn has(&self, page: usize) -> bool {
        self.states[page] != PageState::Unlinked
    }

    pub(super) fn is_crawled(&self, page: usize) -> bool {
        self.states[page] == PageState::Crawled
    }
}

impl Timeline {
    /// Loads the batches whose overwritten fetches are kept, at most `kept` of them.
    ///
    /// Cost: loading the graph, a scan of all pages, and what the batches overwrote. Memory: some 80 bytes for
    /// each page, and 4 for each link.
    pub(super) fn load(store: &Store, kept: BatchId, watch: &dyn Watch) -> Result<Self> {
        let batches = applied_batches(store)?;
        let oldest = store.counters()?.batch.saturating_sub(kept);
        // Batches that an older version ingested have no time.
        let is_kept = |pair: &[(BatchId, BatchRecord)]| matches!(pair, [before, this] if before.1.last_fetch > 0 && this.0 > oldest);
        let count = batches
            .windows(2)
            .rev()
            .take_while(|pair| is_kept(pair))
            .count();
        let kept = &batches[batches.len() - count..];
        let mut reader = Reader::load(store, watch)?;
        let before = batches.len() - count;
        let mut steps = Vec::new();
        for (at, (batch, record)) in kept.iter().enumerate().rev() {
            watch.proceed()?;
            steps.push(Step {
                batch: *batch,
                changes: reader.take_back(store, *batch)?,
                first: first_fetches(&batches[..=before + at]),
                last_fetch: record.last_fetch,
                next_crawl: next_crawl(&batches[..=before + at]),
            });
        }
        steps.reverse();
        let mut start = reader.now;
        start.first = first_fetches(&batches[..before]);
        start.last_fetch = batches[..before].last().map_or(0, |of| of.1.last_fetch);
        start.next_crawl = next_crawl(&batches[..before]);
        Ok(Self { start, steps })
    }
}

/// The state from which batches are undone, the last one first.
struct Reader {
    image: GraphImage,
    numbers: Numbering,
    now: Knowledge,
    /// Pages by the batch that first named them.
    first_seen: BTreeMap<BatchId, Vec<u32>>,
}

impl Reader {
    fn load(store: &Store, watch: &dyn Watch) -> Result<Self> {
        let image = load_image(store, ImageLinks::All, watch)?;
        let numbers = Numbering::by_url(&image, |_| true)?;
        let successors = numbers.successors(&image);
        let count = numbers.slots.len();
        let mut now = Knowledge {
            links: (0..number(count))
                .map(|page| successors.list(page).to_vec())
                .collect(),
            states: vec![PageState::Unlinked; count],
            spam: vec![false; count],
            fetched: vec![None; count],
            sums: vec![Yield::default(); count],
            ..Knowledge::default()
        };
        drop(successors);
        let mut first_seen: BTreeMap<BatchId, Vec<u32>> = BTreeMap::new();
        for entry in store.scan(&tables::PAGES)? {
            watch.proceed()?;
            let (page, record) = entry?;
            let Some(page) = image.slot(page).and_then(|slot| numbers.number(slot)) else {
                continue;
            };
            let at = page as usize;
            now.states[at] = record.state;
            now.spam[at] = record.spam;
            now.fetched[at] = record.fetched;
            first_seen.entry(record.first_seen).or_default().push(page);
        }
        let mut reader = Self {
            image,
            numbers,
            now,
            first_seen,
        };
        for entry in store.scan(&tables::YIELDS)? {
            let (key, block) = entry?;
            for (place, sums) in block.0 {
                if let Some(page) = reader.number(PageId::new(key.site, key.index(place))) {
                    reader.now.sums[page as usize] = sums;
                }
            }
        }
        Ok(reader)
    }

    fn number(&self, page: PageId) -> Option<u32> {
        let slot = self.image.slot(page)?;
        self.numbers.number(slot)
    }

    /// Returns the change of a page by the batch to what is known now, without links.
    fn change(&self, page: u32, is_fetch: bool) -> PageChange {
        let at = page as usize;
        PageChange {
            page,
            is_fetch,
            state: self.now.states[at],
            spam: self.now.spam[at],
            fetched: self.now.fetched[at],
            sums: self.now.sums[at],
            gained: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// Undoes a batch. Returns its changes, by page.
    fn take_back(&mut self, store: &Store, batch: BatchId) -> Result<Vec<PageChange>> {
        let mut changes: BTreeMap<u32, PageChange> = BTreeMap::new();
        for entry in store.scan_under(&tables::FETCH_HISTORY, &batch.to_be_bytes())? {
            let ((_, key), block) = entry?;
            for (place, previous) in block.0 {
                let Some(page) = self.number(PageId::new(key.site, key.index(place))) else {
                    continue;
                };
                let numbers = |pages: &[PageId]| {
                    let mut numbers: Vec<u32> =
                        pages.iter().filter_map(|page| self.number(*page)).collect();
                    numbers.sort_unstable();
                    numbers
                };
                let (gained, lost) = (numbers(&previous.gained), numbers(&previous.lost));
                let change = PageChange {
                    gained,
                    lost,
                    ..self.change(page, previous.is_fetch)
                };
                let at = page as usize;
                let links = &mut self.now.links[at];
                links.retain(|to| change.gained.binary_search(to).is_err());
                links.extend(&change.lost);
                links.sort_unstable();
                self.now.fetched[at] = previous.fetched;
                self.now.sums[at] = previous.sums.unwrap_or_default();
                changes.insert(page, change);
            }
        }
        let mut earlier = Vec::new();
        for entry in store.scan_under(&tables::PAGE_HISTORY, &batch.to_be_bytes())? {
            let ((_, page), previous) = entry?;
            if let Some(page) = self.number(page) {
                earlier.push((page, previous.state, previous.spam));
            }
        }
        let of_new = self.first_seen.get(&batch).cloned().unwrap_or_default();
        let new = of_new
            .iter()
            .map(|page| (*page, PageState::Unlinked, false));
        for (page, state, spam) in earlier.into_iter().chain(new) {
            let at = page as usize;
            let is_first = was_fetched(self.now.states[at]) && !was_fetched(state);
            let has_links = changes.contains_key(&page);
            let whole = self.change(page, is_first);
            let change = changes.entry(page).or_insert(whole);
            if is_first && !has_links {
                change.gained = std::mem::take(&mut self.now.links[at]);
                self.now.fetched[at] = None;
                self.now.sums[at] = Yield::default();
            }
            self.now.states[at] = state;
            self.now.spam[at] = spam;
        }
        Ok(changes.into_values().collect())
    }
}

const fn was_fetched(state: PageState) -> bool {
    matches!(
        state,
        PageState::Crawled | PageState::Gone | PageState::Alias
    )
}
