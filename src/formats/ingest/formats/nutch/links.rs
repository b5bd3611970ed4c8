//! `readlinkdb -dump`: each page, followed by the pages that link to it.

use std::sync::Arc;

use crate::ingest::blocks::MAX_LINE;
use crate::ingest::crawler_output::{FROM, INLINKS};
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageAttributes};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;

/// A line of the dump: a page, or one that links to the last page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links;

impl EntryFormat for Links {
    type Context = Option<Arc<str>>;

    fn update(&self, line: &[u8], to: &mut Option<Arc<str>>) {
        // A line that begins with a space is a link, whatever its anchor ends with.
        let is_link = line.starts_with(b" ");
        if line.ends_with(INLINKS.as_bytes()) && line.len() <= MAX_LINE && !is_link {
            // The links of a page whose URL is not UTF-8 are rejected.
            let page = std::str::from_utf8(line).ok().and_then(page_of);
            *to = page.map(Arc::from);
        }
    }

    fn read(
        &self,
        line: &str,
        to: &Option<Arc<str>>,
        parser: &mut PieceParser,
    ) -> Result<Entry, Fault> {
        if page_of(line).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let wrong = |detail| Err(Fault::new(RejectReason::Columns, detail));
        let Some(rest) = line.strip_prefix(FROM) else {
            return wrong("expected a page with inlinks, or a page that links to one");
        };
        let Some(to) = to else {
            return wrong("expected a page with inlinks before the pages that link to it");
        };
        let from = rest.split_once(' ').map_or(rest, |(from, _)| from);
        let from = parser.page(from)?;
        Ok(Entry::One(match parser.target(from, to) {
            Some(to) => Event::Outlink { from, to },
            None => Event::Page(PageAttributes::named(from)),
        }))
    }
}

/// Returns the page whose inlinks follow the line.
fn page_of(line: &str) -> Option<&str> {
    line.strip_suffix(INLINKS)
        .filter(|url| !url.starts_with(' '))
}
