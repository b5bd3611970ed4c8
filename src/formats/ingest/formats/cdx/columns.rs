//! The columns of CDX, by the letters of its header.

use std::borrow::Cow;
use std::sync::Arc;

use super::entry::Capture;
use crate::display::counted;
use crate::ingest::reject::{Fault, RejectReason};

/// The columns of indexes without a header, which are told by their number: the three layouts that
/// are written.
const USUAL: [&str; 3] = [
    "N b a m s k r M S V g",
    "N b a m s k r M V g",
    "N b a m s k r V g",
];

/// The most columns of a header.
const MOST: usize = 64;

/// What the header before a line says; by default there is none.
#[derive(Clone, Debug, Default)]
pub(in crate::ingest) struct Header(Option<Arc<Columns>>);

/// Which columns there are.
#[derive(Debug)]
struct Columns {
    /// What stands between them.
    by: char,
    letters: Vec<char>,
}

impl Header {
    /// The header that a line is.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        // What stands before the word stands between the columns, too.
        let (by, names) = match line {
            [b'C', b'D', b'X', by, names @ ..] => (*by, names),
            [by, b'C', b'D', b'X', again, names @ ..] if by == again => (*by, names),
            _ => return None,
        };
        if !matches!(by, b' ' | b'\t') || names.len() > 2 * MOST {
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
            by: char::from(by),
            letters,
        }))))
    }

    /// What a line says in these columns.
    pub(super) fn entry<'a>(&self, line: &'a str) -> Result<Capture<'a>, Fault> {
        if line.contains('\0') {
            return Err(Fault::new(
                RejectReason::NulByte,
                "a NUL byte: is this text?",
            ));
        }
        let by = self.0.as_ref().map_or(' ', |columns| columns.by);
        let fields: Vec<&str> = line.split(by).take(MOST + 1).collect();
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
            return of(&columns.letters, &fields);
        }
        let usual = USUAL.iter().map(|letters| letters.split(' '));
        let mut usual = usual.filter(|letters| letters.clone().count() == fields.len());
        match usual.next() {
            Some(letters) => {
                let letters: Vec<char> =
                    letters.filter_map(|letter| letter.chars().next()).collect();
                of(&letters, &fields)
            }
            None => wrong("9, 10 or 11 columns, or a header"),
        }
    }
}

/// What the columns with these letters say.
fn of<'a>(letters: &[char], fields: &[&'a str]) -> Result<Capture<'a>, Fault> {
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
