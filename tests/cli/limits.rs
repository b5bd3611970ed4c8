//! Requests that exceed a limit are rejected in one sentence, and absurd ones do no harm.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::command::{Place, clean, names, record};

#[test]
fn files_without_an_end_are_refused() {
    let place = Place::with_seeds();
    place.write("long.toml", "# a comment\n".repeat(100_000));
    place.write("latin.toml", b"# caf\xe9\n");
    fs::create_dir(place.path("folder")).unwrap();
    let mut cases: Vec<(&[&str], &str)> = vec![
        (
            &["refresh", "bank", "--plan-file", "long.toml"],
            "plan file long.toml: expected at most 1.00 MiB",
        ),
        (
            &["refresh", "bank", "--plan-file", "latin.toml"],
            "cannot read the plan file latin.toml: invalid utf-8",
        ),
        (
            &["refresh", "bank", "--plan-file", "folder"],
            "cannot read the plan file folder: Is a directory",
        ),
    ];
    if cfg!(target_os = "linux") {
        cases.extend([
            (
                &["refresh", "bank", "--plan-file", "/dev/zero"][..],
                "plan file /dev/zero: expected at most 1.00 MiB",
            ),
            (
                &["evaluate", "bank", "crawl", "--seeds-file", "/dev/zero"],
                "line 1 of /dev/zero is longer than 128.00 KiB",
            ),
            (
                &["diff", "bank", "1", "--seeds-file", "/dev/zero"],
                "line 1 of /dev/zero is longer than 128.00 KiB",
            ),
        ]);
    }
    for (args, words) in cases {
        let error = place.run(args).fails(2);
        assert!(error.contains(words), "{args:?}: {error}");
        // The error, and a hint if there is one.
        assert!(error.lines().count() <= 2, "{args:?}: {error}");
    }
    if cfg!(target_os = "linux") {
        // A pipe with an end is as good as a file.
        let args = ["refresh", "bank", "--plan-file", "/dev/stdin"];
        let ended = place.run_with(&args, b"seeds = 1\n").done();
        assert!(ended.contains(": 1 seed, "), "{ended}");
    }
}

#[test]
fn a_small_graph_of_many_links_is_refused_at_once() {
    let place = Place::with_bank();
    let before = place.state();
    place.write(
        "web.properties",
        "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nendianness=big\nnodes=40000\n\
         arcs=1600000000\nwindowsize=7\nminintervallength=4\nmaxrefcount=3\nzetak=3\n\
         compressionflags=\n",
    );
    place.write("web.graph", vec![0x55; 170_000]);
    let error = place
        .run(&["ingest", "bank", "--input", "bvgraph", "web"])
        .fails(3);
    assert!(
        error.contains("web.graph has 170000 bytes, and its properties claim 1600000000 links"),
        "{error}"
    );
    assert_eq!(place.state(), before);
}

#[test]
fn absurd_numbers_are_refused() {
    let place = Place::with_seeds();
    let most = "4294967295";
    let classic = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--hits",
        "classic",
        "--iterations",
        most,
    ];
    let error = place.run(&classic).fails(2);
    assert!(
        error.contains("'--iterations <N>': expected a whole number from 1 to 100000"),
        "{error}"
    );
    place.write("many.toml", "hits = \"classic\"\niterations = 4294967295\n");
    let file = ["refresh", "bank", "--plan-file", "many.toml"];
    let error = place.run(&file).fails(2);
    assert!(error.contains("expected 1 to 100000"), "{error}");
    let refused: &[(&[&str], &str)] = &[
        (
            &[
                "refresh",
                "bank",
                "--replace",
                "--method",
                "greedy",
                "--hops",
                most,
            ],
            "1000",
        ),
        (
            &[
                "refresh",
                "bank",
                "--replace",
                "--method",
                "max-scc",
                "--depth",
                most,
            ],
            "--depth",
        ),
        (
            &["evaluate", "bank", "coverage", "--per-site", most],
            "1000",
        ),
        (&["evaluate", "bank", "crawl", "--draws", most], "100000"),
        (
            &["ingest", "bank", "day0.jsonl", "--memory", "100T"],
            "the memory of this machine",
        ),
        (
            &["synth", "x", "--pages", "18446744073709551615"],
            "1 to 1000000000",
        ),
        (&["synth", "x", "--pages", "9", "--sites", most], "1 to 9"),
        (
            &["synth", "x", "--pages", "9", "--days", most],
            "0 to 36500",
        ),
    ];
    for (args, words) in refused {
        if words.starts_with("this machine") && !cfg!(target_os = "linux") {
            continue;
        }
        let error = place.run(args).fails(2);
        assert!(error.contains(words), "{args:?}: {error}");
    }
}

