//! Web graphs of Common Crawl on the command line, in the published layout: hosts and domains, in
//! parts, with ranks.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::support::command::Place;

const HEAD: &str = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev";

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// Three hubs that link to three authorities, a host that links to itself alone, and one without
/// links.
fn place() -> Place {
    let place = Place::with_bank();
    let part = |name: &str, text: &str| place.write(name, gzip(text));
    part(
        "part-00000-v.txt.gz",
        "0\tcom.authority1\n1\tcom.authority2\n2\tcom.authority3.www\n3\tnet.hub1\n",
    );
    part(
        "part-00001-v.txt.gz",
        "4\tnet.hub2\n5\tnet.hub3\n6\torg.alone\n7\torg.apart.m\n",
    );
    // The edges of the first hub go on in the second part.
    part("part-00000-e.txt.gz", "3\t0\n3\t1\n");
    part(
        "part-00001-e.txt.gz",
        "3\t2\n4\t0\n4\t1\n4\t2\n5\t0\n5\t1\n5\t2\n6\t6\n",
    );
    let ranks = format!(
        "{HEAD}\n1\t2.4E7\t2\t0.011\tcom.authority1\n2\t2.3E7\t3\t0.010\tcom.authority3.www\n3\t2.2E7\t1\t0.019\tcom.authority2\n4\t1.0E7\t4\t0.001\torg.alone\n"
    );
    part("ranks.txt.gz", &ranks);
    place
}

const GRAPH: [&str; 9] = [
    "ingest",
    "bank",
    "part-00000-e.txt.gz",
    "part-00001-e.txt.gz",
    "--input",
    "ccgraph",
    "--vertices",
    "part-00000-v.txt.gz",
    "part-00001-v.txt.gz",
];

fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&GRAPH[..], args].concat()
}

