//! Tables: Parquet, Arrow, and CSV or TSV with a header. A row is a record, and its columns are named
//! like the fields of the record.
//!
//! ```text
//! Parquet  row groups, pages ----.
//! Arrow    batches --------------+--> values --row--> a line of JSON Lines, read as one
//! CSV, TSV lines and quotes -----'               or a capture of an index
//! ```
//!
//! * [`ColumnMap`](row::ColumnMap) maps columns to fields: those of a record, in any order, or
//!   those of Common Crawl's index, which is recognised by `url` and `fetch_status` without
//!   `outlinks`. Columns that are neither are counted by name.
//! * [`row`] reads a row, in the same way for all kinds of tables. Null and empty cells are absent.
//! * A column whose type does not fit its field refuses the input before any row is read. Text has no
//!   types, so there a cell that does not fit counts as absent.
//!
//! Cost: that of JSON Lines, plus decoding. Memory for one page of each column of Parquet, for a batch
//! of Arrow, and for pieces of half a megabyte.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod batch;
mod delimited;
#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

#[cfg(feature = "parquet")]
pub(super) use arrow::Arrow;
#[cfg(feature = "parquet")]
pub use arrow::RecordBatchSource;
pub(super) use delimited::{Delimited, is_delimited_table};
#[cfg(not(feature = "parquet"))]
pub(super) use disabled::{Arrow, Parquet};
#[cfg(feature = "parquet")]
pub(super) use parquet::Parquet;
