//! Lists of URLs, as crawlers read and write them: each line names a page and says nothing else
//! about it.
//!
//! ```text
//! # a comment
//! http://a.example/
//! http://b.example/<TAB>nutch.score=0.5<TAB>key=value
//! http://c.example/ # a comment of Heritrix
//! +http://(example,d,     a directive of Heritrix, which names no page
//! ```

use super::tsv::check_no_nul;
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::summary::{Fault, SkipReason};

/// A list of URLs, one per line.
///
/// Text after a tab is ignored, and so is a comment, which begins with `#` after white space. Lines
/// that begin with `#`, and directives, which begin with `+` or `-`, name no page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Urls;

impl EntryFormat for Urls {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        check_no_nul(line)?;
        let Some(url) = url_of(line) else {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        };
        let page = parser.page(url)?;
        Ok(Entry::One(Event::Record(PageRecord::new(page))))
    }
}

/// Returns the URL of a line; `None` if it is a comment or a directive.
fn url_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with(['#', '+', '-']) {
        return None;
    }
    let url = line.split_once('\t').map_or(line, |(url, _)| url);
    let comments = url.match_indices('#').map(|(at, _)| at);
    let before = |at: &usize| url.get(..*at).unwrap_or(url);
    let mut comments = comments.filter(|at| before(at).ends_with(char::is_whitespace));
    let url = comments.next().map_or(url, |at| before(&at));
    Some(url.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_ends_where_something_else_begins() {
        for (line, url) in [
            ("http://a.example/", Some("http://a.example/")),
            ("  http://a.example/ ", Some("http://a.example/")),
            ("http://a.example/\tx=1\ty", Some("http://a.example/")),
            ("http://a.example/ # x", Some("http://a.example/")),
            ("http://a.example/#x", Some("http://a.example/#x")),
            ("http://a.example/#x # y", Some("http://a.example/#x")),
            ("\thttp://a.example/", Some("http://a.example/")),
            ("# http://a.example/", None),
            ("+http://(example,a,", None),
            ("-http://a.example/", None),
        ] {
            assert_eq!(url_of(line), url, "{line:?}");
        }
    }
}
