//! The fuzzer: one program for all targets; `SEEDBANK_FUZZ` names the one to run.
//!
//! `run.sh` calls it. Without a target it lists them; with `SEEDBANK_FUZZ_SEEDS=FOLDER` it writes
//! the inputs from which fuzzing the target starts.
#![no_main]

mod memory;
#[path = "../targets/mod.rs"]
mod targets;

use std::sync::OnceLock;
use std::{env, fs, panic, process};

use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target};

static TARGET: OnceLock<&'static Target> = OnceLock::new();

/// Finds the target that is named, or lists them all; may be asked to write seeds instead of
/// fuzzing.
fn begin() {
    let Ok(name) = env::var("SEEDBANK_FUZZ") else {
        for target in TARGETS {
            println!("{} {}", target.name, target.longest);
        }
        process::exit(0);
    };
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        eprintln!("there is no target {name}");
        process::exit(2);
    };
    if let Some(folder) = env::var_os("SEEDBANK_FUZZ_SEEDS") {
        for (number, seed) in (1..).zip((target.seeds)()) {
            let path = std::path::Path::new(&folder).join(format!("seed-{number:03}"));
            fs::write(path, seed).expect("a seed is written");
        }
        process::exit(0);
    }
    let _ = TARGET.set(target);
    // Reporting a panic takes memory of its own.
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        memory::unbounded();
        tell(about);
    }));
}

fuzz_target!(init: begin(), |data: &[u8]| {
    if let Some(target) = TARGET.get() {
        memory::within(target.memory, || (target.run)(data));
    }
});
