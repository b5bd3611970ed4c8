//! A refresh is computed from the last one of its plan, also if a kill has left that one stored and not published.

use std::fs;

use super::injector::{DISK, Injector, Point};
use super::scenes::{make_inputs, small_bulk_load};
use super::state::State;
use crate::support::scratch;
use crate::support::skipped::skipped;

#[test]
fn a_refresh_follows_one_that_is_not_published() {
    let folder = scratch();
    let Some(injector) = Injector::build(folder.path()) else {
        let test = "a_refresh_follows_one_that_is_not_published";
        skipped(test, "a C compiler", "install one as `cc`");
        return;
    };
    make_inputs(folder.path(), &small_bulk_load());
    let refresh = [
        "refresh",
        "disk/bank",
        "--plan",
        "web",
        "--goal",
        "coverage",
        "--seeds",
        "4",
        "--budget",
        "20",
    ];
    let point = Point {
        kind: "rename",
        number: 1,
        mode: "kill",
        error: 0,
    };
    let [expected, found] = ["undisturbed", "killed"].map(|name| {
        let place = folder.path().join(name);
        fs::create_dir_all(place.join(DISK)).unwrap();
        let run = |args: &[&str]| {
            let ended = injector.run(&place, args);
            assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.describe());
        };
        run(&["init", "disk/bank"]);
        let day = "../in/crawl/day-000.jsonl.zst";
        run(&["ingest", "disk/bank", day, "--as-of", "2026-01-01"]);
        if name == "killed" {
            let mut child =
                injector.start_struck(&place, &refresh, &point, "published/CURRENT.new");
            assert_eq!(child.wait().unwrap().code(), None);
        } else {
            run(&refresh);
        }
        run(&refresh);
        State::read(&place.join(DISK).join("bank")).unwrap()
    });
    assert!(found == expected, "{}", found.unlike(&expected));
}
