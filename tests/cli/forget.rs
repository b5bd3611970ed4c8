//! `forget` as a user types it: pages and sites, blocks, the effect of `compact`, and backups.

use std::fs;
use std::path::Path;

use crate::support::command::{Place, TWO_CORES, record};
use crate::support::schemas::fits;

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
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "3",
        ])
        .done();
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
    assert!(
        text.contains("line of the lists of bad records: 1"),
        "{text}"
    );
    place.run(&["compact", "bank"]).done();
    assert_eq!(with_text(&bank, SECRET), Vec::<String>::new());
    assert!(
        place
            .run(&["check", "bank"])
            .done()
            .contains("no problems found")
    );
    let history = place.run(&["history", "bank"]).done();
    assert!(history.contains(" forget forgotten: "), "{history}");
    let undo = place.run(&["undo", "bank"]).fails(2);
    assert!(undo.contains("cannot be undone"), "{undo}");
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
        (&report["blocked"]["records"], &report["blocked"]["links"]),
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
            .contains("no problems found")
    );
}

#[test]
fn many_pages_are_forgotten_only_when_confirmed() {
    let place = Place::with_bank();
    let page = |site: &str, number: u32| format!("http://{site}.example/{number}");
    let mut lines = String::new();
    for number in 0..100 {
        lines += &record(&page("most", number), &["http://hub.example/"]);
    }
    for number in 0..3 {
        lines += &record(&page("few", number), &[]);
    }
    lines += &record("http://hub.example/", &[&page("most", 7), &page("few", 1)]);
    place.write("day.jsonl", lines);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let state = place.state();
    let both = ["forget", "bank", "most.example", "few.example", "--block"];
    let error = place.run(&both).fails(2);
    let words = "error: the bank is unchanged: 103 pages and 102 links would be forgotten; expected at most 100 pages; by site: most.example (100 pages), few.example (3 pages)\n";
    assert!(error.starts_with(words), "{error}");
    assert!(error.contains("repeat the command with --yes"), "{error}");
    assert_eq!(place.state(), state);
    // 100 pages need no confirmation.
    let done = place.run(&["forget", "bank", "most.example"]).done();
    assert!(
        done.starts_with("forgotten, as batch 2: 100 pages, "),
        "{done}"
    );
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let done = place.run(&[&both[..], &["--yes"]].concat()).done();
    let words = "forgotten, as batch 4: 103 pages, 2 whole sites, 102 links, ";
    assert!(done.starts_with(words), "{done}");
    assert_eq!(place.status()["crawled"], 1);
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
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place.run(&["diff", "bank"]).done();
    assert!(
        place
            .run(&["check", "bank"])
            .done()
            .contains("no problems found")
    );
}

#[test]
fn only_what_was_named_goes() {
    let place = place();
    let before = place.status();
    for name in [
        "taken.example\\x",
        "taken.example#x",
        "taken.example:8080",
        "user@taken.example",
        "mailto:user@taken.example",
    ] {
        let error = place.run(&["forget", "bank", name]).fails(2);
        assert!(error.contains("expected the name of a site"), "{error}");
        assert!(
            error.contains("hint: give the site, taken.example, or URLs of pages"),
            "{error}"
        );
        assert_eq!(place.status(), before, "{name}");
    }
    let near = place
        .run(&["forget", "bank", "http://taken.example/"])
        .fails(5);
    assert!(
        near.contains(&format!("http://taken.example/{SECRET}")),
        "{near}"
    );
    // A site that is a domain has more hosts than the one that is named.
    place.run(&["init", "domains", "--site", "domain"]).done();
    place.write(
        "hosts.jsonl",
        [
            record("http://sub.taken.com/", &["http://taken.com/x"]),
            record("http://taken.com/", &["http://a.com/"]),
        ]
        .concat(),
    );
    place.run(&["ingest", "domains", "hosts.jsonl"]).done();
    let error = place.run(&["forget", "domains", "sub.taken.com"]).fails(2);
    assert!(error.contains("which is on site taken.com"), "{error}");
    let report = place
        .run(&["forget", "domains", "Taken.com.", "--format", "json"])
        .json();
    assert_eq!((&report["pages"], &report["sites"]), (&3.into(), &1.into()));
}

