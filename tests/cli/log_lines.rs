//! Standard error as lines of JSON.
//!
//! Bug classes: a line that is not JSON, above all for an error that occurs before the flag is parsed;
//! a lost exit status or hint; JSON on standard output instead.

use std::fs;

use serde_json::Value;

use crate::support::command::{Ended, Place};
use crate::support::schemas::fits;

/// The lines of standard error, which must all be JSON that the schema allows.
#[track_caller]
fn lines(ended: &Ended) -> Vec<Value> {
    let lines = ended.err.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    for line in &lines {
        fits("log", line);
        // 2026-11-19T04:00:00.123Z
        let time = line["timestamp"].as_str().unwrap();
        assert_eq!((time.len(), time.ends_with('Z')), (24, true), "{time}");
    }
    lines
}

/// The one line of standard error.
#[track_caller]
fn line(ended: &Ended) -> Value {
    let mut lines = lines(ended);
    assert_eq!(lines.len(), 1, "{ended:?}");
    lines.remove(0)
}

/// The same command with text and with JSON: the same status, the same words.
#[track_caller]
fn says_the_same(place: &Place, args: &[&str]) -> Value {
    let text = place.run(args);
    let json = place.run(&[args, &["--log-format", "json"]].concat());
    assert_eq!(text.status, json.status, "{args:?}");
    assert_eq!(text.out.is_empty(), json.out.is_empty(), "{args:?}");
    let line = line(&json);
    let message = line["message"].as_str().unwrap();
    assert!(text.err.contains(message), "{args:?}: {text:?} {line}");
    if let Some(hint) = line["hint"].as_str() {
        assert!(text.err.contains(hint), "{args:?}: {text:?} {line}");
    }
    assert_eq!(line["hint"].is_string(), text.err.contains("\nhint: "));
    let failed = json.status.filter(|_| line["level"] == "error");
    assert_eq!(
        line.get("exit_status").and_then(Value::as_i64),
        failed.map(i64::from)
    );
    line
}

#[test]
fn what_a_command_says_is_a_line_of_json() {
    let place = Place::with_seeds();
    place.write("bad.jsonl", "no\n");
    place.write(
        "odd.jsonl",
        "{\"url\": \"http://a.example/\", \"odd\": 1}\n",
    );
    for (level, args) in [
        ("error", &["status", "nobank"][..]),
        ("error", &["refresh", "bank", "--plan", "none"]),
        (
            "error",
            &["ingest", "bank", "bad.jsonl", "--rejects", "r.jsonl"],
        ),
        ("error", &["page", "bank", "http://no.example/"]),
        ("warn", &["ingest", "bank", "odd.jsonl", "--dry-run"]),
        ("info", &["seeds", "bank", "--if-changed"]),
    ] {
        let line = says_the_same(&place, args);
        assert_eq!(line["level"], level, "{args:?}");
    }
    let quiet = ["ingest", "bank", "odd.jsonl", "--log-format", "json", "-q"];
    assert_eq!(place.run(&quiet).err, "");
    // A status without an error has none in its line.
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let same = ["seeds", "bank", "--if-changed"];
    assert_eq!(says_the_same(&place, &same)["level"], "info");
    assert_eq!(place.run(&same).status, Some(5));
}

#[test]
fn arguments_that_cannot_be_parsed_are_lines_too() {
    let place = Place::with_seeds();
    let told = |ended: Ended, words: &str| {
        assert_eq!((ended.status, &*ended.out), (Some(2), ""), "{ended:?}");
        let line = line(&ended);
        assert_eq!(
            (&line["level"], &line["exit_status"]),
            (&"error".into(), &2.into())
        );
        let message = line["message"].as_str().unwrap();
        assert!(
            message.contains(words) && !message.contains("error:"),
            "{line}"
        );
        line["hint"].as_str().unwrap().to_owned()
    };
    for args in [
        &["--log-format", "json", "seeds", "bank", "--lmit", "3"][..],
        &["seeds", "bank", "--lmit", "3", "--log-format=json"],
        &["seeds", "--lmit", "3", "bank", "--log-format", "json"],
    ] {
        let hint = told(place.run(args), "unexpected argument '--lmit'");
        assert!(hint.contains("'--limit'"), "{hint}");
    }
    let mut command = place.command(&["seeds"]);
    command.env("SEEDBANK_LOG_FORMAT", "json");
    let hint = told(place.run_command(&mut command), "not provided: <BANK>");
    assert!(hint.contains("Usage: seedbank seeds"), "{hint}");
    // A flag beats the environment.
    let mut command = place.command(&["seeds", "--log-format", "text"]);
    command.env("SEEDBANK_LOG_FORMAT", "json");
    place.run_command(&mut command).fails(2);
    let none = place
        .run(&["seeds", "bank", "--log-format", "xml"])
        .fails(2);
    assert!(none.contains("text, json"), "{none}");
    let help = place.run(&["seeds", "--help", "--log-format", "json"]);
    assert_eq!(help.err, "");
    assert!(help.done().starts_with("Print the seeds"));
}

#[test]
fn log_messages_are_lines_with_fields() {
    let place = Place::with_seeds();
    let ended = place.run(&["check", "bank", "-vv", "--log-format", "json"]);
    let stages = lines(&ended);
    assert!(!stages.is_empty());
    for line in stages {
        assert_eq!(
            (&line["level"], &line["message"]),
            (&"debug".into(), &"stage".into())
        );
        assert!(line["fields"]["name"].is_string() && line["target"].is_string());
    }
    ended.done();
    // What the library only knows the kind of comes with what to do about it.
    fs::write(place.path("bank/ACKNOWLEDGED"), "damaged").unwrap();
    let line = says_the_same_but_for_the_form(&place);
    assert_eq!(line["level"], "warn");
    assert_eq!(line["hint"], "`seedbank repair` repairs it");
    assert_eq!(line.get("fields"), None);
}

/// `status` of a bank about which the log has one message.
fn says_the_same_but_for_the_form(place: &Place) -> Value {
    let text = place.run(&["status", "bank"]).err;
    let json = place.run(&["status", "bank", "--log-format", "json"]);
    let line = line(&json);
    for said in ["message", "hint"] {
        assert!(text.contains(line[said].as_str().unwrap()), "{text} {line}");
    }
    line
}
