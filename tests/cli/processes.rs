//! A cluster bank over several processes on loopback: the same bytes with any number of processes; one sentence and
//! an unchanged bank if a process is missing, is a stranger, differs, stops or dies.

use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use seedbank_store::Writer;

use crate::support::command::{Ended, Place, wait};
use crate::support::{real_days, shared};

/// The number of parts of the banks here.
pub const PARTS: usize = 6;

/// The time within which all processes end after one of them did.
const END: Duration = Duration::from_secs(20);

/// An address of this machine that no other bank of any test has. A free port of an address that all share can be taken
/// by a connection of another test before the processes of the bank listen on it.
fn own_loopback() -> Ipv4Addr {
    static BANKS: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, BANKS.fetch_add(1, Ordering::Relaxed), high, low)
}

/// A cluster bank whose parts are in the folders `0`, `1` and so on, one for each process.
pub struct Cluster {
    pub place: Place,
    processes: usize,
    /// The members file of each process.
    pub members: Vec<String>,
}

impl Cluster {
    fn new(processes: usize) -> Self {
        Self::with_patience(processes, 20)
    }

    pub fn with_patience(processes: usize, patience: u32) -> Self {
        let place = Place::new();
        let banks = PARTS.to_string();
        place
            .run(&["cluster", "init", "0", "--banks", &banks])
            .done();
        let mut members = format!("secret = \"secret\"\ndeadline = 20\npatience = {patience}\n");
        let host = own_loopback();
        let ports: Vec<TcpListener> = (0..processes)
            .map(|_| TcpListener::bind((host, 0)).unwrap())
            .collect();
        for (process, port) in ports.iter().enumerate() {
            let first = process * PARTS / processes;
            let last = (process + 1) * PARTS / processes - 1;
            let address = port.local_addr().unwrap();
            // Writing to a string cannot fail.
            let _ = write!(
                members,
                "[[process]]\naddress = \"{address}\"\nbanks = \"{first}-{last}\"\n"
            );
            if process > 0 {
                let folder = place.path(&format!("{process}/parts"));
                fs::create_dir_all(&folder).unwrap();
                for part in first..=last {
                    let name = format!("{part:03}");
                    let from = place.path(&format!("0/parts/{name}"));
                    fs::rename(from, folder.join(name)).unwrap();
                }
            }
        }
        place.write("members.toml", members);
        let secret = place.write("secret", "a secret of some length\n");
        fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
        Self {
            place,
            processes,
            members: vec!["members.toml".to_owned(); processes],
        }
    }

