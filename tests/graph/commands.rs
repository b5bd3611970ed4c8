//! `graph`, `scores` and `seeds --format parquet` as a user types them.

use std::fs;

use crate::support::command::{Place, clean, names};

/// Runs a command, which must succeed.
#[track_caller]
fn ok(place: &Place, line: &str) -> String {
    place.run(&line.split(' ').collect::<Vec<_>>()).done()
}

#[test]
fn a_graph_is_written_to_a_folder_and_read_back() {
    let place = Place::with_seeds();
    fs::create_dir(place.path("g")).unwrap();
    place.write("g/mine.txt", "mine");
    place.write("g/links.tsv", "old");
    let ended = place.run(&["graph", "bank", "--out", "g", "--format", "tsv"]);
    for words in [
        "10 pages with 13 links in g: links.tsv, pages.tsv",
        "--input links --pages g/pages.tsv --snapshot",
        "all nodes are read back as crawled",
    ] {
        assert!(ended.err.contains(words), "{ended:?}");
    }
    assert_eq!(ended.done(), "");
    assert_eq!(
        names(&place.path("g")),
        ["links.tsv", "mine.txt", "pages.tsv"]
    );
    ok(&place, "init new");
    let report = ok(
        &place,
        "ingest new g/links.tsv --input links --pages g/pages.tsv",
    );
    assert!(report.contains("links: 13 added"), "{report}");
    // Others beside it, in the same folder.
    for of in [
        "bvgraph --of pages",
        "bvgraph --of sites",
        "ccgraph --of sites",
        "tsv --of sites",
    ] {
        ok(&place, &format!("graph bank --out g --format {of}"));
    }
    assert_eq!(names(&place.path("g")).len(), 3 + 4 + 5 + 2 + 2);
    ok(&place, "init hosts");
    ok(
        &place,
        "ingest hosts g/edges.txt.gz --input ccgraph --vertices g/vertices.txt.gz",
    );
}

#[test]
fn wrong_targets_are_refused_and_nothing_is_written() {
    let place = Place::with_seeds();
    place.write("file", "x");
    fs::create_dir_all(place.path("g/pages.tsv")).unwrap();
    let before = names(&place.path("."));
    for (line, status, message) in [
        ("graph bank --format tsv --out file", 2, "expected a folder"),
        (
            "graph bank --format tsv --out no/where",
            2,
            "the folder no does not exist",
        ),
        ("graph bank --format tsv --out bank", 2, "own folder"),
        ("graph bank --format tsv --out bank/g", 2, "own folder"),
        ("graph bank --format tsv --out g", 2, "is a folder"),
        (
            "graph bank --format ccgraph --of pages --out new",
            2,
            "supports only hosts",
        ),
        ("graph none --format tsv --out new", 4, "none is not a bank"),
        ("scores bank --plan none", 2, "none"),
        ("scores bank --by harmonic", 2, "--top"),
        (
            "scores bank --format parquet --out t.parquet.gz",
            2,
            "already compressed",
        ),
    ] {
        let error = place
            .run(&line.split(' ').collect::<Vec<_>>())
            .fails(status);
        assert!(error.contains(message), "{line}: {error}");
    }
    assert_eq!(names(&place.path("g")), ["pages.tsv"]);
    assert_eq!(names(&place.path(".")), before);
}

/// No file may have a byte: the libraries that write graphs and tables must not panic either.
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let place = Place::with_seeds();
    let program = env!("CARGO_BIN_EXE_seedbank");
    for of in [
        "bvgraph --of pages",
        "bvgraph --of sites",
        "ccgraph --of sites",
        "tsv --of pages",
        #[cfg(feature = "parquet")]
        "parquet --of pages",
    ] {
        let script = format!("ulimit -f 0; exec {program} graph bank --out g --format {of}");
        let ended = clean("sh")
            .args(["-c", &script])
            .current_dir(place.path("."))
            .output();
        let ended = ended.unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{of}: {error}");
        assert!(
            error.starts_with("error: cannot write g: "),
            "{of}: {error}"
        );
        assert!(!place.path("g").exists(), "{of}");
    }
}

#[test]
fn scores_are_printed_and_written_and_the_best_are_those_of_the_whole_table() {
    let place = Place::with_seeds();
    let printed = place.run(&["scores", "bank"]);
    assert!(
        printed.err.contains("harmonic centralities are exact"),
        "{printed:?}"
    );
    let printed = printed.done();
    let head = "url,site,state,in_degree,out_degree,pagerank,harmonic,harmonic_error,";
    assert!(
        printed.starts_with(head) && printed.lines().count() == 11,
        "{printed}"
    );
    assert_eq!(ok(&place, "scores bank --out s.csv"), "");
    assert_eq!(fs::read_to_string(place.path("s.csv")).unwrap(), printed);
    ok(&place, "scores bank --out s.csv.gz");
    assert_eq!(crate::support::gunzip(&place.path("s.csv.gz")), printed);
    let scores = |args: &[&str]| {
        let args = [&["scores", "bank", "--format", "jsonl"], args].concat();
        place.run(&args).json_lines()
    };
    let all = scores(&[]);
    assert_eq!(all.len(), 10);
    for by in ["pagerank", "harmonic", "in-degree", "out-degree"] {
        let mut sorted = all.clone();
        let field = by.replace('-', "_");
        sorted.sort_by(|a, b| {
            let score = |page: &serde_json::Value| page[&field].as_f64().unwrap();
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
    let text = ok(&place, "scores bank --top 2 --format text");
    assert!(
        text.starts_with("pagerank    harmonic    ± error  linked from"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_written_to_files_and_pipes() {
    use super::judge::table;
    let place = Place::with_seeds();
    ok(&place, "seeds bank --format parquet --out s.parquet");
    let rows = table(&place.path("s.parquet"));
    assert_eq!((rows.len(), &*rows[0]["url"]), (2, "http://h1.example/"));
    let again = "seeds bank --format parquet --out s.parquet --if-changed";
    let again = place.run(&again.split(' ').collect::<Vec<_>>());
    assert_eq!(again.status, Some(5));
    ok(
        &place,
        "seeds bank --format parquet --out p.parquet --split 2",
    );
    for part in ["p-1.parquet", "p-2.parquet"] {
        assert_eq!(table(&place.path(part)).len(), 1);
    }
    let mut command = place.command(&["seeds", "bank", "--format", "parquet"]);
    let piped = command.output().unwrap().stdout;
    assert_eq!(piped, fs::read(place.path("s.parquet")).unwrap());
    ok(&place, "scores bank --format parquet --out t.parquet");
    assert_eq!(table(&place.path("t.parquet")).len(), 10);
}
