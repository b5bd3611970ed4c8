//! Batches as text files in `cases`, each with what it reports and which lines of an export it changes.
//!
//! * `cases/read`: inputs of every format: wrong positions, reasons, messages and counts, an invalid record that costs more
//!   than itself, an error that does not say what the input is;
//! * `cases/bank`: several batches and other changes of a bank: rules about times, failures, aliases, sums and seeds that one
//!   of them breaks.
//!
//! After every step `check` must find nothing, and at the end a bank made from the export must give the same export.
//! `SEEDBANK_WRITE_TEXTS=1 cargo nextest run --test ingest cases::` rewrites what follows `--` in each case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use crate::support;
use crate::support::histories::{exported, made_of};
use crate::support::model::{assert_clean, pages_of};
use crate::support::texts::{check_files, short_form};
use crate::support::warc;
use crate::support::wat::{self, Capture};
use seedbank::engine::evaluate::ActualRequest;
use seedbank::engine::ingest::{ForgetRequest, Format};
use seedbank::engine::query::PageLimits;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{Input, Naming};
use serde_json::Value;

#[test]
fn inputs_are_read_as_their_files_say() {
    check_files("tests/ingest/cases/read", run);
}

#[test]
fn batches_change_banks_as_their_files_say() {
    check_files("tests/ingest/cases/bank", run);
}

/// Runs the steps of a case; lines of input are indented.
fn run(lines: &[&str]) -> String {
    let mut steps = Steps::new();
    for step in lines.chunk_by(|_, next| next.starts_with("  ")) {
        let input: Vec<&str> = step[1..].iter().map(|line| &line[2..]).collect();
        let words: Vec<String> = step[0].split(' ').map(long_form).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        steps.step(&words, &input);
    }
    let (_folder, other) = made_of(&steps.bank);
    assert_eq!(
        String::from_utf8(exported(&other)),
        String::from_utf8(exported(&steps.bank)),
        "a bank made from the export"
    );
    short_form(&steps.shown)
}

/// The bytes that a line of a case stands for: text after `|` (with a line end) or `:` (without one), text repeated by
/// `*N`, or a record of a web archive.
fn input_bytes(line: &str) -> Vec<u8> {
    if let Some(text) = line.strip_prefix('|') {
        return unescaped(&format!("{text}\\n"));
    }
    if let Some(text) = line.strip_prefix(':') {
        return unescaped(text);
    }
    if let Some(repeated) = line.strip_prefix('*') {
        let (count, text) = repeated.split_once(' ').unwrap();
        return unescaped(text).repeat(count.parse().unwrap());
    }
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let parts: Vec<Vec<u8>> = rest.split(" | ").map(unescaped).collect();
    let part = |at: usize| parts.get(at).map_or(&[][..], |part| part);
    let text = |at: usize| String::from_utf8(part(at).to_vec()).unwrap();
    match kind {
        "warcinfo" => warc::warcinfo(),
        "page" => warc::page(&text(0), &text(1)),
        "answer" => warc::answer(&text(0), &(text(1) + "\n"), part(2)),
        "notes" => warc::notes(&text(0), &text(1)),
        "record" => warc::record(&text(0), &text(1).replace('\n', "\r\n"), part(2)),
        "metadata" => wat::record(&text(0), "application/json", part(1)),
        "wat" => wat::records(&[Capture::of(&text(0), &["/b"])]).concat(),
        "wat-answer" => {
            let location = parts.get(2).map(|_| text(2));
            let capture =
                Capture::answered(&text(0), text(1).parse().unwrap(), location.as_deref());
            wat::metadata(&capture.response())
        }
        // A response whose metadata has another value at a place.
        "put" => {
            let mut capture = Capture::of("http://a.example/bad", &["/b"]);
            let html = capture.html.as_mut().unwrap();
            (html.base, html.canonical) = (Some("/".to_owned()), Some("/c".to_owned()));
            html.robots = Some("none".to_owned());
            let mut response = capture.response();
            let http = "/Envelope/Payload-Metadata/HTTP-Response-Metadata";
            let place = text(0);
            let place = place.replace("HTTP/", &format!("{http}/"));
            let place = place.replace("HTML/", &format!("{http}/HTML-Metadata/"));
            let place = place.replace("WARC/", "/Envelope/WARC-Header-Metadata/");
            *response.pointer_mut(&place).expect(&place) = serde_json::from_str(&text(1)).unwrap();
            wat::metadata(&response)
        }
        _ => panic!("unknown kind of input: {line}"),
    }
}

