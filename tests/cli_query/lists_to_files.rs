//! Truncated lists and lists in files: `--limit`, `--core`, `--last`, `--out`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::command::{Place, names};
use serde_json::json;

#[test]
fn lists_are_cut() {
    let place = Place::with_seeds();
    let all = place.run(&["seeds", "bank"]).done();
    let best = place.run(&["seeds", "bank", "--limit", "1"]).done();
    assert_eq!(Some(&*best), all.split_inclusive('\n').next());
    let more = place.run(&["seeds", "bank", "--limit", "99"]).done();
    assert_eq!(more, all);
    // What stands in the list is the same, cut or not.
    for format in ["jsonl", "csv", "nutch"] {
        let whole = place.run(&["seeds", "bank", "--format", format]).done();
        let cut = place
            .run(&["seeds", "bank", "--format", format, "--limit", "1"])
            .done();
        assert!(whole.starts_with(&cut) && whole.len() > cut.len(), "{cut}");
    }
    let text = place.run(&["seeds", "bank", "--format", "heritrix", "--limit", "1"]);
    assert!(text.done().starts_with("# 1 seed of"));
    place.run(&["seeds", "bank", "--limit", "0"]).fails(2);
    // Of those that are alive, where that is asked.
    let dead = b"{\"url\": \"http://h1.example/\", \"gone\": true}\n";
    place.run_with(&["ingest", "bank", "-"], dead).done();
    let alive = place.run(&["seeds", "bank", "--alive", "--limit", "1"]);
    assert_eq!(alive.done(), "http://k1.example/x,y\n");

    let cores = place
        .run(&["cores", "bank", "--format", "jsonl"])
        .json_lines();
    let second = ["cores", "bank", "--core", "2", "--format", "jsonl"];
    assert_eq!(place.run(&second).json(), cores[1]);
    let told = place.run(&["cores", "bank", "--core", "3"]).fails(2);
    assert_eq!(
        told,
        "error: refresh 1 has no core 3: its cores are 1 to 2\n"
    );
    let cover = ["refresh", "bank", "--plan", "sites", "--method", "random"];
    place.run(&cover).done();
    let told = place.run(&["cores", "bank", "--plan", "sites", "--core", "1"]);
    assert!(told.fails(2).contains("no core 1: it has no cores"));
}

#[test]
fn history_is_one_order_of_time() {
    let place = Place::with_seeds();
    let batch = b"{\"url\": \"http://h9.example/\", \"clicks\": 1}\n";
    place.run_with(&["ingest", "bank", "-"], batch).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let text = place.run(&["history", "bank"]).done();
    let begins = |text: &str| -> Vec<String> {
        let words = text.lines().map(|line| line.split(' ').take(2));
        words
            .map(|words| words.collect::<Vec<_>>().join(" "))
            .collect()
    };
    let order = begins(&text);
    assert_eq!(order.len(), 4);
    assert_eq!((&*order[0], &*order[3]), ("batch 1", "refresh 2"));
    for last in 0..6 {
        let flag = last.to_string();
        let cut = place.run(&["history", "bank", "--last", &flag]).done();
        assert_eq!(begins(&cut), order[order.len().saturating_sub(last)..]);
    }
    let json = ["history", "bank", "--last", "1", "--format", "json"];
    let json = place.run(&json).json();
    assert_eq!(json["batches"], json!([]));
    assert_eq!(json["refreshes"][0]["refresh"], 2);
    let url = "http://h1.example/";
    place.run(&["history", "bank", url, "--last", "1"]).fails(2);
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let place = Place::with_seeds();
    let list = place.run(&["seeds", "bank"]).done();
    let to = |out: &str| place.run(&["seeds", "bank", "--out", out]);
    assert_eq!(to("new.txt").done(), "");
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(read("new.txt"), list);
    let mode = |name: &str| {
        let about = fs::metadata(place.path(name)).unwrap();
        about.permissions().mode() & 0o777
    };
    // As readable as any file that the user makes, and as before where it was there.
    let plain = place.write("plain", "");
    assert_eq!(
        mode("new.txt"),
        fs::metadata(plain).unwrap().permissions().mode() & 0o777
    );
    place.write("there.txt", "old\n");
    fs::set_permissions(place.path("there.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    to("there.txt").done();
    assert_eq!(
        (read("there.txt"), mode("there.txt")),
        (list.clone(), 0o640)
    );
    // Behind a link the file is replaced, and the link stays.
    place.write("real.txt", "old\n");
    symlink("real.txt", place.path("link.txt")).unwrap();
    to("link.txt").done();
    assert_eq!(read("real.txt"), list);
    assert!(
        fs::symlink_metadata(place.path("link.txt"))
            .unwrap()
            .is_symlink()
    );
    // A device stays a device, and `-` is standard output.
    assert_eq!(to("/dev/null").done(), "");
    assert_eq!(to("-").done(), list);
    let cores = ["cores", "bank", "--format", "jsonl"];
    let whole = place.run(&cores).done();
    let out = [&cores[..], &["--out", "cores.jsonl"]].concat();
    assert_eq!(place.run(&out).done(), "");
    assert_eq!(read("cores.jsonl"), whole);

    // What cannot be is told at once, and leaves the old file and nothing else.
    place.write("kept.txt", "old\n");
    let before = names(&place.path(""));
    fs::create_dir(place.path("folder")).unwrap();
    for (out, words) in [
        ("folder", "is a folder"),
        (
            "none/seeds.txt",
            "the folder none does not exist; create it first",
        ),
        ("bank/seeds.txt", "is in the bank's own folder"),
        ("/", "is a folder"),
    ] {
        let told = to(out).fails(2);
        assert!(told.contains(words), "{out}: {told}");
    }
    for args in [
        ["seeds", "bank", "--refresh", "9", "--out", "kept.txt"],
        ["cores", "bank", "--core", "9", "--out", "kept.txt"],
    ] {
        place.run(&args).fails(2);
    }
    assert_eq!(read("kept.txt"), "old\n");
    fs::remove_dir(place.path("folder")).unwrap();
    assert_eq!(names(&place.path("")), before);
}
