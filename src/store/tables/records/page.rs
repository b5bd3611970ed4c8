//! Pages: the record of a page, what it inherits from its site, its failed fetches, and its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BatchId, Hash128};
use crate::tables::codec::{self, Malformed};
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::page::{PageId, PageKind};

/// The state of a page.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// Not fetched: linked to, or named by a record with attributes only.
    Known,
    /// Fetched: it has had a record with outlinks, a digest or a fetch time.
    Crawled,
    /// Reported as gone.
    Gone,
    /// Not linked to any more, and never had a record: outside the store this is no page. The store
    /// keeps the record, so that the page gets the same id when a link returns, and so that the evidence
    /// of earlier refreshes keeps its URL.
    Unlinked,
    /// An alias: it redirects to another page. It does not count as a page.
    Alias,
    /// A resource, such as a script or an image: it was fetched, and does not count as a page.
    Resource,
}

impl PageState {
    /// Returns whether the page is known or crawled.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Known | Self::Crawled)
    }

    /// Returns the name of the state, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Crawled => "crawled",
            Self::Gone => "gone",
            Self::Unlinked => "unlinked",
            Self::Alias => "alias",
            Self::Resource => "resource",
        }
    }
}

/// A page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRecord {
    /// The part of the URL after the name of the site; sorts in the order of the URLs of the site.
    pub local: String,
    /// The state of the page.
    pub state: PageState,
    /// The effective spam mark: `spam_given`, else the default of the site, else `false`.
    pub spam: bool,
    /// Clicks.
    pub clicks: u64,
    /// `uncrawled_outlinks` as reported by a record; `None` if no record did and links are counted.
    pub uncrawled_given: Option<u32>,
    /// The number of known, not crawled intra-site targets. Those of its row are counted in the row.
    pub uncrawled_intra: u32,
    /// Hash of the content digest; `None` without one.
    pub digest: Option<Hash128>,
    /// The index of the row of the page on its site; `None` without inter-site links.
    pub row: Option<u32>,
    /// The batch that first named the page.
    pub first_seen: BatchId,
    /// The last batch with a record of the page; `None` if the page is only linked to.
    pub last_seen: Option<BatchId>,
    /// The spam mark that a record of the page reported; `None` if none did.
    pub spam_given: Option<bool>,
    /// The quality that a record of the page reported, in ten-thousandths; `None` if none did.
    pub quality_given: Option<u16>,
    /// The effective quality in ten-thousandths: `quality_given`, else the default of the site; `None`,
    /// which counts as 0, if there is neither.
    pub quality: Option<u16>,
    /// The time of the last fetch, in seconds since 1970 (UTC); `None` if it is not known.
    pub fetched: Option<u64>,
    /// What the last answer that said so is; a page in all states but crawled and resource.
    pub kind: PageKind,
    /// The page that this one names as canonical, never itself; `None` if it names none.
    pub canonical: Option<PageId>,
    /// The last time, in seconds since 1970 (UTC), at which the content is known to have changed; `None` if none is known.
    pub changed: Option<u64>,
    /// The fields whose times are not plain from `fetched` ([`PageField`]), ascending, each with the seconds from its
    /// time to `fetched`. For nearly every page empty, or with a mark alone.
    pub earlier: Vec<(PageField, u64)>,
}

/// A field of a page with a time: that of the latest record that states it.
///
/// Unless [`PageRecord::earlier`] says otherwise, the time of a field with a value is that of the last fetch, a field
/// without a value was never stated, and the links and the kind of a fetched page were stated by its last fetch. A record
/// with links states the canonical page too, or that there is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum PageField {
    /// Links.
    Outlinks,
    /// The content digest.
    Digest,
    /// The page's own spam mark.
    Spam,
    /// Clicks.
    Clicks,
    /// The reported number of uncrawled outlinks.
    UncrawledOutlinks,
    /// The page's own quality.
    Quality,
    /// The kind. A kind that no record stated is earlier than all times.
    Kind,
    /// The canonical page.
    Canonical,
    /// The last time that the page was gone, which cleared all earlier fields.
    Gone,
    /// Marks a page whose last fetch has the time of its batch, since its record had none.
    Undated,
    /// Marks a fetched page whose links no record stated.
    NoOutlinks,
}

