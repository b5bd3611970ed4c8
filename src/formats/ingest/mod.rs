//! Readers of input formats: from files to page records, independent of any bank.
//!
//! ```text
//! Source --open--> pieces --read, in parallel--> Event, in input order
//! ```
//!
//! * [`Location`]: a normalised URL, split into its site and the rest.
//! * [`Source`]: the trait of all formats, and of records that a caller has in memory. A source cuts
//!   its input into pieces and parses the records of a piece. [`Format`] lists the formats that a user
//!   can name, and creates sources from [`Input`]s, which are decompressed while being read.
//!   JSON Lines yield whole records; links and pages as TSV yield parts of records ([`Event::Link`],
//!   [`Event::Page`]), which the engine consolidates by sorting. Graphs (BV, Common Crawl) yield one
//!   record per node, WAT one per captured page. Lists, indexes, dumps and logs of crawlers and
//!   archives yield records or links ([`Event::Outlink`]).
//! * [`Record`]: a record passed by a caller, with URLs as text; parsed like a line of a file.
//!   [`RecordBatchSource`]: batches of Arrow passed by a caller.
//! * [`entries::LineFormat`]: a format with one record per line ([`JsonLines`], [`LinksTsv`], [`PagesTsv`],
//!   [`record_source::SiteList`]); [`entries::Lines`] turns it into a source.
//! * [`read_pieces`]: reads all sources and passes each [`Event`] to a sink, in input order for any
//!   number of threads: one piece at a time, with URLs as numbers of the piece's [`Interner`].
//!   [`read_batch`] passes each event with its [`summary::Position`], and URLs as text.
//! * A bad record becomes an [`Event::Rejected`] and does not end the batch, unless more than
//!   [`summary::MAX_LISTED_REJECTS`] and more than half of the records so far are bad. An input that cannot be
//!   read to its end is an [`InputError`], and the whole batch is refused.
//!
//! Memory is bounded by the number of threads, [`source::MAX_LINE`] and [`PIECE_SIZE`], never by the input.

mod columns;
mod decimal;
mod digest;
mod entries;
mod escapes;
mod fetch;
mod field_suggestions;
mod formats;
mod interner;
mod kind;
mod location;
mod number;
mod open;
mod path_list;
mod patterns;
mod piece_parser;
mod progress;
mod read;
mod read_options;
mod record;
mod record_source;
mod sniff;
mod source;
mod summary;
mod timestamp;

pub use columns::{ColumnNames, ColumnNamesError, RECORD_FIELDS};
pub use digest::digest_text;
pub use entries::{LineFormat, Lines};
pub use field_suggestions::suggest_field;
#[cfg(feature = "parquet")]
pub use formats::RecordBatchSource;
pub use formats::{Format, JsonLines, LinksTsv, Nofollow, PagesTsv, bv_graph_file};
pub use interner::{Interner, UrlNumber};
pub use location::NodeUrls;
pub use location::Scheme;
pub use location::{
    FORGOTTEN_URL, Hosts, Location, MAX_URL, Naming, SUFFIX_LIST, SiteMode, UrlError, UrlRules,
    parse, url,
};
pub use location::{URL_PATTERN, host_end, is_public_host, push_url, registrable_domain};
pub use open::Compression;
pub use open::Expansion;
pub use open::ZipMember;
pub use open::{DetectedInput, Input, InputError};
pub use open::{RemoteFile, address};
pub use path_list::path_list;
pub use patterns::BadPattern;
pub use patterns::{MEDIA, is_repeating, url_shape};
pub use patterns::{Patterns, PatternsError};
pub use piece_parser::PieceParser;
pub use progress::Progress;
pub use read::{ReadError, ReadPiece, read_all_pieces, read_batch, read_pieces};
pub use read_options::ReadOptions;
pub use record::{
    Attribute, Event, FailedFetches, FetchOrigin, MAX_CLICKS, MAX_QUALITY, MAX_UNCRAWLED_OUTLINKS,
    PageAttributes, PageRecord, SiteAttributes, UncrawledOutlinks,
};
pub use record_source::Record;
pub use record_source::{RecordChunk, RecordChunks, RecordSource};
pub use record_source::{SITE_FIELDS, SiteList, site_list_source};
pub use seedbank_algorithms::fetch_status::FetchStatus;
pub use seedbank_algorithms::page::PageKind;
pub use sniff::DetectedFormat;
pub use sniff::NutchDump;
pub use source::MAX_LINE;
pub use source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Source, Sources, Stop};
pub use summary::counts_by;
pub use summary::{DropReason, HtmlPages, ReadSummary, SkipReason, UnknownFields, Unread};
pub use summary::{
    Fault, MAX_LISTED_REJECTS, MIN_MAX_REJECTS, Position, Reject, RejectReason, RejectWriter,
    accepts_rejects, within_limit,
};
pub use timestamp::{Timestamp, TimestampError, parse_timestamp};
