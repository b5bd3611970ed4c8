//! Export as a user types it: the printed commands recreate the bank, files are complete or do not
//! exist, and the output says what is omitted.

use std::fs;
use std::io::Read;
use std::process::Command;

use crate::support::command::{Place, names, wait};
use crate::support::schemas::fits;
use serde_json::json;

/// Some of everything: crawled and known pages, gone ones, aliases, attributes of pages and of sites, a
/// site of which only those are known.
const PAGES: &str = r#"{"url": "http://www.a.example/%7e", "outlinks": ["http://b.example/", "http://a.example/old", "http://c.example/x"], "spam": false, "clicks": 3, "digest": "d"}
{"url": "http://a.example/old", "redirect": "http://a.example/new", "clicks": 2}
{"url": "http://a.example/new", "outlinks": ["http://a.example/old"], "quality": 0.1234, "uncrawled_outlinks": 7}
{"url": "http://b.example/", "outlinks": [], "digest": "d", "fetched": "2026-11-19T04:00:00Z"}
{"url": "http://b.example/gone", "clicks": 9, "spam": true}
{"url": "http://b.example/known", "quality": 1}
{"url": "http://b.example/nobody", "outlinks": ["http://c.example/y"]}
"#;

const GONE: &str = r#"{"url": "http://b.example/gone", "gone": true}
{"url": "http://b.example/nobody", "gone": true}
"#;

const SITES: &str = "b.example\t0.5\t1\t\nnew.example\t\t\t500\n";

/// A bank of two batches, made with these flags.
fn place(flags: &[&str]) -> Place {
    let place = Place::new();
    place.run(&[&["init", "bank"], flags].concat()).done();
    place.write("pages.jsonl", PAGES);
    place.write("gone.jsonl", GONE);
    place.write("sites.tsv", SITES);
    let as_of = ["--as-of", "2026-11-19T04:00:00Z"];
    let sites = ["ingest", "bank", "pages.jsonl", "--sites", "sites.tsv"];
    place.run(&[&sites[..], &as_of].concat()).done();
    let gone = ["ingest", "bank", "gone.jsonl"];
    place.run(&[&gone[..], &as_of].concat()).done();
    place
}

/// The commands that an export says make a bank of it, with this name for the bank.
fn commands(err: &str, bank: &str) -> Vec<String> {
    let commands = err.lines().filter_map(|l| l.strip_prefix("  seedbank "));
    commands.map(|line| line.replace("NEWBANK", bank)).collect()
}

#[test]
fn the_commands_that_it_names_make_the_bank_anew() {
    for flags in [
        &[][..],
        &["--site", "host", "--url-rules", "whatwg"],
        &["--site", "domain"],
    ] {
        let place = place(flags);
        let names = ["it's.jsonl.zst", "sites.jsonl.gz"];
        let [out, sites] = names;
        let exported = place.run(&["export", "bank", "--out", out, "--sites-out", sites]);
        assert_eq!((exported.status, &*exported.out), (Some(0), ""));
        let commands = commands(&exported.err, "new bank");
        assert_eq!(commands.len(), 2, "{}", exported.err);
        for command in commands {
            let script = format!("exec '{}' {command}", env!("CARGO_BIN_EXE_seedbank"));
            let script = script.replace("new bank", "'new bank'");
            place
                .run_command(crate::support::command::clean("bash").args(["-c", &script]))
                .done();
        }
        assert_eq!(place.holds("new bank"), place.holds("bank"), "{flags:?}");
        let records = place.run(&["export", "bank", "-q"]).done();
        assert_eq!(place.run(&["export", "new bank", "-q"]).done(), records);
        let plain = zstd::decode_all(fs::File::open(place.path(out)).unwrap()).unwrap();
        assert_eq!(String::from_utf8(plain).unwrap(), records);
        let list = [
            "export",
            "new bank",
            "--out",
            "/dev/null",
            "--sites-out",
            "-",
        ];
        let list = place.run(&list).done();
        let mut plain = String::new();
        flate2::read::GzDecoder::new(fs::File::open(place.path(sites)).unwrap())
            .read_to_string(&mut plain)
            .unwrap();
        assert_eq!(list, plain);
        for line in records.lines() {
            fits("record", &serde_json::from_str(line).unwrap());
        }
        for line in list.lines() {
            fits("site", &serde_json::from_str(line).unwrap());
        }
    }
}

