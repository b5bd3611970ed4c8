//! Damaged and truncated inputs of every format are rejected with an error that says so, or cost what the damage touches.
//!
//! Catches: a panic of a decoder, pages that the input does not have, undamaged pages that are lost, memory that a
//! damaged length claims.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Location, Naming, ReadError, RejectReason};

use crate::formats::{AUTO, WARC, WAT};
use crate::support::crawler_texts::{JSON, NUTCH_TEXT, examples};
use crate::support::properties::repeatable;
use crate::support::warc::{DATE, answer, nasty, of, page, record, warcinfo};
use crate::support::wat::{self, Capture, Events, members, read};

/// The pages and links that were read.
fn pages(events: &Events) -> BTreeSet<String> {
    let url = |at: &Location| at.url(Naming::default().sites);
    let pages = events.iter().filter_map(|(_, event)| match event {
        Event::Record(record) => Some(url(&record.url)),
        Event::Outlink { from, to } => Some(format!("{} {}", url(from), url(to))),
        _ => None,
    });
    pages.collect()
}

fn url(number: usize) -> String {
    format!("http://s{number}.example/")
}

/// A good input, and how many pages one damage costs at most: its own and the next, with which it becomes one. A damage of
/// the first bytes or of a table may cost all.
pub(crate) struct Good {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) format: Format,
    most_lost: usize,
}

pub(crate) fn good_inputs() -> Vec<Good> {
    let mut all = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>, format: Format, most_lost| {
        let name = name.to_owned();
        all.push(Good {
            name,
            bytes,
            format,
            most_lost,
        });
    };
    for example in examples() {
        add(example.name, example.text.into_bytes(), example.format, 6);
    }
    let links = ["/b", "x", "//c.example/"];
    let captures: Vec<Capture> = (0..5).map(|n| Capture::of(&url(n), &links)).collect();
    let captures = wat::records(&captures);
    add("WAT", captures.concat(), WAT, 2);
    add("WAT in gzip", members(&captures), WAT, 2);
    let mut records = vec![warcinfo()];
    records.extend((0..5).map(|n| page(&url(n), "<a href=/b><a href=//c.example/>")));
    records.push(a_record(5, 1, &nasty(true)));
    add("WARC", records.concat(), WARC, 2);
    add("WARC in gzip", members(&records), WARC, 2);
    #[cfg(feature = "parquet")]
    for (name, bytes) in crate::columns::files(120) {
        add(name, bytes, Format::named(name).unwrap(), usize::MAX);
    }
    all
}

/// Parts of messages that say that an input is damaged or another format.
const MESSAGES: [&str; 7] = [
    "cannot read records from ",
    " is ",
    " has ",
    "does not ",
    "expected ",
    "of memory are available",
    ": column ",
];

