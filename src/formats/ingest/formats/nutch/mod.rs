//! Dumps of Nutch's databases: pages by `readdb -dump`, as text, CSV or JSON, and links by
//! `readlinkdb -dump`.
//!
//! ```text
//! http://a.example/<TAB>Version: 7         http://b.example/<TAB>Inlinks:
//! Status: 2 (db_fetched)                    fromUrl: http://a.example/ anchor: b
//! Fetch time: Thu Nov 19 04:00:00 UTC 2026
//! ...
//! Metadata:
//!  <TAB>_pst_=success(1), lastModified=0
//! ```
//!
//! The first lines of a file show which of the four it is. [`datum`] explains what statuses and
//! times of pages mean. The source of a link counts as crawled, and its target as linked to.

mod csv;
mod date;
mod datum;
mod json;
mod links;
mod text;

use super::file_source::{FileFormat, OpenFile};
use crate::ingest::crawler_output::NutchDump;
use crate::ingest::entries;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Stop};

/// A dump of one of the databases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dump;

impl FileFormat for Dump {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let dump = match file.opened.peek_format() {
            Some(DetectedFormat::Nutch(dump)) => dump,
            // An empty part of a dump, or a file that is rejected line by line.
            None => NutchDump::Text,
            Some(other) => return Err(file.other_format(other)),
        };
        let (input, seen, progress) = (file.opened, file.seen, &file.progress);
        Ok(match dump {
            NutchDump::Text => text::pieces(input, seen, progress),
            NutchDump::Csv => entries::pieces(input, csv::Csv, seen, progress),
            NutchDump::Json => entries::pieces(input, json::Json, seen, progress),
            NutchDump::Links => entries::pieces(input, links::Links, seen, progress),
        })
    }
}

#[cfg(test)]
mod tests;
