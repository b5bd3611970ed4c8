//! Cluster banks give what a bank in one database gives, whatever their number of parts, and damage to parts is found.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use seedbank::engine::{Bank, Plan, RefreshRequest};
use seedbank::ingest::Naming;

use crate::support::asking::{PAGES, ask_handle, questions};
use crate::support::command::Place;
use crate::support::histories::{PLENTY, exported, history};
use crate::support::model::ingest;
use crate::support::properties::repeatable;
use crate::support::records::{Batch, batch};
use crate::support::scratch;

/// Runs plans of all kinds; what they fail with is part of the result.
fn refresh_all(bank: &Bank) -> Vec<String> {
    let requests = [
        (
            "coverage",
            RefreshRequest::with("coverage", Plan::coverage().seeds(5).budget(20)),
        ),
        (
            "cores",
            RefreshRequest::with("cores", Plan::communities().seeds(5)),
        ),
        ("sites", RefreshRequest::with("sites", Plan::sites())),
    ];
    let refreshes = requests
        .into_iter()
        .map(|(name, request)| match bank.refresh(&request) {
            Ok(report) => format!(
                "{name}: {} seeds, {} cores",
                report.view.seeds, report.view.cores
            ),
            Err(e) => format!("{name}: {e}"),
        });
    refreshes.collect()
}

/// Everything that a history and one more batch lead to, step by step.
fn results(bank: &Bank, batches: &[Batch], last: &Batch) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut note = |what: &str, text: String| all.push((what.to_owned(), text));
    for batch in batches {
        ingest(bank, batch, PLENTY);
    }
    note("refreshes", refresh_all(bank).join("\n"));
    ingest(bank, last, PLENTY);
    note("refreshes again", refresh_all(bank).join("\n"));
    let status = bank.status().unwrap();
    note(
        "counters",
        format!("{:?} {}", status.counters, status.sites),
    );
    let mut urls = Vec::new();
    let each = |page: seedbank::engine::query::PageView| {
        urls.push(page.url);
        Ok::<_, seedbank::engine::EngineError>(())
    };
    bank.pages(each).unwrap();
    let mut asked = questions(status.counters.refreshes, &urls);
    // They have the size of files, the times of commands, and pages in the order of their sites' ids.
    asked.retain(|question| !["status", "history", PAGES].contains(&question.as_str()));
    // Opening all parts for each question would take most of the time.
    for (question, answer) in ask_handle(&bank.pinned().unwrap(), &asked) {
        note(&question, answer);
    }
    note("export", String::from_utf8(exported(bank)).unwrap());
    let check = bank.check().unwrap();
    assert!(check.is_clean(), "{check:?}");
    if bank.undo(false, PLENTY).is_ok() {
        note("undone", String::from_utf8(exported(bank)).unwrap());
    }
    let check = bank.check().unwrap();
    assert!(check.is_clean(), "{check:?}");
    all
}

