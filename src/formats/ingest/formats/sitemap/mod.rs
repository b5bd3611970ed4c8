//! Sitemaps as XML: the pages that a site names, which become known.
//!
//! ```text
//! <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//!   <url><loc>http://a.example/</loc><lastmod>2026-11-19</lastmod>
//!     <xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/></url>
//! </urlset>
//! ```
//!
//! * A page's `loc` and its alternates are pages; when a page changed, how often it does, its priority,
//!   images, videos and news are left out.
//! * A list of sitemaps (`sitemapindex`) names no pages, and nothing is fetched: its entries are
//!   passed over and counted. A batch that has nothing else is refused.
//! * Elements count by their namespace, which is that of the first element, whatever their prefix.
//! * The text is read as a stream: what is held is one tag, and the URLs of a piece.

mod bytes;
mod error;
mod xml;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::ingest::open::{DetectedInput, Input, InputError, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Source, Sources, Stop};
use crate::ingest::summary::SkipReason;
use bytes::Bytes;
use error::SitemapError;
use seedbank_algorithms::watch::Watch;
use xml::{Named, Xml};

/// What each URL of a piece is taken to add to what it is cut from.
const OF_URL: usize = 32;

/// The sources for sitemaps.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    let tally = Arc::new(Tally::of(inputs.len()));
    let source = |input: &Input| {
        Box::new(Sitemap {
            input: input.clone(),
            tally: Arc::clone(&tally),
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// What the inputs of a batch have had so far: with lists of sitemaps alone, there is nothing in it.
#[derive(Debug)]
pub(super) struct Tally {
    /// How many inputs are not yet at their end, and are no list of sitemaps so far.
    others: AtomicUsize,
    sitemaps: AtomicU64,
}

impl Tally {
    /// Of so many inputs.
    pub(super) const fn of(inputs: usize) -> Self {
        Self {
            others: AtomicUsize::new(inputs),
            sitemaps: AtomicU64::new(0),
        }
    }

    /// An input is at its end, and was a list of so many sitemaps: how many there are in all, where
    /// no input can have pages.
    fn index(&self, sitemaps: u64) -> Option<u64> {
        let all = self.sitemaps.fetch_add(sitemaps, Ordering::Relaxed) + sitemaps;
        (self.others.fetch_sub(1, Ordering::Relaxed) == 1).then_some(all)
    }
}

/// A sitemap, plain or compressed.
#[derive(Clone, Debug)]
struct Sitemap {
    input: Input,
    tally: Arc<Tally>,
}

impl Source for Sitemap {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        match opened.peek_format() {
            None
            | Some(DetectedFormat::Sitemap | DetectedFormat::SitemapIndex | DetectedFormat::Xml) => {
            }
            Some(format) => {
                let seen = DetectedInput {
                    file: self.name(),
                    format,
                    compression: opened.compression(),
                };
                return Err(InputError::NotRecords(seen).into());
            }
        }
        let tally = Arc::clone(&self.tally);
        Ok(pieces(self.name(), opened, tally, progress))
    }
}

/// The pieces of an open input with this name.
pub(super) fn pieces<'a>(
    file: String,
    input: Opened,
    tally: Arc<Tally>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let bytes = Bytes::new(input, progress.clone());
    Box::new(Cutter {
        xml: Xml::new(file.clone(), bytes),
        file,
        tally,
        failed: None,
        is_ended: false,
    })
}

/// The URLs of a sitemap, in pieces.
struct Cutter<'a> {
    file: String,
    xml: Xml<'a>,
    tally: Arc<Tally>,
    /// The error that is told after the URLs before it.
    failed: Option<Stop>,
    is_ended: bool,
}

impl Cutter<'_> {
    /// What is wrong with a sitemap that was read to its end.
    fn at_end(&self) -> Option<Stop> {
        if !self.xml.is_index() {
            return None;
        }
        let sitemaps = self.tally.index(self.xml.number)?;
        let error = SitemapError::NoPages {
            file: self.file.clone(),
            sitemaps,
        };
        Some(InputError::from(error).into())
    }
}

impl<'a> Iterator for Cutter<'a> {
    type Item = Result<Piece<'a>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failed) = self.failed.take() {
            return Some(Err(failed));
        }
        let from = self.xml.done();
        let mut named: Vec<(u64, Named)> = Vec::new();
        let mut memory = 0;
        while !self.is_ended && memory < PIECE_SIZE && named.len() < PIECE_RECORDS {
            match self.xml.next_named() {
                Ok(Some(next)) => {
                    memory += OF_URL;
                    if let Named::Page(url, _) = &next {
                        memory += url.len();
                    }
                    named.push((self.xml.number, next));
                }
                Ok(None) => {
                    self.is_ended = true;
                    self.failed = self.at_end();
                }
                Err(error) => {
                    self.is_ended = true;
                    self.failed = Some(error);
                }
            }
        }
        if named.is_empty() {
            return self.failed.take().map(Err);
        }
        Some(Ok(Piece {
            bytes: self.xml.done() - from,
            records: named.len(),
            memory,
            read: Box::new(move |parser| read(&named, parser)),
        }))
    }
}

fn read(named: &[(u64, Named)], parser: &mut PieceParser) {
    for (number, named) in named {
        match named {
            Named::Sitemap => parser.skip_record(SkipReason::Sitemap),
            Named::Page(url, is) => {
                let said = match is {
                    Ok(()) => parser.page(url),
                    Err(said) => Err(Fault::new(RejectReason::InvalidUrl, *said)),
                };
                let said = said.map(|page| Event::Record(PageRecord::new(page)));
                parser.add(Position::Record(*number), said, url.as_bytes());
            }
        }
    }
}
