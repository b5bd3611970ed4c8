//! Inputs of which the first bytes say what they are, or else JSON Lines.

use std::sync::{Arc, OnceLock};

use super::archive::page_links::Nofollow;
use super::archive::source;
use super::cdx::Cdx;
use super::tabular::Table;
use super::json_lines::JsonLines;
use super::sitemap::Tally;
use super::urls::Urls;
use super::{heritrix, json_array, nutch, sitemap, warc, wat};
use crate::ingest::foreign::Foreign;
use crate::ingest::open::{Input, SeenInput};
use crate::ingest::progress::Progress;
use crate::ingest::source::{MOST_HELD, Pieces, Source, Sources, Stop, most_held};
use crate::ingest::{entries, lines};
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
            most_held: MOST_HELD,
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
    seen: Arc<OnceLock<SeenInput>>,
    /// How many bytes a table may hold.
    most_held: usize,
}

impl Source for Auto {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.most_held = most_held(bytes);
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        let is = opened.look_ahead();
        if let Some(table) = Table::of(is, &opened) {
            return table.pieces(&self.input, opened, self.most_held, progress);
        }
        let name = self.name();
        let seen = Arc::clone(&self.seen);
        Ok(match is {
            Some(Foreign::Wat) => {
                let archive = wat::archive(&self.input, self.nofollow);
                source::pieces(&archive, opened, progress)
            }
            Some(Foreign::Warc) => {
                let archive = warc::archive(&self.input, self.nofollow);
                source::pieces(&archive, opened, progress)
            }
            Some(Foreign::JsonArray | Foreign::JsonSpread) => {
                json_array::pieces(name, opened, progress)
            }
            Some(Foreign::Sitemap | Foreign::SitemapIndex) => {
                sitemap::pieces(name, opened, Arc::clone(&self.tally), progress)
            }
            Some(Foreign::Urls) => entries::pieces(opened, Urls, seen, progress),
            Some(Foreign::Cdx | Foreign::Cdxj) => entries::pieces(opened, Cdx, seen, progress),
            Some(Foreign::CrawlLog) => entries::pieces(opened, heritrix::Pages, seen, progress),
            Some(Foreign::Nutch(form)) => nutch::pieces(form, opened, seen, progress),
            _ => lines::pieces(opened, &JsonLines, seen, progress),
        })
    }

    fn seen(&self) -> Option<SeenInput> {
        self.seen.get().cloned()
    }
}
