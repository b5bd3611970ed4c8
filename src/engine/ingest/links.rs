//! The links pass: updates the links of pages by their records, and of pages that a snapshot omits,
//! both in the order of pages.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use roaring::RoaringTreemap;

use super::aliases::{self, Resolved};
use super::canonical::{CanonicalRecord, CanonicalRecords, digest};
use super::events::{Bytes, Places, intra_event, lead_event, target_event};
use super::exchange::Shuffle;
use super::fetch_log::PageNews;
use super::page_fields::{StaleFetch, apply};
use super::passes::{PageEvent, Passes, member_event, page_event};
use super::pieces::{FailedRun, PageUpdate};
use super::site_records::PartDigests;
use super::yields::{end_page, write_history};
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::records::{Failures, PageRecord, PageState};
use seedbank_store::{Hash128, Store, StoreError, Table, Value, encode, row_hash, tables};

/// Returns the row of a site with exactly these targets; `None` if the bank does not contain it.
fn find_row(
    store: &Store,
    page: PageId,
    hash: Hash128,
    targets: &[PageId],
) -> Result<Option<RowId>> {
    let site = page.site();
    for index in store
        .get(&tables::ROW_HASHES, &(site, hash))?
        .unwrap_or_default()
    {
        let row = RowId::new(site, index);
        if store.need_row(row)? == targets {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Returns the pages of the sites of this process, by id.
fn own_pages<'a>(
    passes: &Passes<'a>,
) -> Result<impl Iterator<Item = std::result::Result<(PageId, PageRecord), StoreError>> + use<'a>> {
    let (store, exchange) = (passes.store, Arc::clone(&passes.exchange));
    let pages = if exchange.has_readers() {
        store.scan_local(&tables::PAGES)?
    } else {
        store.scan(&tables::PAGES)?
    };
    // Threads share the pages of all sites.
    let is_own = move |page: PageId| exchange.owner_of_site(page.site()) == exchange.process();
    Ok(pages.filter(move |entry| entry.as_ref().map_or(true, |(page, _)| is_own(*page))))
}

/// Processes the canonical records, and the pages whose links change because of aliases. In a
/// snapshot, crawled pages, aliases and resources without a record become gone, unless they were fetched later.
/// Stale records are skipped.
///
/// `digests` get the records.
pub(super) fn links_pass(
    records: &mut CanonicalRecords,
    passes: &mut Passes<'_>,
    digests: &mut PartDigests,
) -> Result<()> {
    let mut intra = IntraBlocks::default();
    let known = records.snapshot.then(|| own_pages(passes));
    let mut known = known.transpose()?.map(Iterator::peekable);
    let affected = std::mem::take(&mut passes.aliases.affected);
    let mut next_affected = affected.iter().map(PageId).peekable();
    while let Some(record) = records.next_record(passes.watch)? {
        passes.watch.advance(1);
        digest(&record, digests.of_site(record.page.site()))?;
        let CanonicalRecord {
            page,
            is_new,
            mut update,
            order,
            mut targets,
            failures,
            origins,
        } = record;
        let mut old = None;
        while let Some(entry) = known.as_mut().and_then(|known| {
            known.next_if(|entry| entry.as_ref().map_or(true, |(before, _)| *before <= page))
        }) {
            passes.watch.proceed()?;
            let (before, record) = entry?;
            if before == page {
                old = Some(record);
            } else {
                omit(before, record, &affected, &mut intra, passes)?;
            }
        }
        while let Some(before) = next_affected.next_if(|before| *before < page) {
            passes.watch.proceed()?;
            // The scan of a snapshot reads these pages anyway.
            if !records.snapshot {
                resolve_links_again(before, false, &mut intra, passes)?;
            }
        }
        // A page with a record is resolved with the record, not twice.
        let is_affected = next_affected.next_if_eq(&page).is_some();
        if !is_new && old.is_none() {
            old = Some(passes.store.need(&tables::PAGES, &page)?);
        }
        let digest = update.own_digest();
        let of_page = (page, old.as_ref());
        let of_bank = (passes.store, &passes.times);
        let stale = apply(&mut update, order, &mut targets, of_page, of_bank)?;
        if let (Some(StaleFetch { time, page_time }), Some(record)) = (&stale, &old) {
            passes
                .times
                .skip(passes.store, page, record, *time, *page_time)?;
        }
        if update.only_failed || stale.is_some() {
            // Later failed fetches of the page may be new.
            update = PageUpdate::failed(old.as_ref());
            targets.clear();
        }
        let answered = update
            .is_fetch()
            .then_some(update.fetched.unwrap_or(u64::MAX));
        let failed = update_failures(page, old.as_ref(), &mut update, answered, &failures, passes)?;
        let news = PageNews {
            page,
            old: old.as_ref(),
            update: &update,
            digest,
            is_dated: order > 0,
            failed: failed.last,
            origins: &origins,
        };
        passes.by_seed.add(&news, &passes.times)?;
        if update.only_failed && !failed.is_news {
            if is_affected {
                resolve_links_again(page, true, &mut intra, passes)?;
            }
            continue;
        }
        let subject = Subject {
            page,
            old,
            is_named: true,
        };
        update_page(&subject, update, (targets, is_affected), &mut intra, passes)?;
    }
    if !records.snapshot {
        for before in next_affected {
            passes.watch.proceed()?;
            resolve_links_again(before, false, &mut intra, passes)?;
        }
    }
    for entry in known.into_iter().flatten() {
        passes.watch.proceed()?;
        let (page, record) = entry?;
        omit(page, record, &affected, &mut intra, passes)?;
    }
    intra.write(passes)?;
    write_history(passes)
}

struct Subject {
    page: PageId,
    /// `None` for a new page.
    old: Option<PageRecord>,
    /// Whether the batch names it.
    is_named: bool,
}

/// Marks a crawled page, an alias or a resource that a snapshot does not name as gone, unless it was fetched
/// later; then its links may still change with the aliases (`affected`).
fn omit(
    page: PageId,
    record: PageRecord,
    affected: &RoaringTreemap,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    if !matches!(
        record.state,
        PageState::Crawled | PageState::Alias | PageState::Resource
    ) {
        return Ok(());
    }
    if passes.times.is_after_batch(&record) {
        if affected.contains(page.0) {
            resolve_links_again(page, false, intra, passes)?;
        }
        return Ok(());
    }
    let mut update = PageUpdate::GONE;
    let answered = passes.times.batch().or(Some(u64::MAX));
    update_failures(page, Some(&record), &mut update, answered, &[], passes)?;
    let subject = Subject {
        page,
        old: Some(record),
        is_named: false,
    };
    update_page(&subject, update, (Vec::new(), false), intra, passes)
}

/// Resolves the links of a page that the batch does not update. `is_named` is true if the batch names
/// it.
fn resolve_links_again(
    page: PageId,
    is_named: bool,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let subject = Subject {
        page,
        old: Some(passes.store.need(&tables::PAGES, &page)?),
        is_named,
    };
    let links = resolved_again(&subject, passes)?;
    passes.fetches.begin_page(subject.old.as_ref(), false);
    let more = set_links(&subject, links, intra, passes)?;
    passes.loss.count(page, 0, more);
    end_page(page, subject.old.as_ref(), None, 0, passes)
}

/// Resolves the links of an existing page with the aliases after the batch.
fn resolved_again(subject: &Subject, passes: &Passes<'_>) -> Result<Resolved> {
    let page = subject.page;
    let row = subject.old.as_ref().and_then(|record| record.row);
    let links = passes.store.links_of(page, row)?;
    let old = match passes.aliases.record(page, subject.is_named)? {
        Some(AliasRecord::Links(old)) => old,
        _ => AliasLinks::default(),
    };
    Ok(passes.aliases.resolve_again(page, links, &old)?)
}

/// Updates a page. `given` contains the targets of the record, and whether aliases to which the
/// page links change.
fn update_page(
    subject: &Subject,
    update: PageUpdate,
    given: (Vec<PageId>, bool),
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let (targets, is_affected) = given;
    let page = subject.page;
    let old_state = subject.old.as_ref().map(|record| record.state);
    let new_state = update.state_after(old_state);
    target_event(&mut passes.targets, page, old_state, new_state, true)?;
    // The target of an alias is no link that the page brings.
    let new_links = if update.alias {
        0
    } else {
        passes.fetches.new_among(&targets, passes.store)?
    };
    let is_fetch = update.is_fetch() && update.fetched.is_some();
    passes.fetches.begin_page(subject.old.as_ref(), is_fetch);
    let resolved = if update.links {
        // The only target of an alias is not a link.
        let given = if update.alias { Vec::new() } else { targets };
        Some(passes.aliases.resolve(page, given)?)
    } else if is_affected {
        Some(resolved_again(subject, passes)?)
    } else if old_state == Some(PageState::Alias) && new_state != PageState::Alias {
        Some(Resolved {
            links: Vec::new(),
            aliases: None,
        })
    } else {
        None
    };
    let more_links = match resolved {
        Some(resolved) => set_links(subject, resolved, intra, passes)?,
        None => 0,
    };
    let crawled = |state| i64::from(state == Some(PageState::Crawled));
    let more_pages = crawled(Some(new_state)) - crawled(old_state);
    passes.loss.count(page, more_pages, more_links);
    let old = subject.old.as_ref();
    let old_canonical = old.and_then(|old| old.canonical);
    let canonical = update.canonical_after(old_canonical);
    if canonical != old_canonical {
        let table = &tables::CANONICAL_REFERENCES;
        if let Some(to) = old_canonical {
            passes.changes.delete(table, &(to, page))?;
        }
        if let Some(to) = canonical {
            passes.changes.put(table, &(to, page), &())?;
        }
    }
    end_page(page, old, Some(&update), new_links, passes)?;
    page_event(&mut passes.pages, page, &PageEvent::Update(update))
}

/// Replaces a page's links and its alias record. Returns the change of the number of links.
fn set_links(
    subject: &Subject,
    resolved: Resolved,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<i64> {
    let page = subject.page;
    let old = passes.aliases.record(page, subject.is_named)?;
    let alias = passes.aliases.alias(page).map(AliasRecord::Alias);
    let new = alias.or(resolved.aliases.map(AliasRecord::Links));
    let Passes {
        changes, targets, ..
    } = passes;
    let emit = |to, begins| lead_event(targets, to, begins);
    aliases::write(changes, page, old.as_ref(), new.as_ref(), emit)?;
    let is_here = |target: &&PageId| target.site() == page.site();
    let (here, elsewhere): (Vec<&PageId>, Vec<&PageId>) = resolved.links.iter().partition(is_here);
    let here = here.into_iter().map(|target| target.index()).collect();
    let elsewhere: Vec<PageId> = elsewhere.into_iter().copied().collect();
    let more = intra.replace(page, here, passes)?;
    let row = subject.old.as_ref().and_then(|record| record.row);
    Ok(more + inter_links(page, row, &elsewhere, passes)?)
}

/// Replaces a page's links to other sites. Returns the change of their number.
fn inter_links(
    page: PageId,
    old_row: Option<u32>,
    new: &[PageId],
    passes: &mut Passes<'_>,
) -> Result<i64> {
    let old_row = old_row.map(|index| RowId::new(page.site(), index));
    let old = match old_row {
        Some(row) => passes.store.need_row(row)?,
        None => Vec::new(),
    };
    if old == new {
        return Ok(0);
    }
    passes.counts.links_added += difference(new, &old).count() as u64;
    passes.counts.links_removed += difference(&old, new).count() as u64;
    passes
        .fetches
        .add_links(difference(new, &old), difference(&old, new));
    if let Some(row) = old_row {
        member_event(&mut passes.members, row, page.index(), false)?;
    }
    let more = delta(old.len(), new.len());
    page_event(&mut passes.pages, page, &PageEvent::Inter(more))?;
    if new.is_empty() {
        page_event(&mut passes.pages, page, &PageEvent::Row(None))?;
        return Ok(more);
    }
    // An equal row of the site is shared; otherwise the rows pass creates one.
    let hash = row_hash(new);
    if let Some(row) = find_row(passes.store, page, hash, new)? {
        member_event(&mut passes.members, row, page.index(), true)?;
        page_event(&mut passes.pages, page, &PageEvent::Row(Some(row.index())))?;
        return Ok(more);
    }
    let key = Bytes::default()
        .u32(page.site().0)
        .array(hash)
        .u32(page.index());
    let mut content = Vec::with_capacity(new.len() * 8);
    for target in new {
        content.extend_from_slice(&target.0.to_be_bytes());
    }
    passes.new_rows.push(&key, &content)?;
    Ok(more)
}

// Intra-site links, in blocks of neighbouring pages, in the order of pages.

/// The block of `intra` that the pass has reached, and blocks that are complete.
#[derive(Default)]
pub(super) struct IntraBlocks {
    at: Option<LinkDelta<u32>>,
    pending: PendingBlocks<u32>,
}

impl IntraBlocks {
    /// Replaces the links of a page within its site. Returns the change of their number. Pages come
    /// in ascending order.
    pub(super) fn replace(
        &mut self,
        page: PageId,
        targets: Vec<u32>,
        passes: &mut Passes<'_>,
    ) -> Result<i64> {
        let (key, place) = LinkKey::of_page(page);
        if self.at.as_ref().is_none_or(|at| at.key != key) {
            self.finish_block();
            if self.pending.is_full() {
                self.write(passes)?;
            }
            self.at = Some(LinkDelta::new(
                key,
                passes.store.links(&tables::INTRA, key)?,
            ));
        }
        let Some(at) = &mut self.at else {
            return Ok(0);
        };
        let [gained, lost] = at.replace(place, targets);
        if gained + lost > 0 {
            let [more, fewer] = at.last_changes(gained, lost);
            let page_at = |index| PageId::new(page.site(), index);
            passes
                .fetches
                .add_links(more.map(page_at), fewer.map(page_at));
            passes.counts.links_added += gained as u64;
            passes.counts.links_removed += lost as u64;
            let event = PageEvent::Intra(delta(lost, gained));
            page_event(&mut passes.pages, page, &event)?;
        }
        Ok(delta(lost, gained))
    }

    fn finish_block(&mut self) {
        if let Some(block) = self.at.take().filter(|block| !block.is_unchanged()) {
            self.pending.push(block);
        }
    }

    /// Writes the blocks, and emits the changes of their targets.
    pub(super) fn write(&mut self, passes: &mut Passes<'_>) -> Result<()> {
        self.finish_block();
        write_blocks(
            &tables::INTRA,
            std::mem::take(&mut self.pending),
            passes,
            intra_event,
        )
    }
}

// Blocks of links in which some lists are replaced: changes of each target, and the new blocks.

/// Maximum number and size of blocks that are processed in parallel.
const MAX_BLOCKS: usize = 64;
const MAX_BYTES: usize = 16 << 20;

/// Changed blocks, to be processed in parallel.
pub(super) struct PendingBlocks<T> {
    blocks: Vec<LinkDelta<T>>,
    bytes: usize,
}

impl<T> Default for PendingBlocks<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            bytes: 0,
        }
    }
}

