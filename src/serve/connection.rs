//! A connection, from its first request to its last, within its times.

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

use super::guard::HEAD_BYTES;
use super::seats::{Closed, Seat};
use super::sending::Socket;

/// How long a browser may take to send the head of a request, and how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// How long a connection is kept; then it ends after the answer that is under way.
const CONNECTION_TIME: Duration = Duration::from_secs(120);

/// How long an answer under way may take when its connection is to end.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// The most lines of the head of a request.
const HEAD_LINES: usize = 64;

/// Serves one connection until it ends, is too old, another one gets its seat, or the server ends.
pub(super) async fn serve(
    stream: TcpStream,
    (seat, mut closed): (Seat, Closed),
    app: Router,
    mut ending: flag::Receiver<bool>,
) {
    // Answers are written whole.
    let _ = stream.set_nodelay(true);
    let seat = Arc::new(seat);
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&seat));
        app.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(Socket::new(stream)), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // What went wrong is the other side's: a head too large, or a browser that left.
        _ = connection.as_mut() => return,
        _ = &mut closed => return,
        () = sleep(CONNECTION_TIME) => {}
        _ = ending.wait_for(|ends| *ends) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = timeout(GRACE, connection) => {}
        _ = closed => {}
    }
}
