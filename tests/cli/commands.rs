//! Each command as a user types it.

use std::fs::{self, File};
use std::io::Write;

use crate::support::command::{Place, TWO_CORES, names, record};
use seedbank::engine::maintenance::FORMAT;
use serde_json::{Value, json};

#[test]
fn a_bank_is_made_filled_and_asked() {
    let place = Place::new();
    let made = place.run(&["init", "bank"]);
    assert!(made.err.contains("created bank"), "{made:?}");
    assert_eq!(made.done(), "");
    place.write("day0.jsonl", TWO_CORES);
    let report = place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    assert!(
        report.starts_with("batch 1: day0.jsonl (snapshot), 5 records"),
        "{report}"
    );
    assert!(
        report.contains("10 new, 5 became crawled, 0 became gone"),
        "{report}"
    );
    assert!(report.contains("links: 13 added, 0 removed"), "{report}");
    let report = place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    assert!(
        report.starts_with("refresh 1 of plan default (cores), state after batch 1: 2 seeds"),
        "{report}"
    );
    assert!(report.contains("; nothing reused; "), "{report}");
    let seeds = place.run(&["seeds", "bank"]).done();
    assert_eq!(seeds, "http://h1.example/\nhttp://k1.example/x,y\n");
    let status = place.run(&["status", "bank"]).done();
    assert!(
        status.contains("pages 5 crawled, 5 known, 0 gone; 0 spam"),
        "{status}"
    );
    assert!(
        status.contains("plan default (cores), last refresh 1"),
        "{status}"
    );
    let history = place.run(&["history", "bank"]).done();
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines.len(), 2, "{history}");
    assert!(lines[0].starts_with("batch 1 20"), "{history}");
    assert!(
        lines[0].contains("snapshot day0.jsonl: 5 records (0 rejected)"),
        "{history}"
    );
    assert!(
        lines[1].contains("plan default (cores) after batch 1: 2 seeds, 2 cores"),
        "{history}"
    );
    let check = place.run(&["check", "bank"]).done();
    assert!(check.ends_with("no problems found\n"), "{check}");
}

