//! Memory and expansion limits of readers: small files that would take gigabytes of memory or minutes
//! of time are read within `--memory` plus 200 MiB, or rejected by a limit that the error names, with
//! the bank unchanged.
//!
//! Families of cases, and the bugs that they catch:
//! * many small parts (row groups, pieces): memory that is counted by records and not by bytes;
//! * one large part (a page, a batch, the names of a graph): memory that is allocated before the
//!   check;
//! * long URLs, given or resolved against a base: memory that grows with keys and not with the input;
//! * compression, dictionaries and lists that share elements: output that is out of proportion to the
//!   input.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, ListViewArray, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::support::command::Place;
use crate::support::warc;

/// What `--memory` says, and how many bytes more a command may take.
const MEMORY: u64 = 64 << 20;
const BESIDE: u64 = 200 << 20;

/// What a command ended with: its status, its error, and the most memory that it had.
struct Ingested {
    status: Option<i32>,
    error: String,
    peak: u64,
}

/// Ingests a file and watches how much memory that takes.
fn ingest(place: &Place, args: &[&str]) -> Ingested {
    let memory = MEMORY.to_string();
    let all = [&["ingest", "bank", "--memory", &memory][..], args].concat();
    watched(place, &all)
}

/// Runs a command and watches how much memory that takes (0 where the system does not tell).
fn watched(place: &Place, args: &[&str]) -> Ingested {
    let mut command = place.command(args);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let about = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&about).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    Ingested {
        status: output.status.code(),
        error: String::from_utf8(output.stderr).unwrap(),
        peak,
    }
}

/// Ingests a file, which must work within its memory.
#[track_caller]
fn fits(place: &Place, args: &[&str]) {
    let ended = ingest(place, args);
    assert_eq!(ended.status, Some(0), "{}", ended.error);
    within(args, ended.peak);
}

/// Ingests a file, which must be refused in these words, within its memory and with the bank as it was.
#[track_caller]
fn is_refused(place: &Place, args: &[&str], words: &str) {
    let before = place.state();
    let ended = ingest(place, args);
    assert_eq!(ended.status, Some(3), "{}", ended.error);
    assert!(ended.error.contains(words), "{}", ended.error);
    within(args, ended.peak);
    assert_eq!(place.state(), before);
}

#[track_caller]
fn within(args: &[&str], peak: u64) {
    println!("{args:?}: {} MiB", peak >> 20);
    assert!(peak <= MEMORY + BESIDE, "{args:?}: {} MiB", peak >> 20);
}

/// What is said of an input that expands to too much data.
const TOO_MUCH: &str =
    "expands to too much data: expected at most 1000 bytes for each byte read, found ";

/// What is said of an input that needs more memory than there is.
const TOO_LARGE: &str = "and at most 117440512 bytes of memory are available for them";

fn parquet(place: &Place, name: &str, batch: &RecordBatch, properties: WriterProperties) {
    place.write(name, crate::support::tables::parquet(batch, properties));
}

fn zstd_level(level: i32) -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(level).unwrap())
}

fn of_urls(urls: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("url", urls)]).unwrap()
}

/// A URL of some 60,000 bytes.
fn long_url(number: usize) -> String {
    format!("http://a.example/{}{number}", "x".repeat(60_000))
}

