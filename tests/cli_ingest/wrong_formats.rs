//! Inputs that are not records, each with its message; if the message has a command, the test runs it
//! and ingests its output.

use std::io::Write;

use crate::support::command::Place;
use crate::support::crawler_texts::{CRAWL_LOG, NUTCH_TEXT, SKIPPED_PAGES};
use crate::support::skipped::skipped;
use serde_json::{Value, json};

/// An input and what is said of it.
struct Wrong {
    /// The name that the user gives it.
    file: &'static str,
    bytes: Vec<u8>,
    /// What else is given to `ingest`.
    args: &'static [&'static str],
    /// What is wrong with the first bad record, and where that is; empty where none was read.
    first: &'static str,
    /// What it is, and what to do.
    sentence: &'static str,
    /// How many records the advised command makes of it; `None` where none is advised that can be
    /// run here.
    made: Option<u64>,
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 0).unwrap()
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// A tar archive with one file.
fn tar(text: &[u8]) -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    let mut put = |at: usize, field: &[u8]| header[at..at + field.len()].copy_from_slice(field);
    put(0, b"day.jsonl");
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", text.len()).as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = [header, text.to_vec()].concat();
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    archive
}

/// A record of a web archive.
fn warc(kind: &str, content: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {}\r\n\r\n{content}\r\n\r\n",
        content.len()
    )
}

fn wat() -> String {
    let request = json!({"Container": {}, "Envelope": {"Payload-Metadata": {}}});
    warc("warcinfo", "Software-Info: x\r\n") + &warc("metadata", &request.to_string())
}

const RECORD: &str = "{\"url\": \"http://a.example/\", \"clicks\": 1}\n";
const SITEMAP: &str = "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
    <url><loc>http://a.example/?a=1&amp;b=2</loc></url><url><loc>http://a.example/x</loc></url></urlset>\n";

fn certain(file: &'static str, bytes: impl Into<Vec<u8>>, sentence: &'static str) -> Wrong {
    Wrong {
        file,
        bytes: bytes.into(),
        args: &[],
        first: "",
        sentence,
        made: None,
    }
}

impl Wrong {
    fn first(self, first: &'static str) -> Self {
        Self { first, ..self }
    }

    fn made(self, records: u64) -> Self {
        Self {
            made: Some(records),
            ..self
        }
    }

    fn args(self, args: &'static [&'static str]) -> Self {
        Self { args, ..self }
    }
}

