//! A read-only web server for one bank: pages for a browser, and the same answers as JSON for programs.
//!
//! ```text
//! server.rs           listens, accepts connections, shuts down
//! connection.rs       serves one connection within its timeouts, and limits their number; evicts idle ones
//! security.rs         checks requests and the token of other machines; adds security headers to responses
//! request_metrics.rs  counts and times requests for /metrics
//! params.rs           the parameters of a request, and the media type of its answer: HTML, JSON or CSV
//! executor.rs         computes answers on blocking threads, each with a deadline; caches slow ones by state
//! answer.rs           an answer, and the errors of requests
//! address.rs          relative URLs of the pages of this server
//! table.rs            tables of `answers` as HTML
//! api/                the operations of the JSON API, and the OpenAPI document
//! mcp.rs              the same operations as tools on standard input and output (feature `mcp`)
//! pages/              pages by what they are about; their templates are in html/, on top of those in src/html
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
mod connection;
mod executor;
#[cfg(feature = "mcp")]
mod mcp;
mod pages;
mod params;
mod request_metrics;
mod security;
mod server;
mod table;

pub use answer::Problem;
pub use api::{OPERATIONS, Operation};
#[cfg(feature = "mcp")]
pub use mcp::ToolServer;
pub use security::{ShortToken, Token};
pub use server::{ServeError, ServeRequest, Server};
