//! What reading a batch counted.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::location::UrlError;
use super::reject::RejectReason;

/// How many names of unknown fields are kept.
pub(super) const UNKNOWN_FIELDS_KEPT: usize = 16;

/// How many characters of a kept name are kept.
const NAME_KEPT: usize = 64;

/// Why an outlink is dropped. The names (snake case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DropReason {
    /// Empty, or only white space.
    Empty,
    /// No scheme.
    Relative,
    /// A scheme other than http and https.
    Scheme,
    /// No host.
    NoHost,
    /// Longer than 65,536 bytes.
    TooLong,
    /// Refused by the URL standard.
    Invalid,
    /// Not to be followed, as its page says, where such links are not wanted.
    Nofollow,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl From<&UrlError> for DropReason {
    fn from(problem: &UrlError) -> Self {
        match problem {
            UrlError::Empty => Self::Empty,
            UrlError::Relative => Self::Relative,
            UrlError::Scheme(_) => Self::Scheme,
            UrlError::NoHost => Self::NoHost,
            UrlError::TooLong(_) => Self::TooLong,
            UrlError::Invalid(_) => Self::Invalid,
        }
    }
}

/// Why a record of a web archive, or a line of a list or log, says nothing of a page. The names (snake
/// case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// It describes a request, or anything else than what a server answered.
    NoResponse,
    /// The answer has no status, as that of a name server has none.
    NoStatus,
    /// The status says neither what is on the page nor that it is gone (403, 500, 304, ...).
    OtherStatus,
    /// The status is that of a redirect, which leads to no other page.
    LeadsNowhere,
    /// It names no page: a comment, a directive, a header, an entry of anything but a page.
    NoPage,
    /// It names another sitemap, which is not fetched.
    Sitemap,
    /// The crawler fetched it for itself, before it fetched pages (`robots.txt`, names of hosts).
    Prerequisite,
    /// It tells of no link, where links are read.
    NoLink,
    /// Its URL is that of no page (`dns:`, `ftp:`, ...).
    OtherScheme,
    /// It goes on with the content of an earlier record.
    Continuation,
    /// It has what a crawler noted of an answer, and is read together with that.
    BesideResponse,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why not all of a page's content in a web archive was read for links. The names (snake case) are
/// stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unread {
    /// It has a coding that is not undone here (`br`); nothing is said of the page's links.
    Coding,
    /// Its coding is damaged; what came before was read.
    Damaged,
    /// It is longer than 16 MiB, of which the first were read, or not all of it was stored.
    CutOff,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Fields that no record has, by name: a misspelt field would lose data in silence.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UnknownFields {
    /// How often each occurs, for at most 16 names.
    #[schemars(schema_with = "counts_by::<String>")]
    pub names: BTreeMap<String, u64>,
    /// Occurrences of names that were not kept. While this is 0 the counts above are exact.
    pub others: u64,
}

impl UnknownFields {
    pub(super) fn count(&mut self, name: &str) {
        self.count_times(name, 1);
    }

    /// Counts a name that so many records have.
    pub(super) fn count_times(&mut self, name: &str, times: u64) {
        if times == 0 {
            return;
        }
        let name = name
            .char_indices()
            .nth(NAME_KEPT)
            .map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        self.add(name, times);
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

/// The JSON Schema of counts by `K`, with an entry only for what was counted at least once.
pub fn counts_by<K: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<K>(),
        "additionalProperties": {"type": "integer", "minimum": 1},
    })
}

/// What reading a batch counted.
///
/// `lines = records + blank_lines`, and `records` = rejects + events of other kinds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadSummary {
    /// Lines of all inputs but those passed over; where a record is no line, records and blank lines.
    pub lines: u64,
    /// Lines of nothing but white space.
    pub blank_lines: u64,
    /// Records, rejected ones included; in text formats the lines that are not blank.
    pub records: u64,
    /// Bytes of decompressed text; for a graph, the bytes of its lists as they are held.
    pub bytes: u64,
    /// Records of web archives, and lines of lists and logs, that say nothing of a page, by reason. They are not among `records`.
    #[schemars(schema_with = "counts_by::<SkipReason>")]
    pub passed_over: BTreeMap<SkipReason, u64>,
    /// Pages of web archives whose content was not read, or not to its end, by reason.
    #[serde(default)]
    #[schemars(schema_with = "counts_by::<Unread>")]
    pub unread: BTreeMap<Unread, u64>,
    /// Rejected records by reason.
    #[schemars(schema_with = "counts_by::<RejectReason>")]
    pub rejects: BTreeMap<RejectReason, u64>,
    /// Outlinks of accepted records that were dropped, by reason.
    #[schemars(schema_with = "counts_by::<DropReason>")]
    pub dropped_outlinks: BTreeMap<DropReason, u64>,
    /// Outlinks given more than once in one record, beyond the first. (In links TSV the links of
    /// a page come in pieces; duplicates among them show only when those are consolidated.)
    pub duplicate_outlinks: u64,
    /// Outlinks of a page to itself.
    pub self_links: u64,
    /// Fetch times of accepted records that name no time zone, and count as UTC.
    pub zones_assumed: u64,
    /// Fields that are not part of a record: ignored, and perhaps misspelt.
    pub unknown_fields: UnknownFields,
}

impl ReadSummary {
    /// How many records were rejected.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    pub(super) fn dropped(&mut self, reason: DropReason) {
        *self.dropped_outlinks.entry(reason).or_default() += 1;
    }

    /// Adds what was counted in a later part of the input.
    pub(super) fn merge(&mut self, later: &Self) {
        self.lines += later.lines;
        self.blank_lines += later.blank_lines;
        self.records += later.records;
        self.bytes += later.bytes;
        for (reason, count) in &later.passed_over {
            *self.passed_over.entry(*reason).or_default() += count;
        }
        for (reason, count) in &later.unread {
            *self.unread.entry(*reason).or_default() += count;
        }
        for (reason, count) in &later.rejects {
            *self.rejects.entry(*reason).or_default() += count;
        }
        for (reason, count) in &later.dropped_outlinks {
            *self.dropped_outlinks.entry(*reason).or_default() += count;
        }
        self.duplicate_outlinks += later.duplicate_outlinks;
        self.self_links += later.self_links;
        self.zones_assumed += later.zones_assumed;
        for (name, count) in &later.unknown_fields.names {
            self.unknown_fields.add(name, *count);
        }
        self.unknown_fields.others += later.unknown_fields.others;
    }
}