/// What nothing can be read of.
fn binary() -> Vec<Wrong> {
    let le = u16::to_le_bytes;
    let marked = format!("\u{feff}{RECORD}");
    let utf_32: Vec<u8> = marked
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    vec![
        certain("a.parquet", *b"PAR1\x15\x04\x15", "a.parquet is a Parquet file; omit --input, or use --input parquet")
            .args(&["--input", "jsonl"]),
        certain("a.avro", *b"Obj\x01\x04\x14avro.codec\x08null", "a.avro is an Avro file; convert it to JSON Lines with `avro-tools tojson`"),
        certain("a.orc", *b"ORC\x0a\x0b", "a.orc is an ORC file; convert it to JSON Lines with `orc-contents`"),
        certain("a.arrow", *b"ARROW1\0\0\xff\xff", "a.arrow is an Arrow file or stream; omit --input, or use --input arrow")
            .args(&["--input", "csv"]),
        certain("a.db", *b"SQLite format 3\0\x10\0", "a.db is an SQLite database; export a table as JSON Lines, one record per line"),
        certain("a.zip", *b"PK\x03\x04\x14\0", "a.zip is a ZIP archive; only its WARC files are read, from a file on disk, with --input warc or without --input; extract it and give the files that have records: `unzip -d FOLDER a.zip`")
            .args(&["--input", "jsonl"]),
        certain("a.7z", *b"7z\xbc\xaf\x27\x1c\0\x04", "a.7z is a 7z archive; expected plain, gzip or zstd input: `7z e -so a.7z | seedbank ingest BANK -`"),
        certain("a.tar", tar(RECORD.as_bytes()), "a.tar is a tar archive; extract it first: `tar -xOf a.tar | seedbank ingest BANK -`").made(1),
        certain("a.tar.gz", gzip(&tar(RECORD.as_bytes())), "a.tar.gz is a tar archive; extract it first: `gzip -dc a.tar.gz | tar -xO | seedbank ingest BANK -`").made(1),
        certain("twice.gz", gzip(&gzip(RECORD.as_bytes())), "twice.gz is compressed twice; only one layer is decompressed automatically: `gzip -dc twice.gz | gzip -dc | seedbank ingest BANK -`").made(1),
        certain("zstd in.gz", gzip(&zstd(RECORD.as_bytes())), "zstd in.gz is compressed twice; only one layer is decompressed automatically: `gzip -dc 'zstd in.gz' | zstd -dc | seedbank ingest BANK -`").made(1),
        certain("gzip.zst", zstd(&gzip(RECORD.as_bytes())), "gzip.zst is compressed twice; only one layer is decompressed automatically: `zstd -dc gzip.zst | gzip -dc | seedbank ingest BANK -`").made(1),
        certain("a.xz", *b"\xfd7zXZ\0\0\x04", "a.xz is compressed with xz; expected plain, gzip or zstd input: `xz -dc a.xz | seedbank ingest BANK -`"),
        certain("a.bz2", *b"BZh91AY&SY\0\0", "a.bz2 is compressed with bzip2; expected plain, gzip or zstd input: `bzip2 -dc a.bz2 | seedbank ingest BANK -`"),
        certain("a.lz4", *b"\x04\x22\x4d\x18\x64", "a.lz4 is compressed with LZ4; expected plain, gzip or zstd input: `lz4 -dc a.lz4 | seedbank ingest BANK -`"),
        certain("a.pdf", *b"%PDF-1.7\n", "a.pdf is a PDF file; expected page records, one JSON object per line"),
        certain("le.jsonl", utf_16(&marked, le), "le.jsonl is UTF-16 text; expected UTF-8: `iconv -f UTF-16 -t UTF-8 le.jsonl | seedbank ingest BANK -`").made(1),
        certain("be.jsonl", utf_16(&marked, u16::to_be_bytes), "be.jsonl is UTF-16 text; expected UTF-8: `iconv -f UTF-16 -t UTF-8 be.jsonl | seedbank ingest BANK -`").made(1),
        certain("bare.jsonl", utf_16(RECORD, le), "bare.jsonl is UTF-16 text; expected UTF-8: `iconv -f UTF-16 -t UTF-8 bare.jsonl | seedbank ingest BANK -`").made(1),
        certain("wide.jsonl", utf_32, "wide.jsonl is UTF-32 text; expected UTF-8: `iconv -f UTF-32 -t UTF-8 wide.jsonl | seedbank ingest BANK -`").made(1),
        certain("a.warc", warc("response", "HTTP/1.1 200 OK"), "a.warc is a WARC file; omit --input, or use --input warc")
            .args(&["--input", "jsonl"]),
        certain("a.warc.gz", gzip(warc("warcinfo", "x").as_bytes()), "a.warc.gz is a WARC file; omit --input, or use --input warc")
            .args(&["--input", "links"]),
        certain("a.wat", wat(), "a.wat is a WAT file; omit --input, or use --input wat")
            .args(&["--input", "jsonl"]),
        certain("a.wat.gz", gzip(wat().as_bytes()), "a.wat.gz is a WAT file; omit --input, or use --input wat")
            .args(&["--input", "links"]),
        certain("b.warc", warc("response", "HTTP/1.1 200 OK"), "b.warc is a WARC file; omit --input, or use --input warc")
            .args(&["--input", "wat"]),
        certain("b.wat", wat(), "b.wat is a WAT file; omit --input, or use --input wat")
            .args(&["--input", "warc"]),
        certain("a.wet", warc("warcinfo", "x") + &warc("conversion", "words"), "a.wet is a WET file, which contains text but no links; use the WAT file of the same name"),
    ]
}

