//! What is fuzzed (`make fuzz`), on inputs that are kept: those from which fuzzing starts, intact
//! and damaged, and those in `tests/fuzz/kept` that once failed. Each target is its own judge.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::targets::TARGETS;
use seedbank_store::tables::ALL;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_fuzzing_begins_with_passes_whole_and_damaged() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(seeds.len() > 1, "{}", target.name);
        assert!(target.longest < target.memory, "{}", target.name);
        for (number, seed) in seeds.iter().enumerate() {
            assert!(seed.len() <= target.longest, "{}: {number}", target.name);
            (target.run)(seed);
            (target.run)(&seed[..seed.len() / 2]);
            for place in 0..4 {
                let mut damaged = seed.clone();
                // The same bytes in every run, but different ones for each seed.
                if let Some(byte) = damaged.get_mut((number * 7 + place * 31) % seed.len().max(1)) {
                    *byte ^= 1 << ((number + place) % 8);
                }
                (target.run)(&damaged);
            }
        }
    }
}

#[test]
fn what_once_failed_passes() {
    let mut passed = 0;
    for target in TARGETS {
        let Ok(kept) = fs::read_dir(root().join("tests/fuzz/kept").join(target.name)) else {
            continue;
        };
        for input in kept {
            (target.run)(&fs::read(input.unwrap().path()).unwrap());
            passed += 1;
        }
    }
    assert!(passed > 0, "nothing is kept");
}

#[test]
fn fuzzing_begins_with_entries_of_every_table() {
    let tables = TARGETS.iter().find(|target| target.name == "tables");
    let seeds = (tables.unwrap().seeds)();
    let begun: BTreeSet<usize> = seeds.iter().map(|seed| usize::from(seed[0])).collect();
    let without = (0..ALL.len()).filter(|table| !begun.contains(table));
    let without: Vec<&str> = without.map(|table| ALL[table].name).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Otherwise everything, RocksDB included, would be compiled twice.
#[test]
fn the_fuzzer_is_built_of_what_the_package_is_built_of() {
    let versions = |folder: &str| -> BTreeMap<String, Vec<String>> {
        let lock = fs::read_to_string(root().join(folder).join("Cargo.lock")).unwrap();
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let value =
            |line: &str, key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_owned());
        let mut name = String::new();
        for line in lock.lines() {
            if let Some(found) = value(line, "name = ") {
                name = found;
            } else if let Some(version) = value(line, "version = ").filter(|_| !name.is_empty()) {
                versions
                    .entry(std::mem::take(&mut name))
                    .or_default()
                    .push(version);
            }
        }
        versions
    };
    let (own, used) = (versions("."), versions("tests/fuzz"));
    assert!(own.contains_key("librocksdb-sys"));
    for (name, versions) in &used {
        if !["arbitrary", "libfuzzer-sys", "seedbank-fuzz"].contains(&name.as_str()) {
            let known = own.get(name).map(Vec::as_slice).unwrap_or_default();
            assert!(
                versions.iter().all(|one| known.contains(one)),
                "{name}: {known:?}"
            );
        }
    }
    let profile = |folder: &str| {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let manifest: toml::Value = toml::from_str(&manifest).unwrap();
        manifest["profile"]["dev"].clone()
    };
    let (own, fuzz) = (profile("."), profile("tests/fuzz"));
    let of_all = |profile: &toml::Value| {
        let mut settings = profile.as_table().unwrap().clone();
        settings.remove("package");
        settings
    };
    assert_eq!(of_all(&own), of_all(&fuzz));
    assert_eq!(own["package"]["*"], fuzz["package"]["*"]);
    // What is compiled as one unit of code, with counters, has settings of its own.
    let has_counters = |package: &str| {
        let settings = fuzz["package"].get(package);
        settings.is_some_and(|settings| settings.get("codegen-units").is_some())
    };
    for (package, settings) in own["package"].as_table().unwrap() {
        if used.contains_key(package) && !has_counters(package) {
            assert_eq!(fuzz["package"].get(package), Some(settings), "{package}");
        }
    }
}
