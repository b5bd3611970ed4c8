//! `undo` as a user types it: ingesting the same file again, rejected undos, the history, JSON.

use crate::support::command::{Place, TWO_CORES};
use crate::support::schemas::fits;

#[test]
fn a_batch_is_taken_back_and_can_come_again() {
    let place = Place::with_bank();
    place.write("day0.jsonl", TWO_CORES);
    let nothing = place.run(&["undo", "bank"]).fails(2);
    assert_eq!(nothing, "error: there is no batch to take back\n");
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    let before = place.run(&["status", "bank"]).done();
    assert!(before.contains("`undo` can take back batch 1"), "{before}");
    let seeds = |plan: &str, cold: &[&str]| {
        let refresh = [
            "refresh", "bank", "--plan", plan, "--method", "cores", "--within", "0", "--seeds", "2",
        ];
        place.run(&[&refresh[..], cold].concat()).done();
        place.run(&["seeds", "bank", "--plan", plan]).done()
    };
    let first = seeds("one", &[]);
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://a.example/\", \"gone\": true}\n",
    );
    place
        .run(&["ingest", "bank", "day1.jsonl", "--max-loss", "100"])
        .done();
    let between = seeds("one", &[]);
    let undone = place.run(&["undo", "bank"]).done();
    assert!(
        undone.starts_with("batch 2 (day1.jsonl) is taken back, as batch 3, "),
        "{undone}"
    );
    assert_eq!(seeds("one", &[]), first);
    assert_eq!(seeds("two", &["--cold"]), first);
    let twice = place.run(&["undo", "bank"]).fails(2);
    assert!(twice.contains("batch 3 is itself an undo"), "{twice}");
    let history = place.run(&["history", "bank"]).done();
    assert!(history.contains(" undo day1.jsonl: "), "{history}");
    // The same file needs no --again, and does what it did.
    let again = place
        .run(&["ingest", "bank", "day1.jsonl", "--max-loss", "100"])
        .done();
    assert!(again.starts_with("batch 4"), "{again}");
    assert_eq!(seeds("one", &[]), between);
    let report = place.run(&["undo", "bank", "--format", "json"]).json();
    fits("undo", &report);
    assert_eq!(
        (&report["undone"], &report["batch"]),
        (&4.into(), &5.into())
    );
    let check = place.run(&["check", "bank"]).done();
    assert!(check.contains("no problems found"), "{check}");
}
