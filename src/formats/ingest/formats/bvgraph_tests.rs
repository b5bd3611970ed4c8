//! Damaged graphs: whatever is wrong, there is an answer, and never a panic, an endless loop or
//! unbounded memory; an intact graph comes back as it was.

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use dsi_bitstream::dispatch::Codes;
use webgraph::graphs::bvgraph::{BvComp, CompFlags};
use webgraph::graphs::vec_graph::VecGraph;

use super::*;
use crate::ingest::open::InputError;
use crate::ingest::summary::{DropReason, RejectReason};

use crate::ingest::{Format, SiteMode, UrlRules, read_batch};
use seedbank_algorithms::watch::Unwatched;

type Lists = Vec<Vec<u64>>;

/// Lists with copies, intervals, residuals, a self-link, and nodes without links.
fn lists() -> Lists {
    let mut lists: Lists = (0..60_u64)
        .map(|node| {
            let mut list: Vec<u64> = (node..(node + 9).min(60)).collect();
            list.extend((0..60).filter(|to| (to * 7 + node / 4) % 11 == 0));
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    lists[7].clear();
    lists[59].clear();
    lists
}

fn write(folder: &Path, lists: &Lists, flags: CompFlags) -> PathBuf {
    let mut graph = VecGraph::empty(lists.len());
    for (node, list) in lists.iter().enumerate() {
        for &to in list {
            graph.add_arc(node, usize::try_from(to).unwrap());
        }
    }
    let basename = folder.join("graph");
    BvComp::with_basename(&basename)
        .comp_flags(flags)
        .comp_graph::<dsi_bitstream::traits::BE>(&graph)
        .unwrap();
    basename
}

fn read(basename: &Path) -> Result<Lists, InputError> {
    let mut lists = Lists::new();
    for piece in LinkPieces::open(basename, &Progress::new(&Unwatched))? {
        let piece = piece.map_err(|stop| match stop {
            Stop::Input(error) => error,
            Stop::Interrupted(error) => panic!("{error}"),
        })?;
        assert_eq!(node_graph::lists(&piece.bytes).count(), piece.lists);
        for list in node_graph::lists(&piece.bytes) {
            let mut numbers = Numbers::new(list);
            assert_eq!(numbers.next(), Some(lists.len() as u64));
            let mut to = 0;
            let successors = numbers.map(|gap| {
                to += gap;
                to
            });
            lists.push(successors.collect());
        }
    }
    Ok(lists)
}

#[test]
fn every_way_of_compressing_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for window in [0, 1, 7] {
        for interval in [0, 2, 4] {
            for residuals in [Codes::Zeta(3), Codes::Zeta(5), Codes::Gamma, Codes::Delta] {
                let flags = CompFlags {
                    compression_window: window,
                    min_interval_length: interval,
                    residuals,
                    ..CompFlags::default()
                };
                let basename = write(folder.path(), &lists(), flags);
                assert_eq!(read(&basename).unwrap(), lists(), "{flags:?}");
            }
        }
    }
    let basename = write(folder.path(), &Vec::new(), CompFlags::default());
    assert_eq!(read(&basename).unwrap(), Lists::new());
}

#[test]
fn a_damaged_graph_is_told_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let basename = write(folder.path(), &lists(), CompFlags::default());
    let graph = file(&basename);
    let whole = fs::read(&graph).unwrap();
    let (mut refused, mut taken) = (0, 0);
    let mut try_bytes = |bytes: &[u8]| {
        fs::write(&graph, bytes).unwrap();
        match read(&basename) {
            // The format has no checksum: damage can make another graph with as many links.
            Ok(lists) => {
                assert_eq!(lists.len(), 60);
                taken += 1;
            }
            Err(InputError::Format(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    };
    // Steps of three, so that each of the eight bits of a byte is damaged somewhere.
    for bit in (0..whole.len() * 8).step_by(3) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        try_bytes(&bytes);
    }
    for length in 0..whole.len() {
        try_bytes(&whole[..length]);
    }
    for fill in [0, 0xff, 0x55, 0x01] {
        for from in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[from..].fill(fill);
            try_bytes(&bytes);
        }
    }
    assert!(refused > taken * 2, "{refused} refused, {taken} taken");
    fs::write(&graph, &whole).unwrap();
    assert_eq!(read(&basename).unwrap(), lists());
}

#[test]
fn a_graph_cut_off_names_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let basename = write(folder.path(), &lists(), CompFlags::default());
    let whole = fs::read(file(&basename)).unwrap();
    fs::write(file(&basename), &whole[..whole.len() / 2]).unwrap();
    let error = read(&basename).unwrap_err().to_string();
    let node = error.split("at node ").nth(1).unwrap().split(' ').next();
    let node: usize = node.unwrap().parse().unwrap();
    assert!((10..50).contains(&node), "{error}");
    // Too short for even one bit per node.
    fs::write(file(&basename), &whole[..4]).unwrap();
    let error = read(&basename).unwrap_err().to_string();
    assert!(error.contains("too few for the 60 nodes"), "{error}");
}

