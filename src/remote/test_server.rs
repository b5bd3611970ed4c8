//! A server of HTTP on loopback, which misbehaves as a test says.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// A status instead of the file.
    pub(crate) status: Option<&'static str>,
    /// The bytes of the body after which the connection is cut; 0 for none.
    pub(crate) cut: Option<usize>,
    /// Sends a few bytes at a time, with this delay.
    pub(crate) delay: Option<Duration>,
    /// The bytes by which the length in the header is too large, or if negative too small.
    pub(crate) lie: isize,
    /// The tag of the version; `None` for a server without tags.
    pub(crate) tag: Option<String>,
    /// The time of the last change; `None` for a server without times.
    pub(crate) time: Option<&'static str>,
    /// Whether the server knows ranges.
    pub(crate) ranges: bool,
    /// The version of the file: this is added to each of its bytes.
    pub(crate) version: u8,
}

impl Answer {
    /// The answer of a server that does what it should.
    pub(crate) fn right() -> Self {
        Self {
            tag: Some("\"1\"".to_owned()),
            ranges: true,
            ..Self::default()
        }
    }
}

/// A request.
pub(crate) struct Request {
    pub(crate) method: String,
    /// The number of the request, from 0.
    pub(crate) number: usize,
}

pub(crate) struct Server {
    pub(crate) address: String,
    /// All requests so far, with their header lines.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

/// Serves these bytes under any path, as `answer` says.
pub(crate) fn serve(
    bytes: Vec<u8>,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (bytes, answer, seen) = (Arc::new(bytes), Arc::new(answer), Arc::clone(&requests));
    // The thread ends with the process.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (bytes, answer, seen) =
                (Arc::clone(&bytes), Arc::clone(&answer), Arc::clone(&seen));
            thread::spawn(move || {
                let stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while one(&mut reader, &stream, &bytes, &*answer, &seen).is_some() {}
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    Server { address, requests }
}

/// Answers one request; `None` if the connection ends with it.
fn one(
    reader: &mut impl BufRead,
    mut stream: &TcpStream,
    bytes: &[u8],
    answer: &dyn Fn(&Request) -> Answer,
    seen: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if head.len() - before <= 2 {
            break;
        }
    }
    let lower = head.to_lowercase();
    let header = |name: &str| {
        let line = lower.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let range = header("range:").map(|range| {
        let (from, to) = range
            .strip_prefix("bytes=")
            .unwrap()
            .split_once('-')
            .unwrap();
        let from: usize = from.parse().unwrap();
        (
            from,
            to.parse()
                .map_or(bytes.len(), |to: usize| to + 1)
                .min(bytes.len()),
        )
    });
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(head.clone());
        seen.len() - 1
    };
    let method = head.split(' ').next().unwrap().to_owned();
    let request = Request { method, number };
    let answer = answer(&request);
    if let Some(status) = answer.status {
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        return stream.write_all(text.as_bytes()).ok();
    }
    if let (Some(wanted), Some(tag)) = (header("if-match:"), &answer.tag)
        && wanted != *tag
    {
        let text = "HTTP/1.1 412 Precondition Failed\r\ncontent-length: 0\r\n\r\n";
        return stream.write_all(text.as_bytes()).ok();
    }
    let (from, to) = range.filter(|_| answer.ranges).unwrap_or((0, bytes.len()));
    let length = (to - from).checked_add_signed(answer.lie).unwrap();
    let mut text = match range.filter(|_| answer.ranges) {
        Some(_) => format!(
            "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes {from}-{}/{}\r\n",
            to - 1,
            bytes.len().checked_add_signed(answer.lie).unwrap()
        ),
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    write!(text, "content-length: {length}\r\n").unwrap();
    if let Some(tag) = &answer.tag {
        write!(text, "etag: {tag}\r\n").unwrap();
    }
    if let Some(time) = answer.time {
        write!(text, "last-modified: {time}\r\n").unwrap();
    }
    text += "\r\n";
    stream.write_all(text.as_bytes()).ok()?;
    if request.method == "HEAD" {
        return Some(());
    }
    let body = bytes[from..to].iter();
    let body: Vec<u8> = body.map(|byte| byte.wrapping_add(answer.version)).collect();
    let body = &body[..answer.cut.unwrap_or(usize::MAX).min(body.len()).min(length)];
    for piece in body.chunks(if answer.delay.is_some() {
        1 << 14
    } else {
        1 << 20
    }) {
        stream.write_all(piece).ok()?;
        thread::sleep(answer.delay.unwrap_or_default());
    }
    (body.len() == length).then_some(())
}