impl<T: Link> PendingBlocks<T> {
    pub(super) fn push(&mut self, block: LinkDelta<T>) {
        self.bytes += block.bytes();
        self.blocks.push(block);
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= MAX_BLOCKS || self.bytes >= MAX_BYTES
    }
}

/// Writes blocks of a table, and calls `emit` with the changes of their targets.
pub(super) fn write_blocks<T: Link + Send + Sync>(
    table: &'static Table<LinkKey, LinkBlock<T>>,
    pending: PendingBlocks<T>,
    passes: &mut Passes<'_>,
    emit: impl Fn(&mut Shuffle, T, LinkKey, Places) -> Result<()>,
) -> Result<()>
where
    LinkBlock<T>: Value,
{
    let outcomes = pending
        .blocks
        .into_par_iter()
        .map(|block| block.outcome(table));
    for outcome in outcomes.collect::<Result<Vec<_>, _>>()? {
        for (target, places) in outcome.targets {
            emit(&mut passes.targets, target, outcome.key, places)?;
        }
        match outcome.encoded {
            Some(encoded) => passes.changes.put_encoded(table, &outcome.key, &encoded)?,
            None => passes.changes.delete(table, &outcome.key)?,
        }
    }
    Ok(())
}

struct Outcome<T> {
    key: LinkKey,
    /// The new block; `None` if it is empty.
    encoded: Option<Vec<u8>>,
    /// Changes of each target, ascending.
    targets: Vec<(T, Places)>,
}

