//! WARC: a text is refused, or is read in its order, whatever its frames, heads and bodies say; and good
//! records that follow are read too.

use std::convert::Infallible;
use std::fs;

use seedbank::ingest::{
    Event, Format, Input, InputError, Naming, Nofollow, Position, ReadError, read_batch,
};
use seedbank::watch::Unwatched;

use super::json_lines::is_normal;
use super::kind;

fn record(kind: &str, url: &str, content: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x>\r\nWARC-Date: 2024-05-18T01:58:10Z\r\n\
         WARC-Target-URI: {url}\r\nContent-Type: {content}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(url: &str, block: &[u8]) -> Vec<u8> {
    record("response", url, "application/http", block)
}

pub(super) fn run(data: &[u8]) {
    let (kind, text) = kind(data);
    let ends = kind % 2 == 0;
    let nofollow = if kind % 4 < 2 {
        Nofollow::Keep
    } else {
        Nofollow::Drop
    };
    // Without its beginning an input is refused at once. The text is a part of a file, or a block.
    let beginning = record(
        "warcinfo",
        "http://x.example/",
        "application/warc-fields",
        b"x: y",
    );
    let text = if kind % 8 < 4 {
        text.to_vec()
    } else {
        response("http://a.example/x/y?z", text)
    };
    let gone = response("http://end.example/", b"HTTP/1.1 410 Gone\r\n\r\n");
    let end = if ends { gone.repeat(3) } else { Vec::new() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, [beginning, text, b"\r\n\r\n".to_vec(), end].concat()).unwrap();
    let mut sources = Format::Warc { nofollow }.sources(&[Input::File(path)]);
    let naming = Naming::default();
    let mut last = 0;
    let mut found = false;
    let mut records = 0;
    let mut sink = |at: Position, event: Event| {
        let Position::Record(number) = at else {
            panic!("a record has a number: {at:?}");
        };
        if !event.is_record() {
            return Ok(());
        }
        assert!(number > last, "{number} after {last}");
        last = number;
        records += 1;
        if let Event::Record(record) = event {
            is_normal(&record.url, naming);
            let outlinks = record.outlinks.unwrap_or_default();
            assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
            found |= record.gone && record.url.site == "end.example";
        }
        Ok::<(), Infallible>(())
    };
    match read_batch(&mut sources, naming, &Unwatched, &mut sink) {
        Ok(summary) => {
            assert_eq!(summary.records, records);
            assert!(found || !ends, "the last record is lost");
        }
        Err(ReadError::Input(InputError::Format(_) | InputError::Truncated(_))) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin1\r\n\r\n<base href=/b/>\
        <link rel=canonical href=x><meta name=robots content=none><a rel=nofollow href='/y&amp;z'>\
        <svg><title/><area href=//b></svg><script><a href=/no></script>";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n9\r\n<a href=b\r\n0\r\n\r\n";
    let coded = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c\xb3\x29";
    let moved = b"HTTP/1.1 301 X\r\nLocation: /z\r\n\r\n";
    let notes =
        b"outlink: http://b.example/ L a/@href\r\noutlink: http://c.example/x E img/@src\r\n";
    let blocks: [&[u8]; 4] = [html, chunked, coded, moved];
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for block in blocks {
        let whole = response("http://a.example/x/y?z", block);
        let outlinks = record(
            "metadata",
            "http://a.example/x/y?z",
            "application/warc-fields",
            notes,
        );
        for kind in 0..4 {
            seeds.push([&[kind], &whole[..], &outlinks].concat());
            seeds.push([&[kind + 4], block].concat());
        }
    }
    seeds.push(
        [
            b"\0".to_vec(),
            record("revisit", "http://a.example/", "application/http", b""),
        ]
        .concat(),
    );
    seeds.push(b"\0WARC/1.0\r\nContent-Length: 9\r\n\r\n".to_vec());
    seeds
}
