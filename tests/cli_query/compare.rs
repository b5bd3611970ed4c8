//! `compare` and `cores --links` as a user types them: figures computed by hand, dead pages, lists
//! that are empty, too long or missing, and invalid arguments.

use crate::support::command::{Place, TWO_CORES, record};
use crate::support::schemas::fits;
use serde_json::{Value, json};

/// A bank of two cores, a day after its refresh: a hub is gone, another is spam, one moved.
fn place() -> Place {
    let place = Place::with_seeds();
    let mut day = "{\"url\": \"http://h1.example/\", \"gone\": true}\n".to_owned();
    day.push_str("{\"url\": \"http://h2.example/\", \"spam\": true, \"clicks\": 7}\n");
    day.push_str("{\"url\": \"http://k2.example/\", \"redirect\": \"http://k1.example/x,y\"}\n");
    place.write("day1.jsonl", day);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    place
}

const TODAY: &str = "# what the crawler uses today\n\
    http://h1.example/\n\
    HTTP://H2.example#top  nutch.score=1\n\
    http://a1.example/\n\
    http://k1.example/x,y\n\
    http://k2.example/\n\
    \n\
    http://nobody.example/\n\
    http://h2.example/\n\
    mailto:somebody\n\
    http://h3.example/\n";

#[track_caller]
fn compared(place: &Place, args: &[&str]) -> Value {
    let args = [&["compare", "bank"], args, &["--format", "json"]].concat();
    let found = place.run(&args).json();
    fits("compare", &found);
    found
}

#[test]
fn a_list_is_told_to_people() {
    let place = place();
    place.write("today.txt", TODAY);
    let args = ["compare", "bank", "today.txt", "--fetches", "2,100"];
    let text = place.run(&args).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "today.txt against refresh 1 of plan default (cores), state after batch 1: 2 seeds",
            "9 lines: 7 pages, 1 repeated, 1 invalid",
            "today, after batch 2: 3 alive, 1 spam, 1 gone, 1 alias, 1 not in the bank",
            "of the pages in the bank: 2 on the plan's list, 4 covered by it",
            "",
            "a crawl from   starts  fetches  pages  crawled  sites  clicks  depth",
            "the list            4        2      2        1      2       7      0",
            "as many seeds       1        2      2        1      2       0      1",
            "the list            4      100      8        3      8       7      1",
            "as many seeds       1      100      3        1      3       0      1",
            "",
            "2 http://h1.example/  gone; seed 1",
            "3 http://h2.example/  spam; in core 1, of http://h1.example/",
            "4 http://a1.example/  alive; in core 1, of http://h1.example/",
            "5 http://k1.example/x,y  alive; seed 2",
            "6 http://k2.example/  an alias of http://k1.example/x,y; in core 2, of http://k1.example/x,y",
            "8 http://nobody.example/  not in the bank",
            "9 http://h2.example/  repeats line 3",
            "10 mailto:somebody  not a page URL: expected the scheme http or https, found mailto",
            "11 http://h3.example/  alive; in core 1, of http://h1.example/",
        ]
    );
    let piped = place.run_with(&["compare", "bank", "-"], TODAY.as_bytes());
    assert!(piped.done().starts_with("standard input against refresh 1"));
}