/// A block in which some lists are replaced.
pub(super) struct LinkDelta<T> {
    pub(super) key: LinkKey,
    old: LinkBlock<T>,
    new: LinkBlock<T>,
    /// Target, place, and whether it was gained, encoded by [`event`].
    events: Vec<u128>,
}

impl<T: Link> LinkDelta<T> {
    pub(super) fn new(key: LinkKey, old: LinkBlock<T>) -> Self {
        Self {
            key,
            new: old.clone(),
            old,
            events: Vec::new(),
        }
    }

    /// Replaces a list. Returns the numbers of targets gained and lost.
    pub(super) fn replace(&mut self, place: u32, targets: Vec<T>) -> [usize; 2] {
        let before = self.events.len();
        let old = self.old.at(place);
        let gained = difference(&targets, old);
        self.events
            .extend(gained.map(|target| event(target, place, true)));
        let lost_from = self.events.len();
        let lost = difference(old, &targets);
        self.events
            .extend(lost.map(|target| event(target, place, false)));
        let counts = [lost_from - before, self.events.len() - lost_from];
        if counts != [0, 0] {
            self.new.set(place, targets);
        }
        counts
    }

    /// Returns the targets that the last replaced list gained and lost, given their numbers.
    pub(super) fn last_changes(
        &self,
        gained: usize,
        lost: usize,
    ) -> [impl Iterator<Item = T> + use<'_, T>; 2] {
        let end = self.events.len();
        let targets = |range: std::ops::Range<usize>| {
            let events = self.events.get(range).unwrap_or_default();
            events.iter().filter_map(|event| target_of(*event))
        };
        [
            targets(end - gained - lost..end - lost),
            targets(end - lost..end),
        ]
    }

