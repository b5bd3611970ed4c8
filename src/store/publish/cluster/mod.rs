//! Cluster banks: several databases that commit together, all or none.
//!
//! ```text
//! BANK/                  the first part: an ordinary bank, with all tables that are not stored by site
//! BANK/parts/001/        the other parts, each with the files of a bank
//! .../loads/N/PREPARED   the intent of a bulk load that is durable and not decided yet
//! ```
//!
//! Every commit is one of all parts, so that all have the same epoch and the same identity of the state:
//!
//! 1. *Prepare*: each part writes its changes to the sorted files of a bulk load (`bulk_load`), and then, synced,
//!    the file `PREPARED` with the intent. Readers and databases are unchanged.
//! 2. *Decide*: the commit is decided at the moment at which the last part is prepared.
//! 3. *Finish*: each part ingests its files and publishes the new state, the first part last. A part keeps its
//!    previous published state until the next commit.
//!
//! A reader opens the epoch that the first part published. So it sees the new state once all parts have it, and
//! the previous one until then.
//!
//! | killed | next command that writes |
//! | --- | --- |
//! | before the last part is prepared | removes what is prepared: the commit is not in the bank |
//! | after it, at any moment | finishes the parts that are behind: the commit is in the bank |
//!
//! Other processes may have parts after the first. The process that runs a command reads and writes them by
//! requests (`part_server`), and decides commits in the same way: the lock of the first part excludes all others.
//!
//! No part begins to finish before all are prepared. So a part that has the new state, or has begun to ingest it,
//! proves that all others have it or are prepared; if they are not, the bank is damaged and nothing is written.

mod commit_parts;
pub(crate) mod open_parts;
mod other_processes;
pub(crate) mod part_files;
mod part_server;
pub(crate) mod part_states;
mod part_writer;

pub use other_processes::OtherProcesses;
pub use part_files::cluster_parts;
pub use part_server::PartServer;
