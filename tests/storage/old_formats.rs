//! Banks that earlier builds wrote are opened, queried, and used further (`tests/fixtures`). Steps
//! from one format to the next are tested in `src/store/maintenance/migrate_tests.rs`.
//!
//! Bug classes: a record that is read differently from how it was written, a bank that is refused
//! or emptied by a build that should know it, a reader that changes what it reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::command::{Place, record};
use crate::support::folders::{NO_FILES, changes, contents};
use seedbank::engine::maintenance::FORMAT;
use serde_json::{Map, Value};

fn fixture(format: u32, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join(format!("tests/fixtures/format-{format}"));
    folder.join(name)
}

/// A bank of a format, unpacked as `bank`, and what the build that wrote it answered.
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
    let answers = serde_json::from_reader(flate2::read::GzDecoder::new(answers)).unwrap();
    (place, answers)
}

/// Banks by format, all that there are.
const BANKS: [(u32, &str); 5] = [
    (1, "batches"),
    (1, "refreshes"),
    (12, "times"),
    (13, "failures"),
    (14, "parts"),
];

/// The same in the format of this build.
pub fn migrated(format: u32, name: &str) -> (Place, Value) {
    let (place, answers) = unpacked(format, name);
    if format != FORMAT {
        let before = contents(&place.path("bank"));
        let error = place.run(&["status", "bank"]).fails(4);
        assert!(error.contains("`seedbank migrate BANK`"), "{error}");
        assert_eq!(changes(&before, &place.path("bank")), NO_FILES);
        place.run(&["migrate", "bank"]).done();
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
        "bits_per_link",
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
    let mut answers = serde_json::json!({
        "status": status, "history": history, "seeds": seeds, "cores": cores, "explain": explain,
    });
    remove_added(&mut answers);
    answers
}

/// Removes fields that answers have only since after the banks were made.
fn remove_added(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            fields.remove("hub_sites");
            for added in ["stale", "failed", "failing"] {
                fields.remove(added);
            }
            if fields.contains_key("gathered") {
                for added in ["draws", "crawled", "parameters"] {
                    fields.remove(added);
                }
            }
            fields.values_mut().for_each(remove_added);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_added),
        _ => {}
    }
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

#[test]
fn a_bank_answers_as_it_did() {
    for (format, name) in BANKS {
        let (place, expected) = migrated(format, name);
        let before = contents(&place.path("bank"));
        assert_eq!(answers(&place), expected, "{name}");
        let past = pasts(&place);
        place.run(&["check", "bank"]).done();
        assert_eq!(changes(&before, &place.path("bank")), NO_FILES);
        place.run(&["repair", "bank"]).done();
        assert_eq!(pasts(&place), past, "{name}");
        assert_eq!(answers(&place), expected, "{name}");
        place.run(&["check", "bank"]).done();
    }
}

/// Format 1 has no fetch times; what comes after gives them.
#[test]
fn pages_have_times_since_format_12() {
    let page = |place: &Place, url: &str| {
        let page = place.run(&["page", "bank", url, "--format", "json"]).json();
        page["fetched"].clone()
    };
    let url = "http://www.animals8.example/";
    let (place, _) = migrated(12, "times");
    assert_eq!(page(&place, url), 1_767_252_968);
    let gone = "http://www.animals8.example/x";
    assert_eq!(page(&place, gone), 1_767_312_000);
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(history["batches"][2]["stale"], 1);

    let (place, _) = migrated(1, "batches");
    assert_eq!(page(&place, url), Value::Null);
    let record = record(url, &[]);
    let ingest = ["ingest", "bank", "-", "--as-of", "2025-12-31"];
    place.run_with(&ingest, record.as_bytes()).done();
    assert_eq!(page(&place, url), 1_767_139_200);
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_bank_of_format_1_goes_on() {
    let (place, before) = migrated(1, "batches");
    let delta = fixture(1, "day-002.jsonl.zst");
    let report = place.run(&[
        "ingest",
        "bank",
        delta.to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert_eq!(report.json()["batch"], 3);
    place.run(&["check", "bank"]).done();
    let after = answers(&place);
    assert_eq!(after["status"]["url_rules"], "whatwg");
    let history = after["history"]["batches"].clone();
    let first = &history.as_array().unwrap()[..2];
    assert_eq!(first, before["history"]["batches"].as_array().unwrap());
    let seeds = place.run(&[
        "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "3", "--format", "json",
    ]);
    assert_eq!(seeds.json()["seeds"], 3);
    place.run(&["check", "bank"]).done();

    // The plans of the other bank, on the state that they ran on last.
    let (place, before) = migrated(1, "refreshes");
    let urls = |seeds: &Value| -> Vec<Value> {
        let list = seeds.as_array().unwrap().iter();
        list.map(|seed| seed["url"].clone()).collect()
    };
    for (plan, last) in [
        ("within", "2"),
        ("sites", "3"),
        ("web", "4"),
        ("default", "5"),
    ] {
        let options = ["refresh", "bank", "--plan", plan, "--format", "json"];
        let number = place.run(&options).json()["refresh"].to_string();
        let seeds = answers(&place)["seeds"].clone();
        assert_eq!(
            urls(&seeds[&number]),
            urls(&before["seeds"][last]),
            "{plan}"
        );
        assert_eq!(seeds[last], before["seeds"][last], "{plan}");
    }
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_bank_is_migrated_to_a_new_one() {
    for (format, name) in BANKS {
        let (place, expected) = unpacked(format, name);
        let before = contents(&place.path("bank"));
        std::fs::rename(place.path("bank"), place.path("old")).unwrap();
        place.run(&["migrate", "old", "--to", "bank"]).done();
        assert_eq!(answers(&place), expected);
        assert_eq!(changes(&before, &place.path("old")), NO_FILES);
        place.run(&["check", "bank"]).done();
    }
}

#[test]
fn a_bank_of_this_format_needs_no_migration() {
    let (place, _) = migrated(12, "times");
    let before = contents(&place.path("bank"));
    let told = place.run(&["migrate", "bank"]).done();
    let nothing = format!("nothing to do: the bank already has format {FORMAT}\n");
    assert_eq!(told, nothing);
    assert_eq!(changes(&before, &place.path("bank")), NO_FILES);
}

#[test]
fn a_full_disk_leaves_no_part_of_a_new_bank() {
    let (place, expected) = migrated(12, "times");
    // In KiB.
    for limit in ["0", "1", "4", "16"] {
        place.fails_when_full(limit, "migrate bank --to new");
        assert_eq!(answers(&place), expected, "{limit}");
        assert!(!place.path("new").exists(), "{limit}");
    }
}

/// What was written of the bank makes one that holds the same.
#[test]
fn a_bank_of_format_1_is_exported() {
    let (place, _) = migrated(1, "batches");
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
            "--as-of",
            "2026-01-02",
        ])
        .done();
    assert_eq!(place.holds("new"), place.holds("bank"));
    // Only the time of the new batch is added.
    let again = place.run(&["export", "new", "-q"]).done();
    let again = again.replace(r#","fetched":"2026-01-02T00:00:00Z""#, "");
    assert_eq!(
        again,
        std::fs::read_to_string(place.path("all.jsonl")).unwrap()
    );
}
