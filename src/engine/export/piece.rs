//! The text of sites, in pieces, and how it is sent.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{MAX_QUALITY, Naming, SiteMode, UrlRules};
use seedbank_store::StoreError;
use seedbank_store::records::{BatchId, Counters, SiteDefaults};

/// The largest count of a piece that is accepted from another process, so that sums do not overflow.
const MAX_COUNT: u64 = 1 << 40;

/// Text of a site: all of it, or what follows the piece before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The name of the site.
    pub(super) site: Arc<str>,
    /// Its line in a list of sites; `None` if it has none, and after the first piece.
    pub(super) line: Option<Vec<u8>>,
    /// Records of its pages. One that is longer than a batch is in several pieces.
    pub(super) records: Vec<u8>,
    /// What the records are, counted with their first byte.
    pub(super) counts: Counts,
}

/// Pieces in the order of the names of sites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Batch {
    pub(super) pieces: Vec<Piece>,
    /// Whether no text follows.
    pub(super) is_last: bool,
}

/// A piece without its records.
#[derive(Serialize, Deserialize)]
struct PieceHead {
    site: String,
    line: Option<Vec<u8>>,
    /// The length of its records in bytes.
    bytes: usize,
    counts: Counts,
}

/// A batch without records.
#[derive(Serialize, Deserialize)]
struct BatchHead {
    pieces: Vec<PieceHead>,
    is_last: bool,
}

impl Batch {
    /// Encodes the batch for another process.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let head = |piece: &Piece| PieceHead {
            site: piece.site.to_string(),
            line: piece.line.clone(),
            bytes: piece.records.len(),
            counts: piece.counts,
        };
        let head = BatchHead {
            pieces: self.pieces.iter().map(head).collect(),
            is_last: self.is_last,
        };
        let mut bytes = with_head(&head)?;
        bytes.reserve_exact(self.pieces.iter().map(|piece| piece.records.len()).sum());
        for piece in &self.pieces {
            bytes.extend_from_slice(&piece.records);
        }
        Ok(bytes)
    }

    /// Decodes the batch of another process. Fails if it has no piece and is not the last one.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let (head, mut text): (BatchHead, _) = split_head(bytes)?;
        let mut pieces = Vec::with_capacity(head.pieces.len());
        for PieceHead {
            site,
            line,
            bytes,
            counts,
        } in head.pieces
        {
            let (records, rest) = text.split_at_checked(bytes).ok_or_else(malformed)?;
            text = rest;
            if counts.largest() > MAX_COUNT {
                return Err(malformed().into());
            }
            pieces.push(Piece {
                site: site.into(),
                line,
                records: records.to_vec(),
                counts,
            });
        }
        if !text.is_empty() || pieces.is_empty() && !head.is_last {
            return Err(malformed().into());
        }
        Ok(Self {
            pieces,
            is_last: head.is_last,
        })
    }
}

/// Returns the error of a message that cannot be decoded.
pub(super) fn malformed() -> StoreError {
    StoreError::Protocol("a message of an export cannot be decoded")
}

/// Encodes a record that text follows.
pub(super) fn with_head<T: Serialize>(head: &T) -> Result<Vec<u8>> {
    let head = seedbank_store::pack(head)?;
    let length = (head.len() as u64).to_le_bytes();
    Ok([&length, head.as_slice()].concat())
}

/// Returns the record and the text that follows it.
pub(super) fn split_head<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8])> {
    let (length, rest) = bytes.split_first_chunk().ok_or_else(malformed)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| malformed())?;
    let (head, text) = rest.split_at_checked(length).ok_or_else(malformed)?;
    let head = seedbank_store::unpack(head).map_err(|_| malformed())?;
    Ok((head, text))
}

// Report of an export.

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
    /// Number of records of pages: the sum of the next five fields.
    pub records: u64,
    /// Records of crawled pages.
    pub crawled: u64,
    /// Records of known pages.
    pub known: u64,
    /// Records of gone pages.
    pub gone: u64,
    /// Records of aliases.
    pub aliases: u64,
    /// Records of resources.
    pub resources: u64,
    /// Records of earlier times: of the fields of pages that their last records do not state, and of pages that were gone.
    pub earlier: u64,
    /// Pages without a record: known only as the target of links or aliases.
    pub without_record: u64,
    /// Outlinks of the records, including those to aliases.
    pub links: u64,
    /// Records with a digest.
    pub digests: u64,
    /// Sites with attributes, whether written or not.
    pub sites: u64,
    /// Pages with data that their record cannot have: known pages with a digest or a fetch time.
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
            records: counts.pages_with_record() + counts.earlier,
            crawled: counts.crawled,
            known: counts.known,
            gone: counts.gone,
            aliases: counts.aliases,
            resources: counts.resources,
            earlier: counts.earlier,
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
    pub(super) resources: u64,
    pub(super) earlier: u64,
    pub(super) without_record: u64,
    pub(super) links: u64,
    pub(super) digests: u64,
    pub(super) sites: u64,
    pub(super) dropped_attributes: u64,
    pub(super) too_long: u64,
}

impl Counts {
    const fn pages_with_record(&self) -> u64 {
        self.crawled + self.known + self.gone + self.aliases + self.resources
    }

    /// Returns the number of pages as the bank counts them.
    pub(super) const fn pages(&self) -> u64 {
        self.crawled + self.known + self.gone + self.without_record
    }

    /// Returns all counts.
    const fn all(&mut self) -> [&mut u64; 12] {
        let Self {
            crawled,
            known,
            gone,
            aliases,
            resources,
            earlier,
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
            resources,
            earlier,
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = Piece> {
        let line = prop::option::of(prop::collection::vec(any::<u8>(), 0..9));
        let records = prop::collection::vec(any::<u8>(), 0..30);
        ("[a-c]{0,3}", line, records, 0..9_u64).prop_map(|(site, line, records, links)| Piece {
            site: site.into(),
            line,
            records,
            counts: Counts {
                links,
                ..super::Counts::default()
            },
        })
    }

    proptest! {
        #[test]
        fn a_batch_is_read_back_and_a_cut_one_is_an_error(
            pieces in prop::collection::vec(piece(), 1..6),
            is_last in any::<bool>(),
        ) {
            let batch = Batch { pieces, is_last };
            let bytes = batch.encode().unwrap();
            prop_assert_eq!(&Batch::decode(&bytes).unwrap(), &batch);
            for length in 0..bytes.len() {
                prop_assert!(Batch::decode(&bytes[..length]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_a_batch_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(batch) = Batch::decode(&bytes) {
                prop_assert!(batch.is_last || !batch.pieces.is_empty());
            }
        }
    }

    #[test]
    fn counts_that_would_overflow_and_endless_batches_are_errors() {
        let mut batch = Batch::default();
        assert!(Batch::decode(&batch.encode().unwrap()).is_err());
        batch.is_last = true;
        assert_eq!(Batch::decode(&batch.encode().unwrap()).unwrap(), batch);
        batch.pieces.push(Piece {
            site: "a".into(),
            line: None,
            records: Vec::new(),
            counts: Counts {
                links: u64::MAX,
                ..super::Counts::default()
            },
        });
        assert!(Batch::decode(&batch.encode().unwrap()).is_err());
    }
}
