//! Formats in, page records out: what a batch says, before any bank is asked.
//!
//! ```text
//! Input --gzip/zstd/plain--> blocks of whole lines --RecordReader, in parallel--> Event, in input order
//! ```
//!
//! * [`Location`]: a URL, normalised and cut into its site and the rest.
//! * [`read_blocks`]: opens [`Source`]s, cuts them into lines and hands every [`Event`] to a sink, in
//!   the order of the input, whatever the number of threads: a block of lines at a time, with URLs as
//!   numbers of the block's [`Interner`]. [`read_batch`] hands on each with its [`Position`] and URLs
//!   as texts.
//! * [`RecordReader`]: one format. [`JsonLines`] gives whole records; [`LinksTsv`] and [`PagesTsv`]
//!   give pieces ([`Event::Link`], [`Event::Page`]), which the engine consolidates by sorting;
//!   [`BvGraph`] reads the lines that a compressed graph is decoded into ([`Input::BvGraph`]).
//! * A bad line is an [`Event::Rejected`] and does not end the batch, unless more than [`MOST_LISTED`]
//!   and more than half of all so far are bad; an input that cannot be read to its end is an
//!   [`InputError`] and refuses the batch whole.
//!
//! Memory is bounded by the number of threads, [`MAX_LINE`] and [`BLOCK_SIZE`], never by the input.

mod bvgraph;
mod interner;
mod json_lines;
mod lines;
mod location;
mod number;
mod open;
mod outlinks;
mod plain;
mod read;
mod reading;
mod record;
mod reject;
mod summary;
mod timestamp;
mod tsv;

pub use bvgraph::{BvGraph, BvGraphError, bv_graph_file};
pub use interner::{Interner, UrlNumber};
pub use json_lines::{JsonLines, MAX_FIELDS, RECORD_FIELDS};
pub use lines::{BLOCK_SIZE, MAX_LINE};
pub use location::{Location, MAX_URL, SUFFIX_LIST, Scheme, SiteMode, UrlProblem, parse, url};
pub use open::{Compression, Input, InputError};
pub use read::{ReadBlock, ReadError, Source, read_batch, read_blocks};
pub use reading::Reading;
pub use record::{
    Event, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageAttributes, PageRecord, Position, RecordReader,
    UncrawledOutlinks,
};
pub use reject::{
    Fault, MOST_LISTED, REJECTED_TEXT, Reject, RejectReason, RejectWriter, within_limit,
};
pub use summary::{DropReason, ReadSummary, UNKNOWN_FIELDS_KEPT, UnknownFields};
pub use timestamp::{TimestampProblem, parse_timestamp};
pub use tsv::{LinksTsv, PagesTsv};
