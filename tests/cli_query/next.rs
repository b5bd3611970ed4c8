//! Values that are learned from past crawls, as a user meets them: `ingest` says what a day brought, `evaluate methods
//! --next` whether it pays, and `refresh --learned` selects by it.

use std::fmt::Write;

use crate::support::command::{Place, record};
use crate::support::schemas::fits;

const FEED: &str = "http://feed.example/";

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A feed with two new pages a day, and a page whose links never change.
fn days(count: u32) -> Place {
    let place = Place::with_bank();
    let list = ["http://a.example/1", "http://a.example/2"];
    for day in 1..=count {
        let news = [1, 2].map(|at| format!("http://feed.example/{day}/{at}"));
        let news = news.each_ref().map(String::as_str);
        let text = record(FEED, &news) + &record("http://a.example/", &list);
        place.write("day.jsonl", text);
        let as_of = format!("2026-01-{day:02}");
        let ingest = [
            "ingest",
            "bank",
            "day.jsonl",
            "--name",
            &as_of,
            "--as-of",
            &as_of,
        ];
        let told = place.run(&ingest).done();
        let again = "fetched again: 2 pages, 1.0 days after the last time on average: 2 links new to the bank";
        assert_eq!(told.contains(again), day > 1, "{told}");
    }
    place
}

#[test]
fn the_next_crawls_say_whether_to_learn() {
    let place = days(15);
    let next = words("evaluate bank methods --next --seeds 1 --budget 1");
    let text = place.run(&next).done();
    let row = text
        .lines()
        .find(|line| line.starts_with("learned"))
        .unwrap();
    let found: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(found > 5.0, "{text}");
    let json = place
        .run(&[&next[..], &["--format", "json"]].concat())
        .json();
    fits("evaluate-methods", &json);
    assert_eq!(json["batches"].as_array().unwrap().len(), 11);
    assert_eq!(json["replayed"]["verdict"], "better");
    let csv = place
        .run(&[&next[..], &["--format", "csv"]].concat())
        .done();
    assert_eq!(csv.lines().count(), 9, "{csv}");

    let refresh = words("refresh bank --plan news --learned --seeds 1");
    let told = place.run(&refresh).done();
    assert!(!told.contains("held out"), "{told}");
    assert_eq!(
        place.run(&words("seeds bank --plan news")).done().trim(),
        FEED
    );
    let why = place
        .run(&["explain", "bank", FEED, "--plan", "news"])
        .done();
    let expected = "a page is worth the new links that its next fetch is expected to bring";
    assert!(why.contains(expected), "{why}");
    let page = place.run(&["page", "bank", FEED]).done();
    assert!(page.contains("fetches after the first brought"), "{page}");
    fits(
        "page",
        &place
            .run(&["page", "bank", FEED, "--format", "json"])
            .json(),
    );
    // All pages were fetched on the last day, so none can be a seed.
    let ended = place.run(&words("refresh bank --plan news --rest 1"));
    assert_eq!(ended.status, Some(5));
    assert!(ended.err.contains("nothing could be selected"), "{ended:?}");
    let why = place
        .run(&["explain", "bank", FEED, "--plan", "news"])
        .done();
    assert!(why.contains("(--rest)"), "{why}");
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_on() {
    let place = days(3);
    let mut all = String::new();
    for (line, expected) in [
        (
            "evaluate bank methods --next",
            "requires at least 5 batches whose overwritten data is stored, found 2 batches",
        ),
        (
            "evaluate bank methods --next --seeds 1,2",
            "--next compares one number of seeds and one of fetches",
        ),
        (
            "evaluate bank methods --next --value-base 2",
            "--next counts new pages",
        ),
        (
            "evaluate bank methods --next --plan news",
            "cannot be used with",
        ),
        ("evaluate bank methods --rest 2", "--next"),
        (
            "refresh bank --goal coverage --learned",
            "conflicts with `--goal`",
        ),
        (
            "refresh bank --learned --value-known 1",
            "conflicts with `--value-known`",
        ),
        (
            "refresh bank --learned --judge",
            "judged by what the next batches bring",
        ),
    ] {
        let error = place.run(&words(line)).fails(2);
        writeln!(all, "{line}\n{error}").unwrap();
        assert!(error.contains(expected), "{all}");
    }
}
