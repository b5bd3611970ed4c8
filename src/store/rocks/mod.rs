//! The only code that knows RocksDB: bytes in, bytes out.

pub(crate) mod database;
pub(crate) mod manifest;
pub(crate) mod options;
pub(crate) mod table_files;
pub(crate) mod write_ahead_log;
