//! `readlinkdb -dump`: the pages that link to a page, below it.

use std::sync::Arc;

use crate::ingest::blocks::MAX_LINE;
use crate::ingest::crawler_output::{FROM, INLINKS};
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageAttributes};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;

/// A line of the dump: a page, or one that links to the last page that was named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links;

impl EntryFormat for Links {
    type Context = Option<Arc<str>>;

    fn update(&self, line: &[u8], to: &mut Option<Arc<str>>) {
        // What begins with a space is a link, whatever its anchor ends in.
        let is_link = line.starts_with(b" ");
        if line.ends_with(INLINKS.as_bytes()) && line.len() <= MAX_LINE && !is_link {
            // A page whose URL is no text has no links.
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
        let wrong = |said| Err(Fault::new(RejectReason::Columns, said));
        let Some(rest) = line.strip_prefix(FROM) else {
            return wrong("neither a page with its inlinks nor one that links to it");
        };
        let Some(to) = to else {
            return wrong("no page was named to which this one links");
        };
        let from = rest.split_once(' ').map_or(rest, |(from, _)| from);
        let from = parser.page(from)?;
        Ok(Entry::One(match parser.target(from, to) {
            Some(to) => Event::Outlink { from, to },
            None => Event::Page(PageAttributes::named(from)),
        }))
    }
}

/// The page whose inlinks follow the line.
fn page_of(line: &str) -> Option<&str> {
    line.strip_suffix(INLINKS)
        .filter(|url| !url.starts_with(' '))
}
