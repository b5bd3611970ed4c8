//! Tables that are damaged, cut off, or not what they should be.
//!
//! Families of cases, and what they catch:
//! * some hundred damages of each kind of table, and cuts at every 1,000th byte: a panic of a decoder,
//!   pages that are made up, memory that a damaged length claims;
//! * lengths made to claim far too much, one by one;
//! * files of other kinds under each name.

use std::collections::BTreeSet;

use crate::support::tables::{arrow_file, arrow_stream, batch, parquet, read, record, text};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Naming, ReadError};
use serde_json::{Map, Value, json};

/// What a refusal says, in one of these ways.
const TOLD: &[&str] = &[
    "is damaged",
    "is truncated",
    "is not ",
    "does not contain text records",
    "expected column names",
    "has no column url",
    "has two columns",
    ": column ",
    "is compressed with",
    "expected snappy, gzip",
    "encrypted",
    "bytes of memory are available for them",
    "does not give its size",
    "expands to too much data",
    "is empty",
    "cannot read",
];

fn records(count: usize) -> Vec<Map<String, Value>> {
    let records = (0..count).map(|n| {
        let mut record = record(&format!("http://s{}.example/{n}", n % 7));
        let links: Vec<String> = (0..n % 5)
            .map(|k| format!("http://t{k}.example/{n}"))
            .collect();
        record.insert("outlinks".to_owned(), json!(links));
        record.insert("clicks".to_owned(), json!(n));
        record.insert("digest".to_owned(), json!(format!("digest {n}, of \"it\"")));
        record.insert("fetched".to_owned(), json!("2026-11-19T04:00:00Z"));
        record.insert("spam".to_owned(), json!(n % 3 == 0));
        record
    });
    records.collect()
}

