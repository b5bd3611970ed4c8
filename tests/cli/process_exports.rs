//! `export` in several processes: the same files and reports as of one, and an end in all of them if one fails.

use std::fs;
use std::io::Read;
use std::process::Child;

use crate::processes::{Cluster, end_soon};
use crate::support::command::Place;

/// A bank in one database, and the same in three processes, with more text than a pipe and two answers hold.
fn banks() -> Cluster {
    let cluster = Cluster::with_patience(3, 10);
    let place = &cluster.place;
    place
        .run(&["synth", "crawl", "--pages", "20000", "--days", "1"])
        .done();
    place.write(
        "sites.jsonl",
        "{\"site\":\"a.example\",\"quota\":5}\n{\"site\":\"b.example\",\"quality\":0.25}\n",
    );
    place.run(&["init", "bank"]).done();
    let ingest = |bank| {
        let crawl = "crawl/day-000.jsonl.zst";
        ["ingest", bank, crawl, "--sites", "sites.jsonl", "-q"]
    };
    place.run(&ingest("bank")).done();
    cluster.done(&ingest("BANK"));
    cluster
}

/// What an export to files prints and writes.
fn files(place: &Place, err: &str, prefix: &str) -> (String, Vec<u8>, String) {
    let path = |name: &str| place.path(&format!("{prefix}-{name}"));
    let err = err.replace(&format!("{prefix}-"), "PREFIX-");
    let records = fs::read(path("records.jsonl.zst")).unwrap();
    let sites = fs::read_to_string(path("sites.jsonl")).unwrap();
    (err, records, sites)
}

/// Starts an export to a pipe, and waits until it has begun to write.
fn begin(cluster: &Cluster) -> (Vec<Child>, impl Read + use<>) {
    let mut children = cluster.start(&["export", "BANK", "-q"]);
    let mut out = children[0].stdout.take().unwrap();
    let mut first = [0];
    out.read_exact(&mut first).unwrap();
    assert_eq!(first, *b"{");
    (children, out)
}

#[test]
fn an_export_of_several_processes_is_that_of_one_or_ends_in_all() {
    let cluster = banks();
    let place = &cluster.place;
    let args = |bank, records, sites| ["export", bank, "--out", records, "--sites-out", sites];
    let alone = place.run(&args("bank", "one-records.jsonl.zst", "one-sites.jsonl"));
    let ended = cluster.run(&args("BANK", "all-records.jsonl.zst", "all-sites.jsonl"));
    assert!(alone.err.contains("20000 crawled"), "{alone:?}");
    let expected = files(place, &alone.err, "one");
    assert_eq!(expected.2.lines().count(), 2);
    assert_eq!(files(place, &ended[0].err, "all"), expected);
    for process in &ended {
        assert_eq!((process.status, &*process.out), (Some(0), ""));
    }

    // A reader that has seen enough.
    let (children, out) = begin(&cluster);
    drop(out);
    let mut ended = end_soon(children).into_iter();
    let first = ended.next().unwrap();
    assert_eq!((first.status, &*first.err), (Some(0), ""));
    for other in ended {
        other.fails(1);
    }

    // Ctrl-C.
    let (children, mut out) = begin(&cluster);
    signal(&children[0], "-INT");
    out.read_to_end(&mut Vec::new()).unwrap();
    let mut ended = end_soon(children).into_iter();
    let first = ended.next().unwrap();
    assert_eq!(first.status, Some(130), "{first:?}");
    assert_eq!(first.err, "error: interrupted; the bank is unchanged\n");
    for other in ended {
        other.fails(1);
    }

    // A process that dies.
    for victim in [1, 2] {
        let (mut children, mut out) = begin(&cluster);
        signal(&children[victim], "-KILL");
        children.remove(victim).wait().unwrap();
        out.read_to_end(&mut Vec::new()).unwrap();
        for ended in end_soon(children) {
            let err = ended.fails(1);
            assert!(
                err.starts_with("error: ") && err.contains("process"),
                "{err}"
            );
        }
    }
    let exported = place.run(&["export", "bank", "-q"]).done();
    assert_eq!(cluster.done(&["export", "BANK", "-q"]), exported);
}

fn signal(child: &Child, signal: &str) {
    let number = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args([signal, &number])
        .status();
    assert!(sent.unwrap().success());
}