/// The most memory that this process has used, in bytes; 0 where the system does not say.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[test]
fn damages_are_rejected_or_cost_what_they_touch() {
    let before = most_memory();
    let (mut rejected, mut accepted) = (0, 0);
    for Good {
        name,
        bytes,
        format,
        most_lost,
    } in good_inputs()
    {
        let good = pages(&read(&bytes, &format).1);
        assert!(good.len() >= 2, "{name}: {good:?}");
        let mut check = |damaged: &[u8], may_lose_all: bool, what: &str| {
            for format in [&format, &AUTO] {
                let (summary, events) = read(damaged, format);
                let found = pages(&events);
                assert!(!found.contains("http://wrong.example/"), "{name}: {what}");
                match summary {
                    Ok(summary) => {
                        accepted += 1;
                        let records = events.iter().filter(|(_, event)| event.is_record());
                        let records = records.count() as u64;
                        assert_eq!(summary.records, records, "{name}: {what}");
                        let lost = good.difference(&found).count();
                        // With other first bytes it may be read as another format.
                        let is_free = may_lose_all || *format == AUTO;
                        assert!(is_free || lost <= most_lost, "{name}: {what}: {lost} lost");
                    }
                    Err(ReadError::Input(error)) => {
                        rejected += 1;
                        let error = error.to_string();
                        let is_named = MESSAGES.iter().any(|words| error.contains(words));
                        assert!(is_named, "{name}: {what}: {error}");
                    }
                    Err(error) => panic!("{name}: {what}: {error}"),
                }
            }
        };
        for n in 0..40 {
            let at = (bytes.len() * n / 40 + n % 3).min(bytes.len() - 1);
            check(&bytes[..at], true, &format!("{at} bytes"));
            if ["parquet", "arrow"].contains(&&*name) {
                assert!(read(&bytes[..at], &format).0.is_err(), "{name}: {at} bytes");
            }
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (n % 8);
            check(&damaged, n < 2, &format!("bit {} of byte {at}", n % 8));
            damaged[at] = b"\"<>{}[]\n\t ,\0\xff"[n % 13];
            check(&damaged, n < 2, &format!("another byte {at}"));
            damaged.remove(at);
            check(&damaged, n < 2, &format!("without byte {at}"));
            damaged.splice(at..at, bytes[..n].iter().copied());
            check(&damaged, n < 2, &format!("{n} bytes more at {at}"));
        }
        // The footer of Parquet and the first messages of Arrow, where most lengths are.
        for n in 0..if most_lost == usize::MAX { 25 } else { 0 } {
            for at in [bytes.len() - 1 - n * 6, n * 10] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x80 | (1 << (n % 7));
                check(&damaged, true, &format!("another byte {at}"));
            }
        }
    }
    assert!(
        rejected > 500 && accepted > 2_000,
        "{rejected} rejected, {accepted} accepted"
    );
    let grown = most_memory().saturating_sub(before);
    assert!(grown < 400 << 20, "{grown} bytes of memory");
}

#[test]
fn truncated_inputs_are_rejected_or_read_to_their_end() {
    let element = &JSON[1..JSON.rfind(']').unwrap()];
    let array = format!("[{}{element}]", format!("{element},").repeat(60));
    let url = "<url><loc>http://a.example/</loc></url>";
    let sitemap = format!("<urlset>{}</urlset>", url.repeat(300));
    let records: Vec<Vec<u8>> = (0..12).map(|n| a_record(n, 0, &nasty(true))).collect();
    let warc = [warcinfo(), records.concat()].concat();
    for (bytes, format, step, is_rejected) in [
        (array.into_bytes(), Format::Json, 1_000, Some(true)),
        (sitemap.into_bytes(), Format::Sitemap, 1_000, Some(true)),
        (
            NUTCH_TEXT.repeat(10).into_bytes(),
            Format::Nutch,
            1_000,
            Some(false),
        ),
        // Between two records nothing is missing.
        (warc, WARC, 97, None),
    ] {
        let whole = read(&bytes, &format).1;
        for end in (step..bytes.len() - 20).step_by(step) {
            let (summary, events) = read(&bytes[..end], &format);
            assert!(events.len() < whole.len() || is_rejected.is_none());
            assert!(!pages(&events).contains("http://wrong.example/"), "{end}");
            assert!(
                is_rejected.is_none_or(|is| is == summary.is_err()),
                "{end}: {events:?}"
            );
            match summary {
                Ok(summary) => assert!(summary.rejected() <= 1, "{end}"),
                Err(error) => {
                    let error = error.to_string();
                    let words = ["is truncated", "is damaged XML"];
                    assert!(
                        words.iter().any(|words| error.contains(words)),
                        "{end}: {error}"
                    );
                }
            }
        }
    }
}

