//! The units of the guide, judged by systemd's own tool where it is installed.
//!
//! Bug classes: a directive that does not exist, a sandbox that was opened.

use std::fs;
use std::process::Command;

use crate::support::skipped::skipped;

const UNITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/systemd");

/// The most exposure that `systemd-analyze security` may find, in tenths; unconfined services have 96.
const MOST_EXPOSURE: &str = "20";

#[test]
fn units_are_valid_and_confined() {
    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        skipped("systemd", "systemd-analyze", "apt-get install systemd");
        return;
    }
    // The program and the user of the units are not on this machine.
    let folder = tempfile::tempdir().unwrap();
    let mut units = Vec::new();
    for entry in fs::read_dir(UNITS).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| match line.split_once('=') {
            Some(("ExecStart", _)) => "ExecStart=/bin/true",
            Some(("User", _)) => "User=daemon",
            _ => line,
        });
        let text: Vec<&str> = lines.collect();
        let copy = folder.path().join(path.file_name().unwrap());
        fs::write(&copy, text.join("\n") + "\n").unwrap();
        units.push(copy);
    }
    assert_eq!(units.len(), 5);
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .args(&units)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    let of_units: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("seedbank"))
        .collect();
    assert!(verified.status.success() && of_units.is_empty(), "{said}");
    for unit in units
        .iter()
        .filter(|unit| unit.extension().unwrap() == "service")
    {
        let judged = Command::new("systemd-analyze")
            .args(["security", "--offline=yes", "--no-pager"])
            .arg(format!("--threshold={MOST_EXPOSURE}"))
            .arg(unit)
            .output()
            .unwrap();
        let said =
            String::from_utf8_lossy(&judged.stdout) + String::from_utf8_lossy(&judged.stderr);
        assert!(judged.status.success(), "{said}");
    }
}
