//! Tables in a bank: Parquet, Arrow, CSV and TSV.
//!
//! Families of cases, and what they catch:
//! * random records in each kind of table: a bank that differs from that of the same records as JSON
//!   Lines, or other counts;
//! * an index of Common Crawl: what each status means, and that links stay.

use std::fs;
use std::sync::Arc;

use crate::support;
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use crate::support::tables::{
    arrow_file, arrow_stream, auto, batch, counted, lines, parquet, read, record, text,
};
use arrow_array::{
    ArrayRef, Int16Array, NullArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;
use proptest::sample::select;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{Event, Input, Naming, Position, SkipReason};
use serde_json::{Map, Value, json};

type Record = Map<String, Value>;

/// A bank of one file.
fn bank_of(bytes: &[u8], format: Format) -> (tempfile::TempDir, Bank, IngestReport) {
    let folder = support::scratch();
    let path = folder.path().join("input");
    fs::write(&path, bytes).unwrap();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(path)],
        format,
        max_rejects: 100.0,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_clean(&bank);
    (folder, bank, report)
}

fn a_url() -> impl Strategy<Value = String> {
    let hosts = select(vec![
        "http://a.example",
        "https://www.b.example",
        "http://c.example:81",
    ]);
    let rests = select(vec![
        "/",
        "/x",
        "/x,y;z",
        "/%7ez?q=\u{e9}",
        "/\u{1f980}",
        "/\"q\"",
    ]);
    prop_oneof![
        12 => (hosts, rests).prop_map(|(host, rest)| format!("{host}{rest}")),
        1 => select(vec!["relative", "mailto:x@a.example", "http://", "ftp://a.example/"])
            .prop_map(str::to_owned),
    ]
}

prop_compose! {
    fn a_record()(
        url in a_url(),
        outlinks in prop::option::of(prop::collection::vec(a_url(), 0..5)),
        (spam, gone) in (prop::option::of(any::<bool>()), prop::option::weighted(0.2, any::<bool>())),
        clicks in prop::option::of(-1..1_i64 << 54),
        uncrawled in prop::option::of(0..1_000_002_u32),
        quality in prop::option::of(select(vec![0.0, 0.25, 1.0, 0.123_45, 1.5, -0.1])),
        digest in prop::option::of(select(vec!["9f86d081", "a, \"b\"\nc", "x;y\tz"])),
        fetched in prop::option::of(0..40_u32),
        redirect in prop::option::weighted(0.2, a_url()),
        canonical in prop::option::weighted(0.2, a_url()),
    ) -> Record {
        let given = json!({
            "url": url, "outlinks": outlinks, "spam": spam, "clicks": clicks,
            "uncrawled_outlinks": uncrawled, "quality": quality, "digest": digest,
            "fetched": fetched.map(|second| format!("2026-11-19T04:00:{second:02}.25Z")),
            "redirect": redirect, "canonical": canonical, "gone": gone,
        });
        let Value::Object(given) = given else { unreachable!() };
        given.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(6), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bank_is_that_of_the_same_records_as_json_lines(
        records in prop::collection::vec(a_record(), 1..60),
        rows in 1..80_usize,
    ) {
        let (_folder, wanted, report) = bank_of(lines(&records).as_bytes(), Format::JsonLines);
        let wanted = (exported(&wanted), counted(&report.read), report.counts);
        let table = batch(&records);
        let small = WriterProperties::builder()
            .set_max_row_group_row_count(Some(rows))
            .set_data_page_row_count_limit(3)
            .set_write_batch_size(2)
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .build();
        let files = [
            ("parquet", parquet(&table, WriterProperties::default())),
            ("parquet", parquet(&table, small)),
            ("arrow", arrow_file(&table, rows)),
            ("arrow", arrow_stream(&table, rows)),
            ("csv", text(&records, ",", "\n", false).into_bytes()),
            ("csv", text(&records, ";", "\r\n", true).into_bytes()),
            ("tsv", text(&records, "\t", "\n", false).into_bytes()),
        ];
        for (number, (name, file)) in files.iter().enumerate() {
            let format = if number % 2 == 0 { Format::named(name).unwrap() } else { auto() };
            let (_folder, bank, report) = bank_of(file, format);
            prop_assert_eq!(&exported(&bank), &wanted.0, "{} {}", number, name);
            prop_assert_eq!(&counted(&report.read), &wanted.1, "{} {}", number, name);
            prop_assert_eq!(&report.counts, &wanted.2, "{} {}", number, name);
        }
    }
}

#[test]
fn each_compression_is_read() {
    let records: Vec<Record> = (0..500)
        .map(|n| record(&format!("http://a.example/{n}")))
        .collect();
    let table = batch(&records);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_dictionary_enabled(dictionary)
                .build();
            let (summary, events) = read(&parquet(&table, properties), &auto());
            assert_eq!(summary.unwrap().records, 500, "{compression}");
            let numbers = events.iter().map(|(at, _)| *at);
            assert!(numbers.eq((1..=500).map(Position::Record)), "{compression}");
        }
    }
}