impl PageField {
    /// The fields that have a time.
    pub const ALL: [Self; 9] = [
        Self::Outlinks,
        Self::Digest,
        Self::Spam,
        Self::Clicks,
        Self::UncrawledOutlinks,
        Self::Quality,
        Self::Kind,
        Self::Canonical,
        Self::Gone,
    ];
}

impl PageField {
    /// Returns the name of the field in records, or of what is marked.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outlinks => "outlinks",
            Self::Digest => "digest",
            Self::Spam => "spam",
            Self::Clicks => "clicks",
            Self::UncrawledOutlinks => "uncrawled_outlinks",
            Self::Quality => "quality",
            Self::Kind => "kind",
            Self::Canonical => "canonical",
            Self::Gone => "gone",
            Self::Undated => "undated",
            Self::NoOutlinks => "no_outlinks",
        }
    }
}

impl PageRecord {
    /// Returns the fields that were stated before the last fetch, with their times.
    pub fn stated_earlier(&self) -> impl Iterator<Item = (PageField, u64)> {
        let fields = PageField::ALL.into_iter();
        fields
            .filter_map(|field| Some((field, self.time_of(field)?)))
            .filter(|(_, at)| self.fetched > Some(*at))
    }

    /// Returns the time of a field; `None` if no record stated it, or if the page was never fetched.
    #[must_use]
    pub fn time_of(&self, field: PageField) -> Option<u64> {
        let fetched = self.fetched?;
        match self.earlier.iter().find(|(of, _)| *of == field) {
            Some((_, seconds)) => fetched.checked_sub(*seconds),
            None if field == PageField::Canonical => self.time_of(PageField::Outlinks),
            None => self.is_plain(field).then_some(fetched),
        }
    }

    /// Returns whether a record stated the field, perhaps that it has no value.
    #[must_use]
    pub fn is_stated(&self, field: PageField) -> bool {
        self.is_plain(field) || self.earlier.iter().any(|(of, _)| *of == field)
    }

    /// Returns whether no record stated the links of the page.
    #[must_use]
    pub fn has_no_outlinks(&self) -> bool {
        self.earlier.last() == Some(&(PageField::NoOutlinks, 0))
    }

    /// Sets the time of each field, and whether the last fetch has that of its batch. All other attributes have their final
    /// values.
    pub fn set_times(&mut self, is_undated: bool, time: impl Fn(PageField) -> Option<u64>) {
        self.earlier.clear();
        let Some(fetched) = self.fetched.filter(|_| self.state != PageState::Gone) else {
            if self.fetched.is_none() {
                // Without a time, but it wins over earlier fetches.
                let fields = PageField::ALL.into_iter();
                let removed = fields.filter(|of| time(*of).is_some() && !self.is_plain(*of));
                self.earlier = removed.map(|of| (of, 0)).collect();
            }
            return;
        };
        for field in PageField::ALL {
            let plain = match field {
                PageField::Canonical => time(PageField::Outlinks),
                _ => self.is_plain(field).then_some(fetched),
            };
            match (time(field), field) {
                (at, _) if at == plain => {}
                (Some(at), _) => self.earlier.push((field, fetched.saturating_sub(at))),
                (None, PageField::Outlinks) => self.earlier.push((PageField::NoOutlinks, 0)),
                (None, PageField::Kind) => self.earlier.push((field, fetched.saturating_add(1))),
                (None, _) => {}
            }
        }
        if is_undated {
            self.earlier.push((PageField::Undated, 0));
        }
        self.earlier.sort_unstable();
    }