    /// Starts a command as one of the processes; `BANK` is its folder.
    fn start_as(&self, process: usize, args: &[&str]) -> Child {
        let number = process.to_string();
        let members = self.members[process].as_str();
        let args: Vec<&str> = args
            .iter()
            .map(|arg| {
                if *arg == "BANK" {
                    number.as_str()
                } else {
                    *arg
                }
            })
            .chain(["--cluster", members, "--process", &number])
            .collect();
        self.place
            .command(&args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub fn start(&self, args: &[&str]) -> Vec<Child> {
        let start = |process| self.start_as(process, args);
        (0..self.processes).map(start).collect()
    }

    /// Runs a command as all processes, and returns how each ended.
    pub fn run(&self, args: &[&str]) -> Vec<Ended> {
        self.start(args).into_iter().map(wait).collect()
    }

    /// Runs a command that succeeds, and returns what process 0 printed. The others print nothing.
    #[track_caller]
    pub fn done(&self, args: &[&str]) -> String {
        let mut ended = self.run(args).into_iter();
        let first = ended.next().unwrap();
        for other in ended {
            assert_eq!(other.done(), "", "{first:?}");
        }
        first.done()
    }

    /// What the bank holds, from all parts.
    pub fn export(&self) -> String {
        self.done(&["export", "BANK", "-q"])
    }
}

/// Waits for processes, which must end soon.
#[track_caller]
pub fn end_soon(children: Vec<Child>) -> Vec<Ended> {
    let begun = Instant::now();
    let mut children = children;
    while children
        .iter_mut()
        .any(|child| child.try_wait().unwrap().is_none())
    {
        assert!(begun.elapsed() < END, "a process did not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    children.into_iter().map(wait).collect()
}

/// Every answer that is compared, after the same batches and refreshes.
fn answers(run: &dyn Fn(&[&str]) -> String, days: &[PathBuf]) -> Vec<String> {
    let mut all = Vec::new();
    let (last, first) = days.split_last().unwrap();
    let ingest = |day: &Path| {
        let day = day.to_str().unwrap();
        run(&[
            "ingest",
            "BANK",
            day,
            "--max-loss",
            "100",
            "--as-of",
            "2026-11-20T00:00:00Z",
            "-q",
        ]);
    };
    for day in first {
        ingest(day);
    }
    let plans: [&[&str]; 4] = [
        &[
            "--plan", "web", "--goal", "coverage", "--seeds", "20", "--budget", "200",
        ],
        &[
            "--plan",
            "kept",
            "--goal",
            "coverage",
            "--seeds",
            "20",
            "--hops",
            "1",
            "--fetch-cost",
            "0.3",
            "--value-known",
            "0",
            "--keep-seeds",
            "5%",
        ],
        &["--plan", "cores", "--goal", "communities", "--seeds", "20"],
        &["--plan", "sites", "--goal", "sites", "--seeds", "20"],
    ];
    let refresh = |plan: &[&str]| {
        run(&[&["refresh", "BANK", "-q"], plan].concat());
    };
    plans.into_iter().for_each(refresh);
    ingest(last);
    for plan in ["web", "kept", "cores", "sites"] {
        refresh(&["--plan", plan]);
        let seeds = run(&["seeds", "BANK", "--plan", plan]);
        let seed = seeds.lines().next().map(str::to_owned);
        all.push(seeds);
        if let Some(seed) = seed {
            all.push(run(&["explain", "BANK", &seed, "--plan", plan]));
        }
    }
    all.push(run(&[
        "cores", "BANK", "--plan", "cores", "--format", "json",
    ]));
    all.push(run(&["export", "BANK", "-q"]));
    run(&["undo", "BANK", "-q"]);
    all.push(run(&["export", "BANK", "-q"]));
    assert!(all.iter().all(|answer| !answer.is_empty()));
    all
}

#[test]
fn any_number_of_processes_gives_the_same_bytes() {
    let test = "any_number_of_processes_gives_the_same_bytes";
    let Some(shared) = shared(test) else {
        return;
    };
    let days: Vec<PathBuf> = real_days(&shared, 3).into_iter().map(|day| day.1).collect();
    let single = Place::with_bank();
    let run = |args: &[&str]| {
        let args: Vec<&str> = args
            .iter()
            .map(|arg| if *arg == "BANK" { "bank" } else { *arg })
            .collect();
        single.run(&args).done()
    };
    let expected = answers(&run, &days);
    for processes in [1, 3] {
        let cluster = Cluster::new(processes);
        let found = answers(&|args| cluster.done(args), &days);
        assert_eq!(expected, found, "{processes} processes");
        let checked = cluster.done(&["check", "BANK"]);
        assert!(checked.contains("published state: good"), "{checked}");
    }
}

#[test]
fn a_bank_moves_to_another_number_of_processes() {
    let cluster = Cluster::new(3);
    cluster.place.write(
        "a.jsonl",
        "{\"url\":\"http://a.example/\",\"outlinks\":[\"http://b.example/\"]}\n",
    );
    cluster.done(&["ingest", "BANK", "a.jsonl", "-q"]);
    let before = cluster.export();
    for process in 1..3 {
        let parts = cluster.place.path(&format!("{process}/parts"));
        for part in fs::read_dir(parts).unwrap() {
            let part = part.unwrap();
            fs::rename(
                part.path(),
                cluster.place.path("0/parts").join(part.file_name()),
            )
            .unwrap();
        }
    }
    assert_eq!(cluster.place.run(&["export", "0", "-q"]).done(), before);
    cluster.place.run(&["undo", "0", "-q"]).done();
    let check = cluster.place.run(&["check", "0"]).done();
    assert!(check.contains("no problems found"), "{check}");
}

#[test]
fn wrong_members_and_commands_are_refused_in_one_sentence() {
    let cluster = Cluster::new(2);
    let place = &cluster.place;
    let members = fs::read_to_string(place.path("members.toml")).unwrap();
    for (wrong, says) in [
        (
            members.replace("3-5", "3-4"),
            "expected a process for each of 6 parts, found none for part 5",
        ),
        (
            members.replace("3-5", "3-6"),
            "expected parts below 6, found part 6",
        ),
        (members.replace("3-5", "2-5"), "bank 2"),
        (
            members.replace("secret = \"secret\"", "secret = \"none\""),
            "none",
        ),
    ] {
        place.write("wrong.toml", wrong);
        let err = place
            .run(&["status", "0", "--cluster", "wrong.toml", "--process", "0"])
            .fails(2);
        assert!(err.contains(says), "{err}");
    }
    for args in [
        &["serve", "0"][..],
        &["backup", "0", "copies"],
        &["synth", "crawl", "--pages", "10"],
    ] {
        let args = [args, &["--cluster", "members.toml", "--process", "0"]].concat();
        let err = place.run(&args).fails(2);
        assert!(err.contains("does not support --cluster"), "{err}");
        let needs_all = err.contains("it needs all parts of the bank on one machine");
        assert_eq!(needs_all, args[0] == "backup", "{err}");
    }
    let err = place
        .run(&["status", "0", "--cluster", "members.toml"])
        .fails(2);
    assert!(err.contains("--process"), "{err}");
    let err = place
        .run(&["status", "0", "--cluster", "members.toml", "--process", "2"])
        .fails(2);
    assert!(err.contains('2'), "{err}");
    // Without the parts of the others.
    let err = place.run(&["status", "0"]).fails(4);
    assert!(err.contains("part 3 is missing"), "{err}");
    let err = place.run(&["backup", "0", "copies"]).fails(1);
    let says = "a backup needs all parts of the bank on this machine; part 3 is not in 0/parts/003";
    assert!(err.contains(says), "{err}");
    let err = place.run(&["compact", "0"]).fails(1);
    assert!(err.contains("compaction needs all parts"), "{err}");
}

#[test]
fn processes_that_differ_end_at_once() {
    let cluster = Cluster::new(2);
    let children = vec![
        cluster.start_as(0, &["status", "BANK"]),
        cluster.start_as(1, &["history", "BANK"]),
    ];
    for ended in end_soon(children) {
        let err = ended.fails(1);
        let says = "the processes do not agree on command";
        assert!(err.contains(says), "{err}");
    }
    fs::write(
        cluster.place.path("other"),
        "another secret of some length\n",
    )
    .unwrap();
    let members = fs::read_to_string(cluster.place.path("members.toml")).unwrap();
    let other = members.replace("\"secret\"", "\"other\"");
    let other = other.replace("deadline = 20", "deadline = 2");
    cluster.place.write("other.toml", other);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(cluster.place.path("other"), mode).unwrap();
    let mut stranger =
        cluster
            .place
            .command(&["status", "1", "--cluster", "other.toml", "--process", "1"]);
    let stranger = stranger
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let first = cluster.start_as(0, &["status", "BANK"]);
    let mut ended = end_soon(vec![stranger.unwrap()]).into_iter();
    let err = ended.next().unwrap().fails(1);
    assert!(err.contains("secret"), "{err}");
    // Strangers do not keep the members out.
    let address = members
        .lines()
        .find_map(|line| line.strip_prefix("address = \""))
        .unwrap();
    let strangers: Vec<_> = (0..5)
        .map(|_| TcpStream::connect(address.trim_end_matches('"')))
        .collect();
    let member = cluster.start_as(1, &["status", "BANK"]);
    let mut ended = end_soon(vec![first, member]).into_iter();
    assert!(ended.next().unwrap().done().contains("batches 0"));
    ended.next().unwrap().done();
    drop(strangers);
}

#[test]
fn a_process_that_dies_or_stops_ends_all_and_changes_nothing() {
    let cluster = Cluster::with_patience(3, 2);
    let place = &cluster.place;
    place
        .run(&["synth", "crawl", "--pages", "20000", "--days", "1"])
        .done();
    let ingest = [
        "ingest",
        "BANK",
        "crawl/day-000.jsonl.zst",
        "--snapshot",
        "-q",
    ];
    let empty = cluster.export();
    for (signal, victim) in [("KILL", 1), ("STOP", 2), ("KILL", 0), ("STOP", 0)] {
        let mut children = cluster.start(&ingest);
        // All are connected once process 0 writes.
        let begun = Instant::now();
        while Writer::probe(&place.path("0")).is_ok() {
            assert!(begun.elapsed() < END, "the processes are not connected");
            std::thread::sleep(Duration::from_millis(5));
        }
        let number = children[victim].id().to_string();
        let signal = format!("-{signal}");
        let sent = std::process::Command::new("kill")
            .args([&signal, &number])
            .status();
        assert!(sent.unwrap().success());
        let mut killed = children.remove(victim);
        for ended in end_soon(children) {
            let err = ended.err.clone();
            assert_eq!(ended.status, Some(1), "{signal} {victim}: {ended:?}");
            assert!(
                err.starts_with("error: ") && err.contains("process"),
                "{err}"
            );
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(cluster.export(), empty, "{signal} {victim}");
    }
    cluster.done(&ingest);
    assert_ne!(cluster.export(), empty);
}

#[test]
fn a_missing_process_is_named_at_the_deadline() {
    let cluster = Cluster::new(3);
    let members = fs::read_to_string(cluster.place.path("members.toml")).unwrap();
    let soon = members.replace("deadline = 20", "deadline = 1");
    cluster.place.write("members.toml", soon);
    let children = vec![
        cluster.start_as(0, &["status", "BANK"]),
        cluster.start_as(2, &["status", "BANK"]),
    ];
    for ended in end_soon(children) {
        let err = ended.fails(1);
        assert!(err.contains("process 1 (127."), "{err}");
    }
}

#[test]
fn a_process_that_cannot_open_its_part_ends_all_at_once() {
    let cluster = Cluster::new(3);
    // The first of the parts of process 1.
    let marker = cluster.place.path("1/parts/002/SEEDBANK");
    fs::remove_file(marker).unwrap();
    for command in ["status", "refresh"] {
        let children = cluster.start(&[command, "BANK"]);
        let ended = end_soon(children);
        let [first, damaged, third] = &ended[..] else {
            panic!("{ended:?}");
        };
        // The deadline, at which a missing process is named, is as far off as the time within which all end.
        for ended in [first, damaged] {
            assert_eq!(ended.status, Some(4), "{command}: {ended:?}");
            let says = "parts/002 contains a bank whose marker file SEEDBANK is missing";
            assert!(ended.err.contains(says), "{command}: {ended:?}");
            assert!(
                ended.err.contains("seedbank repair"),
                "{command}: {ended:?}"
            );
        }
        assert_eq!(third.status, Some(1), "{command}: {third:?}");
        assert!(third.err.contains("parts/002"), "{command}: {third:?}");
    }
}
