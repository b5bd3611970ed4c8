//! Pages: the record of a page, what it inherits from its site, its failed fetches, and its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BatchId, Hash128};
use crate::tables::codec::{self, Malformed};
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::page::PageId;

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
    /// An alias: it redirects to another page or names another page as canonical. It does not count as a
    /// page.
    Alias,
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
    /// The fields whose times are not plain from `fetched` ([`PageField`]), ascending, each with the seconds from its
    /// time to `fetched`. Empty for nearly every page.
    pub earlier: Vec<(PageField, u64)>,
}

/// A field of a page with a time: that of the latest record that states it.
///
/// Unless [`PageRecord::earlier`] says otherwise, the time of a field with a value is that of the last fetch, a field
/// without one was never stated, and links of crawled pages and aliases were.
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
    /// The last time that the page was gone, which cleared all earlier fields.
    Gone,
    /// Marks a fetched page whose links no record stated.
    NoOutlinks,
}

impl PageField {
    /// The fields that have a time.
    pub const ALL: [Self; 7] = [
        Self::Outlinks,
        Self::Digest,
        Self::Spam,
        Self::Clicks,
        Self::UncrawledOutlinks,
        Self::Quality,
        Self::Gone,
    ];
}

impl PageRecord {
    /// Returns the time of a field; `None` if no record stated it, or if the page was never fetched.
    #[must_use]
    pub fn time_of(&self, field: PageField) -> Option<u64> {
        let fetched = self.fetched?;
        match self.earlier.iter().find(|(of, _)| *of == field) {
            Some((_, seconds)) => Some(fetched.saturating_sub(*seconds)),
            None => self.is_plain(field).then_some(fetched),
        }
    }

    /// Sets the time of each field. All other attributes have their final values.
    pub fn set_times(&mut self, time: impl Fn(PageField) -> Option<u64>) {
        self.earlier.clear();
        let Some(fetched) = self.fetched.filter(|_| self.state != PageState::Gone) else {
            return;
        };
        for field in PageField::ALL {
            let is_plain = self.is_plain(field);
            match time(field) {
                Some(at) if !is_plain || at != fetched => {
                    self.earlier.push((field, fetched.saturating_sub(at)));
                }
                None if is_plain && field == PageField::Outlinks => {
                    self.earlier.push((PageField::NoOutlinks, 0));
                }
                _ => {}
            }
        }
        self.earlier.sort_unstable();
    }

    /// Whether a field without an entry in `earlier` was stated at the time of the last fetch.
    fn is_plain(&self, field: PageField) -> bool {
        match field {
            PageField::Outlinks => {
                let has_none = (PageField::NoOutlinks, 0);
                matches!(self.state, PageState::Crawled | PageState::Alias)
                    && self.earlier.last() != Some(&has_none)
            }
            PageField::Digest => self.digest.is_some(),
            PageField::Spam => self.spam_given.is_some(),
            PageField::Clicks => self.clicks > 0,
            PageField::UncrawledOutlinks => self.uncrawled_given.is_some(),
            PageField::Quality => self.quality_given.is_some(),
            PageField::Gone => self.state == PageState::Gone,
            PageField::NoOutlinks => false,
        }
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

/// The failed fetches of a page after its last fetch that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// The result of the last one.
    pub status: FetchStatus,
    /// Their number.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// The time of the first one, in seconds since 1970 (UTC).
    pub since: u64,
    /// The time of the last one, in seconds since 1970 (UTC).
    pub last: u64,
}

impl Failures {
    /// Returns those after a fetch that did not fail. If it was between the first and the last one, only
    /// the last one is certainly later than it.
    #[must_use]
    pub const fn after(self, answered: u64) -> Option<Self> {
        if self.last <= answered {
            None
        } else if self.since <= answered {
            Some(Self {
                count: 1,
                since: self.last,
                ..self
            })
        } else {
            Some(self)
        }
    }

    /// Returns these and later ones. At the same second the fetch is the same one, and the given result
    /// replaces the stored one; older ones are already counted, or are stale.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let more = match later.since {
            since if since > self.last => later.count,
            _ if later.last > self.last => 1,
            _ => 0,
        };
        Self {
            status: later.status,
            count: self.count.saturating_add(more).max(later.count),
            since: self.since.min(later.since),
            last: later.last,
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
        for state in [PageState::Crawled, PageState::Alias, PageState::Known] {
            for clicks in [0, 3] {
                for code in 0..3_usize.pow(7) {
                    let time = |field: PageField| times[code / 3_usize.pow(field as u32) % 3];
                    // A field with a value was stated.
                    if clicks > 0 && time(PageField::Clicks).is_none() {
                        continue;
                    }
                    let mut record = PageRecord {
                        state,
                        clicks,
                        fetched: Some(100),
                        ..PageRecord::unlinked("/".to_owned(), 1)
                    };
                    record.set_times(time);
                    for field in PageField::ALL {
                        assert_eq!(record.time_of(field), time(field), "{record:?} {field:?}");
                    }
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