    /// Whether no list has changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.events.is_empty()
    }

    fn bytes(&self) -> usize {
        let links = |block: &LinkBlock<T>| block.lists().map(|list| list.1.len()).sum::<usize>();
        (links(&self.old) + links(&self.new)) * size_of::<T>()
            + self.events.len() * size_of::<u128>()
    }

    fn outcome(mut self, table: &Table<LinkKey, LinkBlock<T>>) -> Result<Outcome<T>, StoreError>
    where
        LinkBlock<T>: Value,
    {
        self.events.sort_unstable();
        let mut targets = Vec::new();
        // A new block needs no search; one that only gains needs none in its old version.
        let old = self.old.distinct();
        let mut new: Option<Vec<T>> = None;
        // Events are sorted, so those of one target are adjacent.
        for of_target in self
            .events
            .chunk_by(|a, b| a >> PLACE_BITS == b >> PLACE_BITS)
        {
            let mut places = Places::default();
            for event in of_target {
                let (place, gained) = place_of(*event);
                if gained {
                    places.gained |= 1 << place;
                } else {
                    places.lost |= 1 << place;
                }
            }
            let Some(target) = target_of(of_target[0]) else {
                continue;
            };
            let was = places.lost != 0 || !old.is_empty() && old.binary_search(&target).is_ok();
            let is = places.gained != 0
                || new
                    .get_or_insert_with(|| self.new.distinct())
                    .binary_search(&target)
                    .is_ok();
            places.block = (was != is).then_some(is);
            targets.push((target, places));
        }
        let mut encoded = (!self.new.is_empty()).then(Vec::new);
        if let Some(encoded) = &mut encoded {
            encode(table, &self.key, &self.new, encoded)?;
        }
        Ok(Outcome {
            key: self.key,
            encoded,
            targets,
        })
    }
}

