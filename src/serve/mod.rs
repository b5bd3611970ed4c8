//! A read-only web server for one bank: pages for a browser, and the same answers as JSON for programs.
//!
//! ```text
//! server.rs              listens, accepts connections, shuts down
//! connection_limiter.rs  limits connections and requests; evicts idle connections
//! connection.rs          serves one connection within its timeouts
//! send_timeout.rs        TCP stream with a deadline for sending
//! security.rs            checks requests; adds security headers to responses
//! request_metrics.rs     counts and times requests for /metrics
//! token.rs               the secret token that requests from other machines need
//! extract.rs             extracts parameters and media type from a request for a page
//! query_params.rs        deserialises the query string of a URI
//! media_type.rs          HTML, JSON or CSV
//! executor.rs            computes answers on blocking threads, each with a deadline
//! snapshot.rs            the published state that requests read
//! cache.rs               cache of answers that took long to compute
//! turnover_cache.rs      cache of changes from refresh to refresh
//! answer.rs              an answer, and the errors of requests
//! address.rs             relative URLs of the pages of this server
//! table.rs               a table as HTML and as CSV
//! api/                   the operations of the JSON API, and the OpenAPI document
//! mcp.rs                 the same operations as tools on standard input and output (feature `mcp`)
//! pages/                 one file per page; its template is in html/, on top of those in src/html
//! ```
//!
//! Pages are rendered on the server, need no scripts, and load nothing from other hosts. Crawled URLs are
//! shown as text, and the server never fetches them.
//!
//! Each answer comes from one published state. The first request after another process has published a
//! batch or refresh reads the new state; the old one is closed within a second of its last request.

mod address;
mod answer;
mod api;
mod cache;
mod connection;
mod connection_limiter;
mod executor;
mod extract;
#[cfg(feature = "mcp")]
mod mcp;
mod media_type;
mod pages;
mod query_params;
mod request_metrics;
mod security;
mod send_timeout;
mod server;
mod snapshot;
mod table;
mod token;
mod turnover_cache;

pub use answer::Problem;
pub use api::{OPERATIONS, Operation};
#[cfg(feature = "mcp")]
pub use mcp::ToolServer;
pub use server::{ServeError, ServeRequest, Server};
pub use token::{ShortToken, Token};
