//! Merges the records of a page by field.
//!
//! Each field is taken from the latest record that states it; of several at the same time, the greatest value counts. A
//! page that is gone loses all fields stated before. Merging is commutative, associative and idempotent, so the result
//! depends only on the set of records, not on their order or their division into batches.
//!
//! Records are merged three times by the same function: those of a portion when it is collected, those of a batch, and
//! these with the page in the bank.
//!
//! A record without a time is earlier than all with one in its batch, and gives what they do not state at their time. A
//! batch without times has its own time; at that time it wins over the bank.

use seedbank_algorithms::page::{PageId, PageKind};
use seedbank_formats::ingest::{Attribute, UncrawledOutlinks};
use seedbank_store::aliases::AliasRecord;
use seedbank_store::records::{PageField, PageRecord, PageState};
use seedbank_store::{Hash128, Store, StoreError, tables};
use serde::{Deserialize, Serialize};

use super::fetch_times::FetchTimes;
use super::pieces::{LinkOrder, LinkSum, PageUpdate};
use seedbank_algorithms::yields::Yield;

/// What a fetch found; of several at the same time the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub(super) enum Found {
    /// No fetch.
    #[default]
    Nothing,
    Gone,
    /// An alias, and the order of its target.
    Alias(LinkOrder),
    Page,
}

/// A value that a record states, after its time.
type Stated<T> = Option<(u64, T)>;

/// The canonical page that a page names, with the order of its URL; `None` if it names none.
pub(super) type Canonical = Option<(LinkOrder, PageId)>;

/// Removes a value that was stated before the page was gone.
fn left<T>(stated: Stated<T>, is_gone: bool, gone: u64) -> Stated<T> {
    stated.filter(|(at, _)| !is_gone && *at >= gone)
}

/// The fields of a page as its records state them. Times are ascending numbers; 0 means that there is no time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct PageFields {
    pub(super) found: (u64, Found),
    /// The last time that the page was gone.
    gone: u64,
    pub(super) links: Stated<LinkOrder>,
    digest: Stated<Hash128>,
    spam: Stated<bool>,
    clicks: Stated<u64>,
    uncrawled: Stated<Option<u32>>,
    quality: Stated<Option<u16>>,
    kind: Stated<PageKind>,
    /// A record with links states this too.
    pub(super) canonical: Stated<Canonical>,
    /// The last time at which the content changed; 0 if none is known.
    changed: u64,
    /// Sums over fetches; they count only with the fetch that counts.
    sums: (u64, Option<[u64; 2]>),
}

impl PageFields {
    /// Returns what a record states.
    pub(super) fn of_update(update: &PageUpdate, order: u64) -> Self {
        let time = |field| {
            let own = update.times.iter().find(|(of, _)| *of == field);
            own.map_or(order, |(_, time)| *time)
        };
        let links = update.order.unwrap_or_default();
        let found = match update {
            _ if update.gone => Found::Gone,
            _ if update.alias => Found::Alias(links),
            _ if update.crawled => Found::Page,
            _ => Found::Nothing,
        };
        let gone = update.times.iter().find(|(of, _)| *of == PageField::Gone);
        let has_links = update.links && !update.gone;
        Self {
            found: (if found == Found::Nothing { 0 } else { order }, found),
            gone: gone.map_or(if update.gone { order } else { 0 }, |(_, time)| *time),
            links: has_links.then(|| {
                let links = if update.alias {
                    LinkOrder::default()
                } else {
                    links
                };
                (time(PageField::Outlinks), links)
            }),
            digest: update
                .digest
                .map(|digest| (time(PageField::Digest), digest)),
            spam: update.spam.map(|spam| (time(PageField::Spam), spam)),
            clicks: update
                .clicks
                .map(|clicks| (time(PageField::Clicks), clicks)),
            uncrawled: match update.uncrawled {
                UncrawledOutlinks::Absent => None,
                UncrawledOutlinks::Counted => Some(None),
                UncrawledOutlinks::Given(count) => Some(Some(count)),
            }
            .map(|count| (time(PageField::UncrawledOutlinks), count)),
            quality: match update.quality {
                Attribute::Absent => None,
                Attribute::Removed => Some(None),
                Attribute::Given(quality) => Some(Some(quality)),
            }
            .map(|quality| (time(PageField::Quality), quality)),
            kind: update.kind.map(|kind| (time(PageField::Kind), kind)),
            canonical: match update.canonical {
                Attribute::Absent => has_links.then(|| (time(PageField::Outlinks), None)),
                Attribute::Removed => Some((time(PageField::Canonical), None)),
                Attribute::Given(to) => Some((time(PageField::Canonical), Some(to))),
            },
            changed: update.changed.unwrap_or(0),
            sums: (order, update.sums.map(|sums| [sums.days, sums.new])),
        }
    }

