//! Serves one connection within its timeouts.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch as flag;
use tokio::time::{sleep, timeout};

use super::connection_limiter::{ConnectionSlot, Evicted};
use super::security::MAX_HEAD_BYTES;
use super::send_timeout::SendTimeout;

/// Maximum time until the head of a request is complete; also limits the time between requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum age of a connection; then it closes after the current answer.
const MAX_AGE: Duration = Duration::from_secs(120);

/// Maximum time for the current answer once the connection is closing.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 64;

/// Serves a connection until the client closes it, it reaches its maximum age, it is evicted, or the server
/// shuts down.
pub(super) async fn serve(
    stream: TcpStream,
    slot: ConnectionSlot,
    mut evicted: Evicted,
    app: Router,
    mut shutdown: flag::Receiver<bool>,
) {
    // Answers are written in one piece, so Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    let slot = Arc::new(slot);
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&slot));
        app.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(SendTimeout::new(stream)), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Errors are caused by the client: an invalid request, or a closed connection.
        _ = connection.as_mut() => return,
        _ = &mut evicted => return,
        () = sleep(MAX_AGE) => {}
        _ = shutdown.wait_for(|begun| *begun) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = timeout(GRACE, connection) => {}
        _ = evicted => {}
    }
}