/// The columns of an index of Common Crawl that count, and one of the others.
fn index() -> RecordBatch {
    let a = |path: &str| Some(format!("http://a.example/{path}"));
    let urls = ["", "moved", "gone", "down", "same", "nowhere", "pdf"].map(a);
    let status = vec![
        Some(200),
        Some(301),
        Some(410),
        Some(503),
        Some(304),
        Some(302),
        None,
    ];
    let times = (0..7).map(|n| Some(1_716_000_000_000 + n));
    let digests = vec![Some("CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD"); 7];
    let redirects = vec![None, Some("/"), None, None, None, None, None];
    RecordBatch::try_from_iter_with_nullable([
        (
            "url_surtkey",
            Arc::new(StringArray::from(vec!["example,a)/"; 7])) as ArrayRef,
            false,
        ),
        (
            "url",
            Arc::new(StringArray::from_iter(urls)) as ArrayRef,
            false,
        ),
        (
            "fetch_time",
            Arc::new(times.collect::<TimestampMillisecondArray>()) as ArrayRef,
            false,
        ),
        (
            "fetch_status",
            Arc::new(Int16Array::from(status)) as ArrayRef,
            true,
        ),
        (
            "fetch_redirect",
            Arc::new(StringArray::from(redirects)) as ArrayRef,
            true,
        ),
        (
            "content_digest",
            Arc::new(StringArray::from(digests)) as ArrayRef,
            true,
        ),
        ("notes", Arc::new(NullArray::new(7)) as ArrayRef, true),
    ])
    .unwrap()
}

#[test]
fn an_index_of_common_crawl_says_what_is_there_and_leaves_links() {
    let table = index();
    let text = "url,fetch_time,fetch_status,fetch_redirect,content_digest,url_path,notes
\"http://a.example/\",\"2024-05-18 02:40:00.000\",\"200\",,\"CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD\",\"/\",
http://a.example/moved,2024-05-18 02:40:00.001 UTC,301,/,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
http://a.example/gone,2024-05-18 02:40:00.002,410,,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
http://a.example/down,2024-05-18 02:40:00.003,503,,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
http://a.example/same,2024-05-18 02:40:00.004,304,,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
http://a.example/nowhere,2024-05-18 02:40:00.005,302,,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
http://a.example/pdf,2024-05-18 02:40:00.006,,,CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD,,
";
    let json = "{\"url\": \"http://a.example/\", \"fetched\": \"2024-05-18T02:40:00Z\", \"digest\": \"sha1:CH7IV3XAD3M7A42JARKRLJ3T5PGGCGXD\"}
{\"url\": \"http://a.example/moved\", \"fetched\": \"2024-05-18T02:40:00.001Z\", \"redirect\": \"http://a.example/\"}
{\"url\": \"http://a.example/gone\", \"fetched\": \"2024-05-18T02:40:00.002Z\", \"gone\": true}
{\"url\": \"http://a.example/down\", \"fetched\": \"2024-05-18T02:40:00.003Z\", \"status\": 503}
";
    let (_, wanted) = read(json.as_bytes(), &Format::JsonLines);
    for file in [
        parquet(&table, WriterProperties::default()),
        arrow_stream(&table, 3),
        text.into(),
    ] {
        let (summary, events) = read(&file, &auto());
        let summary = summary.unwrap();
        let ours = events.iter().map(|(_, event)| event);
        assert!(ours.eq(wanted.iter().map(|(_, event)| event)), "{events:?}");
        let passed = [(SkipReason::NoStatus, 1), (SkipReason::OtherStatus, 2)];
        assert_eq!(summary.passed_over, passed.into());
        assert_eq!((summary.records, summary.zones_assumed), (4, 0));
        assert_eq!(
            summary.unknown_fields.names,
            [("notes".to_owned(), 7)].into()
        );
    }
    // A page that has links keeps them.
    let first =
        "{\"url\": \"http://a.example/\", \"outlinks\": [\"http://b.example/\"], \"fetched\": 0}\n";
    let (folder, bank, _) = bank_of(first.as_bytes(), Format::JsonLines);
    let path = folder.path().join("index.parquet");
    fs::write(&path, parquet(&table, WriterProperties::default())).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(path)],
        format: auto(),
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    let text = String::from_utf8(exported(&bank)).unwrap();
    assert!(
        text.contains("\"outlinks\":[\"http://b.example/\"],\"digest\""),
        "{text}"
    );
    // With outlinks it is a table of records.
    let records = "url,fetch_status,outlinks\nhttp://a.example/,404,http://b.example/\n";
    let (summary, events) = read(records.as_bytes(), &auto());
    assert_eq!(
        summary.unwrap().unknown_fields.names,
        [("fetch_status".to_owned(), 1)].into()
    );
    assert!(matches!(&events[0].1, Event::Record(page) if !page.gone));
}
