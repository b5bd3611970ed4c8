//! Many small batches: the files of a bank stay few, and so do those that are open.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::command::{clean, names, record};
use crate::support::plans::exact_cores;
use seedbank::engine::{Bank, IngestRequest, PlanOptions, RefreshRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};

/// How many table files are in a folder.
fn tables(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"))
        .count()
}

/// A batch of these lines.
fn take(bank: &Bank, folder: &Path, lines: &str) {
    let file = folder.join("delta.jsonl");
    fs::write(&file, lines).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(file)],
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
}

/// A bank with many batches of three records, each of which is changed again and again.
fn fill(folder: &Path, batches: u32) -> Bank {
    let bank = Bank::create(folder.join("bank"), SiteMode::Host.with(UrlRules::Whatwg)).unwrap();
    for batch in 0..batches {
        let lines: String = (0..3)
            .map(|at| {
                let page = format!("http://s{}.example/{}", (batch + at) % 50, batch % 7);
                let to = format!("http://t{}.example/{batch}", batch % 11);
                record(&page, &[&to, "http://t.example/"])
            })
            .collect();
        take(&bank, folder, &lines);
    }
    bank
}

/// The bytes of the logs in a folder.
fn log_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let logs = files.filter(|file| file.path().extension().is_some_and(|end| end == "log"));
    logs.map(|file| file.metadata().unwrap().len()).sum()
}

/// What readers would have to read into memory stays small, whatever the batches are.
#[test]
fn the_log_stays_below_a_mebibyte() {
    let folder = support::scratch();
    let bank = fill(folder.path(), 1);
    let mut most = 0;
    for batch in 0..8 {
        // From 200 KiB of log to 1.6 MiB.
        let lines: String = (0..1_000 * (batch + 1))
            .map(|page| {
                let to = format!("http://t{}.example/{batch}", page % 50);
                record(&format!("http://n{page}.example/"), &[&to])
            })
            .collect();
        take(&bank, folder.path(), &lines);
        let published = folder.path().join("bank/published");
        let live = log_bytes(&folder.path().join("bank/live"));
        let names = names(&published);
        let epochs = names.iter().filter_map(|name| name.parse::<u64>().ok());
        let read = log_bytes(&published.join(epochs.max().unwrap().to_string()));
        assert!(live.max(read) < 1 << 20, "{batch}: {live} and {read}");
        most = most.max(read);
    }
    assert!(most > 100_000, "{most}");
}

#[test]
fn small_batches_leave_few_files() {
    let folder = support::scratch();
    let bank = fill(folder.path(), 60);
    let request = RefreshRequest {
        options: exact_cores(PlanOptions {
            seeds: Some(5),
            ..PlanOptions::default()
        }),
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap();
    let live = tables(&folder.path().join("bank/live"));
    println!("{live} files");
    // Ten per table would be 300; RocksDB alone begins to slow writes down at 20.
    assert!(live < 200, "{live} files of tables");

    // A process that may have few files open reads and checks them all.
    for args in [
        &["check", "bank"][..],
        &["seeds", "bank"],
        &["status", "bank", "--sizes"],
        &["ingest", "bank", "--again", "delta.jsonl"],
        &[
            "refresh", "bank", "--method", "cores", "--within", "0", "--cold",
        ],
    ] {
        let mut shell: Command = clean("sh");
        shell
            .args(["-c", "ulimit -n 128 && exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_seedbank"))
            .args(args)
            .current_dir(folder.path());
        let ended = shell.output().unwrap();
        assert!(ended.status.success(), "{args:?}: {ended:?}");
    }
}
