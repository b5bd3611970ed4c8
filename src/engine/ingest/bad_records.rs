//! Errors about bad records of a rejected batch.

use super::reject_list::Listed;
use crate::engine::EngineError;
use crate::engine::error::BadRecords;
use seedbank_formats::ingest::{
    DetectedFormat, DetectedInput, Format, ReadError, ReadSummary, Source,
};

/// Describes the bad records of a batch that was read to its end, or until most were bad.
pub(super) fn bad_records(
    read: &ReadSummary,
    listed: Listed,
    sources: &[Box<dyn Source + '_>],
    format: &Format,
) -> Box<BadRecords> {
    let (source, first) = listed.first.unzip();
    let source = source.and_then(|number| sources.get(number as usize));
    let seen = source.and_then(|source| source.detected());
    Box::new(BadRecords {
        count: read.rejected(),
        records: read.records,
        reasons: read.rejects.clone(),
        first,
        file: listed.file,
        seen: seen.filter(|seen| is_other(seen, format)),
        unknown_fields: read.unknown_fields.clone(),
    })
}

/// Whether an input has another format than the one in which it was read.
const fn is_other(seen: &DetectedInput, format: &Format) -> bool {
    !matches!(
        (format, seen.format),
        (
            Format::JsonLines | Format::Auto { .. },
            DetectedFormat::JsonLines
        ) | (
            Format::Links { .. },
            DetectedFormat::Links | DetectedFormat::Pages
        ) | (Format::Urls | Format::Auto { .. }, DetectedFormat::Urls)
            | (
                Format::Cdx | Format::Cdxj | Format::Auto { .. },
                DetectedFormat::Cdx | DetectedFormat::Cdxj
            )
            | (
                Format::Nutch | Format::Auto { .. },
                DetectedFormat::Nutch(_)
            )
            | (
                Format::Heritrix | Format::HeritrixLinks | Format::Auto { .. },
                DetectedFormat::CrawlLog
            )
            | (
                Format::Browsertrix | Format::Auto { .. },
                DetectedFormat::Browsertrix
            )
    )
}

/// Converts errors of reading other than bad records.
pub(super) fn unread(error: ReadError<EngineError>) -> EngineError {
    match error {
        ReadError::Input(error) => error.into(),
        ReadError::Interrupted(error) => error.into(),
        ReadError::Sink(error) => error,
        ReadError::MostAreBad(_) => EngineError::Internal(
            "reading ended because of bad records, which must be handled before",
        ),
    }
}