    /// Returns what the records of a page of the bank stated. Orders of links are left out: only those of equal times are
    /// compared.
    fn of_page(page: &PageRecord) -> Self {
        fn stated<T>(page: &PageRecord, field: PageField, value: Option<T>) -> Stated<T> {
            let time = page.time_of(field).map(dated);
            // The attributes of a page that was never fetched have no time.
            let time = time.or((page.fetched.is_none() && value.is_some()).then_some(0));
            time.zip(value)
        }
        let found = match page.state {
            PageState::Gone => Found::Gone,
            PageState::Alias => Found::Alias(LinkOrder::default()),
            PageState::Crawled | PageState::Resource => Found::Page,
            PageState::Known | PageState::Unlinked => Found::Nothing,
        };
        Self {
            found: (page.fetched.map_or(0, dated), found),
            gone: page.time_of(PageField::Gone).map_or(0, dated),
            links: stated(page, PageField::Outlinks, Some(LinkOrder::default()))
                .filter(|(time, _)| *time > 0),
            digest: stated(page, PageField::Digest, page.digest),
            spam: stated(page, PageField::Spam, page.spam_given),
            clicks: stated(
                page,
                PageField::Clicks,
                page.is_stated(PageField::Clicks).then_some(page.clicks),
            ),
            uncrawled: stated(
                page,
                PageField::UncrawledOutlinks,
                page.is_stated(PageField::UncrawledOutlinks)
                    .then_some(page.uncrawled_given),
            ),
            quality: stated(
                page,
                PageField::Quality,
                page.is_stated(PageField::Quality)
                    .then_some(page.quality_given),
            ),
            kind: stated(page, PageField::Kind, Some(page.kind)).filter(|(time, _)| *time > 0),
            canonical: stated(
                page,
                PageField::Canonical,
                Some(page.canonical.map(|to| (LinkOrder::default(), to))),
            )
            .filter(|(time, _)| *time > 0),
            changed: page.changed.map_or(0, dated),
            sums: (0, None),
        }
    }

    /// Returns what the records of both state together.
    pub(super) fn merge(&self, other: &Self) -> Self {
        Self {
            found: self.found.max(other.found),
            gone: self.gone.max(other.gone),
            links: self.links.max(other.links),
            digest: self.digest.max(other.digest),
            spam: self.spam.max(other.spam),
            clicks: self.clicks.max(other.clicks),
            uncrawled: self.uncrawled.max(other.uncrawled),
            quality: self.quality.max(other.quality),
            kind: self.kind.max(other.kind),
            canonical: self.canonical.max(other.canonical),
            changed: self.changed.max(other.changed),
            sums: self.sums.max(other.sums),
        }
    }

    /// Replaces every time.
    fn with_times(&self, time: impl Fn(u64) -> u64) -> Self {
        fn at<T>(stated: Stated<T>, time: impl Fn(u64) -> u64) -> Stated<T> {
            stated.map(|(at, value)| (time(at), value))
        }
        Self {
            found: (time(self.found.0), self.found.1),
            gone: time(self.gone),
            links: at(self.links, &time),
            digest: at(self.digest, &time),
            spam: at(self.spam, &time),
            clicks: at(self.clicks, &time),
            uncrawled: at(self.uncrawled, &time),
            quality: at(self.quality, &time),
            kind: at(self.kind, &time),
            canonical: at(self.canonical, &time),
            changed: if self.changed == 0 {
                0
            } else {
                time(self.changed)
            },
            sums: (time(self.sums.0), self.sums.1),
        }
    }

    /// Removes the fields that were stated before the page was gone; all of them if it is gone.
    pub(super) fn settled(&self) -> Self {
        let is_gone = self.found.1 == Found::Gone;
        Self {
            links: left(self.links, is_gone, self.gone),
            digest: left(self.digest, is_gone, self.gone),
            spam: left(self.spam, is_gone, self.gone),
            clicks: left(self.clicks, is_gone, self.gone),
            uncrawled: left(self.uncrawled, is_gone, self.gone),
            quality: left(self.quality, is_gone, self.gone),
            kind: left(self.kind, is_gone, self.gone),
            canonical: left(self.canonical, is_gone, self.gone),
            changed: if self.changed < self.gone {
                0
            } else {
                self.changed
            },
            ..*self
        }
    }

