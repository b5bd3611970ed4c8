//! Processes of a cluster bank that are killed at any moment of any command: the bank has the state before or after it,
//! for any number of processes that open it next.

use std::fs;
use std::time::{Duration, Instant};

use crate::processes::{Cluster, PARTS, end_soon};
use crate::support::quota;

const PROCESSES: usize = 3;

/// Moves all parts to the folder of process 0, or back.
fn move_parts(cluster: &Cluster, together: bool) {
    for part in 1..PARTS {
        let process = part * PROCESSES / PARTS;
        let apart = cluster.place.path(&format!("{process}/parts/{part:03}"));
        let gathered = cluster.place.path(&format!("0/parts/{part:03}"));
        if apart == gathered {
            continue;
        }
        let (from, to) = if together {
            (apart, gathered)
        } else {
            (gathered, apart)
        };
        fs::rename(from, to).unwrap();
    }
}

/// The records of the bank, and its number of refreshes, as one process sees them after it has written.
fn state(cluster: &Cluster) -> (String, u64) {
    let place = &cluster.place;
    move_parts(cluster, true);
    // The first writer finishes an interrupted commit or undoes it.
    place.run(&["ingest", "0", "-q", "/dev/null"]);
    let checked = place.run(&["check", "0"]).done();
    assert!(checked.contains("no problems found"), "{checked}");
    let exported = place.run(&["export", "0", "-q"]).done();
    let refreshes = place.status_of("0")["refreshes"].as_u64().unwrap();
    move_parts(cluster, false);
    (exported, refreshes)
}

#[test]
fn processes_killed_at_any_moment_leave_a_whole_state() {
    let cluster = Cluster::with_patience(PROCESSES, 10);
    let place = &cluster.place;
    // The time for which others wait for a process that is killed before it is connected.
    let members = fs::read_to_string(place.path("members.toml")).unwrap();
    place.write(
        "members.toml",
        members.replace("deadline = 20", "deadline = 2"),
    );
    place
        .run(&["synth", "crawl", "--pages", "400", "--days", "2"])
        .done();
    let ingest = [
        "ingest",
        "BANK",
        "crawl/day-000.jsonl.zst",
        "crawl/day-001.jsonl.zst",
        "--again",
        "-q",
    ];
    // Each leads from the result of the one before to its own.
    let commands: [&[&str]; 5] = [
        &ingest,
        &["refresh", "BANK", "--goal", "sites", "--plan", "a", "-q"],
        &[
            "refresh", "BANK", "--method", "cores", "--seeds", "20", "--plan", "b", "-q",
        ],
        &[
            "refresh", "BANK", "--goal", "coverage", "--seeds", "10", "--budget", "60", "--plan",
            "c", "-q",
        ],
        &["undo", "BANK", "-q"],
    ];
    let (empty, _) = state(&cluster);
    cluster.done(&ingest);
    let (full, _) = state(&cluster);
    cluster.done(commands[4]);
    let mut took = [Duration::from_millis(400); 5];
    let mut outcomes = [0; 2];
    for kill in 0..quota(15) {
        let turn = kill % commands.len();
        let before = state(&cluster);
        let mut children = cluster.start(commands[turn]);
        // Moments that are spread over the command, and each of the processes in turn.
        std::thread::sleep(took[turn].mul_f64((kill as f64 * 0.618).fract()));
        let mut victim = children.remove(kill % PROCESSES);
        victim.kill().unwrap();
        victim.wait().unwrap();
        for ended in end_soon(children) {
            assert!(!ended.err.contains("panicked"), "{ended:?}");
        }
        let found = state(&cluster);
        let after = match turn {
            0 => (full.clone(), before.1),
            4 => (empty.clone(), before.1),
            _ => (full.clone(), before.1 + 1),
        };
        let is_after = found == after;
        assert!(is_after || found == before, "{turn}, kill {kill}");
        outcomes[usize::from(is_after)] += 1;
        if !is_after {
            let begun = Instant::now();
            cluster.done(commands[turn]);
            took[turn] = begun.elapsed();
            assert_eq!(state(&cluster), after, "{turn}");
        }
    }
    assert!(outcomes[0] > 0, "{outcomes:?}");
}
