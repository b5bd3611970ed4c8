//! Inputs of which the first bytes say what they are, or else JSON Lines.

use std::sync::{Arc, OnceLock};

use super::archive::links::Nofollow;
use super::archive::source;
use super::cdx::Cdx;
use super::columns::Table;
use super::json_lines::JsonLines;
use super::sitemap::Tally;
use super::urls::Urls;
use super::{heritrix, json_array, nutch, sitemap, warc, wat};
use crate::ingest::entries;
use crate::ingest::open::{DetectedInput, Input};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{DEFAULT_HELD_BYTES, Pieces, Source, Sources, Stop, max_held_bytes};
use seedbank_algorithms::watch::Watch;

/// The sources for files of any of the formats, each for itself.
pub(super) fn sources(inputs: &[Input], nofollow: Nofollow) -> Sources {
    let tally = Arc::new(Tally::of(inputs.len()));
    let source = |input: &Input| {
        Box::new(Auto {
            input: input.clone(),
            nofollow,
            tally: Arc::clone(&tally),
            seen: Arc::default(),
            max_held_bytes: DEFAULT_HELD_BYTES,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// An input in one of the formats.
#[derive(Clone, Debug)]
struct Auto {
    input: Input,
    nofollow: Nofollow,
    /// How many inputs of the batch are lists of sitemaps.
    tally: Arc<Tally>,
    /// What it is by its first bytes, where it is read as lines.
    seen: Arc<OnceLock<DetectedInput>>,
    /// How many bytes a table may hold.
    max_held_bytes: usize,
}

impl Source for Auto {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        let is = opened.peek_format();
        if let Some(table) = Table::of(is, &opened) {
            return table.pieces(&self.input, opened, self.max_held_bytes, progress);
        }
        let name = self.name();
        let seen = Arc::clone(&self.seen);
        Ok(match is {
            Some(DetectedFormat::Wat) => {
                let archive = wat::archive(&self.input, self.nofollow);
                source::pieces(&archive, opened, progress)
            }
            Some(DetectedFormat::Warc) => {
                let archive = warc::archive(&self.input, self.nofollow);
                source::pieces(&archive, opened, progress)
            }
            Some(DetectedFormat::JsonArray | DetectedFormat::JsonSpread) => {
                json_array::pieces(name, opened, progress)
            }
            Some(DetectedFormat::Sitemap | DetectedFormat::SitemapIndex) => {
                sitemap::pieces(name, opened, Arc::clone(&self.tally), progress)
            }
            Some(DetectedFormat::Urls) => entries::pieces(opened, Urls, seen, progress),
            Some(DetectedFormat::Cdx | DetectedFormat::Cdxj) => {
                entries::pieces(opened, Cdx, seen, progress)
            }
            Some(DetectedFormat::CrawlLog) => {
                entries::pieces(opened, heritrix::Pages, seen, progress)
            }
            Some(DetectedFormat::Nutch(form)) => nutch::pieces(form, opened, seen, progress),
            _ => entries::pieces(opened, &JsonLines, seen, progress),
        })
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.seen.get().cloned()
    }
}