/// Number of bits of an event below its target: the place, and one bit for whether it was gained.
const PLACE_BITS: u32 = 8;

fn event<T: Link>(target: T, place: u32, gained: bool) -> u128 {
    let (high, low) = target.halves();
    let target = u128::from(high) << 32 | u128::from(low);
    target << PLACE_BITS | u128::from(place) << 1 | u128::from(gained)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "event() encoded both halves in 32 bits"
)]
fn target_of<T: Link>(event: u128) -> Option<T> {
    let target = event >> PLACE_BITS;
    T::join((target >> 32) as u32, target as u32)
}

fn place_of(event: u128) -> (u32, bool) {
    let low = event.to_le_bytes()[0];
    (u32::from(low >> 1), low & 1 == 1)
}

/// Returns the entries of one ascending list that the other does not contain.
pub(super) fn difference<T: Ord + Copy>(list: &[T], other: &[T]) -> impl Iterator<Item = T> {
    let missing = |one: &&T| other.is_empty() || other.binary_search(one).is_err();
    list.iter().filter(missing).copied()
}

#[expect(
    clippy::cast_possible_wrap,
    reason = "lengths of lists in memory are far below 2^63"
)]
pub(super) fn delta(old: usize, new: usize) -> i64 {
    new as i64 - old as i64
}

