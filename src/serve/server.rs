//! The server: listens, accepts connections, and shuts down.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::sync::watch as flag;
use tokio::task::yield_now;
use tokio::time::{interval, sleep, timeout};

use super::connection::ConnectionLimiter;
use super::connection::{GRACE, serve};
use super::executor::Executor;
use super::pages;
use super::security::AccessPolicy;
use super::security::Token;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;

/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Number of connections to accept before others get a turn.
const BURST: u32 = 32;

/// Send buffer of a connection in bytes.
const SEND_BUFFER: u32 = 256 << 10;

/// Maximum time for cancelled work to end at shutdown.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// Interval at which the server checks whether to stop.
const TICK: Duration = Duration::from_millis(100);

/// Number of ticks after which an outdated state is closed.
const CLOSE_TICKS: u32 = 5;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServeRequest {
    /// Address and port to listen on; port 0 selects a free one.
    pub listen: SocketAddr,
    /// Secret token that every request must have; required if other machines can reach the address.
    pub token: Option<Token>,
    /// Accepted host names, besides IP addresses and `localhost`.
    pub names: Vec<String>,
}

impl Default for ServeRequest {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            token: None,
            names: Vec::new(),
        }
    }
}

/// Error of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines can reach the address, and no token is set.
    #[error(
        "{0} can be reached from other machines, and anyone who can reach it could read the whole bank"
    )]
    Open(SocketAddr),
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The server failed while running.
    #[error("cannot run the server")]
    Run(#[source] io::Error),
    /// The bank cannot be read.
    #[error(transparent)]
    Bank(#[from] EngineError),
}

/// A server of one bank. It listens as soon as it is created, and answers while it [runs](Server::run).
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use std::io::{Read, Write};
///
/// use seedbank::serve::{ServeRequest, Server};
/// use seedbank::watch::Watch;
///
/// /// Stops the server when it is set.
/// struct Stop(std::sync::atomic::AtomicBool);
/// impl Watch for Stop {
///     fn stopped(&self) -> bool {
///         self.0.load(std::sync::atomic::Ordering::Relaxed)
///     }
/// }
///
/// let request = ServeRequest { listen: "127.0.0.1:0".parse()?, ..ServeRequest::default() };
/// let server = Server::bind(&bank, request)?;
/// let address = server.address();
/// let stop = Stop(false.into());
/// std::thread::scope(|scope| {
///     scope.spawn(|| server.run(&stop));
///     let mut connection = std::net::TcpStream::connect(address)?;
///     write!(connection, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
///     let mut answer = String::new();
///     connection.read_to_string(&mut answer)?;
///     stop.0.store(true, std::sync::atomic::Ordering::Relaxed);
///     assert!(answer.starts_with("HTTP/1.1 200 OK"));
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    executor: Executor,
    policy: AccessPolicy,
}

impl Server {
    /// Opens the bank and starts to listen.
    pub fn bind(bank: &Bank, request: ServeRequest) -> Result<Self, ServeError> {
        let address = request.listen;
        let is_loopback = address.ip().is_loopback();
        if !is_loopback && request.token.is_none() {
            return Err(ServeError::Open(address));
        }
        let cores = available_parallelism().map_or(2, usize::from);
        let executor = Executor::new(bank.hiding_folders(), (4 * cores).max(16));
        // Fail at once if the bank does not exist.
        executor.snapshot.get()?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            executor,
            policy: AccessPolicy {
                token: request.token,
                is_loopback,
                hosts: request.names,
            },
        })
    }

    /// Returns the address and port that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `watch` stops the server. Then finishes current requests, for at most twelve
    /// seconds.
    pub fn run(self, watch: &dyn Watch) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(ServeError::Run)?;
        let ended = runtime.block_on(self.answer(watch));
        // Work that is left is cancelled, since its requests were dropped.
        runtime.shutdown_timeout(CANCEL_GRACE);
        ended.map_err(ServeError::Run)
    }

    async fn answer(self, watch: &dyn Watch) -> io::Result<()> {
        let listener = configure(self.listener)?;
        let executor = Arc::new(self.executor);
        let app = pages::router(Arc::clone(&executor), Arc::new(self.policy));
        let limiter = Arc::new(ConnectionLimiter::default());
        let (end, shutdown) = flag::channel(false);
        let mut tick = interval(TICK);
        let mut ticks = 0;
        let mut accepted = 0_u32;
        while !watch.stopped() {
            tokio::select! {
                connection = listener.accept() => match connection {
                    Ok((stream, address)) => {
                        let (slot, evicted) = limiter.admit(address);
                        tokio::spawn(serve(stream, slot, evicted, app.clone(), shutdown.clone()));
                        accepted = accepted.wrapping_add(1);
                        if accepted.is_multiple_of(BURST) {
                            yield_now().await;
                        }
                    }
                    // Probably too many open files: evict an idle connection.
                    Err(_) if limiter.evict_one() => yield_now().await,
                    Err(_) => sleep(TICK).await,
                },
                _ = tick.tick() => {
                    ticks += 1;
                    if ticks % CLOSE_TICKS == 0 {
                        let executor = Arc::clone(&executor);
                        tokio::task::spawn_blocking(move || executor.snapshot.close_if_outdated());
                    }
                }
            }
        }
        drop(listener);
        // Fails only if no connection is open.
        let _ = end.send(true);
        // The channel closes when the last connection has dropped its receiver.
        drop(shutdown);
        let _ = timeout(GRACE, end.closed()).await;
        Ok(())
    }
}

/// Sets the backlog of the listener, and the send buffer of its connections.
fn configure(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    // The conversion accepts any socket, and `listen` on a listening socket changes its backlog.
    let socket = TcpSocket::from_std_stream(TcpStream::from(OwnedFd::from(listener)));
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.listen(BACKLOG)
}
