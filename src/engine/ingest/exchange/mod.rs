//! Ingest by several processes, each for the sites of its own parts of a cluster bank.
//!
//! ```text
//! process 0    Team    step -----------------> IngestSessions   process n
//!              Worker  <-- entries by site --> Worker
//!              Team    <-------------- result
//! ```
//!
//! The passes of an ingest are connected by sorts whose keys begin with a site. So each process can run all passes
//! for its own sites, if the entries that one pass adds for another reach the process that owns their key:
//! [`shuffle`] sends them there, where they are sorted together with the local ones. Process 0 starts one step after
//! the other in all processes ([`team`](super::team)), and the next one only after all have ended, so that all entries have
//! arrived before they are read. What concerns the whole batch, such as its loss of pages, is decided by process 0
//! from the results of all steps.
//!
//! Ids follow the order of URLs within a site, and entries are sorted before they are used. So results depend neither
//! on the number of processes nor on the order in which entries arrive.
//!
//! | module | contents |
//! | --- | --- |
//! | `stream` | the kinds of entries that processes send to each other, and who owns their keys |
//! | `shuffle` | sorts whose entries go to the owners of their keys |
//! | `request` | the bytes of requests |

pub(in crate::engine) mod request;
pub(super) mod shuffle;
pub(super) mod stream;