/// Writes bits in the codes of the format, the highest first.
#[derive(Default)]
struct Bits(Vec<u8>, usize);

impl Bits {
    fn bit(&mut self, bit: bool) {
        if self.1.is_multiple_of(8) {
            self.0.push(0);
        }
        *self.0.last_mut().unwrap() |= u8::from(bit) << (7 - self.1 % 8);
        self.1 += 1;
    }

    fn unary(&mut self, zeros: u32) {
        (0..zeros).for_each(|_| self.bit(false));
        self.bit(true);
    }

    fn gamma(&mut self, number: u64) {
        let length = (number + 1).ilog2();
        (0..length).for_each(|_| self.bit(false));
        (0..=length)
            .rev()
            .for_each(|at| self.bit((number + 1) >> at & 1 == 1));
    }
}

/// A graph in which every node links to the first `degree`: one run, and copies of it.
fn dense(folder: &Path, nodes: u64, degree: u64, links: u64) -> PathBuf {
    let mut bits = Bits::default();
    for node in 0..nodes.min(50_000) {
        bits.gamma(degree);
        bits.unary(u32::from(node > 0));
        if node == 0 {
            // One interval, from the node itself on.
            bits.gamma(1);
            bits.gamma(0);
            bits.gamma(degree - 4);
        } else {
            bits.gamma(0);
        }
    }
    let basename = write(folder, &Vec::new(), CompFlags::default());
    let properties = file(&basename).with_extension("properties");
    let text = fs::read_to_string(&properties).unwrap();
    let text = text.replacen("nodes=0", &format!("nodes={nodes}"), 1);
    let text = text.replacen("arcs=0", &format!("arcs={links}"), 1);
    fs::write(properties, text).unwrap();
    // At least one bit for each node.
    let length = bits.0.len().max(usize::try_from(nodes / 8 + 1).unwrap());
    bits.0.resize(length, 0);
    fs::write(file(&basename), bits.0).unwrap();
    basename
}

#[test]
fn a_small_file_of_many_links_is_refused_before_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let error = |nodes, degree, links| {
        let basename = dense(folder.path(), nodes, degree, links);
        read(&basename).unwrap_err().to_string()
    };
    let told = error(40_000, 40_000, 1_600_000_000);
    assert!(
        told.contains("1600000000 links; expected at most 1000 links per byte"),
        "{told}"
    );
    // Properties that claim fewer links than there are.
    let told = error(40_000, 40_000, 100_000);
    assert!(told.contains("at node 2 of 40000"), "{told}");
    assert!(told.contains("its properties claim 100000 links"), "{told}");
    // A single list that would take 280 MB.
    let told = error(35_000_000, 35_000_000, 35_000_000);
    assert!(told.contains("at node 0 of 35000000"), "{told}");
    assert!(told.contains("35000000 links, more than"), "{told}");
    // Far denser than any crawl, but small.
    let basename = dense(folder.path(), 1000, 1000, 1_000_000);
    let lists = read(&basename).unwrap();
    assert!(lists.len() == 1000 && lists.iter().all(|list| list.len() == 1000));
    // The graph or its properties may be no files at all.
    let graph = file(&basename);
    for path in [graph.with_extension("properties"), graph] {
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let told = read(&basename).unwrap_err().to_string();
        assert!(told.contains("is not a regular file"), "{told}");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn properties_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let basename = write(folder.path(), &lists(), CompFlags::default());
    let path = folder.path().join("graph.properties");
    let whole = fs::read_to_string(&path).unwrap();
    let links: usize = lists().iter().map(Vec::len).sum();
    let count = format!("arcs={links}");
    for (from, to, words) in [
        ("nodes=60", "nodes=61", "damaged or truncated at node 60"),
        ("nodes=60", "nodes=59", "a link that cannot be"),
        ("nodes=60", "nodes=99999999999", "too few for the"),
        ("nodes=60", "nodes=-1", "cannot parse 'nodes'"),
        ("nodes=60", "", "missing 'nodes'"),
        (&*count, "arcs=5", "its properties claim 5"),
        ("windowsize=7", "windowsize=99999999", "a windowsize of"),
        (".BVGraph", ".EFGraph", "only BVGraph"),
        (
            "compressionflags=",
            "compressionflags=BLOCKS_NIBBLE",
            "NIBBLE",
        ),
        ("endianness=big", "endianness=middle", "endianness"),
    ] {
        assert!(whole.contains(from), "{from} in {whole}");
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let error = read(&basename).unwrap_err().to_string().to_lowercase();
        assert!(error.contains(&words.to_lowercase()), "{to}: {error}");
    }
    fs::remove_file(&path).unwrap();
    let error = read(&basename).unwrap_err().to_string();
    assert!(error.contains("graph.properties"), "{error}");
}

