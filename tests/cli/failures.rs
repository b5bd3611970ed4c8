//! Failures are reported in one sentence with the documented exit status, and change nothing.

use std::fs::{self, File};

use crate::support::command::{Place, names, wait};
use crate::support::folders::{NO_FILES, changes, contents};
use seedbank::engine::maintenance::FORMAT;

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn wrong_usage_is_2() {
    let place = Place::with_seeds();
    place.write("bad.toml", "seeds = \"many\"\n");
    place.write("unknown.toml", "sedes = 3\n");
    let before = place.state();
    let cases: &[(&[&str], &str)] = &[
        (&["frobnicate"], "unrecognized subcommand"),
        (&["status"], "<BANK>"),
        (
            &["status", "bank", "--format", "csv"],
            "[possible values: text, json, jsonl]",
        ),
        (&["seeds", "bank", "--format", "xml"], "nutch"),
        (&["ingest", "bank"], "<FILE>"),
        (&["ingest", "bank", "f", "--max-rejects", "200"], "0 to 100"),
        (&["ingest", "bank", "f", "--max-rejects", "NaN"], "0 to 100"),
        (&["ingest", "bank", "f", "--max-loss=-1"], "0 to 100"),
        (&["ingest", "bank", "f", "--max-loss", "NaN"], "0 to 100"),
        (&["ingest", "bank", "f", "--memory", "12"], "at least 1M"),
        (&["ingest", "bank", "f", "--input", "xml"], "jsonl, links"),
        (
            &["ingest", "bank", "f", "--pages", "p"],
            "--pages requires --input links",
        ),
        (&["ingest", "bank", "-", "-"], "more than once"),
        (
            &["ingest", "bank", "--input", "links", "--pages", "-", "-"],
            "more than once",
        ),
        (
            &["ingest", "bank", "day0.jsonl", "--rejects", "./day0.jsonl"],
            "would overwrite",
        ),
        (
            &["ingest", "bank", "day0.jsonl", "--rejects", "bank/SEEDBANK"],
            "a file of the bank",
        ),
        (
            &["refresh", "bank", "--method", "best"],
            "[possible values: cores, random, ",
        ),
        (&["refresh", "bank", "--seeds", "0"], "at least 1"),
        (&["refresh", "bank", "--seeds", "-1"], "-1"),
        (
            &["refresh", "bank", "--seeds", "99999999999"],
            "99999999999",
        ),
        (
            &["refresh", "bank", "--density", "0"],
            "expected a cover density",
        ),
        (
            &["refresh", "bank", "--density", "NaN"],
            "expected a cover density",
        ),
        (&["refresh", "bank", "--iterations", "9"], "--hits classic"),
        (
            &["refresh", "bank", "--hits", "classic", "--iterations", "0"],
            "'--iterations <N>': expected a whole number from 1 to 100000",
        ),
        (&["refresh", "bank", "--new-members", "2"], "--core-size"),
        (
            &["refresh", "bank", "--core-size", "9", "--density", "80"],
            "by density or by size",
        ),
        (
            &["refresh", "bank", "--core-size", "1"],
            "'--core-size <N>': expected a whole number of at least 2",
        ),
        (&["refresh", "bank", "--max-hubs", "0"], "at least 1"),
        (&["refresh", "bank", "--within", "60"], "from 0.5 to 50"),
        (
            &["refresh", "bank", "--within", "1", "--hits", "classic"],
            "a bound of 0 per cent",
        ),
        (
            &["refresh", "bank", "--keep", "0"],
            "'--keep <N>': expected a whole number of at least 1",
        ),
        (
            &["refresh", "bank", "--keep-spam", "perhaps"],
            "[possible values: true, false]",
        ),
        (
            &["refresh", "bank", "--plan", "a b"],
            "expected a plan name",
        ),
        (&["refresh", "bank", "--plan", ""], "expected a plan name"),
        (
            &["refresh", "bank", "--plan-file", "none.toml"],
            "cannot read the plan file none.toml",
        ),
        (&["refresh", "bank", "--plan-file", "bad.toml"], "bad.toml"),
        (&["refresh", "bank", "--plan-file", "unknown.toml"], "sedes"),
        (&["refresh", "bank", "--explain-costs"], "--explain-costs"),
        (&["seeds", "bank", "--plan", "none"], "no plan \"none\""),
        (&["seeds", "bank", "--refresh", "7"], "no refresh 7"),
        (
            &["cores", "bank", "--refresh", "0"],
            "'--refresh <N>': expected a whole number of at least 1",
        ),
        (
            &["cores", "bank", "--refresh", "1", "--plan", "other"],
            "not to plan \"other\"",
        ),
        (
            &["evaluate", "bank", "crawl", "--draws", "0"],
            "'--draws <N>': expected a whole number from 1 to 100000",
        ),
        (
            &["evaluate", "bank", "coverage", "--draws", "0"],
            "'--draws <N>': expected a whole number from 1 to 10000",
        ),
        (
            &["evaluate", "bank", "coverage", "--per-site", "0"],
            "'--per-site <N>': expected a whole number from 1 to 1000",
        ),
        (
            &["evaluate", "bank", "coverage", "--fixed-seeds", "0"],
            "'--fixed-seeds <N>': expected a whole number from 1 to 1000",
        ),
        (
            &["evaluate", "bank", "coverage", "--hops", "0"],
            "'--hops <N>': expected a whole number from 1 to 100",
        ),
        (
            &["evaluate", "bank", "coverage", "--min-pages", "0"],
            "'--min-pages <N>': expected a whole number of at least 1",
        ),
        (
            &["evaluate", "bank", "coverage", "--max-sites", "0"],
            "'--max-sites <N>': expected a whole number from 1 to 1000000",
        ),
        (
            &["evaluate", "bank", "distances", "--cores", "0"],
            "'--cores <N>': expected a whole number from 1 to 10000",
        ),
        (
            &["evaluate", "bank", "distances", "--samples", "0"],
            "'--samples <N>': expected a whole number of at least 1",
        ),
        (
            &["evaluate", "bank", "budget", "--pages", "0"],
            "'--pages <N>': expected a whole number of at least 1",
        ),
        (
            &["report", "bank", "--out", "r.html", "--draws", "0"],
            "'--draws <N>': expected a whole number from 2 to 10000",
        ),
        (&["synth", "x", "--pages", "0"], "of at least 1"),
        (
            &["synth", "x", "--pages", "100", "--sites", "0"],
            "of at least 1",
        ),
        (&["init", "bank"], "not empty"),
        (&["init", "day0.jsonl"], "not empty"),
        (&["init", "new", "--site", "page"], "host, domain"),
        (&["status", "bank", "--threads", "-1"], "-1"),
        (&["status", "bank", "--threads", "100000"], "100000"),
        (&["status", "bank", "-q", "-v"], "cannot be used with"),
        (&["completions", "csh"], "bash"),
        (&["synth", "x"], "--pages"),
    ];
    for (args, words) in cases {
        let error = place.run(args).fails(2);
        assert!(error.contains(words), "{args:?}: {error}");
        assert!(error.lines().count() <= 9, "{args:?}: {error}");
    }
    assert_eq!(place.run(&[]).status, Some(2));
    assert_eq!(place.state(), before);
    assert!(!place.path("new").exists());
    assert!(place.path("day0.jsonl").is_file());
}

