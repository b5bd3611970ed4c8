//! Backups of cluster banks, restored banks, compactions and copies as a user types them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::support::command::{Place, TWO_CORES, names, record};
use crate::support::schemas::fits;
use serde_json::Value;

/// A place with a bank of three parts, one batch with a bad record, and one refresh.
fn with_cluster() -> Place {
    let place = Place::new();
    place
        .run(&["cluster", "init", "bank", "--banks", "3"])
        .done();
    place.write("day0.jsonl", TWO_CORES.to_owned() + "bad\n");
    place
        .run(&["ingest", "bank", "day0.jsonl", "--max-rejects", "50"])
        .done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place
}

fn seeds(place: &Place, bank: &str) -> String {
    place.run(&["seeds", bank]).done()
}

#[test]
fn a_bank_of_parts_is_backed_up_and_restored_as_typed() {
    let place = with_cluster();
    let text = place.run(&["backup", "bank", "b"]).done();
    let begin = "backup 1: the state after batch 1 and refresh 1, 3 parts, ";
    assert!(text.starts_with(begin), "{text}");
    let text = place.run(&["backup", "bank", "b", "--keep", "1"]).done();
    assert!(text.contains("written: 0 files, "), "{text}");
    assert!(text.contains("deleted: backup 1; "), "{text}");
    let text = place.run(&["restore", "b", "--list"]).done();
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let column = lines[0].iter().position(|name| *name == "parts").unwrap();
    assert_eq!(lines[1][column], "3", "{text}");
    assert_eq!(lines[1].last(), Some(&"intact"), "{text}");
    let text = place.run(&["restore", "b", "new"]).done();
    assert!(text.starts_with("restored backup 2 of 20"), "{text}");
    let says = ": the state after batch 1 and refresh 1, 3 parts, ";
    assert!(text.contains(says), "{text}");
    assert_eq!(names(&place.path("new/parts")), ["001", "002"]);
    assert_eq!(names(&place.path("new/rejects")).len(), 1);
    assert_eq!(seeds(&place, "new"), seeds(&place, "bank"));
    place.run(&["check", "new"]).done();
    place.write(
        "day1.jsonl",
        record("http://new.example/", &["http://a1.example/"]),
    );
    place.run(&["ingest", "new", "day1.jsonl"]).done();
    place.run(&["page", "new", "http://new.example/"]).done();
    assert_eq!(place.status_of("new")["parts"], 3);

    let json = ["--format", "json"];
    for (schema, args) in [
        ("backup", &["backup", "bank", "b"][..]),
        ("restore", &["restore", "b", "again"]),
    ] {
        let report = place.run(&[args, &json].concat()).json();
        fits(schema, &report);
        assert_eq!(report["parts"], 3);
    }
    let list = place
        .run(&["restore", "b", "--list", "--format", "json"])
        .json();
    fits("restore", &list);
    assert_eq!(list["backups"][0]["parts"], 3);
}

