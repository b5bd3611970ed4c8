//! Listens, and takes care of connections.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch as flag};
use tokio::time::{interval, sleep, timeout};

use super::desk::Desk;
use super::guard::{Guard, HEAD_BYTES};
use super::pages;
use super::token::Token;
use crate::engine::{Bank, EngineError};
use crate::watch::Watch;

/// Connections at once; more wait to be accepted.
const CONNECTIONS: u32 = 256;

/// How long a browser may take to send the head of a request, and how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// How long a connection is kept; then it ends after the answer that is under way.
const CONNECTION_TIME: Duration = Duration::from_secs(120);

/// How long an answer under way may take when its connection is to end.
const GRACE: Duration = Duration::from_secs(10);

/// How long work that nobody waits for any more may take when the server ends.
const LAST_WORK: Duration = Duration::from_secs(2);

/// The most lines of the head of a request.
const HEAD_LINES: usize = 64;

/// How often it is looked whether the server should stop, and after how many looks an old state is let go.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: u32 = 5;

/// How a bank is served.
#[derive(Clone, Debug)]
pub struct ServeRequest {
    /// Where to listen; port 0 takes one that is free.
    pub listen: SocketAddr,
    /// What a request has to know; any address that other machines reach needs one.
    pub token: Option<Token>,
    /// Names that the server is called by, beside addresses and `localhost`.
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

/// Why a bank cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could ask, and need no token.
    #[error(
        "{0} can be reached from other machines, and whoever reaches it could read the whole bank"
    )]
    Open(SocketAddr),
    /// The address cannot be listened at.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The server cannot run.
    #[error("cannot serve")]
    Run(#[source] io::Error),
    /// The bank cannot be read.
    #[error(transparent)]
    Bank(#[from] EngineError),
}

/// A server of one bank, which listens from the beginning.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use std::io::{Read, Write};
///
/// use seedbank::serve::{ServeRequest, Server};
/// use seedbank::watch::Watch;
///
/// /// Stops the server as soon as it has answered.
/// struct Once(std::sync::atomic::AtomicBool);
/// impl Watch for Once {
///     fn stopped(&self) -> bool {
///         self.0.load(std::sync::atomic::Ordering::Relaxed)
///     }
/// }
///
/// let request = ServeRequest { listen: "127.0.0.1:0".parse()?, ..ServeRequest::default() };
/// let server = Server::bind(&bank, request)?;
/// let address = server.address();
/// let once = Once(false.into());
/// std::thread::scope(|scope| {
///     scope.spawn(|| server.run(&once));
///     let mut connection = std::net::TcpStream::connect(address)?;
///     write!(connection, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
///     let mut answer = String::new();
///     connection.read_to_string(&mut answer)?;
///     once.0.store(true, std::sync::atomic::Ordering::Relaxed);
///     assert!(answer.starts_with("HTTP/1.1 200 OK"));
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    desk: Desk,
    guard: Guard,
}

impl Server {
    /// Listens for questions about a bank, which has to be there; [`Server::run`] answers them.
    pub fn bind(bank: &Bank, request: ServeRequest) -> Result<Self, ServeError> {
        let address = request.listen;
        let is_local = address.ip().is_loopback();
        if !is_local && request.token.is_none() {
            return Err(ServeError::Open(address));
        }
        let cores = available_parallelism().map_or(2, usize::from);
        let desk = Desk::new(Bank::at(bank.path()), (4 * cores).max(16));
        desk.shelf.state()?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            desk,
            guard: Guard {
                token: request.token,
                is_local,
                names: request.names,
            },
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the watch says to stop; then what is under way is finished, for at most twelve
    /// seconds.
    pub fn run(self, watch: &dyn Watch) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(ServeError::Run)?;
        let ended = runtime.block_on(self.answer(watch));
        // Nobody waits for what is still being made; it is told to stop.
        runtime.shutdown_timeout(LAST_WORK);
        ended.map_err(ServeError::Run)
    }

    async fn answer(self, watch: &dyn Watch) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let desk = Arc::new(self.desk);
        let app = pages::router(Arc::clone(&desk), Arc::new(self.guard));
        let room = Arc::new(Semaphore::new(CONNECTIONS as usize));
        let (end, ending) = flag::channel(false);
        let mut look = interval(LOOK);
        let mut looks = 0;
        while !watch.stopped() {
            let accepted = async {
                let seat = Arc::clone(&room).acquire_owned().await;
                (listener.accept().await, seat)
            };
            tokio::select! {
                (connection, seat) = accepted => match connection {
                    Ok((stream, _)) => {
                        let (app, ending) = (app.clone(), ending.clone());
                        tokio::spawn(async move {
                            serve(stream, app, ending).await;
                            drop(seat);
                        });
                    }
                    // Too many open files, or a connection that was gone at once.
                    Err(_) => sleep(LOOK).await,
                },
                _ = look.tick() => {
                    looks += 1;
                    if looks % LOOKS == 0 {
                        let desk = Arc::clone(&desk);
                        tokio::task::spawn_blocking(move || desk.shelf.let_go());
                    }
                }
            }
        }
        drop(listener);
        // Nobody has to listen any more.
        let _ = end.send(true);
        let _ = timeout(GRACE, room.acquire_many(CONNECTIONS)).await;
        Ok(())
    }
}

/// Serves one connection until it ends, is too old, or the server ends.
async fn serve(stream: TcpStream, app: Router, mut ending: flag::Receiver<bool>) {
    // Answers are written whole.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut connection = pin!(connection);
    tokio::select! {
        // What went wrong is the other side's: a head too large, or a browser that left.
        _ = connection.as_mut() => return,
        () = sleep(CONNECTION_TIME) => {}
        _ = ending.wait_for(|ends| *ends) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(GRACE, connection).await;
}