#[test]
fn hints_say_what_to_do() {
    let place = Place::with_bank();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["seeds", "bank"], 2, "seedbank plans"),
        (&["status", "nobank"], 4, "seedbank init"),
        (&["init", "bank"], 2, "does not exist or is empty"),
        (&["ingest", "bank", "--snapshot", "-"], 3, "\"gone\": true"),
    ];
    for (args, status, words) in cases {
        let error = place.run(args).fails(*status);
        let hint = error.lines().last().unwrap();
        assert!(
            hint.starts_with("hint: ") && hint.contains(words),
            "{args:?}: {error}"
        );
        assert_eq!(error.lines().count(), 2, "{error}");
    }
}

#[test]
fn a_missing_bank_is_4() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    let file = place.write("file", "x");
    fs::create_dir(place.path("odd")).unwrap();
    place.write("odd/SEEDBANK", "something else");
    for bank in ["none", "folder", "file", "odd"] {
        for command in ["seeds", "cores", "status", "history", "check", "refresh"] {
            let error = place.run(&[command, bank]).fails(4);
            assert!(
                error.starts_with(&format!("error: {bank} is not a bank\n")),
                "{error}"
            );
        }
        let error = place.run_with(&["ingest", bank, "-"], b"{}").fails(4);
        assert!(error.contains("is not a bank"), "{error}");
    }
    // Nothing was made on the way.
    assert_eq!(names(&place.path("folder")), [""; 0]);
    assert_eq!(names(&place.path("odd")), ["SEEDBANK"]);
    assert_eq!(fs::read(file).unwrap(), b"x");
    assert!(!place.path("none").exists());
}

#[test]
fn a_bank_of_another_format_is_4_and_left_alone() {
    let place = Place::with_seeds();
    place.run(&["backup", "bank", "b"]).done();
    place.write("bank/SEEDBANK", "seedbank bank, format 99\n");
    let before = contents(&place.path(""));
    let page = "http://h1.example/";
    for args in [
        &["status", "bank"][..],
        &["check", "bank"],
        &["refresh", "bank"],
        &["ingest", "bank", "day0.jsonl"],
        &["undo", "bank"],
        &["forget", "bank", page],
        &["seeds", "bank"],
        &["cores", "bank"],
        &["diff", "bank"],
        &["explain", "bank", page],
        &["page", "bank", page],
        &["history", "bank"],
        &["plans", "bank"],
        &["quotas", "bank", "--pages", "5"],
        &["evaluate", "bank", "crawl"],
        &["report", "bank", "--out", "r.html"],
        &["backup", "bank", "b"],
        &["backup", "bank", "c"],
        &["compact", "bank"],
        &["migrate", "bank"],
        &["migrate", "bank", "--to", "new"],
    ] {
        let error = place.run(args).fails(4);
        let versions = format!("expected bank format {FORMAT}, found 99");
        assert!(error.contains(&versions), "{args:?}: {error}");
        assert!(
            error.contains("hint: use a newer version of seedbank"),
            "{error}"
        );
    }
    for found in [0, 4, 10, 11] {
        place.write("bank/SEEDBANK", format!("seedbank bank, format {found}\n"));
        for args in [
            &["status", "bank"][..],
            &["refresh", "bank"],
            &["migrate", "bank"],
        ] {
            let error = place.run(args).fails(4);
            let versions = format!("expected bank format {FORMAT}, found {found}");
            assert!(error.contains(&versions), "{error}");
            let hint = "hint: a development version before 0.1 wrote this bank; create a new bank";
            assert!(error.contains(hint), "{error}");
        }
    }
    place.write("bank/SEEDBANK", "seedbank bank, format 99\n");
    assert_eq!(changes(&before, &place.path("")), NO_FILES);
}

