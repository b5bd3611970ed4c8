//! What columns of each type say, and which are refused: each cell is what the same value is as JSON
//! Lines, with the same reason where it is refused.

use std::sync::Arc;

use crate::support::tables::{
    Events, arrow_file, arrow_stream, auto, counted, lines, parquet, read, record,
};
use arrow_array::builder::{
    BinaryBuilder, FixedSizeListBuilder, LargeListBuilder, LargeStringBuilder, ListBuilder,
    ListViewBuilder, StringBuilder, StringDictionaryBuilder, StringViewBuilder, StructBuilder,
};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int64Array, NullArray, RecordBatch, StringArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use parquet::file::properties::WriterProperties;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Position, ReadSummary, RejectReason};
use serde_json::{Value, json};

/// Reads a table of one column beside `url`, whose rows are pages of one site.
fn of_column(name: &str, column: ArrayRef) -> (Result<ReadSummary, String>, Events) {
    let urls = (0..column.len()).map(|n| Some(format!("http://a.example/{n}")));
    let urls: ArrayRef = Arc::new(urls.collect::<StringArray>());
    let columns = [(name, column, true), ("url", urls, false)];
    let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let (summary, events) = read(&arrow_stream(&table, 100), &Format::named("arrow").unwrap());
    (summary.map_err(|error| error.to_string()), events)
}

/// What JSON Lines say of these values of a field; null is a field that is left out.
fn of_json(name: &str, values: &[Value]) -> (ReadSummary, Events) {
    let records = values.iter().enumerate().map(|(n, value)| {
        let mut record = record(&format!("http://a.example/{n}"));
        if !value.is_null() {
            record.insert(name.to_owned(), value.clone());
        }
        record
    });
    let text = lines(&records.collect::<Vec<_>>());
    let (summary, events) = read(text.as_bytes(), &Format::JsonLines);
    (summary.unwrap(), events)
}

