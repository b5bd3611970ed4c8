//! A slow network between the processes of a cluster bank: each connection leads through a relay, which delays what it
//! forwards and can cut the connection.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes that arrive at a time.
const PIECE: usize = 7;

/// The length of a heartbeat.
const HEARTBEAT: usize = 5;

/// How a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// Both sides see that it is closed.
    Closed,
    /// Nothing arrives any more.
    Silent,
}

/// The traffic of a relay, and when it cuts the connection.
#[derive(Default)]
struct Link {
    bytes: AtomicUsize,
    /// How often bytes arrived together, other than a heartbeat.
    arrivals: AtomicUsize,
    /// After how many bytes to cut the connection, and how.
    cut: Mutex<Option<(usize, Cut)>>,
    is_over: AtomicBool,
}

/// Forwards connections to one address.
pub struct Relay {
    pub address: SocketAddr,
    link: Arc<Link>,
}

impl Relay {
    /// A relay that delivers bytes in both directions with this delay.
    pub fn new(to: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let link = Arc::new(Link::default());
        let relay = Self {
            address,
            link: Arc::clone(&link),
        };
        thread::spawn(move || {
            for caller in listener.incoming() {
                if link.is_over.load(Ordering::Acquire) {
                    break;
                }
                // A caller whose process does not listen yet calls again.
                if let (Ok(caller), Ok(target)) = (caller, TcpStream::connect(to)) {
                    connect(&link, &caller, &target, delay);
                }
            }
        });
        relay
    }

    /// The bytes of both directions, and how often some of them arrived.
    pub fn traffic(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (load(&self.link.bytes), load(&self.link.arrivals))
    }

    /// Counts from 0 again, and cuts the connection once `cut` bytes were forwarded.
    pub fn restart(&self, cut: Option<(usize, Cut)>) {
        self.link.bytes.store(0, Ordering::Relaxed);
        self.link.arrivals.store(0, Ordering::Relaxed);
        *self.link.cut.lock().unwrap() = cut;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.link.is_over.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

/// Forwards both directions of a connection, in threads that end with it.
fn connect(link: &Arc<Link>, caller: &TcpStream, target: &TcpStream, delay: Duration) {
    for (from, to) in [(caller, target), (target, caller)] {
        let [reader, writer] = [from, to].map(|stream| stream.try_clone().unwrap());
        writer.set_nodelay(true).unwrap();
        let (received, delayed) = mpsc::channel();
        let link = Arc::clone(link);
        let send = move |bytes| received.send((Instant::now() + delay, bytes)).is_ok();
        thread::spawn(move || receive(&link, reader, send));
        thread::spawn(move || deliver(&delayed, writer));
    }
}

/// Bytes, and the time at which they arrive. `None` is the end.
type Delayed = (Instant, Option<Vec<u8>>);

/// Reads until the connection ends or is cut, and hands on what is to arrive.
fn receive(link: &Link, mut from: TcpStream, send: impl Fn(Option<Vec<u8>>) -> bool) {
    let mut buffer = [0; 1 << 14];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        if count == 0 {
            send(None);
            return;
        }
        let is_message = count != HEARTBEAT;
        link.arrivals
            .fetch_add(is_message.into(), Ordering::Relaxed);
        let bytes = link.bytes.fetch_add(count, Ordering::Relaxed) + count;
        let cut = *link.cut.lock().unwrap();
        match cut.filter(|(after, _)| bytes > *after) {
            None => {
                if !send(Some(buffer[..count].to_vec())) {
                    return;
                }
            }
            Some((_, Cut::Silent)) => {}
            Some((_, Cut::Closed)) => {
                let _ = from.shutdown(Shutdown::Both);
                send(None);
                return;
            }
        }
    }
}

/// Writes what arrives, when it is to arrive, in small pieces.
fn deliver(delayed: &mpsc::Receiver<Delayed>, mut to: TcpStream) {
    for (arrives, bytes) in delayed {
        thread::sleep(arrives.saturating_duration_since(Instant::now()));
        let Some(bytes) = bytes else {
            let _ = to.shutdown(Shutdown::Write);
            return;
        };
        for piece in bytes.chunks(PIECE) {
            if to.write_all(piece).is_err() {
                return;
            }
        }
    }
}
