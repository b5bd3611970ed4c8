//! `diff` and `history URL` as a user types them: the output, and the errors for invalid arguments.

use crate::support::command::{Place, TWO_CORES, record};

/// A bank with two refreshes, between which the first seed goes and a third core comes.
fn place() -> Place {
    let place = Place::with_seeds();
    let gone = "{\"url\": \"http://h1.example/\", \"gone\": true}\n".to_owned();
    let targets: Vec<String> = (1..=4).map(|at| format!("http://c{at}.example/")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let hubs = (1..=4).map(|at| record(&format!("http://m{at}.example/"), &targets));
    place.write("day1.jsonl", gone + &hubs.collect::<String>());
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place
}

#[test]
fn a_diff_is_told_to_people() {
    let place = place();
    let text = place.run(&["diff", "bank"]).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "refresh 1 of plan default, after batch 1 -> refresh 2 of plan default, after batch 2",
            "2 seeds -> 3: 2 gained, 1 lost, 1 kept (1 of them moved)",
            "causes: 1 gone, 1 new-page, 1 replaces-hub, 1 shifted",
            "+ 1 http://m1.example/  new-page, batch 2",
            "+ 2 http://h2.example/  replaces-hub, core 1, seed http://h1.example/, batch 2",
            "- 1 http://h1.example/  gone, batch 2; successor http://h2.example/ (same core, \
             similarity 1.00)",
            "  2 -> 3 http://k1.example/x,y  shifted",
        ]
    );
    // The same by numbers, and by one number.
    for args in [&["1", "2"][..], &["1"]] {
        let other = place.run(&[&["diff", "bank"], args].concat()).done();
        assert_eq!(other, text);
    }
    let same = place.run(&["diff", "bank", "2", "2"]).done();
    assert!(
        same.contains("0 gained, 0 lost, 3 kept (0 of them moved)"),
        "{same}"
    );
    assert_eq!(same.lines().count(), 2);
}

#[test]
fn what_seeds_prints_can_be_compared_again() {
    let place = place();
    for format in ["text", "nutch", "heritrix"] {
        let list = place.run(&["seeds", "bank", "--format", format]).done();
        let args = ["diff", "bank", "--seeds-file", "-"];
        let text = place.run_with(&args, list.as_bytes()).done();
        assert!(text.starts_with("standard input -> refresh 2"), "{text}");
        assert!(
            text.contains("3 seeds -> 3: 0 gained, 0 lost, 3 kept (0 "),
            "{text}"
        );
    }
    let empty = place
        .run_with(&["diff", "bank", "--seeds-file", "-"], b"")
        .done();
    assert!(empty.contains("causes: 3 not-listed"), "{empty}");
}

#[test]
fn the_history_of_a_page_is_told_to_people() {
    let place = place();
    let text = place
        .run(&["history", "bank", "HTTP://h1.EXAMPLE#top"])
        .done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "http://h1.example/",
            "gone, first mentioned in batch 1, last record in batch 2",
            "plan default: a seed in 1 of 2 stored refreshes",
            "  refresh 1 (after batch 1): rank 1",
            "  refresh 2 (after batch 2): lost: gone, batch 2",
        ]
    );
    let text = place.run(&["history", "bank", "http://h2.example/"]).done();
    let came =
        "  refresh 2 (after batch 2): rank 2; came: replaces-hub, seed http://h1.example/, batch 2";
    assert_eq!(text.lines().last(), Some(came));
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let text = place.run(&["history", "bank", "http://h2.example/"]).done();
    let stayed = came
        .replace("refresh 2", "refresh 2 to 3")
        .replace("batch 2)", "batch 2 to 2)");
    assert_eq!(text.lines().last(), Some(stayed.as_str()));
    let never = place.run(&["history", "bank", "http://a1.example/"]).done();
    assert!(
        never.ends_with("plan default: a seed in 0 of 3 stored refreshes\n"),
        "{never}"
    );
    assert!(
        never.contains("known, first mentioned in batch 1, no record"),
        "{never}"
    );
}

