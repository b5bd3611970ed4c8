//! Counts of reading a batch.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::location::UrlError;
use super::reject::{RejectReason, is_hopeless};

/// The maximum number of distinct names in [`UnknownFields`].
pub(super) const MAX_UNKNOWN_FIELDS: usize = 16;

/// The number of characters stored of a name.
const MAX_NAME_CHARS: usize = 64;

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
    /// Marked as nofollow, with such links excluded.
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

/// Why a record of a web archive, or a line of a list or log, yields no record. The names (snake case) are
/// stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// It describes a request, or anything but a server's response.
    NoResponse,
    /// The response has no status, such as that of a name server.
    NoStatus,
    /// The status says nothing about the page: 304, a redirect whose target is not known, or a
    /// decision of the crawler.
    OtherStatus,
    /// A redirect without another page as its target.
    LeadsNowhere,
    /// It has no page: a comment, a directive, a header, an entry for another kind of resource.
    NoPage,
    /// It names another sitemap, which is not fetched.
    Sitemap,
    /// A prerequisite of the crawler (`robots.txt`, DNS).
    Prerequisite,
    /// It has no link, and only links are read.
    NoLink,
    /// Its URL is not a page URL (`dns:`, `ftp:`, ...).
    OtherScheme,
    /// It continues the content of a previous record.
    Continuation,
    /// It has a crawler's metadata about a response, which is read together with it or says the same.
    BesideResponse,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why the content of a page in a web archive was not, or only partly, searched for links. The names (snake
/// case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unread {
    /// Its content encoding is not supported (such as `compress`); the page's links are unknown.
    Coding,
    /// Its content encoding is damaged; the content before the damage was read.
    Damaged,
    /// It is longer than 16 MiB, of which the first 16 MiB were read, or was stored truncated.
    CutOff,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Unknown fields by name, so that misspelt fields do not lose data silently.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UnknownFields {
    /// The number of occurrences of each of at most 16 names.
    #[schemars(schema_with = "counts_by::<String>")]
    pub names: BTreeMap<String, u64>,
    /// Occurrences of other names. If 0, the counts in `names` are exact.
    pub others: u64,
}

impl UnknownFields {
    pub(super) fn count(&mut self, name: &str) {
        self.count_times(name, 1);
    }

    /// Counts a name with `times` occurrences.
    pub(super) fn count_times(&mut self, name: &str, times: u64) {
        if times == 0 {
            return;
        }
        let name = name
            .char_indices()
            .nth(MAX_NAME_CHARS)
            .map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        self.add(name, times);
    }

    fn add(&mut self, name: &str, times: u64) {
        if let Some(count) = self.names.get_mut(name) {
            *count += times;
        } else if self.names.len() < MAX_UNKNOWN_FIELDS {
            self.names.insert(name.to_owned(), times);
        } else {
            self.others += times;
        }
    }
}

/// Returns the JSON Schema of a map from `K` to positive counts.
pub fn counts_by<K: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<K>(),
        "additionalProperties": {"type": "integer", "minimum": 1},
    })
}

/// Counts of reading a batch.
///
/// `lines = records + blank_lines`, and `records` = rejects + events of other kinds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadSummary {
    /// Lines of all inputs except skipped ones; in formats that are not line-based, records and blank lines.
    pub lines: u64,
    /// Blank lines.
    pub blank_lines: u64,
    /// Records, including rejected ones; in text formats, lines that are not blank.
    pub records: u64,
    /// Bytes of decompressed text; for a graph, the bytes of its lists in memory.
    pub bytes: u64,
    /// Records of web archives, and lines of lists and logs, that yield no record, by reason; not included in
    /// `records`.
    #[schemars(schema_with = "counts_by::<SkipReason>")]
    pub passed_over: BTreeMap<SkipReason, u64>,
    /// Pages of web archives whose content was not, or only partly, read, by reason.
    #[serde(default)]
    #[schemars(schema_with = "counts_by::<Unread>")]
    pub unread: BTreeMap<Unread, u64>,
    /// Rejected records by reason.
    #[schemars(schema_with = "counts_by::<RejectReason>")]
    pub rejects: BTreeMap<RejectReason, u64>,
    /// Outlinks of accepted records that were dropped, by reason.
    #[schemars(schema_with = "counts_by::<DropReason>")]
    pub dropped_outlinks: BTreeMap<DropReason, u64>,
    /// Repeated outlinks in a record. In links TSV, duplicates are not known until a page's links are
    /// consolidated, and are not counted here.
    pub duplicate_outlinks: u64,
    /// Outlinks of a page to itself.
    pub self_links: u64,
    /// Fetch times of accepted records without a time zone, which count as UTC.
    pub zones_assumed: u64,
    /// Unknown fields, which are ignored and may be misspelt.
    pub unknown_fields: UnknownFields,
}

impl ReadSummary {
    /// Returns the number of rejected records.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    /// Returns whether more than [`MAX_LISTED_REJECTS`](super::MAX_LISTED_REJECTS) records, and more than half of all
    /// records so far, are rejected.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        is_hopeless(self.rejected(), self.records)
    }

    pub(super) fn dropped(&mut self, reason: DropReason) {
        *self.dropped_outlinks.entry(reason).or_default() += 1;
    }

    /// Adds the counts of another part of the input.
    pub fn merge(&mut self, other: &Self) {
        fn add<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
            for (reason, count) in counts {
                *sums.entry(*reason).or_default() += count;
            }
        }
        self.lines += other.lines;
        self.blank_lines += other.blank_lines;
        self.records += other.records;
        self.bytes += other.bytes;
        add(&mut self.passed_over, &other.passed_over);
        add(&mut self.unread, &other.unread);
        add(&mut self.rejects, &other.rejects);
        add(&mut self.dropped_outlinks, &other.dropped_outlinks);
        self.duplicate_outlinks += other.duplicate_outlinks;
        self.self_links += other.self_links;
        self.zones_assumed += other.zones_assumed;
        for (name, count) in &other.unknown_fields.names {
            self.unknown_fields.add(name, *count);
        }
        self.unknown_fields.others += other.unknown_fields.others;
    }
}
