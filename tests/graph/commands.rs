//! `graph`, `scores` and `seeds --format parquet` as a user types them.

use std::fs;

use crate::support::command::{Place, names};

#[test]
fn a_graph_is_written_to_a_folder_and_read_back() {
    let place = Place::with_seeds();
    let said = place.run(&["graph", "bank", "--out", "g", "--format", "tsv"]);
    assert!(
        said.err
            .contains("10 pages with 13 links in g: links.tsv, pages.tsv"),
        "{said:?}"
    );
    assert!(
        said.err
            .contains("--input links --pages g/pages.tsv --snapshot"),
        "{said:?}"
    );
    assert!(
        said.err.contains("all nodes are read back as crawled"),
        "{said:?}"
    );
    assert_eq!(said.done(), "");
    assert_eq!(names(&place.path("g")), ["links.tsv", "pages.tsv"]);
    place.run(&["init", "new"]).done();
    let back = [
        "ingest",
        "new",
        "g/links.tsv",
        "--input",
        "links",
        "--pages",
        "g/pages.tsv",
    ];
    let said = place.run(&back).done();
    assert!(said.contains("links: 13 added"), "{said}");
    // Others beside it, in the same folder.
    for (format, of) in [
        ("bvgraph", "pages"),
        ("bvgraph", "sites"),
        ("ccgraph", "sites"),
        ("tsv", "sites"),
    ] {
        place
            .run(&[
                "graph", "bank", "--out", "g", "--format", format, "--of", of,
            ])
            .done();
    }
    assert_eq!(names(&place.path("g")).len(), 2 + 4 + 5 + 2 + 2);
    place.run(&["init", "hosts"]).done();
    let back = [
        "ingest",
        "hosts",
        "g/edges.txt.gz",
        "--input",
        "ccgraph",
        "--vertices",
        "g/vertices.txt.gz",
    ];
    place.run(&back).done();
}

#[test]
fn files_are_replaced_and_others_stay() {
    let place = Place::with_seeds();
    fs::create_dir(place.path("g")).unwrap();
    place.write("g/mine.txt", "mine");
    place.write("g/links.tsv", "old");
    place
        .run(&["graph", "bank", "--out", "g", "--format", "tsv"])
        .done();
    assert_eq!(
        names(&place.path("g")),
        ["links.tsv", "mine.txt", "pages.tsv"]
    );
    assert_ne!(
        fs::read_to_string(place.path("g/links.tsv")).unwrap(),
        "old"
    );
}

#[test]
fn bad_targets_are_told_and_nothing_is_made() {
    let place = Place::with_seeds();
    place.write("file", "x");
    let before = names(&place.path("."));
    for (out, format, problem) in [
        ("file", "tsv", "expected a folder"),
        ("no/where", "tsv", "the folder no does not exist"),
        ("bank", "tsv", "own folder"),
        ("bank/g", "tsv", "own folder"),
    ] {
        let said = place
            .run(&["graph", "bank", "--out", out, "--format", format])
            .fails(2);
        assert!(said.contains(problem), "{out}: {said}");
    }
    let pages = [
        "graph", "bank", "--out", "g", "--format", "ccgraph", "--of", "pages",
    ];
    let said = place.run(&pages).fails(2);
    assert!(said.contains("supports only hosts"), "{said}");
    place
        .run(&["graph", "none", "--out", "g", "--format", "tsv"])
        .fails(4);
    fs::create_dir(place.path("g")).unwrap();
    fs::create_dir(place.path("g/pages.tsv")).unwrap();
    let said = place
        .run(&["graph", "bank", "--out", "g", "--format", "tsv"])
        .fails(2);
    assert!(said.contains("is a folder"), "{said}");
    assert_eq!(names(&place.path("g")), ["pages.tsv"]);
    fs::remove_dir_all(place.path("g")).unwrap();
    assert_eq!(names(&place.path(".")), before);
}

/// No file may have a byte: the libraries that write graphs and tables are not to panic either.
#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let place = Place::with_seeds();
    let program = env!("CARGO_BIN_EXE_seedbank");
    for (format, of) in [
        ("bvgraph", "pages"),
        ("bvgraph", "sites"),
        ("ccgraph", "sites"),
        ("tsv", "pages"),
        #[cfg(feature = "parquet")]
        ("parquet", "pages"),
    ] {
        let command =
            format!("ulimit -f 0; exec {program} graph bank --out g --format {format} --of {of}");
        let mut shell = crate::support::command::clean("sh");
        let shell = shell.args(["-c", &command]).current_dir(place.path("."));
        let ended = shell.output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{format}: {said}");
        assert!(
            said.starts_with("error: cannot write g: "),
            "{format}: {said}"
        );
        assert!(!place.path("g").exists(), "{format}");
    }
}

