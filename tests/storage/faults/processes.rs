//! The processes of a cluster bank: each has its parts in a folder of its own, and all are on the loopback interface.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of parts of a cluster bank.
pub const PARTS: usize = 3;

/// The largest number of processes of a command.
pub const PROCESSES: usize = 3;

/// The folder of a bank within a disk.
const BANK: &str = "bank";

/// The number of seconds in which all processes must be connected.
const DEADLINE: u32 = 5;

/// The number of seconds of silence after which a process counts as lost: longer than any test.
const PATIENCE: u32 = 60;

/// The process that has a part, of so many processes.
fn owner(part: usize, processes: usize) -> usize {
    part * processes / PARTS
}

/// The folder of a process that has not the first part.
fn home(disk: &Path, process: usize) -> PathBuf {
    match process {
        0 => disk.join(BANK),
        process => disk.join(format!("process-{process}")),
    }
}

/// The folder of a part of the bank in one folder.
pub fn part(bank: &Path, part: usize) -> PathBuf {
    match part {
        0 => bank.to_path_buf(),
        part => bank.join(format!("parts/{part:03}")),
    }
}

/// Moves each part to its process, of so many.
pub fn divide(disk: &Path, processes: usize) {
    if !disk.join(BANK).join("parts").exists() {
        return;
    }
    for number in 1..PARTS {
        let at = |process| part(&home(disk, process), number);
        let to = at(owner(number, processes));
        // A command that was interrupted, or damage, may have left no such part.
        let Some(from) = (0..PROCESSES).map(at).find(|folder| folder.exists()) else {
            continue;
        };
        if from != to {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::rename(from, to).unwrap();
        }
    }
    for process in processes..PROCESSES {
        let home = home(disk, process);
        if process > 0 && home.exists() {
            fs::remove_dir_all(home).unwrap();
        }
    }
}

/// The arguments of a command as one of so many processes.
pub fn arguments(args: &[&str], process: usize, processes: usize) -> Vec<String> {
    let own = home(Path::new(super::injector::DISK), process);
    let bank = format!("{}/{BANK}", super::injector::DISK);
    let replace = |arg: &&str| {
        let is_bank = *arg == bank;
        let own = own.to_str().unwrap();
        if is_bank { own } else { *arg }.to_owned()
    };
    let mut args: Vec<String> = args.iter().map(replace).collect();
    if processes > 1 {
        let more = ["--cluster", "members.toml", "--process"];
        args.extend(more.map(str::to_owned));
        args.push(process.to_string());
    }
    args
}

/// Writes the file of members for commands of [`PROCESSES`] processes in a place.
pub fn write_members(place: &Path) {
    static PLACES: AtomicUsize = AtomicUsize::new(1);
    let number = PLACES.fetch_add(1, Ordering::Relaxed);
    // Linux has all of 127.0.0.0/8, so no other test uses the address.
    let pid = std::process::id();
    let host = format!(
        "127.{}.{}.{}",
        1 + (pid >> 8) % 254,
        pid % 256,
        1 + number % 254
    );
    let port = 7101 + number / 254 * PROCESSES;
    let secret = place.join("secret");
    fs::write(&secret, "a secret of some length\n").unwrap();
    fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
    let mut members =
        format!("secret = \"secret\"\ndeadline = {DEADLINE}\npatience = {PATIENCE}\n");
    for process in 0..PROCESSES {
        let own = |part: &usize| owner(*part, PROCESSES) == process;
        let first = (0..PARTS).find(own).unwrap();
        let last = (0..PARTS).rfind(own).unwrap();
        // Writing to a string cannot fail.
        let _ = write!(
            members,
            "[[process]]\naddress = \"{host}:{}\"\nbanks = \"{first}-{last}\"\n",
            port + process
        );
    }
    fs::write(place.join("members.toml"), members).unwrap();
}
