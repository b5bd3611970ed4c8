//! Graphs in the BV format: files are refused, or give as many pages and links as they promise.
//!
//! An input is the length of the properties in two bytes, the properties, and the graph. If the
//! length is zero, properties are made up from the bytes that follow, so that they are good more
//! often.

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use dsi_bitstream::dispatch::Codes;
use dsi_bitstream::traits::{BE, LE};
use seedbank::ingest::{Event, Format, Input, Naming, Position, ReadError, read_batch};
use seedbank::watch::Unwatched;
use webgraph::graphs::bvgraph::{BvComp, CompFlags};
use webgraph::graphs::vec_graph::VecGraph;

use super::cursor::Cursor;

pub(super) fn run(data: &[u8]) {
    let mut from = Cursor::of(data);
    let length = usize::from(u16::from_le_bytes([from.byte(), from.byte()]));
    let properties = match length {
        0 => made_up(&mut from).into_bytes(),
        length => from.bytes(length).to_vec(),
    };
    let folder = tempfile::tempdir().unwrap();
    let basename = folder.path().join("graph");
    fs::write(basename.with_extension("properties"), properties).unwrap();
    fs::write(basename.with_extension("graph"), from.bytes(usize::MAX)).unwrap();
    let list = folder.path().join("urls");
    fs::write(&list, urls(40)).unwrap();
    read(&basename, None);
    read(&basename, Some(Input::File(list)));
}

fn read(basename: &Path, urls: Option<Input>) {
    let listed = urls.is_some();
    let format = Format::BvGraph { urls };
    let mut sources = format.sources(&[Input::File(basename.to_path_buf())]);
    let (mut pages, mut links) = (0, 0);
    let mut sink = |at: Position, event: Event| {
        if !event.is_record() {
            return Ok(());
        }
        pages += 1;
        assert_eq!(at, Position::Line(pages));
        if let Event::Record(record) = event {
            let outlinks = record.outlinks.expect("a node has a list of links");
            assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
            links += outlinks.len() as u64;
        }
        Ok::<(), Infallible>(())
    };
    let read = read_batch(&mut sources, Naming::default(), &Unwatched, &mut sink);
    match read {
        Ok(summary) => {
            assert_eq!(summary.lines, pages);
            if !listed {
                let properties = fs::read_to_string(basename.with_extension("properties"));
                let properties = properties.unwrap_or_default();
                let said = |name: &str| {
                    let mut values = properties.lines().filter_map(|line| line.split_once('='));
                    let (_, value) = values.find(|(key, _)| key.trim() == name)?;
                    value.trim().parse().ok()
                };
                // Properties can be written in more ways than this.
                if let (Some(nodes), Some(arcs)) = (said("nodes"), said("arcs")) {
                    assert_eq!((pages, links + summary.self_links), (nodes, arcs));
                }
            }
        }
        Err(ReadError::Input(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Makes up properties.
fn made_up(from: &mut Cursor<'_>) -> String {
    let big = if from.byte().is_multiple_of(2) {
        "big"
    } else {
        "little"
    };
    let (nodes, arcs) = (from.small() % 2_000, from.small() % 20_000);
    let (window, interval) = (from.byte() % 20, from.byte() % 8);
    let flags = [
        "",
        "OUTDEGREES_DELTA",
        "RESIDUALS_GAMMA | REFERENCES_DELTA",
        "RESIDUALS_DELTA",
    ];
    let flags = flags[usize::from(from.byte()) % flags.len()];
    format!(
        "version=1\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nendianness={big}\nnodes={nodes}\n\
         arcs={arcs}\nwindowsize={window}\nminintervallength={interval}\nmaxrefcount=3\nzetak=3\n\
         compressionflags={flags}\n"
    )
}

/// A list of URLs.
fn urls(nodes: usize) -> String {
    let urls: Vec<String> = (0..nodes)
        .map(|node| format!("http://s{}.example/{node}", node / 7))
        .collect();
    urls.join("\n")
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut graph = VecGraph::empty(40);
    for node in 0..40 {
        for to in (0..40).filter(|to| to / 5 == node / 7 || (to * 7 + node / 4) % 11 == 0) {
            graph.add_arc(node, to);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut seeds = Vec::new();
    for (window, interval, residuals) in [
        (7, 4, Codes::Zeta(3)),
        (0, 0, Codes::Gamma),
        (1, 2, Codes::Delta),
    ] {
        let flags = CompFlags {
            compression_window: window,
            min_interval_length: interval,
            residuals,
            ..CompFlags::default()
        };
        for little in [false, true] {
            let basename = folder.path().join("graph");
            let mut compressor = BvComp::with_basename(&basename).comp_flags(flags);
            if little {
                compressor.comp_graph::<LE>(&graph).unwrap();
            } else {
                compressor.comp_graph::<BE>(&graph).unwrap();
            }
            let properties = fs::read(basename.with_extension("properties")).unwrap();
            let length = u16::try_from(properties.len()).unwrap().to_le_bytes();
            let bits = fs::read(basename.with_extension("graph")).unwrap();
            seeds.push([&length[..], &properties, &bits].concat());
            // The same with properties made up from bytes; the number of links is that of the
            // graph.
            let head = [
                0,
                0,
                u8::from(little),
                1,
                40,
                2,
                1,
                44,
                window.to_le_bytes()[0],
            ];
            seeds.push([&head[..], &[interval.to_le_bytes()[0], 0], &bits].concat());
        }
    }
    seeds
}
