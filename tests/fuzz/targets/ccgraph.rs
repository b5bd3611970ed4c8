//! Web graphs as Common Crawl publishes them: files are refused, or every edge is a link, or counted as
//! something else.
//!
//! An input is the vertices, the edges and the ranks, with a byte 0x1e between them.

use std::convert::Infallible;
use std::fs;

use seedbank::ingest::{Event, Format, Input, Naming, ReadError, read_batch};
use seedbank::watch::Unwatched;

pub(super) fn run(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let mut lists = data.splitn(3, |byte| *byte == 0x1e);
    let mut file = |name: &str| {
        let text = lists.next();
        let path = folder.path().join(name);
        fs::write(&path, text.unwrap_or_default()).unwrap();
        (Input::File(path), text)
    };
    let (vertices, edges, ranks) = (file("vertices"), file("edges"), file("ranks"));
    let format = Format::CcGraph {
        vertices: vec![vertices.0],
        ranks: ranks.1.map(|_| ranks.0).into_iter().collect(),
    };
    let (mut pages, mut refused, mut links) = (0, 0, 0);
    let mut sink = |_, event| {
        match event {
            Event::Record(record) => {
                let outlinks = record.outlinks.expect("a vertex has a list of links");
                assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
                links += outlinks.len() as u64;
                pages += 1;
            }
            Event::Rejected(reject) if reject.file.ends_with("ranks") => {}
            Event::Rejected(_) => refused += 1,
            Event::Seen(_) => {}
            other => panic!("{other:?}"),
        }
        Ok::<(), Infallible>(())
    };
    let mut sources = format.sources(&[edges.0]);
    match read_batch(&mut sources, Naming::default(), &Unwatched, &mut sink) {
        Ok(summary) => {
            let count = |text: Option<&[u8]>| {
                let all = text.unwrap_or_default().split(|byte| *byte == b'\n');
                all.filter(|line| !line.trim_ascii().is_empty()).count() as u64
            };
            // What is compressed is not counted here.
            let plain = |text: Option<&[u8]>| {
                let head = text.unwrap_or_default().first();
                head.is_none_or(|byte| !matches!(byte, 0x1f | 0x28 | 0x50..=0x5f))
            };
            if plain(vertices.1) {
                assert_eq!(pages + refused, count(vertices.1));
            }
            let others = summary.self_links + summary.duplicate_outlinks;
            let dropped: u64 = summary.dropped_outlinks.values().sum();
            if plain(edges.1) && refused == 0 {
                assert_eq!(links + others + dropped, count(edges.1));
            }
        }
        Err(ReadError::Input(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let vertices = "0\tcom.a\t2\n1\tcom.b.www\t1\n2\torg.c\t1\n3\torg.d/\t9\n";
    let edges = "0\t1\n0\t2\n0\t2\n1\t3\n2\t0\n2\t2\n";
    let ranks =
        "#harmonicc_pos\t#harmonicc_val\t#host_rev\n1\t9.5\torg.c\n2\t8\tcom.a\n2\t7\tx.y\n";
    [
        [vertices, edges, ranks].join("\x1e"),
        [vertices, edges].join("\x1e"),
        ["0\ta\r\n\n", "\n0\t0\r\n", ranks].join("\x1e"),
    ]
    .map(String::into_bytes)
    .into()
}
