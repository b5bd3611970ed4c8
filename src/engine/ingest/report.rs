//! What an ingest did.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aliases::AliasCounts;
use super::barred::BarredCounts;
use super::sites::SitesCounts;
use seedbank_formats::ingest::ReadSummary;
use seedbank_store::records::{BatchCounts, BatchId, BatchKind};

/// What an ingest did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct IngestReport {
    /// The batch's number; `None` where the bank was not changed.
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Its name.
    pub name: String,
    /// Whether the batch is the whole state or changes.
    pub kind: BatchKind,
    /// The earlier batch that had the same records, so that nothing was changed.
    #[schemars(range(min = 1))]
    pub same_as: Option<BatchId>,
    /// An earlier batch that had the same records without saying when they were fetched. Other
    /// batches have come in since, so this one was applied.
    #[schemars(range(min = 1))]
    pub repeats: Option<BatchId>,
    /// Whether the batch was only tried.
    pub dry_run: bool,
    /// What reading counted.
    pub read: ReadSummary,
    /// What the batch changed, or would change.
    pub counts: BatchCounts,
    /// What it did to aliases; links to them count as changed with them.
    pub aliases: AliasCounts,
    /// What it said of sites; pages that inherit it count as changed.
    pub sites: SitesCounts,
    /// What was left out since it was forgotten and is not to come back.
    #[serde(default, skip_serializing_if = "BarredCounts::is_nothing")]
    pub blocked: BarredCounts,
    /// Where bad records are listed; `None` where there are none.
    #[serde(serialize_with = "readable")]
    pub rejects_file: Option<PathBuf>,
    /// How many bad records are listed there: at most the first 100,000. All are counted.
    #[schemars(range(max = seedbank_formats::ingest::MOST_LISTED))]
    pub rejects_listed: u64,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// A path as text, even where it is not UTF-8: the batch is in, so the report must not fail.
#[expect(clippy::ref_option, reason = "serde hands the field as it is declared")]
pub(in crate::engine) fn readable<S: serde::Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => to.serialize_some(&path.to_string_lossy()),
        None => to.serialize_none(),
    }
}

impl IngestReport {
    /// Of a batch that was read and not worked in yet.
    pub(super) fn begun(name: String, kind: BatchKind, read: ReadSummary) -> Self {
        Self {
            batch: None,
            name,
            kind,
            same_as: None,
            repeats: None,
            dry_run: false,
            counts: BatchCounts::default(),
            aliases: AliasCounts::default(),
            sites: SitesCounts::default(),
            blocked: BarredCounts::default(),
            rejects_file: None,
            rejects_listed: 0,
            read,
            seconds: 0.0,
        }
    }
}
