//! What `make` says where something that it checks with is missing: a fake cargo and a fake cargo-deny
//! stand for those that are, or are not, installed and online.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::root;

/// A folder with programs that answer as told.
struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs make; the only programs besides the fake ones are the system's.
    fn make(&self, targets: &[&str]) -> Output {
        let folder = self.folder.path();
        Command::new("make")
            .args(["-s", "-C"])
            .arg(root())
            .args(targets)
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .env("CARGO", folder.join("cargo"))
            .env("CARGO_HOME", folder.join("home"))
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output()
            .unwrap()
    }

    /// What was skipped, by the file that steps and tests append to.
    fn skipped(&self) -> String {
        fs::read_to_string(self.folder.path().join("target/skipped")).unwrap_or_default()
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// A cargo that notes its calls, and fails where its arguments begin so.
    fn cargo(&self, fails: &[&str]) {
        let calls = self.folder.path().join("calls");
        let mut script = format!("echo \"$*\" >>'{}'\ncase \"$*\" in\n", calls.display());
        for arguments in fails {
            script.extend(["  '", arguments, "'*) exit 1 ;;\n"]);
        }
        self.program("cargo", &(script + "esac"));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has_make() -> bool {
    Command::new("make").arg("--version").output().is_ok()
        && !Path::new("/usr/bin/cargo-deny").exists()
}

const BANS: &str = "deny --offline check bans licenses sources";
const ADVISORIES: &str = "deny --offline check advisories";

#[test]
fn what_cannot_be_checked_is_told() {
    if !has_make() {
        return;
    }
    // Not installed.
    let fake = Fake::new();
    fake.cargo(&[]);
    let output = fake.make(&["deny"]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output).starts_with("SKIPPED cargo deny (bans, licences, sources, advisories)"));
    assert_eq!(fake.calls(), [""; 0]);
    assert!(fake.skipped().contains("cargo deny"), "{}", fake.skipped());

    // Installed, and no database to be had.
    let fake = Fake::new();
    fake.program("cargo-deny", "");
    fake.cargo(&["deny fetch db"]);
    let output = fake.make(&["deny"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fake.calls(), ["fetch --locked", BANS, "deny fetch db"]);
    assert_eq!(
        fake.skipped(),
        "advisories: their database cannot be fetched\n"
    );
    // An older copy of it will do, which is told.
    fs::create_dir_all(fake.folder.path().join("home/advisory-dbs/some")).unwrap();
    let output = fake.make(&["deny"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fake.calls().last().map(String::as_str), Some(ADVISORIES));
    assert!(
        fake.skipped().contains("an older copy"),
        "{}",
        fake.skipped()
    );

    // All there.
    let fake = Fake::new();
    fake.program("cargo-deny", "");
    fake.cargo(&[]);
    let output = fake.make(&["deny"]);
    assert!(output.status.success(), "{output:?}");
    let all = ["fetch --locked", BANS, "deny fetch db", ADVISORIES];
    assert_eq!(fake.calls(), all);
    assert_eq!(fake.skipped(), "");
}

#[test]
fn what_is_found_is_a_failure() {
    if !has_make() {
        return;
    }
    for finding in [BANS, ADVISORIES] {
        let fake = Fake::new();
        fake.program("cargo-deny", "");
        fake.cargo(&[finding]);
        assert!(!fake.make(&["deny"]).status.success(), "{finding}");
    }
    // Where CI asks, nothing may be missing.
    let fake = Fake::new();
    fake.cargo(&["deny check"]);
    assert!(!fake.make(&["advisories"]).status.success());
}

#[test]
fn the_last_line_names_what_was_skipped() {
    if !has_make() {
        return;
    }
    let fake = Fake::new();
    fake.cargo(&[]);
    let output = fake.make(&["report-skipped"]);
    assert_eq!(text(&output), "nothing was skipped\n");
    fake.make(&["deny"]);
    let noted = fake.folder.path().join("target/skipped");
    let mut lines = fs::read_to_string(&noted).unwrap();
    for need in ["real graphs", "axe-core", "real graphs"] {
        lines.extend(["tests that need ", need, "\n"]);
    }
    fs::write(&noted, lines).unwrap();
    let told = text(&fake.make(&["report-skipped"]));
    assert!(told.starts_with("SKIPPED: cargo deny (bans, "), "{told}");
    let end = "; tests that need axe-core; tests that need real graphs (2)\n";
    assert!(told.ends_with(end), "{told}");
    assert_eq!(told.lines().count(), 1);

    // The whole of `make test`, by programs that do nothing: one step is skipped, and told last.
    fake.program("cargo-nextest", "");
    for name in ["chromium", "chromedriver", "npm", "g++"] {
        fake.program(name, "");
    }
    let axe = fake.folder.path().join("axe.js");
    fs::write(&axe, "").unwrap();
    fake.program("no-python", "exit 1");
    let python = format!("PYTHON={}", fake.folder.path().join("no-python").display());
    let output = fake.make(&["test", &format!("SEEDBANK_AXE={}", axe.display()), &python]);
    assert!(output.status.success(), "{output:?}");
    let told = text(&output);
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("SKIPPED: cargo deny (bans, "), "{told}");
    let end = "; the Python package: no Python from 3.10 with venv";
    assert!(last.ends_with(end), "{told}");
    assert!(!last.contains("axe-core"), "the list begins anew: {last}");
    assert!(
        fake.calls()
            .iter()
            .any(|call| call.starts_with("nextest run --locked --workspace "))
    );
}

#[test]
fn every_advisory_that_is_ignored_has_its_reason() {
    let text = fs::read_to_string(root().join(".cargo/deny.toml")).unwrap();
    let settings: toml::Table = toml::from_str(&text).unwrap();
    let ignored = settings["advisories"]["ignore"].as_array().unwrap();
    for advisory in ignored {
        let reason = advisory.get("reason").and_then(toml::Value::as_str);
        assert!(reason.is_some_and(|reason| reason.len() > 20), "{advisory}");
    }
}
