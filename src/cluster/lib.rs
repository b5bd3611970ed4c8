//! Connections between the processes of a cluster bank, a set of databases that is distributed over
//! several processes.
//!
//! A command is started once per process with the same members file. Each connection has two sides. The
//! *coordinator* accepts it and sends requests; the *member* connects and serves them until the coordinator
//! reports the outcome:
//!
//! ```text
//! coordinator  coordinate() -> Vec<Peer>   Peer::call()    finish()
//!                   ^                          |   ^           |
//!                   | greeting         request |   | answer    | outcome
//!                   |                          v   |           v
//! member       join() -> Host               Host::serve() -> Outcome
//! ```
//!
//! In a star, process 0 coordinates all others. In a mesh, each process coordinates all others and joins each
//! of them, in threads of its own: two processes share two connections, one for the requests of each. The
//! outcome of the command is that of process 0 in both.
//!
//! A member that connects again while `coordinate` waits for others is refused, so a process that coordinates
//! twice must tell its members when to join again.
//!
//! | module | contents |
//! | --- | --- |
//! | `members` | the members file: addresses, banks, the secret, time limits |
//! | `bank_ranges` | lists of bank numbers such as `0-3,8` |
//! | `process_number` | the number of this process, given or set by Slurm or Kubernetes |
//! | `agreement` | values that all processes must share |
//! | `greeting` | proof of the secret by both sides, then comparison of their agreements |
//! | `coordinate` | the accepting side: waits for all members |
//! | `join` | the connecting side: retries until the coordinator accepts |
//! | `outcome` | how a command ended |
//! | `failure` | why a member did not answer a request |
//! | `frame` | the encoding of messages after the proof |
//! | `connection` | one TCP connection with heartbeats and detection of its loss |
//! | `peer` | a member as its coordinator sees it |
//! | `host` | a coordinator as a member sees it |
//! | `wait` | waiting for messages and locks |
//!
//! # Security
//!
//! Both sides prove that they know the secret before they read or send anything else, so strangers
//! cannot take part. The connection itself is neither encrypted nor signed: the network between the
//! processes must be trusted not to read or change packets.

#![forbid(unsafe_code)]

mod agreement;
mod bank_ranges;
mod connection;
mod coordinate;
mod error;
mod failure;
mod frame;
mod greeting;
mod host;
mod join;
mod members;
mod outcome;
mod peer;
mod process_number;
mod wait;

pub use agreement::{Agreement, Difference};
pub use bank_ranges::BankRangesError;
pub use coordinate::coordinate;
pub use error::{ClusterError, MembersError, NumberError};
pub use failure::Failure;
pub use frame::MAX_PAYLOAD;
pub use host::{Handler, Host, Stop};
pub use join::join;
pub use members::{Members, Process};
pub use outcome::Outcome;
pub use peer::{Peer, finish};
