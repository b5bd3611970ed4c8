//! Commits and published states: the one writer of a bank and its readers.

pub(crate) mod acknowledged;
pub(crate) mod bank_from_state;
mod bulk_load;
pub(crate) mod cluster;
pub(crate) mod commit;
pub(crate) mod create;
pub(crate) mod live_state;
mod load_files;
mod migration_steps;
mod other_part;
pub(crate) mod published;
pub(crate) mod reader;
mod refusal;
mod test_access;
mod undo_policy;
pub(crate) mod writer;

pub use cluster::{
    OtherProcesses, PartServer, PublishedParts, PublishedState, cluster_parts, ensure_local_parts,
};
pub use create::{create, create_cluster};
pub use reader::Reader;
pub use refusal::read_refusal;
#[doc(hidden)]
pub use test_access::{
    RawEntry, RawState, raw_entries, raw_flush, raw_state, raw_tables, raw_write,
};
pub use writer::Writer;