/// Bodies of all kinds; some contain a whole record.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "\r\n\r\n",
        "\n",
        "WARC/1.0\r\n",
        "\r\nWARC/1.0",
        "\nWARC/1.0\n\n",
        "<a href=/x>",
    ];
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(nasty(false)),
        Just(nasty(true)),
        select(texts.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn a_record(number: usize, kind: u8, body: &[u8]) -> Vec<u8> {
    let head = |kind: &str| format!("HTTP/1.1 200 OK\nContent-Type: {kind}\n");
    match kind {
        0 => answer(&url(number), &head("text/html"), body),
        1 => answer(&url(number), &head("image/png"), body),
        _ => record("resource", &of("http://none.example/", DATE), body),
    }
}

/// Whether a wrong length leads past the next record to what looks like one, or to the end: then nothing shows that it
/// is wrong.
fn seems_right(records: &[Vec<u8>], damaged: usize, length: &str) -> bool {
    let text = records[damaged..].concat();
    let head = text.windows(4).position(|at| at == b"\r\n\r\n").unwrap() + 4;
    let end = length
        .parse()
        .ok()
        .and_then(|length| head.checked_add(length));
    let Some(rest) = end.and_then(|end: usize| text.get(end..)) else {
        return false;
    };
    let blank = rest
        .iter()
        .take_while(|byte| b"\r\n".contains(byte))
        .count();
    let next = &rest[blank..];
    let is_next = text.len() - next.len() <= records[damaged].len();
    !is_next && (next.starts_with(b"WARC/") || b"WARC/".starts_with(next))
}

/// The same record with another length in its head.
fn with_length(record: &[u8], length: &str) -> Vec<u8> {
    let name = b"Content-Length: ";
    let at = record
        .windows(name.len())
        .position(|at| at == name)
        .unwrap()
        + name.len();
    let end = at + record[at..].iter().position(|byte| *byte == b'\r').unwrap();
    [&record[..at], length.as_bytes(), &record[end..]].concat()
}

proptest! {
    #![proptest_config(repeatable(96))]

    #[test]
    fn no_page_is_made_up_and_a_wrong_length_costs_its_record(
        records in prop::collection::vec((0..3_u8, body()), 4..12),
        damaged in any::<prop::sample::Index>(),
        wrong in select(vec!["0", "1", "x", "-1", "5", "100", "2000", "20000000", "999999999999", "18446744073709551616", ""]),
    ) {
        let numbered = || records.iter().enumerate();
        let all: Vec<Vec<u8>> = numbered().map(|(at, (kind, body))| a_record(at, *kind, body)).collect();
        let of = |skip: Option<usize>| -> BTreeSet<String> {
            let pages = numbered().filter(|(at, (kind, _))| *kind < 2 && skip != Some(*at));
            pages.map(|(at, _)| url(at)).collect()
        };
        let (summary, events) = read(&[warcinfo(), all.concat()].concat(), &WARC);
        prop_assert_eq!(summary.unwrap().rejected(), 0);
        prop_assert_eq!(pages(&events), of(None));
        // With one length that is wrong.
        let damaged = damaged.index(all.len() - 3);
        let mut bad = all.clone();
        bad[damaged] = with_length(&all[damaged], wrong);
        prop_assume!(bad != all && !seems_right(&bad, damaged, wrong));
        let (summary, events) = read(&[warcinfo(), bad.concat()].concat(), &WARC);
        let found = pages(&events);
        let mut expected = of(Some(damaged));
        // A length that happens to end where a record or nothing follows may be right.
        let is_right = found.contains(&url(damaged));
        if is_right {
            expected.insert(url(damaged));
        }
        prop_assert_eq!(&found, &expected);
        let rejected = summary.unwrap().rejected();
        prop_assert!(rejected <= 2 && (is_right || records[damaged].0 == 2 || rejected > 0));
    }
}

#[test]
fn a_wrong_length_of_a_long_record_costs_it_alone() {
    let head = "HTTP/1.1 200 OK\nContent-Type: video/mp4\n";
    let film = answer("http://film.example/", head, &vec![b'x'; 17 << 20]);
    let others: Vec<Vec<u8>> = (0..9).map(|n| page(&url(n), "<a href=/b>")).collect();
    let whole: BTreeSet<String> = (0..9).map(url).collect();
    for (length, is_member) in [("17000000", false), ("99999999", true), ("7", true)] {
        let film = with_length(&film, length);
        let plain = [warcinfo(), others[..3].concat(), film, others[3..].concat()].concat();
        let input = if is_member { members(&[plain]) } else { plain };
        let (summary, events) = read(&input, &WARC);
        let summary = summary.unwrap_or_else(|error| panic!("{length}: {error}"));
        assert_eq!(
            summary.rejects,
            [(RejectReason::Framing, 1)].into(),
            "{length}"
        );
        assert_eq!(pages(&events), whole, "{length}");
    }
}
