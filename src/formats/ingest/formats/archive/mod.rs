//! Web archives (WARC, ISO 28500), as far as those that hold answers and those that describe them are
//! alike.
//!
//! ```text
//! text --ArchiveText--> records --Splitter, by the ArchiveFormat of a format--> pieces of Records
//! ```

mod resync;
pub(super) mod error;
pub(super) mod framing;
pub(super) mod header;
pub(super) mod archive_format;
pub(super) mod page_links;
pub(super) mod source;
pub(super) mod archive_text;
