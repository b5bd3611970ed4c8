//! Tables: Parquet, Arrow, CSV and TSV. Text that needs no code is in `cases/read/tables.txt`.
//!
//! Families of cases, and what they catch:
//! * random records in each kind of table: a bank that differs from that of the same records as JSON Lines, or other
//!   counts;
//! * a column of each type: a cell that is read, or rejected, other than the same value as JSON Lines;
//! * columns that do not fit and files of other kinds: an error that does not say which.

use std::sync::Arc;

use crate::formats::bank_of;
use crate::support::histories::exported;
use crate::support::properties::repeatable;
use crate::support::tables::{
    Events, arrow_file, arrow_stream, auto, batch, counted, lines, parquet, read, record, text,
};
use arrow_array::builder::{
    BinaryBuilder, FixedSizeListBuilder, LargeListBuilder, ListBuilder, ListViewBuilder,
    StringBuilder, StringDictionaryBuilder, StringViewBuilder, StructBuilder,
};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int64Array, LargeStringArray, NullArray, RecordBatch,
    StringArray, StringViewArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use proptest::prelude::*;
use proptest::sample::select;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Position, ReadSummary, RejectReason};
use serde_json::{Map, Value, json};

type Record = Map<String, Value>;

fn a_url() -> impl Strategy<Value = String> {
    let hosts = [
        "http://a.example",
        "https://www.b.example",
        "http://c.example:81",
    ];
    let rests = [
        "/",
        "/x",
        "/x,y;z",
        "/%7ez?q=\u{e9}",
        "/\u{1f980}",
        "/\"q\"",
    ];
    let others = [
        "relative",
        "mailto:x@a.example",
        "http://",
        "ftp://a.example/",
    ];
    prop_oneof![
        12 => (select(hosts.to_vec()), select(rests.to_vec())).prop_map(|(host, rest)| format!("{host}{rest}")),
        1 => select(others.to_vec()).prop_map(str::to_owned),
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
        let fields = json!({
            "url": url, "outlinks": outlinks, "spam": spam, "clicks": clicks,
            "uncrawled_outlinks": uncrawled, "quality": quality, "digest": digest,
            "fetched": fetched.map(|second| format!("2026-11-19T04:00:{second:02}.25Z")),
            "redirect": redirect, "canonical": canonical, "gone": gone,
        });
        let Value::Object(fields) = fields else { unreachable!() };
        fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }
}

proptest! {
    #![proptest_config(repeatable(6))]

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

/// Tables of so many records in several layouts, with the names of their formats; the tests of damages use them.
pub fn files(count: usize) -> Vec<(&'static str, Vec<u8>)> {
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
    let records: Vec<Record> = records.collect();
    let table = batch(&records);
    let small = |compression| {
        WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(count / 3 + 1))
            .set_data_page_row_count_limit(20)
            .set_write_batch_size(5)
    };
    let plain = small(Compression::UNCOMPRESSED).set_statistics_enabled(EnabledStatistics::Page);
    let zstd = small(Compression::ZSTD(ZstdLevel::default()));
    let zstd = zstd.set_writer_version(WriterVersion::PARQUET_2_0);
    let snappy = small(Compression::SNAPPY).set_dictionary_enabled(false);
    vec![
        ("parquet", parquet(&table, plain.build())),
        ("parquet", parquet(&table, zstd.build())),
        ("parquet", parquet(&table, snappy.build())),
        ("arrow", arrow_file(&table, 40)),
        ("arrow", arrow_stream(&table, 40)),
        ("csv", text(&records, ",", "\n", true).into_bytes()),
        ("tsv", text(&records, "\t", "\r\n", false).into_bytes()),
    ]
}

#[test]
fn each_compression_is_read() {
    let records = (0..500).map(|n| record(&format!("http://a.example/{n}")));
    let table = batch(&records.collect::<Vec<_>>());
    for compression in [
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder().set_compression(compression);
            let properties = properties.set_dictionary_enabled(dictionary).build();
            let (summary, events) = read(&parquet(&table, properties), &auto());
            assert_eq!(summary.unwrap().records, 500, "{compression}");
            let numbers = events.iter().map(|(at, _)| *at);
            assert!(numbers.eq((1..=500).map(Position::Record)), "{compression}");
        }
    }
}

