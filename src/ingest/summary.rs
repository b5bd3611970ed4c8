//! What reading a batch counted.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::location::UrlProblem;
use super::reject::RejectReason;

/// How many names of unknown fields are kept.
pub const UNKNOWN_FIELDS_KEPT: usize = 16;

/// A kept name is cut to so many characters.
const NAME_KEPT: usize = 64;

/// Why an outlink is dropped. The names (snake case) are stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Empty, or only white space.
    Empty,
    /// No scheme.
    Relative,
    /// A scheme other than http and https.
    Scheme,
    /// No host.
    NoHost,
    /// Longer than [`MAX_URL`](super::MAX_URL).
    TooLong,
    /// Refused by the URL standard.
    Invalid,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl From<&UrlProblem> for DropReason {
    fn from(problem: &UrlProblem) -> Self {
        match problem {
            UrlProblem::Empty => Self::Empty,
            UrlProblem::Relative => Self::Relative,
            UrlProblem::Scheme(_) => Self::Scheme,
            UrlProblem::NoHost => Self::NoHost,
            UrlProblem::TooLong(_) => Self::TooLong,
            UrlProblem::Invalid(_) => Self::Invalid,
        }
    }
}

/// Fields that no record has, by name: a misspelt field would lose data in silence.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UnknownFields {
    /// Occurrences of the names kept, at most [`UNKNOWN_FIELDS_KEPT`].
    pub names: BTreeMap<String, u64>,
    /// Occurrences of names that were not kept. While this is 0 the counts above are exact.
    pub others: u64,
}

impl UnknownFields {
    pub(super) fn count(&mut self, name: &str) {
        let name = name
            .char_indices()
            .nth(NAME_KEPT)
            .map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        self.add(name, 1);
    }

    fn add(&mut self, name: &str, times: u64) {
        if let Some(count) = self.names.get_mut(name) {
            *count += times;
        } else if self.names.len() < UNKNOWN_FIELDS_KEPT {
            self.names.insert(name.to_owned(), times);
        } else {
            self.others += times;
        }
    }
}

/// What reading a batch counted.
///
/// `lines = records + blank_lines`, and `records` = rejects + events of other kinds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ReadSummary {
    /// Lines of all inputs.
    pub lines: u64,
    /// Lines of nothing but white space.
    pub blank_lines: u64,
    /// Lines that are not blank, rejected ones included.
    pub records: u64,
    /// Bytes of decompressed text.
    pub bytes: u64,
    /// Rejected lines by reason.
    pub rejects: BTreeMap<RejectReason, u64>,
    /// Outlinks of accepted records that were dropped, by reason.
    pub dropped_outlinks: BTreeMap<DropReason, u64>,
    /// Outlinks given more than once in one record, beyond the first. (In links TSV the links of
    /// a page come in pieces; duplicates among them show only when those are consolidated.)
    pub duplicate_outlinks: u64,
    /// Outlinks of a page to itself.
    pub self_links: u64,
    /// Fields that no record has.
    pub unknown_fields: UnknownFields,
}

impl ReadSummary {
    /// All rejected lines.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    pub(super) fn dropped(&mut self, reason: DropReason) {
        *self.dropped_outlinks.entry(reason).or_default() += 1;
    }

    /// Adds what was counted further on in the input.
    pub(super) fn merge(&mut self, later: &Self) {
        self.lines += later.lines;
        self.blank_lines += later.blank_lines;
        self.records += later.records;
        self.bytes += later.bytes;
        for (reason, count) in &later.rejects {
            *self.rejects.entry(*reason).or_default() += count;
        }
        for (reason, count) in &later.dropped_outlinks {
            *self.dropped_outlinks.entry(*reason).or_default() += count;
        }
        self.duplicate_outlinks += later.duplicate_outlinks;
        self.self_links += later.self_links;
        for (name, count) in &later.unknown_fields.names {
            self.unknown_fields.add(name, *count);
        }
        self.unknown_fields.others += later.unknown_fields.others;
    }
}
