//! How much is held and read: the events of a piece, the rejects of a batch, where reading ends.

use std::convert::Infallible;
use std::fs;

use tempfile::TempDir;

use super::super::formats::Format;
use super::super::open::Input;
use super::super::source::PIECE_SIZE;
use super::tests::{line, page, zstd};
use super::*;
use crate::ingest::{SiteMode, UrlRules};
use seedbank_algorithms::watch::Unwatched;

/// What the pieces of a text come to, in order: the number of events of each, the line of each
/// reject, and the summary up to where reading ended.
fn pieces(text: &[u8], threads: usize) -> (Vec<usize>, Vec<u64>, ReadSummary) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, zstd(text)).unwrap();
    let mut sources = Format::JsonLines.sources(&[Input::named(path)]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (mut sizes, mut rejects) = (Vec::new(), Vec::new());
    let read = pool.unwrap().install(|| {
        read_pieces::<Infallible>(
            &mut sources,
            SiteMode::Host.with(UrlRules::Whatwg),
            &Unwatched,
            &mut |piece| {
                sizes.push(piece.events.len());
                let lines = piece.events.iter();
                rejects.extend(
                    lines
                        .filter(|(_, event)| matches!(event, Event::Rejected(_)))
                        .map(|(at, _)| line(*at)),
                );
                Ok(())
            },
        )
    });
    let summary = match read {
        Ok(summary) => summary,
        Err(ReadError::MostAreBad(summary)) => *summary,
        Err(error) => panic!("{error}"),
    };
    (sizes, rejects, summary)
}

#[test]
fn short_lines_come_in_small_pieces() {
    // A blank line is no event, and one line in the middle is longer than a piece.
    let long = format!("\n{{\"url\":\"{}\"}}\n", " ".repeat(PIECE_SIZE));
    let text = ["1\n".repeat(50_000), long, "1\n".repeat(49_000) + "1"].concat();
    let (sizes, rejects, summary) = pieces(text.as_bytes(), 2);
    assert_eq!((summary.lines, summary.records), (99_003, 99_002));
    assert!(sizes.iter().all(|size| *size <= PIECE_RECORDS), "{sizes:?}");
    assert_eq!(sizes.iter().sum::<usize>(), 99_002);
    let expected: Vec<u64> = (1..=99_003).filter(|line| *line != 50_001).collect();
    assert_eq!(rejects, expected);
}

#[test]
fn the_first_hundred_thousand_rejects_are_events() {
    let text = (page(1) + "1\n").repeat(150_000);
    let (sizes, rejects, summary) = pieces(text.as_bytes(), 2);
    assert_eq!((summary.records, summary.rejected()), (300_000, 150_000));
    let expected: Vec<u64> = (1..=100_000).map(|n| 2 * n).collect();
    assert_eq!(rejects, expected);
    assert_eq!(sizes.iter().sum::<usize>(), 250_000);
    assert_eq!(pieces(text.as_bytes(), 1), (sizes, rejects, summary));
}

#[test]
fn reading_ends_in_the_same_place_whatever_the_threads() {
    let good = page(1).repeat(120_000);
    let bad = "1\n".repeat(600_000);
    for (text, before) in [(bad.clone(), 0), (good + &bad, 120_000)] {
        let (sizes, rejects, summary) = pieces(text.as_bytes(), 1);
        let least = before.max(100_000) + 1;
        let most = least + PIECE_RECORDS as u64;
        assert!(
            (least..=most).contains(&summary.rejected()),
            "{}",
            summary.rejected()
        );
        assert_eq!(summary.records, before + summary.rejected());
        let expected: Vec<u64> = (before + 1..=before + 100_000).collect();
        assert_eq!(rejects, expected);
        for threads in [2, 5] {
            let again = pieces(text.as_bytes(), threads);
            assert_eq!(again, (sizes.clone(), rejects.clone(), summary.clone()));
        }
    }
}