/// Files of each kind, with its name.
fn files(count: usize) -> Vec<(&'static str, Vec<u8>)> {
    let records = records(count);
    let table = batch(&records);
    let small = |compression| {
        WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(count / 3 + 1))
            .set_data_page_row_count_limit(20)
            .set_write_batch_size(5)
    };
    let plain = small(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    let zstd = small(Compression::ZSTD(ZstdLevel::default()))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .build();
    let snappy = small(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    vec![
        ("parquet", parquet(&table, plain)),
        ("parquet", parquet(&table, zstd)),
        ("parquet", parquet(&table, snappy)),
        ("arrow", arrow_file(&table, 40)),
        ("arrow", arrow_stream(&table, 40)),
        ("csv", text(&records, ",", "\n", true).into_bytes()),
        ("tsv", text(&records, "\t", "\r\n", false).into_bytes()),
    ]
}

/// The URLs of all pages of a file, or `None` where it is refused.
fn pages(bytes: &[u8], name: &str, what: &str) -> Option<Vec<String>> {
    let (summary, events) = read(bytes, &Format::named(name).unwrap());
    match summary {
        Ok(summary) => {
            assert_eq!(summary.records, events.len() as u64, "{what}");
        }
        Err(ReadError::Input(error)) => {
            let said = error.to_string();
            assert!(
                TOLD.iter().any(|told| said.contains(told)),
                "{what}: {said}"
            );
            return None;
        }
        Err(error) => panic!("{what}: {error}"),
    }
    let pages = events.iter().filter_map(|(_, event)| match event {
        Event::Record(record) => Some(record.url.url(Naming::default().sites)),
        _ => None,
    });
    Some(pages.collect())
}

/// The most memory that this process has had, in bytes; 0 where the system does not tell.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[test]
fn damages_are_refused_or_cost_what_they_touch() {
    let before = most_memory();
    let (mut refused, mut taken) = (0, 0);
    for (kind, (name, file)) in files(120).iter().enumerate() {
        let mut check = |bytes: &[u8], what: &str| {
            let what = format!("{name} {kind}: {what}");
            match pages(bytes, name, &what) {
                Some(_) => taken += 1,
                None => refused += 1,
            }
        };
        for n in 0..40 {
            let at = file.len() * n / 40 + n % 3;
            let at = at.min(file.len() - 1);
            let mut bytes = file.clone();
            bytes[at] ^= 1 << (n % 8);
            check(&bytes, &format!("bit {} of byte {at}", n % 8));
            bytes[at] = 0xff;
            check(&bytes, &format!("0xff at {at}"));
            bytes.remove(at);
            check(&bytes, &format!("without byte {at}"));
            bytes.splice(at..at, file[..n].iter().copied());
            check(&bytes, &format!("{n} bytes more at {at}"));
        }
        // The footer of Parquet, where most lengths are, and the first messages of Arrow.
        for n in 0..50 {
            for at in [file.len() - 1 - n * 3, n * 5] {
                let mut bytes = file.clone();
                bytes[at] ^= 0x80 | (1 << (n % 7));
                check(&bytes, &format!("another byte {at}"));
            }
        }
    }
    assert!(
        refused > 300 && taken > 300,
        "{refused} refused, {taken} taken"
    );
    let grown = most_memory().saturating_sub(before);
    assert!(grown < 400 << 20, "{grown} bytes of memory");
}

#[test]
fn what_is_cut_off_is_refused_or_is_what_came_before() {
    for (kind, (name, file)) in files(700).iter().enumerate() {
        let whole = pages(file, name, name).unwrap();
        assert_eq!(whole.len(), 700);
        let all: BTreeSet<&String> = whole.iter().collect();
        for cut in (0..file.len()).step_by(1_000) {
            let what = format!("{name} {kind}: {cut} bytes of {}", file.len());
            let read = pages(&file[..cut], name, &what);
            if matches!(*name, "parquet" | "arrow") {
                assert_eq!(read, None, "{what}");
            } else if let Some(mut read) = read {
                // The last line may have become another, which nothing in it tells.
                read.pop();
                assert!(read.iter().all(|page| all.contains(page)), "{what}");
                assert_eq!(read[..], whole[..read.len()], "{what}");
            }
        }
    }
}

#[test]
fn what_is_something_else_is_told() {
    let records = records(3);
    let table = batch(&records);
    let parquet = parquet(&table, WriterProperties::default());
    let gzip = zstd::encode_all(&parquet[..], 0).unwrap();
    let mut encrypted = parquet.clone();
    encrypted[..4].copy_from_slice(b"PARE");
    let length = encrypted.len();
    encrypted[length - 4..].copy_from_slice(b"PARE");
    let arrow = arrow_stream(&table, 9);
    let unended = &arrow[..arrow.len() - 8];
    let twice = [&arrow[..], &arrow].concat();
    let json = b"{\"url\": \"http://a.example/\"}\n".to_vec();
    for (name, bytes, said) in [
        ("parquet", &json[..], "is not a Parquet file"),
        ("parquet", &b"PAR1"[..], "is damaged after row 0: "),
        (
            "parquet",
            &b"PAR1\0\0\0\0PAR1"[..],
            "is damaged after row 0: ",
        ),
        ("parquet", &gzip, "is Parquet that is compressed as a whole"),
        ("auto", &gzip, "is Parquet that is compressed as a whole"),
        ("parquet", &encrypted, "is an encrypted Parquet file"),
        ("auto", &encrypted, "is an encrypted Parquet file"),
        ("arrow", &json, "is not an Arrow file or stream"),
        ("arrow", &parquet, "does not contain text records"),
        ("csv", &parquet, "does not contain text records"),
        ("csv", b"", "is empty"),
        ("csv", b"\n \n", "is empty"),
        (
            "csv",
            b"\"url,clicks\nhttp://a.example/,3\n",
            "expected column names on the first line: its quotes",
        ),
        (
            "csv",
            b"\xe9,url\n",
            "expected column names on the first line: it is not UTF-8",
        ),
        (
            "csv",
            b"http://a.example/,http://b.example/\n",
            "has no column url; its columns are http://a.example/, http://b.example/",
        ),
        (
            "csv",
            b"url\tclicks\nhttp://a.example/\t3\n",
            "has no column url; its columns are url\tclicks",
        ),
        ("arrow", unended, "is truncated after row 3"),
        (
            "arrow",
            &twice,
            "is damaged after row 3: there is data after its end",
        ),
    ] {
        let (summary, _) = read(bytes, &Format::named(name).unwrap());
        let error = summary.unwrap_err().to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}
