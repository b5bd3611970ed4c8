//! Archives as they are found: WACZ, `.warc.zst` with a dictionary, and brotli.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter};

use crate::support::command::Place;
use crate::support::warc::{answer, page, records, warcinfo};
use crate::support::wat::{Capture, members};
use serde_json::{Value, json};

/// A ZIP archive of files, each with its name; those whose names end in `.gz` or `.zst` are stored.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (name, content) in files {
        let is_stored = [".gz", ".zst"].iter().any(|end| name.ends_with(end));
        let method = if is_stored {
            CompressionMethod::STORE
        } else {
            CompressionMethod::DEFLATE
        };
        let file = archive.new_file(name).compression_method(method);
        let (mut entry, config) = file.start().unwrap();
        let descriptor = if is_stored {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            writer.finish().unwrap().1
        } else {
            let encoder = DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

/// A `.warc.zst` with a dictionary, and a frame for each record.
fn zstd_with_dictionary(records: &[Vec<u8>]) -> Vec<u8> {
    let samples: Vec<_> = (0..300)
        .map(|n| {
            page(
                &format!("http://a.example/{n}"),
                &format!("<a href=/{}>", n * 7),
            )
        })
        .collect();
    let dictionary = zstd::dict::from_samples(&samples, 4 << 10).unwrap();
    let compressed = zstd::encode_all(&*dictionary, 3).unwrap();
    let length = u32::try_from(compressed.len()).unwrap().to_le_bytes();
    let mut file = [&b"\x5d\x2a\x4d\x18"[..], &length, &compressed].concat();
    for record in records {
        let mut frame = zstd::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
        frame.write_all(record).unwrap();
        file.extend(frame.finish().unwrap());
    }
    file
}

fn captures(host: &str) -> Vec<Capture> {
    let url = |path: &str| format!("http://{host}/{path}");
    vec![
        Capture::of(&url(""), &["/b", "http://c.example/"]),
        Capture::answered(&url("gone"), 410, None),
        Capture::answered(&url("busy"), 503, None),
    ]
}

/// What a crawler lists of pages, most of which the WARC files have too.
const PAGES: &str = r#"{"format":"json-pages-1.0","id":"pages","title":"Seed Pages","hasText":"false"}
{"id":"1","url":"http://a.example/","ts":"2030-01-01T00:00:00Z","status":200,"loadState":4,"seed":true,"depth":0}
{"id":"2","url":"http://a.example/busy","ts":"2030-01-01T00:00:00Z","status":503,"loadState":2}
{"id":"3","url":"http://a.example/late","ts":"2024-05-18T01:58:10Z","loadState":0}
"#;

/// Pages that a crawler left out, in Browsertrix's words.
const SKIPPED: &str = r#"{"format":"json-pages-1.0","id":"skipped","title":"Skipped Pages"}
{"url":"http://a.example/forbidden","seedUrl":"http://a.example/","depth":1,"reason":"robotsTxt","ts":"2024-05-18T01:58:10Z"}
{"url":"http://a.example/refused","seedUrl":"http://a.example/","depth":1,"reason":"rateLimited","ts":"2024-05-18T01:58:10Z"}
"#;

#[test]
fn a_wacz_is_the_warc_files_in_it() {
    let [a, b, c] = ["a", "b", "c"].map(|host| records(&captures(&format!("{host}.example")), 0));
    let (b, c) = (members(&b), zstd_with_dictionary(&c));
    let files: [(&str, &[u8]); 8] = [
        ("archive/b.warc.gz", &b),
        ("archive/a.warc", &a.concat()),
        ("archive/c.warc.zst", &c),
        ("pages/pages.jsonl", PAGES.as_bytes()),
        ("reports/skippedPages.jsonl", SKIPPED.as_bytes()),
        ("indexes/index.cdx.gz", b"\x1f\x8b no index"),
        ("datapackage.json", b"{\"profile\": \"data-package\"}"),
        ("__MACOSX/archive/._b.warc.gz", b"\0\x05\x16\x07"),
    ];
    let place = Place::with_bank();
    place.write("crawl.wacz", zip(&files));
    let report = place
        .run(&["ingest", "bank", "crawl.wacz", "--format", "json"])
        .json();
    assert_eq!(report["name"], "crawl.wacz");
    assert_eq!(report["read"]["rejects"], json!({}));
    assert_eq!(report["read"]["passed_over"]["beside_response"], 3);
    let history = place.run(&["history", "bank", "--format", "json"]).done();
    assert!(history.contains("crawl.wacz"), "{history}");
    // The same files, and what the lists say of pages without an answer.
    let other = Place::with_bank();
    other.write("a.warc", a.concat());
    other.write("b.warc.gz", &b);
    other.write("c.warc.zst", &c);
    let failed = |url: &str, status: &str| json!({"url": url, "status": status, "fetched": "2024-05-18T01:58:10Z"});
    let mut robots = failed("http://a.example/forbidden", "robots");
    robots["seed"] = "http://a.example/".into();
    robots["depth"] = 1.into();
    let lines = [failed("http://a.example/late", "other"), robots];
    other.write(
        "failed.jsonl",
        lines.map(|line| line.to_string()).join("\n"),
    );
    let args = [
        "ingest",
        "bank",
        "failed.jsonl",
        "c.warc.zst",
        "a.warc",
        "b.warc.gz",
    ];
    other.run(&args).done();
    let export = |place: &Place| place.run(&["export", "bank"]).done();
    assert_eq!(export(&place), export(&other));
    assert!(export(&place).contains("/forbidden"), "{}", export(&place));
    // By its name, and with another format.
    let args = ["ingest", "bank", "--input", "warc", "crawl.wacz"];
    let report = place.run(&args).done();
    assert!(
        report.starts_with("nothing changed: batch 1 had"),
        "{report}"
    );
    let args = ["ingest", "bank", "--input", "urls", "crawl.wacz"];
    let error = place.run(&args).fails(3);
    assert!(
        error.contains("hint: crawl.wacz is a ZIP archive"),
        "{error}"
    );
}

#[test]
fn a_bad_record_is_named_by_the_file_in_the_archive() {
    let place = Place::with_bank();
    let bad = page("a.example", "<p>");
    let file = [warcinfo(), page("http://a.example/", "<p>"), bad].concat();
    let good = page("http://b.example/", "<p>");
    place.write("a.zip", zip(&[("x/b.warc", &good), ("x/c.warc", &file)]));
    let error = place
        .run(&["ingest", "bank", "a.zip", "--max-rejects", "0"])
        .fails(3);
    assert!(
        error.contains("the first is record 3 of a.zip/x/c.warc"),
        "{error}"
    );
}

#[test]
fn an_archive_that_cannot_be_read_is_refused_with_what_to_do() {
    let place = Place::with_seeds();
    let before = place.state();
    let warc = page("http://a.example/", &"<p>words".repeat(100));
    let whole = zip(&[
        ("archive/a.warc", &warc),
        ("b.warc.gz", &members(std::slice::from_ref(&warc))),
    ]);
    let find = |bytes: &[u8], what: &[u8]| {
        let mut at = bytes.windows(what.len());
        at.position(|window| window == what).unwrap()
    };
    let changed = |offset: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[offset] = value;
        bytes
    };
    let directory = find(&whole, b"PK\x01\x02");
    let stored = find(&whole, b"\x1f\x8b\x08");
    let second = directory + 4 + find(&whole[directory + 4..], b"PK\x01\x02");
    let mut overlapping = whole.clone();
    overlapping.copy_within(directory + 42..directory + 46, second + 42);
    let encrypted = changed(directory + 8, whole[directory + 8] | 1);
    for (file, bytes, words) in [
        (
            "cut.wacz",
            whole[..whole.len() - 30].to_vec(),
            "cut.wacz is a damaged or truncated ZIP archive; fetch it again",
        ),
        (
            "empty.zip",
            zip(&[]),
            "hint: empty.zip is a ZIP archive; only its WARC files are read",
        ),
        (
            "none.zip",
            zip(&[("pages.jsonl", b"{}")]),
            "`unzip -d FOLDER none.zip`",
        ),
        (
            "secret.zip",
            encrypted,
            "secret.zip contains archive/a.warc, which cannot be read: it is encrypted; extract it, and give it as a file",
        ),
        (
            "lzma.zip",
            changed(directory + 10, 14),
            "expected it stored or compressed with deflate",
        ),
        (
            "twice.zip",
            overlapping,
            "another file of the archive has the same data",
        ),
        (
            "crc.zip",
            changed(directory + 16, !whole[directory + 16]),
            "the checksum of the ZIP archive does not match",
        ),
        (
            "size.zip",
            changed(directory + 24, !whole[directory + 24]),
            "bytes in the ZIP archive, found ",
        ),
        (
            "inside.zip",
            changed(stored + 20, !whole[stored + 20]),
            "inside.zip/b.warc.gz is damaged gzip",
        ),
    ] {
        place.write(file, &bytes);
        let error = place.run(&["ingest", "bank", file]).fails(3);
        assert!(error.contains(words), "{file}: {error}");
        assert_eq!(place.state(), before, "{file}");
    }
    let error = place.run_with(&["ingest", "bank", "-"], &whole).fails(3);
    assert!(error.contains("; save it as a file"), "{error}");
}