#[test]
fn a_busy_bank_is_4_or_waited_for() {
    let place = Place::with_seeds();
    let lock = File::options()
        .write(true)
        .open(place.path("bank/writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    for args in [&["ingest", "bank", "day0.jsonl"][..], &["refresh", "bank"]] {
        let error = place.run(args).fails(4);
        assert!(
            error.contains("bank is being written by another process"),
            "{error}"
        );
        assert!(error.contains("--wait"), "{error}");
    }
    let waiting = place.spawn(&["ingest", "bank", "--wait", "day0.jsonl"]);
    // Its open files show when it has reached the lock.
    let files = format!("/proc/{}/fd", waiting.id());
    let opened = || {
        let links = fs::read_dir(&files).into_iter().flatten().flatten();
        links
            .filter_map(|link| fs::read_link(link.path()).ok())
            .any(|file| file.ends_with("bank/writer.lock"))
    };
    while cfg!(target_os = "linux") && !opened() {
        std::thread::yield_now();
    }
    lock.unlock().unwrap();
    wait(waiting).done();
}

/// Some damage that is done to a bank.
type Wound<'a> = &'a dyn Fn(&Place);

#[test]
fn damage_is_4_and_the_published_state_can_still_be_read() {
    let live = |place: &Place| place.path("bank/live");
    let tables = |place: &Place| {
        let files = names(&live(place))
            .into_iter()
            .map(|name| live(place).join(name));
        files
            .filter(|file| file.extension().is_some_and(|kind| kind == "sst"))
            .collect::<Vec<_>>()
    };
    let wounds: [(&str, Wound<'_>); 4] = [
        ("no manifest", &|place| {
            fs::write(live(place).join("CURRENT"), "MANIFEST-999999\n").unwrap();
        }),
        ("no database", &|place| {
            fs::remove_dir_all(live(place)).unwrap();
        }),
        ("a missing file", &|place| {
            fs::remove_file(&tables(place)[0]).unwrap();
        }),
        ("a file of zeros", &|place| {
            let file = &tables(place)[0];
            let length = fs::metadata(file).unwrap().len();
            // The published state has the same file under another name.
            fs::remove_file(file).unwrap();
            fs::write(file, vec![0; usize::try_from(length).unwrap()]).unwrap();
        }),
    ];
    for (name, wound) in wounds {
        let place = Place::with_seeds();
        place.merge();
        wound(&place);
        let check = place.run(&["check", "bank"]);
        assert_eq!(check.status, Some(4), "{name}: {check:?}");
        assert!(check.err.contains("hint: "), "{name}: {check:?}");
        let seeds = place.run(&["seeds", "bank"]).done();
        assert_eq!(seeds.lines().count(), 2, "{name}");
    }
    let place = Place::with_seeds();
    fs::remove_file(place.path("bank/published/CURRENT")).unwrap();
    let error = place.run(&["seeds", "bank"]).fails(4);
    assert!(error.contains("published: CURRENT"), "{error}");
    assert!(error.contains("seedbank repair"), "{error}");
    place
        .run(&["ingest", "bank", "--again", "day0.jsonl"])
        .done();
    place.run(&["seeds", "bank"]).done();
}

#[test]
fn full_or_closed_outputs_are_1() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let place = Place::with_seeds();
    let mut command = place.command(&["seeds", "bank"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let ended = wait(
        command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let error = ended.fails(1);
    assert!(
        error.starts_with("error: cannot write to standard output: No space left"),
        "{error}"
    );
    // A rejects file that cannot be written keeps the batch out.
    let before = place.state();
    let args = [
        "ingest",
        "bank",
        "--max-rejects",
        "100",
        "--rejects",
        "/dev/full",
        "-",
    ];
    let error = place
        .run_with(
            &args,
            b"bad\n{\"url\": \"http://new.example/\", \"clicks\": 1}",
        )
        .fails(1);
    assert!(
        error.contains("cannot write /dev/full: No space left"),
        "{error}"
    );
    assert_eq!(place.state(), before);
    place.run(&["man", "--out", "day0.jsonl/man"]).fails(1);
}