    /// Whether a field without an entry in `earlier` was stated at the time of the last fetch.
    fn is_plain(&self, field: PageField) -> bool {
        match field {
            PageField::Outlinks => self.was_answered() && !self.has_no_outlinks(),
            PageField::Kind => self.was_answered(),
            PageField::Digest => self.digest.is_some(),
            PageField::Spam => self.spam_given.is_some(),
            PageField::Clicks => self.clicks > 0,
            PageField::UncrawledOutlinks => self.uncrawled_given.is_some(),
            PageField::Quality => self.quality_given.is_some(),
            PageField::Gone => self.state == PageState::Gone,
            PageField::Canonical | PageField::Undated | PageField::NoOutlinks => false,
        }
    }

    /// Returns whether the last fetch found content, or a redirect.
    const fn was_answered(&self) -> bool {
        matches!(
            self.state,
            PageState::Crawled | PageState::Alias | PageState::Resource
        )
    }

    /// Returns whether the page is a crawled document.
    #[must_use]
    pub fn is_document(&self) -> bool {
        self.state == PageState::Crawled && self.kind == PageKind::Document
    }

    /// Creates the record of a forgotten page, which only keeps its id for evidence that refers to it.
    #[must_use]
    pub const fn nameless(first_seen: BatchId) -> Self {
        Self::unlinked(String::new(), first_seen)
    }

    /// Returns whether the page was forgotten, so that it has no URL.
    #[must_use]
    pub const fn is_nameless(&self) -> bool {
        self.local.is_empty()
    }

    /// Creates a page without links to it that never had a record.
    #[must_use]
    pub const fn unlinked(local: String, first_seen: BatchId) -> Self {
        Self {
            local,
            state: PageState::Unlinked,
            spam: false,
            clicks: 0,
            uncrawled_given: None,
            uncrawled_intra: 0,
            digest: None,
            row: None,
            first_seen,
            last_seen: None,
            spam_given: None,
            quality_given: None,
            quality: None,
            fetched: None,
            kind: PageKind::Page,
            canonical: None,
            changed: None,
            earlier: Vec::new(),
        }
    }

    /// Returns the digest that counts for P_uniq, which is that of a crawled page.
    #[must_use]
    pub fn counted_digest(&self) -> Option<Hash128> {
        self.digest.filter(|_| self.state == PageState::Crawled)
    }

    /// Updates the effective spam mark and quality.
    pub fn inherit(&mut self, site: &SiteDefaults) {
        (self.spam, self.quality) = site.effective(self.spam_given, self.quality_given);
    }

    /// Returns the effective quality in ten-thousandths, which is 0 for a page without one.
    #[must_use]
    pub fn quality(&self) -> u16 {
        self.quality.unwrap_or(0)
    }
}

record_values!(PageRecord);

/// Attributes of a site as reported by records of sites; `None` if not reported or withdrawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteDefaults {
    /// The quality of pages without one of their own, in ten-thousandths.
    pub quality: Option<u16>,
    /// The spam mark of pages without one of their own.
    pub spam: Option<bool>,
    /// The maximum number of pages of the site that a crawl should fetch.
    pub quota: Option<u32>,
}

impl SiteDefaults {
    /// Returns the effective spam mark and quality of a page with these own values.
    #[must_use]
    pub const fn effective(&self, spam: Option<bool>, quality: Option<u16>) -> (bool, Option<u16>) {
        let spam = match (spam, self.spam) {
            (Some(spam), _) | (None, Some(spam)) => spam,
            (None, None) => false,
        };
        let quality = if quality.is_some() {
            quality
        } else {
            self.quality
        };
        (spam, quality)
    }
}

/// The seconds of a half-day.
const HALF_DAY: u64 = 43_200;

