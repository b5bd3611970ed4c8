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
//! 2. *Decide*: the first part is prepared last, and that decides the commit.
//! 3. *Finish*: each part ingests its files and publishes the new state, the first part last. A part keeps its
//!    previous published state until the next commit.
//!
//! A reader opens the epoch that the first part published. So it sees the new state once all parts have it, and
//! the previous one until then.
//!
//! | killed | next command that writes |
//! | --- | --- |
//! | before the first part is prepared | removes what is prepared: the commit is not in the bank |
//! | after it, at any moment | finishes the parts that are behind: the commit is in the bank |
//!
//! Other processes may have parts after the first. The process that runs a command reads and writes them by
//! requests (`part_server`), and decides commits in the same way: the lock of the first part excludes all others.
//!
//! Before the next writer removes or finishes anything, it compares the identities of the bank and of the states of
//! all parts (`part_files`). If a part does not agree with the first one, the bank is damaged and nothing is written.
//!
//! If the files of a part leave a doubt about its live state, it is compared with its published state, or with what the
//! interrupted commit makes of that (`compare_part`).

mod commit_parts;
mod compare_part;
pub(crate) mod open_parts;
mod other_processes;
pub(crate) mod part_files;
mod part_server;
pub(crate) mod part_states;
mod part_writer;
mod published_parts;

pub use other_processes::OtherProcesses;
pub use part_files::{cluster_parts, ensure_local_parts};
pub use part_server::PartServer;
pub use published_parts::{PublishedParts, PublishedState};
