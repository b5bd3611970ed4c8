//! Records as tables: Parquet, Arrow, CSV.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt32Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{
    Event, Input, Naming, Position, RECORD_FIELDS, ReadError, ReadSummary, parse_timestamp,
    read_batch,
};
use seedbank::watch::Unwatched;
use serde_json::{Map, Value};

/// What was read, in order.
pub type Events = Vec<(Position, Event)>;

/// The format that is taken where none is named.
pub fn auto() -> Format {
    Format::named("auto").unwrap()
}

/// What was counted, but for the bytes, which each format counts in its own way.
pub fn counted(read: &ReadSummary) -> ReadSummary {
    let mut read = read.clone();
    read.bytes = 0;
    read
}

/// Reads a file of these bytes.
pub fn read(bytes: &[u8], format: &Format) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    let folder = super::scratch();
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    let mut events = Vec::new();
    let mut sources = format.sources(&[Input::File(path)]);
    let naming = Naming::default();
    let summary = read_batch(&mut sources, naming, &Unwatched, &mut |at, event| {
        events.push((at, event));
        Ok(())
    });
    (summary, events)
}

/// A record that names a page.
pub fn record(url: &str) -> Map<String, Value> {
    Map::from_iter([("url".to_owned(), Value::from(url))])
}

/// As JSON Lines.
pub fn lines(records: &[Map<String, Value>]) -> String {
    let line = |record: &Map<String, Value>| serde_json::to_string(record).unwrap() + "\n";
    records.iter().map(line).collect()
}

/// As a table, with the types that a writer would choose. Links are strings; times have a zone.
pub fn batch(records: &[Map<String, Value>]) -> RecordBatch {
    let of = |field: &'static str| records.iter().map(move |record| record.get(field));
    let text = |field| -> ArrayRef {
        let texts = of(field).map(|value| value.and_then(Value::as_str));
        Arc::new(texts.collect::<StringArray>())
    };
    let truth = |field| -> ArrayRef {
        let truths = of(field).map(|value| value.and_then(Value::as_bool));
        Arc::new(truths.collect::<BooleanArray>())
    };
    let texts = |field| -> ArrayRef {
        let mut texts = ListBuilder::new(StringBuilder::new());
        for list in of(field) {
            let list = list.and_then(Value::as_array);
            for text in list.into_iter().flatten() {
                texts.values().append_value(text.as_str().unwrap());
            }
            texts.append(list.is_some());
        }
        Arc::new(texts.finish())
    };
    let clicks = of("clicks").map(|value| value.and_then(Value::as_i64));
    let uncrawled = of("uncrawled_outlinks").map(|value| value.and_then(Value::as_u64));
    let uncrawled = uncrawled.map(|value| value.map(|value| u32::try_from(value).unwrap()));
    let failures = of("failures").map(|value| value.and_then(Value::as_u64));
    let failures = failures.map(|value| value.map(|value| u32::try_from(value).unwrap()));
    let depths = of("depth").map(|value| value.and_then(Value::as_u64));
    let depths = depths.map(|value| value.map(|value| u32::try_from(value).unwrap()));
    let number = |name: &'static str| -> ArrayRef {
        let numbers = of(name).map(|value| value.and_then(Value::as_f64));
        Arc::new(numbers.collect::<Float64Array>())
    };
    let times = of("fetched").map(|value| {
        let text = value.and_then(Value::as_str);
        text.map(|text| parse_timestamp(text).unwrap().micros)
    });
    let times: TimestampMicrosecondArray = times.collect();
    let columns: [(&str, ArrayRef); RECORD_FIELDS.len()] = [
        ("fetched", Arc::new(times.with_timezone("UTC"))),
        ("url", text("url")),
        ("outlinks", texts("outlinks")),
        ("spam", truth("spam")),
        ("gone", truth("gone")),
        ("clicks", Arc::new(clicks.collect::<Int64Array>())),
        (
            "uncrawled_outlinks",
            Arc::new(uncrawled.collect::<UInt32Array>()),
        ),
        ("quality", number("quality")),
        ("digest", text("digest")),
        ("redirect", text("redirect")),
        ("canonical", text("canonical")),
        ("kind", text("kind")),
        ("status", text("status")),
        ("failures", Arc::new(failures.collect::<UInt32Array>())),
        ("failing_since", text("failing_since")),
        ("failed", text("failed")),
        ("failed_before", texts("failed_before")),
        ("changed", text("changed")),
        ("observed_days", number("observed_days")),
        ("new_links", number("new_links")),
        ("seed", text("seed")),
        ("via", text("via")),
        ("depth", Arc::new(depths.collect::<UInt32Array>())),
    ];
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// As a Parquet file.
pub fn parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// As a file of Arrow, with so many rows in a batch.
pub fn arrow_file(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for from in (0..batch.num_rows()).step_by(rows) {
        let part = batch.slice(from, rows.min(batch.num_rows() - from));
        writer.write(&part).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// As a stream of Arrow, with so many rows in a batch.
pub fn arrow_stream(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for from in (0..batch.num_rows()).step_by(rows) {
        let part = batch.slice(from, rows.min(batch.num_rows() - from));
        writer.write(&part).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// As a text, with this between cells and at the end of lines; with quotes where they are needed, or
/// around every cell.
pub fn text(records: &[Map<String, Value>], delimiter: &str, end: &str, quoted: bool) -> String {
    let cell = |text: &str| {
        let special = |c: char| c == '"' || c == '\n' || c == '\r';
        if quoted && !text.is_empty() || text.contains(special) || text.contains(delimiter) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut rows = vec![RECORD_FIELDS.map(cell).join(delimiter)];
    for record in records {
        let cells = RECORD_FIELDS.map(|field| match record.get(field) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => cell(text),
            Some(value) => cell(&value.to_string()),
        });
        rows.push(cells.join(delimiter));
    }
    rows.join(end) + end
}