/// The failed fetches of a page after its last fetch that did not fail, by half-days (UTC) that have one.
///
/// They follow from the times of all fetches, in whatever order these arrive: the half-day of the last failed fetch counts,
/// and every earlier one with a failed fetch that is later than the half-day of the last fetch that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failures {
    /// The result of the last one; of several in one second the greatest.
    pub status: FetchStatus,
    /// The half-days with a failed fetch: bit 0 is that of the last one, bit n the n-th before it. Earlier ones do not count.
    pub half_days: u64,
    /// The time of the last one, in seconds since 1970 (UTC).
    pub last: u64,
}

impl Failures {
    /// The maximum number of half-days.
    pub const MAX_COUNT: u32 = u64::BITS;

    /// Creates one from its time, in seconds since 1970.
    #[must_use]
    pub const fn at(status: FetchStatus, last: u64) -> Self {
        Self {
            status,
            half_days: 1,
            last,
        }
    }

    /// Returns the number of half-days.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.half_days.count_ones()
    }

    /// Returns the number of days (UTC) with one.
    #[must_use]
    pub fn days(self) -> usize {
        let mut days: Vec<u64> = self
            .earlier()
            .chain([self.last])
            .map(|time| time / (2 * HALF_DAY))
            .collect();
        days.dedup();
        days.len()
    }

    /// Returns the starts of the half-days before the last one, ascending, in seconds since 1970.
    pub fn earlier(self) -> impl Iterator<Item = u64> {
        let last = self.last / HALF_DAY;
        let bits = (1..u64::from(u64::BITS)).rev();
        bits.filter(move |bit| self.half_days >> bit & 1 == 1)
            .map(move |bit| last.saturating_sub(bit) * HALF_DAY)
    }

    /// Returns the start of the first half-day, in seconds since 1970; if there is only one, the time of the last fetch.
    #[must_use]
    pub fn since(self) -> u64 {
        self.earlier().next().unwrap_or(self.last)
    }

    /// Returns those after a fetch that did not fail.
    #[must_use]
    pub fn after(self, answered: u64) -> Option<Self> {
        let between = (self.last / HALF_DAY).saturating_sub(answered / HALF_DAY);
        let kept = u32::try_from(between).unwrap_or(u32::MAX).max(1);
        // The bits below `kept` are later half-days than that of the fetch.
        let half_days = self.half_days & 1_u64.checked_shl(kept).map_or(u64::MAX, |bit| bit - 1);
        (self.last > answered).then_some(Self { half_days, ..self })
    }

    /// Returns these and others of the same page.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (earlier, later) = if (self.last, self.status) < (other.last, other.status) {
            (self, other)
        } else {
            (other, self)
        };
        let between = later.last / HALF_DAY - earlier.last / HALF_DAY;
        let shift = u32::try_from(between).unwrap_or(u32::MAX);
        Self {
            half_days: later.half_days | earlier.half_days.checked_shl(shift).unwrap_or(0),
            ..later
        }
    }
}

record_values!(Failures);

// History of the state, the spam mark and the row of pages, and of rows.
//
// The record of a page has the current values. A batch that changes one of them stores the previous ones
// in `page_history`, and the set of these pages in `page_sets`. A row that no page has any more moves to
// `removed_rows`; row ids are never reused. So the values after batch b are those stored by the first
// later batch that changed them, else the current ones.
//
// Size: some ten bytes for each page that a batch changes, the targets of each removed row, and the set.
// New pages take nothing: their `first_seen` is enough.

/// The values of a page before a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PreviousPage {
    /// The state.
    pub state: PageState,
    /// The spam mark.
    pub spam: bool,
    /// The index of its row on its site, in `rows` or `removed_rows`; `None` if it had none.
    pub row: Option<u32>,
}

/// A row that no page has any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemovedRow {
    /// The batch that removed it from its last page.
    pub until: BatchId,
    /// The targets, ascending.
    pub targets: Vec<PageId>,
}