/// Texts, whose lines are read as records and are none.
fn texts() -> Vec<Wrong> {
    let no_json = "expected value at column 1";
    vec![
        certain("page.html", "<!DOCTYPE html>\n<html><body>x</body></html>\n", "page.html is an HTML page, which does not contain its own URL; give it as a record, or give the WARC file that contains it")
            .first(no_json),
        certain("page.xhtml", "<?xml version=\"1.0\"?>\n<html xmlns=\"x\"/>\n", "page.xhtml is an HTML page, which does not contain its own URL; give it as a record, or give the WARC file that contains it")
            .first(no_json),
        certain("sitemap.xml", SITEMAP, "sitemap.xml is a sitemap; omit --input, or use --input sitemap")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("sitemap.xml.gz", gzip(SITEMAP.as_bytes()), "sitemap.xml.gz is a sitemap; omit --input, or use --input sitemap")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("index.xml", "<sitemapindex><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>\n", "index.xml is a sitemap index, and the sitemaps that it lists are not fetched automatically; fetch them and give them without --input")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("feed.xml", "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"/>\n", "feed.xml is XML; expected page records, one JSON object per line")
            .first(no_json),
        certain("a.cdxj", "example,a)/ 20261119040000 {\"url\": \"http://a.example/\", \"status\": \"200\", \"digest\": \"D\"}\n", "a.cdxj is a CDXJ index; omit --input, or use --input cdxj")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("a.cdx", " CDX N b a m s k r M S V g\nexample,a)/ 20261119040000 http://a.example/ text/html 200 D - - 9 1 x.gz\n", "a.cdx is a CDX index; omit --input, or use --input cdx")
            .args(&["--input", "jsonl"]).first("expected value at column 2"),
        certain("bare.cdx", "example,a)/ 20261119040000 http://a.example/ text/html 200 D - - 9 1 x.gz\n", "bare.cdx is a CDX index; omit --input, or use --input cdx")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("array.json", "[{\"url\": \"http://a.example/\"}, {\"url\": \"http://b.example/\"}]\n", "array.json is a JSON array; omit --input, or use --input json")
            .args(&["--input", "jsonl"]).first("a record must be a JSON object"),
        certain("lines of array.json", "[\n  {\"url\": \"http://a.example/\"},\n  {\"url\": \"http://b.example/\"}\n]\n", "lines of array.json is a JSON array; omit --input, or use --input json")
            .args(&["--input", "jsonl"]).first("a record must be a JSON object"),
        certain("array.json.zst", zstd(b"[{\"url\": \"http://a.example/\"}]"), "array.json.zst is a JSON array; omit --input, or use --input json")
            .args(&["--input", "jsonl"]).first("a record must be a JSON object"),
        certain("pretty.json", "{\n  \"url\": \"http://a.example/\"\n}\n{\n  \"url\": \"http://b.example/\"\n}\n", "pretty.json is JSON with objects that are not one per line; omit --input, or use --input json")
            .args(&["--input", "jsonl"]).first("EOF while parsing an object at column 1"),
        certain("firehose.json", "{\"url\": \"http://a.example/\"}{\"url\": \"http://b.example/\"}", "firehose.json is JSON with objects that are not one per line; omit --input, or use --input json")
            .args(&["--input", "jsonl"]).first("trailing characters at column 29"),
        certain("strings.jsonl", "\"http://a.example/\"\n\"http://b.example/\"\n", "strings.jsonl has one JSON string per line; expected JSON objects: `jq -c '{url: .}' strings.jsonl | seedbank ingest BANK -`")
            .first("a record must be a JSON object").made(2),
        certain("urls.txt", "http://a.example/\nhttps://b.example/x\n", "urls.txt is a list of URLs, which are added as known pages; omit --input, or use --input urls")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("dos.txt", "# from the old crawler\r\nhttp://a.example/\r\n\r\nHTTP://b.example/x\r\n", "dos.txt is a list of URLs, which are added as known pages; omit --input, or use --input urls")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("nutch.txt", "http://a.example/\tnutch.score=1\n", "nutch.txt is a list of URLs, which are added as known pages; omit --input, or use --input urls")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("crawl.log", CRAWL_LOG, "crawl.log is a Heritrix crawl.log; omit --input, or use --input heritrix")
            .args(&["--input", "jsonl"]).first("a record must be a JSON object"),
        certain("skippedPages.jsonl", SKIPPED_PAGES, "skippedPages.jsonl is a list of pages of Browsertrix; omit --input, or use --input browsertrix")
            .args(&["--input", "jsonl"]).first("a record must have a url"),
        certain("part-r-00000", NUTCH_TEXT, "part-r-00000 is a Nutch dump; omit --input, or use --input nutch")
            .args(&["--input", "jsonl"]).first(no_json),
        certain("a.csv", "page,clicks\nhttp://a.example/,3\n", "a.csv is CSV; to read it, its first line must name the columns, including `url`; omit --input, or use --input csv")
            .first(no_json),
        certain("quoted.csv", "\"url\",\"clicks\"\n\"http://a.example/\",\"3\"\n", "quoted.csv is CSV; to read it, its first line must name the columns, including `url`; omit --input, or use --input csv")
            .args(&["--input", "jsonl"]).first("a record must be a JSON object"),
        certain("a b.csv.gz", gzip(b"loc;Last seen\nhttp://a.example/;1\n"), "a b.csv.gz is CSV with semicolons; to read it, its first line must name the columns, including `url`; omit --input, or use --input csv")
            .first(no_json),
        certain("a.tsv", "page\tclicks\nhttp://a.example/\t3\n", "a.tsv is a tab-separated table; to read it, its first line must name the columns, including `url`; omit --input, or use --input tsv")
            .first(no_json),
        certain("links.tsv", "http://a.example/\thttp://b.example/\n", "links.tsv is a list of links, two URLs per line; use --input links")
            .first(no_json),
        certain("links.txt", "http://a.example/ http://b.example/\n", "links.txt is a list of links with a space between the two URLs; --input links expects a tab: `sed 's/ /\\t/' links.txt | seedbank ingest BANK --input links -`")
            .first(no_json).made(1),
        certain("pages.tsv", "http://a.example/\t0\t3\t\n", "pages.tsv is a list of pages; use --input links, and give it with --pages")
            .first(no_json),
        certain("records.tsv", RECORD, "records.tsv is JSON Lines; omit --input, or use --input jsonl")
            .args(&["--input", "links"]).first("expected 2 columns, found 1"),
        certain("uk.properties", "#BVGraph properties\nnodes=3\n", "uk.properties is the properties file of a BV graph; use --input bvgraph, and give the name without its extension")
            .first(no_json),
        certain("noise", *b"\x01\0\x02\0\0\x03\n", "noise is not text; expected one JSON object per line")
            .first(no_json),
    ]
}

#[test]
fn what_an_input_is_is_told_with_what_to_do() {
    let place = Place::with_seeds();
    let before = place.state();
    let cases = [binary(), texts()];
    assert!(cases.iter().map(Vec::len).sum::<usize>() >= 50);
    for wrong in cases.iter().flatten() {
        let name = wrong.file;
        place.write(name, &wrong.bytes);
        let args = ["ingest", "bank", "--rejects", "bad", name];
        let error = place.run(&[&args[..], wrong.args].concat()).fails(3);
        let (said, hint) = error.trim_end().split_once("\nhint: ").unwrap();
        let hint = hint.strip_suffix("; the bad records are listed in bad");
        assert_eq!(hint.is_some(), !wrong.first.is_empty(), "{name}: {error}");
        let hint = hint.unwrap_or_else(|| error.trim_end().split_once("hint: ").unwrap().1);
        assert_eq!(hint, wrong.sentence, "{name}");
        let refused = "error: the batch was rejected; the bank is unchanged: ";
        assert!(said.starts_with(refused), "{name}: {said}");
        let first = if wrong.first.is_empty() {
            format!("{refused}{name} does not contain text records")
        } else {
            format!("; the first is line 1 of {name}: {}", wrong.first)
        };
        assert!(said.ends_with(&first), "{name}: {said}");
    }
    assert_eq!(place.state(), before);
}

/// Whether all programs of a shell's pipe are installed here.
fn is_installed(command: &str) -> bool {
    let mut programs = command.split(" | ").filter(|part| {
        // What stands in quotes may have bars too.
        part.starts_with(|c: char| c.is_ascii_lowercase())
    });
    programs.all(|part| {
        let program = part.split(' ').next().unwrap();
        program == "select" || program == "seedbank" || {
            let mut which = std::process::Command::new("sh");
            let which = which.args(["-c", &format!("command -v {program}")]);
            which.output().unwrap().status.success()
        }
    })
}

#[cfg(unix)]
#[test]
fn what_is_advised_makes_records() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_seedbank"));
    let folder = folder.parent().unwrap().to_str().unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let mut ran = 0;
    for wrong in [binary(), texts()].iter().flatten() {
        let Some(records) = wrong.made else { continue };
        let name = wrong.file;
        let command = wrong.sentence.split('`').nth(1).unwrap();
        if !is_installed(command) {
            let what = format!("the programs of `{command}`");
            skipped(name, &what, "install them");
            continue;
        }
        let place = Place::with_bank();
        place.write(name, &wrong.bytes);
        let command = command.replace("BANK", "bank --format json");
        let mut shell = crate::support::command::clean("sh");
        shell.args(["-c", &command]).env("PATH", &path);
        let report = place.run_command(&mut shell).json();
        assert_eq!(report["read"]["records"], records, "{name}: {report}");
        assert_eq!(report["read"]["rejects"], json!({}), "{name}: {report}");
        ran += 1;
    }
    assert!(ran > 5, "grep, sed, tar and iconv are everywhere");
}