#[test]
fn it_is_in_url_order_and_says_what_it_is() {
    let place = place(&[]);
    let exported = place.run(&["export", "bank"]);
    let records = [
        r#"{"url":"http://a.example/new","outlinks":["http://a.example/old"],"uncrawled_outlinks":7,"quality":0.1234,TIME}"#,
        r#"{"url":"http://a.example/old","clicks":2,TIME,"redirect":"http://a.example/new"}"#,
        r#"{"url":"http://www.a.example/~","outlinks":["http://a.example/old","http://b.example/","http://c.example/x"],"spam":false,"clicks":3,"digest":"blake3-128:00",TIME}"#,
        r#"{"url":"http://b.example/","outlinks":[],"digest":"blake3-128:00",TIME}"#,
        r#"{"url":"http://b.example/gone",TIME,"gone":true}"#,
        r#"{"url":"http://b.example/known","quality":1.0}"#,
        r#"{"url":"http://b.example/nobody",TIME,"gone":true}"#,
    ];
    let hash = blake3::hash(b"d").to_hex();
    let records = records
        .join("\n")
        .replace(":00\"", &format!(":{}\"", &hash[..32]))
        .replace("TIME", r#""fetched":"2026-11-19T04:00:00Z""#)
        + "\n";
    assert_eq!(exported.out, records);
    let told = "state after batch 2: 7 records (3 crawled, 1 known, 2 gone, 1 alias) with 4 links; 1 page is known only from links
2 digests written as hashes, since the bank does not store digests themselves
to make a bank from this:
  seedbank init NEWBANK --site bare-host --url-rules rfc3986
  seedbank ingest NEWBANK FILE --snapshot
not exported: names and times of batches, history, plans, refreshes, original digests
also not exported: attributes (clicks, marks, digests, fetch times) of 1 page that is gone, or known again after being gone
warning: attributes of 2 sites (`ingest --sites`) are not exported, since they belong to no page record; --sites-out FILE writes them
";
    assert_eq!(exported.err, told);
    // A digest that a crawler gives is the one that it was.
    place.run(&["init", "new"]).done();
    place
        .run_with(&["ingest", "new", "-", "--snapshot"], records.as_bytes())
        .done();
    let again = b"{\"url\": \"http://b.example/z\", \"digest\": \"d\"}\n";
    place.run_with(&["ingest", "new", "-"], again).done();
    let site = ["export", "new", "-q"];
    let same = place.run(&site).done();
    assert_eq!(same.matches(&hash[..32]).count(), 3, "{same}");
}

#[test]
fn an_empty_bank_and_one_of_sites_alone() {
    let place = Place::with_bank();
    let exported = place.run(&["export", "bank"]);
    let told = &exported.err;
    assert_eq!((exported.status, &*exported.out), (Some(0), ""));
    assert_eq!(commands(told, "new").len(), 1, "{told}");
    place.write("sites.tsv", SITES);
    place
        .run(&["ingest", "bank", "--sites", "sites.tsv"])
        .done();
    let exported = place.run(&["export", "bank", "--sites-out", "s.jsonl"]);
    assert_eq!(exported.out, "");
    assert_eq!(
        fs::read_to_string(place.path("s.jsonl")).unwrap(),
        "{\"site\":\"b.example\",\"quality\":0.5,\"spam\":true}\n{\"site\":\"new.example\",\"quota\":500}\n"
    );
    let told = commands(&exported.err, "new");
    assert_eq!(told[1], "ingest new --sites s.jsonl");
    for command in told {
        let words: Vec<&str> = command.split(' ').collect();
        place.run(&words).done();
    }
    assert_eq!(place.holds("new"), place.holds("bank"));
}

#[test]
fn files_are_there_whole_or_not_at_all() {
    let place = place(&[]);
    place.write("kept.jsonl", "old\n");
    let before = names(&place.path(""));
    for (args, status, words) in [
        (&["--out", "bank/x"][..], 2, "is in the bank's own folder"),
        (
            &["--sites-out", "none/x"],
            2,
            "the folder none does not exist",
        ),
        (
            &["--sites-out", "-"],
            2,
            "cannot both go to standard output",
        ),
        (
            &["--out", "-", "--sites-out", "-"],
            2,
            "cannot both go to standard output",
        ),
        (
            &["--out", "kept.jsonl", "--sites-out", "./kept.jsonl"],
            2,
            "cannot go to the same file",
        ),
        (
            &["--out", "a", "--sites-out", "./a"],
            2,
            "cannot go to the same file",
        ),
    ] {
        let error = place
            .run(&[&["export", "bank"], args].concat())
            .fails(status);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    place
        .run(&["export", "none", "--out", "kept.jsonl"])
        .fails(4);
    if cfg!(target_os = "linux") {
        for args in [
            &["--out", "/dev/full"][..],
            &["--out", "kept.jsonl", "--sites-out", "/dev/full"],
        ] {
            let error = place.run(&[&["export", "bank"], args].concat()).fails(1);
            assert!(
                error.starts_with("error: cannot write /dev/full: No space left"),
                "{error}"
            );
        }
        let script = format!(
            "exec '{}' export bank > /dev/full",
            env!("CARGO_BIN_EXE_seedbank")
        );
        let mut command = crate::support::command::clean("bash");
        let error = place.run_command(command.args(["-c", &script])).fails(1);
        assert!(
            error.starts_with("error: cannot write to standard output: No space"),
            "{error}"
        );
    }
    assert_eq!(fs::read(place.path("kept.jsonl")).unwrap(), b"old\n");
    assert_eq!(names(&place.path("")), before);
}

/// One page that links to so many that they are not all worked on at a time, on its own site.
#[cfg(unix)]
fn one_of_many_links() -> Place {
    let place = Place::with_bank();
    let links: Vec<String> = (0..100_000)
        .map(|n| format!("http://a.example/{n}"))
        .collect();
    let record = json!({"url": "http://a.example/", "outlinks": links}).to_string();
    place
        .run_with(&["ingest", "bank", "-"], record.as_bytes())
        .done();
    place
}

#[cfg(unix)]
#[test]
fn it_stops_when_asked_and_leaves_no_file() {
    let place = one_of_many_links();
    let before = names(&place.path(""));
    // More than a pipe holds, so it waits in the middle.
    let mut child = place.spawn(&["export", "bank", "--sites-out", "sites.jsonl"]);
    let mut first = [0];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|sent| sent.success()));
    let ended = wait(child);
    assert_eq!(ended.status, Some(130), "{}", ended.err);
    assert_eq!(ended.err, "error: interrupted; the bank is unchanged\n");
    assert_eq!(names(&place.path("")), before);
    // A reader that has seen enough.
    let mut child = place.spawn(&["export", "bank"]);
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let ended = wait(child);
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
}
