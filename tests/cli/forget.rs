//! `forget` as a user types it: a page and a site, what is blocked, what `compact` leaves, a backup.

use std::fs;
use std::path::Path;

use crate::schemas::fits;
use crate::support::command::{Place, TWO_CORES, record};

/// The files below a folder that have a text in their bytes.
fn with_text(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(with_text(&path, text));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        if bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

const SECRET: &str = "zq-secret-page";

fn place() -> Place {
    let place = Place::with_bank();
    place.write("day0.jsonl", TWO_CORES);
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    let url = format!("http://taken.example/{SECRET}");
    let lines = [
        record(&url, &["http://a.example/"]),
        record("http://other.example/", &[&url, "http://a.example/"]),
        // A bad record that names it.
        format!("{{\"url\": \"{url}\", \"clicks\": -1}}\n"),
    ];
    place.write("day1.jsonl", lines.concat());
    place
        .run(&["ingest", "bank", "day1.jsonl", "--max-rejects", "50"])
        .done();
    place.run(&["refresh", "bank", "--seeds", "3"]).done();
    place
}

#[test]
fn no_byte_is_left_once_files_are_merged() {
    let place = place();
    let url = format!("http://taken.example/{SECRET}");
    let bank = place.path("bank");
    assert!(!with_text(&bank, SECRET).is_empty());
    place.run(&["backup", "bank", "backups"]).done();
    let unknown = place.run(&["forget", "bank", "http://taken.example/nothing"]);
    assert_eq!(unknown.status, Some(5), "{unknown:?}");
    let typed = place.run(&["forget", "bank", "taken.example/x"]).fails(2);
    assert!(typed.contains("has no scheme"), "{typed}");
    let forgotten = place.run(&["forget", "bank", &url, "--block"]);
    assert!(forgotten.err.contains("compact"), "{}", forgotten.err);
    let text = forgotten.done();
    assert!(
        text.starts_with("forgotten, as batch 3: 1 page, 0 whole sites, 2 links, "),
        "{text}"
    );
    assert!(text.contains("line of lists of bad records: 1"), "{text}");
    place.run(&["compact", "bank"]).done();
    assert_eq!(with_text(&bank, SECRET), Vec::<String>::new());
    assert!(
        place
            .run(&["check", "bank"])
            .done()
            .contains("nothing is wrong")
    );
    let history = place.run(&["history", "bank"]).done();
    assert!(history.contains(" forget forgotten: "), "{history}");
    let undo = place.run(&["undo", "bank"]).fails(2);
    assert!(undo.contains("does not come back"), "{undo}");
    // It does not come back by a crawl, and that is told.
    let report = place.run(&[
        "ingest",
        "bank",
        "day1.jsonl",
        "--max-rejects",
        "50",
        "--format",
        "json",
    ]);
    let report = report.json();
    fits("ingest", &report);
    assert_eq!(
        (&report["barred"]["records"], &report["barred"]["links"]),
        (&1.into(), &1.into())
    );
    let page = place.run(&["page", "bank", &url]);
    assert_eq!(page.status, Some(5), "{page:?}");
    // Nor by a backup, where the bank that blocks it is named.
    place.run(&["restore", "backups", "restored"]).done();
    place.run(&["page", "restored", &url]).done();
    place
        .run(&["restore", "backups", "clean", "--blocks-of", "bank"])
        .done();
    let page = place.run(&["page", "clean", &url]);
    assert_eq!(page.status, Some(5), "{page:?}");
    assert!(
        place
            .run(&["check", "clean"])
            .done()
            .contains("nothing is wrong")
    );
}

#[test]
fn a_site_goes_with_all_its_pages() {
    let place = place();
    let report = place
        .run(&["forget", "bank", "taken.example", "--format", "json"])
        .json();
    fits("forget", &report);
    assert_eq!((&report["pages"], &report["sites"]), (&1.into(), &1.into()));
    let site = place.run(&["explain", "bank", "--site", "taken.example"]);
    assert_eq!(site.status, Some(5), "{site:?}");
    // Lists of seeds and their reasons can still be asked.
    let seeds = place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines();
    for seed in seeds {
        place
            .run(&["explain", "bank", seed["url"].as_str().unwrap()])
            .done();
    }
    place.run(&["cores", "bank"]).done();
    place.run(&["refresh", "bank"]).done();
    place.run(&["diff", "bank"]).done();
    assert!(
        place
            .run(&["check", "bank"])
            .done()
            .contains("nothing is wrong")
    );
}
