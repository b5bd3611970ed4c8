//! WARC files as crawlers write them.
#![allow(
    clippy::format_push_string,
    reason = "records are written piece by piece"
)]

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::wat::{Capture, Html};

/// A record of a web archive.
pub fn record(kind: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:3d3f4785-c69a-4f8c-968c-d23302c55ef4>\r\n\
         Content-Length: {length}\r\n{fields}\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The lines of a head that say which page a record is of, and when.
pub fn of(url: &str, date: &str) -> String {
    format!("WARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n")
}

/// The date of records that have none of their own.
pub const DATE: &str = "2024-05-18T01:58:10Z";

/// What a server answered about a page.
pub fn answer(url: &str, http: &str, body: &[u8]) -> Vec<u8> {
    let fields = of(url, DATE) + "Content-Type: application/http; msgtype=response\r\n";
    let block = [http.replace('\n', "\r\n").as_bytes(), b"\r\n", body].concat();
    record("response", &fields, &block)
}

/// A page of HTML.
pub fn page(url: &str, html: &str) -> Vec<u8> {
    answer(
        url,
        "HTTP/1.1 200 OK\nContent-Type: text/html\n",
        html.as_bytes(),
    )
}

/// What Heritrix notes of a page.
pub fn notes(url: &str, lines: &str) -> Vec<u8> {
    let fields = of(url, DATE) + "Content-Type: application/warc-fields\r\n";
    record("metadata", &fields, lines.replace('\n', "\r\n").as_bytes())
}

/// The head of a file.
pub fn warcinfo() -> Vec<u8> {
    let fields = format!("WARC-Date: {DATE}\r\nContent-Type: application/warc-fields\r\n");
    record(
        "warcinfo",
        &fields,
        b"software: Heritrix/3.4.0\r\nformat: WARC File Format 1.0\r\n\r\n",
    )
}

/// A body with lines that records begin with, as in a text about them; with `whole` one that could be
/// one.
pub fn nasty(whole: bool) -> Vec<u8> {
    let mut body =
        b"%PDF-1.7\n\x00\xff\r\n\r\nWARC/1.0\r\n\r\nWARC/\nWARC/1.1\nWARC-Type: response\n\n\
        WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <x>\r\nno field\r\n\r\n"
            .to_vec();
    if whole {
        body.extend(page("http://wrong.example/", "<a href=/wrong>"));
    }
    body
}

impl Html {
    /// A page that says this.
    fn page(&self) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;");
        let mut page = "<!doctype html>\n<title><a href=/no></title>".to_owned();
        for link in &self.links {
            let rel = link
                .rel
                .map_or(String::new(), |rel| format!(" rel='{rel}'"));
            let (tag, attribute) = link.path.split_once("@/").unwrap();
            page += &format!(
                "<{tag} {attribute}=\"{}\"{rel}>a text</{tag}>\n",
                escaped(&link.url)
            );
        }
        page += "<script>\"<a href=/no>\"</script><!-- <a href=/no> --><link rel=stylesheet href=/x.css>";
        if let Some(canonical) = &self.canonical {
            page += &format!("<link rel=Canonical href=\"{}\">", escaped(canonical));
            page += "<link rel=canonical href=/second>";
        }
        if let Some(robots) = &self.robots {
            page += &format!("<META NAME='Robots' content='{robots}'>");
        }
        if let Some(base) = &self.base {
            page += &format!(
                "<base target=x><base href=\"{}\"><base href=/second>",
                escaped(base)
            );
        }
        page
    }
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for chunk in body.chunks(37) {
        write!(chunks, "{:x}\r\n", chunk.len()).unwrap();
        chunks.extend_from_slice(chunk);
        chunks.extend_from_slice(b"\r\n");
    }
    chunks.extend_from_slice(b"0\r\n\r\n");
    chunks
}

pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body).unwrap();
    gzip.finish().unwrap()
}

impl Capture {
    /// The record of what the server answered, coded in one of many ways.
    pub fn warc(&self, way: usize) -> Vec<u8> {
        let fields =
            of(&self.url, &self.date) + "Content-Type: application/http; msgtype=response\r\n";
        let digest = self.digest.as_ref();
        let digest = digest.map(|digest| format!("WARC-Payload-Digest: {digest}\r\n"));
        let mut http = format!("HTTP/1.1 {} X\r\nServer: x\r\n", self.status);
        if let Some(location) = &self.location {
            http += &format!("location: {location}\r\n");
        }
        let mut body = nasty(true);
        match &self.html {
            None => http += "Content-Type: application/pdf\r\n",
            Some(html) => {
                let text = html.page();
                body = text.clone().into_bytes();
                http += match way % 3 {
                    0 => "Content-Type: text/html; charset=utf-8\r\n",
                    1 => "content-type: Application/xhtml+xml\r\n",
                    _ => "",
                };
                if way % 5 == 4 {
                    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
                    body = [0xff, 0xfe].into_iter().chain(units).collect();
                    // What is not said to be HTML is known by its characters.
                    http += if way % 3 == 2 {
                        "Content-Type: text/html\r\n"
                    } else {
                        ""
                    };
                }
                match way % 7 {
                    1 => {
                        http += "Content-Encoding: gzip\r\n";
                        body = gzip(&body);
                    }
                    2 => {
                        http += "Content-Encoding: zstd\r\n";
                        body = zstd::encode_all(&body[..], 1).unwrap();
                    }
                    3 => {
                        http += "Content-Encoding: deflate\r\n";
                        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
                        zlib.write_all(&body).unwrap();
                        body = zlib.finish().unwrap();
                    }
                    4 => {
                        http += "Content-Encoding: deflate\r\n";
                        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
                        raw.write_all(&body).unwrap();
                        body = raw.finish().unwrap();
                    }
                    // The header is left where the coding is not.
                    5 => http += "Content-Encoding: gzip\r\n",
                    _ => {}
                }
                match way % 4 {
                    1 => {
                        http += "Transfer-Encoding: chunked\r\n";
                        body = chunked(&body);
                    }
                    2 => http += "Transfer-Encoding: chunked\r\n",
                    _ => {}
                }
            }
        }
        let block = [http.as_bytes(), b"\r\n", &body].concat();
        record("response", &(fields + &digest.unwrap_or_default()), &block)
    }
}

/// The records of a file: what it is, and for each capture the request and the answer.
pub fn records(captures: &[Capture], way: usize) -> Vec<Vec<u8>> {
    let mut records = vec![warcinfo()];
    for (number, capture) in captures.iter().enumerate() {
        let fields =
            of(&capture.url, &capture.date) + "Content-Type: application/http; msgtype=request\r\n";
        let request = record("request", &fields, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let answer = capture.warc(way + number);
        if (way + number).is_multiple_of(2) {
            records.extend([request, answer]);
        } else {
            records.extend([answer, request]);
        }
    }
    records
}
