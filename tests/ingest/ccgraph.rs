//! Web graphs as Common Crawl publishes them, in a bank.
//!
//! Families of cases, and what they catch:
//! * random graphs of hosts and domains, in parts, compressed and not, with ranks and without: a bank
//!   that differs by a byte of its export from that of the same pages as JSON Lines;
//! * vertices that are no page or the same page: a link that is dropped or kept only where records name pages by
//!   vertex;
//! * a graph of many pieces: events out of the order of vertices, or that depend on threads;
//! * parts without lines, vertices in any order, columns of ranks in another order;
//! * hundreds of damages and truncations of good files, a panic, or an edge that is
//!   neither a link nor counted. Single faults are in `cases/read/ccgraph.txt`.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use seedbank::engine::ingest::{ForgetRequest, Format};
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{
    Event, Input, Naming, PageRecord, Position, ReadError, ReadSummary, read_batch,
};
use seedbank::watch::Unwatched;
use serde_json::json;

use crate::support;
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use crate::support::properties::repeatable;

/// The files of a graph, each list in its parts.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub vertices: Vec<Vec<u8>>,
    pub edges: Vec<Vec<u8>>,
    pub ranks: Vec<Vec<u8>>,
}

pub type Read = (
    Result<ReadSummary, ReadError<Infallible>>,
    Vec<(Position, Event)>,
);

impl Files {
    /// The inputs and the format that mean these files, written to a folder.
    pub fn write(&self, folder: &Path) -> (Vec<Input>, Format) {
        let write = |name: &str, parts: &[Vec<u8>]| -> Vec<Input> {
            let parts = (0..).zip(parts).map(|(part, bytes): (usize, _)| {
                let path = folder.join(format!("{name}-{part}"));
                fs::write(&path, bytes).unwrap();
                Input::File(path)
            });
            parts.collect()
        };
        let vertices = write("vertices", &self.vertices);
        let ranks = write("ranks", &self.ranks);
        let format = Format::CcGraph { vertices, ranks };
        (write("edges", &self.edges), format)
    }

    /// What is read of them.
    pub fn read(&self) -> Read {
        let folder = support::scratch();
        let (edges, format) = self.write(folder.path());
        read(&edges, &format)
    }
}

