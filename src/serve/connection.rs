//! One connection: its place among all connections, its timeouts, and the deadline for what it sends.
//!
//! The number of connections and requests is limited. A new connection is always admitted: at the limit, an
//! idle connection is closed for it. A connection is *idle* while it waits for its client to send a request or to
//! accept an answer, and *busy* while a request is being answered. Of all idle connections, the one of the peer with
//! the most connections is closed; of several, the one that has been idle longest. An idle one always exists,
//! because fewer requests are answered at once than connections are allowed.
//!
//! Sending or accepting single bytes does not make a connection busy, so a slow client cannot hold one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch as flag};
use tokio::time::{Sleep, sleep, timeout};

/// Maximum time until the head of a request is complete; also limits the time between requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum age of a connection; then it closes after the current answer.
const MAX_AGE: Duration = Duration::from_secs(120);

/// Maximum time for the current answer once the connection is closing.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// Maximum size of the head of a request in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;

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

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

/// Maximum number of requests that are being answered or queued, of all peers.
const MAX_REQUESTS: usize = MAX_CONNECTIONS / 2;

/// As [`MAX_REQUESTS`], of one peer.
const MAX_PEER_REQUESTS: usize = MAX_REQUESTS / 2;

/// The origin of a connection: an IPv4 address, or the first 64 bits of an IPv6 address, since one
/// machine usually owns all addresses with the same prefix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Peer(IpAddr);

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(match address.ip().to_canonical() {
            IpAddr::V6(ip) => {
                let network = ip.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            ip @ IpAddr::V4(_) => ip,
        })
    }
}

/// All admitted connections.
#[derive(Default)]
pub(super) struct ConnectionLimiter(Mutex<Connections>);

#[derive(Default)]
struct Connections {
    by_id: BTreeMap<u64, Connection>,
    next_id: u64,
}

struct Connection {
    peer: Peer,
    /// Start of the idle period; `None` while the connection is busy.
    idle_since: Option<Instant>,
    /// Closes the connection when dropped.
    _open: oneshot::Sender<()>,
}

/// An admitted connection. Dropping it frees its slot.
pub(super) struct ConnectionSlot {
    limiter: Arc<ConnectionLimiter>,
    id: u64,
}

/// Ends, with an error, when the connection must close to make room for another one.
pub(super) type Evicted = oneshot::Receiver<()>;

/// A request that is being answered. Its connection is busy until this is dropped.
pub(super) struct ActiveRequest(Arc<ConnectionSlot>);

impl ConnectionLimiter {
    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a new connection; at the limit, evicts an idle one.
    pub(super) fn admit(self: &Arc<Self>, address: SocketAddr) -> (ConnectionSlot, Evicted) {
        let peer = Peer::from(address);
        let mut connections = self.lock();
        if connections.by_id.len() >= MAX_CONNECTIONS {
            connections.evict_one(Some(peer));
        }
        let (open, evicted) = oneshot::channel();
        let id = connections.next_id;
        connections.next_id += 1;
        let connection = Connection {
            peer,
            idle_since: Some(Instant::now()),
            _open: open,
        };
        connections.by_id.insert(id, connection);
        let limiter = Arc::clone(self);
        (ConnectionSlot { limiter, id }, evicted)
    }

    /// Evicts an idle connection; returns `false` if there is none.
    pub(super) fn evict_one(&self) -> bool {
        self.lock().evict_one(None)
    }
}

impl Connections {
    /// Evicts the connection that has been idle longest, of the peer with the most connections. Counts a
    /// connection of the `new` peer too.
    fn evict_one(&mut self, new: Option<Peer>) -> bool {
        let mut per_peer: BTreeMap<Peer, usize> = BTreeMap::new();
        let peers = self.by_id.values().map(|connection| connection.peer);
        for peer in peers.chain(new) {
            *per_peer.entry(peer).or_default() += 1;
        }
        let idle = self.by_id.iter().filter_map(|(id, connection)| {
            let since = connection.idle_since?;
            let connections = per_peer.get(&connection.peer);
            Some((connections, Reverse((since, *id))))
        });
        let Some((_, Reverse((_, id)))) = idle.max() else {
            return false;
        };
        self.by_id.remove(&id);
        true
    }
}

impl ConnectionSlot {
    /// Marks the connection as busy; `None` if too many requests are active or the connection is evicted.
    pub(super) fn begin_request(self: &Arc<Self>) -> Option<ActiveRequest> {
        let mut connections = self.limiter.lock();
        let peer = connections.by_id.get(&self.id)?.peer;
        let all = connections.by_id.values();
        let busy = all.filter(|connection| connection.idle_since.is_none());
        let peers: Vec<Peer> = busy.map(|connection| connection.peer).collect();
        let same_peer = peers.iter().filter(|other| **other == peer).count();
        if peers.len() >= MAX_REQUESTS || same_peer >= MAX_PEER_REQUESTS {
            return None;
        }
        connections.by_id.get_mut(&self.id)?.idle_since = None;
        Some(ActiveRequest(Arc::clone(self)))
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut connections = self.0.limiter.lock();
        if let Some(connection) = connections.by_id.get_mut(&self.0.id) {
            connection.idle_since = Some(Instant::now());
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.limiter.lock().by_id.remove(&self.id);
    }
}

/// Maximum time for which a client may accept no bytes.
const SEND_TIME: Duration = Duration::from_secs(10);

/// A TCP stream whose writes fail once the client has accepted no bytes for [`SEND_TIME`].
pub(super) struct SendTimeout {
    stream: TcpStream,
    /// `None` unless the last write was blocked.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl SendTimeout {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            deadline: None,
        }
    }

    /// Turns a blocked write into an error once the deadline has passed.
    fn within_deadline(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep(SEND_TIME)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl Drop for SendTimeout {
    fn drop(&mut self) {
        if self.deadline.is_some() {
            // The client accepts nothing, so discard unsent bytes instead of retrying in the background.
            // If this fails, the system retries for a while.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for SendTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for SendTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_deadline(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within_deadline(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
#[path = "connection_limiter_tests.rs"]
mod tests;
