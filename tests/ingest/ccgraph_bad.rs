//! Web graphs whose files are damaged, cut off, or do not fit each other.
//!
//! Families of cases, and what they catch:
//! * each thing that can be wrong, by itself: a refusal that does not say where, or a graph that goes
//!   in with a part missing;
//! * hosts that are none, links to them, and ranks of hosts that are not there: a record that is not
//!   refused where it stands;
//! * hundreds of damages and cuts of good files, judged by a slow reading of the same bytes: a panic,
//!   or a wrong link.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of a graph of four vertices"
)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seedbank::ingest::{DropReason, Event, Naming, Position, ReadError, RejectReason, parse};

use crate::ccgraph::{Files, gzip};

const VERTICES: &str = "0\tcom.a\n1\tcom.a.www\n2\tcom.b\n3\torg.c\n";
const EDGES: &str = "0\t1\n0\t3\n1\t2\n3\t0\n3\t3\n";
const RANKS: &str = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n\
    1\t9.5\t3\t0.1\torg.c\n2\t8.5\t1\t0.4\tcom.a\n3\t7.5\t2\t0.3\tcom.b\n4\t6.5\t4\t0.2\tcom.a.www\n";

fn files(vertices: &str, edges: &str, ranks: &str) -> Files {
    let part = |text: &str| vec![text.as_bytes().to_vec()];
    Files {
        vertices: part(vertices),
        edges: part(edges),
        ranks: part(ranks),
    }
}

#[test]
fn what_does_not_fit_refuses_the_batch_and_says_where() {
    let mut cases = Vec::new();
    for (vertices, words) in [
        (
            "1\tcom.a\n",
            "line 1 of FILE: expected vertex 0 as id, tab and reversed host, found `1\\tcom.a`",
        ),
        ("0\tcom.a\n2\tcom.b\n", "line 2 of FILE: expected vertex 1"),
        ("0\tcom.a\n0\tcom.b\n", "line 2 of FILE: expected vertex 1"),
        ("0\n", "line 1 of FILE: expected vertex 0"),
        ("0\tcom.a\tmany\n", "line 1 of FILE: expected vertex 0"),
        ("0\tcom.a\t1\t1\n", "line 1 of FILE: expected vertex 0"),
        ("com.a\t0\n", "line 1 of FILE: expected vertex 0"),
        ("+0\tcom.a\n", "line 1 of FILE: expected vertex 0"),
        (
            "18446744073709551616\tcom.a\n",
            "line 1 of FILE: expected vertex 0",
        ),
        (
            "0\tcom.a\n\n1\tcom.b\n",
            "found an empty line before line 3",
        ),
        ("0\tcom.a\n1\tcom.b", "FILE is truncated in line 2"),
        (
            "0\tcom.a\n",
            "line 1 of EDGES: expected a vertex below 1, the number of vertices listed, found 1",
        ),
        (
            "",
            "line 1 of EDGES: expected a vertex below 0, the number of vertices listed, found 1",
        ),
    ] {
        cases.push((
            files(vertices, EDGES, ""),
            words.replace("FILE", "vertices-0"),
        ));
    }
    for (edges, words) in [
        (
            "0\t4\n",
            "line 1 of FILE: expected a vertex below 4, the number of vertices listed, found 4",
        ),
        (
            "0\t1\n5\t1\n",
            "line 2 of FILE: expected a vertex below 4, the number of vertices listed, found 5",
        ),
        (
            "0\t1\n2\t0\n0\t2\n",
            "line 3 of FILE has an edge from vertex 0 after edges from vertex 2",
        ),
        ("3\t1\n1\t0\n", "from vertex 1 after edges from vertex 3"),
        (
            "0\n",
            "line 1 of FILE: expected an edge as two ids with a tab between them, found `0`",
        ),
        ("0\t1\t2\n", "line 1 of FILE: expected an edge"),
        ("0 1\n", "line 1 of FILE: expected an edge"),
        ("\t1\n", "line 1 of FILE: expected an edge"),
        ("0\t\n", "line 1 of FILE: expected an edge"),
        ("0\t-1\n", "line 1 of FILE: expected an edge"),
        (
            "0\t99999999999999999999\n",
            "line 1 of FILE: expected an edge",
        ),
        (
            "{\"url\": \"http://a.example/\"}\n",
            "line 1 of FILE: expected an edge",
        ),
        ("0\t1\n1\t2", "FILE is truncated in line 2"),
    ] {
        cases.push((files(VERTICES, edges, ""), words.replace("FILE", "edges-0")));
    }
    let row = "#harmonicc_pos\t#host_rev\n9\tcom.a\n";
    for (ranks, words) in [
        ("1\t9.5\t3\t0.1\torg.c\n", "FILE has no ranks"),
        ("#harmonicc_pos\t#host\n", "FILE has no ranks"),
        (
            row,
            "line 2 of FILE: expected a position of at most 1, the number of rows, found 9",
        ),
        (RANKS.trim_end(), "FILE is truncated in line 5"),
    ] {
        cases.push((
            files(VERTICES, EDGES, ranks),
            words.replace("FILE", "ranks-0"),
        ));
    }
    // A vertex that comes back in another part.
    let mut apart = files(VERTICES, "1\t2\n3\t0\n", "");
    apart.edges.push(b"1\t3\n".to_vec());
    cases.push((
        apart,
        "line 1 of edges-1 has an edge from vertex 1".to_owned(),
    ));
    assert_refused(cases);
}

