//! Whole inputs: compression, damage, line ends, order. Every case writes real files.

use std::convert::Infallible;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression as Level;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::entries::{LineFormat, Lines};
use super::super::formats::Format;
use super::super::formats::json_lines::JsonLines;
use super::super::formats::tsv::{LinksTsv, PagesTsv};
use super::super::open::Input;
use super::super::source::{MAX_LINE, PIECE_SIZE, Sources};
use super::super::summary::{EXCERPT_CHARS, Fault, RejectReason};

use super::*;
use crate::ingest::{SiteMode, UrlRules};
use seedbank_algorithms::watch::Unwatched;

type Events = Vec<(Position, Event)>;

fn read_files<F: LineFormat + Copy + 'static>(
    files: &[PathBuf],
    format: F,
) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    let files = files.iter().cloned().map(Input::named);
    let mut sources: Sources = Vec::new();
    for file in files {
        sources.push(Box::new(Lines::new(file, format)));
    }
    let mut events = Vec::new();
    let result = read_batch(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &Unwatched,
        &mut |at, event| {
            events.push((at, event));
            Ok(())
        },
    );
    (result, events)
}

fn read<F: LineFormat + Copy + 'static>(
    bytes: &[u8],
    format: F,
) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, bytes).unwrap();
    read_files(&[path], format)
}

fn whole<F: LineFormat + Copy + 'static>(bytes: &[u8], format: F) -> (ReadSummary, Events) {
    let (result, events) = read(bytes, format);
    (result.unwrap(), events)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Level::default());
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

pub(super) fn zstd(text: &[u8]) -> Vec<u8> {
    let mut out = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    out.include_checksum(true).unwrap();
    out.write_all(text).unwrap();
    out.finish().unwrap()
}

pub(super) fn page(n: usize) -> String {
    format!("{{\"url\":\"http://a.example/{n}\"}}\n")
}

pub(super) fn line(at: Position) -> u64 {
    match at {
        Position::Line(line) => line,
        other => panic!("{other:?}"),
    }
}

fn rejected(events: &Events) -> Vec<(u64, RejectReason)> {
    let rejects = events.iter().filter_map(|(at, event)| match event {
        Event::Rejected(reject) => {
            assert_eq!(reject.at, *at);
            Some((line(*at), reject.reason))
        }
        _ => None,
    });
    rejects.collect()
}

