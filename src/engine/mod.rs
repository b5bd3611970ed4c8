//! The engine: loads graphs from the store, passes them to the algorithms, and stores the results.
//!
//! Its modules in order; a module imports only from those above it:
//!
//! | module | purpose |
//! | --- | --- |
//! | `bank`, `error`, `clock`, `applied_batches`, `web_graph` | the folder; errors; the current time; the batches that were not undone; the graph of all pages |
//! | `cluster` | cluster banks over several processes |
//! | `rounds` | jobs that all these processes do together |
//! | `remote` | remote files in place of local ones |
//! | `eligibility` | rules about single pages: which may be seeds, and why others may not |
//! | `policy` | lists, pins, and how many seeds |
//! | `plan` | a method with its parameters, under a name |
//! | `history` | previous versions of pages; successors of dead seeds |
//! | `ingest` | applies a batch of records to the bank |
//! | `repeated_content` | sites on which one content is on many pages |
//! | `revisits` | what pages count for by the times since their last fetches |
//! | `learned_values` | the new links that fetches of pages are expected to bring |
//! | `maintenance` | backup, restore, compaction |
//! | `refresh` | runs a plan: by `cores`, by `cover` of sites or `global` over the web |
//! | `query` | queries: seeds, cores, history, status; explanations; differences |
//! | `export` | the whole state as records that make another bank |
//! | `graph_export` | the links as graph files |
//! | `evaluate` | experiments from the papers |
//! | `scores` | degrees and centralities of every page, with the results of a plan |

mod applied_batches;
mod bank;
mod chunk_shape;
mod clock;
pub mod cluster;
mod eligibility;
pub mod error;
pub mod evaluate;
pub mod export;
mod failing_watch;
pub mod graph_export;
mod history;
pub mod ingest;
mod learned_values;
pub mod maintenance;
mod page_numbers;
pub mod plan;
pub mod policy;
mod process_server;
mod processes;
#[cfg(test)]
#[path = "../../tests/support/properties.rs"]
mod properties;
pub mod query;
pub mod refresh;
pub mod remote;
mod repeated_content;
mod request_topic;
mod revisits;
mod rounds;
pub mod scores;
#[cfg(test)]
mod scratch;
mod site_owners;
mod web_graph;

pub use bank::Bank;
pub(crate) use bank::naming;
pub use error::{EngineError, Result};
pub use ingest::{IngestReport, IngestRequest};
pub use plan::{Plan, PlanOptions};
pub use query::Which;
pub use refresh::{RefreshReport, RefreshRequest};
