//! What the columns of a table mean, by their names.

use super::error::TableError;
use crate::ingest::formats::json_lines::RECORD_FIELDS;
use crate::ingest::reject::excerpt;

/// The fields that are read of an index of Common Crawl.
pub(super) const INDEX_FIELDS: [&str; 5] = [
    "url",
    "fetch_time",
    "fetch_status",
    "fetch_redirect",
    "content_digest",
];

/// The other columns that such an index has: they are left out, and nobody has misspelt them.
const INDEX_OTHERS: [&str; 28] = [
    "url_surtkey",
    "url_host_name",
    "url_host_tld",
    "url_host_2nd_last_part",
    "url_host_3rd_last_part",
    "url_host_4th_last_part",
    "url_host_5th_last_part",
    "url_host_registry_suffix",
    "url_host_registered_domain",
    "url_host_private_suffix",
    "url_host_private_domain",
    "url_host_name_reversed",
    "url_protocol",
    "url_port",
    "url_path",
    "url_query",
    "content_mime_type",
    "content_mime_detected",
    "content_charset",
    "content_languages",
    "content_truncated",
    "warc_record_id",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "warc_segment",
    "crawl",
    "subset",
];

/// How many bytes of names an error tells.
const NAMES_TOLD: usize = 200;

/// What a row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    /// A record.
    Record,
    /// A capture in an index of Common Crawl.
    Capture,
}

/// Where the fields of rows stand.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) kind: RowKind,
    /// Each column that is read, in the order of the fields: the field and the column's place.
    pub(super) fields: Vec<(&'static str, usize)>,
    /// The names of columns that no record has, sorted.
    pub(super) unknown: Vec<String>,
}

impl Layout {
    /// The meaning of columns with these names, in their order. Upper and lower case are one.
    pub(super) fn of(file: &str, names: &[String]) -> Result<Self, TableError> {
        let place = |field: &str| names.iter().position(|name| is(name, field));
        if place("url").is_none() {
            return Err(TableError::NoUrl {
                file: file.to_owned(),
                columns: told(names),
            });
        }
        let is_index = place("fetch_status").is_some() && place("outlinks").is_none();
        let (kind, all, others): (_, &[&'static str], &[&str]) = if is_index {
            (RowKind::Capture, &INDEX_FIELDS, &INDEX_OTHERS)
        } else {
            (RowKind::Record, &RECORD_FIELDS, &[])
        };
        for field in all {
            if names.iter().filter(|name| is(name, field)).count() > 1 {
                return Err(TableError::Twice {
                    file: file.to_owned(),
                    column: (*field).to_owned(),
                });
            }
        }
        let fields = all.iter().filter_map(|field| Some((*field, place(field)?)));
        let is_known = |name: &str| all.iter().chain(others).any(|known| is(name, known));
        let mut unknown: Vec<String> = names.iter().filter(|n| !is_known(n)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        Ok(Self {
            kind,
            fields: fields.collect(),
            unknown,
        })
    }
}

fn is(name: &str, field: &str) -> bool {
    name.trim().eq_ignore_ascii_case(field)
}

/// Names for an error.
fn told(names: &[String]) -> String {
    let mut told = String::new();
    for name in names {
        if told.len() > NAMES_TOLD {
            told.push_str(", ...");
            break;
        }
        if !told.is_empty() {
            told.push_str(", ");
        }
        told.push_str(&excerpt(name.as_bytes()));
    }
    told
}
