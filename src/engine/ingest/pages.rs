//! The pages pass writes the records of pages; the digests and sites passes write data derived from
//! them.

use super::events::{Bytes, Fields, group};
use super::passes::{PageEvent, PagesEvent, Passes, SiteDelta, read_page};
use super::pieces::PageUpdate;
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, PageKind, SiteId};
use seedbank_formats::ingest::{Attribute, UncrawledOutlinks};
use seedbank_store::links::{BLOCK_LEN, LinkKey};
use seedbank_store::records::{PageRecord, PageState, PreviousPage, SiteDefaults, SiteRecord};
use seedbank_store::{self, Sorted, StoreError, tables};

/// Writes the records of pages, and emits changes of their sites.
pub(super) fn pages_pass(mut events: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let mut delta = SiteDelta::default();
    let mut site = None;
    let mut changes: Vec<Option<PageChange>> = Vec::new();
    while let Some(key) = events.peek()? {
        passes.watch.proceed()?;
        let (of_block, _) = LinkKey::of_page(Fields(key).page()?);
        if site != Some(of_block.site) {
            if let Some(site) = site {
                passes.site(site, &std::mem::take(&mut delta))?;
            }
            site = Some(of_block.site);
        }
        changes.clear();
        changes.resize_with(BLOCK_LEN as usize, || None);
        while let Some(key) = events.peek()? {
            let (block, place) = LinkKey::of_page(Fields(key).page()?);
            if block != of_block {
                break;
            }
            let Some((key, value)) = events.next_entry()? else {
                break;
            };
            add_event(&mut changes, place as usize, read_page(key, value)?);
        }
        for (place, change) in (0..).zip(&mut changes) {
            let Some(change) = change.take() else {
                continue;
            };
            let page = PageId::new(of_block.site, of_block.index(place));
            change.apply(page, &mut delta, passes)?;
        }
    }
    if let Some(site) = site {
        passes.site(site, &delta)?;
    }
    Ok(())
}

/// Adds an event to the changes of a block's pages, by place.
fn add_event(changes: &mut [Option<PageChange>], place: usize, event: PagesEvent<'_>) {
    match event {
        PagesEvent::Uncrawled { places, by } => {
            for (place, change) in changes.iter_mut().enumerate() {
                if places & (1 << place) != 0 {
                    change.get_or_insert_default().uncrawled += by;
                }
            }
        }
        PagesEvent::Page(event) => {
            if let Some(change) = changes.get_mut(place) {
                change.get_or_insert_default().add(event);
            }
        }
    }
}

/// The row that a page carries from now on; `None` for no row.
struct NewRow(Option<u32>);

/// Changes of one page's record.
#[derive(Default)]
struct PageChange {
    new_local: Option<String>,
    update: Option<PageUpdate>,
    state: Option<PageState>,
    row: Option<NewRow>,
    intra: Option<i64>,
    inter: i64,
    uncrawled: i64,
    /// Attributes of the page's site; `None` if they did not change.
    site: Option<SiteDefaults>,
}

impl PageChange {
    fn add(&mut self, event: PageEvent<'_>) {
        match event {
            PageEvent::New(local) => self.new_local = Some(local.to_owned()),
            PageEvent::Update(update) => self.update = Some(update),
            PageEvent::State(state) => self.state = Some(state),
            PageEvent::Row(row) => self.row = Some(NewRow(row)),
            PageEvent::Intra(by) => self.intra = Some(self.intra.unwrap_or(0) + by),
            PageEvent::Inter(by) => self.inter += by,
            PageEvent::Inherit(given) => self.site = Some(given),
        }
    }

    fn apply(mut self, page: PageId, delta: &mut SiteDelta, passes: &mut Passes<'_>) -> Result<()> {
        let local = self.new_local.take();
        let old = match local {
            Some(_) => None,
            None => Some(passes.store.need(&tables::PAGES, &page)?),
        };
        // A new page gets the attributes of its site by an event, if there are any.
        if self.site.is_none() && old.is_some() && self.loses_own() {
            let site = passes.store.get(&tables::SITES, &page.site())?;
            self.site = Some(site.unwrap_or_default().defaults);
        }
        let mut new = self.new_record(page, old.as_ref(), local, passes.batch)?;
        if passes.forgotten.pages.contains(page.0) {
            new = PageRecord::nameless(new.first_seen);
        }
        count_changes(page, old.as_ref(), &new, &self, delta, passes)?;
        store_former(page, old.as_ref(), &new, passes)?;
        if old.as_ref() != Some(&new) {
            passes.changes.put(&tables::PAGES, &page, &new)?;
        }
        Ok(())
    }

