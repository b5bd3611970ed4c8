//! Report of an ingest.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aliases::AliasCounts;
use super::blocklist::BlockedCounts;
use super::fetch_log::LearnedCounts;
use super::site_records::SiteCounts;
use crate::engine::clock::now;
use crate::engine::error::{BadRecords, BatchLoss};
use crate::engine::{Bank, EngineError, Result};
use seedbank_formats::display::{counted, is_or_are};
use seedbank_formats::ingest::{InputError, ReadSummary};
use seedbank_store::records::{BatchCounts, BatchId, BatchKind};
use seedbank_store::{Writer, read_refusal};

/// Report of an ingest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct IngestReport {
    /// The batch's number; `None` if the bank did not change.
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Its name.
    pub name: String,
    /// Whether the batch is a snapshot or a delta.
    pub kind: BatchKind,
    /// The earlier batch with the same records, because of which nothing changed.
    #[schemars(range(min = 1))]
    pub same_as: Option<BatchId>,
    /// An earlier batch with the same records and no fetch times. Other batches were ingested
    /// since, so this one was applied.
    #[schemars(range(min = 1))]
    pub repeats: Option<BatchId>,
    /// Whether the batch is a delta without valid records. The bank is then unchanged.
    pub is_empty: bool,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Counts from reading the input.
    pub read: ReadSummary,
    /// Changes by the batch, or by a dry run if it were applied.
    pub counts: BatchCounts,
    /// Changes of aliases; links to changed aliases count as changed.
    pub aliases: AliasCounts,
    /// Changes of sites; pages that inherit from a changed site count as changed.
    pub sites: SiteCounts,
    /// Number of stale records: skipped, because their pages were fetched later.
    pub stale: u64,
    /// The time of the batch, if it is years after the last fetch that the bank had, or more than a day before it; `None` also
    /// if the request gave the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockDifference>,
    /// Number of pages whose fetch failed.
    pub failed: u64,
    /// What is learned from the fetches of pages that the bank had before.
    #[serde(default)]
    pub learned: LearnedCounts,
    /// Number of fetches that crawlers attribute to seeds.
    #[serde(default)]
    pub attributed: u64,
    /// Input that was skipped because of the blocklist.
    #[serde(default, skip_serializing_if = "BlockedCounts::is_nothing")]
    pub blocked: BlockedCounts,
    /// The file that lists bad and stale records; `None` if there are none.
    #[serde(serialize_with = "readable")]
    pub rejects_file: Option<PathBuf>,
    /// Number of bad records and fields listed there: at most the first 100,000. All are counted.
    #[schemars(range(max = seedbank_formats::ingest::MAX_LISTED_REJECTS))]
    pub rejects_listed: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Serializes a path as text, even if it is not UTF-8: the batch is committed, so the report must
/// not fail.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
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
    /// A report of a batch that was not read yet.
    pub(super) fn begun(name: String, kind: BatchKind) -> Self {
        Self {
            batch: None,
            name,
            kind,
            same_as: None,
            repeats: None,
            is_empty: false,
            dry_run: false,
            counts: BatchCounts::default(),
            aliases: AliasCounts::default(),
            sites: SiteCounts::default(),
            stale: 0,
            clock: None,
            failed: 0,
            learned: LearnedCounts::default(),
            attributed: 0,
            blocked: BlockedCounts::default(),
            rejects_file: None,
            rejects_listed: 0,
            read: ReadSummary::default(),
            seconds: 0.0,
        }
    }
}

// A batch whose time does not fit the times in the bank, as after a clock that was wrong.

/// The number of seconds by which a batch may be before the last fetch in the bank: clocks of machines differ.
const MOST_BEFORE: u64 = 86_400;

/// The number of seconds by which a batch may be after the last fetch in the bank: two years.
const MOST_AFTER: u64 = 2 * 365 * 86_400;

/// The time of a batch, and the last fetch in the bank before, if they are far apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClockDifference {
    /// The time of the batch by the clock of the machine, in seconds since 1970 (UTC).
    pub batch: u64,
    /// The time of the last fetch in the bank before the batch, in seconds since 1970 (UTC).
    pub last_fetch: u64,
}

impl ClockDifference {
    /// Compares the time of a batch with the time of the last fetch in the bank, before the batch and after it.
    ///
    /// A time that is years later counts only if the batch brought it into the bank: old archives have times of their own.
    pub(super) fn new(batch: u64, before: u64, after: u64) -> Option<Self> {
        let is_before = batch.saturating_add(MOST_BEFORE) < before;
        let is_after = before > 0 && after == batch && batch.saturating_sub(before) > MOST_AFTER;
        (is_before || is_after).then_some(Self {
            batch,
            last_fetch: before,
        })
    }

    /// Returns whether the batch is before the last fetch in the bank.
    #[must_use]
    pub const fn is_before(&self) -> bool {
        self.batch < self.last_fetch
    }
}

// The last refused batch, which the bank remembers outside its database.
//
// A refused batch is no part of a state: it changes no table and uses up no undo. The record contains no
// name of a page or site, so forgetting need not search it. What cannot be stored or read is left out: the
// error of the batch matters more.

/// Maximum number of characters of a batch's name that are stored, so that the record stays small.
const MAX_NAME: usize = 200;

/// A batch that was refused.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefusedBatch {
    /// Name of the batch; its first 200 characters.
    pub name: String,
    /// Whether the batch is a whole state or a set of changes.
    pub kind: BatchKind,
    /// Time of the refusal, in seconds since 1970 (UTC).
    pub at: u64,
    /// Last batch of the bank at that time; 0 before the first.
    pub after: BatchId,
    /// Kind of reason.
    pub reason: RefusalReason,
    /// Reason as a clause, without names of pages and sites.
    pub message: String,
    /// Smallest limit of the loss, in percent, that would have accepted the batch; `None` if it was not
    /// refused for its loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub least_max_loss: Option<f64>,
}