/// Bounded by what the bank holds, not by the number.
#[test]
fn numbers_beyond_what_a_bank_has_do_no_harm() {
    let place = Place::with_seeds();
    let most = "4294967295";
    let harmless: &[&[&str]] = &[
        &[
            "refresh",
            "bank",
            "--plan",
            "a",
            "--seeds",
            most,
            "--max-hubs",
            most,
        ],
        &[
            "refresh",
            "bank",
            "--plan",
            "b",
            "--core-size",
            most,
            "--new-members",
            most,
        ],
        &[
            "refresh",
            "bank",
            "--plan",
            "c",
            "--method",
            "max-weight",
            "--per-site",
            most,
        ],
        &[
            "refresh", "bank", "--plan", "d", "--method", "max-out", "--seeds", most,
        ],
        &["refresh", "bank", "--plan", "d", "--keep", most],
        &["evaluate", "bank", "crawl", "--depth", most, "--draws", "2"],
        &["evaluate", "bank", "distances", "--samples", most],
        &[
            "evaluate",
            "bank",
            "budget",
            "--pages",
            "18446744073709551615",
        ],
        &[
            "report",
            "bank",
            "--out",
            "r.html",
            "--evaluate",
            "--max-sites",
            most,
            "--draws",
            "2",
        ],
    ];
    for args in harmless {
        let ended = place.run(args);
        // 5: by that method no page of so few is worth a seed.
        assert!(matches!(ended.status, Some(0 | 5)), "{args:?}: {ended:?}");
    }
}

/// A name, half of which becomes a line of its own unless it is shown with care.
const FORGED: &str = "a\nbatch 9 forged\r\u{1b}[2J\u{85}\u{2028}\u{202e}b";
const SHOWN: &str = r"a\nbatch 9 forged\r\u{1b}[2J\u{85}\u{2028}\u{202e}b";