fn read(edges: &[Input], format: &Format) -> Read {
    let mut events = Vec::new();
    let mut sink = |at, event| {
        events.push((at, event));
        Ok(())
    };
    let mut sources = format.sources(edges);
    let summary = read_batch(&mut sources, Naming::default(), &Unwatched, &mut sink);
    (summary, events)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// The lines in parts, which begin after so many of them.
fn parts(lines: &[String], cuts: &[usize], compressed: bool) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (lines.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(lines.len());
    let mut start = 0;
    let parts = cuts.into_iter().map(|end| {
        let part = lines[start..end].concat().into_bytes();
        start = end;
        if compressed { gzip(&part) } else { part }
    });
    parts.collect()
}

fn url(host: &str) -> String {
    let labels: Vec<&str> = host.rsplit('.').collect();
    format!("http://{}/", labels.join("."))
}

fn host(number: usize) -> String {
    let www = ["", ".www", ".a-b", ".m"][number % 4];
    format!("com.example{}{www}", number / 4)
}

/// A graph by its hosts and links, and the vertices in the order of their ranks.
#[derive(Clone, Debug)]
struct Graph {
    hosts: Vec<String>,
    links: BTreeSet<(usize, usize)>,
    ranked: Option<Vec<usize>>,
}

impl Graph {
    fn files(&self, cuts: &[usize], compressed: bool, domains: bool) -> Files {
        let vertices = self.hosts.iter().enumerate().map(|(id, host)| {
            if domains {
                format!("{id}\t{host}\t{}\n", id % 3)
            } else {
                format!("{id}\t{host}\n")
            }
        });
        let edges = self
            .links
            .iter()
            .map(|(from, to)| format!("{from}\t{to}\n"));
        let cut = |lines: Vec<String>| parts(&lines, cuts, compressed);
        let mut ranks = Vec::new();
        if let Some(ranked) = &self.ranked {
            let head = "#host_rev\t#pr_pos\t#harmonicc_pos\t#harmonicc_val\t#pr_val\n".to_owned();
            let rows = (1..).zip(ranked).map(|(position, id): (usize, _)| {
                format!("{}\t7\t{position}\t2.5E7\t0.1\n", self.hosts[*id])
            });
            let mut lines = vec![head];
            lines.extend(rows);
            // The header stays in the first part.
            let cuts: Vec<usize> = cuts.iter().map(|cut| cut % lines.len() + 1).collect();
            ranks = parts(&lines, &cuts, compressed);
        }
        Files {
            vertices: cut(vertices.collect()),
            edges: cut(edges.collect()),
            ranks,
        }
    }

    fn json_lines(&self) -> String {
        let record = |(id, host): (usize, &String)| {
            let links = self.links.range((id, 0)..(id + 1, 0));
            let links: Vec<String> = links.map(|(_, to)| url(&self.hosts[*to])).collect();
            let mut record = json!({"url": url(host), "outlinks": links});
            if let Some(ranked) = &self.ranked
                && let Some(at) = ranked.iter().position(|ranked| *ranked == id)
            {
                let quality = 1.0 - ((at + 1) as f64).ln() / (ranked.len() as f64).ln();
                record["quality"] = json!(if ranked.len() == 1 { 1.0 } else { quality });
            }
            record.to_string() + "\n"
        };
        self.hosts.iter().enumerate().map(record).collect()
    }
}

fn bank(folder: &Path, name: &str, inputs: Vec<Input>, format: Format) -> Bank {
    let bank = Bank::create(folder.join(name), Naming::default()).unwrap();
    let request = IngestRequest {
        inputs,
        format,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    assert_clean(&bank);
    bank
}

fn a_graph() -> impl Strategy<Value = Graph> {
    let hosts = subsequence((0..80).collect::<Vec<usize>>(), 1..60);
    let links = proptest::collection::btree_set((0_usize..60, 0_usize..60), 0..300);
    (hosts, links, any::<bool>(), any::<u64>(), 0_usize..3).prop_map(
        |(numbers, links, sorted, seed, ranked)| {
            let mut hosts: Vec<String> = numbers.into_iter().map(host).collect();
            // In an order that has nothing to do with names.
            let mix = |n: u64| {
                (n ^ seed)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29)
            };
            let mixed = |length: usize| {
                let mut order: Vec<usize> = (0..length).collect();
                order.sort_by_key(|n| mix(*n as u64));
                order
            };
            if sorted {
                hosts.sort();
            } else {
                let order = mixed(hosts.len());
                hosts = order.into_iter().map(|n| hosts[n].clone()).collect();
            }
            let count = hosts.len();
            let is_link = |(from, to): &(usize, usize)| *from < count && *to < count;
            let links = links.into_iter().filter(is_link).collect();
            // None, a part of them, all.
            let ranked = match ranked {
                0 => None,
                1 => Some(mixed(count).split_off(count / 2)),
                _ => Some(mixed(count)),
            };
            Graph {
                hosts,
                links,
                ranked,
            }
        },
    )
}

proptest! {
    #![proptest_config(repeatable(10))]

    #[test]
    fn a_bank_is_that_of_the_same_pages_as_json_lines(
        graph in a_graph(),
        cuts in proptest::collection::vec(any::<usize>(), 0..4),
        compressed in any::<bool>(),
        domains in any::<bool>(),
    ) {
        let folder = support::scratch();
        let (edges, format) = graph.files(&cuts, compressed, domains).write(folder.path());
        let ours = bank(folder.path(), "ours", edges, format);
        let lines = folder.path().join("lines.jsonl");
        fs::write(&lines, graph.json_lines()).unwrap();
        let theirs = bank(folder.path(), "theirs", vec![Input::File(lines)], Format::JsonLines);
        let ours = String::from_utf8(exported(&ours)).unwrap();
        prop_assert_eq!(ours, String::from_utf8(exported(&theirs)).unwrap());
    }
}

/// A bank that blocks a page reads the URL of each link, another one that of each vertex.
#[test]
fn invalid_and_equal_hosts_are_those_of_links_by_url() {
    let text = |text: &str| vec![text.as_bytes().to_vec()];
    let graph = |edges: &str| Files {
        vertices: text("0\tcom.a\n1\tcom.b..\n2\tcom.A\n3\torg.c\n4\torg.d\n"),
        edges: text(edges),
        ranks: Vec::new(),
    };
    let ingest = |files: &Files, blocked: &[&str]| {
        let folder = support::scratch();
        let (inputs, format) = files.write(folder.path());
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        if !blocked.is_empty() {
            let request = ForgetRequest {
                what: blocked.iter().map(|what| (*what).to_owned()).collect(),
                block: true,
                ..ForgetRequest::default()
            };
            bank.forget(&request).unwrap();
        }
        let request = IngestRequest {
            inputs,
            format,
            max_rejects: 100.0,
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        let report = bank.ingest(&request).unwrap();
        assert_clean(&bank);
        let counts = [
            report.counts.superseded,
            report.counts.dropped_outlinks,
            report.read.rejected(),
        ];
        (String::from_utf8(exported(&bank)).unwrap(), counts)
    };
    // The first and the third are the same page.
    let files = graph("0\t1\n0\t2\n0\t3\n2\t0\n2\t3\n3\t0\n3\t1\n3\t2\n");
    let by_vertex = ingest(&files, &[]);
    assert_eq!(by_vertex, ingest(&files, &["http://other.test/"]));
    assert_eq!(by_vertex.1, [1, 2, 1]);
    let link = r#""outlinks":["http://c.org/"]"#;
    assert_eq!(by_vertex.0.matches(link).count(), 1, "{}", by_vertex.0);
    assert_eq!(by_vertex.0.lines().count(), 3, "{}", by_vertex.0);
    // The later one counts.
    let (lines, _) = ingest(&graph("0\t3\n2\t4\n"), &[]);
    assert!(lines.contains(r#""outlinks":["http://d.org/"]"#), "{lines}");
    assert!(!lines.contains(link), "{lines}");
}

#[test]
fn events_come_in_the_order_of_vertices_whatever_the_threads() {
    let hosts: Vec<String> = (0..17_000).map(|n| format!("org.h{n:06}")).collect();
    let count = hosts.len();
    let links = (0..count).flat_map(|from| (1..5).map(move |k| (from, from * 31 * k % count)));
    let graph = Graph {
        hosts,
        links: links.filter(|(from, _)| from % 7 != 3).collect(),
        ranked: None,
    };
    let mut files = graph.files(&[6_000, 11_111], true, false);
    let bad = b"bad..host\n".as_slice();
    files.vertices.push([b"17000\t", bad].concat());
    let folder = support::scratch();
    let (edges, format) = files.write(folder.path());
    let on_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let (summary, events) = pool.build().unwrap().install(|| read(&edges, &format));
        (summary.unwrap(), events)
    };
    let one = on_threads(1);
    assert_eq!(one, on_threads(4));
    let (summary, events) = one;
    assert_eq!(summary.records, 17_001);
    for (id, (at, event)) in events.iter().enumerate() {
        let Event::Record(PageRecord { url, outlinks, .. }) = event else {
            assert_eq!((id, *at), (17_000, Position::Line(1)));
            continue;
        };
        // Each part counts its own lines.
        let first = [0, 6_000, 11_111].into_iter().rfind(|first| *first <= id);
        assert_eq!(*at, Position::Line((id - first.unwrap() + 1) as u64));
        assert_eq!(url.site, format!("h{id:06}.org"));
        let links = graph.links.range((id, 0)..(id + 1, 0));
        let links = links.filter(|(from, to)| from != to).count();
        assert_eq!(outlinks.as_ref().unwrap().len(), links);
    }
    let Some((_, Event::Rejected(reject))) = events.last() else {
        panic!("{:?}", events.last());
    };
    assert!(reject.file.ends_with("vertices-3"), "{reject:?}");
    assert_eq!(reject.record, "bad..host");
}

const VERTICES: &str = "0\tcom.a\n1\tcom.a.www\n2\tcom.b\n3\torg.c\n";
const EDGES: &str = "0\t1\n0\t3\n1\t2\n3\t0\n3\t3\n";
const RANKS: &str = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n\
    1\t9.5\t3\t0.1\torg.c\n2\t8.5\t1\t0.4\tcom.a\n3\t7.5\t2\t0.3\tcom.b\n4\t6.5\t4\t0.2\tcom.a.www\n";

#[test]
fn truncated_files_are_rejected() {
    let whole = Files {
        vertices: vec![VERTICES.into()],
        edges: vec![EDGES.into()],
        ranks: vec![RANKS.into()],
    };
    for list in 0..3 {
        let bytes = gzip([VERTICES, EDGES, RANKS][list].as_bytes());
        for length in 1..bytes.len() {
            let mut cut = whole.clone();
            let parts = [&mut cut.vertices, &mut cut.edges, &mut cut.ranks];
            let part = parts.into_iter().nth(list).unwrap();
            part[0] = bytes[..length].to_vec();
            let (read, events) = cut.read();
            assert!(matches!(read, Err(ReadError::Input(_))), "{list} {length}");
            // What came before it was right.
            assert!(events.len() <= 4, "{list} {length}");
        }
    }
}

/// What a damaged graph comes to: every vertex is a page or rejected, and every edge is a link or counted as something else.
fn check(files: &Files) {
    let (summary, events) = files.read();
    let Ok(summary) = summary else {
        assert!(matches!(summary, Err(ReadError::Input(_))), "{files:?}");
        return;
    };
    let (mut vertices, mut links, mut is_rejected) = (0, 0, false);
    for (_, event) in events {
        match event {
            Event::Record(record) => {
                links += record.outlinks.unwrap().len();
                vertices += 1;
            }
            Event::Rejected(reject) if reject.file.contains("ranks") => {}
            Event::Rejected(_) => (vertices, is_rejected) = (vertices + 1, true),
            other => panic!("{other:?}"),
        }
    }
    let count_lines = |list: &[Vec<u8>]| {
        let all = list[0].split(|byte| *byte == b'\n');
        all.filter(|line| !line.trim_ascii().is_empty()).count()
    };
    assert_eq!(vertices, count_lines(&files.vertices), "{files:?}");
    let dropped: u64 = summary.dropped_outlinks.values().sum();
    let others = summary.self_links + summary.duplicate_outlinks + dropped;
    assert!(
        is_rejected || links as u64 + others == count_lines(&files.edges) as u64,
        "{files:?}"
    );
}

proptest! {
    #![proptest_config(repeatable(300))]

    #[test]
    fn a_damage_is_rejected_or_loses_no_edge(
        list in 0_usize..3,
        at in any::<Index>(),
        kind in 0_usize..5,
        byte in select(b"0123459\t\n\r ./xA-\xff\0".to_vec()),
    ) {
        let mut all = [VERTICES, EDGES, RANKS].map(|text| text.as_bytes().to_vec());
        let text = &mut all[list];
        let at = at.index(text.len());
        match kind {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            2 => drop(text.remove(at)),
            3 => text.truncate(at),
            _ => {
                // A line that is repeated.
                let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let end = text[at..].iter().position(|byte| *byte == b'\n').unwrap() + at + 1;
                let line = text[start..end].to_vec();
                text.splice(end..end, line);
            }
        }
        let [vertices, edges, ranks] = all.map(|list| vec![list]);
        check(&Files { vertices, edges, ranks });
    }
}