/// Why a batch was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// It would remove too many crawled pages or links.
    Loss,
    /// Too many records were bad.
    BadRecords,
    /// It was a snapshot without records.
    EmptySnapshot,
    /// An input could not be read to its end.
    UnreadableInput,
}

impl Bank {
    /// Returns the last refused batch, if the bank remembers one.
    ///
    /// Cost: reads one small file.
    pub(in crate::engine) fn refused_batch(&self) -> Option<RefusedBatch> {
        serde_json::from_str(&read_refusal(self.path())?).ok()
    }

    /// Forgets the last refused batch, so that [`Status::refused`](crate::engine::query::Status::refused) is `None`. Nothing else
    /// changes: the batch was never part of the bank. Returns it, or `None` if the bank remembers none.
    ///
    /// If `wait` is set, waits for another writer to finish.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// assert!(ingest(&bank, "bad.jsonl", "no record").is_err());
    /// let refused = bank.dismiss_refused(false)?.ok_or("no batch was refused")?;
    /// assert_eq!(refused.name, "bad.jsonl");
    /// assert_eq!(bank.status()?.refused, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dismiss_refused(&self, wait: bool) -> Result<Option<RefusedBatch>> {
        let writer = self.open_writer(wait, self.watch())?;
        let refused = self.refused_batch();
        writer.remove_refusal()?;
        Ok(refused)
    }

    /// Remembers a refused batch, and forgets it once a batch of its name is accepted. `result` is that of
    /// ingesting a batch, with `writer`.
    pub(super) fn note_refusal(
        &self,
        writer: &Writer,
        name: &str,
        kind: BatchKind,
        result: &Result<IngestReport>,
    ) {
        let name: String = name.chars().take(MAX_NAME).collect();
        let Err(error) = result else {
            if self.refused_batch().is_some_and(|last| last.name == name) {
                // Best effort: the batch is accepted all the same.
                let _ = writer.remove_refusal();
            }
            return;
        };
        let (Some((reason, message)), Ok(counters)) = (reason(error), writer.counters()) else {
            return;
        };
        let refused = RefusedBatch {
            name,
            kind,
            at: now(),
            after: counters.batch,
            reason,
            message,
            least_max_loss: match error {
                EngineError::TooMuchLost(loss) => Some(loss.least_limit),
                _ => None,
            },
        };
        if let Ok(text) = serde_json::to_string(&refused) {
            // Best effort: the caller gets the error of the batch.
            let _ = writer.record_refusal(&text);
        }
    }
}

/// Returns why a batch was refused; `None` if it failed for another reason, such as a full disk, or if no
/// input was opened, most likely because its name is wrong.
fn reason(error: &EngineError) -> Option<(RefusalReason, String)> {
    Some(match error {
        EngineError::TooMuchLost(loss) => (RefusalReason::Loss, loss_clause(loss)),
        EngineError::TooManyRejects { limit, bad } => (
            RefusalReason::BadRecords,
            format!("{}, expected at most {limit} %", bad_clause(bad, "")),
        ),
        EngineError::MostlyRejected { bad } => {
            (RefusalReason::BadRecords, bad_clause(bad, "the first "))
        }
        EngineError::EmptySnapshot => (
            RefusalReason::EmptySnapshot,
            "a snapshot without records would make every crawled page gone".to_owned(),
        ),
        EngineError::Input(InputError::Open { .. } | InputError::Directory { .. }) => return None,
        EngineError::Input(_) => (
            RefusalReason::UnreadableInput,
            "an input could not be read".to_owned(),
        ),
        _ => return None,
    })
}

/// Says how much of the bank would be lost, without the names of sites.
fn loss_clause(loss: &BatchLoss) -> String {
    let parts = [
        ("crawled pages", loss.pages_before, loss.pages_after),
        ("links", loss.links_before, loss.links_after),
    ];
    let parts = parts.iter().filter(|(_, before, after)| after < before);
    let parts: Vec<String> = parts
        .map(|(what, before, after)| {
            // Rounded up, as the smallest limit that accepts the loss.
            let tenths = (u128::from(before - after) * 1000).div_ceil(u128::from(*before));
            format!("{}.{} % of the {what}", tenths / 10, tenths % 10)
        })
        .collect();
    format!(
        "it would lose {}, expected at most {} %",
        parts.join(" and "),
        loss.limit
    )
}

/// Says how many records are bad, by reason, without the records.
fn bad_clause(bad: &BadRecords, which: &str) -> String {
    let reasons: Vec<String> = bad
        .reasons
        .iter()
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    format!(
        "{} of {which}{} {} bad ({})",
        bad.count,
        counted(bad.records, "record"),
        is_or_are(&bad.count),
        reasons.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_are_far_apart_are_reported() {
        let now = 1_795_000_000;
        let years = 3 * 365 * 86_400;
        for (before, after, expected) in [
            // The first batch, a batch of the next day, and one of a clock that is some hours late.
            (0, now, false),
            (now - 86_400, now, false),
            (now + 40_000, now + 40_000, false),
            (now - years, now, true),
            // Records of an old archive have times of their own.
            (now - years, now - years + 1, false),
            (now + 90_000, now + 90_000, true),
            (now + years, now + years, true),
        ] {
            let last_fetch = before;
            let found = ClockDifference::new(now, before, after);
            let difference = ClockDifference {
                batch: now,
                last_fetch,
            };
            assert_eq!(found, expected.then_some(difference), "{before} {after}");
        }
    }
}
