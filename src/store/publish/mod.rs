//! Commits and published states: the one writer of a bank and its readers.

pub(crate) mod acknowledged;
pub(crate) mod bulk_load;
pub(crate) mod commit;
pub(crate) mod create;
pub(crate) mod marker;
pub(crate) mod part_files;
mod part_server;
pub(crate) mod part_states;
pub(crate) mod published;
pub(crate) mod reader;
mod test_access;
pub(crate) mod verify_parts;
pub(crate) mod writer;

pub use create::{create, create_cluster};
pub use part_files::{cluster_parts, ensure_local_parts};
pub use part_server::PartServer;
pub use part_states::{OtherProcesses, PublishedParts, PublishedState};
pub use reader::Reader;
#[doc(hidden)]
pub use test_access::{
    RawEntry, RawState, raw_entries, raw_flush, raw_state, raw_tables, raw_write,
};
pub use writer::{Writer, read_refusal};
