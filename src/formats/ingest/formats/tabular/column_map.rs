//! Maps the columns of a table to fields, by their names.

use super::error::TableError;
use crate::ingest::formats::json_lines::RECORD_FIELDS;
use crate::ingest::reject::excerpt;

/// The fields of Common Crawl's index that are read.
pub(super) const INDEX_FIELDS: [&str; 5] = [
    "url",
    "fetch_time",
    "fetch_status",
    "fetch_redirect",
    "content_digest",
];

/// The other columns of this index. They are not reported as unknown.
const IGNORED_INDEX_FIELDS: [&str; 28] = [
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

/// The most bytes of names in an error.
const MAX_LISTED_BYTES: usize = 200;

/// What a row describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    Record,
    /// A capture in Common Crawl's index.
    Capture,
}

/// The meaning of the columns of a table.
#[derive(Clone, Debug)]
pub(super) struct ColumnMap {
    pub(super) kind: RowKind,
    /// Number of columns.
    pub(super) count: usize,
    /// The columns that are read, in the order of the fields: the field and the column's index.
    pub(super) fields: Vec<(&'static str, usize)>,
    /// The names of unknown columns, sorted.
    pub(super) unknown: Vec<String>,
}

impl ColumnMap {
    /// Maps columns with these names, in order. Names are compared without case.
    pub(super) fn new(file: &str, names: &[String]) -> Result<Self, TableError> {
        let index = |field: &str| names.iter().position(|name| is_named(name, field));
        if index("url").is_none() {
            return Err(TableError::NoUrl {
                file: file.to_owned(),
                columns: list_names(names),
            });
        }
        let is_index = index("fetch_status").is_some() && index("outlinks").is_none();
        let (kind, all, others): (_, &[&'static str], &[&str]) = if is_index {
            (RowKind::Capture, &INDEX_FIELDS, &IGNORED_INDEX_FIELDS)
        } else {
            (RowKind::Record, &RECORD_FIELDS, &[])
        };
        for field in all {
            if names.iter().filter(|name| is_named(name, field)).count() > 1 {
                return Err(TableError::Twice {
                    file: file.to_owned(),
                    column: (*field).to_owned(),
                });
            }
        }
        let fields = all.iter().filter_map(|field| Some((*field, index(field)?)));
        let is_known = |name: &str| all.iter().chain(others).any(|known| is_named(name, known));
        let mut unknown: Vec<String> = names.iter().filter(|n| !is_known(n)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        Ok(Self {
            kind,
            count: names.len(),
            fields: fields.collect(),
            unknown,
        })
    }
}

fn is_named(name: &str, field: &str) -> bool {
    name.trim().eq_ignore_ascii_case(field)
}

/// Lists names for an error.
fn list_names(names: &[String]) -> String {
    let mut list = String::new();
    for name in names {
        if list.len() > MAX_LISTED_BYTES {
            list.push_str(", ...");
            break;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&excerpt(name.as_bytes()));
    }
    list
}