    fn time_of(&self, field: PageField) -> Option<u64> {
        match field {
            PageField::Outlinks => self.links.map(|of| of.0),
            PageField::Digest => self.digest.map(|of| of.0),
            PageField::Spam => self.spam.map(|of| of.0),
            PageField::Clicks => self.clicks.map(|of| of.0),
            PageField::UncrawledOutlinks => self.uncrawled.map(|of| of.0),
            PageField::Quality => self.quality.map(|of| of.0),
            PageField::Kind => self.kind.map(|of| of.0),
            PageField::Canonical => self.canonical.map(|of| of.0),
            PageField::Gone => Some(self.gone).filter(|at| *at > 0),
            PageField::Undated | PageField::NoOutlinks => None,
        }
    }

    /// Returns the record that states this, with its time. Of its links and its target it has the order alone.
    pub(super) fn to_update(self) -> (PageUpdate, u64) {
        let fields = PageField::ALL.into_iter();
        let times = fields.filter_map(|field| Some((field, self.time_of(field)?)));
        let order = match self.found {
            (_, Found::Nothing) => times.clone().map(|(_, at)| at).max().unwrap_or(0),
            (order, _) => order,
        };
        let is_gone = self.found.1 == Found::Gone;
        // Links state that there is no canonical page.
        let implied = self.links.map(|of| (of.0, None));
        let times = times.filter(|(field, at)| match field {
            PageField::Canonical if self.canonical == implied => false,
            PageField::Gone => *at != order || !is_gone,
            _ => *at != order,
        });
        let of_alias = match self.found.1 {
            Found::Alias(to) => Some(to),
            _ => None,
        };
        let mut update = PageUpdate {
            links: self.links.is_some() || is_gone,
            crawled: self.found.1 == Found::Page,
            gone: is_gone,
            alias: of_alias.is_some(),
            kind: None,
            order: of_alias.or(self.links.map(|of| of.1)),
            times: times.collect(),
            ..PageUpdate::NAMED
        };
        let sums = self.sums.1.filter(|_| self.sums.0 == self.found.0);
        update.sums = sums.map(|[days, new]| Yield { days, new });
        let old = Self {
            canonical: implied,
            ..Self::default()
        };
        self.attributes(&mut update, &old);
        (update, order)
    }

    /// Sets the attributes of an update that differ from those of a page.
    fn attributes(&self, update: &mut PageUpdate, old: &Self) {
        fn new<T: Copy + PartialEq>(stated: Stated<T>, old: Stated<T>) -> Option<T> {
            stated.filter(|_| stated != old).map(|of| of.1)
        }
        update.digest = new(self.digest, old.digest);
        update.spam = new(self.spam, old.spam);
        update.clicks = new(self.clicks, old.clicks);
        update.uncrawled = match new(self.uncrawled, old.uncrawled) {
            None => UncrawledOutlinks::Absent,
            Some(None) => UncrawledOutlinks::Counted,
            Some(Some(count)) => UncrawledOutlinks::Given(count),
        };
        update.quality = match new(self.quality, old.quality) {
            None => Attribute::Absent,
            Some(None) => Attribute::Removed,
            Some(Some(quality)) => Attribute::Given(quality),
        };
        update.kind = new(self.kind, old.kind);
        update.changed = Some(self.changed).filter(|at| *at > 0 && *at != old.changed);
        update.canonical = match new(self.canonical, old.canonical) {
            None => Attribute::Absent,
            Some(None) => Attribute::Removed,
            Some(Some(to)) => Attribute::Given(to),
        };
    }

    /// Whether an attribute of a page is no longer stated.
    fn loses_attribute(&self, old: &Self) -> bool {
        let lost = |field| self.time_of(field).is_none() && old.time_of(field).is_some();
        let attributes = PageField::ALL.into_iter();
        attributes
            .filter(|field| !matches!(field, PageField::Outlinks | PageField::Gone))
            .any(lost)
            || self.changed == 0 && old.changed > 0
    }
}

