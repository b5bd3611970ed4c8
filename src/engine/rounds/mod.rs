//! Jobs that all processes of a cluster bank do together, in rounds of messages.
//!
//! ```text
//! process 0      BEGIN job, in all processes
//!                RUN job    ------------------> process n
//!                round 1: a message from each process to each other one
//!                round 2: ...
//!                           <----------- its result
//!                END job, once it is done or one process has failed
//! ```
//!
//! All processes run the same function on their shares of the data, and send each other a message in each round
//! ([`Communicator`](seedbank_algorithms::communicator::Communicator)). A round ends in a process once it has the
//! messages of all others. So a process is at most one round ahead of another, and holds the messages of two rounds.
//!
//! | module | contents |
//! | --- | --- |
//! | `request` | the bytes of requests |
//! | `inbox` | the messages that a process has received |
//! | `job` | the state of a job in a process |
//! | `communicator` | the exchange of the messages of a round |
//! | `call_all` | requests to all other processes |

pub(super) mod call_all;
pub(super) mod communicator;
mod inbox;
pub(super) mod job;
pub(super) mod request;
#[cfg(test)]
mod tests;
