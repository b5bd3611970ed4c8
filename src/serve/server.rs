//! Listens, and takes care of connections.

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

use super::connection::{GRACE, serve};
use super::desk::Desk;
use super::guard::Guard;
use super::pages;
use super::seats::Seats;
use super::token::Token;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;

/// Connections that the system holds until they are accepted.
const BACKLOG: u32 = 1024;

/// Connections that are accepted before those that are there have their turn.
const BURST: u32 = 32;

/// Bytes of an answer that the system takes at once, to send them as its client takes them.
const SEND_BUFFER: u32 = 256 << 10;

/// How long work that nobody waits for any more may take when the server ends.
const LAST_WORK: Duration = Duration::from_secs(2);

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
    /// Other machines could send requests without a token.
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
    /// The server cannot run.
    #[error("cannot run the server")]
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
        let desk = Desk::new(Bank::at(bank.path()).hiding_folders(), (4 * cores).max(16));
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
        let listener = listening(self.listener)?;
        let desk = Arc::new(self.desk);
        let app = pages::router(Arc::clone(&desk), Arc::new(self.guard));
        let seats = Arc::new(Seats::default());
        let (end, ending) = flag::channel(false);
        let mut look = interval(LOOK);
        let mut looks = 0;
        let mut accepted = 0_u32;
        while !watch.stopped() {
            tokio::select! {
                connection = listener.accept() => match connection {
                    Ok((stream, address)) => {
                        let seat = seats.seat(address);
                        tokio::spawn(serve(stream, seat, app.clone(), ending.clone()));
                        accepted = accepted.wrapping_add(1);
                        if accepted.is_multiple_of(BURST) {
                            yield_now().await;
                        }
                    }
                    // Too many open files: a connection that waits for its client makes room.
                    Err(_) if seats.close_one() => yield_now().await,
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
        // Each connection has a receiver until it ends.
        drop(ending);
        let _ = timeout(GRACE, end.closed()).await;
        Ok(())
    }
}

/// The listener with room for a crowd that connects at once, and connections that hold little of an
/// answer that their client does not take.
fn listening(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    // Any socket is accepted here, and one that listens may do so again, with other settings.
    let socket = TcpSocket::from_std_stream(TcpStream::from(OwnedFd::from(listener)));
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.listen(BACKLOG)
}
