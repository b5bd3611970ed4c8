//! What an export wrote.

use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use seedbank_formats::ingest::{MAX_QUALITY, Naming, SiteMode, UrlRules};
use seedbank_store::records::{BatchId, Counters, SiteDefaults};

/// What an export wrote, and of which state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExportReport {
    /// The last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// What a site is in this bank; another one made of the records needs the same.
    pub site_mode: SiteMode,
    /// What one URL is in this bank; another one made of the records needs the same.
    pub url_rules: UrlRules,
    /// The public suffix list that the sites were told apart with.
    pub suffix_list: String,
    /// Records of pages: the sum of the next four.
    pub records: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Pages that are known by a record of their own.
    pub known: u64,
    /// Gone pages.
    pub gone: u64,
    /// Aliases.
    pub aliases: u64,
    /// Pages that are only linked to, or led to by an alias, and have no record.
    pub only_linked: u64,
    /// Outlinks of the records, those to aliases among them.
    pub links: u64,
    /// Records with a digest.
    pub digests: u64,
    /// Sites with attributes of their own, written or not.
    pub sites: u64,
    /// Gone pages of which the bank has attributes, and pages known again of which it has a digest:
    /// no record can say both.
    pub beside_gone: u64,
    /// Records that are longer than an ingest reads ([`MAX_LINE`](seedbank_formats::ingest::MAX_LINE)).
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
            only_linked: counts.only_linked,
            links: counts.links,
            digests: counts.digests,
            sites: counts.sites,
            beside_gone: counts.beside_gone,
            too_long: counts.too_long,
        }
    }

    /// How another bank has to tell pages and sites apart that is made of the records.
    #[must_use]
    pub const fn naming(&self) -> Naming {
        self.site_mode.with(self.url_rules)
    }
}

/// What has been written so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) crawled: u64,
    pub(super) known: u64,
    pub(super) gone: u64,
    pub(super) aliases: u64,
    pub(super) only_linked: u64,
    pub(super) links: u64,
    pub(super) digests: u64,
    pub(super) sites: u64,
    pub(super) beside_gone: u64,
    pub(super) too_long: u64,
}

impl Counts {
    /// Pages as the bank counts them.
    pub(super) const fn pages(&self) -> u64 {
        self.crawled + self.known + self.gone + self.only_linked
    }

    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            crawled,
            known,
            gone,
            aliases,
            only_linked,
            links,
            digests,
            sites,
            beside_gone,
            too_long,
        } = other;
        self.crawled += crawled;
        self.known += known;
        self.gone += gone;
        self.aliases += aliases;
        self.only_linked += only_linked;
        self.links += links;
        self.digests += digests;
        self.sites += sites;
        self.beside_gone += beside_gone;
        self.too_long += too_long;
    }
}

/// A line of a list of sites.
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

/// What is given of a site, as a line of a list of sites.
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

/// A quality from 0 to 1, whose shortest text has at most four decimals.
pub(super) fn quality(steps: u16) -> f64 {
    f64::from(steps) / f64::from(MAX_QUALITY)
}
