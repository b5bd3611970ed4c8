//! Policies as a user gives them: files, `@media`, a plan file, invalid lines; and their messages.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Two groups of pages, the first with three hubs on one site, and a document among its authorities.
fn place() -> Place {
    let place = Place::new();
    let mut crawl = String::new();
    for hub in ["1", "2", "3"] {
        let to = [
            "http://a.test/paper.pdf",
            "http://b.test/",
            "http://c.test/",
        ];
        crawl += &record(&format!("http://one.test/{hub}"), &to);
    }
    for hub in ["x", "y"] {
        let to = ["http://d.test/", "http://e.test/"];
        crawl += &record(&format!("http://sub.two.test/{hub}"), &to);
    }
    place.write("crawl.jsonl", crawl);
    place.run(&words("init bank")).done();
    place.run(&words("ingest bank crawl.jsonl")).done();
    place
}

#[test]
fn lists_are_read_kept_and_taken_off() {
    let place = place();
    place.write("no.txt", "# not these\n.two.test\n\nhttp://one.test/1\n");
    let told = place.run(&words(
        "refresh bank --method cores --within 0 --seeds 2 --exclude no.txt",
    ));
    assert!(
        told.out
            .contains("1 of 2 requested seeds: no inter-site links are left"),
        "{}",
        told.out
    );
    assert!(
        told.out.contains("rejected: 2 by --exclude\n"),
        "{}",
        told.out
    );
    assert_eq!(
        place.run(&words("seeds bank")).done(),
        "http://one.test/2\n"
    );
    // The plan goes on with the lines that it kept.
    std::fs::remove_file(place.path("no.txt")).unwrap();
    place
        .run(&words("refresh bank --method cores --within 0"))
        .done();
    assert_eq!(
        place.run(&words("seeds bank")).done(),
        "http://one.test/2\n"
    );
    let why = place
        .run(&words("explain bank http://sub.two.test/x"))
        .done();
    assert!(why.contains("--exclude"), "{why}");
    assert!(why.contains(".two.test"), "{why}");
    let all = place
        .run(&words("explain bank http://sub.two.test/x --format json"))
        .json();
    fits("explain", &all);
    assert_eq!(all["policy"]["line"], ".two.test");
    let history = place.run(&words("history bank --format json")).json();
    fits("history", &history);
    let told = place
        .run(&words(
            "refresh bank --method cores --within 0 --exclude none --format json",
        ))
        .json();
    fits("refresh", &told);
    assert!(told.get("policy").is_none() && told["seeds"] == 2);
    let changes = place
        .run(&words("diff bank 2 3 --format json"))
        .json_lines();
    assert_eq!(changes[0]["summary"]["causes"]["parameters"], 3);
}

#[test]
fn a_plan_file_names_lists_beside_it() {
    let place = place();
    std::fs::create_dir(place.path("plans")).unwrap();
    place.write("plans/pins.txt", "http://c.test/\nhttp://nowhere.test/\n");
    place.write(
        "plans/weekly.toml",
        "seeds = 2\npin = 'pins.txt'\nexclude-from-graph = '@media'\nmax-per-site = 1\n",
    );
    let report = place.run(&words(
        "refresh bank --method cores --within 0 --plan-file plans/weekly.toml",
    ));
    assert!(report.out.contains("pinned: 1 seed\n"), "{}", report.out);
    let left_out = "pinned but not a seed: http://nowhere.test/: the bank has no such page\n";
    assert!(report.out.contains(left_out), "{}", report.out);
    let seeds = place.run(&words("seeds bank --format jsonl"));
    let seeds = seeds.json_lines();
    assert_eq!(seeds[0]["url"], "http://c.test/");
    assert_eq!(seeds[0]["by_policy"], "pin");
    for seed in &seeds {
        fits("seeds", seed);
    }
    let csv = place.run(&words("seeds bank --format csv")).done();
    assert!(csv.lines().nth(1).unwrap().ends_with(",pin"), "{csv}");
    let why = place
        .run(&words("explain bank http://a.test/paper.pdf"))
        .done();
    assert!(why.contains("--exclude-from-graph"), "{why}");
    let shown = place.run(&words("plans bank show default")).done();
    assert!(shown.contains("--exclude-from-graph '@media'"), "{shown}");
    // The limit is taken off again.
    place.run(&words("refresh bank --max-per-site none")).done();
    let plan = place.run(&words("plans bank show default")).done();
    assert!(!plan.contains("max-per-site"), "{plan}");
}

