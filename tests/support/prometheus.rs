//! The Prometheus text format, parsed strictly, and checked by `promtool` where it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use super::skipped::skipped;

/// Samples by name and labels.
pub type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

/// Whether a text is a name: a letter or `_`, then also digits.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The labels between braces, and what follows them.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(is_name(name), "{text}");
        let mut value = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next().unwrap() {
                (_, '\\') => value.push(match characters.next().unwrap().1 {
                    'n' => '\n',
                    same @ ('\\' | '"') => same,
                    other => panic!("\\{other} in {text}"),
                }),
                (at, '"') => break at,
                (_, c) => value.push(c),
            }
        };
        assert_eq!(labels.insert(name.to_owned(), value), None, "{text}");
        rest = &after[end + 1..];
        match rest.split_at(1) {
            (",", more) => rest = more,
            ("}", more) => return (labels, more),
            _ => panic!("{text}"),
        }
    }
}

/// Reads the text by the rules of the format, and by those for names.
pub fn parsed(text: &str) -> Samples {
    assert!(text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'));
    let mut samples = Samples::new();
    let mut families = BTreeSet::new();
    // The family that the next lines are of: its name, its kind, and how many samples it has.
    let mut family: Option<(String, String, usize)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(about) = line.strip_prefix("# HELP ") {
            assert!(family.is_none_or(|(_, _, count)| count > 0), "{line}");
            let (name, help) = about.split_once(' ').unwrap();
            assert!(is_name(name) && help.ends_with('.'), "{line}");
            let kind = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
            let (same, kind) = kind.split_once(' ').unwrap();
            assert_eq!(same, name);
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            let no_unit = ["_ms", "_minutes", "_kb", "_percent", "_count", "_sum"];
            assert!(!no_unit.iter().any(|end| name.ends_with(end)), "{name}");
            assert!(name.starts_with("seedbank_"), "{name}");
            assert!(families.insert(name.to_owned()), "{name} is in two pieces");
            family = Some((name.to_owned(), kind.to_owned(), 0));
            continue;
        }
        let (family, kind, count) = family.as_mut().unwrap();
        let mut rest = line.strip_prefix(family.as_str()).unwrap();
        let mut name = family.clone();
        if kind == "histogram" {
            let ends = ["_bucket", "_sum", "_count"];
            let end = ends.iter().find(|end| rest.starts_with(**end)).unwrap();
            name += end;
            rest = &rest[end.len()..];
        }
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(inside) => labels(inside),
            None => (BTreeMap::new(), rest),
        };
        let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        assert!(kind != "counter" || value.fract() == 0.0, "{line}");
        let before = samples.insert((name, labels), value);
        assert_eq!(before, None, "{line} is there twice");
        *count += 1;
    }
    assert!(family.is_some_and(|(_, _, count)| count > 0));
    samples
}

/// What Prometheus's own tool says of the text, where it is installed.
pub fn judged_by_promtool(text: &str) {
    let started = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = started else {
        skipped("metrics", "promtool", "apt-get install prometheus");
        return;
    };
    let mut pipe = promtool.stdin.take().unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    drop(pipe);
    let judged = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&judged.stderr).into_owned();
    assert!(judged.status.success() && said.is_empty(), "{said}\n{text}");
}

/// The value of a sample without the prefix `seedbank_`.
#[track_caller]
pub fn of(samples: &Samples, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels = labels
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    samples[&(format!("seedbank_{name}"), labels.collect())]
}