/// 128 MiB of line ends, as brotli 1.2 compresses them.
const BOMB: &[u8] =
    b"\xcf\xff\xff\x7f\x00\x24\x14\xe2\xb1\x40\x72\xef\xff\xf9\xff\xff\x0f\x80\x04\x40\x1c\x16\
    \x80\xee\xfd\x3f\xff\xff\xff\x01\x90\x00\x88\xc3\x02\xd0\xbd\xff\xe7\xff\xff\x3f\x00\x12\
    \x00\x71\x58\x00\xba\xf7\xff\xfc\xff\xff\x07\x40\x02\x20\x0e\x0b\x40\xf7\xfe\x9f\xff\xff\
    \xff\x00\x48\x00\xc4\x61\x01\xe8\xde\xff\xf3\xff\xff\x1f\x00\x09\x80\x38\x2c\x00\xdd\xfb\
    \x7f\xfe\xff\xff\x03\x20\x01\x10\x87\x05\xa0\x7b\xff\x3f";

#[test]
fn brotli_is_read_and_bounded() {
    let place = Place::with_bank();
    // What brotli 1.2 makes of three URLs.
    let list = b"\x1b\x35\x00\xf8\x05\x76\xc0\x7e\x6f\x30\x37\x0e\x98\xc8\xb9\xb6\xd4\x03\xbc\x3d\x43\x08\x26\x9b\x36\x17\x05\x37\xe7\xc5\x00";
    place.write("urls.txt.br", list);
    let report = place.run(&["ingest", "bank", "urls.txt.br"]).done();
    assert!(report.contains("3 records"), "{report}");
    place.write("cut.txt.br", &list[..list.len() - 3]);
    let error = place.run(&["ingest", "bank", "cut.txt.br"]).fails(3);
    assert!(error.contains("cut.txt.br is damaged brotli"), "{error}");
    // gzip in deflate: what both make of it counts.
    let long = page("http://a.example/", &" ".repeat(80 << 20));
    let inner = zip(&[("a.warc", &gzip(&long))]);
    let bombs: [(&str, &[u8]); 2] = [("bomb.br", BOMB), ("bomb.zip", &inner)];
    for (name, bomb) in bombs {
        place.write(name, bomb);
        let args = ["ingest", "bank", "--max-rejects", "100", name];
        let error = place.run(&args).fails(3);
        assert!(
            error.contains("expands to too much data"),
            "{name}: {error}"
        );
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn what_is_nested_in_a_file_has_one_allowance() {
    let place = Place::with_bank();
    // Files of 30 MiB, compressed twice.
    let page = page("http://a.example/", &" ".repeat(30 << 20));
    let warc = gzip(&page);
    let wacz = |files: usize| {
        let names: Vec<String> = (0..files).map(|n| format!("archive/{n}.warc")).collect();
        zip(&names
            .iter()
            .map(|name| (&**name, &*warc))
            .collect::<Vec<_>>())
    };
    // Pages of 15 MiB, compressed twice, in a file that is not compressed.
    let body = gzip(&gzip(&vec![b' '; 15 << 20]));
    let http = "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Encoding: gzip, gzip\n";
    let pages = |pages: usize| {
        let page = |n| answer(&format!("http://b.example/{n}"), http, &body);
        (0..pages).map(page).collect::<Vec<_>>().concat()
    };
    for (accepted, refused, file) in [
        (wacz(2), wacz(3), "a.wacz"),
        (pages(4), pages(5), "b.warc"),
        (gzip(&pages(4)), gzip(&pages(5)), "b.warc.gz"),
        (
            zip(&[("c.warc", &pages(4))]),
            zip(&[("c.warc", &pages(3)), ("d.warc", &pages(2))]),
            "c.zip",
        ),
    ] {
        place.write(file, accepted);
        place.run(&["ingest", "bank", file]).done();
        let before = place.state();
        place.write(file, refused);
        let error = place.run(&["ingest", "bank", file]).fails(3);
        let words = format!("{file} expands to too much data: expected at most 1000 bytes");
        assert!(error.contains(&words), "{file}: {error}");
        assert_eq!(place.state(), before, "{file}");
    }
}

#[test]
fn frames_without_their_dictionary_are_refused() {
    let place = Place::with_bank();
    let file = zstd_with_dictionary(&records(&captures("a.example"), 0));
    place.write("a.warc.zst", &file);
    let report = place
        .run(&["ingest", "bank", "a.warc.zst", "--format", "json"])
        .json();
    assert_eq!(report["read"]["records"], Value::from(3));
    let length = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    place.write("b.warc.zst", &file[8 + length..]);
    let error = place.run(&["ingest", "bank", "b.warc.zst"]).fails(3);
    assert!(error.contains("b.warc.zst is damaged zstd"), "{error}");
    assert!(error.contains("ictionary mismatch"), "{error}");
}
