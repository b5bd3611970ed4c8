//! Links and pages as tab-separated lines, without a header.

use super::location::{Location, SiteMode, parse};
use super::number::whole_number;
use super::record::{
    Event, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageAttributes, RecordReader, UncrawledOutlinks,
};
use super::reject::{Fault, RejectReason};
use super::summary::{DropReason, ReadSummary};

/// The reader of links: `from_url<TAB>to_url`, in any order.
///
/// Both pages count as crawled. A line whose target is no page still names its source: the link
/// is dropped and counted, and so is a link of a page to itself. A bad source rejects the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinksTsv;

impl RecordReader for LinksTsv {
    fn read(&self, line: &str, mode: SiteMode, summary: &mut ReadSummary) -> Result<Event, Fault> {
        let [from, to] = columns(line)?;
        let from = page(from, mode)?;
        match parse(to, mode) {
            Ok(to) if to == from => summary.self_links += 1,
            Ok(to) => return Ok(Event::Link { from, to }),
            Err(problem) => summary.dropped(DropReason::from(&problem)),
        }
        Ok(Event::Page(PageAttributes::named(from)))
    }
}

/// The reader of pages: `url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks`.
///
/// `spam` is 0 or 1. An empty field is absent; a 0 is given (for uncrawled outlinks too: the bank
/// then does not count them).
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesTsv;

impl RecordReader for PagesTsv {
    fn read(&self, line: &str, mode: SiteMode, _: &mut ReadSummary) -> Result<Event, Fault> {
        let [url, spam, clicks, uncrawled] = columns(line)?;
        let mut attributes = PageAttributes::named(page(url, mode)?);
        attributes.spam = match spam {
            "" => None,
            "0" => Some(false),
            "1" => Some(true),
            _ => {
                return Err(Fault::new(
                    RejectReason::WrongType,
                    "spam: must be 0, 1 or empty",
                ));
            }
        };
        attributes.clicks = count(clicks, "clicks", MAX_CLICKS)?;
        let max = u64::from(MAX_UNCRAWLED_OUTLINKS);
        let uncrawled = count(uncrawled, "uncrawled_outlinks", max)?.map(u32::try_from);
        if let Some(Ok(uncrawled)) = uncrawled {
            attributes.uncrawled_outlinks = UncrawledOutlinks::Given(uncrawled);
        }
        Ok(Event::Page(attributes))
    }
}

fn columns<const N: usize>(line: &str) -> Result<[&str; N], Fault> {
    if line.contains('\0') {
        return Err(Fault::new(
            RejectReason::NulByte,
            "a NUL byte: is this text?",
        ));
    }
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
            format!("{found} columns instead of {N}"),
        ))
    }
}

fn page(text: &str, mode: SiteMode) -> Result<Location, Fault> {
    parse(text, mode).map_err(|problem| Fault::page_url(&problem))
}

fn count(text: &str, field: &str, max: u64) -> Result<Option<u64>, Fault> {
    (!text.is_empty())
        .then(|| whole_number(text, field, max))
        .transpose()
}
