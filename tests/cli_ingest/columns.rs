//! Tables on the command line, recognised without a flag, from files and from standard input.

use std::fs;

use crate::support::command::Place;
use crate::support::tables::{arrow_file, arrow_stream, batch, lines, parquet, record, text};
use parquet::file::properties::WriterProperties;
use seedbank::ingest::RECORD_FIELDS;
use serde_json::{Map, Value, json};

fn records() -> Vec<Map<String, Value>> {
    let mut page = record("http://a.example/");
    page.insert("outlinks".to_owned(), json!(["http://b.example/", "/c"]));
    page.insert("digest".to_owned(), json!("one, \"two\""));
    page.insert("fetched".to_owned(), json!("2026-11-19T04:00:00Z"));
    let mut gone = record("http://a.example/old");
    gone.insert("gone".to_owned(), json!(true));
    vec![page, gone]
}

#[test]
fn no_flag_is_needed() {
    let place = Place::with_bank();
    let records = records();
    let table = batch(&records);
    let parquet = parquet(&table, WriterProperties::default());
    place.write("a.parquet", &parquet);
    let report = place.run(&["ingest", "bank", "a.parquet"]).done();
    assert!(
        report.starts_with("batch 1: a.parquet (delta), 2 records, "),
        "{report}"
    );
    assert!(report.contains("links: 2 added"), "{report}");
    // The same in any other kind of table is the same batch.
    place.write("a.jsonl", lines(&records));
    place.write("a.feather", arrow_file(&table, 9));
    place.write("a.arrows", arrow_stream(&table, 9));
    place.write("a.csv", text(&records, ",", "\n", false));
    place.write("a.txt", text(&records, ";", "\r\n", true));
    place.write("a.tsv", text(&records, "\t", "\n", false));
    for (file, input) in [
        ("a.jsonl", "auto"),
        ("a.parquet", "parquet"),
        ("a.feather", "arrow"),
        ("a.arrows", "auto"),
        ("a.csv", "csv"),
        ("a.txt", "auto"),
        ("a.tsv", "tsv"),
    ] {
        let args = ["ingest", "bank", "--input", input, file];
        let report = place.run(&args).done();
        assert!(
            report.starts_with("nothing changed: batch 1 had"),
            "{file}: {report}"
        );
        let bytes = fs::read(place.path(file)).unwrap();
        let report = place.run_with(&["ingest", "bank", "-"], &bytes).done();
        assert!(
            report.starts_with("nothing changed: batch 1 had"),
            "{file}: {report}"
        );
    }
    // Each file has its own format.
    let args = [
        "ingest",
        "bank",
        "--dry-run",
        "a.parquet",
        "a.csv",
        "--format",
        "json",
    ];
    assert_eq!(place.run(&args).json()["read"]["records"], 4);
}

#[test]
fn bad_rows_are_listed_where_they_stand() {
    let place = Place::with_bank();
    let mut records = records();
    records.insert(1, record("relative"));
    place.write(
        "a.parquet",
        parquet(&batch(&records), WriterProperties::default()),
    );
    place.write(
        "a.csv",
        text(&records, ",", "\n", false) + "http://b.example/,\"x\n",
    );
    for (file, place_of, listed) in [
        (
            "a.parquet",
            "record 2 of a.parquet",
            json!({"number": 2, "record": "{\"url\":\"relative\"}"}),
        ),
        (
            "a.csv",
            "line 3 of a.csv",
            json!({"line": 3, "record": format!("relative{}", ",".repeat(RECORD_FIELDS.len() - 1))}),
        ),
    ] {
        let error = place
            .run(&[
                "ingest",
                "bank",
                file,
                "--rejects",
                "bad",
                "--max-rejects",
                "0",
            ])
            .fails(3);
        assert!(
            error.contains(&format!("the first is {place_of}: ")),
            "{error}"
        );
        let list = fs::read_to_string(place.path("bad")).unwrap();
        let first: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
        for (name, value) in listed.as_object().unwrap() {
            assert_eq!(&first[name], value, "{list}");
        }
        assert_eq!(list.lines().count(), if file == "a.csv" { 2 } else { 1 });
    }
}

#[test]
fn unreadable_tables_are_refused() {
    let place = Place::with_bank();
    let table = batch(&records());
    let whole = parquet(&table, WriterProperties::default());
    let zipped = zstd::encode_all(&whole[..], 0).unwrap();
    let clicks = "url,clicks\n".to_owned() + &",7\n".repeat(3);
    for (file, bytes, args, words) in [
        (
            "a.parquet",
            &whole[..whole.len() - 9],
            &[][..],
            "a.parquet is damaged after row 0: ",
        ),
        (
            "a.parquet.zst",
            &zipped,
            &[],
            "a.parquet.zst is Parquet that is compressed as a whole; decompress it first",
        ),
        (
            "a.arrow",
            &arrow_stream(&table, 9)[..100],
            &[],
            "a.arrow is truncated after row 0; fetch or write it again",
        ),
        (
            "a.csv",
            b"uri,clicks\n",
            &["--input", "csv"],
            "a.csv has no column url; its columns are uri, clicks",
        ),
        (
            "b.csv",
            clicks.as_bytes(),
            &[],
            "missing_url 3; the first is line 2 of b.csv: a record must have a url",
        ),
        (
            "c.csv",
            &whole,
            &["--input", "csv"],
            "hint: c.csv is a Parquet file; omit --input, or use --input parquet",
        ),
    ] {
        place.write(file, bytes);
        let error = place
            .run(&[&["ingest", "bank", "--rejects", "bad", file], args].concat())
            .fails(3);
        assert!(error.contains(words), "{error}");
    }
}