#[test]
fn memory_does_not_grow_with_row_groups() {
    let place = Place::with_bank();
    let table = |n: usize| {
        let url = format!("http://s{n}.example/");
        of_urls(Arc::new(StringArray::from(vec![url])))
    };
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, table(0).schema(), None).unwrap();
    for n in 0..20_000 {
        writer.write(&table(n)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    place.write("groups.parquet", bytes);
    fits(&place, &["groups.parquet"]);
}

#[test]
fn a_page_of_a_table_is_held_only_where_there_is_room() {
    let place = Place::with_bank();
    let urls: Vec<String> = (0..3_500).map(long_url).collect();
    let table = of_urls(Arc::new(StringArray::from(urls)));
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_write_batch_size(1 << 20)
        .set_compression(zstd_level(3));
    parquet(&place, "page.parquet", &table, properties.build());
    is_refused(&place, &["page.parquet"], TOO_LARGE);
    let mut arrow = FileWriter::try_new(Vec::new(), &table.schema()).unwrap();
    arrow.write(&table).unwrap();
    arrow.finish().unwrap();
    place.write("batch.arrow", arrow.into_inner().unwrap());
    is_refused(&place, &["batch.arrow"], TOO_LARGE);
}

#[test]
fn long_urls_take_no_more_memory_than_others() {
    let place = Place::with_bank();
    let mut text = Vec::new();
    for number in 0..2_500 {
        writeln!(text, r#"{{"url":"{}"}}"#, long_url(number)).unwrap();
    }
    place.write("long.jsonl", &text);
    fits(&place, &["long.jsonl"]);
    // Compressed, it expands to too much data.
    place.write("long.jsonl.zst", zstd::encode_all(&text[..], 19).unwrap());
    is_refused(&place, &["long.jsonl.zst"], TOO_MUCH);
}

#[test]
fn files_of_long_urls_are_merged_in_no_more_memory_than_others() {
    let place = Place::with_bank();
    // URLs of the second batch lie between those of the first, so both are merged into new files.
    for batch in 0..2 {
        let mut text = Vec::new();
        for number in 0..600 {
            writeln!(text, r#"{{"url":"{}"}}"#, long_url(2 * number + batch)).unwrap();
        }
        let name = format!("long{batch}.jsonl");
        place.write(&name, &text);
        fits(&place, &[&name]);
    }
    let args = ["compact", "bank"];
    let ended = watched(&place, &args);
    assert_eq!(ended.status, Some(0), "{}", ended.error);
    within(&args, ended.peak);
}

#[test]
fn a_long_base_makes_no_more_of_links_than_the_page_has_text() {
    let place = Place::with_bank();
    let base = "x".repeat(60_000);
    let html = |links: usize| {
        let mut html = format!("<base href='http://b.example/{base}/'>");
        for link in 0..links {
            html.push_str("<a href=");
            html.push_str(&link.to_string());
            html.push('>');
        }
        html
    };
    place.write("one.warc", warc::page("http://a.example/", &html(300_000)));
    fits(&place, &["one.warc"]);
    let pages = (0..40).map(|n| warc::page(&format!("http://a{n}.example/"), &html(8_000)));
    place.write("many.warc", pages.collect::<Vec<_>>().concat());
    fits(&place, &["many.warc"]);
}

#[test]
fn names_of_a_graph_are_held_only_where_there_is_room() {
    let place = Place::with_bank();
    let mut vertices = Vec::new();
    // What a name shares with the one before it takes no room.
    for n in 0..2_100_u32 {
        let name = n.to_string().repeat(60_000 / n.to_string().len());
        writeln!(vertices, "{n}\t{}{name}", (b'a' + (n % 26) as u8) as char).unwrap();
    }
    place.write("vertices.txt", vertices);
    place.write("edges.txt", "0\t1\n");
    let args = [
        "edges.txt",
        "--input",
        "ccgraph",
        "--vertices",
        "vertices.txt",
    ];
    is_refused(&place, &args, TOO_LARGE);
}

#[test]
fn a_dictionary_stands_for_no_more_than_a_crawl_would() {
    // 1.2 GB of URLs, which writing the file hashes.
    const ROWS: usize = 20_000;
    let place = Place::with_bank();
    let url: ArrayRef = Arc::new(StringArray::from(vec![long_url(0)]));
    let keys = Int8Array::from(vec![0; ROWS]);
    let urls = DictionaryArray::<Int8Type>::new(keys, url);
    let table = of_urls(Arc::new(urls));
    let properties = WriterProperties::builder().set_compression(zstd_level(3));
    parquet(&place, "dictionary.parquet", &table, properties.build());
    is_refused(&place, &["dictionary.parquet"], TOO_MUCH);
    place.write("dictionary.arrow", compressed(&table));
    is_refused(&place, &["dictionary.arrow"], TOO_MUCH);
}

#[test]
fn lists_that_share_elements_stand_for_no_more_than_a_crawl_would() {
    const ROWS: usize = 100_000;
    const LINKS: i32 = 2_000;
    let place = Place::with_bank();
    let links = (0..LINKS).map(|n| Some(format!("http://b.example/{n}")));
    let links: StringArray = links.collect();
    let field = Arc::new(Field::new("item", DataType::Utf8, true));
    let (offsets, sizes) = (vec![0; ROWS], vec![LINKS; ROWS]);
    let links = ListViewArray::new(field, offsets.into(), sizes.into(), Arc::new(links), None);
    let url: ArrayRef = Arc::new(StringArray::from(vec!["http://a.example/"]));
    let urls = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0; ROWS]), url);
    let columns: [(&str, ArrayRef); 2] = [("url", Arc::new(urls)), ("outlinks", Arc::new(links))];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    place.write("views.arrow", compressed(&table));
    is_refused(&place, &["views.arrow"], TOO_MUCH);
}

/// A file of Arrow, compressed with zstd.
fn compressed(table: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(Some(CompressionType::ZSTD));
    let schema = table.schema();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options.unwrap());
    let writer = writer.as_mut().unwrap();
    writer.write(table).unwrap();
    writer.finish().unwrap();
    std::mem::take(writer.get_mut())
}

#[test]
fn compressed_text_stands_for_no_more_than_a_crawl_would() {
    let place = Place::with_bank();
    let line = b"{\"url\":\"http://a.example/\"}\n";
    let mut zstd = zstd::Encoder::new(Vec::new(), 19).unwrap();
    for _ in 0..100 {
        zstd.write_all(&line.repeat(40_000)).unwrap();
    }
    place.write("records.jsonl.zst", zstd.finish().unwrap());
    for input in ["auto", "jsonl", "urls", "links", "csv", "json"] {
        let args = [
            "--input",
            input,
            "--max-rejects",
            "100",
            "records.jsonl.zst",
        ];
        let ended = ingest(&place, &args);
        assert_eq!(ended.status, Some(3), "{input}: {}", ended.error);
        within(&args, ended.peak);
        // Others are refused for what the text is, or says.
        if matches!(input, "auto" | "jsonl" | "json") {
            assert!(ended.error.contains(TOO_MUCH), "{input}: {}", ended.error);
        }
    }
}
