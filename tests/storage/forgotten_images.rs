//! No graph image has what was forgotten, at whatever moment a reader writes it, in banks in one database and in cluster
//! banks.
//!
//! Bug classes: a reader that writes the image of the state that it opened, after another one was published; an image that
//! nobody uses and nobody removes; an outdated image that is taken for one with forgotten pages.

use std::fs;
use std::path::Path;

use seedbank_store::{GraphImage, ImageLinks, Reader};

use crate::faults::injector::{Injector, Point, resume, until_stopped};
use crate::support::command::{Place, record, wait};
use crate::support::folders::copy;
use crate::support::skipped::skipped;

/// The host that is forgotten.
const HOST: &str = "forgotten-host.example";

/// The kinds of banks, as they are created.
const KINDS: [&[&str]; 2] = [
    &["init", "disk/bank"],
    &["cluster", "init", "disk/bank", "--banks", "3"],
];

const SCORES: [&str; 4] = ["scores", "disk/bank", "--out", "scores.jsonl"];

const FORGET: [&str; 4] = ["forget", "disk/bank", HOST, "--yes"];

/// A place with a bank that has pages of the host, and no image.
fn with_host(kind: &[&str]) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    place.run(kind).done();
    let hosts = ["a.example", HOST, "b.example", "c.example"];
    let url = |host: &str, page: usize| format!("http://{host}/{page}");
    let mut text = String::new();
    for (at, host) in hosts.iter().enumerate() {
        for page in 0..5 {
            let next = url(hosts[(at + 1) % hosts.len()], page);
            text += &record(&url(host, page), &[&next, &url(host, page + 1)]);
        }
    }
    place.write("crawl.jsonl", text);
    place
        .run(&["ingest", "disk/bank", "crawl.jsonl", "-q"])
        .done();
    place
}

/// Asserts that no file of the bank has the name of the host, and that an image, if there is one, is that of the state.
#[track_caller]
fn has_forgotten(place: &Place, what: &str) {
    // Removes what was overwritten from the tables.
    place.run(&["compact", "disk/bank"]).done();
    let bank = place.path("disk/bank");
    let mut folders = vec![bank.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let mut windows = bytes.windows(HOST.len());
            let found = windows.any(|window| window == HOST.as_bytes());
            assert!(!found, "{what}: {}", path.display());
        }
    }
    // The parts of an image are compressed.
    if has_image(&bank) {
        let hosts =
            hosts_of_image(&bank).unwrap_or_else(|| panic!("{what}: an image of another state"));
        assert!(
            !hosts.iter().any(|host| host.contains(HOST)),
            "{what}: {hosts:?}"
        );
    }
    place.run(&["check", "disk/bank"]).done();
}

fn has_image(bank: &Path) -> bool {
    bank.join("image/graph").exists()
}

/// The prefixes of the hosts in the image; `None` if it is not used.
fn hosts_of_image(bank: &Path) -> Option<Vec<String>> {
    let reader = Reader::open(bank).unwrap();
    let prefix = |site: &str, _: &str, out: &mut String| out.push_str(site);
    let image = GraphImage::from_file(
        &reader,
        ImageLinks::InterSite,
        &prefix,
        &seedbank::watch::Unwatched,
    );
    let (image, _) = image.unwrap()?;
    Some(
        image
            .runs()
            .iter()
            .map(|run| run.prefix().to_owned())
            .collect(),
    )
}

/// A command that has read the graph stops before it writes the image, or while it does; then the host is forgotten.
#[test]
fn a_reader_that_stops_before_it_writes_the_image_writes_no_forgotten_host() {
    let test = "a_reader_that_stops_before_it_writes_the_image_writes_no_forgotten_host";
    // Before the lock, and then with the lock, for which `forget` waits.
    let moments = [
        ("create", "bank/image", false),
        ("create", "image/lock", false),
        ("create", "image/graph.new", true),
        ("write", "image/graph.new", true),
        ("rename", "image/graph.new", true),
    ];
    for kind in KINDS {
        for (call, path, is_locked) in moments {
            let place = with_host(kind);
            let Some(injector) = Injector::build(&place.path("")) else {
                skipped(test, "a C compiler", "install one as `cc`");
                return;
            };
            let point = Point {
                kind: call,
                number: 1,
                mode: "stop",
                error: 0,
            };
            let reader = injector.start_struck(&place.path(""), &SCORES, &point, path);
            until_stopped(&reader);
            let forget = place.spawn(&FORGET);
            if is_locked {
                resume(&reader);
                wait(forget).done();
            } else {
                wait(forget).done();
                resume(&reader);
            }
            wait(reader).done();
            has_forgotten(&place, &format!("{kind:?} {call} {path}"));
            // The next command writes the image again.
            place.run(&SCORES).done();
            assert!(has_image(&place.path("disk/bank")));
            has_forgotten(&place, "written again");
        }
    }
}