impl PageUpdate {
    /// Adds the latest of the canonical pages that records with these times name. `order` is the time of the update.
    pub(super) fn add_canonicals(
        &mut self,
        order: u64,
        named: impl Iterator<Item = (u64, Canonical)>,
    ) {
        let mut fields = PageFields::of_update(self, order);
        let latest = named.max();
        if latest < fields.canonical {
            return;
        }
        fields.canonical = latest;
        let Some((at, canonical)) = fields.settled().canonical else {
            return;
        };
        self.canonical = canonical.map_or(Attribute::Removed, Attribute::Given);
        if at != order {
            self.times.push((PageField::Canonical, at));
        }
    }
}

/// Records of one page, merged.
#[derive(Default)]
pub(super) struct MergedRecords<T> {
    all: PageFields,
    /// Each record, and where its targets are.
    each: Vec<(PageFields, bool, T)>,
}

impl<T> MergedRecords<T> {
    pub(super) fn add(&mut self, update: &PageUpdate, order: u64, targets: T) {
        let fields = PageFields::of_update(update, order);
        self.all = self.all.merge(&fields);
        self.each.push((fields, update.alias, targets));
    }

    /// Returns the record that states what all do, its time, and whose targets it has. With `is_final`, no other records
    /// of the page follow.
    pub(super) fn finish(self, is_final: bool) -> (PageUpdate, u64, Option<T>) {
        let all = if is_final || self.all.found.1 != Found::Gone {
            self.all.settled()
        } else {
            // A later part of the batch can have a fetch at the same time, which counts with its attributes.
            PageFields {
                links: None,
                ..self.all
            }
        };
        let (update, order) = all.to_update();
        let targets = self.each.into_iter().find(|(fields, is_alias, _)| {
            if update.alias {
                fields.found == all.found
            } else {
                // An alias has no links.
                !is_alias && all.links.is_some() && fields.links == all.links
            }
        });
        (update, order, targets.map(|(_, _, targets)| targets))
    }
}

// The page in the bank. Times are even numbers there, so that a batch without times can be later than the same second.

const fn dated(seconds: u64) -> u64 {
    (seconds + 1) * 2
}

/// A record of a fetch before that of its page, which gives nothing that newer records do not state.
pub(super) struct StaleFetch {
    /// The times of the record and of the page, in seconds.
    pub(super) time: u64,
    pub(super) page_time: u64,
}

/// Returns whether what a record found counts, and not what is known of the page. `order` is the record's time; 0 for that
/// of the batch.
pub(super) fn is_latest(
    store: &Store,
    page: PageId,
    old: Option<&PageRecord>,
    (order, found): (u64, Found),
    times: &FetchTimes,
) -> Result<bool, StoreError> {
    let (Some(time), Some(record)) = (times.of_record(order, true), old) else {
        return Ok(true);
    };
    let Some(fetched) = record.fetched else {
        return Ok(true);
    };
    if time != fetched || order == 0 {
        return Ok(time >= fetched);
    }
    let mut known = PageFields::of_page(record).found.1;
    if let (Found::Alias(..), Found::Alias(..)) = (known, found)
        && let Some(to) = store.alias(page)?
    {
        known = Found::Alias(links_order(store, &[to])?);
    }
    Ok(found >= known)
}