/// The text of the same index is in `cases/read/tables.txt`, with what its rows say.
#[test]
fn an_index_of_common_crawl_says_the_same_as_parquet_and_as_text() {
    let header = "url,fetch_time,fetch_status,fetch_redirect,content_digest,notes\n";
    let statuses = [
        Some(200),
        Some(301),
        Some(410),
        Some(503),
        Some(304),
        Some(302),
        None,
    ];
    let row = |n: usize| {
        let status = statuses[n].map_or(String::new(), |status: i16| status.to_string());
        let redirect = if n == 1 { "/" } else { "" };
        format!("http://a.example/{n},2024-05-18 02:40:00.00{n},{status},{redirect},CH7IV3,\n")
    };
    let (_, wanted) = read(
        (header.to_owned() + &(0..7).map(row).collect::<String>()).as_bytes(),
        &auto(),
    );
    let redirects = (0..7).map(|n| (n == 1).then_some("/"));
    let columns: [(&str, ArrayRef); 6] = [
        (
            "url",
            Arc::new(
                (0..7)
                    .map(|n| Some(format!("http://a.example/{n}")))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "fetch_time",
            Arc::new(
                (0..7)
                    .map(|n| Some(1_716_000_000_000 + n))
                    .collect::<TimestampMillisecondArray>(),
            ),
        ),
        (
            "fetch_status",
            Arc::new(Int16Array::from(statuses.to_vec())),
        ),
        (
            "fetch_redirect",
            Arc::new(redirects.collect::<StringArray>()),
        ),
        (
            "content_digest",
            Arc::new(StringArray::from(vec!["CH7IV3"; 7])),
        ),
        ("notes", Arc::new(NullArray::new(7))),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    for file in [
        parquet(&table, WriterProperties::default()),
        arrow_stream(&table, 3),
    ] {
        let (summary, events) = read(&file, &auto());
        let ours = events.iter().map(|(_, event)| event);
        assert!(ours.eq(wanted.iter().map(|(_, event)| event)), "{events:?}");
        let unknown = summary.unwrap().unknown_fields.names;
        assert_eq!(unknown, [("notes".to_owned(), 7)].into());
    }
}

/// Reads a table of one column beside `url`, whose rows are pages of one site.
fn of_column(name: &str, column: ArrayRef) -> (Result<ReadSummary, String>, Events) {
    let urls = (0..column.len()).map(|n| Some(format!("http://a.example/{n}")));
    let urls: ArrayRef = Arc::new(urls.collect::<StringArray>());
    let columns = [(name, column, true), ("url", urls, false)];
    let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let (summary, events) = read(&arrow_stream(&table, 100), &Format::named("arrow").unwrap());
    (summary.map_err(|error| error.to_string()), events)
}

/// A column is read as these values of the field as JSON Lines, where null leaves the field out; positions and texts of
/// rejected records may differ.
#[track_caller]
fn reads_as(name: &str, column: ArrayRef, values: &Value) {
    let what = format!("{name} {}", column.data_type());
    let (summary, ours) = of_column(name, column);
    let records = values
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(n, value)| {
            let mut record = record(&format!("http://a.example/{n}"));
            if !value.is_null() {
                record.insert(name.to_owned(), value.clone());
            }
            record
        });
    let text = lines(&records.collect::<Vec<_>>());
    let (wanted, theirs) = read(text.as_bytes(), &Format::JsonLines);
    assert_eq!(
        counted(&summary.unwrap()),
        counted(&wanted.unwrap()),
        "{what}"
    );
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for ((_, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        match (ours, theirs) {
            (Event::Rejected(ours), Event::Rejected(theirs))
            | (Event::BadField(ours), Event::BadField(theirs)) => {
                let both = (ours.reason, &ours.detail);
                assert_eq!(both, (theirs.reason, &theirs.detail), "{what}");
            }
            _ => assert_eq!(ours, theirs, "{what}"),
        }
    }
}

#[test]
fn every_type_that_fits_is_read() {
    let texts = [Some("d1"), None, Some("d1")];
    let dictionary: DictionaryArray<Int8Type> = texts.into_iter().collect();
    let large: LargeStringArray = texts.into_iter().collect();
    let view: StringViewArray = texts.into_iter().collect();
    for column in [
        Arc::new(dictionary) as ArrayRef,
        Arc::new(view),
        Arc::new(large),
    ] {
        reads_as("digest", column, &json!(["d1", null, "d1"]));
    }
    let bytes = BinaryArray::from_opt_vec(vec![Some(&[0x9f, 0x86]), None, Some(&[])]);
    reads_as("digest", Arc::new(bytes), &json!(["9f86", null, ""]));
    let three = json!([3, null, 0]);
    reads_as(
        "clicks",
        Arc::new(Int8Array::from(vec![Some(3), None, Some(0)])),
        &three,
    );
    reads_as(
        "clicks",
        Arc::new(UInt64Array::from(vec![Some(3), None, Some(0)])),
        &three,
    );
    let decimal = Decimal128Array::from(vec![Some(300), None, Some(0)]);
    reads_as(
        "clicks",
        Arc::new(decimal.with_precision_and_scale(10, 2).unwrap()),
        &three,
    );
    let uncrawled = "uncrawled_outlinks";
    reads_as(
        uncrawled,
        Arc::new(Int64Array::from(vec![Some(3), None, Some(0)])),
        &three,
    );
    reads_as(
        uncrawled,
        Arc::new(Float64Array::from(vec![Some(3.0), None, Some(-0.0)])),
        &three,
    );
    let quality = Float32Array::from(vec![Some(0.8), None, Some(1.0)]);
    reads_as("quality", Arc::new(quality), &json!([0.8, null, 1]));
    for name in ["clicks", "outlinks"] {
        reads_as(
            name,
            Arc::new(NullArray::new(3)),
            &json!([null, null, null]),
        );
    }
    let nanoseconds =
        TimestampNanosecondArray::from(vec![Some(1_795_060_800_250_000_123), None, Some(-1)]);
    let times = json!([
        "2026-11-19T04:00:00.25Z",
        null,
        "1969-12-31T23:59:59.999999Z"
    ]);
    reads_as(
        "fetched",
        Arc::new(nanoseconds.with_timezone("+01:00")),
        &times,
    );
    let seconds = TimestampSecondArray::from(vec![Some(1_795_060_800), None, Some(-1)]);
    reads_as(
        "fetched",
        Arc::new(seconds),
        &json!(["2026-11-19T04:00:00", null, "1969-12-31T23:59:59"]),
    );
    let numbers = Int64Array::from(vec![Some(1_795_060_800), None, Some(20_261_119_040_000)]);
    reads_as(
        "fetched",
        Arc::new(numbers),
        &json!([1_795_060_800, null, 20_261_119_040_000_u64]),
    );
    let texts = StringArray::from(vec![Some("2026-11-19 04:00"), None, Some("20261119040000")]);
    reads_as(
        "fetched",
        Arc::new(texts),
        &json!(["2026-11-19 04:00", null, "20261119040000"]),
    );
    let days = Date32Array::from(vec![Some(20_776), None, Some(-1)]);
    reads_as(
        "fetched",
        Arc::new(days),
        &json!(["2026-11-19", null, "1969-12-31"]),
    );
}

#[test]
fn values_that_a_record_cannot_have_are_rejected_as_in_json_lines() {
    let column = Int64Array::from(vec![-1, (1 << 53) + 1, 1 << 53]);
    let numbers = json!([-1, 9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]);
    reads_as("clicks", Arc::new(column), &numbers);
    let floats = Float64Array::from(vec![0.5, f64::NAN, f64::INFINITY, 1e300]);
    reads_as(
        "clicks",
        Arc::new(floats),
        &json!([0.5, "NaN", "inf", 1e300]),
    );
    let milliseconds = Int64Array::from(vec![1_795_060_800_000]);
    reads_as(
        "fetched",
        Arc::new(milliseconds),
        &json!([1_795_060_800_000_u64]),
    );
    // Years of more than four digits.
    let column = TimestampSecondArray::from(vec![i64::MIN, i64::MAX, 253_402_300_800]);
    let (summary, _) = of_column("fetched", Arc::new(column.with_timezone("UTC")));
    assert_eq!(
        summary.unwrap().bad_fields,
        [(RejectReason::InvalidTimestamp, 3)].into()
    );
    let mut bytes = BinaryBuilder::new();
    bytes.append_value(b"http://a.example/\xff");
    bytes.append_value(b"http://a.example/b");
    let table =
        RecordBatch::try_from_iter([("url", Arc::new(bytes.finish()) as ArrayRef)]).unwrap();
    let (summary, events) = read(&parquet(&table, WriterProperties::default()), &auto());
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::InvalidUtf8, 1)].into()
    );
    assert!(matches!(
        events[..],
        [
            (Position::Record(1), Event::Rejected(_)),
            (Position::Record(2), Event::Record(_))
        ]
    ));
}