#[test]
fn lists_lose_what_was_named_however_it_is_spelled_and_nothing_else() {
    let place = Place::with_bank();
    place.write("day0.jsonl", TWO_CORES);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    let pages = [
        "http://www.unique.test/",
        "http://m\u{fc}nchen.test/zq-geheim",
        "http://sub.unique.test/kept",
        "http://other.test/kept",
    ];
    let lines = pages.map(|page| record(page, &["http://x.example/"]));
    let bad = |url: &str| format!("{{\"url\": \"{url}\", \"clicks\": -1}}\n");
    place.write(
        "day1.jsonl",
        lines.concat()
            + &bad("http://xn--mnchen-3ya.test:80/a/../zq-geheim")
            + &bad("http:\\/\\/www.unique.test\\/")
            + &bad("http://sub.unique.test/bad")
            + &bad("http://nowhere.test/zq-lost"),
    );
    place
        .run(&["ingest", "bank", "day1.jsonl", "--max-rejects", "90"])
        .done();
    place.write("pins.txt", "HTTP://www.unique.test\nhttp://m\u{fc}nchen.test/%7Aq-geheim\nhttp://sub.unique.test/kept\n");
    place.write("no.txt", "sub.unique.test/x*\nother.test\n");
    place
        .run(&[
            "refresh",
            "bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--seeds",
            "5",
            "--pin",
            "pins.txt",
            "--exclude",
            "no.txt",
        ])
        .done();
    let report = place
        .run(&[
            "forget",
            "bank",
            "unique.test",
            "http://m\u{fc}nchen.test/zq-geheim",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(report["pages"], 2, "{report}");
    assert_eq!(report["list_lines"], 2, "{report}");
    assert_eq!(report["reject_lines"], 2, "{report}");
    // What stands in a list of bad records alone is known there.
    let report = place
        .run(&[
            "forget",
            "bank",
            "http://nowhere.test/zq-lost",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(
        (&report["pages"], &report["reject_lines"]),
        (&0.into(), &1.into())
    );
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place.run(&["compact", "bank"]).done();
    let bank = place.path("bank");
    for text in ["zq-", "www.unique", "m\u{fc}nchen"] {
        assert_eq!(with_text(&bank, text), [""; 0], "{text}");
    }
    let plan = place.run(&["plans", "bank", "--format", "json"]).done();
    assert!(!with_text(&bank, "sub.unique.test").is_empty(), "{plan}");
    let seeds = place.run(&["seeds", "bank"]).done();
    assert!(seeds.contains("http://sub.unique.test/kept"), "{seeds}");
}

/// Sixteen MiB are the most that a line of a file may have, and links come otherwise, too.
#[test]
fn a_page_of_very_many_links_loses_one() {
    let place = Place::with_bank();
    let mut links = String::new();
    for n in 0..240_000 {
        use std::fmt::Write;
        writeln!(links, "http://hub.test/\thttp://t{}.test/{n:060}", n % 20).unwrap();
    }
    place.write("links.tsv", links);
    place
        .run(&["ingest", "bank", "links.tsv", "--input", "links"])
        .done();
    let report = place
        .run(&["forget", "bank", "t7.test", "--yes", "--format", "json"])
        .json();
    assert_eq!(report["pages"], 12_000, "{report}");
    assert_eq!(place.status()["inter_links"], 228_000);
}

#[test]
fn what_is_restored_without_what_is_blocked_is_there_whole_or_not_at_all() {
    let place = place();
    place.run(&["backup", "bank", "backups"]).done();
    place
        .run(&["forget", "bank", "taken.example", "--block"])
        .done();
    // Another bank, whose backup has a secret of its own.
    place.run(&["init", "other"]).done();
    place.run(&["ingest", "other", "day0.jsonl"]).done();
    place
        .run(&["forget", "other", "gone.example", "--block"])
        .done();
    place.run(&["backup", "other", "theirs"]).done();
    let restore = ["restore", "theirs", "new", "--blocks-of", "bank"];
    let error = place.run(&restore).fails(2);
    assert!(error.contains("with its own secret"), "{error}");
    assert!(
        error.contains("hint: restore without --blocks-of"),
        "{error}"
    );
    assert!(!place.path("new").exists());
    // What a killed one leaves is nothing that anybody takes for a bank, and the next one removes it.
    fs::create_dir(place.path(".seedbank-making-new")).unwrap();
    fs::write(place.path(".seedbank-making-new/writer.lock"), "").unwrap();
    place
        .run(&["restore", "backups", "new", "--blocks-of", "bank"])
        .done();
    assert!(!place.path(".seedbank-making-new").exists());
    let site = place.run(&["explain", "new", "--site", "taken.example"]);
    assert_eq!(site.status, Some(5), "{site:?}");
    place.run(&["check", "new"]).done();
}