#[test]
fn wrong_input_is_told() {
    let place = place();
    let once = [
        "refresh", "bank", "--plan", "once", "--method", "cores", "--within", "0", "--seeds", "100",
    ];
    place.run(&once).done();
    place.write(
        "bad.txt",
        "# a comment\nhttp://h1.example/\n\nmailto:somebody\n",
    );
    place.write("list.txt", "http://h1.example/\n");
    let cases: [(&[&str], i32, &str); 15] = [
        (&["diff", "bank", "9"], 2, "the bank has no refresh 9"),
        (&["diff", "bank", "0", "1"], 2, "of at least 1"),
        (
            &["diff", "bank", "--plan", "none"],
            2,
            "has no plan \"none\"",
        ),
        (
            &["diff", "bank", "--against", "none"],
            2,
            "has no plan \"none\"",
        ),
        (
            &["diff", "bank", "1", "--plan", "once"],
            2,
            "belongs to plan \"default\"",
        ),
        (&["diff", "bank", "1", "2", "3"], 2, "unexpected"),
        (
            &["diff", "bank", "1", "--against", "once"],
            2,
            "cannot be used",
        ),
        (&["diff", "bank", "x"], 2, "invalid value"),
        (&["diff", "nowhere"], 4, "nowhere"),
        (&["diff", "bank", "--seeds-file", "none.txt"], 2, "none.txt"),
        (
            &["diff", "bank", "--seeds-file", "bad.txt"],
            3,
            "line 4 of bad.txt is not the URL",
        ),
        (
            &["diff", "bank", "1", "2", "--seeds-file", "list.txt"],
            2,
            "at most one",
        ),
        (
            &["history", "bank", "http://no.example/"],
            5,
            "does not contain http://no.example/",
        ),
        (
            &["history", "bank", "nowhere.example"],
            5,
            "does not contain nowhere.example\n",
        ),
        (
            &["history", "bank", "http://h1.example/", "--plan", "none"],
            2,
            "has no plan",
        ),
    ];
    for (args, status, text) in cases {
        let told = place.run(args).fails(status);
        assert!(told.contains(text), "{args:?}: {told}");
    }
    let both = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--pick",
        "best",
        "--succeed",
    ];
    assert!(place.run(&both).fails(2).contains("remove one of them"));
    let other = [
        "refresh",
        "bank",
        "--plan",
        "c",
        "--method",
        "greedy",
        "--succeed",
    ];
    assert!(place.run(&other).fails(2).contains("--succeed"));
    let kept = place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--keep", "1",
        ])
        .done();
    assert!(kept.contains("deleted: "), "{kept}");
    let told = place.run(&["diff", "bank", "1", "2"]).fails(2);
    assert!(told.contains("refresh 1 was deleted"), "{told}");
}

/// A bank without refreshes has no plan to compare.
#[test]
fn an_empty_bank_has_no_diff() {
    let place = Place::with_bank();
    place.write("day0.jsonl", TWO_CORES);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    let told = place.run(&["diff", "bank"]).fails(2);
    assert!(told.contains("has no plan \"default\""), "{told}");
    let text = place.run(&["history", "bank", "http://h1.example/"]).done();
    assert!(text.ends_with("no refreshes\n"), "{text}");
}

/// On the first day a daily job must not fail.
#[test]
fn a_plan_with_one_refresh_has_nothing_to_compare() {
    let place = Place::with_seeds();
    let words = "plan default has only refresh 1, so there is nothing to compare; refresh it again after the next batch, name two refreshes, or compare it with another plan (--against)\n";
    let ended = place.run(&["diff", "bank"]);
    assert_eq!(
        (ended.status, &*ended.out, &*ended.err),
        (Some(0), words, "")
    );
    let ended = place.run(&["diff", "bank", "--format", "jsonl"]);
    assert_eq!(
        (ended.status, &*ended.out, &*ended.err),
        (Some(0), "", words)
    );
    place.run(&["diff", "bank", "--plan", "none"]).fails(2);
}

/// Of two plans it says which parameters differ, and where the other plan has each page.
#[test]
fn two_plans_differ_by_their_parameters() {
    let place = Place::with_seeds();
    let sites = "refresh bank --plan sites --method max-weight --per-site 1 --hops 2";
    place.run(&sites.split(' ').collect::<Vec<_>>()).done();
    assert_eq!(
        place.run(&["diff", "bank", "--against", "sites"]).done(),
        "refresh 1 of plan default, after batch 1 -> refresh 2 of plan sites, after batch 1\n\
         2 seeds -> 5: 3 gained, 0 lost, 2 kept (1 of them moved)\n\
         the parameters differ: hops, method, per-site, within\n\
         causes: 3 by other parameters, 1 shifted\n\
         + 2 http://h2.example/  by other parameters: in core 1, seed http://h1.example/\n\
         + 3 http://h3.example/  by other parameters: in core 1, seed http://h1.example/\n\
         + 5 http://k2.example/  by other parameters: in core 2, seed http://k1.example/x,y\n  \
           2 -> 4 http://k1.example/x,y  shifted\n"
    );
    // By coverage, the seed that covers the page; on its site and over the web.
    let place = Place::with_bank();
    let pages = record(
        "http://s.example/",
        &["http://s.example/b", "http://s.example/c"],
    ) + &record("http://s.example/b", &["http://s.example/d"]);
    place.write("pages.jsonl", pages);
    place.run(&["ingest", "bank", "pages.jsonl"]).done();
    for plan in [
        "--plan site --method greedy --per-site 1 --hops 1",
        "--plan web --method greedy --scope web --seeds 1 --hops 1",
        "--plan two --method out-degree --per-site 2",
    ] {
        let args: Vec<&str> = ["refresh", "bank"]
            .into_iter()
            .chain(plan.split(' '))
            .collect();
        place.run(&args).done();
    }
    for plan in ["site", "web"] {
        let told = place
            .run(&["diff", "bank", "--plan", plan, "--against", "two"])
            .done();
        let words = "\n+ 2 http://s.example/b  by other parameters: covered by seed http://s.example/ at hop 1\n";
        assert!(told.ends_with(words), "{told}");
    }
}
