//! Output files in the presence of symbolic links: the target of a link is not changed by mistake.
//!
//! Families of cases, and the bugs that they catch:
//! * links under the names of temporary files: a file created without `O_EXCL`;
//! * links under the name of the file itself: to a file, to nothing, to a device.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::command::{Place, names, record};

/// Names that a file may have before it is complete.
fn on_the_way(name: &str) -> Vec<String> {
    let (stem, _) = name.rsplit_once('.').unwrap_or((name, ""));
    let mut found = Vec::new();
    for ending in ["new", "tmp", "part", "bak", "old", "lock", "swp"] {
        found.push(format!("{stem}.{ending}"));
        found.push(format!("{name}.{ending}"));
        found.push(format!(".{name}.{ending}"));
    }
    found.push(format!("{name}~"));
    found.push(format!(".{name}"));
    found
}

const VICTIM: &str = "not yours\n";

/// A place with a bank, a file that nobody may write, and records of which one is bad.
fn place() -> Place {
    let place = Place::with_seeds();
    place.write("victim", VICTIM);
    let page = record("http://n.example/", &["http://h1.example/"]);
    place.write("day1.jsonl", format!("{page}nonsense\n"));
    place
}

#[test]
fn files_on_their_way_follow_no_links() {
    let place = place();
    let commands: &[(&[&str], &[&str])] = &[
        (&["seeds", "bank", "--out", "out/s.txt"], &["s.txt"]),
        (
            &["seeds", "bank", "--format", "csv", "--out", "out/s.csv"],
            &["s.csv"],
        ),
        (
            &["cores", "bank", "--format", "jsonl", "--out", "out/c.jsonl"],
            &["c.jsonl"],
        ),
        (
            &["scores", "bank", "--out", "out/scores.csv"],
            &["scores.csv"],
        ),
        (
            &[
                "export",
                "bank",
                "--out",
                "out/e.jsonl",
                "--sites-out",
                "out/sites.jsonl",
            ],
            &["e.jsonl", "sites.jsonl"],
        ),
        (
            &["graph", "bank", "--out", "out", "--format", "tsv"],
            &["links.tsv", "pages.tsv"],
        ),
        (
            &["graph", "bank", "--out", "out", "--format", "bvgraph"],
            &[
                "pages.graph",
                "pages.offsets",
                "pages.properties",
                "pages.urls.gz",
            ],
        ),
        (
            &["report", "bank", "--out", "out/r.html"],
            &["r.html", "r.json"],
        ),
        (
            &[
                "refresh",
                "bank",
                "--method",
                "cores",
                "--within",
                "0",
                "--metrics",
                "out/m.prom",
            ],
            &["m.prom"],
        ),
        (&["status", "bank", "--metrics", "out/m.prom"], &["m.prom"]),
        (
            &[
                "ingest",
                "bank",
                "day1.jsonl",
                "--max-rejects",
                "50",
                "--rejects",
                "out/rejects.jsonl",
            ],
            &["rejects.jsonl"],
        ),
    ];
    for (args, files) in commands {
        let out = place.path("out");
        fs::create_dir(&out).unwrap();
        for name in files.iter().flat_map(|name| on_the_way(name)) {
            if !files.contains(&&*name) && fs::symlink_metadata(out.join(&name)).is_err() {
                symlink(place.path("victim"), out.join(name)).unwrap();
            }
        }
        let before = names(&out).len();
        place.run(args).done();
        for name in *files {
            let kind = fs::symlink_metadata(out.join(name)).unwrap();
            assert!(kind.is_file(), "{args:?}: {name}");
        }
        let victim = fs::read_to_string(place.path("victim")).unwrap();
        assert_eq!(victim, VICTIM, "{args:?}");
        assert_eq!(names(&out).len(), before + files.len(), "{args:?}");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn what_is_forgotten_goes_from_lists_and_from_no_file_behind_a_link() {
    let place = place();
    let bad = "{\"url\": \"http://h1.example/\", \"clicks\": \"many\"}\n";
    place.write("day2.jsonl", record("http://m.example/", &[]) + bad);
    let ingest = ["ingest", "bank", "day2.jsonl", "--max-rejects", "50"];
    place.run(&ingest).done();
    let rejects = place.path("bank/rejects");
    assert_eq!(names(&rejects), ["batch-000002.jsonl"]);
    symlink(place.path("victim"), rejects.join("batch-000002.new")).unwrap();
    place.run(&["forget", "bank", "http://h1.example/"]).done();
    let victim = fs::read_to_string(place.path("victim")).unwrap();
    assert_eq!(victim, VICTIM);
    assert_eq!(names(&rejects), ["batch-000002.jsonl"]);
    let list = fs::read_to_string(rejects.join("batch-000002.jsonl")).unwrap();
    assert_eq!(list, "");
}

/// The name of a list of bad records is made anew; that of another file is kept, and the file behind
/// it replaced (`tests/cli_query/lists_to_files.rs`). A link to nothing is replaced, in both.
#[test]
fn a_link_under_the_name_itself() {
    let place = place();
    let rejects = |name: &str| {
        let ingest = [
            "ingest",
            "bank",
            "day1.jsonl",
            "--again",
            "--max-rejects",
            "50",
        ];
        place.run(&[&ingest[..], &["--rejects", name]].concat())
    };
    let is_file = |name: &str| fs::symlink_metadata(place.path(name)).unwrap().is_file();
    symlink("victim", place.path("to-a-file")).unwrap();
    symlink("nowhere", place.path("to-nothing")).unwrap();
    for name in ["to-a-file", "to-nothing"] {
        rejects(name).done();
        assert!(is_file(name), "{name}");
        let lines = fs::read_to_string(place.path(name)).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
    }
    symlink("nowhere", place.path("seeds")).unwrap();
    place.run(&["seeds", "bank", "--out", "seeds"]).done();
    assert!(is_file("seeds"));
    let victim = fs::read_to_string(place.path("victim")).unwrap();
    assert_eq!(victim, VICTIM);
    assert!(!place.path("nowhere").exists());
    // A device is written to, behind a link too.
    symlink("/dev/null", place.path("to-a-device")).unwrap();
    for name in ["/dev/null", "to-a-device"] {
        rejects(name).done();
    }
    let link = fs::read_link(place.path("to-a-device")).unwrap();
    assert_eq!(link.as_os_str(), "/dev/null");
    // A folder cannot be one.
    fs::create_dir(place.path("folder")).unwrap();
    rejects("folder").fails(1);
}

#[test]
fn a_generated_crawl_goes_into_a_folder_of_its_own() {
    let place = place();
    fs::create_dir(place.path("crawl")).unwrap();
    let part = place.path("crawl/.day-000.jsonl.zst.part");
    symlink(place.path("victim"), &part).unwrap();
    let synth = ["synth", "crawl", "--pages", "100", "--days", "0"];
    assert!(place.run(&synth).fails(2).contains("is not empty"));
    let victim = fs::read_to_string(place.path("victim")).unwrap();
    assert_eq!(victim, VICTIM);
    assert!(fs::symlink_metadata(&part).unwrap().is_symlink());
}
