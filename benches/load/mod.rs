//! Runs a program and measures its time, memory and writes.
#![allow(unreachable_pub, reason = "a module of a bench")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Interval between measurements of a running program.
const PAUSE: Duration = Duration::from_millis(5);

/// Clock ticks per second in `/proc`; the same on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// Resources that a program used.
#[derive(Clone, Copy, Default, Debug)]
pub struct Took {
    pub seconds: f64,
    /// User and system time, in seconds.
    pub cpu: f64,
    /// Peak resident memory, in bytes.
    pub memory: u64,
    /// Bytes written, including files that were removed again.
    pub written: u64,
}

fn number_after(text: &str, label: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Runs a program to its end and discards its output. Without `/proc`, measures only the time.
pub fn run(command: &mut Command) -> Took {
    let begun = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let of_child = Path::new("/proc").join(child.id().to_string());
    let mut took = Took::default();
    loop {
        if let Ok(status) = fs::read_to_string(of_child.join("status")) {
            let peak = number_after(&status, "VmHWM:").unwrap_or(0) << 10;
            took.memory = took.memory.max(peak);
        }
        let stat = fs::read_to_string(of_child.join("stat")).unwrap_or_default();
        // The name before the last parenthesis may hold anything.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let ended = fields.first().is_none_or(|state| *state == "Z");
        if ended {
            let ticks = |at: usize| fields.get(at).and_then(|t| t.parse::<f64>().ok());
            took.cpu = (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / TICKS;
            let io = fs::read_to_string(of_child.join("io")).unwrap_or_default();
            took.written = number_after(&io, "wchar:").unwrap_or(0);
            break;
        }
        std::thread::sleep(PAUSE);
    }
    took.seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    took
}

/// Returns the size of all files below a folder in bytes.
pub fn folder_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        bytes += if about.is_dir() {
            folder_bytes(&entry.path())
        } else {
            about.len()
        };
    }
    bytes
}