/// A bank in one database has no parts in reports, in lists, or in the files of a backup.
#[test]
fn a_bank_in_one_database_is_backed_up_as_before() {
    let place = Place::with_seeds();
    let report = place
        .run(&["backup", "bank", "b", "--format", "json"])
        .json();
    assert!(report.get("parts").is_none(), "{report}");
    let text = place.run(&["restore", "b", "--list"]).done();
    assert!(!text.contains("parts"), "{text}");
    let inventory = fs::read_to_string(place.path("b/backups/1")).unwrap();
    let head: Value = serde_json::from_str(inventory.lines().next().unwrap()).unwrap();
    let mut fields: Vec<&String> = head.as_object().unwrap().keys().collect();
    fields.sort();
    let expected = [
        "at", "backup", "bank", "batch", "bytes", "epoch", "files", "format", "mode", "refresh",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn parts_keep_their_permissions_and_may_be_elsewhere() {
    let place = with_cluster();
    let set =
        |path: PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let mode = |name: &str| {
        let metadata = fs::metadata(place.path(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    fs::create_dir(place.path("disk")).unwrap();
    fs::rename(place.path("bank/parts/002"), place.path("disk/two")).unwrap();
    symlink(place.path("disk/two"), place.path("bank/parts/002")).unwrap();
    set(place.path("bank"), 0o750);
    set(place.path("bank/parts/001"), 0o711);
    set(place.path("disk/two"), 0o700);
    let listed = || ["", "bank", "disk", "disk/two"].map(|folder| names(&place.path(folder)));
    let before = listed();
    for folder in ["disk/two/b", "disk", "bank/parts/002/b", "bank/b"] {
        let error = place.run(&["backup", "bank", folder]).fails(2);
        assert!(
            error.contains("contains the other; expected separate folders"),
            "{error}"
        );
        let to = ["migrate", "bank", "--to", folder];
        let error = place.run(&to).fails(2);
        assert!(
            error.contains("contains the other; expected separate folders"),
            "{error}"
        );
    }
    assert_eq!(listed(), before);
    place.run(&["backup", "bank", "b"]).done();
    place.run(&["restore", "b", "restored"]).done();
    place.run(&["migrate", "bank", "--to", "copy"]).done();
    for new in ["restored", "copy"] {
        let modes = ["", "/parts/001", "/parts/002"].map(|part| mode(&format!("{new}{part}")));
        assert_eq!(modes, [0o750, 0o711, 0o700], "{new}");
        assert!(!place.path(new).join("parts/002").is_symlink());
        assert_eq!(seeds(&place, new), seeds(&place, "bank"));
    }
    // In place, the folder of the bank keeps its own.
    fs::create_dir(place.path("in-place")).unwrap();
    set(place.path("in-place"), 0o700);
    place.run(&["restore", "b", "in-place"]).done();
    assert_eq!(mode("in-place"), 0o700);
    assert_eq!(mode("in-place/parts/001"), 0o711);
    // Compaction and further batches use the part where it is.
    place.run(&["compact", "bank"]).done();
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_bank_of_parts_is_compacted_and_copied_as_typed() {
    let place = with_cluster();
    let expected = seeds(&place, "bank");
    let report = place.run(&["compact", "bank", "--format", "json"]).json();
    fits("compact", &report);
    assert_eq!(report["held_bytes"], 0, "{report}");
    assert_eq!(place.status_of("bank")["compacted"], true);
    let text = place.run(&["migrate", "bank"]).done();
    assert!(text.starts_with("nothing to do: "), "{text}");
    let text = place.run(&["migrate", "bank", "--to", "copy"]).done();
    assert!(text.starts_with("new bank of format "), "{text}");
    for bank in ["bank", "copy"] {
        assert_eq!(seeds(&place, bank), expected);
        place.run(&["undo", bank]).done();
        place.run(&["check", bank]).done();
    }
    let error = place.run(&["migrate", "bank", "--to", "copy"]).fails(2);
    assert!(error.contains("copy exists and is not empty"), "{error}");
    for command in [
        "backup bank/parts/001 c",
        "compact bank/parts/001",
        "migrate bank/parts/001",
    ] {
        let args: Vec<&str> = command.split(' ').collect();
        let error = place.run(&args).fails(4);
        assert!(
            error.contains("bank/parts/001 is a part of a cluster bank"),
            "{error}"
        );
    }
}

/// A cluster bank of one part has no other folders, and is not restored as a bank in one database.
#[test]
fn a_bank_of_one_part_stays_a_cluster_bank() {
    let place = Place::new();
    place
        .run(&["cluster", "init", "bank", "--banks", "1"])
        .done();
    place.write("day0.jsonl", TWO_CORES);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    let text = place.run(&["backup", "bank", "b"]).done();
    assert!(text.contains(", 1 part, "), "{text}");
    place.run(&["restore", "b", "new"]).done();
    place.run(&["migrate", "bank", "--to", "copy"]).done();
    for bank in ["new", "copy"] {
        assert_eq!(place.status_of(bank)["parts"], 1);
        place.run(&["compact", bank]).done();
        place.run(&["undo", bank]).done();
        place.run(&["check", bank]).done();
    }
    let inventory = fs::read_to_string(place.path("b/backups/1")).unwrap();
    let head: Value = serde_json::from_str(inventory.lines().next().unwrap()).unwrap();
    // Builds that know no cluster banks require it.
    assert!(head.get("mode").is_none(), "{head}");
}

/// Pages of blocked sites are removed before the bank is there.
#[test]
fn a_restored_bank_of_parts_is_without_what_another_blocks() {
    let place = with_cluster();
    place.run(&["backup", "bank", "b"]).done();
    place
        .run(&["forget", "bank", "--block", "http://h1.example/"])
        .done();
    place
        .run(&["restore", "b", "new", "--blocks-of", "bank"])
        .done();
    place.run(&["page", "new", "http://h1.example/"]).fails(5);
    place.run(&["page", "new", "http://h2.example/"]).done();
    place.run(&["check", "new"]).done();
    assert_eq!(place.status_of("new")["parts"], 3);
}
