//! What a caller can do about an error.

use std::path::PathBuf;

use crate::storage::StoreHint;

/// What a caller can do about an error. How to word it is up to the caller: a command line names
/// its flags, a service its settings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// What the store advises.
    Store(StoreHint),
    /// Correct the bad records, or ingest with a higher
    /// [`max_rejects`](crate::engine::IngestRequest::max_rejects).
    MendRecords(BadRecords),
    /// Correct the input, or give it the [`format`](crate::engine::IngestRequest::format) that it
    /// has.
    MendOrNameFormat(BadRecords),
    /// Check where the input came from: it is empty. To report pages as gone, ingest a delta of
    /// records with `gone`.
    CheckExport,
    /// Ingest the batch as a delta, not as a
    /// [`snapshot`](crate::engine::IngestRequest::snapshot); or allow the loss with
    /// [`max_loss`](crate::engine::IngestRequest::max_loss) 100.
    DeltaOrAllowLoss,
    /// Check where the input came from, or allow the loss with
    /// [`max_loss`](crate::engine::IngestRequest::max_loss) 100.
    CheckExportOrAllowLoss,
    /// Name a file for the bad records, see
    /// [`rejects`](crate::engine::IngestRequest::rejects).
    NameRejectsFile,
    /// Remove the lists of bad records that are no longer needed, or name a file for them, see
    /// [`rejects`](crate::engine::IngestRequest::rejects).
    RemoveOrNameRejectsFile,
    /// Use the build that made the bank, or create a new bank and ingest a snapshot.
    SameBuild,
    /// The nearest pages that the bank knows, at least one.
    NearestPages(Vec<String>),
    /// The bank knows no page of the site either.
    UnknownSite,
    /// Give the name of a host; of a registrable domain where the bank's sites are domains.
    NameSite,
    /// [`history`](crate::engine::Bank::history) lists the plans; where there is none, ingest a
    /// batch and refresh.
    ListPlans,
    /// [`history`](crate::engine::Bank::history) lists plans and refreshes.
    ListRefreshes,
    /// Refresh the plan again after the next batch, or name two refreshes, or
    /// [another plan](crate::engine::DiffRequest::against).
    RefreshAgain,
    /// Give one URL per line; lines that begin with `#` are skipped.
    OneUrlALine,
    /// What the plan's earlier refresh left for reuse is damaged: a
    /// [`cold`](crate::engine::RefreshRequest::cold) refresh makes it anew. Otherwise the same as
    /// [`StoreHint::CheckAndRepair`].
    RefreshCold,
    /// [Check](crate::engine::Bank::check) the bank.
    Check,
    /// Lower the plan's values of pages, or give fewer uncrawled outlinks.
    SmallerValues,
    /// Lower [`min_pages`](crate::engine::CoverageRequest::min_pages).
    LowerMinPages,
    /// Name a plan by cores.
    PlanByCores,
    /// Refresh the plan, or give other URLs.
    OtherSeeds,
    /// Report the error with what led to it: it is a bug in this library.
    Report,
}

/// The bad records of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRecords {
    /// How many there are.
    pub count: u64,
    /// The file that lists them, up to the first [`MOST_LISTED`](crate::ingest::MOST_LISTED);
    /// `None` where none was written.
    pub file: Option<PathBuf>,
}