    /// Whether the page can lose its own spam mark or quality, so that it inherits the site's.
    fn loses_own(&self) -> bool {
        let loses = |update: &PageUpdate| {
            update.gone || update.clears || update.quality == Attribute::Removed
        };
        self.update.as_ref().is_some_and(loses)
    }

    fn new_record(
        &self,
        page: PageId,
        old: Option<&PageRecord>,
        local: Option<String>,
        batch: u32,
    ) -> Result<PageRecord> {
        let mut record = old.cloned().unwrap_or_else(|| PageRecord {
            state: PageState::Known,
            ..PageRecord::unlinked(local.unwrap_or_default(), batch)
        });
        if let Some(update) = &self.update {
            record.last_seen = Some(batch);
            record.fetched = update.fetched.or(record.fetched);
            attributes(&mut record, update);
            record.earlier.clone_from(&update.times);
        }
        if let Some(site) = &self.site {
            record.inherit(site);
        }
        if let Some(state) = self.state {
            record.state = state;
        }
        if let Some(NewRow(row)) = self.row {
            record.row = row;
        }
        let uncrawled = i64::from(record.uncrawled_intra) + self.uncrawled;
        record.uncrawled_intra = u32::try_from(uncrawled).map_err(|_| StoreError::Damaged {
            table: tables::PAGES.name,
            key: page.to_string(),
            what: "the count of uncrawled targets does not match the links".to_owned(),
        })?;
        Ok(record)
    }
}

/// Applies an update. Attributes that it omits do not change, unless the page is gone or `clears` says so.
fn attributes(record: &mut PageRecord, update: &PageUpdate) {
    if update.clears || update.gone {
        record.digest = None;
        record.clicks = 0;
        record.uncrawled_given = None;
        (record.spam_given, record.quality_given) = (None, None);
        record.kind = PageKind::Page;
        record.changed = None;
        (record.spam, record.quality) = (false, None);
    }
    record.canonical = update.canonical_after(record.canonical);
    record.kind = update.kind.unwrap_or(record.kind);
    record.changed = update.changed.or(record.changed);
    record.state = update.state_after(Some(record.state));
    if let Some(spam) = update.spam {
        record.spam_given = Some(spam);
        record.spam = spam;
    }
    record.quality_given = update.quality.apply_to(record.quality_given);
    record.quality = record.quality_given.or(record.quality);
    if let Some(clicks) = update.clicks {
        record.clicks = clicks;
    }
    match update.uncrawled {
        UncrawledOutlinks::Absent => {}
        UncrawledOutlinks::Counted => record.uncrawled_given = None,
        UncrawledOutlinks::Given(count) => record.uncrawled_given = Some(count),
    }
    if update.digest.is_some() {
        record.digest = update.digest;
    }
}