/// Whether two readings say the same, whatever positions and texts of rejects are.
fn assert_same(
    ours: (Result<ReadSummary, String>, Events),
    theirs: &(ReadSummary, Events),
    what: &str,
) {
    let summary = ours.0.unwrap();
    assert_eq!(counted(&summary), counted(&theirs.0), "{what}");
    assert_eq!(ours.1.len(), theirs.1.len(), "{what}");
    for ((_, ours), (_, theirs)) in ours.1.iter().zip(&theirs.1) {
        match (ours, theirs) {
            (Event::Rejected(ours), Event::Rejected(theirs)) => {
                assert_eq!(
                    (ours.reason, &ours.detail),
                    (theirs.reason, &theirs.detail),
                    "{what}"
                );
            }
            _ => assert_eq!(ours, theirs, "{what}"),
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn every_type_that_fits_is_read() {
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("d1"), None, Some("d1")].into_iter().collect();
    let texts = || vec![Some("d1"), None, Some("d1")];
    let mut view = StringViewBuilder::new();
    for text in texts() {
        view.append_option(text);
    }
    let mut large = LargeStringBuilder::new();
    for text in texts() {
        large.append_option(text);
    }
    let one = json!(["d1", null, "d1"]);
    let three = json!([3, null, 0]);
    let time = json!([
        "2026-11-19T04:00:00.25Z",
        null,
        "1969-12-31T23:59:59.999999Z"
    ]);
    let seconds = json!(["2026-11-19T04:00:00", null, "1969-12-31T23:59:59"]);
    let columns: Vec<(&str, ArrayRef, &Value)> = vec![
        ("digest", Arc::new(dictionary), &one),
        ("digest", Arc::new(view.finish()), &one),
        ("digest", Arc::new(large.finish()), &one),
        (
            "clicks",
            Arc::new(Int8Array::from(vec![Some(3), None, Some(0)])),
            &three,
        ),
        (
            "clicks",
            Arc::new(UInt64Array::from(vec![Some(3), None, Some(0)])),
            &three,
        ),
        (
            "uncrawled_outlinks",
            Arc::new(Int64Array::from(vec![Some(3), None, Some(0)])),
            &three,
        ),
        (
            "uncrawled_outlinks",
            Arc::new(Float64Array::from(vec![Some(3.0), None, Some(-0.0)])),
            &three,
        ),
        (
            "clicks",
            Arc::new(
                Decimal128Array::from(vec![Some(300), None, Some(0)])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            &three,
        ),
        (
            "fetched",
            Arc::new(
                TimestampNanosecondArray::from(vec![
                    Some(1_795_060_800_250_000_123),
                    None,
                    Some(-1),
                ])
                .with_timezone("+01:00"),
            ),
            &time,
        ),
        (
            "fetched",
            Arc::new(TimestampSecondArray::from(vec![
                Some(1_795_060_800),
                None,
                Some(-1),
            ])),
            &seconds,
        ),
        (
            "fetched",
            Arc::new(Int64Array::from(vec![
                Some(1_795_060_800),
                None,
                Some(20_261_119_040_000),
            ])),
            &Value::Null,
        ),
        (
            "fetched",
            Arc::new(StringArray::from(vec![
                Some("2026-11-19 04:00"),
                None,
                Some("20261119040000"),
            ])),
            &Value::Null,
        ),
        (
            "fetched",
            Arc::new(Date32Array::from(vec![Some(20_776), None, Some(-1)])),
            &Value::Null,
        ),
        (
            "quality",
            Arc::new(Float32Array::from(vec![Some(0.8), None, Some(1.0)])),
            &Value::Null,
        ),
        ("clicks", Arc::new(NullArray::new(3)), &Value::Null),
        ("outlinks", Arc::new(NullArray::new(3)), &Value::Null),
        (
            "digest",
            Arc::new(BinaryArray::from_opt_vec(vec![
                Some(&[0x9f, 0x86]),
                None,
                Some(&[]),
            ])),
            &Value::Null,
        ),
    ];
    let others = [
        json!([1_795_060_800, null, 20_261_119_040_000_u64]),
        json!(["2026-11-19 04:00", null, "20261119040000"]),
        json!(["2026-11-19", null, "1969-12-31"]),
        json!([0.8, null, 1]),
        json!([null, null, null]),
        json!([null, null, null]),
        json!(["9f86", null, ""]),
    ];
    let mut others = others.iter();
    for (name, column, values) in columns {
        let values = if values.is_null() {
            others.next().unwrap()
        } else {
            values
        };
        let what = format!("{name} {}", column.data_type());
        let theirs = of_json(name, values.as_array().unwrap());
        assert_same(of_column(name, column), &theirs, &what);
    }
}

#[test]
fn values_that_a_record_cannot_have_are_refused_as_in_json_lines() {
    let numbers = json!([-1, 9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]);
    let column = Int64Array::from(vec![-1, (1 << 53) + 1, 1 << 53]);
    let theirs = of_json("clicks", numbers.as_array().unwrap());
    assert_same(of_column("clicks", Arc::new(column)), &theirs, "clicks");
    let floats = Float64Array::from(vec![0.5, f64::NAN, f64::INFINITY, 1e300]);
    let theirs = of_json(
        "clicks",
        &[json!(0.5), json!("NaN"), json!("inf"), json!(1e300)],
    );
    assert_same(of_column("clicks", Arc::new(floats)), &theirs, "floats");
    // Years that have not four digits, and milliseconds as a number.
    let column =
        TimestampSecondArray::from(vec![i64::MIN, i64::MAX, 253_402_300_800]).with_timezone("UTC");
    let (summary, _) = of_column("fetched", Arc::new(column));
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::InvalidTimestamp, 3)].into()
    );
    let column = Int64Array::from(vec![1_795_060_800_000]);
    let theirs = of_json("fetched", &[json!(1_795_060_800_000_u64)]);
    assert_same(
        of_column("fetched", Arc::new(column)),
        &theirs,
        "milliseconds",
    );
    // A text that is none.
    let mut bytes = BinaryBuilder::new();
    bytes.append_value(b"http://a.example/\xff");
    bytes.append_value(b"http://a.example/b");
    let columns = [("url", Arc::new(bytes.finish()) as ArrayRef)];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let (summary, events) = read(&parquet(&table, WriterProperties::default()), &auto());
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::InvalidUtf8, 1)].into()
    );
    let [
        (Position::Record(1), Event::Rejected(_)),
        (Position::Record(2), Event::Record(_)),
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
}

