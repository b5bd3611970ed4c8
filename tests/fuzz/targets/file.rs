//! Files, compressed or not, cut into lines: what is read of them is what the decompressor gives
//! and what each line says by itself; damage is reported, after the lines that were complete before
//! it.

use std::convert::Infallible;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::Compression;
use flate2::read::{GzEncoder, MultiGzDecoder};
use seedbank::ingest::{
    Event, Format, Input, InputError, JsonLines, MAX_LINE, Naming, Position, ReadError,
    ReadOptions, ReadSummary, read_batch,
};
use seedbank::watch::Unwatched;

use super::json_lines;
use super::texts;

/// Texts longer than this, in bytes, are read but not compared.
const COMPARED: u64 = 1 << 20;

type Lines = Vec<(u64, Event)>;

pub(super) fn run(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, data).unwrap();
    let (read, lines) = read(&path);
    // It may begin with a dictionary, which the target of archives tries.
    if data.starts_with(b"\x5d\x2a\x4d\x18") {
        return;
    }
    let (text, whole) = decompressed(data);
    match &read {
        Ok(summary) => {
            assert!(whole, "damage was passed over");
            assert_eq!(summary.records, lines.len() as u64);
        }
        Err(ReadError::Input(InputError::Damaged { lines: most, .. })) => {
            assert!(!whole, "{read:?} of {} bytes of text", text.len());
            assert!(lines.last().is_none_or(|(last, _)| last <= most));
        }
        Err(error) => panic!("{error}"),
    }
    if (text.len() as u64) < COMPARED {
        compare(&text, whole, &lines);
    }
    let (kept, same) = read_with(&path, true);
    match (read, kept) {
        // A last line that is no record, and does not end, is cut off.
        (Ok(_), Ok(kept)) if kept.truncated == 1 => {
            let (last, before) = lines.split_last().unwrap();
            assert!(matches!(last.1, Event::Rejected(_)), "{last:?}");
            assert_eq!(same, before);
        }
        (Ok(read), Ok(kept)) => assert_eq!((kept, same), (read, lines)),
        (Err(_), Ok(kept)) => assert_eq!((kept.truncated, same), (1, lines)),
        (read, kept) => assert!(read.is_err(), "{kept:?}"),
    }
}

/// The JSON Lines of a file, with the numbers of their lines.
fn read(path: &Path) -> (Result<ReadSummary, ReadError<Infallible>>, Lines) {
    read_with(path, false)
}

fn read_with(
    path: &Path,
    keeps_truncated: bool,
) -> (Result<ReadSummary, ReadError<Infallible>>, Lines) {
    let mut sources = Format::JsonLines.sources(&[Input::File(path.to_path_buf())]);
    let mut lines = Vec::new();
    let options = ReadOptions {
        keeps_truncated,
        ..Naming::default().into()
    };
    let mut sink = |at, event: Event| {
        let Position::Line(line) = at else {
            panic!("a record is a line: {at:?}");
        };
        if event.is_record() {
            lines.push((line, event));
        }
        Ok(())
    };
    let summary = read_batch(&mut sources, options, &Unwatched, &mut sink);
    (summary, lines)
}

/// The text as far as it goes, and whether it is complete.
fn decompressed(data: &[u8]) -> (Vec<u8>, bool) {
    let reader: Box<dyn Read> = match data {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(data)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Box::new(zstd::Decoder::new(data).unwrap())
        }
        _ => Box::new(data),
    };
    let mut text = Vec::new();
    let mut reader = reader.take(COMPARED);
    let whole = reader.read_to_end(&mut text).is_ok();
    // Even where it is not compared, it must be known whether it is complete.
    let rest = std::io::copy(&mut reader.into_inner(), &mut std::io::sink()).is_ok();
    (text, whole && rest)
}

fn compare(text: &[u8], whole: bool, lines: &Lines) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut expected = (1..).zip(text.split_inclusive(|byte| *byte == b'\n'));
    for (number, event) in lines {
        let (at, line) = expected
            .by_ref()
            .find(|(_, line)| !line.trim_ascii().is_empty())
            .expect("there is such a line");
        assert_eq!(at, *number);
        assert!(line.len() <= MAX_LINE);
        // Only the line feed ends a line: other blanks that JSON does not know stay.
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Of any other line, the fields that are not UTF-8 are dropped.
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        let said = json_lines::read(&JsonLines, line, Naming::default()).ok();
        match event {
            Event::Rejected(_) => assert_eq!(said, None),
            event => assert_eq!(said.as_ref(), Some(event)),
        }
    }
    // How much comes out before damage depends on how much is asked of the decompressor at a time.
    let mut left = expected.filter(|(_, line)| !line.trim_ascii().is_empty());
    assert!(!whole || left.next().is_none());
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let text = "\u{feff}{\"url\": \"http://a.example/\"}\r\n\n \n{\"url\": 7}\n{\"url\": \"http://b.example/\", \"outlinks\": []}";
    let mut gzip = Vec::new();
    GzEncoder::new(text.as_bytes(), Compression::fast())
        .read_to_end(&mut gzip)
        .unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let zeros = zstd::encode_all(&vec![b'\n'; 200_000][..], 3).unwrap();
    let mut seeds = texts(b"\n{", &[text, "\n\n", "\u{feff}"]);
    seeds.extend([
        gzip[..gzip.len() - 3].to_vec(),
        [&gzip[..], &gzip].concat(),
        [&gzip[..], b"trailing"].concat(),
        [&zstd[..], &zstd].concat(),
        zstd[..zstd.len() / 2].to_vec(),
        zeros,
        // A skippable frame comes first.
        [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], &zstd[..]].concat(),
        gzip,
        zstd,
    ]);
    seeds
}
