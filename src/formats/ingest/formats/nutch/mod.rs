//! What Nutch's databases are dumped as: pages by `readdb -dump`, as text, CSV or JSON, and links by
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
//! Each file is one of the four, by its first lines. What a page's status and times say is told in
//! [`datum`]; of links, the page that has them counts as crawled, and the page that they lead to is
//! only linked to.

mod csv;
mod date;
mod datum;
mod json;
mod links;
mod text;

use std::sync::{Arc, OnceLock};

use crate::ingest::crawler_output::NutchDump;
use crate::ingest::entries;
use crate::ingest::open::{DetectedInput, Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Source, Sources, Stop};
use seedbank_algorithms::watch::Watch;

/// The sources for dumps.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    let source = |input: &Input| {
        Box::new(Dump {
            input: input.clone(),
            seen: Arc::default(),
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// A file of a dump, plain or compressed.
#[derive(Clone, Debug)]
struct Dump {
    input: Input,
    seen: Arc<OnceLock<DetectedInput>>,
}

impl Source for Dump {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        let dump = match opened.peek_format() {
            Some(DetectedFormat::Nutch(dump)) => dump,
            // An empty part of a dump, or one that is refused line by line.
            None => NutchDump::Text,
            Some(format) => {
                let seen = DetectedInput {
                    file: self.name(),
                    format,
                    compression: opened.compression(),
                };
                return Err(InputError::NotRecords(seen).into());
            }
        };
        Ok(pieces(dump, opened, Arc::clone(&self.seen), progress))
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.seen.get().cloned()
    }
}

/// The pieces of an open dump of this kind.
pub(super) fn pieces<'a>(
    dump: NutchDump,
    input: Opened,
    seen: Arc<OnceLock<DetectedInput>>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    match dump {
        NutchDump::Text => text::pieces(input, seen, progress),
        NutchDump::Csv => entries::pieces(input, csv::Csv, seen, progress),
        NutchDump::Json => entries::pieces(input, json::Json, seen, progress),
        NutchDump::Links => entries::pieces(input, links::Links, seen, progress),
    }
}

#[cfg(test)]
mod tests;
