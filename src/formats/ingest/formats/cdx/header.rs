//! The columns of CDX, by the letters of its header.

use std::borrow::Cow;
use std::sync::Arc;

use super::capture::Capture;
use crate::display::counted;
use crate::ingest::formats::tsv::check_no_nul;
use crate::ingest::reject::{Fault, RejectReason};

/// The layouts of indexes without a header, which are identified by their number of columns.
const DEFAULT_LAYOUTS: [&str; 3] = [
    "N b a m s k r M S V g",
    "N b a m s k r M V g",
    "N b a m s k r V g",
];

/// The most columns.
const MAX_COLUMNS: usize = 64;

/// The header above a line; `None` if there is none.
#[derive(Clone, Debug, Default)]
pub(in crate::ingest) struct Header(Option<Arc<Columns>>);

#[derive(Debug)]
struct Columns {
    /// The character between columns.
    separator: char,
    letters: Vec<char>,
}

impl Header {
    /// Parses a header.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        // The character before the word `CDX` also separates the columns.
        let (separator, names) = match line {
            [b'C', b'D', b'X', separator, names @ ..] => (*separator, names),
            [separator, b'C', b'D', b'X', again, names @ ..] if separator == again => {
                (*separator, names)
            }
            _ => return None,
        };
        if !matches!(separator, b' ' | b'\t') || names.len() > 2 * MAX_COLUMNS {
            return None;
        }
        let names = std::str::from_utf8(names).ok()?;
        let mut letters = Vec::new();
        for name in names.split_ascii_whitespace() {
            let mut name = name.chars();
            letters.push(name.next()?);
            if name.next().is_some() {
                return None;
            }
        }
        Some(Self(Some(Arc::new(Columns {
            separator: char::from(separator),
            letters,
        }))))
    }

    /// Parses a line with the columns of this header.
    pub(super) fn capture<'a>(&self, line: &'a str) -> Result<Capture<'a>, Fault> {
        check_no_nul(line)?;
        let separator = self.0.as_ref().map_or(' ', |columns| columns.separator);
        let fields: Vec<&str> = line.split(separator).take(MAX_COLUMNS + 1).collect();
        let wrong = |wanted: &str| {
            let found = counted(fields.len(), "column");
            Err(Fault::new(
                RejectReason::Columns,
                format!("expected {wanted}, found {found}"),
            ))
        };
        if let Some(columns) = &self.0 {
            if columns.letters.len() != fields.len() {
                return wrong(&counted(columns.letters.len(), "column"));
            }
            return pick(&columns.letters, &fields);
        }
        let layouts = DEFAULT_LAYOUTS.iter().map(|letters| letters.split(' '));
        let mut layouts = layouts.filter(|letters| letters.clone().count() == fields.len());
        match layouts.next() {
            Some(letters) => {
                let letters: Vec<char> =
                    letters.filter_map(|letter| letter.chars().next()).collect();
                pick(&letters, &fields)
            }
            None => wrong("9, 10 or 11 columns, or a header"),
        }
    }
}

/// Picks the fields of a capture by the letters of their columns.
fn pick<'a>(letters: &[char], fields: &[&'a str]) -> Result<Capture<'a>, Fault> {
    let field = |letter: char| {
        let mut columns = letters.iter().zip(fields);
        let found = columns.find(|(name, _)| **name == letter);
        found.map(|(_, field)| *field).filter(|field| *field != "-")
    };
    let url = field('a').ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "an entry must have a URL, in the column a",
        )
    })?;
    Ok(Capture {
        url: Cow::Borrowed(url),
        time: field('b'),
        status: field('s').map(Cow::Borrowed),
        digest: field('k').map(Cow::Borrowed),
        mime: field('m').map(Cow::Borrowed),
        location: field('r').map(Cow::Borrowed),
        method: None,
    })
}