#[test]
fn urls_come_back_by_number_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("urls");
    let mut urls: Vec<String> = (0..999)
        .map(|n| format!("http://s{}.example/{}/{n}", n / 50, "x".repeat(n % 300)))
        .collect();
    urls[5] = String::new();
    urls[17] = "y".repeat(MAX + 9);
    fs::write(&path, urls.join("\r\n")).unwrap();
    urls[17].truncate(MAX + 1);
    let list = read_node_urls(&Input::File(path), usize::MAX, &Unwatched).unwrap();
    assert_eq!(list.len(), 999);
    let list = NodeUrls::Listed(list);
    let mut cursor = Cursor::new(&list);
    for step in [1, 2, 3, 7, 16, 17, 500, 998, 1000] {
        for start in [0, 5, 990] {
            let at = |i: usize| (start + i * step) % 999;
            for node in (0..300).map(at) {
                assert_eq!(cursor.name(node as u64), urls[node].as_bytes(), "{node}");
            }
        }
    }
    assert_eq!(cursor.name(999), b"");
}

#[test]
fn a_bad_url_is_a_reject_by_its_line_and_links_to_it_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let lists = vec![vec![0, 1, 2, 3], vec![0], vec![1], vec![0, 2]];
    let basename = write(folder.path(), &lists, CompFlags::default());
    let path = folder.path().join("urls");
    let list: &[u8] = b"http://a.example/\nmailto:b\nhttp://\xff.example/\nhttp://a.example/#d\n";
    fs::write(&path, list).unwrap();
    let urls = Some(Input::File(path.clone()));
    let mut sources = Format::BvGraph { urls }.sources(&[Input::File(basename)]);
    let mut events = Vec::new();
    let mut sink = |at, event| {
        events.push((at, event));
        Ok(())
    };
    let summary = read_batch::<Infallible>(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &Unwatched,
        &mut sink,
    )
    .unwrap();
    let rejects: Vec<_> = events
        .iter()
        .filter_map(|(at, event)| match event {
            Event::Rejected(reject) => Some((*at, reject)),
            _ => None,
        })
        .collect();
    assert_eq!(rejects.len(), 2);
    for ((at, reject), (line, reason, record)) in rejects.iter().zip([
        (2, RejectReason::UrlScheme, "mailto:b"),
        (3, RejectReason::InvalidUtf8, "http://\u{fffd}.example/"),
    ]) {
        let line = Position::Line(line);
        assert_eq!((*at, reject.at), (line, line));
        assert_eq!((reject.reason, &*reject.record), (reason, record));
        assert_eq!(reject.file, path.display().to_string());
    }
    assert_eq!(summary.records, 4);
    // Node 0 links to itself and to node 3, which is the same page, and node 3 to node 0.
    assert_eq!(summary.self_links, 3);
    assert_eq!(summary.dropped_outlinks[&DropReason::Scheme], 1);
    assert_eq!(summary.dropped_outlinks[&DropReason::Invalid], 2);
}

const MAX: usize = crate::ingest::MAX_URL;

fn file(basename: &Path) -> PathBuf {
    bv_graph_file(basename, "graph")
}
