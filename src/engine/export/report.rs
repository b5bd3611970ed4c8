//! Report of an export.

use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use seedbank_formats::ingest::{MAX_QUALITY, Naming, SiteMode, UrlRules};
use seedbank_store::records::{BatchId, Counters, SiteDefaults};

/// Counts of an export, and the state that it read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExportReport {
    /// Last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Definition of a site, which a bank made from the records must share.
    pub site_mode: SiteMode,
    /// Rules of URL normalisation, which a bank made from the records must share.
    pub url_rules: UrlRules,
    /// Version of the public suffix list that determined the sites.
    pub suffix_list: String,
    /// Number of records of pages: the sum of the next four fields.
    pub records: u64,
    /// Records of crawled pages.
    pub crawled: u64,
    /// Records of known pages.
    pub known: u64,
    /// Records of gone pages.
    pub gone: u64,
    /// Records of aliases.
    pub aliases: u64,
    /// Pages without a record: known only as the target of links or aliases.
    pub without_record: u64,
    /// Outlinks of the records, including those to aliases.
    pub links: u64,
    /// Records with a digest.
    pub digests: u64,
    /// Sites with attributes, whether written or not.
    pub sites: u64,
    /// Pages with data that their record cannot have: gone pages with attributes, and known pages with a
    /// digest or a fetch time.
    pub dropped_attributes: u64,
    /// Records longer than the maximum that ingest reads ([`MAX_LINE`](seedbank_formats::ingest::MAX_LINE)).
    pub too_long: u64,
}

impl ExportReport {
    pub(super) fn new(
        totals: &Counters,
        naming: Naming,
        suffix_list: String,
        counts: &Counts,
    ) -> Self {
        Self {
            batch: totals.batch,
            site_mode: naming.sites,
            url_rules: naming.urls,
            suffix_list,
            records: counts.crawled + counts.known + counts.gone + counts.aliases,
            crawled: counts.crawled,
            known: counts.known,
            gone: counts.gone,
            aliases: counts.aliases,
            without_record: counts.without_record,
            links: counts.links,
            digests: counts.digests,
            sites: counts.sites,
            dropped_attributes: counts.dropped_attributes,
            too_long: counts.too_long,
        }
    }

    /// Returns the naming rules for a bank made from the records.
    #[must_use]
    pub const fn naming(&self) -> Naming {
        self.site_mode.with(self.url_rules)
    }
}

/// Running counts of an export.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) crawled: u64,
    pub(super) known: u64,
    pub(super) gone: u64,
    pub(super) aliases: u64,
    pub(super) without_record: u64,
    pub(super) links: u64,
    pub(super) digests: u64,
    pub(super) sites: u64,
    pub(super) dropped_attributes: u64,
    pub(super) too_long: u64,
}

impl Counts {
    /// Returns the number of pages as the bank counts them.
    pub(super) const fn pages(&self) -> u64 {
        self.crawled + self.known + self.gone + self.without_record
    }

    /// Returns all counts.
    const fn all(&mut self) -> [&mut u64; 10] {
        let Self {
            crawled,
            known,
            gone,
            aliases,
            without_record,
            links,
            digests,
            sites,
            dropped_attributes,
            too_long,
        } = self;
        [
            crawled,
            known,
            gone,
            aliases,
            without_record,
            links,
            digests,
            sites,
            dropped_attributes,
            too_long,
        ]
    }

    /// Returns the largest of the counts.
    pub(super) fn largest(mut self) -> u64 {
        self.all().into_iter().map(|count| *count).fold(0, u64::max)
    }

    pub(super) fn add(&mut self, mut other: Self) {
        for (count, other) in self.all().into_iter().zip(other.all()) {
            *count += *other;
        }
    }
}

/// Line of a list of sites.
#[derive(Serialize)]
struct SiteLine<'a> {
    site: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spam: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<u32>,
}

/// Formats the attributes of a site as a line of a list of sites.
pub(super) fn site_line(site: &str, given: SiteDefaults) -> Result<Vec<u8>, EngineError> {
    let line = SiteLine {
        site,
        quality: given.quality.map(quality),
        spam: given.spam,
        quota: given.quota,
    };
    let mut line = serde_json::to_vec(&line)
        .map_err(|_| EngineError::Internal("a site cannot be written as JSON"))?;
    line.push(b'\n');
    Ok(line)
}

/// Converts a stored quality to a number from 0 to 1, with at most four decimals.
pub(super) fn quality(steps: u16) -> f64 {
    f64::from(steps) / f64::from(MAX_QUALITY)
}
