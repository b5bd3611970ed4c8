//! Web archives (WARC, ISO 28500), as far as those that hold answers and those that describe them are
//! alike.
//!
//! ```text
//! text --Text--> records --Cutter, by the Layout of a format--> pieces of Frames
//! ```

mod chain;
pub(super) mod error;
pub(super) mod frames;
pub(super) mod head;
pub(super) mod layout;
pub(super) mod links;
pub(super) mod source;
pub(super) mod text;