#[test]
fn a_list_is_told_to_programs() {
    let place = place();
    place.write("today.txt", TODAY);
    let found = compared(&place, &["today.txt"]);
    assert_eq!(
        (&found["refresh"], &found["current_batch"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(found["counts"]["alive"], 3);
    let fetches: Vec<&Value> = found["crawls"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&fetches[0]["fetches"], &fetches[1]["fetches"]),
        (&json!(1000), &json!(5000))
    );
    assert_eq!(found["lines"][0]["state"], "gone");
    assert_eq!(
        found["lines"][0]["page"]["relation"],
        json!({"kind": "seed", "rank": 1})
    );
    assert_eq!(found["lines"][0]["page"]["why"]["kind"], "core-seed");
    // What `evaluate budget` counts.
    let args = [
        "evaluate",
        "bank",
        "budget",
        "--pages",
        "5000",
        "--seeds-file",
        "today.txt",
    ];
    let budget = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .json();
    for field in ["pages", "crawled", "clicks", "depth"] {
        assert_eq!(budget["lists"][0][field], found["crawls"][1]["list"][field]);
    }
    // Of each method, what the plan's own seeds are to it.
    for (plan, flags) in [
        ("sites", &["--method", "greedy", "--per-site", "1"][..]),
        (
            "web",
            &["--method", "greedy", "--scope", "web", "--seeds", "2"],
        ),
    ] {
        place
            .run(&[&["refresh", "bank", "--plan", plan], flags].concat())
            .done();
        let list = place.run(&["seeds", "bank", "--plan", plan]).done();
        let args = ["compare", "bank", "-", "--plan", plan, "--format", "json"];
        let found = place.run_with(&args, list.as_bytes()).json();
        fits("compare", &found);
        assert_eq!(found["counts"]["seeds"], found["seeds"], "{plan}");
        assert_eq!(
            found["crawls"][0]["list"],
            found["crawls"][0]["first_seeds"]
        );
        let found = compared(&place, &["today.txt", "--plan", plan]);
        assert_eq!(found["plan"], plan);
    }
}

#[test]
fn a_list_of_nothing_alive_is_told_and_crawls_nothing() {
    let place = place();
    let list = "http://h1.example/\nhttp://nobody.example/\n";
    place.write("dead.txt", list);
    let found = compared(&place, &["dead.txt", "--refresh", "1"]);
    assert_eq!(found["counts"]["alive"], 0);
    let worth = &found["crawls"][0];
    for from in ["list", "first_seeds"] {
        assert_eq!(
            (&worth[from]["pages"], &worth[from]["depth"]),
            (&json!(0), &Value::Null)
        );
    }
    assert_eq!(worth["all_seeds"]["starts"], 1);
    let text = place.run(&["compare", "bank", "dead.txt"]).done();
    assert!(
        text.contains("\nthe list            0     1000      0        0      0       0      -\n"),
        "{text}"
    );
    assert!(
        text.contains("\nall seeds           1     5000      3 "),
        "{text}"
    );
}

#[test]
fn names_of_others_are_made_safe_to_print() {
    let place = place();
    let list = "http://h1.example/\u{1b}[2J\n\u{1b}]0;x\u{7}\n";
    let text = place
        .run_with(&["compare", "bank", "-"], list.as_bytes())
        .done();
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{7}'),
        "{text:?}"
    );
}

#[test]
fn wrong_input_is_told() {
    let place = place();
    place.write("today.txt", TODAY);
    place.write("empty.txt", "# nothing\n\n");
    place.write("long.txt", "http://h1.example/\n".repeat(10_001));
    let cases: [(&[&str], i32, &str); 10] = [
        (&["compare", "bank"], 2, "FILE"),
        (&["compare", "nowhere", "today.txt"], 4, "nowhere"),
        (&["compare", "bank", "none.txt"], 2, "none.txt"),
        (
            &["compare", "bank", "empty.txt"],
            2,
            "empty.txt contains no seeds",
        ),
        (
            &["compare", "bank", "long.txt"],
            2,
            "expected a list of at most 10000 URLs, found 10001 URLs",
        ),
        (
            &["compare", "bank", "today.txt", "--plan", "x"],
            2,
            "has no plan \"x\"",
        ),
        (
            &["compare", "bank", "today.txt", "--refresh", "9"],
            2,
            "no refresh 9",
        ),
        (
            &["compare", "bank", "today.txt", "--fetches", "0"],
            2,
            "from 1 to 20000",
        ),
        (
            &["compare", "bank", "today.txt", "--fetches", "5,20001"],
            2,
            "from 1 to 20000",
        ),
        (
            &["compare", "bank", "today.txt", "--fetches", "x"],
            2,
            "from 1 to 20000",
        ),
    ];
    for (args, status, text) in cases {
        let told = place.run(args).fails(status);
        assert!(told.contains(text), "{args:?}: {told}");
    }
    let fresh = Place::with_bank();
    fresh.write("day0.jsonl", TWO_CORES);
    fresh.run(&["ingest", "bank", "day0.jsonl"]).done();
    fresh.write("today.txt", TODAY);
    let told = fresh.run(&["compare", "bank", "today.txt"]).fails(2);
    assert!(told.contains("has no plan \"default\""), "{told}");
}

#[test]
fn the_links_of_a_core_are_drawn() {
    let place = place();
    let text = place
        .run(&["cores", "bank", "--core", "1", "--links"])
        .done();
    let drawn: Vec<&str> = text.lines().collect();
    assert_eq!(
        drawn,
        [
            "core 1 of refresh 1: 3 hubs, 3 authorities; 9 links, today 6 (3 fewer)",
            "one row per hub, one column per authority: # is a link today, . is none",
            "  ... http://h1.example/",
            "  ### http://h2.example/",
            "  ### http://h3.example/",
            "  column 1 http://a1.example/",
            "  column 2 http://a2.example/",
            "  column 3 http://a3.example/",
        ]
    );
    let args = [
        "cores", "bank", "--core", "1", "--links", "--format", "jsonl",
    ];
    let links = place.run(&args).json();
    fits("cores", &links);
    assert_eq!(links["links"], json!([[], [0, 1, 2], [0, 1, 2]]));
    assert_eq!(
        (&links["current_edges"], &links["lost_edges"]),
        (&json!(6), &json!(3))
    );
    let core = place
        .run(&["cores", "bank", "--core", "1", "--format", "jsonl"])
        .json();
    fits("cores", &core);
    for (args, text) in [
        (&["cores", "bank", "--links"][..], "--core"),
        (
            &["cores", "bank", "--links", "--core", "9"],
            "has no core 9",
        ),
    ] {
        let told = place.run(args).fails(2);
        assert!(told.contains(text), "{told}");
    }
}

#[test]
fn a_large_core_is_drawn_in_part_with_its_neighbours() {
    let place = Place::with_bank();
    let authorities: Vec<String> = (0..70)
        .map(|n| format!("http://a{n:02}.example/"))
        .collect();
    let mut targets: Vec<&str> = authorities.iter().map(String::as_str).collect();
    let mut day: String = (1..65)
        .map(|n| record(&format!("http://h{n:02}.example/"), &targets))
        .collect();
    let others = ["http://b1.example/", "http://b2.example/"];
    for n in 0..2 {
        day.push_str(&record(&format!("http://k{n}.example/"), &others));
    }
    place.write("day0.jsonl", day);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "2",
        ])
        .done();
    targets.push("http://b1.example/");
    place.write("day1.jsonl", record("http://h01.example/", &targets));
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let text = place
        .run(&["cores", "bank", "--core", "1", "--links"])
        .done();
    let row = format!("  {} http://h01.example/", "#".repeat(60));
    assert!(text.lines().any(|line| line == row), "{text}");
    for more in [
        "  not shown: 4 hubs; --format jsonl prints more",
        "  not shown: 10 authorities; --format jsonl prints more",
        "  1 link to core 2, of http://k0.example/",
    ] {
        assert!(text.lines().any(|line| line == more), "{more}: {text}");
    }
}
