//! Cluster banks over several processes.
//!
//! One process runs a command. It has the first part of the bank, and reads and writes parts of other processes by
//! requests: its [`Bank`](super::Bank) has their [`OtherProcesses`]. Each other process answers the requests with a
//! [`PartServer`]. How requests travel is up to the caller ([`RemoteProcess`]).
//!
//! A commit is stored by all parts or by none, whatever ends when; results do not depend on which process has which
//! part.

pub use super::process_server::ProcessServer;
pub use seedbank_store::{OtherProcesses, RemoteProcess, cluster_parts};
