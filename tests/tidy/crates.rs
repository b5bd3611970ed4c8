//! What Cargo does not enforce between the crates of the workspace.

use std::fs;
use std::path::Path;

use super::{fail_on, root, sources};

/// The modules of the algorithms that the store and the formats need: ids of pages, results of fetches,
/// progress and limits of log lines.
const SHARED: [&str; 5] = [
    "::page",
    "::fetch_status",
    "::log_rate",
    "::watch",
    "::yields",
];

#[test]
fn the_store_and_the_formats_see_no_algorithm() {
    let mut wrong = Vec::new();
    for folder in ["src/store", "src/formats", "src/remote", "src/cluster"] {
        for (path, text) in sources(folder) {
            for (number, line) in (1..).zip(text.lines()) {
                // Several in braces are not looked into, and wrong.
                let mut after = line.split("seedbank_algorithms").skip(1);
                if after.any(|after| !SHARED.iter().any(|word| after.starts_with(word))) {
                    wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    fail_on("the store or a format uses an algorithm", &wrong);
}

/// Reasons stand where versions do: the packages take their dependencies from there.
#[test]
fn every_package_takes_its_dependencies_from_the_workspace() {
    let mut wrong = Vec::new();
    for folder in [
        "",
        "src/algorithms",
        "src/cluster",
        "src/formats",
        "src/python",
        "src/remote",
        "src/store",
    ] {
        let path = Path::new(folder).join("Cargo.toml");
        let manifest = fs::read_to_string(root().join(&path)).unwrap();
        let mut inside = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                inside = ["[dependencies]", "[dev-dependencies]"].contains(&line);
            } else if inside && line.contains('=') && !line.contains("workspace = true") {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    fail_on("a version outside the workspace's list", &wrong);
}

/// Cargo would refuse it too, but where packages cannot be fetched the fuzzer's lints are skipped.
#[test]
fn the_lock_file_of_the_fuzzer_has_all_dependencies() {
    let lock = fs::read_to_string(root().join("tests/fuzz/Cargo.lock")).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (folder, package) in [
        ("", "seedbank"),
        ("src/algorithms", "seedbank-algorithms"),
        ("src/formats", "seedbank-formats"),
        ("src/store", "seedbank-store"),
    ] {
        let name = format!("name = \"{package}\"\n");
        let locked = lock.split("[[package]]").find(|of| of.contains(&name));
        let locked = locked.expect("the fuzzer uses the package");
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter(|line| line.contains('=') && !line.contains("optional = true"));
        for line in dependencies {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            count += 1;
            // With a version, if there are several.
            let is_locked = ["\"", " "].map(|end| locked.contains(&format!("\"{dependency}{end}")));
            if !is_locked.contains(&true) {
                wrong.push(format!("{package}: {dependency}"));
            }
        }
    }
    assert!(count > 40, "{count} dependencies were found");
    fail_on("tests/fuzz/Cargo.lock lacks a dependency", &wrong);
}
