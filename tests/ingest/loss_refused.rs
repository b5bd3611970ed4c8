//! The command line when a batch would lose too much: what the error says, and which settings accept it.

use crate::loss::{line, links};
use crate::support::command::Place;

#[test]
fn a_delta_given_as_a_snapshot_is_refused() {
    let place = Place::with_bank();
    let all: String = (0..150).map(|page| line(page, &links(page, 4))).collect();
    let three: String = (0..3).map(|page| line(page, &links(page, 5))).collect();
    place.write("all.jsonl", all);
    place.write("three.jsonl", three);
    let snapshot = ["ingest", "bank", "--snapshot"];
    place.run(&[&snapshot[..], &["all.jsonl"]].concat()).done();
    place.run(&["refresh", "bank", "--method", "random"]).done();
    let state = place.state();
    for more in [&[][..], &["--dry-run"], &["--max-loss", "97.9", "--wait"]] {
        let args = [&snapshot[..], &["three.jsonl"], more].concat();
        let error = place.run(&args).fails(3);
        for words in [
            "from 150 to 3,",
            "from 600 to 15;",
            "lost by site: s3.example (21 pages, 84 links), s4.example (21 pages, ",
            "and 2 more sites",
            "the bank is unchanged",
            "omit --snapshot",
            "--max-loss 98\n",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert_eq!(place.state(), state);
    }
    for (setting, status) in [("10", 3), ("98", 0), ("101", 2)] {
        let mut command = place.command(&[&snapshot[..], &["three.jsonl", "--dry-run"]].concat());
        let ended = place.run_command(command.env("SEEDBANK_MAX_LOSS", setting));
        assert_eq!(ended.status, Some(status), "{ended:?}");
    }
    assert_eq!(place.state(), state);
    place.run(&["ingest", "bank", "three.jsonl"]).done();
    let meant = [&snapshot[..], &["three.jsonl", "--max-loss", "100"]].concat();
    let done = place.run(&meant).done();
    assert!(done.contains("147 became gone"), "{done}");
}

#[test]
fn an_export_without_its_links_is_refused() {
    let place = Place::with_bank();
    let day = |count: usize| -> String { (0..300).map(|p| line(p, &links(p, count))).collect() };
    place.write("day.jsonl", day(4));
    place.write("broken.jsonl", day(0));
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let state = place.state();
    for more in [None, Some("--snapshot")] {
        let args = ["ingest", "bank", "broken.jsonl"];
        let args: Vec<&str> = args.into_iter().chain(more).collect();
        let error = place.run(&args).fails(3);
        for words in ["from 300 to 300,", "from 1200 to 0;", "--max-loss 100\n"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert!(!error.contains("omit --snapshot"), "{error}");
        assert_eq!(place.state(), state);
    }
    let meant = ["ingest", "bank", "broken.jsonl", "--max-loss", "100"];
    let done = place.run(&meant).done();
    assert!(done.contains("1200 removed"), "{done}");
}
