//! `explain` of several pages, from arguments and from standard input, with one line each.

use crate::support::command::Place;
use crate::support::schemas::fits;

#[test]
fn every_page_gets_a_line_in_order() {
    let place = Place::with_seeds();
    let list = "# a comment\nhttp://h2.example/\n\nhttp://none.example/\nH1.example/\n\
                mailto:x\nhttp://a1.example/ and more\n";
    let args = ["explain", "bank", "-", "--format", "jsonl"];
    let ended = place.run_with(&args, list.as_bytes());
    // Not all of them could be answered.
    assert_eq!((ended.status, &*ended.err), (Some(5), ""));
    let lines: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5, "{}", ended.out);
    for line in &lines {
        fits("explain", line);
    }
    let alone = ["explain", "bank", "http://h2.example/", "--format", "json"];
    assert_eq!(lines[0], place.run(&alone).json());
    assert_eq!(lines[1]["url"], "http://none.example/");
    assert_eq!(
        lines[1]["error"],
        "the bank does not contain http://none.example/"
    );
    assert_eq!(
        lines[1]["hint"],
        "the bank contains no page of that site either"
    );
    // Named without its scheme.
    assert_eq!(lines[2]["url"], "http://h1.example/");
    assert_eq!(lines[3]["url"], "mailto:x");
    assert_eq!(lines[4]["kind"], "core-member");

    let known = place.run(&[
        "explain",
        "bank",
        "http://h2.example/",
        "http://h1.example/",
    ]);
    let text = known.done();
    let texts: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(texts.len(), 2, "{text}");
    assert!(texts[1].starts_with("http://h1.example/\n  "), "{text}");
    let mixed = place.run(&[
        "explain",
        "bank",
        "http://h2.example/",
        "http://none.example/",
    ]);
    assert_eq!(mixed.status, Some(5));
    assert!(
        mixed.out.ends_with(
            "\n\nhttp://none.example/\n  no answer: the bank does not contain http://none.example/\n  the bank contains no page of that site either\n"
        ),
        "{}",
        mixed.out
    );
    // One page alone is an error where it is not known, and so is a refresh that is not there.
    place
        .run(&["explain", "bank", "http://none.example/"])
        .fails(5);
    place
        .run(&["explain", "bank", "-", "--refresh", "9"])
        .fails(2);
    assert_eq!(place.run_with(&["explain", "bank", "-"], b"").done(), "");
}
