//! `readdb -dump -format json`: one page per line.

use super::datum::Datum;
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::formats::json_lines::parse_structure;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, RejectReason};

const FIELDS: [&str; 6] = [
    "url",
    "statusName",
    "fetchTime",
    "retryIntervalSeconds",
    "signature",
    "metadata",
];

const METADATA: [&str; 1] = ["_pst_"];

/// A line of the dump.
#[derive(Clone, Copy, Debug)]
pub(super) struct Json;

impl EntryFormat for Json {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        let fields = parse_structure(line, &FIELDS)?;
        fields.check()?;
        let url = fields
            .text("url")?
            .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a page must have a url"))?;
        let status = fields.text("statusName")?;
        let due = fields.text("fetchTime")?;
        let signature = fields.text("signature")?;
        // Empty metadata is an empty string.
        let metadata = fields.raw("metadata").filter(|raw| raw.starts_with('{'));
        let protocol = match metadata {
            Some(raw) => parse_structure(raw, &METADATA)?.text("_pst_")?,
            None => None,
        };
        let datum = Datum {
            url: &url,
            status: status.as_deref(),
            due: due.as_deref(),
            interval: fields.raw("retryIntervalSeconds"),
            signature: signature.as_deref(),
            protocol: protocol.as_deref(),
        };
        datum.entry(parser)
    }
}