/// Replaces `\n`, `\r`, `\t`, `\\` and `\xNN`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let code = rest[0];
        rest = &rest[1..];
        bytes.push(match code {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let (digits, after) = rest.split_at(2);
                rest = after;
                u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    bytes
}

/// Appends the names and values of all numbers but zero.
fn add_numbers(shown: &mut String, value: &Value) {
    let fields: BTreeMap<&String, &Value> = value.as_object().into_iter().flatten().collect();
    for (name, value) in fields {
        match value {
            Value::Object(_) => {
                let mut inner = String::new();
                add_numbers(&mut inner, value);
                if !inner.is_empty() {
                    write!(shown, " {name}:{inner};").unwrap();
                }
            }
            Value::Number(number) if number.as_f64() != Some(0.0) => {
                write!(shown, " {name} {number}").unwrap();
            }
            Value::Bool(true) => write!(shown, " {name}").unwrap(),
            _ => {}
        }
    }
}

/// The time of `T` in cases of banks: 2026-11-19T11:00:00Z.
const NOON: u64 = 1_795_086_000;

/// Replaces `<a>` by `http://a.example/`, `<a/x>` by `http://a.example/x`, and times relative to noon, `"T+5"` in
/// seconds or `"T+5d"` in days, by numbers.
fn long_form(text: &str) -> String {
    let mut long = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '"']) {
        let (before, after) = rest.split_at(at);
        long.push_str(before);
        let name = after
            .strip_prefix('<')
            .and_then(|rest| rest.split_once('>'));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '/';
        if let Some((name, after)) = name.filter(|(name, _)| name.chars().all(is_name)) {
            let (host, path) = name.split_once('/').unwrap_or((name, ""));
            write!(long, "http://{host}.example/{path}").unwrap();
            rest = after;
        } else if let Some((time, after)) = after
            .strip_prefix("\"T")
            .and_then(|rest| rest.split_once('"'))
        {
            write!(long, "{}", time_after_noon(time)).unwrap();
            rest = after;
        } else {
            long.push_str(&after[..1]);
            rest = &after[1..];
        }
    }
    long + rest
}

fn time_after_noon(text: &str) -> u64 {
    let (number, unit) = text
        .strip_suffix('d')
        .map_or((text, 1), |number| (number, 86_400));
    let number: i64 = if number.is_empty() {
        0
    } else {
        number.parse().unwrap()
    };
    NOON.checked_add_signed(number * unit).unwrap()
}

/// The numbers of a report but zero, and the rejected and stale records.
fn shown_report(report: IngestReport, lists: bool) -> String {
    let mut shown = String::new();
    let list = report.rejects_file.as_ref().filter(|_| lists);
    let list = list.map_or(String::new(), |list| fs::read_to_string(list).unwrap());
    for reject in list.lines() {
        let reject: Value = serde_json::from_str(reject).unwrap();
        let text = |name: &str| reject[name].as_str().unwrap_or_default();
        let at = reject.get("line").or(reject.get("number"));
        let (file, at) = (
            text("file").rsplit('/').next().unwrap(),
            at.unwrap_or(&Value::Null),
        );
        let record: String = text("record").chars().take(60).collect();
        let record = record.escape_debug();
        writeln!(
            shown,
            "{} {at} of {file}: {}: {record}",
            text("reason"),
            text("detail")
        )
        .unwrap();
    }
    let mut report = serde_json::to_value(report).unwrap();
    let fields = report.as_object_mut().unwrap();
    for field in ["seconds", "sites", "clock", "rejects_listed"] {
        fields.remove(field);
    }
    let mut read = fields.remove("read").unwrap();
    read.as_object_mut().unwrap().remove("bytes");
    shown.push('=');
    add_numbers(&mut shown, &report);
    shown.push_str("; read:");
    add_numbers(&mut shown, &read);
    shown + "\n"
}

/// A bank that the steps of a case change.
struct Steps {
    folder: tempfile::TempDir,
    bank: Bank,
    export: BTreeSet<String>,
    shown: String,
}

impl Steps {
    fn new() -> Self {
        let folder = support::scratch();
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        Self {
            folder,
            bank,
            export: BTreeSet::new(),
            shown: String::new(),
        }
    }

    fn step(&mut self, words: &[&str], input: &[&str]) {
        writeln!(self.shown, "> {}", words.join(" ")).unwrap();
        match words {
            ["batch" | "snapshot" | "dry-run", options @ ..] => {
                self.ingest(words[0], options, input);
            }
            ["undo"] => {
                self.bank.undo(false, 64 << 20).unwrap();
            }
            ["forget", what, block @ ..] => {
                let request = ForgetRequest {
                    what: vec![(*what).to_owned()],
                    block: block == ["block"],
                    ..ForgetRequest::default()
                };
                self.bank.forget(&request).unwrap();
            }
            ["page", url] => self.show_page(url),
            ["seeds"] => self.show_seeds(),
            ["not", "exported"] => {}
            _ => panic!("unknown step {words:?}"),
        }
        assert_clean(&self.bank);
        self.show_changes();
    }

