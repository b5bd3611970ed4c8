//! Plans: listed, shown, recreated from what is shown, and deleted; a name alone creates none; dry
//! runs.

use std::fs::File;

use crate::support::command::Place;
use crate::support::schemas::fits;
use serde_json::{Value, json};

fn with_plans() -> Place {
    let place = Place::with_seeds();
    let weekly = "refresh bank --plan weekly --method max-weight --per-site 3 --value-spam -2.5";
    place.run(&words(weekly)).done();
    place.run(&words("refresh bank --plan weekly")).done();
    place
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn plans_are_listed_and_shown() {
    let place = Place::with_bank();
    let none = place.run(&words("plans bank"));
    assert_eq!((&*none.out, none.status), ("", Some(0)));
    assert!(none.err.contains("no plans yet"), "{}", none.err);
    let place = with_plans();
    let text = place.run(&words("plans bank")).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].starts_with("default (cores): refresh 1 of 20"),
        "{text}"
    );
    assert!(
        lines[0].ends_with("after batch 1, 2 seeds; --method cores --within 0"),
        "{text}"
    );
    assert!(
        lines[1].ends_with("; --method max-weight --per-site 3 --value-spam -2.5"),
        "{text}"
    );
    assert_eq!(place.run(&words("plans bank list")).done(), text);
    let all = place.run(&words("plans bank --format json")).json();
    fits("plans", &all);
    assert_eq!(all["plans"][1]["last"]["refresh"], 3);
    assert_eq!(all["plans"][1]["refreshes"], 2);
    // The format may stand on either side.
    for line in [
        "plans bank show weekly --format json",
        "plans bank --format json show weekly",
    ] {
        let one = place.run(&words(line)).json();
        fits("plans", &one);
        assert_eq!(one["stored_refreshes"], json!([2, 3]));
    }
    let told = place.run(&words("plans bank show none")).fails(2);
    assert!(
        told.contains("hint: the bank has the plans default, weekly\n"),
        "{told}"
    );
}

/// What is shown makes the same plan: as a command, and as a plan file.
#[test]
fn a_plan_is_made_again_from_what_is_shown() {
    let place = with_plans();
    let one = place
        .run(&words("plans bank show weekly --format json"))
        .json();
    let command = one["command"].as_str().unwrap().to_owned();
    place.write("weekly.toml", one["plan_file"].as_str().unwrap());
    let text = place.run(&words("plans bank show weekly")).done();
    assert!(text.contains(&format!("\n  {command}\n")), "{text}");
    place.run(&words("plans bank delete weekly")).done();
    let typed = command.strip_prefix("seedbank ").unwrap();
    let again = [words(typed), words("--format json")].concat();
    assert_eq!(
        place.run(&again).json()["parameters"],
        one["parameters"],
        "{command}"
    );
    let file = words("refresh bank --plan other --plan-file weekly.toml --format json");
    assert_eq!(place.run(&file).json()["parameters"], one["parameters"]);
}

#[test]
fn a_plan_is_deleted_with_all_that_is_kept_of_it() {
    let place = with_plans();
    let before = place.run(&words("seeds bank --format jsonl")).done();
    let lock = File::options()
        .write(true)
        .open(place.path("bank/writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    place.run(&words("plans bank delete weekly")).fails(4);
    drop(lock);
    let gone = place
        .run(&words("plans bank delete weekly --format json"))
        .json();
    fits("plans", &gone);
    assert_eq!(gone, json!({"deleted": "weekly", "refreshes": [2, 3]}));
    place.run(&words("check bank")).done();
    assert_eq!(
        place.run(&words("seeds bank --format jsonl")).done(),
        before
    );
    let told = place.run(&words("seeds bank --refresh 3")).fails(2);
    assert!(told.contains("refresh 3 was deleted"), "{told}");
    place.run(&words("plans bank delete weekly")).fails(2);
    // Numbers are not given out again.
    let again = place
        .run(&words(
            "refresh bank --method cores --within 0 --format json",
        ))
        .json();
    assert_eq!(again["refresh"], 4);
    // The last plan may go too.
    let text = place.run(&words("plans bank delete default")).done();
    assert_eq!(text, "deleted plan default and 2 refreshes: 1, 4\n");
    assert_eq!(place.run(&words("plans bank")).done(), "");
    place.run(&words("check bank")).done();
    place
        .run(&words("refresh bank --method cores --within 0"))
        .done();
}

/// A slip in a name makes no second plan; the default plan needs no more than its name.
#[test]
fn a_name_alone_makes_no_plan() {
    let place = with_plans();
    for line in [
        "refresh bank --plan weakly",
        "refresh bank --plan weakly --cold --keep 2",
        "refresh bank --plan weakly --dry-run",
    ] {
        let told = place.run(&words(line)).fails(2);
        assert!(
            told.starts_with(
                "error: the bank has no plan \"weakly\" (it has default, weekly), and no parameters"
            ),
            "{told}"
        );
        assert!(told.contains("such as `--method cores`"), "{told}");
    }
    assert_eq!(place.run(&words("plans bank")).done().lines().count(), 2);
    let new = Place::with_bank();
    let told = new.run(&words("refresh bank --plan weakly")).fails(2);
    assert!(told.contains("(it has no plans yet)"), "{told}");
    assert_eq!(
        new.run(&words("refresh bank --plan default")).status,
        Some(5)
    );
}

#[test]
fn a_dry_run_stores_nothing() {
    let place = with_plans();
    let before = place.state();
    // It needs no lock.
    let lock = File::options()
        .write(true)
        .open(place.path("bank/writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    for line in [
        "refresh bank --seeds 1",
        "refresh bank --cold --keep 1",
        "refresh bank --plan weekly --per-site 1",
        "refresh bank --plan new --method greedy --scope web --seeds 2 --budget 3",
    ] {
        let args = [words(line), words("--dry-run --format json")].concat();
        let tried = place.run(&args).json();
        fits("refresh", &tried);
        assert_eq!(
            (&tried["dry_run"], &tried["refresh"]),
            (&json!(true), &json!(4))
        );
        let listed = tried["seed_list"].as_array().unwrap().len();
        assert_eq!(tried["seeds"], listed, "{line}");
    }
    let tried = place.run(&words(
        "refresh bank --method cores --within 0 --seeds 1 --dry-run",
    ));
    assert!(
        tried.err.contains("the stored parameters of plan"),
        "{}",
        tried.err
    );
    let text = tried.done();
    assert!(
        text.starts_with("dry run, nothing is stored: refresh 4"),
        "{text}"
    );
    assert!(text.ends_with("\nhttp://h1.example/\n"), "{text}");
    let none = place.run(&words(
        "refresh bank --method cores --within 0 --pages crawled --dry-run",
    ));
    assert_eq!(none.status, Some(5), "{none:?}");
    assert!(none.err.contains("nothing could be selected\n"), "{none:?}");
    drop(lock);
    assert_eq!(place.state(), before);
    // What is stored is what was tried, but for what it cost.
    for line in [
        "refresh bank --seeds 1",
        "refresh bank --plan weekly --per-site 1",
    ] {
        let args = [words(line), words("--dry-run --format json")].concat();
        let tried = place.run(&args).json();
        place.run(&words(line)).done();
        let plan = tried["plan"].as_str().unwrap();
        let seeds: Vec<Value> = place
            .run(&["seeds", "bank", "--format", "jsonl", "--plan", plan])
            .json_lines();
        assert_eq!(tried["seed_list"], Value::from(seeds));
    }
}
