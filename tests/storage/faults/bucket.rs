//! A server of the S3 protocol on the loopback interface, whose objects are files: what a backup in a bucket needs of it,
//! with conditional writes.
//!
//! Signatures are not checked, and lists are not divided into pages.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use seedbank_formats::clock::time as time_text;

use crate::support::folders::files;

/// The folder of a bucket within a disk.
pub const BUCKET: &str = "bucket";

/// A server that has a bucket for each place in a folder.
pub struct Bucket {
    address: String,
    places: PathBuf,
}

impl Bucket {
    /// Serves the folder `DISK/bucket` of each place as a bucket, until the process ends.
    pub fn serve(places: &Path, disk: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let served = places.to_owned();
        // Conditional writes of two clients must not interleave.
        let turn = Arc::new(Mutex::new(()));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (places, turn) = (served.clone(), Arc::clone(&turn));
                std::thread::spawn(move || {
                    // A client that was killed ends its connection at any moment.
                    let _ = answer_all(stream, &places, disk, &turn);
                });
            }
        });
        Self {
            address,
            places: places.to_owned(),
        }
    }

    /// The name of the bucket of a place: its path, with periods.
    pub fn name(&self, place: &Path) -> String {
        let path = place.strip_prefix(&self.places).unwrap();
        path.to_str().unwrap().replace('/', ".")
    }

    /// The environment in which commands find the server.
    pub fn settings(&self) -> [(&str, &str); 5] {
        [
            ("AWS_ENDPOINT", &self.address),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]
    }
}

struct Request {
    method: String,
    bucket: String,
    key: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Reads a request; `None` at the end of the connection.
    fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = decode(path.trim_start_matches('/'));
        let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
        let mut request = Self {
            method: method.to_owned(),
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            let header = (name.to_ascii_lowercase(), value.trim().to_owned());
            request.headers.push(header);
        }
        let length = request.header("content-length");
        let length = length.map_or(0, |length| length.parse().unwrap_or(0));
        request.body.resize(length, 0);
        from.read_exact(&mut request.body)?;
        Ok(Some(request))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        let found = pairs.into_iter().find(|(parameter, _)| *parameter == name);
        found.map(|(_, value)| decode(value))
    }
}

/// Decodes percent signs.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = || u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        if byte == b'%'
            && let Some(code) = code()
        {
            bytes.push(code);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Default)]
struct Response {
    status: &'static str,
    headers: String,
    body: Vec<u8>,
}

impl Response {
    fn status(status: &'static str) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// The error that a client recognises by its code.
    fn error(status: &'static str, code: &str) -> Self {
        let body = format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>");
        Self {
            status,
            body: body.into_bytes(),
            ..Self::default()
        }
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.headers, "{name}: {value}\r\n");
        self
    }
}

fn answer_all(stream: TcpStream, places: &Path, disk: &str, turn: &Mutex<()>) -> io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        let folder = places
            .join(request.bucket.replace('.', "/"))
            .join(disk)
            .join(BUCKET);
        let response = {
            let _turn = turn.lock().unwrap();
            answer(&request, &folder)
        };
        let Response {
            status,
            headers,
            body,
        } = response;
        let length = body.len();
        let is_head = request.method == "HEAD";
        let length = if is_head {
            String::new()
        } else {
            format!("Content-Length: {length}\r\n")
        };
        write!(writer, "HTTP/1.1 {status}\r\n{headers}{length}\r\n")?;
        if !is_head {
            writer.write_all(&body)?;
        }
    }
    Ok(())
}

fn tag(bytes: &[u8]) -> String {
    format!("\"{}\"", blake3::hash(bytes).to_hex())
}

/// The time of the last change of a file, as in `2026-11-01T12:00:00Z`.
fn modified(file: &Path) -> String {
    let time = fs::metadata(file).and_then(|about| about.modified());
    let time = time.unwrap_or(SystemTime::UNIX_EPOCH);
    time_text(
        time.duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs(),
    )
}

