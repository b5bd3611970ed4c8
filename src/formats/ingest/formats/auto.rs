//! Inputs whose format is detected from their first bytes.

use super::archive::page_links::Nofollow;
use super::cdx::Cdx;
use super::file_source::{FileFormat, OpenFile};
use super::json_array::JsonArray;
use super::json_lines::JsonLines;
use super::sitemap::Sitemap;
use super::tabular::{Arrow, Delimited, Parquet, is_delimited_table};
use super::urls::Urls;
use super::warc::Warc;
use super::wat::Wat;
use super::{heritrix, nutch};
use crate::ingest::foreign::Foreign;
use crate::ingest::source::{Pieces, Stop};
use crate::ingest::{entries, lines};

/// The detected format of each input, or else JSON Lines.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    nofollow: Nofollow,
    sitemap: Sitemap,
}

impl Auto {
    pub(super) fn new(nofollow: Nofollow, inputs: usize) -> Self {
        let sitemap = Sitemap::new(inputs);
        Self { nofollow, sitemap }
    }
}

impl FileFormat for Auto {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let nofollow = self.nofollow;
        let pieces = match file.opened.look_ahead() {
            Some(Foreign::Wat) => return Wat { nofollow }.pieces(file),
            Some(Foreign::Warc) => return Warc { nofollow }.pieces(file),
            Some(Foreign::Parquet) => return Parquet.pieces(file),
            Some(Foreign::Arrow) => return Arrow.pieces(file),
            Some(Foreign::JsonArray | Foreign::JsonSpread) => return JsonArray.pieces(file),
            Some(Foreign::Sitemap | Foreign::SitemapIndex) => return self.sitemap.pieces(file),
            Some(Foreign::Nutch(_)) => return nutch::Dump.pieces(file),
            None | Some(Foreign::Tabs | Foreign::Commas | Foreign::Semicolons)
                if is_delimited_table(file.opened.ahead()) =>
            {
                return Delimited::Any.pieces(file);
            }
            Some(Foreign::Urls) => entries::pieces(file.opened, Urls, file.seen, &file.progress),
            Some(Foreign::Cdx | Foreign::Cdxj) => {
                entries::pieces(file.opened, Cdx, file.seen, &file.progress)
            }
            Some(Foreign::CrawlLog) => {
                entries::pieces(file.opened, heritrix::CrawlLog, file.seen, &file.progress)
            }
            _ => lines::pieces(file.opened, &JsonLines, file.seen, &file.progress),
        };
        Ok(pieces)
    }
}