#[test]
fn names_and_paths_stay_on_their_line() {
    let place = Place::with_seeds();
    let before = place.run(&["history", "bank"]).done().lines().count();
    let delta = record("http://new.example/", &["http://a1.example/"]);
    let report = place
        .run_with(&["ingest", "bank", "--name", FORGED, "-"], delta.as_bytes())
        .done();
    assert!(
        report.starts_with(&format!("batch 2: {SHOWN} (delta)")),
        "{report}"
    );
    let history = place.run(&["history", "bank"]).done();
    assert_eq!(history.lines().count(), before + 1, "{history}");
    assert!(
        history.contains(&format!(" delta {SHOWN}: 1 record (")),
        "{history}"
    );
    // JSON has its own escapes.
    let json = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(json["batches"][1]["name"], FORGED);

    // In errors: paths, names, values, things that nobody knows; and in those of the command line
    // itself.
    for args in [
        &["status", FORGED][..],
        &["ingest", "bank", FORGED],
        &["refresh", "bank", "--plan-file", FORGED],
        &["evaluate", "bank", "crawl", "--seeds-file", FORGED],
        &["refresh", "bank", "--plan", FORGED],
        &["seeds", "bank", "--plan", FORGED],
        &["explain", "bank", FORGED],
        &["explain", "bank", "--site", FORGED],
        &["report", "bank", "--out", FORGED, "--plan", "none"],
        &["synth", "day0.jsonl", "--pages", FORGED],
        &["seeds", "bank", "--format", FORGED],
        &["seeds", "bank", FORGED],
        &[FORGED],
    ] {
        let ended = place.run(args);
        assert!(
            !matches!(ended.status, Some(0) | None),
            "{args:?}: {ended:?}"
        );
        is_plain(&ended.err);
        assert!(!ended.err.contains("\nbatch"), "{args:?}: {}", ended.err);
    }
    // In warnings: the contents of a file.
    let odd = r#"{"url": "http://odd.example/", "x\nbatch 9\u001b[2J\u202e": 1}"#;
    let ended = place.run_with(&["ingest", "bank", "-"], odd.as_bytes());
    assert!(
        ended.err.contains(r"x\nbatch 9\u{1b}[2J\u{202e} 1"),
        "{}",
        ended.err
    );
    // In a plan file's own lines, which stay lines.
    place.write("odd.toml", "seeds = 3\nplan = \"\u{202e}\u{1b}\"\n");
    let error = place
        .run(&["refresh", "bank", "--plan-file", "odd.toml"])
        .fails(2);
    is_plain(&error);
    assert!(error.contains("odd.toml: "), "{error}");
    assert!(error.lines().count() > 2, "{error}");
    // URLs in a bank are in ASCII.
    let odd = r#"{"url": "http://odd.example/\u202e\u2028\u0085\u001b%0a?é", "outlinks": ["http://a1.example/"]}"#;
    place
        .run_with(&["ingest", "bank", "-"], odd.as_bytes())
        .done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    for format in ["text", "csv", "nutch", "heritrix"] {
        let seeds = place.run(&["seeds", "bank", "--format", format]).done();
        assert!(seeds.is_ascii(), "{seeds}");
        is_plain(&seeds.replace(['\t', '\r'], " "));
    }
}

fn is_plain(text: &str) {
    let odd = |c: &char| *c != '\n' && seedbank::display::is_invisible_control(*c);
    assert_eq!(text.chars().find(odd), None, "{text:?}");
}

#[test]
fn a_long_url_is_shortened_in_errors() {
    let place = Place::with_seeds();
    let long = format!("http://h1.example/{}", "x".repeat(60_000));
    for url in [&*long, &long.replace("http:", "ftp:"), &long[7..]] {
        for args in [
            &["explain", "bank", url][..],
            &["history", "bank", url],
            &["status", "bank", url],
        ] {
            let ended = place.run(args);
            // A page that is not there is an answer, and no wrong usage.
            let unknown = ended.err.contains("does not contain");
            let status = if unknown { 5 } else { 2 };
            assert_eq!(ended.status, Some(status), "{ended:?}");
            assert!(ended.err.len() < 1500, "{} bytes", ended.err.len());
            assert!(ended.err.contains("… (600"), "{}", ended.err);
        }
    }
}

