//! `readdb -dump -format csv`: a header, then one page per line.

use super::datum::Datum;
use crate::ingest::crawler_output::HEADER;
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;

/// A line of the dump. Texts are quoted, but quotes within them are not escaped, so a CSV reader
/// cannot parse every line; only the first and the last column may contain any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Csv;

impl EntryFormat for Csv {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        if line.starts_with(HEADER) {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        datum(line)
            .ok_or_else(|| {
                Fault::new(
                    RejectReason::Columns,
                    "not the columns of the header: Url,Status code,Status name,...",
                )
            })?
            .entry(parser)
    }
}

fn datum(line: &str) -> Option<Datum<'_>> {
    let (url, rest) = line.strip_prefix('"')?.split_once("\",")?;
    let mut columns = rest.splitn(10, ',');
    let [
        _code,
        status,
        due,
        _modified,
        _retries,
        interval,
        _days,
        _score,
        signature,
        metadata,
    ] = [(); 10].map(|()| columns.next());
    let metadata = metadata?.trim_start_matches('"');
    let mut values = metadata.split("|||");
    Some(Datum {
        url,
        status: Some(status?.trim_matches('"')),
        due,
        interval,
        signature: Some(signature?.trim_matches('"')),
        protocol: values.find_map(|value| value.strip_prefix("_pst_:")),
    })
}