/// Merges a record, whose time is `order`, with the page in the bank: the update keeps what counts, and gets the times of all
/// fields of the page. Returns the record if it is stale.
pub(super) fn apply(
    update: &mut PageUpdate,
    order: u64,
    targets: &mut Vec<PageId>,
    (page, old): (PageId, Option<&PageRecord>),
    (store, times): (&Store, &FetchTimes),
) -> Result<Option<StaleFetch>, StoreError> {
    let Some(batch) = times.batch() else {
        // Records that remove forgotten pages have no times.
        let kept = old.filter(|_| !update.gone);
        update.times = kept.map_or_else(Vec::new, |old| old.earlier.clone());
        update.kind = kept.map(|old| old.kind);
        return Ok(None);
    };
    let fetched = old.and_then(|old| old.fetched);
    let time = times.of_record(order, update.is_fetch());
    let base = match time {
        Some(_) if order > 0 => order * 2,
        Some(_) => dated(batch) + 1,
        // Attributes alone always count, and have the time of the page.
        None => fetched.map_or(0, dated) + 1,
    };
    let stated = PageFields::of_update(update, order);
    let mut new = stated.with_times(|at| if at == 0 { base } else { at * 2 });
    if stated.gone == 0 && !update.gone {
        new.gone = 0;
    }
    let mut known = old.map(PageFields::of_page).unwrap_or_default();
    // No links are least, whatever the page has.
    if let (Some(links), Some(old_links), Some(record)) = (new.links, &mut known.links, old)
        && links.0 == old_links.0
        && links.1 != LinkOrder::default()
    {
        old_links.1 = links_order(store, &given_links(store, page, record)?)?;
    }
    if let (Some((time, Some(_))), Some((old_time, Some((order, to))))) =
        (new.canonical, &mut known.canonical)
        && time == *old_time
    {
        *order = links_order(store, &[*to])?;
    }
    let is_fetch = update.is_fetch();
    let counts = is_fetch && is_latest(store, page, old, (order, new.found.1), times)?;
    let mut all = known.merge(&new);
    all.found = if counts { new.found } else { known.found };
    if !is_fetch && known.found.1 == Found::Gone {
        // It is known again.
        all.found.1 = Found::Nothing;
    }
    let all = all.settled();
    let has_changed = PageFields {
        sums: known.sums,
        ..all
    } != known;
    if let (Some(time), Some(page_time)) = (time, fetched)
        && time < page_time
        && !has_changed
    {
        return Ok(Some(StaleFetch { time, page_time }));
    }
    let takes_links = all.links != known.links;
    let keeps_targets = if update.alias {
        counts
    } else {
        takes_links && all.links == new.links
    };
    if !keeps_targets {
        targets.clear();
    }
    if is_fetch && !counts {
        (update.crawled, update.gone, update.alias) = (false, false, false);
        (update.is_earlier, update.sums) = (true, None);
    }
    update.links = takes_links || update.alias || update.gone;
    update.fetched = time.filter(|_| counts);
    update.clears = update.gone || all.loses_attribute(&known);
    let old_attributes = if update.clears {
        PageFields::default()
    } else {
        known
    };
    all.attributes(update, &old_attributes);
    update.changed = update.changed.map(|at| at / 2 - 1);
    update.kind = Some(all.kind.map_or(PageKind::Page, |of| of.1));
    let fetched = update.fetched.or(fetched);
    let mut record = PageRecord {
        state: update.state_after(old.map(|old| old.state)),
        fetched,
        digest: all.digest.map(|of| of.1),
        spam_given: all.spam.map(|of| of.1),
        clicks: all.clicks.map_or(0, |of| of.1),
        uncrawled_given: all.uncrawled.and_then(|of| of.1),
        quality_given: all.quality.and_then(|of| of.1),
        canonical: all.canonical.and_then(|of| of.1).map(|of| of.1),
        ..PageRecord::unlinked(String::new(), 0)
    };
    let is_undated = if counts {
        order == 0
    } else {
        old.is_some_and(|old| is_undated(&old.earlier))
    };
    record.set_times(is_undated, |field| {
        // The attributes of a page that was fetched for the first time have its time.
        let at = all.time_of(field)?;
        Some(if at < 2 {
            fetched.unwrap_or(0)
        } else {
            at / 2 - 1
        })
    });
    update.times = record.earlier;
    Ok(None)
}

/// Whether the last fetch of a page with these times has that of its batch.
pub(super) fn is_undated(times: &[(PageField, u64)]) -> bool {
    times.contains(&(PageField::Undated, 0))
}

/// Returns the links that the records of a page stated, which differ from those that count if some are aliases.
pub(super) fn given_links(
    store: &Store,
    page: PageId,
    record: &PageRecord,
) -> Result<Vec<PageId>, StoreError> {
    let mut links = store.links_of(page, record.row)?;
    if let Some(AliasRecord::Links(aliases)) = store.get(&tables::ALIASES, &page)? {
        links.retain(|to| aliases.reached.binary_search(to).is_err());
        links.extend(aliases.aliases);
    }
    Ok(links)
}

/// Returns the order of a list of links to pages of the bank.
fn links_order(store: &Store, links: &[PageId]) -> Result<LinkOrder, StoreError> {
    let mut sum = LinkSum::default();
    for page in links {
        let site = store.need(&tables::SITES, &page.site())?;
        sum.add_url(&site.name, &store.need(&tables::PAGES, page)?.local);
    }
    Ok(sum.order())
}

#[cfg(test)]
#[path = "page_fields_tests.rs"]
mod tests;
