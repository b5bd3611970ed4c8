//! Damage that a batch or a merge meets, and memory that the system refuses.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::command::{Place, clean, names, record};

#[test]
fn damage_is_4_whichever_step_meets_it() {
    let place = Place::with_bank();
    let days: Vec<String> = (0..5)
        .map(|day| {
            let page = |n: usize| {
                let to = format!("http://t{}.example/", n * (day + 7) % 300);
                record(&format!("http://s{}.example/{n}", n % 40), &[&to])
            };
            // Each too large to stay in the log.
            let pages = if day == 0 { 0..1500 } else { 0..4000 };
            pages.map(page).collect()
        })
        .collect();
    for (day, lines) in days.iter().enumerate() {
        place.write(&format!("{day}.jsonl"), lines);
    }
    place.run(&["ingest", "bank", "0.jsonl"]).done();
    place.merge();
    let files = names(&place.path("bank/live"));
    let files: Vec<&String> = files
        .iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"))
        .collect();
    let (mut met, mut by_ingest) = (0, 0);
    for file in &files {
        let path = place.path("bank/live").join(file);
        let whole = fs::read(&path).unwrap();
        let bank = copy(&place.path("bank"));
        let damaged = bank.path().join("live").join(file);
        let mut bytes = whole;
        let middle = bytes.len() / 3;
        bytes[middle..middle + 64]
            .iter_mut()
            .for_each(|byte| *byte ^= 0x5a);
        // The published state has the same file under another name, and it is the same file.
        fs::write(damaged, bytes).unwrap();
        let bank = bank.path().to_str().unwrap();
        let failed = (1..5).find_map(|day| {
            let ended = place.run(&["ingest", bank, &format!("{day}.jsonl")]);
            (ended.status != Some(0)).then_some(ended)
        });
        by_ingest += usize::from(failed.is_some());
        // What no batch has read is met when files are merged.
        let failed = failed.or_else(|| {
            let ended = place.run(&["compact", bank]);
            (ended.status != Some(0)).then_some(ended)
        });
        if let Some(ended) = failed {
            met += 1;
            let error = ended.fails(4);
            assert!(error.contains("Corruption"), "{file}: {error}");
            assert!(!error.contains("room"), "{file}: {error}");
            assert!(error.contains("seedbank check"), "{file}: {error}");
        }
    }
    assert!(
        by_ingest * 2 > files.len(),
        "{by_ingest} of {}",
        files.len()
    );
    // Some bytes are not read, such as those of a filter.
    assert!(
        met * 5 > files.len() * 4,
        "{met} of {} were met",
        files.len()
    );
}

/// A copy of a bank, held in memory if there is a place for it.
fn copy(bank: &Path) -> tempfile::TempDir {
    let folder = support::scratch();
    copy_folder(bank, folder.path());
    folder
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs the command with limited address space; returns its status and standard error.
fn limited(place: &Place, kilobytes: u32, args: &[&str]) -> (Option<i32>, String) {
    let mut shell: Command = clean("sh");
    let ended = shell
        .args([
            "-c",
            &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\""),
        ])
        .arg(env!("CARGO_BIN_EXE_seedbank"))
        .args(args)
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    (ended.status.code(), error)
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_cannot_be_had_is_1() {
    let place = Place::with_seeds();
    let wide: Vec<String> = (0..40_000)
        .map(|n| {
            let (to, next) = (n * 7 % 9001, n + 1);
            record(
                &format!("http://s{}.example/{n}", n % 999),
                &[
                    &format!("http://t{to}.example/"),
                    &format!("http://s{}.example/{next}", next % 999),
                ],
            )
        })
        .collect();
    place.write("wide.jsonl", wide.concat());
    let mut failed = 0;
    for (kilobytes, args) in [
        (100_000, &["ingest", "bank", "--again", "wide.jsonl"][..]),
        (300_000, &["ingest", "bank", "--again", "wide.jsonl"]),
        (500_000, &["ingest", "bank", "--again", "wide.jsonl"]),
        (
            100_000,
            &[
                "refresh", "bank", "--method", "cores", "--within", "0", "--cold",
            ],
        ),
        (
            400_000,
            &[
                "refresh", "bank", "--method", "cores", "--within", "0", "--cold",
            ],
        ),
        (1_000_000, &["status", "bank", "--threads", "1024"]),
    ] {
        let (status, error) = limited(&place, kilobytes, args);
        println!("{kilobytes} KB: {status:?} {error}");
        match status {
            Some(0) => {}
            Some(1) => {
                failed += 1;
                let is_reported = error.lines().any(|line| line.starts_with("error: "));
                assert!(is_reported, "{kilobytes} KB: {error}");
            }
            _ => panic!("{kilobytes} KB: {status:?} {error}"),
        }
    }
    assert!(failed > 0);
    place.state();
}
