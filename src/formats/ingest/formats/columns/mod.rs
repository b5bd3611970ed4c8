//! Tables: Parquet, Arrow, and CSV or TSV with a header. A row is a record, its columns are the
//! record's fields by their names.
//!
//! ```text
//! Parquet  row groups, pages ----.
//! Arrow    batches --------------+--> cells --row--> a line of JSON Lines, read as one
//! CSV, TSV text --records--------'              or a capture of an index
//! ```
//!
//! * [`Layout`](layout::Layout) says what the columns mean: the fields of a record, in any order, or
//!   the columns of Common Crawl's index, which is known by `url` and `fetch_status` without
//!   `outlinks`. Columns that neither has are counted by name.
//! * [`row`] says what a row means, the same for all of them. Null and an empty cell say nothing.
//! * A column whose type its field cannot have refuses the input before a row is read; in text, which
//!   has no types, it refuses the row.
//!
//! Cost: that of JSON Lines, and the decoding. Memory for pages of Parquet, of which one of each column
//! is held; for a batch of Arrow; and for pieces of half a megabyte.

#[cfg(feature = "parquet")]
mod arrays;
#[cfg(feature = "parquet")]
pub(super) mod arrow;
#[cfg(feature = "parquet")]
mod batch;
mod error;
#[cfg(feature = "parquet")]
mod footer;
#[cfg(feature = "parquet")]
mod instant;
mod layout;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
pub(super) mod parquet;
mod records;
mod row;
pub(super) mod text;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(not(feature = "parquet"))]
mod unbuilt;

use crate::ingest::open::{Input, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Sources, Stop};
use text::Delimited;

/// The sources for CSV.
pub(super) fn csv_sources(inputs: &[Input]) -> Sources {
    text::sources(inputs, Delimited::Csv)
}

/// The sources for TSV with a header.
pub(super) fn tsv_sources(inputs: &[Input]) -> Sources {
    text::sources(inputs, Delimited::Tsv)
}

/// The sources for Parquet files.
pub(super) fn parquet_sources(inputs: &[Input]) -> Sources {
    #[cfg(feature = "parquet")]
    return parquet::sources(inputs);
    #[cfg(not(feature = "parquet"))]
    return unbuilt::sources(inputs, PARQUET);
}

/// The sources for files and streams of Arrow.
pub(super) fn arrow_sources(inputs: &[Input]) -> Sources {
    #[cfg(feature = "parquet")]
    return arrow::sources(inputs);
    #[cfg(not(feature = "parquet"))]
    return unbuilt::sources(inputs, ARROW);
}

/// The names of the formats that may be left out of a build.
#[cfg(not(feature = "parquet"))]
const PARQUET: &str = "Parquet";
#[cfg(not(feature = "parquet"))]
const ARROW: &str = "Arrow";

/// Which table an input is by its first bytes, which were looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Table {
    /// Parquet.
    Parquet,
    /// A file or stream of Arrow.
    Arrow,
    /// A text with a header that names `url` among its columns.
    Text,
}

impl Table {
    /// `None` where it is none for certain.
    pub(super) fn of(is: Option<DetectedFormat>, opened: &Opened) -> Option<Self> {
        match is {
            Some(DetectedFormat::Parquet) => Some(Self::Parquet),
            Some(DetectedFormat::Arrow) => Some(Self::Arrow),
            None
            | Some(DetectedFormat::Tabs | DetectedFormat::Commas | DetectedFormat::Semicolons) => {
                text::is_table(opened.ahead()).then_some(Self::Text)
            }
            Some(_) => None,
        }
    }

    /// The pieces of the open input, of which `max_held_bytes` bytes may be held.
    pub(super) fn pieces<'a>(
        self,
        input: &Input,
        opened: Opened,
        max_held_bytes: usize,
        progress: &Progress<'a>,
    ) -> Result<Pieces<'a>, Stop> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::pieces(input, opened, max_held_bytes, progress),
            #[cfg(feature = "parquet")]
            Self::Arrow => Ok(arrow::pieces(
                input.to_string(),
                opened,
                max_held_bytes,
                progress,
            )),
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => Err(unbuilt::error(input.to_string(), PARQUET)),
            #[cfg(not(feature = "parquet"))]
            Self::Arrow => Err(unbuilt::error(input.to_string(), ARROW)),
            Self::Text => text::pieces(&input.to_string(), opened, Delimited::Any, progress),
        }
    }
}