fn damage(bytes: &[u8]) -> (u64, usize) {
    match read(bytes, JsonLines) {
        (Err(ReadError::Input(InputError::Damaged { lines, .. })), events) => (lines, events.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn plain_gzip_and_zstd_in_several_parts_say_the_same() {
    let text: String = (0..40_000).map(page).collect();
    let (first, second) = text.as_bytes().split_at(500_001);
    let plain = whole(text.as_bytes(), JsonLines);
    assert_eq!((plain.0.records, plain.1.len()), (40_000, 40_000));
    assert!(text.len() > 2 * PIECE_SIZE, "several blocks");
    assert_eq!(
        whole(&[gzip(first), gzip(second)].concat(), JsonLines),
        plain
    );
    assert_eq!(
        whole(&[zstd(first), zstd(second)].concat(), JsonLines),
        plain
    );
    let skippable = b"\x50\x2a\x4d\x18\x02\0\0\0xx".to_vec();
    assert_eq!(
        whole(&[skippable, zstd(text.as_bytes())].concat(), JsonLines),
        plain
    );
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(one.install(|| whole(text.as_bytes(), JsonLines)), plain);
}

#[test]
fn an_input_cut_off_anywhere_is_an_error() {
    let text = page(1) + &page(2);
    for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        for end in 4..packed.len() {
            damage(&packed[..end]);
        }
        let twice = [packed.clone(), packed.clone()].concat();
        for end in packed.len() + 1..twice.len() {
            let (lines, events) = damage(&twice[..end]);
            assert!(lines >= 2, "the first part is whole");
            assert_eq!(lines, events as u64);
        }
    }
}

#[test]
fn damage_and_trailing_garbage_are_errors() {
    let text: String = (0..1000).map(page).collect();
    let mut crc = gzip(text.as_bytes());
    let at = crc.len() - 8;
    crc[at] ^= 1;
    assert_eq!(damage(&crc), (1000, 1000));
    let mut checksum = zstd(text.as_bytes());
    let at = checksum.len() - 1;
    checksum[at] ^= 1;
    damage(&checksum);
    for garbage in [b"garbage".as_slice(), b"\0", b"{}\n"] {
        assert_eq!(
            damage(&[&gzip(text.as_bytes()), garbage].concat()),
            (1000, 1000)
        );
        assert_eq!(
            damage(&[&zstd(text.as_bytes()), garbage].concat()),
            (1000, 1000)
        );
    }
    let (result, _) = read(&crc, JsonLines);
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("damaged gzip") && message.contains("1000 lines"),
        "{message}"
    );
}

#[test]
fn a_missing_file_or_a_directory_is_an_error_before_anything_is_read() {
    let folder = TempDir::new().unwrap();
    let good = folder.path().join("good");
    fs::write(&good, page(1)).unwrap();
    let (result, events) = read_files(&[good.clone(), folder.path().to_owned()], JsonLines);
    assert!(matches!(
        result,
        Err(ReadError::Input(InputError::Directory { .. }))
    ));
    assert!(events.is_empty());
    let (result, events) = read_files(&[good, folder.path().join("none")], JsonLines);
    assert!(matches!(
        result,
        Err(ReadError::Input(InputError::Open { .. }))
    ));
    assert!(events.is_empty());
}

#[test]
fn empty_inputs_have_no_lines() {
    for bytes in [Vec::new(), b"\xef\xbb\xbf".to_vec(), gzip(b""), zstd(b"")] {
        let (summary, events) = whole(&bytes, JsonLines);
        assert_eq!((summary.lines, events.len()), (0, 0));
    }
}

#[test]
fn line_ends_blank_lines_and_byte_order_mark() {
    let text = "\u{feff}{\"url\":\"http://a.example/1\"}\r\n\n \t\r\n{\"url\":\"http://a.example/2\"}\n\u{feff}{}\n{\"url\":\"http://a.example/3\"}";
    let (summary, events) = whole(text.as_bytes(), JsonLines);
    assert_eq!(
        (summary.lines, summary.blank_lines, summary.records),
        (6, 2, 4)
    );
    assert_eq!(summary.bytes, text.len() as u64 - 3);
    let lines: Vec<_> = events.iter().map(|(at, _)| line(*at)).collect();
    assert_eq!(lines, [1, 4, 5, 6]);
    assert_eq!(rejected(&events), [(5, RejectReason::InvalidJson)]);
}

#[test]
fn a_line_that_is_not_text_is_rejected_alone() {
    let bytes = [
        page(1).as_bytes(),
        b"{\"url\":\"http://a.example/\xff\"}\n\0\n",
        page(2).as_bytes(),
    ]
    .concat();
    let (summary, events) = whole(&bytes, JsonLines);
    assert_eq!(
        rejected(&events),
        [
            (2, RejectReason::InvalidUtf8),
            (3, RejectReason::InvalidJson)
        ]
    );
    assert_eq!((summary.rejected(), events.len()), (2, 4));
}

#[test]
fn a_hundred_megabytes_in_one_line_are_one_reject() {
    let long = vec![b'x'; 100_000_000];
    let bytes = [
        page(1).as_bytes(),
        &long,
        b"\r\n",
        page(2).as_bytes(),
        &long,
    ]
    .concat();
    let (summary, events) = whole(&bytes, JsonLines);
    let reason = RejectReason::LineTooLong;
    assert_eq!(rejected(&events), [(2, reason), (4, reason)]);
    assert_eq!((summary.lines, summary.records), (4, 4));
    let Event::Rejected(reject) = &events[3].1 else {
        panic!("{events:?}")
    };
    assert_eq!(reject.record, "x".repeat(200));
    assert!(
        reject.detail.contains("bytes, found 100000000"),
        "{}",
        reject.detail
    );
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    let line = |length: usize| {
        let start = "{\"url\":\"http://a.example/\",\"x\":\"";
        format!("{start}{}\"}}", "x".repeat(length - start.len() - 2))
    };
    for end in ["\n", "\r\n", ""] {
        let (_, events) = whole((line(MAX_LINE) + end).as_bytes(), JsonLines);
        assert_eq!(rejected(&events), []);
        let (_, events) = whole((line(MAX_LINE + 1) + end).as_bytes(), JsonLines);
        assert_eq!(rejected(&events), [(1, RejectReason::LineTooLong)]);
    }
}

/// Rejects each line with its text as the detail.
#[derive(Clone, Copy)]
struct Quoting;

impl LineFormat for Quoting {
    fn read(&self, line: &str, _parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        Err(Fault::new(RejectReason::InvalidJson, line))
    }
}

#[test]
fn a_text_of_a_line_is_quoted_in_part() {
    let long = "n".repeat(5000);
    let (_, events) = whole(long.as_bytes(), Quoting);
    let [(_, Event::Rejected(reject))] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(reject.detail.len(), EXCERPT_CHARS, "{}", reject.detail);
    assert_eq!(reject.record.len(), EXCERPT_CHARS, "{}", reject.record);
}

#[test]
fn a_watch_stops_the_reading_and_a_sink_does_too() {
    struct Stopped;
    impl Watch for Stopped {
        fn stopped(&self) -> bool {
            true
        }
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, page(1)).unwrap();
    let mut sources = Format::JsonLines.sources(&[Input::File(path)]);
    let stopped: Result<_, ReadError<Infallible>> = read_batch(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &Stopped,
        &mut |_, _| panic!("no event"),
    );
    assert!(matches!(stopped, Err(ReadError::Interrupted(_))));
    let refused = read_batch(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &Unwatched,
        &mut |_, _| Err(std::io::Error::other("full")),
    );
    assert!(matches!(refused, Err(ReadError::Sink(_))));
}

#[cfg(unix)]
#[test]
fn a_line_without_end_can_be_stopped() {
    struct Soon(AtomicU64);
    impl Watch for Soon {
        fn stopped(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) > 50
        }
    }
    let mut sources = Format::JsonLines.sources(&[Input::File("/dev/zero".into())]);
    let watch = Soon(AtomicU64::new(0));
    let stopped: Result<_, ReadError<Infallible>> = read_batch(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &watch,
        &mut |_, _| panic!("no event"),
    );
    assert!(matches!(stopped, Err(ReadError::Interrupted(_))));
}