impl Value for RemovedRow {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_varint(u64::from(self.until), out);
        codec::put_ascending(self.targets.iter().map(|page| page.0), out);
        Ok(())
    }
    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let until = codec::take_u32(&mut bytes)?;
        let targets = Vec::<PageId>::decode(bytes)?;
        Ok(Self { until, targets })
    }
}

/// The previous seed that a seed replaced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Succession {
    /// The previous seed.
    pub page: PageId,
    /// Whether the successor was another hub of the same core; if `false`, the page with the most similar
    /// row.
    pub same_core: bool,
    /// The Jaccard similarity, from 0 to 1, of the row of the successor and the last row of the previous
    /// seed.
    pub similarity: f64,
}

record_values!(PreviousPage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_fields_come_back() {
        let times = [None, Some(90), Some(100)];
        for state in [PageState::Crawled, PageState::Resource, PageState::Known] {
            for clicks in [0, 3] {
                for code in 0..3_usize.pow(9) {
                    let time = |field: PageField| times[code / 3_usize.pow(field as u32) % 3];
                    // A field with a value was stated.
                    if clicks > 0 && time(PageField::Clicks).is_none() {
                        continue;
                    }
                    // Links state the canonical page.
                    if time(PageField::Canonical) < time(PageField::Outlinks) {
                        continue;
                    }
                    let mut record = PageRecord {
                        state,
                        clicks,
                        fetched: Some(100),
                        ..PageRecord::unlinked("/".to_owned(), 1)
                    };
                    record.set_times(code % 2 == 0, time);
                    for field in PageField::ALL {
                        assert_eq!(record.time_of(field), time(field), "{record:?} {field:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn failures_do_not_depend_on_the_order_of_fetches() {
        let status = FetchStatus::Timeout;
        // The hours of failed fetches, that of one which did not fail, and what they come to: hours of the half-days.
        for (failed, answered, expected) in [
            (&[1][..], None, &[1][..]),
            (&[1, 2, 11], None, &[11]),
            (&[1, 13, 14, 40], None, &[0, 12, 40]),
            (&[1, 13, 40], Some(1), &[12, 40]),
            (&[1, 13, 40], Some(2), &[12, 40]),
            (&[14, 15], Some(13), &[15]),
            (&[14, 40], Some(13), &[40]),
            (&[14, 15], Some(15), &[]),
            (&[0, 12 * 64, 12 * 65 + 1], None, &[12 * 64, 12 * 65 + 1]),
        ] {
            for turn in 0..=failed.len() {
                for answer_at in 0..=failed.len() {
                    let mut hours = failed.to_vec();
                    hours.rotate_left(turn % failed.len());
                    let mut found: Option<Failures> = None;
                    let mut known = None;
                    for at in 0..=hours.len() {
                        if at == answer_at {
                            known = answered;
                            found = known.map_or(found, |known| found?.after(known * 3600));
                        }
                        if let Some(hour) = hours.get(at) {
                            let one = Failures::at(status, hour * 3600);
                            let all = found.map_or(one, |found| found.and(one));
                            found = known.map_or(Some(all), |known| all.after(known * 3600));
                        }
                    }
                    let times = found.map_or_else(Vec::new, |found| {
                        found.earlier().chain([found.last]).collect()
                    });
                    let expected: Vec<u64> = expected.iter().map(|hour| hour * 3600).collect();
                    assert_eq!(
                        times, expected,
                        "{failed:?} {answered:?} {turn} {answer_at}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_former_row_comes_back_and_damage_does_not() {
        let row = RemovedRow {
            until: 300,
            targets: vec![PageId(3), PageId(1 << 40)],
        };
        let mut bytes = Vec::new();
        row.encode(&mut bytes).unwrap();
        assert_eq!(RemovedRow::decode(&bytes).unwrap(), row);
        for cut in 0..bytes.len() {
            assert!(RemovedRow::decode(&bytes[..cut]).is_err(), "{cut}");
        }
    }
}
