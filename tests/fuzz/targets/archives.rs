//! ZIP archives with WARC files, zstd with a dictionary, and brotli, as a file and as the body of a page: an
//! input is refused, or is read twice alike.

use std::convert::Infallible;
use std::fs;
use std::io::Write;
use std::path::Path;

use rawzip::{CompressionMethod, ZipArchiveWriter};
use seedbank::ingest::{
    Event, Format, Input, Naming, Nofollow, Position, ReadError, ReadSummary, read_batch,
};
use seedbank::watch::Unwatched;

use super::kind;

/// What brotli 1.2 makes of 20 links, `<a href=/b>`.
const LINKS: &[u8] = b"\x1b\xdb\x00\xf8%_|\xc4J\x98\xcd*\x80\x82\xd8\xf4\xc2\x01";

fn record(block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x>\r\nWARC-Date: 2024-05-18T01:58:10Z\r\n\
         WARC-Target-URI: http://a.example/\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

pub(super) fn run(data: &[u8]) {
    let (kind, bytes) = kind(data);
    let (name, content) = match kind % 4 {
        0 => ("input.wacz", [b"PK\x03\x04", bytes].concat()),
        1 => ("input.warc.zst", [b"\x5d\x2a\x4d\x18", bytes].concat()),
        2 => ("input.warc.br", bytes.to_vec()),
        _ => {
            let http: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n";
            ("input.warc", record(&[http, bytes].concat()))
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let (first, events) = read(&path);
    let (second, again) = read(&path);
    assert_eq!(events, again);
    match (first, second) {
        (Ok(first), Ok(second)) => {
            let records = events.iter().filter(|(_, event)| event.is_record());
            assert_eq!(first.records, records.count() as u64);
            assert_eq!(first, second);
        }
        (Err(ReadError::Input(first)), Err(ReadError::Input(second))) => {
            assert_eq!(first.to_string(), second.to_string());
        }
        other => panic!("{other:?}"),
    }
}

type Events = Vec<(Position, Event)>;

fn read(path: &Path) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    let nofollow = Nofollow::Keep;
    let mut sources = Format::Warc { nofollow }.sources(&[Input::File(path.to_path_buf())]);
    let mut events = Vec::new();
    let mut sink = |at, event| {
        events.push((at, event));
        Ok(())
    };
    let summary = read_batch(&mut sources, Naming::default(), &Unwatched, &mut sink);
    (summary, events)
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let page = record(b"HTTP/1.1 200 OK\r\n\r\n<a href=/b>");
    let sample = |n: u32| {
        format!(
            "WARC/1.0\r\nWARC-Target-URI: http://a.example/{n}/{}\r\n",
            n * 7_919
        )
    };
    let samples: Vec<_> = (0..1_000).map(sample).collect();
    let dictionary = zstd::dict::from_samples(&samples, 1 << 10).unwrap();
    let mut frame = zstd::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
    frame.write_all(&page).unwrap();
    let frame = frame.finish().unwrap();
    let zipped = zstd::encode_all(&*dictionary, 3).unwrap();
    let mut seeds = vec![[b"\x02", LINKS].concat(), [b"\x03", LINKS].concat()];
    for content in [dictionary, zipped] {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        seeds.push([b"\x01", &length[..], &content, &frame].concat());
    }
    for files in [
        &[("a.warc", &page)][..],
        &[("archive/a.warc", &page), ("pages/b.jsonl", &page)],
    ] {
        let mut archive = ZipArchiveWriter::new(Vec::new());
        for (name, content) in files {
            let file = archive.new_file(name);
            let file = file.compression_method(CompressionMethod::STORE);
            let (mut entry, config) = file.start().unwrap();
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        let archive = archive.finish().unwrap();
        // The target adds the magic number.
        seeds.push([b"\0", archive.get(4..).unwrap_or_default()].concat());
    }
    seeds
}
