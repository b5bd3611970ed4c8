//! Banks that earlier builds wrote are opened, asked, and used further (`tests/fixtures`).
//!
//! Bug classes: a record that is read differently from how it was written, a bank that is refused
//! or emptied by a build that should know it, a reader that changes what it reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::command::Place;
use crate::support::folders::{NO_FILES, changes, contents};
use seedbank::engine::FORMAT;
use serde_json::{Map, Value};

fn fixture(format: u32, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join(format!("tests/fixtures/format-{format}"));
    folder.join(name)
}

/// A bank of an earlier format, unpacked as `bank`, and what the build that wrote it answered. What
/// has become part of the answers since is added: the only URL rules there were.
pub fn unpacked(format: u32, name: &str) -> (Place, Value) {
    let place = Place::new();
    let packed = fixture(format, &format!("{name}.tar.gz"));
    let status = Command::new("tar")
        .arg("-xzf")
        .arg(packed)
        .arg("-C")
        .arg(place.path(""))
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::rename(place.path(name), place.path("bank")).unwrap();
    let answers = std::fs::File::open(fixture(format, &format!("{name}.json.gz"))).unwrap();
    let mut answers: Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(answers)).unwrap();
    if format < 6 {
        answers["status"]["url_rules"] = "whatwg".into();
    }
    (place, answers)
}

/// Everything that the bank answers and that was asked for then, except for what its tables take on
/// disk, and its format.
fn answers(place: &Place) -> Value {
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).json();
    let lines = |args: &[&str]| place.run(&[args, &["--format", "jsonl"]].concat());
    let mut status = json(&["status", "bank"]);
    let physical = [
        "tables",
        "groups",
        "folder_bytes",
        "log_bytes",
        "compacted",
        "format",
        "link_bits",
    ];
    for other in physical.iter().chain(&["at", "last_batch"]) {
        status.as_object_mut().unwrap().remove(*other).unwrap();
    }
    for plan in status["plans"].as_array_mut().unwrap() {
        let then = ["plan", "parameters", "last_refresh"];
        let plan = plan.as_object_mut().unwrap();
        plan.retain(|name, _| then.contains(&name.as_str()));
    }
    let history = json(&["history", "bank"]);
    let (mut seeds, mut cores, mut explain) = (Map::new(), Map::new(), Map::new());
    for refresh in history["refreshes"].as_array().unwrap() {
        let number = refresh["refresh"].to_string();
        let which = ["bank", "--refresh", &number];
        let list = lines(&[&["seeds"], &which[..]].concat()).json_lines();
        for seed in list.iter().take(3) {
            let url = seed["url"].as_str().unwrap();
            let why = json(&["explain", "bank", url, "--refresh", &number]);
            explain.insert(format!("{number} {url}"), why);
        }
        if refresh["cores"] != 0 {
            let list = lines(&[&["cores"], &which[..]].concat()).json_lines();
            cores.insert(number.clone(), list.into());
        }
        seeds.insert(number, list.into());
    }
    serde_json::json!({
        "status": status, "history": history, "seeds": seeds, "cores": cores, "explain": explain,
    })
}

/// When each page of the last lists was a seed.
fn pasts(place: &Place) -> Vec<Value> {
    let plans = place.run(&["status", "bank", "--format", "json"]).json()["plans"].clone();
    let mut pasts = Vec::new();
    for plan in plans.as_array().unwrap() {
        let plan = plan["plan"].as_str().unwrap();
        let seeds = place.run(&["seeds", "bank", "--plan", plan]).done();
        for url in seeds.lines().take(3) {
            let past = place.run(&["history", "bank", url, "--format", "json"]);
            pasts.push(past.json());
        }
    }
    pasts
}

fn marker(place: &Place) -> String {
    std::fs::read_to_string(place.path("bank/SEEDBANK")).unwrap()
}

fn answers_as_it_did(format: u32) {
    for name in ["batches", "refreshes"] {
        let (place, expected) = unpacked(format, name);
        assert_eq!(answers(&place), expected, "{name}");
        let past = pasts(&place);
        place.run(&["check", "bank"]).done();
        assert_eq!(answers(&place), expected, "{name}");
        assert_eq!(marker(&place), format!("seedbank bank, format {format}\n"));
        place.run(&["repair", "bank"]).done();
        // Which lists a page is on is looked up from now on.
        assert_eq!(pasts(&place), past, "{name}");
        assert_eq!(marker(&place), format!("seedbank bank, format {FORMAT}\n"));
        assert_eq!(answers(&place), expected, "{name}");
        place.run(&["check", "bank"]).done();
    }
}