#[test]
fn damage_is_4_whichever_step_meets_it() {
    let place = Place::with_bank();
    let days: Vec<String> = (0..5)
        .map(|day| {
            let page = |n: usize| {
                let to = format!("http://t{}.example/", n * (day + 7) % 300);
                record(&format!("http://s{}.example/{n}", n % 40), &[&to])
            };
            // Each too large to stay in the log.
            let pages = if day == 0 { 0..1500 } else { 0..4000 };
            pages.map(page).collect()
        })
        .collect();
    for (day, lines) in days.iter().enumerate() {
        place.write(&format!("{day}.jsonl"), lines);
    }
    place.run(&["ingest", "bank", "0.jsonl"]).done();
    place.merge();
    let files = names(&place.path("bank/live"));
    let files: Vec<&String> = files
        .iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"))
        .collect();
    let (mut met, mut by_ingest) = (0, 0);
    for file in &files {
        let path = place.path("bank/live").join(file);
        let whole = fs::read(&path).unwrap();
        let bank = copy(&place.path("bank"));
        let damaged = bank.path().join("live").join(file);
        let mut bytes = whole;
        let middle = bytes.len() / 3;
        bytes[middle..middle + 64]
            .iter_mut()
            .for_each(|byte| *byte ^= 0x5a);
        // The published state has the same file under another name, and it is the same file.
        fs::write(damaged, bytes).unwrap();
        let bank = bank.path().to_str().unwrap();
        let failed = (1..5).find_map(|day| {
            let ended = place.run(&["ingest", bank, &format!("{day}.jsonl")]);
            (ended.status != Some(0)).then_some(ended)
        });
        by_ingest += usize::from(failed.is_some());
        // What no batch has read is met when files are merged.
        let failed = failed.or_else(|| {
            let ended = place.run(&["compact", bank]);
            (ended.status != Some(0)).then_some(ended)
        });
        if let Some(ended) = failed {
            met += 1;
            let error = ended.fails(4);
            assert!(error.contains("Corruption"), "{file}: {error}");
            assert!(!error.contains("room"), "{file}: {error}");
            assert!(error.contains("seedbank check"), "{file}: {error}");
        }
    }
    assert!(
        by_ingest * 2 > files.len(),
        "{by_ingest} of {}",
        files.len()
    );
    // Some bytes say what is not asked, as those of a filter.
    assert!(
        met * 5 > files.len() * 4,
        "{met} of {} were met",
        files.len()
    );
}

/// A copy of a bank, held in memory if there is a place for it.
fn copy(bank: &Path) -> tempfile::TempDir {
    let folder = support::scratch();
    copy_folder(bank, folder.path());
    folder
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs the command with limited address space; returns its status and standard error.
fn limited(place: &Place, kilobytes: u32, args: &[&str]) -> (Option<i32>, String) {
    let mut shell: Command = clean("sh");
    let ended = shell
        .args([
            "-c",
            &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\""),
        ])
        .arg(env!("CARGO_BIN_EXE_seedbank"))
        .args(args)
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    (ended.status.code(), said)
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_cannot_be_had_is_1() {
    let place = Place::with_seeds();
    let wide: Vec<String> = (0..40_000)
        .map(|n| {
            let (to, next) = (n * 7 % 9001, n + 1);
            record(
                &format!("http://s{}.example/{n}", n % 999),
                &[
                    &format!("http://t{to}.example/"),
                    &format!("http://s{}.example/{next}", next % 999),
                ],
            )
        })
        .collect();
    place.write("wide.jsonl", wide.concat());
    let mut failed = 0;
    for (kilobytes, args) in [
        (100_000, &["ingest", "bank", "--again", "wide.jsonl"][..]),
        (300_000, &["ingest", "bank", "--again", "wide.jsonl"]),
        (500_000, &["ingest", "bank", "--again", "wide.jsonl"]),
        (
            100_000,
            &[
                "refresh", "bank", "--method", "cores", "--within", "0", "--cold",
            ],
        ),
        (
            400_000,
            &[
                "refresh", "bank", "--method", "cores", "--within", "0", "--cold",
            ],
        ),
        (1_000_000, &["status", "bank", "--threads", "1024"]),
    ] {
        let (status, said) = limited(&place, kilobytes, args);
        println!("{kilobytes} KB: {status:?} {said}");
        match status {
            Some(0) => {}
            Some(1) => {
                failed += 1;
                let told = said.lines().any(|line| line.starts_with("error: "));
                assert!(told, "{kilobytes} KB: {said}");
            }
            _ => panic!("{kilobytes} KB: {status:?} {said}"),
        }
    }
    assert!(failed > 0);
    place.state();
}
