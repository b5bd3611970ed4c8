//! The only code that knows RocksDB: bytes in, bytes out.

pub(crate) mod checksums;
pub(crate) mod compact_small_files;
pub(crate) mod cursor;
pub(crate) mod database;
pub(crate) mod manifest;
mod open_file_limit;
pub(crate) mod options;
pub(crate) mod scan;
mod sorted_file;
pub(crate) mod write_ahead_log;
