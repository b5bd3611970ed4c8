//! Test cases as text files: what a case does, and after a line `--` what comes of it. A test runs all cases of its files
//! and compares; with `SEEDBANK_WRITE_TEXTS=1` it rewrites what follows `--`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs every case of the text files of a folder, by its lines, and compares its output with what the file says.
pub fn check_files(folder: &str, run: impl Fn(&[&str]) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let mut failed = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut cases = text.split("\n== ");
        let mut rewritten = cases.next().unwrap().trim_end().to_owned() + "\n";
        for case in cases {
            let (name, body) = case.split_once('\n').unwrap();
            let place = format!("{}: {name}", file.file_name().unwrap().display());
            eprintln!("{place}");
            let (input, expected) = body.split_once("\n--\n").unwrap_or((body.trim_end(), ""));
            let found = run(&input.lines().collect::<Vec<_>>());
            write!(rewritten, "\n== {name}\n{input}\n--\n{found}").unwrap();
            if found.trim_end() != expected.trim_end() {
                failed.push(format!("{place}\nexpected:\n{expected}\nfound:\n{found}"));
            }
        }
        if std::env::var_os("SEEDBANK_WRITE_TEXTS").is_some() {
            fs::write(file, rewritten).unwrap();
            failed.clear();
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Replaces `http://a.example/` by `<a>` and `http://a.example/x` by `<a/x>`.
pub fn short_form(text: &str) -> String {
    let mut parts = text.split("http://");
    let mut short = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(['"', ' ', '\n']).unwrap_or(part.len());
        match part[..end].split_once(".example/") {
            Some((host, "")) => write!(short, "<{host}>").unwrap(),
            Some((host, path)) => write!(short, "<{host}/{path}>").unwrap(),
            None => write!(short, "http://{}", &part[..end]).unwrap(),
        }
        short.push_str(&part[end..]);
    }
    short
}
