//! Tables: a file is refused, or its rows are read in their order; of a text the row at the end is read,
//! whatever quotes stand before it.

use std::convert::Infallible;
use std::fs;

use seedbank::ingest::{Event, Format, Input, InputError, Naming, ReadError, read_batch};
use seedbank::watch::Unwatched;

use super::json_lines::is_normal;
use super::kind;

/// Around the text of every input.
const HEADER: &str = "url,outlinks,clicks,digest\n";
/// The same with other names.
const OTHER_HEADER: &str = "page,links,clicks,digest\n";
const END: &str = "\nhttp://end.example/,,,\n";

pub(super) fn run(data: &[u8]) {
    let (kind, bytes) = kind(data);
    let is_text = matches!(kind % 4, 0 | 3);
    let table = |header: &str| [header.as_bytes(), bytes, END.as_bytes()].concat();
    let (name, bytes) = match kind % 4 {
        0 => ("csv", table(HEADER)),
        1 => ("parquet", bytes.to_vec()),
        2 => ("arrow", bytes.to_vec()),
        _ => ("csv", table(OTHER_HEADER)),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, bytes).unwrap();
    let mut sources = Format::named(name).unwrap().sources(&[Input::File(path)]);
    if kind % 4 == 3 {
        let columns = "url=page,outlinks=links,split=|".parse().unwrap();
        for source in &mut sources {
            source.name_columns(&columns);
        }
    }
    let naming = Naming::default();
    let mut last = None;
    let mut found = false;
    let mut records = 0;
    let mut sink = |at, event: Event| {
        if !event.is_record() {
            return Ok(());
        }
        assert!(last < Some(at), "{at:?} after {last:?}");
        last = Some(at);
        records += 1;
        if let Event::Record(record) = event {
            is_normal(&record.url, naming);
            let outlinks = record.outlinks.unwrap_or_default();
            assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
            found |= record.url.site == "end.example";
        }
        Ok::<(), Infallible>(())
    };
    match read_batch(&mut sources, naming, &Unwatched, &mut sink) {
        Ok(summary) => {
            assert_eq!(summary.records, records);
            assert!(found || !is_text, "the last row is lost");
        }
        Err(ReadError::Input(
            InputError::Format(_)
            | InputError::Columns(_)
            | InputError::Truncated(_)
            | InputError::NotRecords(_)
            | InputError::Damaged { .. },
        )) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "http://a.example/,http://b.example/ x,3,d",
        "http://a.example/,\"[\"\"http://b.example/\"\", {\"\"href\"\": \"\"x\"\"}]\",3.0,\"d\n\"\"\"",
        "\"http://a.example/,,,\nhttp://b.example/,,,\"\"\n\"x\"y,,,\r\n",
        ",,,\n \nhttp://a.example/,[],-1,\r\n",
    ];
    let texts = texts
        .iter()
        .flat_map(|text| [0, 3].map(|kind| [&[kind], text.as_bytes()].concat()));
    let files: [(u8, &[u8]); 3] = [
        (1, include_bytes!("one.parquet")),
        (2, include_bytes!("one.arrow")),
        (2, include_bytes!("one.arrows")),
    ];
    let files = files.map(|(kind, file)| [&[kind], file].concat());
    texts.chain(files).collect()
}