fn count_changes(
    page: PageId,
    old: Option<&PageRecord>,
    new: &PageRecord,
    change: &PageChange,
    delta: &mut SiteDelta,
    passes: &mut Passes<'_>,
) -> Result<()> {
    for (record, by) in old.into_iter().map(|old| (old, -1)).chain([(new, 1)]) {
        match record.state {
            PageState::Known => delta.known += by,
            PageState::Crawled => delta.crawled += by,
            PageState::Gone => delta.gone += by,
            PageState::Resource => delta.resources += by,
            PageState::Unlinked | PageState::Alias => {}
        }
        delta.documents += by * i64::from(record.is_document());
        if record.state.is_live() && record.spam {
            delta.spam += by;
        }
        let quality = by * i64::from(record.quality());
        match record.state {
            PageState::Known => delta.known_quality += quality,
            PageState::Crawled => delta.crawled_quality += quality,
            PageState::Gone | PageState::Unlinked | PageState::Alias | PageState::Resource => {}
        }
    }
    delta.intra_links += change.intra.unwrap_or(0);
    delta.inter_links += change.inter;
    // Only digests of crawled pages count.
    let (lost, gained) = (
        old.and_then(PageRecord::counted_digest),
        new.counted_digest(),
    );
    if lost != gained {
        for (digest, by) in [(lost, -1), (gained, 1)] {
            if let Some(digest) = digest {
                let key = Bytes::default().u32(page.site().0).array(digest);
                passes.digests.push(&key, &Bytes::default().i64(by))?;
            }
        }
    }
    let was = old.map(|old| old.state);
    if was != Some(new.state) {
        match new.state {
            PageState::Crawled => passes.counts.became_crawled += 1,
            PageState::Gone => passes.counts.became_gone += 1,
            PageState::Resource => passes.counts.became_resources += 1,
            PageState::Known | PageState::Unlinked | PageState::Alias => {}
        }
    }
    // Only skipped records link to a new page that is unlinked, so it does not exist for readers.
    let is_new = old.is_none() && new.state != PageState::Unlinked;
    passes.counts.new_pages += u64::from(is_new);
    // Decides which later refreshes see a change: all readers, the site, or cover methods.
    let failures_change = change.update.as_ref().is_some_and(|of| of.failures_change);
    let other = failures_change || old.map_or(is_new, |old| has_changed(old, new));
    if other || change.intra.is_some() {
        passes.counts.changed += 1;
        passes.changed.push(page)?;
    }
    if other || change.intra.is_some() || change.uncrawled != 0 {
        delta.changed = true;
    }
    let affects_cover = failures_change || change.intra.is_some() || change.uncrawled != 0;
    if cover_inputs(old) != cover_inputs(Some(new))
        || (new.state == PageState::Crawled && affects_cover)
    {
        delta.cover_changed = true;
    }
    Ok(())
}

/// Whether the page changed for readers. Only the resulting attributes count, not whether the page
/// or its site provides them. A page without links to it does not exist for readers.
fn has_changed(old: &PageRecord, new: &PageRecord) -> bool {
    let same_batch = PageRecord {
        last_seen: old.last_seen,
        uncrawled_intra: old.uncrawled_intra,
        spam_given: old.spam_given,
        quality_given: old.quality_given,
        fetched: old.fetched,
        earlier: old.earlier.clone(),
        ..new.clone()
    };
    let is_page = |record: &PageRecord| record.state != PageState::Unlinked;
    same_batch != *old && (is_page(old) || is_page(new))
}

/// Returns the part of a page's record whose previous versions are stored.
pub(super) const fn history_of(record: &PageRecord) -> PreviousPage {
    PreviousPage {
        state: record.state,
        spam: record.spam,
        row: record.row,
    }
}

/// Stores the previous version of the page if its state, spam mark or row changed.
fn store_former(
    page: PageId,
    old: Option<&PageRecord>,
    new: &PageRecord,
    passes: &mut Passes<'_>,
) -> Result<()> {
    if let Some(was) = old.map(history_of).filter(|was| *was != history_of(new)) {
        passes.former.push(page)?;
        let key = (passes.batch, page);
        passes.changes.put(&tables::PAGE_HISTORY, &key, &was)?;
    }
    Ok(())
}

/// Returns everything in a crawled page's record that cover methods depend on, besides links within
/// the site. Its digest counts for the site as a whole.
fn cover_inputs(record: Option<&PageRecord>) -> Option<impl PartialEq> {
    let record = record.filter(|record| record.state == PageState::Crawled)?;
    let clicked = record.clicks > 0;
    let quality = record.quality();
    let uncrawled = record.uncrawled_given;
    Some((
        record.spam,
        record.kind,
        clicked,
        quality,
        uncrawled,
        record.row,
    ))
}

/// Writes the number of pages for each content digest.
pub(super) fn digests_pass(mut events: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(key) = events.peek()? {
        passes.watch.proceed()?;
        let of_digest: [u8; 20] = group(key)?;
        let mut fields = Fields(&of_digest);
        let address = (fields.site()?, fields.hash()?);
        let old = passes.store.get(&tables::DIGESTS, &address)?.unwrap_or(0);
        let mut count = i64::from(old);
        while let Some((_, value)) = events.next_under(&of_digest)? {
            count += Fields(value).i64()?;
        }
        let new = u32::try_from(count).map_err(|_| StoreError::Damaged {
            table: tables::DIGESTS.name,
            key: format!("{}", address.0),
            what: "the count does not match the pages".to_owned(),
        })?;
        if new == old {
            continue;
        }
        if new == 0 {
            passes.changes.delete(&tables::DIGESTS, &address)?;
        } else {
            passes.changes.put(&tables::DIGESTS, &address, &new)?;
        }
        let delta = SiteDelta {
            changed: true,
            with_digest: i64::from(new) - i64::from(old),
            distinct_digests: i64::from(new > 0) - i64::from(old > 0),
            ..SiteDelta::default()
        };
        passes.site(address.0, &delta)?;
    }
    Ok(())
}

