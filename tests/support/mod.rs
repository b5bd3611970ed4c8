//! What several test programs share: the command in a folder of its own, where to find the real
//! graphs and golden results, random batches, and a model of a bank.
#![expect(
    dead_code,
    reason = "each test program uses its own part of this module, and none of them all"
)]

pub mod asking;
pub mod banks;
pub mod command;
pub mod crawler_texts;
pub mod crowds;
pub mod days;
pub mod folders;
pub mod graphs;
pub mod histories;
pub mod http;
pub mod marked_tables;
pub mod model;
pub mod over_web;
pub mod plans;
pub mod prometheus;
pub mod properties;
pub mod records;
pub mod refreshes;
pub mod schemas;
pub mod sites;
pub mod skipped;
#[cfg(feature = "parquet")]
pub mod tables;
pub mod texts;
pub mod transcript;
pub mod warc;
pub mod wat;
pub mod webdriver;
pub mod weights;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder with `data/` and `golden/`: `$SEEDBANK_DATA`, or else `../shared` beside the
/// checkout.
///
/// If it is missing, says so on standard error, naming the test that is skipped.
pub fn shared(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SEEDBANK_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    if folder.join("data").is_dir() && folder.join("golden").is_dir() {
        return Some(folder);
    }
    let advice = format!(
        "no data/ and golden/ in {}; set SEEDBANK_DATA to the folder that has them",
        folder.display()
    );
    skipped::skipped(test, "real graphs", &advice);
    None
}

/// How many cases a test tries: in the suite this many, in `make test-long` `LONG_CASES` times as many.
pub fn cases(few: u32) -> u32 {
    few * properties::times()
}

/// The number that an environment variable sets for `make test-long`; `None` in the suite.
pub fn long(name: &str) -> Option<u32> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// The first `few` of the 17 days of a real crawl, or as many as `LONG_REAL` says: the date and file of each. Most of
/// the crawl comes after the tenth.
pub fn real_days(shared: &Path, few: usize) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(shared.join("data/friendlinks")).unwrap();
    let dated = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        (
            name.strip_suffix(".jsonl.gz").unwrap().to_owned(),
            path.clone(),
        )
    };
    let mut days: Vec<(String, PathBuf)> = files.map(|file| dated(file.unwrap().path())).collect();
    assert_eq!(days.len(), 17);
    days.sort();
    days.truncate(long("LONG_REAL").map_or(few, |days| days as usize));
    days
}

/// A folder for banks: in memory if the system has such a place, since every commit waits for the
/// disk.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().unwrap()
}

/// The whole text of a gzip file.
pub fn gunzip(path: &Path) -> String {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text
}

/// A golden result, by its file name without `.json.gz`.
pub fn golden(shared: &Path, name: &str) -> serde_json::Value {
    let path = shared.join("golden").join(format!("{name}.json.gz"));
    serde_json::from_str(&gunzip(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