#[test]
fn scores_are_printed_and_written() {
    let place = Place::with_seeds();
    let printed = place.run(&["scores", "bank"]);
    assert!(
        printed.err.contains("harmonic centralities are exact"),
        "{printed:?}"
    );
    let printed = printed.done();
    assert!(
        printed
            .starts_with("url,site,state,in_degree,out_degree,pagerank,harmonic,harmonic_error,")
    );
    assert_eq!(printed.lines().count(), 11);
    assert_eq!(place.run(&["scores", "bank", "--out", "s.csv"]).done(), "");
    assert_eq!(fs::read_to_string(place.path("s.csv")).unwrap(), printed);
    let lines = place
        .run(&["scores", "bank", "--format", "jsonl"])
        .json_lines();
    assert_eq!(lines.len(), 10);
    place.run(&["scores", "bank", "--out", "s.csv.gz"]).done();
    assert_eq!(crate::support::gunzip(&place.path("s.csv.gz")), printed);
    let said = place.run(&["scores", "bank", "--plan", "none"]).fails(2);
    assert!(said.contains("none"), "{said}");
    assert_eq!(
        names(&place.path(".")),
        ["bank", "day0.jsonl", "s.csv", "s.csv.gz"]
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_to_files_and_pipes() {
    let place = Place::with_seeds();
    place
        .run(&["seeds", "bank", "--format", "parquet", "--out", "s.parquet"])
        .done();
    let rows = super::judge::table(&place.path("s.parquet"));
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["url"], "http://h1.example/");
    let again = [
        "seeds",
        "bank",
        "--format",
        "parquet",
        "--out",
        "s.parquet",
        "--if-changed",
    ];
    assert_eq!(place.run(&again).status, Some(5));
    let split = [
        "seeds",
        "bank",
        "--format",
        "parquet",
        "--out",
        "p.parquet",
        "--split",
        "2",
    ];
    place.run(&split).done();
    for part in ["p-1.parquet", "p-2.parquet"] {
        assert_eq!(super::judge::table(&place.path(part)).len(), 1);
    }
    let piped = place
        .command(&["seeds", "bank", "--format", "parquet"])
        .output()
        .unwrap();
    assert_eq!(piped.stdout, fs::read(place.path("s.parquet")).unwrap());
    place
        .run(&[
            "scores",
            "bank",
            "--format",
            "parquet",
            "--out",
            "t.parquet",
        ])
        .done();
    assert_eq!(super::judge::table(&place.path("t.parquet")).len(), 10);
    let twice = [
        "scores",
        "bank",
        "--format",
        "parquet",
        "--out",
        "t.parquet.gz",
    ];
    let said = place.run(&twice).fails(2);
    assert!(said.contains("already compressed"), "{said}");
}

/// The pages with the highest scores, compared with all of them.
#[test]
fn the_best_pages_are_those_of_the_whole_table() {
    let place = Place::with_seeds();
    let scores = |args: &[&str]| {
        let args = [&["scores", "bank", "--format", "jsonl"], args].concat();
        place.run(&args).json_lines()
    };
    let all = scores(&[]);
    for (by, field) in [
        ("pagerank", "pagerank"),
        ("harmonic", "harmonic"),
        ("in-degree", "in_degree"),
        ("out-degree", "out_degree"),
    ] {
        let mut sorted = all.clone();
        sorted.sort_by(|a, b| {
            let score = |page: &serde_json::Value| page[field].as_f64().unwrap();
            let url = |page: &serde_json::Value| page["url"].as_str().unwrap().to_owned();
            score(b)
                .total_cmp(&score(a))
                .then_with(|| url(a).cmp(&url(b)))
        });
        for most in [1, 3, all.len(), 1000] {
            let found = scores(&["--top", &most.to_string(), "--by", by]);
            assert_eq!(found, sorted[..most.min(all.len())], "{most} by {by}");
        }
    }
    let text = place
        .run(&["scores", "bank", "--top", "2", "--format", "text"])
        .done();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.starts_with("pagerank    harmonic    ± error  linked from"),
        "{text}"
    );
    place.run(&["scores", "bank", "--by", "harmonic"]).fails(2);
}
