//! Processes of a cluster bank over a slow network, whose connections deliver a few bytes at a time, late: the same
//! bytes, in a time that follows from the number of messages. And a connection that is cut ends the command in all of
//! them, with the bank as it was.
//!
//! Bug classes: a message that has to arrive in one piece, a delay that counts as silence, small messages that the
//! system holds back (Nagle's algorithm), a process that waits for another one that it cannot reach.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::processes::{Cluster, end_soon};
use crate::relays::{Cut, Relay};

const PROCESSES: usize = 3;

/// The patience of the processes, in seconds.
const PATIENCE: u32 = 2;

/// How long a byte takes in each direction.
const DELAY: Duration = Duration::from_millis(10);

/// What a busy machine may add to a time.
const SLACK: Duration = Duration::from_secs(5);

/// Two processes: the one that connects, and the one that accepts.
type Link = (usize, usize);

/// A bank whose processes reach each other through relays, one for each link.
struct Network {
    cluster: Cluster,
    relays: Vec<(Link, Relay)>,
}

impl Network {
    fn new(delay: Duration) -> Self {
        let mut cluster = Cluster::with_patience(PROCESSES, PATIENCE);
        let members = fs::read_to_string(cluster.place.path("members.toml")).unwrap();
        let address = |line: &str| -> Option<SocketAddr> {
            let address = line.strip_prefix("address = \"")?;
            address.trim_end_matches('"').parse().ok()
        };
        let addresses: Vec<SocketAddr> = members.lines().filter_map(address).collect();
        let mut relays = Vec::new();
        for caller in 0..PROCESSES {
            let mut own = members.clone();
            for (called, address) in addresses.iter().enumerate() {
                if called != caller {
                    let relay = Relay::new(*address, delay);
                    own = own.replace(&address.to_string(), &relay.address.to_string());
                    relays.push(((caller, called), relay));
                }
            }
            let file = format!("members-{caller}.toml");
            cluster.place.write(&file, own);
            cluster.members[caller] = file;
        }
        Self { cluster, relays }
    }

    /// Counts the traffic of the next command, and cuts the link in `cut` once its number of bytes was forwarded.
    fn restart(&self, cut: Option<(Link, usize, Cut)>) {
        for (link, relay) in &self.relays {
            let cut = cut.filter(|(cut, ..)| cut == link);
            relay.restart(cut.map(|(_, bytes, how)| (bytes, how)));
        }
    }

    /// The bytes that passed a link.
    fn bytes(&self, link: Link) -> usize {
        let mut relays = self.relays.iter();
        let (_, relay) = relays.find(|(other, _)| *other == link).unwrap();
        relay.traffic().0
    }

    /// How often bytes arrived, on all links.
    fn arrivals(&self) -> u32 {
        let arrivals = self.relays.iter().map(|(_, relay)| relay.traffic().1);
        arrivals.sum::<usize>().try_into().unwrap()
    }
}

fn synth(cluster: &Cluster, pages: &str) {
    let args = ["synth", "crawl", "--pages", pages, "--days", "0"];
    cluster.place.run(&args).done();
}

const INGEST: [&str; 6] = [
    "ingest",
    "BANK",
    "crawl/day-000.jsonl.zst",
    "--as-of",
    "2026-11-20T00:00:00Z",
    "-q",
];

/// A refresh over the web, of a plan with this name.
const fn coverage(plan: &'static str) -> [&'static str; 15] {
    // With all of these parameters there is no search for a setting.
    [
        "refresh",
        "BANK",
        "--plan",
        plan,
        "--goal",
        "coverage",
        "--seeds",
        "4",
        "--hops",
        "2",
        "--fetch-cost",
        "0.25",
        "--value-known",
        "0",
        "-q",
    ]
}