    /// Ingests a batch of one input, or of several that lines `--` part; options follow the kind of the batch. Of several
    /// formats each must read the same.
    fn ingest(&mut self, kind: &str, options: &[&str], lines: &[&str]) {
        let option = |name: &str| options.iter().find_map(|word| word.strip_prefix(name));
        let formats = option("input=").unwrap_or("jsonl");
        let file = |name: &str, bytes: Vec<u8>| {
            let path = self.folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            Input::File(path)
        };
        let is_archive = formats.contains("wa");
        let bytes = |line: &&str| {
            if is_archive || line.starts_with(['|', ':', '*']) {
                input_bytes(line)
            } else {
                [unescaped(&long_form(line)), b"\n".to_vec()].concat()
            }
        };
        let (sites, lines): (Vec<&str>, Vec<&str>) =
            lines.iter().partition(|line| line.starts_with("{\"site\""));
        // The lists of a graph of Common Crawl, by the first letter of their lines; `+` begins another part.
        let list = |letter: char| {
            let mut parts = vec![Vec::new()];
            for line in lines.iter().filter_map(|line| line.strip_prefix(letter)) {
                match line {
                    "+" => parts.push(Vec::new()),
                    _ => parts.last_mut().unwrap().extend(input_bytes(line)),
                }
            }
            let parts = parts.into_iter().enumerate();
            parts
                .map(|(at, bytes)| file(&format!("{letter}-{at}"), bytes))
                .collect::<Vec<Input>>()
        };
        let inputs = lines
            .split(|line| *line == "--")
            .enumerate()
            .map(|(at, lines)| {
                file(
                    &format!("input-{at}"),
                    lines.iter().flat_map(bytes).collect(),
                )
            });
        let request = |format: &str| IngestRequest {
            inputs: if format == "ccgraph" {
                list('e')
            } else {
                inputs.clone().collect()
            },
            format: match format {
                "ccgraph" => Format::CcGraph {
                    vertices: list('v'),
                    ranks: list('r'),
                },
                _ => Format::named(format).unwrap(),
            },
            sites: (!sites.is_empty())
                .then(|| file("sites", sites.iter().flat_map(bytes).collect())),
            snapshot: kind == "snapshot",
            dry_run: kind == "dry-run",
            as_of: Some(option("at=").map_or(NOON, |time| time_after_noon(&time[1..]))),
            memory: option("memory=").map_or(64 << 20, |bytes| bytes.parse().unwrap()),
            again: options.contains(&"again"),
            learn_from_bulk: options.contains(&"learn"),
            max_loss: 100.0,
            max_rejects: 100.0,
            ..IngestRequest::default()
        };
        let mut reports: Vec<String> = Vec::new();
        for (at, format) in formats.split(',').enumerate() {
            let request = IngestRequest {
                dry_run: kind == "dry-run" || at > 0,
                again: at > 0 || options.contains(&"again"),
                ..request(format)
            };
            reports.push(match self.bank.ingest(&request) {
                Ok(report) => shown_report(report, at == 0),
                Err(error) => {
                    // The innermost cause; what is around it is the same for all of them.
                    let mut cause: &dyn std::error::Error = &error;
                    while let Some(source) = cause.source() {
                        cause = source;
                    }
                    let error = cause.to_string();
                    // The folder of the inputs differs from run to run.
                    let words = error
                        .split(' ')
                        .map(|word| word.rsplit('/').next().unwrap());
                    format!("error: {}\n", words.collect::<Vec<_>>().join(" "))
                }
            });
        }
        let (first, others) = reports.split_first().unwrap();
        let read = |report: &str| report.split_once("read:").map(|(_, read)| read.to_owned());
        assert!(
            others.iter().all(|other| read(other) == read(first)),
            "{reports:#?}"
        );
        self.shown.push_str(first);
    }

    fn show_page(&mut self, url: &str) {
        let Some(page) = pages_of(&self.bank).remove(url) else {
            return writeln!(self.shown, "not in the bank").unwrap();
        };
        let facts = self.bank.page(url, PageLimits::default()).unwrap();
        assert_eq!((facts.state, facts.fetched), (page.state, page.fetched));
        let facts = serde_json::to_value(facts).unwrap();
        write!(self.shown, "{}", facts["state"].as_str().unwrap()).unwrap();
        for field in ["fetched", "failures", "yields", "origin", "spam"] {
            if !facts[field].is_null() && facts[field] != false {
                write!(self.shown, " {field} {}", facts[field]).unwrap();
            }
        }
        writeln!(self.shown).unwrap();
    }

    /// Shows the fetches that are attributed to seeds, and the others.
    fn show_seeds(&mut self) {
        let actual = self
            .bank
            .evaluate_actual(&ActualRequest::default())
            .unwrap();
        for row in &actual.others {
            let mut line = row.url.clone();
            add_numbers(&mut line, &serde_json::to_value(row.counts).unwrap());
            writeln!(self.shown, "{line}").unwrap();
        }
        let mut line = "forgotten:".to_owned();
        add_numbers(&mut line, &serde_json::to_value(actual.forgotten).unwrap());
        line.push_str("; without a seed:");
        add_numbers(
            &mut line,
            &serde_json::to_value(actual.unattributed).unwrap(),
        );
        writeln!(self.shown, "{line}").unwrap();
    }

    /// Shows which lines of an export the last step took away and added.
    fn show_changes(&mut self) {
        let export = String::from_utf8(exported(&self.bank)).unwrap();
        let export: BTreeSet<String> = export.lines().map(str::to_owned).collect();
        for line in self.export.difference(&export) {
            writeln!(self.shown, "- {line}").unwrap();
        }
        for line in export.difference(&self.export) {
            writeln!(self.shown, "+ {line}").unwrap();
        }
        self.export = export;
    }
}
