//! Generated graphs of hosts: the published layout, the same bytes on any number of threads, and a bank
//! that takes them whole.
//!
//! Catches lists that do not fit each other, names out of order, edges out of order or range, and files
//! left behind.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, Naming};
use seedbank::synth::SynthError;
use seedbank::synth::hosts::{HostsList, HostsOptions, HostsSummary, generate};
use seedbank::watch::{Unwatched, Watch};

use crate::support;

/// The lines of a list, over its parts.
fn lines(summary: &HostsSummary, list: HostsList) -> Vec<String> {
    let mut all = Vec::new();
    for file in summary.files.iter().filter(|file| file.list == list) {
        let text = support::gunzip(&file.path);
        assert_eq!(text.len() as u64, file.text_bytes);
        assert_eq!(fs::metadata(&file.path).unwrap().len(), file.file_bytes);
        let before = all.len();
        all.extend(text.lines().map(str::to_owned));
        assert_eq!((all.len() - before) as u64, file.lines);
    }
    all
}

fn pair(line: &str) -> (u64, String) {
    let (id, rest) = line.split_once('\t').unwrap();
    (id.parse().unwrap(), rest.to_owned())
}

#[test]
fn a_graph_has_the_published_layout() {
    for (hosts, rng_seed, parts) in [(1, 0, 1), (2, 1, 1), (300, 2, 1), (9_000, 3, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let options = HostsOptions {
            rng_seed,
            ..HostsOptions::new(hosts)
        };
        let summary = generate(dir.path(), &options, &Unwatched).unwrap();
        let of = |list| {
            summary
                .files
                .iter()
                .filter(|file| file.list == list)
                .count()
        };
        assert_eq!(of(HostsList::Vertices), parts);
        assert_eq!(of(HostsList::Edges), parts);
        let vertices: Vec<_> = lines(&summary, HostsList::Vertices);
        let vertices: Vec<_> = vertices.iter().map(|line| pair(line)).collect();
        assert!((0..hosts).eq(vertices.iter().map(|(id, _)| *id)));
        assert!(vertices.is_sorted_by(|(_, a), (_, b)| a < b));
        let edges: Vec<_> = lines(&summary, HostsList::Edges);
        let edges: Vec<(u64, u64)> = edges
            .iter()
            .map(|line| pair(line))
            .map(|(from, to)| (from, to.parse().unwrap()))
            .collect();
        assert!(edges.is_sorted_by(|a, b| a < b));
        assert!(
            edges
                .iter()
                .all(|(a, b)| *a < hosts && *b < hosts && a != b)
        );
        assert_eq!(edges.len() as u64, summary.links);
        let linking: HashSet<u64> = edges.iter().map(|(from, _)| *from).collect();
        assert_eq!(hosts - linking.len() as u64, summary.dangling);
        let ranks = lines(&summary, HostsList::Ranks);
        assert!(
            ranks[0].starts_with("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev")
        );
        let names: HashSet<&str> = vertices.iter().map(|(_, name)| name.as_str()).collect();
        let mut ranked = HashSet::new();
        for (place, row) in (1..).zip(&ranks[1..]) {
            let columns: Vec<&str> = row.split('\t').collect();
            assert_eq!(columns[0], u64::to_string(&place));
            assert!(
                names.contains(columns[4]) && ranked.insert(columns[4]),
                "{row}"
            );
        }
        assert_eq!(ranked.len() as u64, hosts);
    }
}

#[test]
fn a_bank_takes_the_graph_whole() {
    let dir = support::scratch();
    let summary = generate(
        &dir.path().join("graph"),
        &HostsOptions::new(2_000),
        &Unwatched,
    )
    .unwrap();
    let inputs = |list| {
        let files = summary.files.iter().filter(|file| file.list == list);
        files
            .map(|file| Input::File(file.path.clone()))
            .collect::<Vec<_>>()
    };
    let bank = Bank::create(dir.path().join("bank"), Naming::default()).unwrap();
    let request = IngestRequest {
        format: Format::CcGraph {
            vertices: inputs(HostsList::Vertices),
            ranks: inputs(HostsList::Ranks),
        },
        inputs: inputs(HostsList::Edges),
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    let report = serde_json::to_value(&report).unwrap();
    assert_eq!(report["counts"]["rejected"], 0, "{report}");
    assert_eq!(report["counts"]["became_crawled"], 2_000, "{report}");
    assert_eq!(report["counts"]["links_added"], summary.links, "{report}");
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn bytes_depend_on_the_options_alone() {
    let with = |threads: usize, rng_seed: u64| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let options = HostsOptions {
            rng_seed,
            ..HostsOptions::new(9_000)
        };
        pool.install(|| generate(dir.path(), &options, &Unwatched))
            .unwrap();
        files(dir.path())
    };
    let one = with(1, 0);
    assert!(one == with(4, 0));
    assert!(one != with(2, 1));
}

/// Stops after some calls of `stopped`.
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) <= 1
    }
}

#[test]
fn nothing_is_left_of_what_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let graph = dir.path().join("graph");
    for calls in 1..4 {
        let stopped = generate(
            &graph,
            &HostsOptions::new(500),
            &StopAfter(AtomicU64::new(calls)),
        );
        assert!(
            matches!(stopped, Err(SynthError::Interrupted)),
            "{stopped:?}"
        );
        assert!(!graph.exists());
    }
    generate(&graph, &HostsOptions::new(500), &Unwatched).unwrap();
    let again = generate(&graph, &HostsOptions::new(500), &Unwatched);
    assert!(matches!(again, Err(SynthError::NotEmpty(_))), "{again:?}");
    for (options, name) in [
        (HostsOptions::new(0), "hosts"),
        (
            HostsOptions {
                links: f64::NAN,
                ..HostsOptions::new(9)
            },
            "links",
        ),
        (
            HostsOptions {
                dangling: 1.5,
                ..HostsOptions::new(9)
            },
            "dangling",
        ),
    ] {
        let refused = generate(&dir.path().join("none"), &options, &Unwatched).unwrap_err();
        assert!(refused.to_string().starts_with(name), "{refused}");
    }
}