fn qualities(place: &Place) -> Vec<(String, Value)> {
    let records = place.run(&["export", "bank"]).json_lines();
    let of = |record: &Value| {
        let url = record["url"].as_str().unwrap().to_owned();
        (url, record["quality"].clone())
    };
    let mut found: Vec<(String, Value)> = records.iter().map(of).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

#[test]
fn hosts_go_in_with_their_ranks() {
    let place = place();
    let told = place
        .run(&with(&["--ranks", "ranks.txt.gz", "--snapshot"]))
        .done();
    assert!(
        told.starts_with("batch 1: part-00000-e.txt.gz (snapshot), 8 records"),
        "{told}"
    );
    assert!(told.contains("8 new, 8 became crawled"), "{told}");
    assert!(told.contains("links: 9 added"), "{told}");
    assert!(told.contains("1 from a page to itself"), "{told}");
    // Of four: 1, 1 - ln 2 / ln 4, 1 - ln 3 / ln 4, 0.
    let expected = [
        ("http://alone.org/", json!(0.0)),
        ("http://authority1.com/", json!(1.0)),
        ("http://authority2.com/", json!(0.2075)),
        ("http://hub1.net/", Value::Null),
        ("http://hub2.net/", Value::Null),
        ("http://hub3.net/", Value::Null),
        ("http://m.apart.org/", Value::Null),
        ("http://www.authority3.com/", json!(0.5)),
    ];
    let number = |value: &Value| value.as_f64();
    for ((url, quality), (expected, steps)) in qualities(&place).iter().zip(&expected) {
        assert_eq!((&**url, number(quality)), (*expected, number(steps)));
    }
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let seeds = place.run(&["seeds", "bank"]).done();
    assert!(seeds.starts_with("http://hub"), "{seeds}");
    // Plain, in one part, and from standard input, it is the same batch.
    place.write(
        "all",
        "3\t0\n3\t1\n3\t2\n4\t0\n4\t1\n4\t2\n5\t0\n5\t1\n5\t2\n6\t6\n",
    );
    let edges = fs::read(place.path("all")).unwrap();
    let args = [
        "ingest",
        "bank",
        "-",
        "--input",
        "ccgraph",
        "--vertices",
        "part-00000-v.txt.gz",
        "part-00001-v.txt.gz",
        "--ranks",
        "ranks.txt.gz",
        "--snapshot",
    ];
    let told = place.run_with(&args, &edges).done();
    assert!(told.starts_with("nothing changed: batch 1"), "{told}");
}

#[test]
fn domains_go_in_with_their_numbers_of_hosts() {
    let place = Place::with_bank();
    place.write("v", "0\tcom.a\t12\n1\torg.b\t1\n2\tuk.co.c\t3\n");
    place.write("e", "0\t1\n0\t2\n2\t0\n");
    // One domain is none of the graph's.
    place.write(
        "r",
        format!("{HEAD}\t#n_hosts\n1\t9\t1\t0.5\tcom.a\t12\n2\t8\t2\t0.2\tnet.z\t1\n3\t7\t3\t0.1\torg.b\t1\n"),
    );
    let args = [
        "ingest",
        "bank",
        "e",
        "--input",
        "ccgraph",
        "--vertices",
        "v",
        "--ranks",
        "r",
    ];
    let error = place.run(&args).fails(3);
    assert!(error.contains("1 of 4 records"), "{error}");
    assert!(
        error.contains("line 3 of r: the host is not a vertex"),
        "{error}"
    );
    let more = ["--max-rejects", "30", "--rejects", "bad"];
    let told = place.run(&[&args[..], &more].concat()).done();
    assert!(
        told.contains("rejected: 1 of 4 records: unknown_host 1"),
        "{told}"
    );
    let reject: Value =
        serde_json::from_str(&fs::read_to_string(place.path("bad")).unwrap()).unwrap();
    assert_eq!((&reject["file"], &reject["line"]), (&json!("r"), &json!(3)));
    let found = qualities(&place);
    let urls: Vec<&str> = found.iter().map(|(url, _)| &**url).collect();
    assert_eq!(urls, ["http://a.com/", "http://b.org/", "http://c.co.uk/"]);
    assert_eq!(found[0].1.as_f64(), Some(1.0));
    assert_eq!(found[1].1.as_f64(), Some(0.0));
}

#[test]
fn what_is_wrong_is_said_and_nothing_written() {
    let place = place();
    let before = place.state();
    place.write("swapped", "4\t0\n3\t0\n");
    let whole = fs::read(place.path("ranks.txt.gz")).unwrap();
    place.write("cut.gz", &whole[..whole.len() / 2]);
    for (args, words) in [
        (with(&["--ranks", "cut.gz"]), "cut.gz is damaged gzip"),
        (with(&["--ranks", "none"]), "cannot open none"),
        (with(&["--ranks", "swapped"]), "swapped has no ranks"),
        (
            with(&["part-00000-e.txt.gz"]),
            "line 1 of part-00000-e.txt.gz: expected vertex 8",
        ),
        (
            [
                "ingest",
                "bank",
                "part-00001-e.txt.gz",
                "part-00000-e.txt.gz",
            ]
            .into_iter()
            .chain(GRAPH[4..].iter().copied())
            .collect(),
            "line 1 of part-00000-e.txt.gz has an edge from vertex 3 after edges from vertex 6",
        ),
        (
            GRAPH[..8].to_vec(),
            "line 2 of part-00001-e.txt.gz: expected a vertex below 4, the number of vertices listed, found 4",
        ),
    ] {
        let error = place.run(&args).fails(3);
        assert!(error.contains("the bank is unchanged"), "{args:?}: {error}");
        assert!(error.contains(words), "{args:?}: {error}");
    }
    for (args, words) in [
        (&["swapped", "--input", "ccgraph"][..], "--vertices"),
        (
            &[
                "--sites",
                "swapped",
                "--input",
                "ccgraph",
                "--vertices",
                "v",
            ],
            "requires edge files",
        ),
        (
            &["swapped", "--vertices", "v"],
            "--vertices requires --input ccgraph",
        ),
        (
            &["swapped", "--ranks", "v"],
            "--ranks requires --input ccgraph",
        ),
        (
            &["-", "--input", "ccgraph", "--vertices", "-"],
            "more than once",
        ),
        (
            &[
                "e",
                "--input",
                "ccgraph",
                "--vertices",
                "swapped",
                "--rejects",
                "swapped",
            ],
            "overwrite an input",
        ),
    ] {
        let error = place.run(&[&["ingest", "bank"], args].concat()).fails(2);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    assert_eq!(place.state(), before);
}
