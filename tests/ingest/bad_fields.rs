//! A batch with fields that cannot be read gives what the same batch without these fields gives, and a truncated file that is
//! kept a prefix of the whole.
//!
//! Catches: a field that changes another or takes its record with it, a field that is not counted or not listed, a format with
//! rules of its own; a record made of the end of a truncated file, a truncated file that is not counted.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::LazyLock;

use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Naming, ReadOptions, Reject};

use crate::damages::good_inputs;
use crate::support::properties::repeatable;
use crate::support::wat::{Events, read, read_with};

/// The fields that a test varies, with a good value as JSON and bad ones.
const FIELDS: [(&str, &str, &[&str]); 9] = [
    ("clicks", "3", &["-1", "\"x\"", "1.5", "1e300"]),
    ("quality", "0.5", &["2", "-0.1", "\"good\""]),
    ("spam", "true", &["7", "\"no\""]),
    ("digest", "\"d\"", &["[]", "{}"]),
    (
        "fetched",
        "\"2026-07-01T00:00:00Z\"",
        &["\"soon\"", "true", "\"2137-01-01T00:00:00Z\""],
    ),
    (
        "seed",
        "\"http://s.example/\"",
        &["\"here\"", "\"ftp://s.example/\""],
    ),
    ("depth", "2", &["-2", "\"deep\""]),
    ("status", "200", &["\"fine\"", "99"]),
    ("redirect", "\"http://r.example/\"", &["[1]"]),
];

/// For each field of a record: absent, good, or one of the bad values.
fn a_record() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => 0..2_usize, 1 => 2..6_usize], FIELDS.len())
}

/// The values of a record, with or without its bad fields; `None` for one that is absent.
fn values(record: &[usize], with_bad: bool) -> Vec<Option<&'static str>> {
    let values = record
        .iter()
        .zip(FIELDS)
        .map(|(choice, (_, good, bad))| match choice {
            0 => None,
            1 => Some(good),
            choice => with_bad.then(|| bad[choice % bad.len()]),
        });
    values.collect()
}

fn json(records: &[Vec<usize>], with_bad: bool) -> Vec<String> {
    let line = |(number, record): (usize, &Vec<usize>)| {
        let mut line = format!("{{\"url\":\"http://p{number}.example/\"");
        for (value, (name, ..)) in values(record, with_bad).iter().zip(FIELDS) {
            if let Some(value) = value {
                write!(line, ",\"{name}\":{value}").unwrap();
            }
        }
        line + "}"
    };
    records.iter().enumerate().map(line).collect()
}

fn csv(records: &[Vec<usize>], with_bad: bool) -> String {
    let names = FIELDS.map(|(name, ..)| name).join(",");
    let mut text = format!("url,{names}\n");
    for (number, record) in records.iter().enumerate() {
        write!(text, "http://p{number}.example/").unwrap();
        for value in values(record, with_bad) {
            // Brackets are a text in a table.
            let value = value.filter(|value| !value.starts_with(['[', '{']));
            let cell = value.unwrap_or_default().trim_matches('"');
            write!(text, ",\"{cell}\"").unwrap();
        }
        text += "\n";
    }
    text
}

/// The events without those about bad fields, and these.
fn parted(events: Events) -> (Vec<Event>, Vec<Reject>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for (_, event) in events {
        match event {
            Event::BadField(field) => bad.push(field),
            event => good.push(event),
        }
    }
    (good, bad)
}

proptest! {
    #![proptest_config(repeatable(40))]

    #[test]
    fn a_bad_field_costs_itself(records in prop::collection::vec(a_record(), 1..8)) {
        let bad: usize = records.iter().flatten().filter(|choice| **choice > 1).count();
        let lines = |with_bad| json(&records, with_bad).join("\n") + "\n";
        let array = |with_bad| format!("[{}]", json(&records, with_bad).join(","));
        for (format, with, without) in [
            (Format::JsonLines, lines(true), lines(false)),
            (Format::Json, array(true), array(false)),
            (Format::Csv, csv(&records, true), csv(&records, false)),
        ] {
            let options = ReadOptions {
                latest: 1_800_000_000_000_000,
                ..Naming::default().into()
            };
            let (summary, events) = read_with(with.as_bytes(), &format, options);
            let summary = summary.unwrap();
            let (found, listed) = parted(events);
            let (expected, _) = parted(read(without.as_bytes(), &format).1);
            prop_assert_eq!(&found, &expected, "{:?} {}", format, with);
            let is_table = format == Format::Csv;
            prop_assert!(is_table || listed.len() == bad, "{:?} {}", listed, with);
            prop_assert_eq!(summary.bad_fields.values().sum::<u64>(), listed.len() as u64);
            prop_assert_eq!(summary.rejected(), 0);
            let is_named = |field: &Reject| {
                let name = field.field.as_deref().unwrap();
                FIELDS.iter().any(|(known, ..)| *known == name) && field.detail.contains(name)
            };
            prop_assert!(listed.iter().all(is_named));
        }
    }
}

/// An input of which a part shows that it is truncated.
struct Framed {
    name: String,
    bytes: Vec<u8>,
    format: Format,
    /// Whether a line that is cut can be a shorter record.
    is_plain: bool,
}

static FRAMED: LazyLock<Vec<Framed>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for good in good_inputs() {
        // Its index is at the end.
        if good.name == "parquet" {
            continue;
        }
        let is_compressed = good.name.contains("gzip");
        let is_framed = ["WARC", "WAT", "json", "arrow", "sitemap"]
            .iter()
            .any(|name| good.name.contains(name));
        if !is_compressed {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(&good.bytes).unwrap();
            let zstd = zstd::encode_all(&*good.bytes, 1).unwrap();
            for (kind, bytes) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
                let name = format!("{} in {kind}", good.name);
                all.push(Framed {
                    name,
                    bytes,
                    format: good.format.clone(),
                    is_plain: false,
                });
            }
        }
        all.push(Framed {
            is_plain: !is_compressed && !is_framed,
            name: good.name,
            bytes: good.bytes,
            format: good.format,
        });
    }
    all
});

/// The events of records, without those of bad ones.
fn records(events: Events) -> Vec<Event> {
    let is_good = |event: &Event| event.is_record() && !matches!(event, Event::Rejected(_));
    let events = events.into_iter().map(|(_, event)| event);
    events.filter(is_good).collect()
}

proptest! {
    #![proptest_config(repeatable(20))]

    #[test]
    fn truncated_inputs_that_are_kept_are_a_prefix(place in any::<prop::sample::Index>()) {
        let options = ReadOptions {
            keeps_truncated: true,
            ..Naming::default().into()
        };
        for Framed { name, bytes, format, is_plain } in &*FRAMED {
            let whole = records(read(bytes, format).1);
            let end = place.index(bytes.len());
            let part = &bytes[..end];
            let refused = read(part, format).0;
            let (kept, events) = read_with(part, format, options);
            let mut found = records(events);
            if *is_plain {
                // The last line may be shorter.
                found.truncate(whole.len());
                found.pop();
            }
            prop_assert_eq!(&found[..], &whole[..found.len()], "{} cut at {}", name, end);
            let Ok(kept) = kept else {
                // Nothing shows the format.
                prop_assert!(end < 64 || found.is_empty(), "{name} cut at {end}: {kept:?}");
                continue;
            };
            // JSON that a file ends within is a bad record otherwise.
            let is_bad = refused.as_ref().is_ok_and(|refused| refused.rejected() > kept.rejected());
            let is_cut = refused.is_err() || is_bad;
            prop_assert_eq!(kept.truncated > 0, is_cut, "{} cut at {}", name, end);
        }
    }
}
