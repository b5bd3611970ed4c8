//! The last refused batch, which the bank remembers outside its database.
//!
//! A refused batch is no part of a state: it changes no table and uses up no undo. The record contains no
//! name of a page or site, so forgetting need not search it. What cannot be stored or read is left out: the
//! error of the batch matters more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IngestReport;
use crate::engine::clock::now;
use crate::engine::error::{BadRecords, BatchLoss};
use crate::engine::{Bank, EngineError, Result};
use seedbank_formats::display::{counted, is_or_are};
use seedbank_formats::ingest::InputError;
use seedbank_store::records::{BatchId, BatchKind};
use seedbank_store::{Writer, read_refusal};

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
