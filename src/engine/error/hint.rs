//! Advice about errors.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use seedbank_formats::ingest::{DetectedInput, Reject, RejectReason, UnknownFields};
use seedbank_store::StoreHint;

/// What a caller can do about an error. The caller words the advice: a command line names its flags, a
/// service its settings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// The advice of the store.
    Store(StoreHint),
    /// The advice of another process that reports the error.
    Reported(String),
    /// Fix the bad records, or ingest with a higher
    /// [`max_rejects`](crate::engine::IngestRequest::max_rejects).
    FixRecords(Box<BadRecords>),
    /// Fix the input, or give its [`format`](crate::engine::IngestRequest::format).
    FixOrSetFormat(Box<BadRecords>),
    /// Name the [`columns`](crate::engine::IngestRequest::columns) of the table.
    NameColumns,
    /// Convert the input, which is in another format, to records.
    ConvertToRecords(DetectedInput),
    /// Ingest with more [`memory`](crate::engine::IngestRequest::memory), or write the input in smaller
    /// parts.
    RaiseMemory,
    /// Fetch the input again, or [keep](crate::engine::ingest::Truncated) its records before its end.
    KeepTruncated,
    /// Check where the input came from; if it is genuine, decompress it, or convert it to JSON Lines.
    Expand,
    /// The advice about a remote file.
    Remote(&'static str),
    /// Check why the snapshot is empty. To report pages as gone, ingest a delta of records with
    /// `gone`.
    CheckExport,
    /// Ingest the batch as a delta instead of a
    /// [`snapshot`](crate::engine::IngestRequest::snapshot), or allow the loss with this
    /// [`max_loss`](crate::engine::IngestRequest::max_loss), the smallest that does.
    DeltaOrAllowLoss(String),
    /// Check where the input came from, or allow the loss with this
    /// [`max_loss`](crate::engine::IngestRequest::max_loss), the smallest that does.
    CheckExportOrAllowLoss(String),
    /// Write the bad records to another file, see
    /// [`rejects`](crate::engine::IngestRequest::rejects).
    NameRejectsFile,
    /// Remove the lists of bad records that are no longer needed, or write them to another file, see
    /// [`rejects`](crate::engine::IngestRequest::rejects).
    RemoveOrNameRejectsFile,
    /// Confirm what is to be forgotten with a higher
    /// [`max_pages`](crate::engine::ingest::ForgetRequest::max_pages).
    ConfirmForget,
    /// Ingest a crawl first.
    IngestFirst,
    /// Use the build that created the bank, or create a new bank and ingest a snapshot.
    SameBuild,
    /// Add a scheme to the URL.
    WriteScheme,
    /// Similar pages of the bank, at least one.
    NearestPages(Vec<String>),
    /// The bank contains no page of the site either.
    UnknownSite,
    /// Give a host name, or a registrable domain if the bank's sites are domains.
    NameSite,
    /// Similar sites of the bank, at least one.
    NearestSites(Vec<String>),
    /// Name the site, or a page by its URL.
    SiteOrUrl(String),
    /// Block the pages by name in the bank that should copy the blocks.
    ForgetWithoutBlocks,
    /// [`plans`](crate::engine::Bank::plans) lists the plans; if there are none, ingest a batch and
    /// refresh.
    ListPlans,
    /// Name an existing plan, or give
    /// [parameters](crate::engine::RefreshRequest::options) for a new one.
    GiveParameters,
    /// [`history`](crate::engine::Bank::history) lists plans and refreshes.
    ListRefreshes,
    /// Refresh the plan again after the next batch, or name two refreshes, or
    /// [another plan](crate::engine::query::DiffRequest::against).
    RefreshAgain,
    /// Give one URL per line; lines that begin with `#` are skipped.
    OneUrlPerLine,
    /// Give one path or address per line.
    OnePathPerLine,
    /// The data cached by the plan's previous refresh is damaged: a
    /// [`cold`](crate::engine::RefreshRequest::cold) refresh recomputes it. Otherwise as
    /// [`StoreHint::CheckAndRepair`].
    RefreshCold,
    /// [Check](crate::engine::Bank::check) the bank.
    Check,
    /// Lower the plan's values of pages, or reduce the numbers of uncrawled outlinks.
    SmallerValues,
    /// Lower [`min_pages`](crate::engine::evaluate::CoverageRequest::min_pages).
    LowerMinPages,
    /// Use hosts, sites and URL prefixes, which are not compiled, or a shorter list.
    SmallerList,
    /// Repeat with `*` or `+` in place of counts, or begin the expression with `^`.
    FewerRepetitions,
    /// Use a plan with method cores.
    PlanByCores,
    /// Refresh the plan, or use other URLs.
    OtherSeeds,
    /// Report the error with the steps to reproduce it: it is a bug in this library.
    Report,
}

/// The bad records of a rejected batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRecords {
    /// The number of bad records.
    pub count: u64,
    /// The number of all records.
    pub records: u64,
    /// The number of bad records for each reason.
    pub reasons: BTreeMap<RejectReason, u64>,
    /// The first bad record; `None` if it is not known.
    pub first: Option<Reject>,
    /// The file that lists the first [`MAX_LISTED_REJECTS`](seedbank_formats::ingest::MAX_LISTED_REJECTS) bad records;
    /// `None` if no file was written.
    pub file: Option<PathBuf>,
    /// The format of the input of the first bad record, detected from its first bytes, if it is not
    /// the expected one; `None` if it could not be detected.
    pub seen: Option<DetectedInput>,
    /// Unknown fields in all records, good and bad.
    pub unknown_fields: UnknownFields,
}

impl fmt::Display for BadRecords {
    /// Writes the counts by reason and the first bad record.
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
