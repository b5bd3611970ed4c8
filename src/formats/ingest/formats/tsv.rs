//! Links and pages as tab-separated lines without a header.

use std::path::PathBuf;

use crate::ingest::interner::UrlNumber;
use crate::ingest::lines::{LineFormat, each};
use crate::ingest::number::integer;
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{
    Event, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageAttributes, UncrawledOutlinks,
};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::source::Sources;

/// Returns the sources for lists of links, then the one for the list of their pages.
pub(super) fn sources(inputs: &[Input], pages: Option<PathBuf>) -> Sources {
    let mut sources = each(inputs, LinksTsv);
    let pages: Vec<Input> = pages.into_iter().map(Input::named).collect();
    sources.extend(each(&pages, PagesTsv));
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
        let [from, to] = columns(line)?;
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
        let [url, spam, clicks, uncrawled] = columns(line)?;
        let mut attributes = PageAttributes::named(parser.page(url)?);
        attributes.spam = flag(spam, "spam")?;
        attributes.clicks = count(clicks, "clicks", MAX_CLICKS)?;
        let max = u64::from(MAX_UNCRAWLED_OUTLINKS);
        let uncrawled = count(uncrawled, "uncrawled_outlinks", max)?.map(u32::try_from);
        if let Some(Ok(uncrawled)) = uncrawled {
            attributes.uncrawled_outlinks = UncrawledOutlinks::Given(uncrawled);
        }
        Ok(Event::Page(attributes))
    }
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
mod tests {
    use super::*;
    use crate::ingest::interner::Interner;
    use crate::ingest::location::{Location, SiteMode, UrlRules, parse};
    use crate::ingest::summary::{DropReason, ReadSummary};

    fn at(url: &str) -> Location {
        parse(url, SiteMode::Host.with(UrlRules::Whatwg)).unwrap()
    }

    fn read(reader: &dyn LineFormat, line: &str) -> (Result<Event, RejectReason>, ReadSummary) {
        let mut parser =
            PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
        let event = reader.read(line, &mut parser);
        let event = event.map(|event| event.located(&parser.urls));
        (event.map_err(|fault| fault.reason), parser.summary)
    }

    fn link(line: &str) -> (Result<Event, RejectReason>, ReadSummary) {
        read(&LinksTsv, line)
    }

    fn attributes(line: &str) -> Result<PageAttributes, RejectReason> {
        match read(&PagesTsv, line).0 {
            Ok(Event::Page(page)) => Ok(page),
            Ok(other) => panic!("{other:?}"),
            Err(reason) => Err(reason),
        }
    }

    #[test]
    fn links_come_in_pieces() {
        let from = at("http://a.example/");
        let named = Ok(Event::Page(PageAttributes::named(from.clone())));
        let to = at("https://b.example/x");
        let (event, summary) = link("http://A.example#top\t https://b.example/x");
        assert_eq!(event, Ok(Event::Link { from, to }));
        assert_eq!(summary, ReadSummary::default());

        let (event, summary) = link("http://a.example/\thttp://a.example/#x");
        assert_eq!((event, summary.self_links), (named.clone(), 1));

        let (event, summary) = link("http://a.example/\tmailto:x@y.example");
        assert_eq!(event, named);
        assert_eq!(summary.dropped_outlinks[&DropReason::Scheme], 1);

        let (event, summary) = link("http://a.example/\t");
        assert_eq!(event, named);
        assert_eq!(summary.dropped_outlinks[&DropReason::Empty], 1);
    }

    #[test]
    fn bad_lines_of_links() {
        for (line, reason) in [
            ("http://a.example/", RejectReason::Columns),
            ("http://a.example/ http://b.example/", RejectReason::Columns),
            ("http://a.example/\tb\tc", RejectReason::Columns),
            ("/x\thttp://a.example/", RejectReason::RelativeUrl),
            ("from_url\tto_url", RejectReason::RelativeUrl),
            ("\thttp://a.example/", RejectReason::EmptyUrl),
            ("javascript:x()\thttp://a.example/", RejectReason::UrlScheme),
            (
                "http://a.example/\0\thttp://b.example/",
                RejectReason::NulByte,
            ),
        ] {
            let (event, summary) = link(line);
            assert_eq!(event, Err(reason), "{line:?}");
            assert_eq!(summary, ReadSummary::default());
        }
    }

    #[test]
    fn an_empty_attribute_is_absent_and_a_zero_is_given() {
        let mut page = PageAttributes::named(at("http://a.example/"));
        assert_eq!(attributes("http://a.example/\t\t\t"), Ok(page.clone()));
        page.spam = Some(false);
        page.clicks = Some(0);
        page.uncrawled_outlinks = UncrawledOutlinks::Given(0);
        assert_eq!(attributes("http://a.example/\t0\t0\t0"), Ok(page.clone()));
        page.spam = Some(true);
        page.clicks = Some(7);
        page.uncrawled_outlinks = UncrawledOutlinks::Given(1_000_000);
        assert_eq!(attributes("http://a.example/\t1\t7\t1000000"), Ok(page));
    }

    #[test]
    fn bad_lines_of_pages() {
        for (rest, reason) in [
            ("", RejectReason::Columns),
            ("\t0\t0", RejectReason::Columns),
            ("\t0\t0\t0\t0", RejectReason::Columns),
            ("\t2\t0\t0", RejectReason::WrongType),
            ("\ttrue\t0\t0", RejectReason::WrongType),
            ("\t0\tx\t0", RejectReason::WrongType),
            ("\t0\t 1\t0", RejectReason::WrongType),
            ("\t0\t-1\t0", RejectReason::NegativeNumber),
            ("\t0\t1.5\t0", RejectReason::FractionalNumber),
            ("\t0\t1e400\t0", RejectReason::NumberTooLarge),
            ("\t0\t0\t1000001", RejectReason::NumberTooLarge),
        ] {
            let line = format!("http://a.example/{rest}");
            assert_eq!(attributes(&line), Err(reason), "{line:?}");
        }
        assert_eq!(attributes("x\t0\t0\t0"), Err(RejectReason::RelativeUrl));
    }
}