#[test]
fn what_makes_no_sense_is_told() {
    let place = place();
    place.write("bad.txt", "example.org\nre:(\n");
    place.write("empty.txt", "# nothing\n");
    place.write("pins.txt", "not a url\n");
    for (line, said) in [
        ("--exclude nowhere.txt", "the list nowhere.txt"),
        (
            "--exclude bad.txt",
            "invalid line \"re:(\" in the list bad.txt",
        ),
        ("--only empty.txt", "the list empty.txt is empty"),
        (
            "--pin pins.txt",
            "invalid line \"not a url\" in the list pins.txt: expected an http or https URL",
        ),
        ("--exclude @all", "unknown built-in list; expected `@media`"),
        ("--max-per-site 0", "would allow no seed"),
        (
            "--max-per-site many",
            "expected a whole number, or `none` to remove the limit",
        ),
        (
            "--method greedy --min-hubs 2",
            "--min-hubs belongs to --method cores",
        ),
    ] {
        let told = place.run(&words(&format!("refresh bank {line}"))).fails(2);
        assert!(told.contains(said), "{line}: {told}");
    }
    // Nothing was stored.
    assert_eq!(
        place.run(&words("history bank --format json")).json()["refreshes"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn a_list_that_may_change_by_few_says_who_stays() {
    let place = place();
    place
        .run(&words(
            "refresh bank --method cores --within 0 --seeds 1 --max-changes 0",
        ))
        .done();
    assert_eq!(
        place.run(&words("seeds bank")).done(),
        "http://one.test/1\n"
    );
    let mut more = String::new();
    for hub in 0..5 {
        let to = [
            "http://d.test/",
            "http://e.test/",
            "http://f.test/",
            "http://g.test/",
        ];
        more += &record(&format!("http://three.test/{hub}"), &to);
    }
    place.write("more.jsonl", more);
    place.run(&words("ingest bank more.jsonl")).done();
    let told = place
        .run(&words("refresh bank --method cores --within 0"))
        .done();
    assert!(told.contains("1 by --max-changes"), "{told}");
    assert!(
        told.contains("0 gained, 0 lost (0 of them no longer eligible), 1 kept"),
        "{told}"
    );
    let seeds = place.run(&words("seeds bank --format jsonl")).json_lines();
    assert_eq!(seeds[0]["by_policy"], "max-changes");
    fits("seeds", &seeds[0]);
    let why = place.run(&words("explain bank http://one.test/1")).done();
    assert!(why.contains("stays"), "{why}");
    let why = place.run(&words("explain bank http://three.test/0")).done();
    assert!(why.contains("--max-changes"), "{why}");
    // It is gone: it leaves, whatever the limit says, and the list is short.
    place.write(
        "gone.jsonl",
        "{\"url\": \"http://one.test/1\", \"gone\": true}\n",
    );
    place.run(&words("ingest bank gone.jsonl")).done();
    let told = place.run(&words("refresh bank --method cores --within 0"));
    assert_eq!(told.status, Some(5));
}

/// Why a page is a seed, or why not: the text, and the JSON, which fits its schema.
fn explained(place: &Place, asked: &str) -> (String, serde_json::Value) {
    let line = format!("explain bank {asked}");
    let json = place.run(&words(&format!("{line} --format json"))).json();
    fits("explain", &json);
    (place.run(&words(&line)).done(), json)
}

#[test]
fn a_core_that_gives_no_seed_has_none() {
    let place = place();
    let near = record("http://near.test/", &["http://d.test/"]);
    place.write("near.jsonl", near);
    place.run(&words("ingest bank near.jsonl")).done();
    place
        .run(&words(
            "refresh bank --method cores --within 0 --seeds 2 --min-hubs 3",
        ))
        .done();
    // The two pages of the second group, where it gives a seed.
    for url in [
        "http://d.test/",
        "http://near.test/",
        "http://sub.two.test/x",
        "http://sub.two.test/y",
    ] {
        let (text, json) = explained(&place, url);
        assert!(!text.contains("is the seed"), "{text}");
        assert!(!text.contains("the core's seed is"), "{text}");
        assert!(!text.contains("one hub of a core is enough"), "{text}");
        assert!(
            text.contains("policies of the plan give the core no seed"),
            "{text}"
        );
        assert_eq!(json["core"]["gives_seed"], false, "{json}");
    }
    let (text, json) = explained(&place, "http://b.test/");
    assert!(text.contains("the core's seed is http://one.test/1"));
    assert!(json["core"].get("gives_seed").is_none(), "{json}");
    let (text, json) = explained(&place, "--site sub.two.test");
    assert!(text.contains("no seeds"), "{text}");
    assert_eq!(json["site_seeds"], serde_json::json!([]));
    let page = place.run(&words("page bank http://d.test/")).done();
    assert!(!page.contains("is the seed"), "{page}");
}

#[test]
fn pins_of_a_site_are_among_its_seeds() {
    let place = place();
    place.write(
        "pins.txt",
        "http://one.test/2\nhttp://one.test/3\nhttp://a.test/paper.pdf\n",
    );
    place
        .run(&words(
            "refresh bank --method cores --within 0 --seeds 4 --pin pins.txt",
        ))
        .done();
    // The first pin of a core is its seed.
    let (text, json) = explained(&place, "--site one.test");
    assert!(text.contains("seed 1 http://one.test/2: core 1"), "{text}");
    assert!(text.contains("seed 2 http://one.test/3: pinned"), "{text}");
    let pinned = serde_json::json!([{"url": "http://one.test/3", "policy": "pinned", "rank": 2}]);
    assert_eq!(json["by_policy"], pinned);
    let (text, json) = explained(&place, "--site a.test");
    assert!(text.contains("seed 3 http://a.test/paper.pdf: pinned"));
    assert!(!text.contains("no seeds"), "{text}");
    assert_eq!(json["by_policy"][0]["rank"], 3);
    // It was pinned then, whatever became of it.
    place.write(
        "gone.jsonl",
        "{\"url\": \"http://a.test/paper.pdf\", \"gone\": true}\n",
    );
    place.run(&words("ingest bank gone.jsonl")).done();
    let (text, _) = explained(&place, "http://a.test/paper.pdf");
    assert!(text.contains("Seed 3 of plan default: the plan pins it"));
}

/// Seeds of two sites, of which none may change; on the second day pages of a third site would come
/// first.
#[test]
fn ranks_are_those_of_the_list() {
    for method in [
        "--method greedy --per-site 1 --hops 1",
        "--method greedy --scope web --seeds 2 --hops 1",
    ] {
        let place = Place::with_bank();
        let site = |site: &str, leads_to: &[&str]| {
            let to: Vec<String> = leads_to
                .iter()
                .map(|path| format!("http://{site}.test/{path}"))
                .collect();
            let pages: String = to.iter().map(|to| record(to, &[])).collect();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            pages + &record(&format!("http://{site}.test/"), &to)
        };
        place.write("one.jsonl", site("s", &["1", "2"]) + &site("t", &["1"]));
        place.run(&words("ingest bank one.jsonl")).done();
        let refresh = format!("refresh bank {method} --max-changes 0");
        place.run(&words(&refresh)).done();
        place.write("two.jsonl", site("u", &["1", "2", "3", "4"]));
        place.run(&words("ingest bank two.jsonl")).done();
        place.run(&words("refresh bank")).done();
        let seeds = place.run(&words("seeds bank")).done();
        assert_eq!(seeds, "http://s.test/\nhttp://t.test/\n", "{method}");
        // The method came to it as the second.
        let (text, json) = explained(&place, "http://s.test/1");
        assert!(text.contains("seed 1, http://s.test/"), "{text}");
        assert_eq!(json["by"]["rank"], 1);
        assert!(json["by"].get("deferred").is_none(), "{json}");
        let (text, json) = explained(&place, "http://s.test/");
        assert!(text.contains("Seed 1 of plan default"), "{text}");
        assert_eq!(json["rank"], 1);
        // What leads to it is not on the list.
        let (text, json) = explained(&place, "http://u.test/1");
        assert!(!text.contains("seed 1, "), "{text}");
        assert!(text.contains("--max-changes"), "{text}");
        assert_eq!(json["by"]["deferred"], true);
        let (_, json) = explained(&place, "http://u.test/");
        assert_eq!(json["policy"]["by"], "max-changes");
        assert_eq!(json["deferred"], true);
        let (text, json) = explained(&place, "--site u.test");
        assert!(text.contains("not a seed, deferred"), "{text}");
        assert_eq!(json["site_seeds"][0]["deferred"], true);
        // Over the web it stays; of sites it was chosen again.
        let (text, json) = explained(&place, "--site t.test");
        assert!(text.contains("seed 2 http://t.test/") || text.contains("(seed 2, "));
        let of_policy = json.get("by_policy").map(|of| &of[0]["last_chosen"]);
        let is_web = method.contains("web");
        assert_eq!(of_policy, is_web.then_some(&serde_json::json!(1)));
    }
}
