//! WARC: what crawlers write, the answers of servers as they came.
//!
//! ```text
//! gzip --> WARC records --Splitter--> heads, and bodies of HTML undone --page, in parallel--> a record for each page
//! ```
//!
//! * `response`: what its status says of the page (as in all formats, [`fetch`](crate::ingest::fetch)),
//!   and of a page of HTML its links. `revisit`: the page was fetched and is as it was. `metadata` of
//!   Heritrix: links that it found in an answer. All others are passed over and counted
//!   (`passed_over` of the summary).
//! * Only of pages of HTML that were fetched is the body held, and of these at most 16 MiB; any other
//!   body is skipped as it is read, however long it is.
//! * What Heritrix noted of an answer stands beside it, with at most four other records between, in
//!   either order. Both are one record of the page: the links are those of its HTML, or else, where
//!   the answer has none (a PDF, a revisit), those that were noted. Notes that stand alone make a
//!   record of their own, which counts as a microsecond older than its date: so an answer of the same
//!   time wins wherever it stands. Which records belong together is decided as the text is cut, so that
//!   it does not depend on where that is.
//! * A record that is refused has its number for a position, as in WAT.
//!
//! Cost: one pass over the HTML of a page (two where it is not UTF-8), and memory for pieces of half
//! a megabyte, or of the longest page; what servers compressed is undone as the text is cut, so that
//! it counts with its length.

mod http_response;
mod charset;
mod content_encoding;
mod open_elements;
mod html;
mod item;
mod page;
mod tags;

use super::archive::page_links::Nofollow;
use super::archive::source::Archive;
use crate::ingest::open::Input;
use crate::ingest::source::{Source, Sources};
use item::Warc;

/// The sources for WARC files.
pub(super) fn sources(inputs: &[Input], nofollow: Nofollow) -> Sources {
    let source = |input| Box::new(archive(input, nofollow)) as Box<dyn Source>;
    inputs.iter().map(source).collect()
}

/// A WARC file.
pub(super) fn archive(input: &Input, nofollow: Nofollow) -> Archive<Warc> {
    Archive {
        input: input.clone(),
        layout: Warc { nofollow },
        read: page::read,
    }
}