#[test]
fn progress_adds_up_to_the_size_of_the_files() {
    #[derive(Default)]
    struct Counting(AtomicU64, AtomicU64);
    impl Watch for Counting {
        fn stage(&self, _: &str, total: Option<u64>) {
            self.0.store(total.unwrap(), Ordering::Relaxed);
        }
        fn advance(&self, units: u64) {
            self.1.fetch_add(units, Ordering::Relaxed);
        }
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    let packed = gzip((0..10_000).map(page).collect::<String>().as_bytes());
    fs::write(&path, &packed).unwrap();
    let watch = Counting::default();
    let mut sources = Format::JsonLines.sources(&[Input::File(path.clone()), Input::File(path)]);
    read_batch::<Infallible>(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &watch,
        &mut |_, _| Ok(()),
    )
    .unwrap();
    let size = 2 * packed.len() as u64;
    assert_eq!(watch.0.into_inner(), size);
    assert_eq!(watch.1.into_inner(), size);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_line_of_any_bytes_is_accounted_for(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\t'), Just(b'"')], 0..300),
        good in prop::bool::ANY,
    ) {
        let mut bytes = bytes;
        if good {
            // A good line after any other lines is still read.
            bytes.extend_from_slice(format!("\n{}", page(1)).as_bytes());
        }
        // An input that happens to look compressed may be refused as a whole.
        prop_assume!(!bytes.starts_with(b"\x1f\x8b"));
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let lines = body.split_inclusive(|b| *b == b'\n').count();
        let formats = [
            whole(&bytes, JsonLines),
            whole(&bytes, LinksTsv),
            whole(&bytes, PagesTsv),
        ];
        for (summary, events) in formats {
            prop_assert_eq!(summary.lines, lines as u64);
            prop_assert_eq!(summary.lines, summary.records + summary.blank_lines);
            prop_assert_eq!(summary.records, events.len() as u64);
            prop_assert_eq!(summary.rejected(), rejected(&events).len() as u64);
            prop_assert!(events.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
        if good {
            let (_, events) = whole(&bytes, JsonLines);
            prop_assert!(matches!(events.last(), Some((_, Event::Record(_)))));
        }
    }
}
