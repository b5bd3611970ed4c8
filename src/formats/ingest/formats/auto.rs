//! Inputs whose format is detected from their first bytes.

use super::archive::Nofollow;
use super::browsertrix::PageList;
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
use crate::ingest::entries;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Stop};

/// The detected format of each input.
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
        let format = file.opened.peek_format();
        if !file.columns.is_empty() {
            return match format {
                Some(DetectedFormat::Parquet) => Parquet.pieces(file),
                Some(DetectedFormat::Arrow) => Arrow.pieces(file),
                // Its columns are checked against the names.
                _ => Delimited::Any.pieces(file),
            };
        }
        let pieces = match format {
            Some(DetectedFormat::Wat) => return Wat { nofollow }.pieces(file),
            Some(DetectedFormat::Warc | DetectedFormat::Arc) => {
                return Warc { nofollow }.pieces(file);
            }
            Some(DetectedFormat::Parquet) => return Parquet.pieces(file),
            Some(DetectedFormat::Arrow) => return Arrow.pieces(file),
            Some(DetectedFormat::JsonArray | DetectedFormat::JsonSpread) => {
                return JsonArray.pieces(file);
            }
            Some(DetectedFormat::Sitemap | DetectedFormat::SitemapIndex | DetectedFormat::Feed) => {
                return self.sitemap.pieces(file);
            }
            Some(DetectedFormat::Nutch(_)) => return nutch::Dump.pieces(file),
            None
            | Some(
                DetectedFormat::Tabs
                | DetectedFormat::Commas
                | DetectedFormat::Semicolons
                | DetectedFormat::Text,
            ) if is_delimited_table(file.opened.ahead(), &file.columns) => {
                return Delimited::Any.pieces(file);
            }
            Some(DetectedFormat::Urls) => {
                entries::pieces(file.opened, Urls, file.seen, &file.progress)
            }
            Some(DetectedFormat::Cdx | DetectedFormat::Cdxj) => {
                entries::pieces(file.opened, Cdx, file.seen, &file.progress)
            }
            Some(DetectedFormat::CrawlLog) => {
                entries::pieces(file.opened, heritrix::CrawlLog, file.seen, &file.progress)
            }
            Some(DetectedFormat::Browsertrix) => {
                entries::pieces(file.opened, PageList::default(), file.seen, &file.progress)
            }
            // Also a file without text, which has no records.
            None | Some(DetectedFormat::JsonLines) => {
                entries::pieces(file.opened, &JsonLines, file.seen, &file.progress)
            }
            Some(other) => return Err(file.other_format(other)),
        };
        Ok(pieces)
    }
}