#[test]
fn a_list_from_standard_input_is_told_as_well() {
    let place = Place::with_bank();
    let args = ["ingest", "bank", "--rejects", "bad", "-"];
    let of_lines = [&args[..], &["--input", "jsonl"]].concat();
    let error = place
        .run_with(&of_lines, b"[{\"url\": \"http://a.example/\"}]")
        .fails(3);
    let words = "hint: standard input is a JSON array; omit --input, or use --input json; the bad records are listed in bad\n";
    assert!(error.ends_with(words), "{error}");
    let args = ["ingest", "bank", "--input", "jsonl", "-"];
    let error = place.run_with(&args, b"PAR1\x15").fails(3);
    assert!(
        error.contains("standard input is a Parquet file"),
        "{error}"
    );
}

/// Fields under another name, of a refusal and of a batch that is taken.
#[test]
fn a_field_under_another_name_is_proposed() {
    let place = Place::with_bank();
    let refused: &[(&str, &str)] = &[
        (
            "{\"uri\": \"http://a.example/\"}",
            "uri: did you mean url? ",
        ),
        (
            "{\"ulr\": \"http://a.example/\"}",
            "ulr: did you mean url? ",
        ),
        (
            "{\"loc\": \"http://a.example/\", \"links\": []}",
            "links: did you mean outlinks? loc: did you mean url? ",
        ),
        (
            "{\"WARC-Target-URI\": \"http://a.example/\"}",
            "WARC-Target-URI: did you mean url? ",
        ),
        (
            "{\"page\": {\"url\": \"http://a.example/\"}, \"title\": 1}",
            "page: did you mean url? ",
        ),
        ("{\"record\": {\"url\": \"http://a.example/\"}}", ""),
        (
            "{\"url\": \"a.example/\", \"link\": 1, \"hash\": 2}",
            "hash: did you mean digest? ",
        ),
    ];
    for (line, proposals) in refused {
        let args = ["ingest", "bank", "--rejects", "bad", "-"];
        let error = place.run_with(&args, line.as_bytes()).fails(3);
        let words = format!(
            "\nhint: {proposals}they are listed in bad; fix the input, or raise --max-rejects\n"
        );
        assert!(error.ends_with(&words), "{line}: {error}");
    }
    let taken: &[(&str, &str)] = &[
        ("links", "links 1 (did you mean outlinks?)"),
        ("timestamp", "timestamp 1 (did you mean fetched?)"),
        ("title", "title 1"),
        // The record has its url.
        ("uri", "uri 1"),
    ];
    for (field, words) in taken {
        let record = json!({"url": "http://a.example/", *field: 1}).to_string();
        let args = ["ingest", "bank", "--dry-run", "-"];
        let ended = place.run_with(&args, record.as_bytes());
        let warning = format!("warning: unknown fields were ignored: {words}\n");
        assert_eq!(ended.err, warning);
        ended.done();
    }
}

#[test]
fn bad_records_are_told_by_reason_with_the_first() {
    let place = Place::with_bank();
    let good = json!({"url": "http://a.example/", "clicks": 1}).to_string();
    let no_time = json!({"url": "http://a.example/", "fetched": 1_795_060_800_000_u64});
    let lines: [&str; 6] = [&good, &no_time.to_string(), "", "{}", "{}", "x"];
    place.write("day.jsonl", lines.join("\n"));
    let error = place
        .run(&["ingest", "bank", "day.jsonl", "--rejects", "bad"])
        .fails(3);
    let words = "error: the batch was rejected; the bank is unchanged: 4 of 5 records are bad, expected at most 1 %: invalid_json 1, missing_url 2, invalid_timestamp 1; the first is line 2 of day.jsonl: fetched: expected a number of 14 digits (YYYYMMDDhhmmss), or seconds since 1970 with up to 11 digits but not 8, found 13 digits; milliseconds are not accepted\n";
    assert!(error.starts_with(words), "{error}");
    // The record that it speaks of is the first of the list.
    let list = std::fs::read_to_string(place.path("bad")).unwrap();
    let first: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["line"], &first["file"]),
        (&2.into(), &"day.jsonl".into())
    );
}