fn goes_on(format: u32) {
    let (place, before) = unpacked(format, "batches");
    let delta = fixture(format, "day-002.jsonl.zst");
    let report = place.run(&[
        "ingest",
        "bank",
        delta.to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert_eq!(report.json()["batch"], 3);
    assert_eq!(marker(&place), format!("seedbank bank, format {FORMAT}\n"));
    place.run(&["check", "bank"]).done();
    let after = answers(&place);
    assert_eq!(after["status"]["url_rules"], "whatwg");
    let history = after["history"]["batches"].clone();
    let first = &history.as_array().unwrap()[..2];
    assert_eq!(first, before["history"]["batches"].as_array().unwrap());

    // What only this format knows.
    let seeds = place.run(&["refresh", "bank", "--seeds", "3", "--format", "json"]);
    assert_eq!(seeds.json()["seeds"], 3);
    let first = place.run(&["seeds", "bank"]).done();
    let url = first.lines().next().unwrap();
    let alias = serde_json::json!({"url": url, "redirect": "http://elsewhere.example/"});
    place.write("alias.jsonl", format!("{alias}\n"));
    place.run(&["ingest", "bank", "alias.jsonl"]).done();
    place.run(&["check", "bank"]).done();
    let why = place
        .run(&["explain", "bank", url, "--format", "json"])
        .json();
    assert_eq!(why["page"]["state"], "alias");

    // As a new bank, and the old one stays as it is.
    let (place, before) = unpacked(format, "refreshes");
    std::fs::rename(place.path("bank"), place.path("old")).unwrap();
    let old = contents(&place.path("old"));
    place.run(&["migrate", "old", "--to", "bank"]).done();
    assert_eq!(marker(&place), format!("seedbank bank, format {FORMAT}\n"));
    assert_eq!(answers(&place), before);
    place.run(&["refresh", "bank"]).done();
    assert_eq!(changes(&old, &place.path("old")), NO_FILES);
    place.run(&["check", "bank"]).done();
    let seeds = answers(&place)["seeds"].clone();
    // The state is the one that refresh 5 ran on.
    let urls = |seeds: &Value| -> Vec<Value> {
        let list = seeds.as_array().unwrap().iter();
        list.map(|seed| seed["url"].clone()).collect()
    };
    assert_eq!(urls(&seeds["6"]), urls(&before["seeds"]["5"]));
    assert_eq!(seeds["4"], before["seeds"]["4"]);
}

#[test]
fn a_full_disk_leaves_a_bank_of_the_older_format() {
    let (place, expected) = unpacked(5, "refreshes");
    // In KiB.
    for limit in ["0", "1", "4", "16", "64", "128"] {
        for args in ["migrate bank", "migrate bank --to new"] {
            place.fails_when_full(limit, args);
            assert_eq!(marker(&place), "seedbank bank, format 5\n");
            assert_eq!(answers(&place), expected, "{args}, {limit}");
            assert!(!place.path("new").exists(), "{args}, {limit}");
        }
    }
    place.run(&["migrate", "bank"]).done();
    assert_eq!(answers(&place), expected);
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_bank_of_format_4_answers_as_it_did() {
    answers_as_it_did(4);
}

#[test]
fn a_bank_of_format_5_answers_as_it_did() {
    answers_as_it_did(5);
}

#[test]
fn a_bank_of_format_6_answers_as_it_did() {
    answers_as_it_did(6);
}

#[test]
fn a_bank_of_format_7_answers_as_it_did() {
    answers_as_it_did(7);
}

#[test]
fn a_bank_of_format_8_answers_as_it_did() {
    answers_as_it_did(8);
}

#[test]
fn a_bank_of_format_9_answers_as_it_did() {
    answers_as_it_did(9);
}

#[test]
fn a_bank_of_format_10_answers_as_it_did() {
    answers_as_it_did(10);
}

#[test]
fn a_bank_of_format_4_goes_on() {
    goes_on(4);
}

#[test]
fn a_bank_of_format_5_goes_on() {
    goes_on(5);
}

#[test]
fn a_bank_of_format_6_goes_on() {
    goes_on(6);
}

#[test]
fn a_bank_of_format_8_goes_on() {
    goes_on(8);
}

#[test]
fn a_bank_of_format_9_goes_on() {
    goes_on(9);
}

#[test]
fn a_bank_of_format_10_goes_on() {
    goes_on(10);
}

/// What was written of a bank of an earlier format makes one of today's that holds the same.
#[test]
fn banks_of_earlier_formats_are_exported() {
    for format in 4..FORMAT {
        let (place, _) = unpacked(format, "batches");
        let sites = ["--sites-out", "sites.jsonl"];
        let export = [&["export", "bank", "--out", "all.jsonl"], &sites[..]].concat();
        let told = place.run(&export).err;
        let init = told
            .lines()
            .find_map(|l| l.strip_prefix("  seedbank init NEWBANK "));
        let init: Vec<&str> = init.unwrap().split(' ').collect();
        place.run(&[&["init", "new"], &init[..]].concat()).done();
        place
            .run(&[
                "ingest",
                "new",
                "all.jsonl",
                "--snapshot",
                "--sites",
                "sites.jsonl",
            ])
            .done();
        assert_eq!(place.holds("new"), place.holds("bank"), "{format}");
        let again = place.run(&["export", "new", "-q"]).done();
        assert_eq!(
            again,
            std::fs::read_to_string(place.path("all.jsonl")).unwrap()
        );
        assert_eq!(marker(&place), format!("seedbank bank, format {format}\n"));
    }
}

#[test]
fn a_bank_of_format_7_goes_on() {
    goes_on(7);
}
