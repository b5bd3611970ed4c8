//! Graphs in the BV format, from `webgraph`'s own compressor to a bank.
//!
//! Families of cases, and what they catch:
//! * random graphs, compressed in several ways, in both byte orders, with and without URLs: a bank
//!   that differs from that of the same graph as a TSV of links;
//! * the commands a user types: lists in gzip and zstd, wrong lists, damaged and missing files, bad
//!   URLs, a delta after a snapshot.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::support;
use crate::support::command::Place;
use crate::support::model::{assert_clean, pages_of, totals_of};
use crate::support::properties::repeatable;
use dsi_bitstream::dispatch::Codes;
use dsi_bitstream::traits::{BE, LE};
use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use webgraph::graphs::bvgraph::{BvComp, CompFlags};
use webgraph::graphs::vec_graph::VecGraph;

type Arcs = BTreeSet<(usize, usize)>;

fn compress(basename: &Path, nodes: usize, arcs: &Arcs, flags: CompFlags, little: bool) {
    let mut graph = VecGraph::empty(nodes);
    for &(from, to) in arcs {
        graph.add_arc(from, to);
    }
    let mut compressor = BvComp::with_basename(basename).comp_flags(flags);
    if little {
        compressor.comp_graph::<LE>(&graph).unwrap();
    } else {
        compressor.comp_graph::<BE>(&graph).unwrap();
    }
}

fn bank(folder: &Path, name: &str, input: Input, format: Format) -> Bank {
    let bank = Bank::create(folder.join(name), SiteMode::Host.with(UrlRules::Whatwg)).unwrap();
    let request = IngestRequest {
        inputs: vec![input],
        format,
        snapshot: true,
        as_of: Some(0),
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    assert_clean(&bank);
    bank
}

fn url(node: usize) -> String {
    // Sites of four pages, in the order of URLs, as in LAW's lists.
    format!("http://s{:03}.example/p{}", node / 4, node % 4)
}

fn numbered(node: usize) -> String {
    format!("http://n{node}.invalid/")
}

fn same_bank(nodes: usize, arcs: &Arcs, flags: CompFlags, little: bool, listed: bool) {
    let folder = support::scratch();
    let at = |name: &str| folder.path().join(name);
    // A dot in a basename, as in `cnr-2000.v2`.
    compress(&at("plain"), nodes, arcs, flags, little);
    for extension in ["graph", "properties"] {
        fs::rename(
            at(&format!("plain.{extension}")),
            at(&format!("g.v2.{extension}")),
        )
        .unwrap();
    }
    let name = if listed { url } else { numbered };
    let text: String = (0..nodes).map(|node| name(node) + "\n").collect();
    fs::write(at("urls"), text).unwrap();
    let urls = listed.then(|| Input::File(at("urls")));
    let ours = bank(
        folder.path(),
        "a",
        Input::File(at("g.v2")),
        Format::BvGraph { urls },
    );

    // A link to itself names a page but is not a link, so every node is named here.
    let loops = (0..nodes).map(|node| (node, node));
    let links: Vec<String> = loops
        .chain(arcs.iter().copied())
        .map(|(from, to)| format!("{}\t{}\n", name(from), name(to)))
        .collect();
    fs::write(at("links.tsv"), links.concat()).unwrap();
    let tsv = Input::File(at("links.tsv"));
    let theirs = bank(folder.path(), "b", tsv, Format::Links { pages: None });
    assert_eq!(pages_of(&ours).len(), nodes);
    assert_eq!(pages_of(&ours), pages_of(&theirs));
    assert_eq!(totals_of(&ours), totals_of(&theirs));
}

proptest! {
    #![proptest_config(repeatable(10))]

    #[test]
    fn a_bank_is_that_of_the_same_links_as_tsv(
        nodes in 1_usize..60,
        arcs in proptest::collection::btree_set((0_usize..60, 0_usize..60), 0..400),
        runs in proptest::collection::vec((0_usize..60, 0_usize..60, 1_usize..12), 0..12),
        window in 0_usize..9,
        interval in 0_usize..5,
        little in any::<bool>(),
        listed in any::<bool>(),
    ) {
        let mut arcs = arcs;
        for (from, start, length) in runs {
            arcs.extend((start..start + length).map(|to| (from, to)));
        }
        let arcs = arcs.into_iter().filter(|&(from, to)| from < nodes && to < nodes).collect();
        let flags = CompFlags {
            compression_window: window,
            min_interval_length: interval,
            residuals: if little { Codes::Delta } else { Codes::Zeta(3) },
            ..CompFlags::default()
        };
        same_bank(nodes, &arcs, flags, little, listed);
    }
}

/// Three hubs to three authorities, a page that links to itself alone, and one without links.
fn place() -> Place {
    let place = Place::with_bank();
    let mut arcs: Arcs = (0..3)
        .flat_map(|from| (3..6).map(move |to| (from, to)))
        .collect();
    arcs.insert((6, 6));
    compress(&place.path("web"), 8, &arcs, CompFlags::default(), false);
    let urls: Vec<String> = (0..8).map(|n| format!("http://s{n}.example/\n")).collect();
    let urls = urls.concat();
    place.write("web.urls", &urls);
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(urls.as_bytes()).unwrap();
    place.write("web.urls.gz", zip.finish().unwrap());
    place.write(
        "web.urls.zst",
        zstd::encode_all(urls.as_bytes(), 1).unwrap(),
    );
    place
}

const INGEST: [&str; 4] = ["ingest", "bank", "--input", "bvgraph"];

fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&INGEST[..], args].concat()
}