#[test]
fn every_list_of_links_is_read() {
    let values = json!([
        ["http://b.example/", "/relative", "http://b.example/"],
        null,
        [],
        ["http://c.example/"]
    ]);
    let rows: Vec<Option<Vec<String>>> = serde_json::from_value(values.clone()).unwrap();
    // One list of each layout, filled link by link.
    macro_rules! filled {
        ($list:expr, $append:expr) => {{
            let mut list = $list;
            for row in &rows {
                for link in row.iter().flatten() {
                    $append(list.values(), link.as_str());
                }
                list.append(row.is_some());
            }
            Arc::new(list.finish()) as ArrayRef
        }};
    }
    let mut columns = vec![
        filled!(
            ListBuilder::new(StringViewBuilder::new()),
            |to: &mut StringViewBuilder, link: &str| to.append_value(link)
        ),
        filled!(
            LargeListBuilder::new(StringDictionaryBuilder::<Int32Type>::new()),
            StringDictionaryBuilder::append_value
        ),
        filled!(
            ListViewBuilder::new(BinaryBuilder::new()),
            |to: &mut BinaryBuilder, link: &str| to.append_value(link)
        ),
    ];
    for name in ["url", "href"] {
        let fields = ["text", name].map(|name| Field::new(name, DataType::Utf8, true));
        let links = StructBuilder::from_fields(fields.to_vec(), 0);
        columns.push(filled!(
            ListBuilder::new(links),
            |to: &mut StructBuilder, link: &str| {
                for (at, text) in [(0, "x"), (1, link)] {
                    to.field_builder::<StringBuilder>(at)
                        .unwrap()
                        .append_value(text);
                }
                to.append(true);
            }
        ));
    }
    for column in columns {
        reads_as("outlinks", column, &values);
    }
    // Lists of one length, with an element that is null.
    let mut list = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for (links, is_some) in [
        ([Some("http://b.example/"), Some("x")], true),
        ([None, None], false),
        ([Some("http://b.example/"), None], true),
    ] {
        for link in links {
            list.values().append_option(link);
        }
        list.append(is_some);
    }
    let values = json!([
        ["http://b.example/", "x"],
        null,
        ["http://b.example/", null]
    ]);
    reads_as("outlinks", Arc::new(list.finish()), &values);
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let number = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let word = || Arc::new(StringArray::from(vec!["1"])) as ArrayRef;
    for (name, column, message) in [
        (
            "clicks",
            word(),
            "column clicks: expected a number, found Utf8",
        ),
        (
            "spam",
            number(),
            "column spam: expected boolean, found Int64",
        ),
        (
            "outlinks",
            word(),
            "column outlinks: expected a list of strings, or of structs with a string url or href, found Utf8",
        ),
        (
            "digest",
            number(),
            "column digest: expected a string, or binary, found Int64",
        ),
        (
            "Quality",
            word(),
            "column Quality: expected a number, found Utf8",
        ),
    ] {
        let (summary, events) = of_column(name, column);
        let error = summary.unwrap_err();
        assert!(error.ends_with(message) && events.is_empty(), "{error}");
    }
    let no_url = RecordBatch::try_from_iter([("uri", word()), ("clicks", number())]).unwrap();
    let twice = RecordBatch::try_from_iter([("url", word()), ("URL", word())]).unwrap();
    for (table, message) in [
        (no_url, "has no column url; its columns are uri, clicks"),
        (twice, "has two columns named url"),
    ] {
        for file in [
            parquet(&table, WriterProperties::default()),
            arrow_file(&table, 9),
        ] {
            let error = read(&file, &auto()).0.unwrap_err().to_string();
            assert!(error.ends_with(message), "{error}");
        }
    }
    // Unknown columns are counted for each row, and spaces around a name are ignored.
    let words = Arc::new(StringArray::from(vec!["http://a.example/", "x"])) as ArrayRef;
    let clicks = Arc::new(Int16Array::from(vec![1, 2])) as ArrayRef;
    let columns = [
        ("Title", words.clone()),
        ("url", words),
        ("clicks ", clicks),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let (summary, events) = read(&parquet(&table, WriterProperties::default()), &auto());
    let summary = summary.unwrap();
    assert_eq!(
        summary.unknown_fields.names,
        [("Title".to_owned(), 2)].into()
    );
    assert_eq!(summary.rejects, [(RejectReason::RelativeUrl, 1)].into());
    assert!(matches!(&events[0].1, Event::Record(page) if page.clicks == Some(1)));
    assert!(
        matches!(&events[1].1, Event::Rejected(reject) if reject.record == "{\"url\":\"x\",\"clicks\":2}")
    );
}

#[test]
fn files_of_other_kinds_are_named() {
    let records: Vec<Record> = (0..3)
        .map(|n| record(&format!("http://a.example/{n}")))
        .collect();
    let table = batch(&records);
    let parquet = parquet(&table, WriterProperties::default());
    let compressed = zstd::encode_all(&parquet[..], 0).unwrap();
    let length = parquet.len();
    let encrypted = [b"PARE", &parquet[4..length - 4], b"PARE"].concat();
    let arrow = arrow_stream(&table, 9);
    let twice = [&arrow[..], &arrow].concat();
    let json = b"{\"url\": \"http://a.example/\"}\n";
    for (name, bytes, message) in [
        ("parquet", &json[..], "is not a Parquet file"),
        ("parquet", b"PAR1", "is damaged after row 0: "),
        ("parquet", b"PAR1\0\0\0\0PAR1", "is damaged after row 0: "),
        (
            "parquet",
            &compressed,
            "is Parquet that is compressed as a whole",
        ),
        (
            "auto",
            &compressed,
            "is Parquet that is compressed as a whole",
        ),
        ("parquet", &encrypted, "is an encrypted Parquet file"),
        ("auto", &encrypted, "is an encrypted Parquet file"),
        ("arrow", json, "is not an Arrow file or stream"),
        ("arrow", &parquet, "cannot read records from "),
        ("csv", &parquet, "cannot read records from "),
        ("csv", b"", "is empty"),
        (
            "arrow",
            &arrow[..arrow.len() - 8],
            "is truncated after row 3",
        ),
        (
            "arrow",
            &twice,
            "is damaged after row 3: there is data after its end",
        ),
    ] {
        let (summary, _) = read(bytes, &Format::named(name).unwrap());
        let error = summary.unwrap_err().to_string();
        assert!(error.contains(message), "{name}: {error}");
    }
}

/// A quote that is never closed must not make the reader search the rest of the text for each line.
#[test]
fn open_quotes_in_every_line_take_linear_time() {
    let rows: Vec<String> = (0..60_000)
        .map(|row| format!("http://a.example/{row},\"x\n"))
        .collect();
    let rows = rows.concat();
    let csv = format!("url,digest\n{rows}http://b.example/,y\n");
    let (summary, events) = read(csv.as_bytes(), &Format::named("csv").unwrap());
    assert!(summary.is_err() || matches!(events.last(), Some((_, Event::Record(_)))));
}
