//! Hundreds of clients that keep a server waiting, each in one of the ways in which a client can. One
//! thread drives them all. A client whose connection is closed comes back.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncWrite, Interest};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

/// How a client keeps the server waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conduct {
    /// Connects and sends nothing.
    Silent,
    /// Sends the head of a request byte by byte.
    SlowHead,
    /// Sends requests without end and never reads an answer.
    NeverReads,
    /// The same with requests that the server refuses.
    Refused,
    /// The same with requests that lack the token.
    Untrusted,
    /// Sends requests and reads a byte a second.
    ReadsSlowly,
    /// Sends the body of a request byte by byte.
    SlowBody,
    /// Reads one answer and keeps the connection.
    Idle,
    /// Sends requests, closes its side, and never reads.
    HalfClosed,
    /// Has lists compared, as long as they may be, one after the other.
    Compares,
}

impl Conduct {
    /// Those whose clients keep the server waiting.
    pub const SLOW: [Self; 9] = [
        Self::Silent,
        Self::SlowHead,
        Self::NeverReads,
        Self::Refused,
        Self::Untrusted,
        Self::ReadsSlowly,
        Self::SlowBody,
        Self::Idle,
        Self::HalfClosed,
    ];
}

/// How long a client waits before it connects again.
const AWAY: Duration = Duration::from_millis(100);

/// One large crowd at a time: each has hundreds of connections, and a process may have a thousand.
static ONE: Mutex<()> = Mutex::new(());

/// Clients, until they are dropped.
pub struct Crowd {
    _one: Option<MutexGuard<'static, ()>>,
    ends: Arc<AtomicBool>,
    /// Connections that were made.
    connections: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Crowd {
    /// Starts this many clients of these kinds in turn, from these addresses in turn, and waits until
    /// each has connected once.
    pub fn start(
        server: SocketAddr,
        clients: usize,
        conducts: &[Conduct],
        from: &[Ipv4Addr],
    ) -> Self {
        let lock = || ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let one = (clients > 10).then(lock);
        let (conducts, from) = (conducts.to_vec(), from.to_vec());
        let ends = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(AtomicUsize::new(0));
        let (is_over, made) = (Arc::clone(&ends), Arc::clone(&connections));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                for client in 0..clients {
                    let conduct = conducts[client % conducts.len()];
                    let from = from[client / conducts.len() % from.len()];
                    tokio::spawn(stay(server, from, conduct, Arc::clone(&made)));
                }
                while !is_over.load(Ordering::Relaxed) {
                    sleep(Duration::from_millis(20)).await;
                }
            });
        });
        while connections.load(Ordering::Relaxed) < clients && !thread.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Self {
            _one: one,
            ends,
            connections,
            thread: Some(thread),
        }
    }

    /// How many connections were made, those of clients that came back included.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Whether it panicked: then the test has failed already.
            let _ = thread.join();
        }
    }
}

/// Connects again and again.
async fn stay(server: SocketAddr, from: Ipv4Addr, conduct: Conduct, made: Arc<AtomicUsize>) {
    loop {
        if let Ok(mut stream) = connect(server, from).await {
            made.fetch_add(1, Ordering::Relaxed);
            // An error is the server's closing of the connection.
            let _ = behave(&mut stream, server, conduct).await;
        }
        sleep(AWAY).await;
    }
}

async fn connect(server: SocketAddr, from: Ipv4Addr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0))?;
    socket.connect(server).await
}

/// Keeps the server waiting until it closes the connection.
async fn behave(stream: &mut TcpStream, server: SocketAddr, conduct: Conduct) -> io::Result<()> {
    let token = "Authorization: Bearer 0123456789abcdef\r\n";
    let request = format!("GET / HTTP/1.1\r\nHost: {server}\r\n{token}\r\n");
    let untrusted = format!("GET / HTTP/1.1\r\nHost: {server}\r\n\r\n");
    let health = format!("GET /healthz HTTP/1.1\r\nHost: {server}\r\n\r\n");
    let pause = Duration::from_millis(200);
    match conduct {
        Conduct::Silent => {}
        Conduct::SlowHead => {
            send(stream, &request.as_bytes()[..request.len() - 2]).await?;
            send_slowly(stream, pause).await?;
        }
        Conduct::NeverReads => loop {
            send(stream, request.as_bytes()).await?;
        },
        Conduct::Untrusted => loop {
            send(stream, untrusted.as_bytes()).await?;
        },
        Conduct::Refused => loop {
            send(stream, b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n").await?;
        },
        Conduct::ReadsSlowly => {
            send(stream, request.repeat(300).as_bytes()).await?;
            loop {
                read(stream, 1).await?;
                sleep(Duration::from_secs(1)).await;
            }
        }
        Conduct::SlowBody => {
            let head = format!(
                "POST /compare HTTP/1.1\r\nHost: {server}\r\n{token}Content-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n"
            );
            send(stream, head.as_bytes()).await?;
            send_slowly(stream, pause).await?;
        }
        Conduct::Idle => send(stream, health.as_bytes()).await?,
        Conduct::Compares => {
            let lines = (0..2000).map(|n| format!("http://a{n}.example/\n"));
            let list = lines.collect::<Vec<_>>().concat();
            let head = format!(
                "POST /compare HTTP/1.1\r\nHost: {server}\r\n{token}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
                list.len()
            );
            // The answer comes before the next list does.
            loop {
                send(stream, head.as_bytes()).await?;
                send(stream, list.as_bytes()).await?;
                read(stream, 1 << 20).await?;
            }
        }
        Conduct::HalfClosed => {
            send(stream, request.repeat(300).as_bytes()).await?;
            poll_fn(|context| Pin::new(&mut *stream).poll_shutdown(context)).await?;
            loop {
                let ready = stream.ready(Interest::READABLE | Interest::ERROR).await?;
                if ready.is_read_closed() || ready.is_error() {
                    return Ok(());
                }
                sleep(AWAY).await;
            }
        }
    }
    // Whatever comes is read until the connection is closed.
    loop {
        read(stream, 1 << 12).await?;
    }
}

async fn send(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Sends a byte after each pause until the connection is closed.
async fn send_slowly(stream: &TcpStream, pause: Duration) -> io::Result<()> {
    loop {
        send(stream, b"a").await?;
        sleep(pause).await;
    }
}

/// Reads at most this many bytes; an error where the connection is closed.
async fn read(stream: &TcpStream, most: usize) -> io::Result<()> {
    let mut buffer = vec![0; most];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
}