/// The same time, as headers have it, without the day of the week.
fn in_header(time: &str) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month: usize = time[5..7].parse().unwrap();
    let (day, year, clock) = (&time[8..10], &time[..4], &time[11..19]);
    format!("{day} {} {year} {clock} GMT", MONTHS[month - 1])
}

fn answer(request: &Request, folder: &Path) -> Response {
    let file = folder.join(&request.key);
    let found = || fs::read(&file).ok();
    match request.method.as_str() {
        "PUT" => {
            let tag_of_found = found().map(|bytes| tag(&bytes));
            let is_refused = match (request.header("if-none-match"), request.header("if-match")) {
                (Some(_), _) => tag_of_found.is_some(),
                (_, Some(expected)) => tag_of_found.as_deref() != Some(expected),
                _ => false,
            };
            if is_refused {
                return Response::error("412 Precondition Failed", "PreconditionFailed");
            }
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            // A bucket has no folders; damage may have put one in the place of an object.
            let _ = fs::remove_dir_all(&file);
            fs::write(&file, &request.body).unwrap();
            Response::status("200 OK").header("ETag", &tag(&request.body))
        }
        "GET" | "HEAD" if request.key.is_empty() => list(request, folder),
        "GET" | "HEAD" => match found() {
            None => Response::error("404 Not Found", "NoSuchKey"),
            Some(bytes) => get(request, &file, bytes),
        },
        "DELETE" => {
            let _ = fs::remove_file(file);
            Response::status("204 No Content")
        }
        "POST" if request.query.starts_with("delete") => {
            let text = String::from_utf8_lossy(&request.body);
            let mut body = "<DeleteResult>".to_owned();
            for part in text.split("<Key>").skip(1) {
                let key = part.split("</Key>").next().unwrap();
                let _ = fs::remove_file(folder.join(key));
                let _ = write!(body, "<Deleted><Key>{key}</Key></Deleted>");
            }
            body.push_str("</DeleteResult>");
            Response {
                status: "200 OK",
                body: body.into_bytes(),
                ..Response::default()
            }
        }
        _ => Response::error("501 Not Implemented", "NotImplemented"),
    }
}

fn get(request: &Request, file: &Path, bytes: Vec<u8>) -> Response {
    let response = Response::status("200 OK")
        .header("ETag", &tag(&bytes))
        .header("Last-Modified", &in_header(&modified(file)));
    if request
        .header("if-match")
        .is_some_and(|expected| expected != tag(&bytes))
    {
        return Response::error("412 Precondition Failed", "PreconditionFailed");
    }
    let total = bytes.len();
    if request.method == "HEAD" {
        return response.header("Content-Length", &total.to_string());
    }
    let range = request
        .header("range")
        .and_then(|range| range.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
        return Response {
            body: bytes,
            ..response
        };
    };
    let first: usize = first.parse().unwrap_or(0);
    let last = last
        .parse()
        .unwrap_or(usize::MAX)
        .min(total.saturating_sub(1));
    if first >= total {
        return Response::error("416 Range Not Satisfiable", "InvalidRange");
    }
    let response = response.header("Content-Range", &format!("bytes {first}-{last}/{total}"));
    Response {
        status: "206 Partial Content",
        body: bytes[first..=last].to_vec(),
        ..response
    }
}

fn list(request: &Request, folder: &Path) -> Response {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let mut body = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
    let all: Vec<PathBuf> = if folder.exists() {
        files(folder)
    } else {
        Vec::new()
    };
    for file in all {
        let key = file.to_str().unwrap();
        if key.starts_with(&prefix) {
            let bytes = fs::read(folder.join(&file)).unwrap();
            let _ = write!(
                body,
                "<Contents><Key>{key}</Key><LastModified>{}</LastModified><ETag>{}</ETag><Size>{}</Size></Contents>",
                modified(&folder.join(&file)),
                tag(&bytes).replace('"', "&quot;"),
                bytes.len()
            );
        }
    }
    body.push_str("</ListBucketResult>");
    Response {
        status: "200 OK",
        body: body.into_bytes(),
        ..Response::default()
    }
}