#[test]
fn a_slow_network_changes_nothing_but_the_time() {
    let network = Network::new(DELAY);
    let fast = Cluster::with_patience(PROCESSES, PATIENCE);
    synth(&network.cluster, "30");
    synth(&fast, "30");
    let commands: [&[&str]; 6] = [
        &INGEST,
        &coverage("web"),
        &[
            "refresh", "BANK", "--plan", "cores", "--method", "cores", "--seeds", "2", "-q",
        ],
        &["seeds", "BANK", "--plan", "web"],
        &["seeds", "BANK", "--plan", "cores"],
        &["export", "BANK", "-q"],
    ];
    for command in commands {
        let begun = Instant::now();
        let expected = fast.done(command);
        let without = begun.elapsed();
        network.restart(None);
        let begun = Instant::now();
        let ended = network.cluster.run(command);
        let time = begun.elapsed();
        for process in &ended {
            assert_eq!((process.status, &*process.err), (Some(0), ""));
        }
        // Commands that write print how long they took.
        if ["seeds", "export"].contains(&command[0]) {
            assert_eq!(ended[0].out, expected, "{command:?}");
        }
        // Nothing takes longer than if each message waited for the one before.
        let arrivals = network.arrivals();
        let most = DELAY * arrivals + 2 * without + SLACK / 5;
        eprintln!("{command:?}: {without:?}, {time:?}, {arrivals} arrivals");
        assert!(time > 4 * DELAY, "{command:?}: {time:?}");
        assert!(time < most, "{command:?}: {time:?}, {arrivals} arrivals");
    }
}

/// A command whose connections are cut.
struct Turn<'a> {
    /// A command with the same traffic, which is not cut.
    whole: &'a [&'a str],
    cut: &'a [&'a str],
    cuts: [(Link, Cut); 2],
    /// Prints what the command changes.
    shows: &'a [&'a str],
}

#[test]
fn a_cut_connection_ends_all_processes_and_changes_nothing() {
    let network = Network::new(Duration::ZERO);
    let cluster = &network.cluster;
    synth(cluster, "60");
    let history: &[&str] = &["history", "BANK", "--format", "json"];
    let export: &[&str] = &["export", "BANK", "-q"];
    let turns = [
        Turn {
            whole: &INGEST,
            cut: &INGEST,
            cuts: [((1, 2), Cut::Closed), ((0, 1), Cut::Silent)],
            shows: export,
        },
        Turn {
            whole: &coverage("a"),
            cut: &coverage("b"),
            cuts: [((2, 1), Cut::Silent), ((0, 2), Cut::Closed)],
            shows: history,
        },
        Turn {
            whole: export,
            cut: export,
            cuts: [((1, 0), Cut::Closed), ((2, 0), Cut::Silent)],
            shows: history,
        },
    ];
    for turn in turns {
        let Turn {
            whole,
            cut: command,
            cuts,
            shows,
        } = turn;
        network.restart(None);
        let begun = Instant::now();
        cluster.done(whole);
        let without = begun.elapsed();
        let bytes = cuts.map(|(link, _)| network.bytes(link));
        if whole == INGEST {
            cluster.done(&["undo", "BANK", "-q"]);
        }
        network.restart(None);
        let state = cluster.done(shows);
        for ((link, cut), bytes) in cuts.into_iter().zip(bytes) {
            // After the greetings, which are bounded by the deadline.
            let bytes = bytes * 3 / 4;
            network.restart(Some((link, bytes, cut)));
            let begun = Instant::now();
            let ended = end_soon(cluster.start(command));
            let time = begun.elapsed();
            let what = format!("{command:?}, {link:?} {cut:?} after {bytes}");
            eprintln!("{what}: {time:?}, {}", ended[0].err);
            assert!(network.bytes(link) > bytes, "{what}");
            for process in ended {
                assert_eq!(process.status, Some(1), "{what}: {process:?}");
                let err = process.err;
                assert!(err.starts_with("error: "), "{what}: {err}");
                assert!(err.contains("process"), "{what}: {err}");
                assert_eq!(err.lines().count(), 1, "{what}: {err}");
            }
            let patience = Duration::from_secs(PATIENCE.into());
            assert!(time < without + patience + SLACK, "{what}: {time:?}");
            network.restart(None);
            assert!(cluster.done(shows) == state, "{what}");
        }
        if whole == INGEST {
            cluster.done(&INGEST);
        }
    }
}