#[test]
fn a_graph_is_ingested_with_its_list_plain_or_compressed() {
    let place = place();
    let urls = ["web.urls", "web.urls.gz", "web.urls.zst"];
    for (number, list) in urls.iter().enumerate() {
        // Tab completion leaves the name of one of the files.
        let name = if number == 0 { "web" } else { "web.graph" };
        let report = place
            .run(&with(&["--snapshot", name, "--urls", list]))
            .done();
        let expected: &[&str] = match number {
            0 => &[
                "batch 1: web (snapshot), 8 records",
                "8 new, 8 became crawled",
                "links: 9 added",
                "1 from a page to itself",
            ],
            _ => &["nothing changed: batch 1"],
        };
        for words in expected {
            assert!(report.contains(words), "{words}: {report}");
        }
    }
}

#[test]
fn a_graph_without_a_list_has_numbers_for_names_and_a_delta_replaces_lists() {
    let place = place();
    place.run(&with(&["web"])).done();
    place.run(&["page", "bank", "http://n7.invalid/"]).done();
    let less = Arcs::from([(1, 0)]);
    compress(&place.path("less"), 2, &less, CompFlags::default(), false);
    let report = place.run(&with(&["less"])).done();
    assert!(report.contains("links: 1 added, 6 removed"), "{report}");
    assert!(report.contains("0 became gone"), "{report}");
}

#[test]
fn wrong_files_are_named_and_nothing_is_written() {
    let place = place();
    let before = place.state();
    place.write("short", "http://a.example/\n");
    place.write("long", "http://a.example/\n".repeat(9));
    place.write(
        "other.properties",
        fs::read(place.path("web.properties")).unwrap(),
    );
    // The byte order mark of UTF-16, and half a character.
    place.write("marked.properties", b"\xff\xfea");
    place.write("marked.graph", b"\xff\xff");
    let one = Arcs::from([(1, 0)]);
    compress(&place.path("broken"), 8, &one, CompFlags::default(), false);
    let length = fs::read(place.path("broken.graph")).unwrap().len();
    place.write("broken.graph", vec![0; length]);
    let urls = fs::read_to_string(place.path("web.urls")).unwrap();
    place.write(
        "bad",
        urls.replace("http://s4.example/", "ftp://s4.example/"),
    );
    let lines = "expected 8 lines, one for each node of web, found";
    for (args, words) in [
        (&["none"][..], "cannot open none.properties"),
        (&["other"], "cannot open other.graph"),
        (&["marked"], "marked.properties"),
        (&["web", "--urls", "none"], "cannot open none"),
        (&["web", "--urls", "short"], &*format!("short: {lines} 1")),
        (&["web", "--urls", "long"], &*format!("long: {lines} 9")),
        (
            &["broken"],
            "broken.graph is damaged or truncated at node 0 of 8",
        ),
        (
            &["web", "--urls", "bad", "--max-rejects", "0"],
            "1 of 8 records is bad",
        ),
    ] {
        let error = place.run(&with(args)).fails(3);
        assert!(error.contains("the bank is unchanged"), "{args:?}: {error}");
        assert!(error.contains(words), "{args:?}: {error}");
    }
    for (args, words) in [
        (
            &["ingest", "bank", "--urls", "web.urls", "web"][..],
            "--input bvgraph",
        ),
        (&with(&["web", "web"]), "one graph"),
        (&with(&["-"]), "standard input"),
        (&with(&["web", "--pages", "web.urls"]), "--input links"),
        (
            &with(&["web", "--rejects", "web.urls", "--urls", "web.urls"]),
            "overwrite an input",
        ),
        (
            &with(&["web", "--rejects", "web.graph"]),
            "overwrite an input",
        ),
    ] {
        let error = place.run(args).fails(2);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    assert_eq!(place.state(), before);
    let args = [
        "web",
        "--urls",
        "bad",
        "--max-rejects",
        "20",
        "--rejects",
        "rejects",
    ];
    let report = place.run(&with(&args)).done();
    assert!(report.contains("outlinks dropped: 3: scheme 3"), "{report}");
    let reject = fs::read_to_string(place.path("rejects")).unwrap();
    let reject: serde_json::Value = serde_json::from_str(&reject).unwrap();
    let place = (&reject["file"], &reject["line"], &reject["record"]);
    assert_eq!(
        place,
        (&"bad".into(), &5.into(), &"ftp://s4.example/".into())
    );
}
