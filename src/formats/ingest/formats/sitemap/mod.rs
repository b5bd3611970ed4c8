//! XML sitemaps: the pages that a site lists, which become known pages.
//!
//! ```text
//! <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//!   <url><loc>http://a.example/</loc><lastmod>2026-11-19</lastmod>
//!     <xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/></url>
//! </urlset>
//! ```
//!
//! * The `loc` of an entry and its alternates are pages. Modification times, change frequencies,
//!   priorities, images, videos and news are ignored.
//! * A sitemap index (`sitemapindex`) lists no pages, and nothing is fetched: its entries are
//!   skipped and counted. A batch of nothing but indexes is refused.
//! * Elements are identified by their namespace, which is that of the first element, whatever their
//!   prefix.
//! * The text is read as a stream: only one tag and the URLs of a piece are held.

mod error;
mod limited_bytes;
mod xml;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop};
use crate::ingest::summary::SkipReason;
use error::SitemapError;
use limited_bytes::LimitedBytes;
use xml::{SitemapEntry, Xml};

/// Bytes of memory for each URL besides its text.
const URL_OVERHEAD: usize = 32;

/// The sitemap format, for one batch.
#[derive(Clone, Debug)]
pub(super) struct Sitemap(Arc<IndexTally>);

/// Counts the sitemap indexes of a batch, to find out whether it contains nothing else.
#[derive(Debug)]
struct IndexTally {
    /// Number of inputs that are not, or not yet, known to be indexes.
    others: AtomicUsize,
    /// Number of sitemaps in the indexes.
    sitemaps: AtomicU64,
}

impl Sitemap {
    /// The format of the sitemaps in a batch with this number of inputs.
    pub(super) fn new(inputs: usize) -> Self {
        Self(Arc::new(IndexTally {
            others: AtomicUsize::new(inputs),
            sitemaps: AtomicU64::new(0),
        }))
    }
}

impl IndexTally {
    /// Adds an index of `sitemaps` sitemaps. Returns their number in all indexes if every input of the
    /// batch is an index.
    fn add(&self, sitemaps: u64) -> Option<u64> {
        let all = self.sitemaps.fetch_add(sitemaps, Ordering::Relaxed) + sitemaps;
        (self.others.fetch_sub(1, Ordering::Relaxed) == 1).then_some(all)
    }
}

impl FileFormat for Sitemap {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        match file.opened.peek_format() {
            None
            | Some(DetectedFormat::Sitemap | DetectedFormat::SitemapIndex | DetectedFormat::Xml) => {
            }
            Some(other) => return Err(file.other_format(other)),
        }
        let name = file.name();
        let text = TextWindow::new(file.opened, file.progress);
        Ok(Box::new(Splitter {
            xml: Xml::new(name.clone(), LimitedBytes::new(text)),
            file: name,
            tally: Arc::clone(&self.0),
            failed: None,
            is_ended: false,
        }))
    }
}

/// The URLs of a sitemap, in pieces.
struct Splitter<'a> {
    file: String,
    xml: Xml<'a>,
    tally: Arc<IndexTally>,
    /// The error to return after the URLs before it.
    failed: Option<Stop>,
    is_ended: bool,
}

impl Splitter<'_> {
    /// Returns the error of a sitemap that was read to its end, if there is one.
    fn check_end(&self) -> Option<Stop> {
        if !self.xml.is_index {
            return None;
        }
        let sitemaps = self.tally.add(self.xml.number)?;
        let file = self.file.clone();
        Some(SitemapError::NoPages { file, sitemaps }.into())
    }
}

impl<'a> Iterator for Splitter<'a> {
    type Item = Result<Piece<'a>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failed) = self.failed.take() {
            return Some(Err(failed));
        }
        let from = self.xml.consumed();
        let mut entries: Vec<(u64, SitemapEntry)> = Vec::new();
        let mut memory = 0;
        while !self.is_ended && memory < PIECE_SIZE && entries.len() < PIECE_RECORDS {
            match self.xml.next_entry() {
                Ok(Some(next)) => {
                    memory += URL_OVERHEAD;
                    if let SitemapEntry::Page(url, _) = &next {
                        memory += url.len();
                    }
                    entries.push((self.xml.number, next));
                }
                Ok(None) => {
                    self.is_ended = true;
                    self.failed = self.check_end();
                }
                Err(error) => {
                    self.is_ended = true;
                    self.failed = Some(error);
                }
            }
        }
        if entries.is_empty() {
            return self.failed.take().map(Err);
        }
        Some(Ok(Piece {
            bytes: self.xml.consumed() - from,
            records: entries.len(),
            memory,
            read: Box::new(move |parser| read(&entries, parser)),
        }))
    }
}

fn read(entries: &[(u64, SitemapEntry)], parser: &mut PieceParser) {
    for (number, entry) in entries {
        match entry {
            SitemapEntry::Sitemap => parser.skip_record(SkipReason::Sitemap),
            SitemapEntry::Page(url, validity) => {
                let page = match validity {
                    Ok(()) => parser.page(url),
                    Err(detail) => Err(Fault::new(RejectReason::InvalidUrl, *detail)),
                };
                let event = page.map(|page| Event::Record(PageRecord::new(page)));
                parser.add(Position::Record(*number), event, url.as_bytes());
            }
        }
    }
}
