//! What a caller can do about an error.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use seedbank_formats::ingest::{Reject, RejectReason, SeenInput, UnknownFields};
use seedbank_store::StoreHint;

/// What a caller can do about an error. How to word it is up to the caller: a command line names
/// its flags, a service its settings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// What the store advises.
    Store(StoreHint),
    /// Correct the bad records, or ingest with a higher
    /// [`max_rejects`](crate::engine::IngestRequest::max_rejects).
    MendRecords(Box<BadRecords>),
    /// Correct the input, or give it the [`format`](crate::engine::IngestRequest::format) that it
    /// has.
    MendOrNameFormat(Box<BadRecords>),
    /// Make records of the input, which is something else.
    MakeRecords(SeenInput),
    /// Ingest with more [`memory`](crate::engine::IngestRequest::memory), or write the input in smaller
    /// parts.
    RaiseMemory,
    /// Check where the input came from; if it is genuine, decompress it, or write it as JSON Lines.
    Expand,
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
    /// Write the URL with its scheme; if given, this is the page that the bank has.
    WriteScheme(Option<String>),
    /// The pages of the bank that may have been meant, at least one.
    NearestPages(Vec<String>),
    /// The bank knows no page of the site either.
    UnknownSite,
    /// Give the name of a host; of a registrable domain where the bank's sites are domains.
    NameSite,
    /// The sites of the bank that may have been meant, at least one.
    NearestSites(Vec<String>),
    /// Name the site, or a page by its URL.
    SiteOrUrl(String),
    /// Have the bank that is to take over forget what the other one bars, by name.
    ForgetWithoutBlocks,
    /// [`plans`](crate::engine::Bank::plans) lists the plans; where there is none, ingest a batch and
    /// refresh.
    ListPlans,
    /// Name a plan that there is, or give
    /// [parameters](crate::engine::RefreshRequest::options) for a new one.
    SayWhatPlan,
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
    /// Name hosts, sites and URL prefixes, which are not compiled, or give a shorter list.
    SmallerList,
    /// Name a plan by cores.
    PlanByCores,
    /// Refresh the plan, or give other URLs.
    OtherSeeds,
    /// Report the error with what led to it: it is a bug in this library.
    Report,
}

/// The bad records of a batch that was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRecords {
    /// How many there are.
    pub count: u64,
    /// Among how many records.
    pub records: u64,
    /// How many there are for each reason.
    pub reasons: BTreeMap<RejectReason, u64>,
    /// The first of them; `None` where none is known.
    pub first: Option<Reject>,
    /// The file that lists them, up to the first [`MOST_LISTED`](seedbank_formats::ingest::MOST_LISTED);
    /// `None` where none was written.
    pub file: Option<PathBuf>,
    /// What the input of the first of them is, by its first bytes, where that is another format;
    /// `None` where that is not clear.
    pub seen: Option<SeenInput>,
    /// Fields that no record has, in all records, good and bad.
    pub unknown_fields: UnknownFields,
}

impl fmt::Display for BadRecords {
    /// The counts by reason and the first bad record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (reason, count)) in self.reasons.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{reason} {count}")?;
        }
        if let Some(first) = &self.first {
            let (at, file, detail) = (first.at, &first.file, &first.detail);
            write!(f, "; the first is {at} of {file}: {detail}")?;
        }
        Ok(())
    }
}