/// Writes the records of sites and sums up the bank's counters.
pub(super) fn sites_pass(mut deltas: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(key) = deltas.peek()? {
        passes.watch.proceed()?;
        let of_site: [u8; 4] = group(key)?;
        let site = SiteId(u32::from_be_bytes(of_site));
        let old = passes.store.get(&tables::SITES, &site)?;
        let mut new = old.clone().unwrap_or_default();
        while let Some((_, value)) = deltas.next_under(&of_site)? {
            apply_delta(site, &mut new, seedbank_store::unpack(value)?, passes)?;
        }
        let digests = |site: &SiteRecord| (site.with_digest, site.distinct_digests);
        if old
            .as_ref()
            .is_some_and(|old| digests(old) != digests(&new))
        {
            // P_uniq changed, and with it the values of all pages.
            new.cover_changed = passes.batch;
        }
        if passes.forgotten.sites.contains(&site) {
            new.name = String::new();
            new.defaults = SiteDefaults::default();
        }
        if old.as_ref() != Some(&new) {
            passes.changes.put(&tables::SITES, &site, &new)?;
        }
    }
    Ok(())
}

fn apply_delta(
    site: SiteId,
    record: &mut SiteRecord,
    delta: SiteDelta,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let misfit = || StoreError::Damaged {
        table: tables::SITES.name,
        key: site.to_string(),
        what: "the counts do not match the pages".to_owned(),
    };
    let narrow = |count: &mut u32, by: i64| -> Result<(), StoreError> {
        *count = u32::try_from(i64::from(*count) + by).map_err(|_| misfit())?;
        Ok(())
    };
    let wide = |count: &mut u64, by: i64| -> Result<(), StoreError> {
        *count = count.checked_add_signed(by).ok_or_else(misfit)?;
        Ok(())
    };
    if let Some(name) = delta.name {
        record.name = name;
    }
    if let Some(given) = delta.given {
        record.defaults = given;
    }
    record.next_page = record.next_page.max(delta.next_page);
    record.next_row = record.next_row.max(delta.next_row);
    if delta.changed {
        record.changed = passes.batch;
    }
    if delta.cover_changed {
        record.cover_changed = passes.batch;
    }
    narrow(&mut record.known, delta.known)?;
    narrow(&mut record.crawled, delta.crawled)?;
    narrow(&mut record.gone, delta.gone)?;
    narrow(&mut record.documents, delta.documents)?;
    narrow(&mut record.resources, delta.resources)?;
    narrow(&mut record.spam, delta.spam)?;
    narrow(&mut record.with_digest, delta.with_digest)?;
    narrow(&mut record.distinct_digests, delta.distinct_digests)?;
    narrow(&mut record.rows, delta.rows)?;
    wide(&mut record.row_links, delta.row_links)?;
    wide(&mut record.intra_links, delta.intra_links)?;
    wide(&mut record.inter_links, delta.inter_links)?;
    wide(&mut record.known_quality, delta.known_quality)?;
    wide(&mut record.crawled_quality, delta.crawled_quality)?;
    // The bank's counters are the sums over sites.
    let totals = &mut passes.counters;
    wide(&mut totals.known, delta.known)?;
    wide(&mut totals.crawled, delta.crawled)?;
    wide(&mut totals.gone, delta.gone)?;
    wide(&mut totals.documents, delta.documents)?;
    wide(&mut totals.resources, delta.resources)?;
    wide(&mut totals.spam, delta.spam)?;
    wide(&mut totals.rows, delta.rows)?;
    wide(&mut totals.row_links, delta.row_links)?;
    wide(&mut totals.intra_links, delta.intra_links)?;
    wide(&mut totals.inter_links, delta.inter_links)?;
    Ok(())
}
