//! Links and pages as tab-separated lines without a header.

use crate::ingest::entries::{LineFormat, line_sources};
use crate::ingest::interner::UrlNumber;
use crate::ingest::number::integer;
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{
    Event, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageAttributes, UncrawledOutlinks,
};
use crate::ingest::source::Sources;
use crate::ingest::summary::{Fault, RejectReason};

/// Returns the sources for lists of links, then the one for the list of their pages.
pub(super) fn sources(inputs: &[Input], pages: Option<&Input>) -> Sources {
    let mut sources = line_sources(inputs, LinksTsv);
    let pages: Vec<Input> = pages.into_iter().cloned().collect();
    sources.extend(line_sources(&pages, PagesTsv));
    sources
}

/// Links: `from_url<TAB>to_url`, in any order.
///
/// Both pages count as crawled. If the target is not a page, or is the source itself, the link is
/// dropped and counted, and the line still names its source. A bad source rejects the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinksTsv;

impl LineFormat for LinksTsv {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let [from, to] = columns_of_page(line, parser)?;
        let from = parser.page(from)?;
        Ok(match parser.target(from, to) {
            Some(to) => Event::Link { from, to },
            None => Event::Page(PageAttributes::named(from)),
        })
    }
}

/// Pages: `url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks`.
///
/// `spam` is 0 or 1. An empty field means absent, but 0 is a value (the bank then does not count
/// uncrawled outlinks).
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesTsv;

impl LineFormat for PagesTsv {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let [url, spam, clicks, uncrawled] = columns_of_page(line, parser)?;
        let mut attributes = PageAttributes::named(parser.page(url)?);
        attributes.spam = parser.field("spam", flag(spam, "spam"));
        attributes.clicks = parser.field("clicks", count(clicks, "clicks", MAX_CLICKS));
        let (name, max) = ("uncrawled_outlinks", u64::from(MAX_UNCRAWLED_OUTLINKS));
        let uncrawled = parser.field(name, count(uncrawled, name, max));
        let uncrawled = uncrawled.map(u32::try_from);
        if let Some(Ok(uncrawled)) = uncrawled {
            attributes.uncrawled_outlinks = UncrawledOutlinks::Given(uncrawled);
        }
        Ok(Event::Page(attributes))
    }
}

/// Splits a line into its `N` columns. The page in the first column exists, even if the number of columns is wrong.
fn columns_of_page<'a, const N: usize>(
    line: &'a str,
    parser: &mut PieceParser,
) -> Result<[&'a str; N], Fault> {
    columns(line).inspect_err(|_| {
        let _ = parser.page(line.split('\t').next().unwrap_or_default());
    })
}

/// Parses a column that is 0 or 1; an empty one is absent.
pub(crate) fn flag(text: &str, field: &str) -> Result<Option<bool>, Fault> {
    match text {
        "" => Ok(None),
        "0" => Ok(Some(false)),
        "1" => Ok(Some(true)),
        _ => Err(Fault::new(
            RejectReason::WrongType,
            format!("{field}: must be 0, 1 or empty"),
        )),
    }
}

/// Refuses a line with NUL bytes, which is probably not text.
pub(super) fn check_no_nul(line: &str) -> Result<(), Fault> {
    if line.contains('\0') {
        let detail = "a NUL byte: is this text?";
        return Err(Fault::new(RejectReason::NulByte, detail));
    }
    Ok(())
}

/// Splits a line into its columns, of which there must be `N`.
pub(crate) fn columns<const N: usize>(line: &str) -> Result<[&str; N], Fault> {
    check_no_nul(line)?;
    let mut columns = [""; N];
    let mut found = 0;
    for field in line.split('\t') {
        if let Some(column) = columns.get_mut(found) {
            *column = field;
        }
        found += 1;
    }
    if found == N {
        Ok(columns)
    } else {
        Err(Fault::new(
            RejectReason::Columns,
            format!("expected {N} columns, found {found}"),
        ))
    }
}

fn count(text: &str, field: &str, max: u64) -> Result<Option<u64>, Fault> {
    (!text.is_empty())
        .then(|| integer(text, field, max))
        .transpose()
}

#[cfg(test)]
#[path = "tsv_tests.rs"]
mod tests;
