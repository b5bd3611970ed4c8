//! Cluster banks over several processes.
//!
//! Process 0 runs a command. It has the first part of the bank, and reads and writes parts of other processes by
//! requests: its [`Bank`](super::Bank) has their [`OtherProcesses`]. Each process answers the requests of the others with
//! a [`ProcessServer`]. Ingests, exports and most selections run in all processes, if the bank also has the server of
//! process 0 ([`Bank::with_server`](super::Bank::with_server)) and all servers are
//! [connected](ProcessServer::connect). How requests travel is up to the caller ([`RemoteProcess`]).
//!
//! A commit is stored by all parts or by none, whatever ends when; results do not depend on which process has which
//! part.

pub use super::process_server::ProcessServer;
pub use super::request_topic::CALLER_REQUEST;
pub use seedbank_store::{OtherProcesses, RemoteProcess, cluster_parts};