#[test]
fn any_number_of_parts_gives_what_one_database_gives() {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 50,
        ..repeatable(4)
    });
    let outcome = runner.run(&(history(4), batch(14)), |((naming, batches), last)| {
        let folder = scratch();
        let at = |name: &str| folder.path().join(name);
        let single = Bank::create(at("single"), naming).unwrap();
        let expected = results(&single, &batches, &last);
        for parts in [1, 2, 5] {
            let name = format!("parts-{parts}");
            let bank = Bank::create_cluster(at(&name), naming, parts).unwrap();
            let found = results(&bank, &batches, &last);
            for (one, other) in expected.iter().zip(&found) {
                prop_assert_eq!(one, other, "{} parts", parts);
            }
            prop_assert_eq!(expected.len(), found.len());
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn sites_are_spread_over_all_parts() {
    let place = Place::new();
    place
        .run(&["cluster", "init", "bank", "--banks", "4"])
        .done();
    place
        .run(&["synth", "crawl", "--pages", "2000", "--days", "1"])
        .done();
    place
        .run(&["ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot"])
        .done();
    assert_eq!(place.status_of("bank")["parts"], 4);
    let tables = |part: &str| {
        let entries = seedbank_store::raw_entries(&place.path(part), "sites").unwrap();
        entries.len()
    };
    let parts = ["bank", "bank/parts/001", "bank/parts/002", "bank/parts/003"];
    let counts = parts.map(tables);
    let sites: usize = counts.iter().sum();
    assert_eq!(
        sites as u64,
        place.status_of("bank")["sites"].as_u64().unwrap()
    );
    assert!(
        counts.iter().all(|count| count * 4 > sites * 4 / 5),
        "{counts:?}"
    );
}

#[test]
fn a_part_is_no_bank_and_a_missing_part_is_damage() {
    let place = Place::new();
    place
        .run(&["cluster", "init", "bank", "--banks", "3"])
        .done();
    let err = place.run(&["status", "bank/parts/001"]).fails(4);
    assert!(err.contains("is a part of a cluster bank"), "{err}");
    let repaired = place.run(&["repair", "bank"]).done();
    assert!(
        repaired.contains("nothing had to be repaired"),
        "{repaired}"
    );
    for found in ["0", "1025"] {
        let err = place
            .run(&["cluster", "init", "other", "--banks", found])
            .fails(2);
        assert!(err.contains("1 to 1024"), "{err}");
    }
    // Two parts exchanged, and one that is gone.
    let (one, two) = (place.path("bank/parts/001"), place.path("bank/parts/002"));
    let away = place.path("away");
    fs::rename(&one, &away).unwrap();
    let err = place.run(&["status", "bank"]).fails(4);
    assert!(err.contains("part 1 is missing"), "{err}");
    for (command, doing) in [
        (&["backup", "bank", "copies"][..], "a backup"),
        (&["compact", "bank"], "compaction"),
        (&["repair", "bank"], "repair"),
    ] {
        let err = place.run(command).fails(1);
        let says = format!(
            "error: {doing} needs all parts of the bank on this machine; part 1 is not in bank/parts/001\n"
        );
        assert!(err.starts_with(&says), "{err}");
        assert!(
            err.contains("hint: move, link or mount the folders"),
            "{err}"
        );
        assert!(!place.path("copies").exists());
    }
    fs::rename(&two, &one).unwrap();
    let err = place.run(&["status", "bank"]).fails(4);
    assert!(
        err.contains("expected seedbank part 1 of 3, found seedbank part 2 of 3"),
        "{err}"
    );
    fs::rename(&one, &two).unwrap();
    fs::rename(&away, &one).unwrap();
    place.run(&["status", "bank"]).done();
}

#[test]
fn a_part_of_another_state_is_damage() {
    let place = Place::new();
    place
        .run(&["cluster", "init", "bank", "--banks", "2"])
        .done();
    let part = place.path("bank/parts/001");
    crate::support::folders::copy(&part, &place.path("copy"));
    place.write(
        "a.jsonl",
        "{\"url\":\"http://a.example/\",\"outlinks\":[]}\n",
    );
    place.run(&["ingest", "bank", "a.jsonl"]).done();
    fs::rename(&part, place.path("away")).unwrap();
    fs::rename(place.path("copy"), &part).unwrap();
    for command in [["status", "bank"], ["undo", "bank"]] {
        let err = place.run(&command).fails(4);
        assert!(err.contains("damaged bank"), "{err}");
    }
}

#[test]
fn a_lost_intent_of_a_decided_commit_is_damage() {
    let place = Place::new();
    let bank = place.path("bank");
    Bank::create_cluster(&bank, Naming::default(), 2).unwrap();
    let part: PathBuf = bank.join("parts/001");
    // Part 1 is one state ahead, and the first part is not prepared for it.
    let ahead = place.path("ahead");
    crate::support::folders::copy(&bank, &ahead);
    place.write(
        "a.jsonl",
        "{\"url\":\"http://a.example/\",\"outlinks\":[]}\n",
    );
    place.run(&["ingest", "ahead", "a.jsonl"]).done();
    fs::remove_dir_all(&part).unwrap();
    fs::rename(ahead.join("parts/001"), &part).unwrap();
    // The state before is still there, and readers do not answer from it either.
    let later = "part 0 has state 0, and part 1 has acknowledged the later state 1";
    let other = "expected state 0 in part 1, found state 1";
    for (command, words) in [
        (&["status", "bank"][..], later),
        (&["ingest", "bank", "a.jsonl"], other),
    ] {
        let err = place.run(command).fails(4);
        assert!(err.contains(words), "{command:?}: {err}");
    }
}