#[test]
fn cores_are_shown_and_long_lists_are_cut() {
    let place = Place::with_bank();
    let records: String = (0..25)
        .map(|hub| {
            record(
                &format!("http://h{hub:02}.example/"),
                &["http://a.example/", "http://b.example/"],
            )
        })
        .collect();
    place.write("day.jsonl", records);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let text = place.run(&["cores", "bank"]).done();
    assert!(
        text.starts_with(
            "core 1: sigma 7.071068, density 100.00 %, 25 hubs on 25 sites, 2 authorities, 50 links\n  \
             seed http://h00.example/\n  hub 0.200000 http://h00.example/\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("  hub: 15 more; --format jsonl prints all\n"),
        "{text}"
    );
    assert!(
        text.contains("  authority 0.707107 http://b.example/\n"),
        "{text}"
    );
    assert!(!text.contains("authority: "), "{text}");
    let cores = place
        .run(&["cores", "bank", "--format", "jsonl"])
        .json_lines();
    assert_eq!(cores.len(), 1);
    assert_eq!(cores[0]["hubs"].as_array().unwrap().len(), 25);
    assert_eq!(cores[0]["sides"].as_str().unwrap().len(), 27);
}

#[test]
fn sites_are_hosts_or_domains() {
    let record = r#"{"url": "http://a.example.co.uk/", "outlinks": ["http://b.example.co.uk/"]}"#;
    for (mode, sites, intra) in [("host", 2, 0), ("domain", 1, 1)] {
        let place = Place::new();
        place.run(&["init", "bank", "--site", mode]).done();
        place
            .run_with(&["ingest", "bank", "-"], record.as_bytes())
            .done();
        let status = place.run(&["status", "bank", "--format", "json"]).json();
        assert_eq!(status["site_mode"], mode);
        assert_eq!(status["sites"], sites);
        assert_eq!(status["intra_links"], intra);
    }
}

#[test]
fn the_same_batch_again_changes_nothing_and_says_so() {
    let place = Place::with_seeds();
    let before = place.state();
    // The same records in another order are the same batch.
    let mut lines: Vec<&str> = TWO_CORES.lines().rev().collect();
    lines.push("");
    place.write("again.jsonl", lines.join("\n"));
    let args = ["ingest", "bank", "--snapshot", "again.jsonl"];
    let report = place.run(&args).done();
    assert!(
        report.starts_with("nothing changed: batch 1 had the same records"),
        "{report}"
    );
    assert_eq!(place.state(), before);
    let report = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(report["same_as"], 1);
    assert_eq!(report["batch"], Value::Null);
    let report = place
        .run(&[&args[..], &["--again", "--format", "json"]].concat())
        .json();
    assert_eq!(
        (&report["same_as"], &report["batch"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(report["counts"]["changed"], 0);
}

#[test]
fn a_dry_run_changes_nothing() {
    let place = Place::with_seeds();
    let before = place.state();
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://new.example/\", \"digest\": \"d\"}\nbad\n",
    );
    let report = place
        .run(&[
            "ingest",
            "bank",
            "--dry-run",
            "--max-rejects",
            "50",
            "day1.jsonl",
        ])
        .done();
    assert!(
        report.starts_with("dry run, the bank is unchanged: day1.jsonl (delta)"),
        "{report}"
    );
    assert!(report.contains("1 new, 1 became crawled"), "{report}");
    assert!(
        report.contains(
            "rejected: 1 of 2 records: invalid_json 1; \
             listed in bank/rejects/batch-000002-attempt-1.jsonl\n"
        ),
        "{report}"
    );
    assert_eq!(place.state(), before);
    assert_eq!(
        names(&place.path("bank/rejects")),
        ["batch-000002-attempt-1.jsonl"]
    );
}

#[test]
fn input_may_be_compressed_or_standard_input() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TWO_CORES.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(TWO_CORES.as_bytes(), 0).unwrap();
    let place = Place::with_bank();
    place.write("day.gz", &gzip);
    place.write("day.zst", &zstd);
    let first = place
        .run(&["ingest", "bank", "day.gz", "--format", "json"])
        .json();
    assert_eq!(first["counts"]["records"], 5);
    for args in [["ingest", "bank", "day.zst"], ["ingest", "bank", "-"]] {
        let report = place.run_with(&args, &gzip).done();
        assert!(report.starts_with("nothing changed: batch 1"), "{report}");
    }
    let report = place
        .run_with(&["ingest", "bank", "-", "--again", "--name", "now"], &zstd)
        .done();
    assert!(
        report.starts_with("batch 2: now (delta), 5 records"),
        "{report}"
    );
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(history["batches"][1]["inputs"], json!(["standard input"]));
}

#[test]
fn links_come_as_tsv_with_pages() {
    let place = Place::with_bank();
    place.write(
        "links.tsv",
        "http://a.example/\thttp://b.example/\nhttp://a.example/\tmailto:x\n",
    );
    place.write(
        "pages.tsv",
        "http://a.example/\t0\t7\t3\nhttp://c.example/\t1\t0\t\n",
    );
    let args = [
        "ingest",
        "bank",
        "--input",
        "links",
        "--pages",
        "pages.tsv",
        "links.tsv",
    ];
    let report = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(report["counts"]["records"], 4);
    assert_eq!(report["counts"]["became_crawled"], 3);
    assert_eq!(report["counts"]["links_added"], 1);
    assert_eq!(report["read"]["dropped_outlinks"], json!({"scheme": 1}));
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    assert_eq!(
        (&status["crawled"], &status["spam"]),
        (&json!(3), &json!(1))
    );
}

#[test]
fn several_files_are_one_batch() {
    let place = Place::with_bank();
    place.write(
        "a.jsonl",
        "{\"url\": \"http://a.example/\", \"digest\": \"1\"}",
    );
    place.write(
        "b.jsonl",
        "{\"url\": \"http://b.example/\", \"digest\": \"2\"}",
    );
    place
        .run(&["ingest", "bank", "--snapshot", "a.jsonl", "b.jsonl"])
        .done();
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    assert_eq!(
        (&status["crawled"], &status["gone"]),
        (&json!(2), &json!(0))
    );
    place
        .run(&["ingest", "bank", "--snapshot", "b.jsonl"])
        .done();
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    assert_eq!(
        (&status["crawled"], &status["gone"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn unknown_fields_are_warned_about() {
    let place = Place::with_bank();
    let record = br#"{"url": "http://a.example/", "outlink": [], "outlinks": []}"#;
    let ended = place.run_with(&["ingest", "bank", "-"], record);
    assert_eq!(
        ended.err,
        "warning: unknown fields were ignored: outlink 1 (did you mean outlinks?)\n"
    );
    ended.done();
    let ended = place.run_with(&["ingest", "bank", "-", "--again", "-q"], record);
    assert_eq!(ended.err, "");
}

#[test]
fn a_crawl_is_generated() {
    let place = Place::with_bank();
    let args = [
        "--pages",
        "200",
        "--sites",
        "9",
        "--days",
        "1",
        "--rng-seed",
        "5",
    ];
    let report = place.run(&[&["synth", "crawl"], &args[..]].concat()).done();
    assert!(
        report.starts_with("crawl/day-000.jsonl.zst: 200 records"),
        "{report}"
    );
    assert_eq!(
        names(&place.path("crawl")),
        ["day-000.jsonl.zst", "day-001.jsonl.zst"]
    );
    place.run(&[&["synth", "other"], &args[..]].concat()).done();
    for day in names(&place.path("crawl")) {
        let read = |folder: &str| fs::read(place.path(folder).join(&day)).unwrap();
        assert_eq!(read("crawl"), read("other"));
    }
    let ended = place.run(&["ingest", "bank", "--snapshot", "crawl/day-000.jsonl.zst"]);
    assert_eq!(
        ended.err, "",
        "the generator's records have no unknown fields"
    );
    ended.done();
    place.run(&["synth", "crawl", "--pages", "9"]).fails(2);
    place
        .run(&["synth", "bank/SEEDBANK", "--pages", "9"])
        .fails(2);
    place.run(&["synth", "none", "--pages", "0"]).fails(2);
}

#[test]
fn a_generated_crawl_takes_a_shape_and_a_rate_of_change() {
    let place = Place::new();
    let args = ["--pages", "2000", "--days", "1", "--format", "json"];
    let like = ["--like", "uk-2002", "--daily", "5%"];
    let made = place.run(&[&["synth", "crawl"], &args[..], &like].concat());
    let days = made.json()["files"].clone();
    assert_eq!(days[0]["records"], 2000);
    let links = days[0]["links"].as_f64().unwrap() / 2000.0;
    assert!((15.0..17.5).contains(&links), "{links} links a page");
    let delta = days[1]["records"].as_u64().unwrap();
    assert!((75..125).contains(&delta), "{delta} records of 2000 pages");
    // Without a frontier every page that is linked to has a record.
    place.run(&["init", "bank"]).done();
    place
        .run(&["ingest", "bank", "crawl/day-000.jsonl.zst"])
        .done();
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    assert_eq!(status["known"], 0, "{status}");
    place
        .run(&["synth", "x", "--pages", "9", "--daily", "101"])
        .fails(2);
    place
        .run(&["synth", "x", "--pages", "9", "--like", "uk"])
        .fails(2);
}

#[test]
fn a_generated_graph_of_hosts_goes_into_a_bank() {
    let place = Place::with_bank();
    let made = place.run(&["synth", "graph", "--shape", "hosts", "--pages", "3000"]);
    let told = made.done();
    assert!(
        told.starts_with("graph/vertices-00000.txt.gz: 3000 lines, ")
            && told.contains("graph/ranks.txt.gz: 3001 lines, ")
            && told.contains("\n3000 hosts, "),
        "{told}"
    );
    place
        .run(&[
            "ingest",
            "bank",
            "graph/edges-00000.txt.gz",
            "--input",
            "ccgraph",
            "--vertices",
            "graph/vertices-00000.txt.gz",
            "--ranks",
            "graph/ranks.txt.gz",
        ])
        .done();
    let status = place.status();
    assert_eq!(
        (&status["crawled"], &status["known"]),
        (&3000.into(), &0.into())
    );
    for flag in [
        ["--days", "1"],
        ["--sites", "3"],
        ["--daily", "5"],
        ["--like", "uk-2002"],
    ] {
        let args = ["synth", "other", "--shape", "hosts", "--pages", "9"];
        let refused = place.run(&[&args[..], &flag].concat()).fails(2);
        assert!(refused.contains(flag[0]), "{refused}");
    }
}

#[test]
fn shells_and_man_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.run(&["completions", shell]).done();
        for word in ["SEEDBANK_COMPLETE", shell] {
            assert!(script.contains(word), "{shell} {word}: {script}");
        }
    }
    let page = place.run(&["man"]).done();
    assert!(page.contains(".TH seedbank 1"), "{page}");
    assert_eq!(place.run(&["man", "--out", "man/man1"]).done(), "");
    let pages = names(&place.path("man/man1"));
    assert!(
        pages.contains(&"seedbank-refresh.1".to_owned()),
        "{pages:?}"
    );
    assert_eq!(pages.len(), 44, "{pages:?}");
}

#[test]
fn version_and_help_are_output() {
    let place = Place::new();
    let version = place.run(&["--version"]).done();
    assert_eq!(
        version,
        format!(
            "seedbank {} (store format {FORMAT})\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    let help = place.run(&["--help"]).done();
    assert!(help.contains("Exit status:"), "{help}");
    let help = place.run(&["refresh", "--help"]).done();
    assert_eq!(place.run(&["help", "refresh"]).done(), help);
    let crawl = place.run(&["evaluate", "x", "crawl", "--help"]).done();
    assert_eq!(place.run(&["help", "evaluate", "crawl"]).done(), crawl);
    place.run(&["help", "frobnicate"]).fails(2);
    for flag in [
        "--density",
        "--keep-spam",
        "--plan-file",
        "Examples:",
        "Advanced: method cores:",
        "--goal",
    ] {
        assert!(help.contains(flag), "{flag}: {help}");
    }
}

#[test]
fn a_reader_goes_on_while_another_process_writes() {
    let place = Place::with_seeds();
    let lock = File::options()
        .write(true)
        .open(place.path("bank/writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    place.run(&["seeds", "bank"]).done();
    place.run(&["status", "bank"]).done();
    let check = place.run(&["check", "bank", "--format", "json"]).json();
    assert_eq!(
        (&check["live"]["verdict"], &check["published"]["verdict"]),
        (&json!("unseen"), &json!("good"))
    );
}