#[test]
fn every_list_of_links_is_read() {
    let values = json!([
        ["http://b.example/", "/relative", "http://b.example/"],
        null,
        [],
        ["http://c.example/"]
    ]);
    let values = values.as_array().unwrap();
    let each = |add: &mut dyn FnMut(Option<Vec<&str>>)| {
        for list in values {
            let list = list.as_array();
            add(list.map(|list| list.iter().map(|link| link.as_str().unwrap()).collect()));
        }
    };
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut list = ListBuilder::new(StringViewBuilder::new());
    each(&mut |links| {
        list.append_option(links.map(|links| links.into_iter().map(Some).collect::<Vec<_>>()));
    });
    columns.push(Arc::new(list.finish()));
    let mut list = LargeListBuilder::new(StringDictionaryBuilder::<Int32Type>::new());
    each(&mut |links| {
        let is_some = links.is_some();
        for link in links.into_iter().flatten() {
            list.values().append_value(link);
        }
        list.append(is_some);
    });
    columns.push(Arc::new(list.finish()));
    let mut list = ListViewBuilder::new(BinaryBuilder::new());
    each(&mut |links| {
        let is_some = links.is_some();
        for link in links.into_iter().flatten() {
            list.values().append_value(link);
        }
        list.append(is_some);
    });
    columns.push(Arc::new(list.finish()));
    for name in ["url", "href"] {
        let fields = vec![
            Field::new("text", DataType::Utf8, true),
            Field::new(name, DataType::Utf8, true),
        ];
        let mut list = ListBuilder::new(StructBuilder::from_fields(fields, 0));
        each(&mut |links| {
            let is_some = links.is_some();
            for link in links.into_iter().flatten() {
                list.values()
                    .field_builder::<StringBuilder>(0)
                    .unwrap()
                    .append_value("x");
                list.values()
                    .field_builder::<StringBuilder>(1)
                    .unwrap()
                    .append_value(link);
                list.values().append(true);
            }
            list.append(is_some);
        });
        columns.push(Arc::new(list.finish()));
    }
    for column in columns {
        let what = column.data_type().to_string();
        assert_same(
            of_column("outlinks", column),
            &of_json("outlinks", values),
            &what,
        );
    }
    // Lists of one length, with an element that is none.
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
    let theirs = of_json(
        "outlinks",
        &[
            json!(["http://b.example/", "x"]),
            json!(null),
            json!(["http://b.example/", null]),
        ],
    );
    assert_same(
        of_column("outlinks", Arc::new(list.finish())),
        &theirs,
        "fixed",
    );
}

#[test]
fn a_column_of_a_wrong_type_refuses_the_input_at_once() {
    let number = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let word = || Arc::new(StringArray::from(vec!["1"])) as ArrayRef;
    for (name, column, said) in [
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
        assert!(error.ends_with(said), "{error}");
        assert!(events.is_empty());
    }
    let no_url = RecordBatch::try_from_iter([("uri", word()), ("clicks", number())]).unwrap();
    let twice = RecordBatch::try_from_iter([("url", word()), ("URL", word())]).unwrap();
    for (table, said) in [
        (no_url, "has no column url; its columns are uri, clicks"),
        (twice, "has two columns named url"),
    ] {
        for (file, name) in [
            (parquet(&table, WriterProperties::default()), "parquet"),
            (arrow_file(&table, 9), "arrow"),
        ] {
            let (summary, _) = read(&file, &Format::named(name).unwrap());
            let error = summary.unwrap_err().to_string();
            assert!(error.ends_with(said), "{error}");
        }
    }
}

#[test]
fn columns_that_no_record_has_are_counted_for_each_row() {
    let word = || {
        Arc::new(StringArray::from(vec![
            "http://a.example/",
            "x",
            "http://b.example/",
        ])) as ArrayRef
    };
    let table = RecordBatch::try_from_iter([
        ("Title", word()),
        ("url", word()),
        (
            "clicks ",
            Arc::new(Int16Array::from(vec![1, 2, 3])) as ArrayRef,
        ),
    ])
    .unwrap();
    let (summary, events) = read(&parquet(&table, WriterProperties::default()), &auto());
    let summary = summary.unwrap();
    assert_eq!(
        summary.unknown_fields.names,
        [("Title".to_owned(), 3)].into()
    );
    assert_eq!(summary.rejects, [(RejectReason::RelativeUrl, 1)].into());
    assert!(matches!(&events[0].1, Event::Record(page) if page.clicks == Some(1)));
    assert!(
        matches!(&events[1].1, Event::Rejected(reject) if reject.record == "{\"url\":\"x\",\"clicks\":2}")
    );
}
