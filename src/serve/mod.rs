//! A bank in a browser: a page for every question, and the same as JSON, read-only.
//!
//! ```text
//! server.rs    listens, accepts connections at once, ends cleanly
//! seats.rs     which connections there are, and which one makes room for a new one
//! connection.rs  one connection, within its times
//! sending.rs   its socket, with a deadline for sending
//! guard.rs     who may ask, how, and what every answer says to the browser
//! token.rs     the secret that others than this machine's users have to know
//! shelf.rs     the state that is asked, let go as soon as a later one is published
//! turnovers.rs how its lists changed from refresh to refresh
//! desk.rs      answers questions on threads of their own, so many at once, each within its time
//! kept.rs      answers of one state that took long
//! answer.rs    an answer as a page or as JSON; what could not be answered
//! asked.rs     what a request asks for
//! query_params.rs  the query of its address as a struct
//! form.rs      whether its answer is a page or JSON
//! address.rs   addresses of pages, for links between them
//! pages/       a file for each page; html/ its template, on top of those in src/html
//! ```
//!
//! Pages are made here and need no script; nothing on them comes from elsewhere. A crawled URL is
//! text until somebody follows it, and this server never does.
//!
//! Every answer is of one published state. A batch or refresh that another process publishes is seen
//! by the next request; the old state is let go within a second after the last request that reads it.

mod address;
mod answer;
mod asked;
mod connection;
mod desk;
mod form;
mod guard;
mod kept;
mod pages;
mod query_params;
mod seats;
mod sending;
mod server;
mod shelf;
mod token;
mod turnovers;

pub use server::{ServeError, ServeRequest, Server};
pub use token::{ShortToken, Token};
