//! Wrong command lines as users type them (`wrong_lines.md`), without the permissions of the superuser and while another process
//! writes to a bank.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use seedbank::watch::Unwatched;
use seedbank_store::Writer;

use crate::support::command::{Place, TWO_CORES};
use crate::support::skipped::skipped;
use crate::support::transcript::transcript_in;

/// The program that takes the permissions of the superuser away from a command, or none for other users.
/// `None` if it is needed and missing.
fn wrapper() -> Option<Vec<&'static str>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("locked");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_err() {
        return Some(Vec::new());
    }
    let drop = vec!["setpriv", "--inh-caps=-all", "--bounding-set=-all"];
    let works = Command::new(drop[0]).args(&drop[1..]).arg("true").status();
    works.is_ok_and(|status| status.success()).then_some(drop)
}

#[test]
fn wrong_lines() {
    let Some(wrapper) = wrapper() else {
        skipped(
            "wrong_lines",
            "a user without privileges, or setpriv",
            "run the tests as another user",
        );
        return;
    };
    let place = Place::new();
    place.run(&["init", "busy"]).done();
    place.write("day0.jsonl", TWO_CORES);
    place.run(&["ingest", "busy", "day0.jsonl"]).done();
    let writer = Writer::open(&place.path("busy"), false, &Unwatched).unwrap();
    transcript_in(&place, &wrapper, "tests/cli/wrong_lines.md");
    drop(writer);
}