// Failed fetches of pages.
//
// A failed fetch changes neither the state nor the links of its page. The bank counts those after the last
// fetch that did not fail: one that found the page crawled, redirected or gone ends the count. Within a
// batch all of them count, besides the record of the page, each second once. A failed fetch is stale if the
// page was fetched at the same second or later, or if a later one is counted already. So the same log, read
// twice, counts once.

/// Failed fetches of a page in the input.
#[derive(Clone, Copy, Default)]
pub(super) struct FailedNews {
    /// Whether any of them are new.
    pub(super) is_news: bool,
    /// The time of the last one that is not stored yet, in seconds. A later fetch of the batch may not have
    /// failed.
    pub(super) last: Option<u64>,
}

/// Updates the failed fetches of a page. `answered` is the time of an update that reports a fetch,
/// else `None`; `runs` are the failed fetches in the input. Returns what is new among `runs`.
pub(super) fn update_failures(
    page: PageId,
    old: Option<&PageRecord>,
    update: &mut PageUpdate,
    answered: Option<u64>,
    runs: &[FailedRun],
    passes: &mut Passes<'_>,
) -> Result<FailedNews> {
    let stored = match old {
        Some(_) if passes.failures.any => passes.store.get(&tables::FAILURES, &page)?,
        _ => None,
    };
    if stored.is_none() && runs.is_empty() {
        return Ok(FailedNews::default());
    }
    let fetched = old.and_then(|record| record.fetched);
    let mut new = match answered {
        Some(time) => stored.and_then(|failures| failures.after(time)),
        None => stored,
    };
    let mut found: Vec<Failures> = runs
        .iter()
        .filter_map(|run| run.resolve(&passes.times))
        .collect();
    found.sort_unstable_by_key(|run| (run.last, run.status, run.half_days));
    let mut news = FailedNews::default();
    for run in found {
        // Those after the last fetch that did not fail, which may be in the same batch.
        let all = new.map_or(run, |failures| failures.and(run));
        let all = fetched
            .max(answered)
            .map_or(Some(all), |time| all.after(time));
        let last = stored.map(|failures| failures.last);
        // What is counted already is stale, except for another result of the last one.
        let is_stale = fetched.is_some_and(|time| run.last <= time)
            || last.is_some_and(|last| run.last < last) && all == new;
        if let (Some(record), true) = (old, is_stale) {
            let page_time = fetched.max(last).unwrap_or(0);
            passes
                .times
                .skip(passes.store, page, record, run.last, page_time)?;
            continue;
        }
        if Some(run.last) > last {
            news.last = news.last.max(Some(run.last));
        }
        news.is_news |= all.is_some();
        new = all;
    }
    passes.failures.failed += u64::from(news.is_news);
    let is_known = old.is_some_and(|old| old.state == PageState::Known);
    if news.is_news && is_known && stored.is_none() && answered.is_none() {
        passes.fetches.add_first(None);
    }
    if new != stored {
        update.failures_change = true;
        match new {
            Some(failures) => passes.changes.put(&tables::FAILURES, &page, &failures)?,
            None => passes.changes.delete(&tables::FAILURES, &page)?,
        }
        let more = i64::from(new.is_some()) - i64::from(stored.is_some());
        let failing = passes.failures.failing.checked_add_signed(more);
        passes.failures.failing = failing.ok_or_else(|| StoreError::Damaged {
            table: tables::FAILURES.name,
            key: page.to_string(),
            what: "the count of the last batch does not match".to_owned(),
        })?;
    }
    Ok(news)
}
