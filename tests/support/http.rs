//! `seedbank serve`, started and ended as a user does it, and a client that sends what a test asks for
//! to, byte for byte.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::command::Place;

/// How long an answer may take on a machine that is busy: longer than the server gives itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the server may take to end where nothing is under way.
pub const SOON: Duration = Duration::from_secs(5);

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case, with their values, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of this name; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The text of an answer that must be one.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.status, 200, "{}", self.text());
        String::from_utf8(self.body).unwrap()
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.done()).unwrap()
    }
}

/// A connection to the server.
pub struct Connection {
    stream: TcpStream,
    /// What came, and belongs to no answer yet.
    came: Vec<u8>,
}

impl Connection {
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            came: Vec::new(),
        }
    }

    /// Sends; whether the server took it, which it need not if it refuses the request.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Waits for more; whether something came before the server closed the connection.
    fn more(&mut self) -> bool {
        let mut buffer = vec![0; 1 << 16];
        match self.stream.read(&mut buffer) {
            Ok(count) => {
                self.came.extend_from_slice(&buffer[..count]);
                count > 0
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("neither an answer nor an end within {PATIENCE:?}")
            }
            Err(_) => false,
        }
    }

    /// The next head: its first line and its headers. `None` where the connection was closed
    /// instead.
    fn head(&mut self) -> Option<(u16, Vec<(String, String)>)> {
        let end = loop {
            if let Some(at) = self.came.windows(4).position(|part| part == b"\r\n\r\n") {
                break at;
            }
            if !self.more() {
                return None;
            }
        };
        let head: Vec<u8> = self.came.drain(..end + 4).collect();
        let head = String::from_utf8(head).expect("heads are ASCII");
        let mut lines = head.trim_end().split("\r\n");
        let first = lines.next().unwrap();
        assert!(first.starts_with("HTTP/1."), "{first}");
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        Some((status, headers.collect()))
    }

    /// The server must ask for the body of the request, so it is about to answer it.
    #[track_caller]
    pub fn is_asked_for_body(&mut self) {
        assert_eq!(self.head().map(|(status, _)| status), Some(100));
    }

    /// The next answer; `None` where the connection was closed instead. Of a HEAD no body comes.
    pub fn answer(&mut self, has_body: bool) -> Option<Answer> {
        let (status, headers) = loop {
            let head = self.head()?;
            if head.0 != 100 {
                break head;
            }
        };
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        if has_body {
            let length = answer.header("content-length");
            let length: usize = length.parse().expect("answers have a length");
            while self.came.len() < length {
                assert!(self.more(), "an answer broke off");
            }
            answer.body = self.came.drain(..length).collect();
        }
        Some(answer)
    }

    /// Whether the server closes the connection within this time; what it says until then is kept.
    pub fn is_closed_within(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let mut buffer = [0; 1 << 12];
        let is_closed = loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => break true,
                Ok(count) => self.came.extend_from_slice(&buffer[..count]),
                Err(e) => break !matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
        };
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        is_closed
    }

    /// Waits until the server closes the connection; what came until then.
    pub fn rest(mut self) -> Vec<u8> {
        while self.more() {}
        self.came
    }
}

/// A server of a bank; it is killed where it was not stopped.
pub struct Served {
    child: Child,
    /// Held open: a server that cannot print could end.
    _out: BufReader<ChildStdout>,
    /// Reads standard error to its end.
    err: Option<JoinHandle<String>>,
    pub address: SocketAddr,
}

impl Served {
    /// Starts `serve` with these arguments, at a port that is free unless they say where.
    #[track_caller]
    pub fn start(place: &Place, args: &[&str]) -> Self {
        let mut all = vec!["serve"];
        if !args.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(args);
        let mut child = place.spawn(&all);
        let mut err = child.stderr.take().unwrap();
        let err = spawn(move || {
            let mut text = String::new();
            // What is no UTF-8 ends it, and the assertions on it fail.
            let _ = err.read_to_string(&mut text);
            text
        });
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .and_then(|(address, _)| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("no address in {line:?}: {}", err.join().unwrap());
        };
        Self {
            child,
            _out: out,
            err: Some(err),
            address,
        }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// How many files and connections the server has open.
    pub fn files(&self) -> usize {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.process()));
        open.unwrap().count()
    }

    pub fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    /// The bytes of a request for which the connection is not kept.
    pub fn request(&self, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
        let mut head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.address
        );
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str("Content-Length: ");
            head.push_str(&body.len().to_string());
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        [head.as_bytes(), body].concat()
    }

    /// Asks, and has the one answer.
    #[track_caller]
    pub fn ask(&self, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut connection = self.connect();
        connection.send(&self.request(method, target, headers, body));
        let answer = connection.answer(method != "HEAD");
        let answer = answer.unwrap_or_else(|| panic!("{method} {target}: no answer"));
        assert_eq!(connection.rest(), b"", "{method} {target}");
        answer
    }

    #[track_caller]
    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], b"")
    }

    /// Tells the server to end.
    pub fn terminate(&self) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &process]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    }

    /// The server must end well within this time; what it said on standard error.
    #[track_caller]
    pub fn ends(mut self, within: Duration) -> String {
        let until = Instant::now() + within;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it runs on after {within:?}");
            sleep(Duration::from_millis(10));
        };
        let err = self.err.take().unwrap().join().unwrap();
        assert_eq!(status.code(), Some(0), "{err}");
        assert!(!err.contains("panicked"), "{err}");
        err
    }

    /// Stops the server, which must have panicked nowhere.
    #[track_caller]
    pub fn stop(self) -> String {
        self.terminate();
        self.ends(SOON)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A value as a parameter of an address.
pub fn encoded(value: &str) -> String {
    byte_serialize(value.as_bytes()).collect()
}

/// Where the links of a page lead, as they are written there.
pub fn links(page: &str) -> Vec<String> {
    let after = page.split("href=\"").skip(1);
    after
        .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
        .collect()
}
