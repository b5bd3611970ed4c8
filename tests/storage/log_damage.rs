//! Damage to the log, which small batches stay in: nothing of it is taken for a shorter history.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bank_damage::{place, published, verdicts};
use crate::support::command::{names, record};

/// The last log of a folder that has bytes.
fn log(folder: &Path) -> PathBuf {
    let logs = names(folder).into_iter().map(|name| folder.join(name));
    let logs = logs.filter(|path| path.extension().is_some_and(|end| end == "log"));
    let mut logs = logs.filter(|path| fs::metadata(path).unwrap().len() > 0);
    logs.next_back().unwrap()
}

#[test]
fn a_pipe_in_the_place_of_a_log_is_no_wait() {
    for live in [false, true] {
        let place = place();
        place.merge();
        place.run(&["ingest", "bank", "day3.jsonl"]).done();
        let file = if live {
            log(&place.path("bank/live"))
        } else {
            log(&published(&place))
        };
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        assert_eq!(place.run(&["check", "bank"]).status, Some(4), "{live}");
        for args in [&["seeds", "bank"][..], &["ingest", "bank", "day3.jsonl"]] {
            let ended = place.run(args);
            assert!(ended.status.is_some(), "{live} {args:?}");
        }
        assert!(place.run(&["repair", "bank"]).status.is_some(), "{live}");
    }
}

/// A batch that was published, one that was stored and not published, and a log that lost the first of
/// them: the next batch must not publish what is left.
#[test]
fn a_log_that_lost_its_middle_is_noticed_behind_an_unpublished_batch() {
    let place = place();
    place.merge();
    let small = |n: u32| {
        let url = format!("http://later{n}.example/");
        place.write("small.jsonl", record(&url, &["http://t.example/"]));
        place.run(&["ingest", "bank", "small.jsonl"])
    };
    small(1).done();
    let first = log(&place.path("bank/live"));
    let last = published(&place);
    let next = last
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .parse::<u64>()
        .unwrap()
        + 1;
    // Whatever lies where the next state is to be published.
    let in_the_way = last.with_file_name(next.to_string());
    fs::write(&in_the_way, "").unwrap();
    let error = small(2).fails(1);
    assert!(error.contains("stored"), "{error}");
    fs::remove_file(&in_the_way).unwrap();
    fs::File::options()
        .write(true)
        .open(first)
        .unwrap()
        .set_len(0)
        .unwrap();
    let ended = small(3);
    assert_eq!(ended.status, Some(4), "{ended:?}");
    // Readers have the first of them.
    place
        .run(&["page", "bank", "http://later1.example/"])
        .done();
    assert_eq!(place.run(&["check", "bank"]).status, Some(4));
    let repaired = place.run(&["repair", "bank"]);
    assert_eq!(repaired.status, Some(4), "{repaired:?}");
    assert!(
        repaired.out.contains("lost") || repaired.err.contains("lost"),
        "{repaired:?}"
    );
    place
        .run(&["page", "bank", "http://later1.example/"])
        .done();
    verdicts(&place, 0);
}

/// A repair that acknowledged the live state and failed to publish it, and then a log that lost its
/// content: the next writer must not publish what is left. The published state is no witness here.
#[test]
fn a_log_that_lost_its_middle_is_noticed_behind_an_interrupted_repair() {
    let place = place();
    place.merge();
    let mut middle = PathBuf::new();
    for n in 1..=3 {
        let url = format!("http://later{n}.example/");
        place.write("small.jsonl", record(&url, &["http://t.example/"]));
        place.run(&["ingest", "bank", "small.jsonl"]).done();
        if n == 2 {
            middle = log(&place.path("bank/live"));
        }
    }
    let state = published(&place);
    fs::write(state.with_file_name("CURRENT"), "").unwrap();
    fs::remove_dir_all(&state).unwrap();
    // A file where the state is to be published makes `repair` fail after it acknowledged.
    fs::write(&state, "").unwrap();
    place.run(&["repair", "bank"]).fails(1);
    fs::remove_file(&state).unwrap();
    fs::write(&middle, "").unwrap();
    assert_eq!(place.run(&["check", "bank"]).status, Some(4));
    place.run(&["ingest", "bank", "day3.jsonl"]).fails(4);
    let repaired = place.run(&["repair", "bank"]);
    assert_eq!(repaired.status, Some(4), "{repaired:?}");
}
