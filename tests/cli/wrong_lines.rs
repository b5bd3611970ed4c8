//! Wrong command lines as users type them, each with what it prints, in `tests/cli/wrong_lines.txt`: a
//! changed message shows up in the diff of that file. No line may change a bank.
//!
//! The file is also the list of the lines: each begins with `$ `, and the exit status and the output follow.
//! To add one, add it to the file;
//! `SEEDBANK_WRITE_TEXTS=1 cargo nextest run --test cli wrong_lines` writes what it prints.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use seedbank::watch::Unwatched;
use seedbank_store::Writer;

use crate::support::command::{Place, TWO_CORES, clean, record};
use crate::support::skipped::skipped;

/// The file with the lines and what they print.
const LINES: &str = "tests/cli/wrong_lines.txt";

/// Prepares banks and files that lines name.
fn place() -> Place {
    let place = Place::with_seeds();
    let ok = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        place.run(&args).done();
    };
    ok("refresh bank --plan sites --method max-weight --per-site 1 --hops 2");
    ok("init empty");
    ok("init fresh");
    ok("ingest fresh day0.jsonl --name day0");
    ok("init undone");
    ok("ingest undone day0.jsonl --name day0");
    ok("undo undone");
    ok("backup bank backups");
    fs::create_dir(place.path("folder")).unwrap();
    for (name, text) in [
        ("folder/letter.txt", "Dear reader\n"),
        ("letter.txt", "Dear reader,\nthis is no crawl.\n"),
        ("nothing.jsonl", ""),
        (
            "bad.jsonl",
            "{\"url\": \"http://a.example/\", \"outlinks\": 7}\n{\"url\": 3}\n",
        ),
        ("uri.jsonl", "{\"uri\": \"http://a.example/\"}\n"),
        (
            "dates.jsonl",
            "{\"url\": \"http://a.example/\", \"fetched\": \"yesterday\"}\n",
        ),
        (
            "links.tsv",
            "http://a.example/\thttp://b.example/\nhttp://b.example/\thttp://c.example/\n",
        ),
        (
            "spaces.txt",
            "http://a.example/ http://b.example/\nhttp://b.example/ http://c.example/\n",
        ),
        ("table.csv", "address,title\nhttp://a.example/,A\n"),
        (
            "page.html",
            "<!doctype html>\n<title>A page</title>\n<a href=\"/b\">b</a>\n",
        ),
        ("bad.toml", "seeds = \"many\"\n"),
        ("unknown.toml", "sedes = 30\n"),
        ("expressions.txt", "*.pdf\nre:(unclosed\n"),
        ("words.txt", "http://h1.example/\nnot a URL\n"),
    ] {
        place.write(name, text);
    }
    let gone: String = (1..4)
        .map(|n| record(&format!("http://other{n}.example/"), &[]))
        .collect();
    place.write("other.jsonl", gone);
    // A file that a broken connection cut short.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TWO_CORES.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    place.write("cut.jsonl.gz", &bytes[..bytes.len() / 2]);
    place.write("locked.jsonl", TWO_CORES);
    for (name, mode) in [
        ("locked.jsonl", 0o000),
        ("locked", 0o000),
        ("sealed", 0o555),
    ] {
        let path = place.path(name);
        if !path.exists() {
            fs::create_dir(&path).unwrap();
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    place
}

/// The program that takes the permissions of the superuser away from a command, or none for other users.
/// `Err` if it is needed and missing.
fn wrapper() -> Result<Vec<&'static str>, ()> {
    if permissions_are_ignored() {
        let drop = vec!["setpriv", "--inh-caps=-all", "--bounding-set=-all"];
        let works = Command::new(drop[0]).args(&drop[1..]).arg("true").status();
        return match works {
            Ok(status) if status.success() => Ok(drop),
            _ => Err(()),
        };
    }
    Ok(Vec::new())
}

/// Whether a file without permissions can be read anyway.
fn permissions_are_ignored() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    fs::read(&file).is_ok()
}

/// Types a line into a shell; returns the exit status and all output.
fn typed(place: &Place, wrapper: &[&str], line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_seedbank"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let words = [wrapper, &["sh", "-c", line]].concat();
    let ended = clean(words[0])
        .args(&words[1..])
        .env("PATH", path)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let told = [ended.stdout, ended.stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert!(!told.contains("panicked"), "{line}: {told}");
    format!(
        "status {}\n{}\n",
        ended.status.code().unwrap(),
        told.trim_end()
    )
}

#[test]
fn wrong_lines_are_answered_as_they_were_reviewed() {
    let Ok(wrapper) = wrapper() else {
        skipped(
            "wrong_lines",
            "a user without privileges, or setpriv",
            "run the tests as another user",
        );
        return;
    };
    let place = place();
    // Holds a bank while the lines are typed.
    place.run(&["init", "busy"]).done();
    place.run(&["ingest", "busy", "day0.jsonl"]).done();
    let writer = Writer::open(&place.path("busy"), false, &Unwatched).unwrap();
    let before = place.state();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(LINES);
    let wanted = fs::read_to_string(&golden).unwrap();
    let mut text = String::new();
    let mut lines = 0;
    for line in wanted.lines() {
        // The lines and the headings are kept; what follows them is written anew.
        if let Some(typed_line) = line.strip_prefix("$ ") {
            lines += 1;
            let told = typed(&place, &wrapper, typed_line);
            writeln!(text, "{line}\n{told}").unwrap();
        } else if line.starts_with('#') {
            writeln!(text, "{line}\n").unwrap();
        }
    }
    drop(writer);
    assert_eq!(place.state(), before);
    let text = format!("{}\n", text.trim_end());
    if std::env::var_os("SEEDBANK_WRITE_TEXTS").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    assert!(lines >= 60, "only {lines} lines");
    let blocks = |text: &str| -> Vec<String> { text.split("\n\n").map(str::to_owned).collect() };
    let differ: Vec<_> = blocks(&wanted)
        .into_iter()
        .zip(blocks(&text))
        .filter(|(wanted, told)| wanted != told)
        .collect();
    assert!(
        wanted == text,
        "not the texts of {LINES} (SEEDBANK_WRITE_TEXTS=1 writes it anew): {differ:#?}"
    );
}