/// Reads each graph and looks for words in its error.
fn assert_refused(cases: Vec<(Files, String)>) {
    for (files, words) in cases {
        let (read, _) = files.read();
        let error = read.unwrap_err().to_string();
        // The folder of the files is another one each time.
        let error: String = error
            .split(' ')
            .map(|word| word.rsplit('/').next().unwrap_or(word).to_owned() + " ")
            .collect();
        let words = words.replace("EDGES", "edges-0");
        assert!(error.contains(&words), "{words}: {error}");
    }
}

#[test]
fn what_is_cut_off_is_refused() {
    let whole = files(VERTICES, EDGES, RANKS);
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

#[test]
fn hosts_that_are_none_and_ranks_without_a_host() {
    let vertices = "0\tcom.a\n1\tcom.b/x\n2\t\n3\tcom.\u{1f}c\n4\tcom.d\n5\tcom.d\n6\tcom..e\n";
    let edges = "0\t1\n0\t2\n0\t4\n0\t4\n0\t0\n4\t0\n5\t3\n6\t0\n";
    let head = "#harmonicc_pos\t#host_rev\n";
    let ranks = format!(
        "{head}1\tcom.d\n\n2\tcom.none\n3\tcom.d\n0\tcom.a\n-1\tcom.a\nx\tcom.a\n1.5\tcom.a\n4294967296\tcom.a\n2\n2\tcom.a\t\n2\tcom.a\n"
    );
    let (summary, events) = files(vertices, edges, &ranks).read();
    let summary = summary.unwrap();
    assert_eq!(summary.self_links, 1);
    assert_eq!(summary.duplicate_outlinks, 1);
    assert_eq!(summary.dropped_outlinks[&DropReason::Invalid], 3);
    let mut rejects = Vec::new();
    let mut records = Vec::new();
    for (at, event) in events {
        match event {
            Event::Rejected(reject) => {
                assert_eq!(at, reject.at);
                let file = reject.file.rsplit('/').next().unwrap().to_owned();
                rejects.push((file, at, reject.reason));
            }
            Event::Record(record) => {
                let links = record.outlinks.map_or(0, |links| links.len());
                records.push((record.url.site, links, record.quality.apply_to(None)));
            }
            other => panic!("{other:?}"),
        }
    }
    // Of eleven rows the second has 1 - ln 2 / ln 11. The later of two equal names has the rank.
    assert_eq!(
        records,
        [
            ("a.com".to_owned(), 1, Some(7_109)),
            ("d.com".to_owned(), 1, None),
            ("d.com".to_owned(), 0, Some(10_000)),
        ]
    );
    let in_vertices = [2, 3, 4, 7].map(|line| ("vertices-0", line, RejectReason::InvalidUrl));
    let in_ranks = [
        (4, RejectReason::UnknownHost),
        (5, RejectReason::RankedTwice),
        (6, RejectReason::WrongType),
        (7, RejectReason::NegativeNumber),
        (8, RejectReason::WrongType),
        (9, RejectReason::FractionalNumber),
        (10, RejectReason::NumberTooLarge),
        (11, RejectReason::Columns),
        (12, RejectReason::Columns),
    ]
    .map(|(line, reason)| ("ranks-0", line, reason));
    let expected: Vec<_> = in_vertices
        .into_iter()
        .chain(in_ranks)
        .map(|(file, line, reason)| (file.to_owned(), Position::Line(line), reason))
        .collect();
    assert_eq!(rejects, expected);
    assert_eq!(summary.records, 7 + 9);
}

/// The URL of a vertex, its links, and its quality.
type Page = (String, Vec<String>, Option<u16>);

/// What a reading comes to: the vertices, `None` where one is refused; and how many ranks are.
#[derive(PartialEq, Debug)]
struct Meant {
    pages: Vec<Option<Page>>,
    bad_ranks: usize,
}

/// The lines of a text, blank ones as `None`; an error where the last has no end.
fn lines(text: &[u8]) -> Option<Vec<Option<&[u8]>>> {
    let line = |line: &'_ [u8]| line.trim_ascii().is_empty();
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    let lines = lines.into_iter().map(|text| {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        (!line(text)).then_some(text)
    });
    line(last).then(|| lines.collect())
}

fn number(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

fn page(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let labels: Vec<&str> = name.rsplit('.').collect();
    let foreign = |c| " /:@?#%[]\\\t\r".contains(c);
    if name.contains(foreign) || labels.contains(&"") {
        return None;
    }
    let location = parse(&format!("http://{}/", labels.join(".")), Naming::default());
    Some(location.ok()?.url(Naming::default().sites))
}

/// A slow reading of a graph; `None` where it must be refused.
fn meant(vertices: &[u8], edges: &[u8], ranks: &[u8]) -> Option<Meant> {
    let mut listed = lines(vertices)?;
    while listed.last() == Some(&None) {
        listed.pop();
    }
    let mut names = Vec::new();
    for line in listed {
        let columns: Vec<&[u8]> = line?.split(|byte| *byte == b'\t').collect();
        if !(2..=3).contains(&columns.len()) || number(columns[0])? != names.len() as u64 {
            return None;
        }
        if let Some(hosts) = columns.get(2) {
            number(hosts)?;
        }
        names.push(columns[1]);
    }
    let mut links: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in lines(edges)?.into_iter().flatten() {
        let columns: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
        let [from, to] = columns[..] else { return None };
        let (from, to) = (number(from)?, number(to)?);
        let last = links.keys().last().copied().unwrap_or(0);
        if from < last || from.max(to) >= names.len() as u64 {
            return None;
        }
        links.entry(from).or_default().push(to);
    }
    let mut rows = lines(ranks)?.into_iter().flatten();
    let mut positions = vec![0_u64; names.len()];
    let (mut count, mut largest, mut bad_ranks) = (0, 0, 0);
    if let Some(head) = rows.next() {
        let head: Vec<&[u8]> = head.split(|byte| *byte == b'\t').collect();
        let column = |name: &[u8]| head.iter().position(|own| own.trim_ascii() == name);
        let (at, host) = (column(b"#harmonicc_pos")?, column(b"#host_rev")?);
        for row in rows {
            count += 1;
            let row: Vec<&[u8]> = row.split(|byte| *byte == b'\t').collect();
            // Positions are whole numbers as records have them.
            let position = (row.len() == head.len())
                .then(|| std::str::from_utf8(row[at]).ok()?.parse::<f64>().ok())
                .flatten()
                .filter(|position| *position >= 1.0 && position.fract() == 0.0)
                .filter(|position| *position <= f64::from(u32::MAX))
                .filter(|_| row[at].iter().all(|byte| b"0123456789.eE+-".contains(byte)))
                .filter(|_| row[at][0].is_ascii_digit() && row[at].last() != Some(&b'.'));
            let Some(position) = position else {
                bad_ranks += 1;
                continue;
            };
            largest = largest.max(position as u64);
            match names.iter().rposition(|name| *name == row[host]) {
                Some(id) if positions[id] == 0 => positions[id] = position as u64,
                _ => bad_ranks += 1,
            }
        }
    }
    if largest > count {
        return None;
    }
    let pages = (0..).zip(&names).map(|(id, name): (u64, _)| {
        let own = page(name)?;
        let links = links.get(&id).cloned().unwrap_or_default();
        let links = links.iter().filter_map(|to| page(names[*to as usize]));
        let mut links: Vec<String> = links.filter(|to| *to != own).collect();
        links.sort();
        links.dedup();
        let quality = match positions[id as usize] {
            0 => None,
            1 => Some(10_000),
            position => {
                let quality = 1.0 - (position as f64).ln() / (count as f64).ln();
                Some((quality * 1e4).round() as u16)
            }
        };
        Some((own, links, quality))
    });
    Some(Meant {
        pages: pages.collect(),
        bad_ranks,
    })
}

fn check(vertices: &[u8], edges: &[u8], ranks: &[u8]) {
    let files = Files {
        vertices: vec![vertices.to_vec()],
        edges: vec![edges.to_vec()],
        ranks: vec![ranks.to_vec()],
    };
    let (read, events) = files.read();
    let Some(meant) = meant(vertices, edges, ranks) else {
        assert!(matches!(read, Err(ReadError::Input(_))), "{files:?}");
        return;
    };
    let summary = read.unwrap();
    let url = |page: &seedbank::ingest::Location| page.url(Naming::default().sites);
    let (mut pages, mut bad_ranks) = (Vec::new(), 0);
    for (_, event) in events {
        match event {
            Event::Record(record) => {
                let links = record.outlinks.unwrap();
                let mut links: Vec<String> = links.iter().map(url).collect();
                links.sort();
                pages.push(Some((
                    url(&record.url),
                    links,
                    record.quality.apply_to(None),
                )));
            }
            Event::Rejected(reject) if reject.file.contains("ranks") => bad_ranks += 1,
            Event::Rejected(_) => pages.push(None),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(Meant { pages, bad_ranks }, meant, "{files:?}");
    let bad = meant.pages.iter().filter(|page| page.is_none()).count() + bad_ranks;
    assert_eq!(summary.rejected(), bad as u64);
}

#[test]
fn good_files_are_read_as_they_are_meant() {
    check(VERTICES.as_bytes(), EDGES.as_bytes(), RANKS.as_bytes());
    check(VERTICES.as_bytes(), EDGES.as_bytes(), b"");
    check(b"", b"", b"");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damage_is_refused_or_read_as_what_is_there(
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
                // A line that stands twice.
                let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let end = text[at..].iter().position(|byte| *byte == b'\n').unwrap() + at + 1;
                let line = text[start..end].to_vec();
                text.splice(end..end, line);
            }
        }
        check(&all[0], &all[1], &all[2]);
    }
}
