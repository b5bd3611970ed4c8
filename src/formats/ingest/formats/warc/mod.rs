//! WARC: archives with the responses of servers, as crawlers write them.
//!
//! ```text
//! gzip --> records --Splitter--> headers, and decoded bodies of HTML --page, in parallel--> a record for each page
//! ```
//!
//! * `response`: the status decides what the record says of the page, as in all formats
//!   ([`fetch`](crate::ingest::fetch)); an HTML page also has its links. `revisit`: the page was
//!   crawled and is unchanged. `metadata` written by Heritrix: the links that it found in a
//!   response. All other records are skipped and counted in `passed_over` of the summary.
//! * Only the bodies of crawled HTML pages are held, at most 16 MiB of each. Any other body is
//!   skipped while it is read, whatever its length.
//! * Heritrix writes the metadata of a response next to it, in either order, with at most four other
//!   records between. Both are read as one record of the page: its links are those of its HTML or,
//!   if the response has none (a PDF, a revisit), those of the metadata. Metadata without a response
//!   becomes a record of its own, dated a microsecond before its date, so that a response of the
//!   same time takes precedence wherever it is. Which records belong together is decided while the
//!   text is cut, so it does not depend on the pieces.
//! * The position of a rejected record is its number, as in WAT.
//!
//! Cost: one pass over the HTML of a page (two if it is not UTF-8), and memory for pieces of half a
//! megabyte, or for the longest page. Bodies are decoded while the text is cut, so that pieces are
//! measured by decoded length.

mod html;
mod page;

pub(super) use page::Warc;