/// `forget` is killed before the new state is published, and a reader then writes the image of the published one.
#[test]
fn a_forgotten_host_that_is_published_later_is_in_no_image() {
    for kind in KINDS {
        let place = with_host(kind);
        let test = "a_forgotten_host_that_is_published_later_is_in_no_image";
        let Some(injector) = Injector::build(&place.path("")) else {
            skipped(test, "a C compiler", "install one as `cc`");
            return;
        };
        let point = Point {
            kind: "rename",
            number: 1,
            mode: "kill",
            error: 0,
        };
        let path = "bank/published/CURRENT.new";
        let killed = injector.start_struck(&place.path(""), &FORGET, &point, path);
        assert_eq!(wait(killed).status, None);
        place.run(&SCORES).done();
        assert!(has_image(&place.path("disk/bank")));
        place
            .run(&["ingest", "disk/bank", "/dev/null", "-q"])
            .done();
        has_forgotten(&place, &format!("{kind:?}"));
    }
}

#[test]
fn an_image_with_forgotten_pages_is_reported_and_removed() {
    for kind in KINDS {
        let place = with_host(kind);
        let image = place.path("disk/bank/image/graph");
        place.run(&SCORES).done();
        let old = fs::read(&image).unwrap();
        place.run(&FORGET).done();
        assert!(!image.exists());
        let put_back = || fs::write(&image, &old).unwrap();
        put_back();
        let checked = place.run(&["check", "disk/bank"]);
        assert_eq!(checked.status, Some(4), "{checked:?}");
        let says = "graph image: it is of batch 1, and batch 2 has forgotten pages since\n";
        assert!(checked.out.contains(says), "{checked:?}");
        assert!(checked.err.contains("seedbank repair"), "{checked:?}");
        let repaired = place.run(&["repair", "disk/bank"]).done();
        assert!(
            repaired.contains("the graph image was removed"),
            "{repaired}"
        );
        assert!(!image.exists());
        put_back();
        place.run(&["compact", "disk/bank"]).done();
        assert!(!image.exists());
        // One that is damaged is not used and not reported, but removed too.
        fs::write(&image, &old[..old.len() / 2]).unwrap();
        place.run(&["check", "disk/bank"]).done();
        place.run(&["compact", "disk/bank"]).done();
        assert!(!image.exists());
    }
}

#[test]
fn an_outdated_image_is_usual_and_one_of_another_state_is_not() {
    for kind in KINDS {
        let place = with_host(kind);
        let image = place.path("disk/bank/image/graph");
        place.run(&SCORES).done();
        let first = fs::read(&image).unwrap();
        copy(&place.path("disk/bank"), &place.path("copied"));
        for (bank, url) in [
            ("disk/bank", "http://new.example/"),
            ("copied", "http://other.example/"),
        ] {
            place.write("one.jsonl", record(url, &["http://a.example/0"]));
            place.run(&["ingest", bank, "one.jsonl", "-q"]).done();
        }
        // What changed since is read from the tables.
        assert!(fs::read(&image).unwrap() == first);
        place.run(&["check", "disk/bank"]).done();
        place.run(&["compact", "disk/bank"]).done();
        place.run(&["check", "disk/bank"]).done();
        assert!(fs::read(&image).unwrap() == first);
        fs::remove_file(place.path("copied/image/graph")).unwrap();
        place
            .run(&["scores", "copied", "--out", "scores.jsonl"])
            .done();
        fs::copy(place.path("copied/image/graph"), &image).unwrap();
        let checked = place.run(&["check", "disk/bank"]);
        assert_eq!(checked.status, Some(4), "{checked:?}");
        let says = "graph image: it is of batch 2 of another copy of the bank\n";
        assert!(checked.out.contains(says), "{checked:?}");
        place.run(&["compact", "disk/bank"]).done();
        assert!(!image.exists());
        // Something else in place of the folder does not keep pages from being forgotten.
        fs::remove_dir_all(place.path("disk/bank/image")).unwrap();
        place.write("disk/bank/image", "");
        place.run(&FORGET).done();
        fs::remove_file(place.path("disk/bank/image")).unwrap();
        for name in ["graph", "graph.new", "lock"] {
            fs::create_dir_all(place.path("disk/bank/image").join(name)).unwrap();
        }
        place
            .run(&["forget", "disk/bank", "b.example", "--yes"])
            .done();
        place.run(&SCORES).done();
        assert!(image.is_file());
    }
}
