//! Pages whose fetches fail, and their seeds, as a user sees them: a plan with a goal holds them back after three
//! failures, says so everywhere, and takes them again after a success.

use std::fs;

use crate::support::command::{Place, record};
use crate::support::schemas::fits;

const FIRST: &str = "http://a.example/";

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Creates a bank with the home pages of two sites. That of `a.example` links to more pages.
fn place() -> Place {
    let place = Place::with_bank();
    let pages = |host: &str, count: usize| -> Vec<String> {
        let page = |number| format!("http://{host}.example/{number}");
        (0..count).map(page).collect()
    };
    let mut crawl = String::new();
    for (host, count) in [("a", 9), ("b", 5)] {
        let pages = pages(host, count);
        let links: Vec<&str> = pages.iter().map(String::as_str).collect();
        crawl += &record(&format!("http://{host}.example/"), &links);
        for page in &pages {
            crawl += &record(page, &[]);
        }
    }
    place.write("crawl.jsonl", crawl);
    place
        .run(&words("ingest bank crawl.jsonl --as-of 2026-11-01"))
        .done();
    place
}

/// Ingests a failed fetch of the first page on a day.
fn fail(place: &Place, day: u32) {
    let line = format!(
        "{{\"url\":\"{FIRST}\",\"status\":503,\"fetched\":\"2026-11-{day:02}T04:00:00Z\"}}\n"
    );
    place
        .run_with(&["ingest", "bank", "-"], line.as_bytes())
        .done();
}

fn seeds(place: &Place) -> Vec<String> {
    let seeds = place.run(&["seeds", "bank"]).done();
    seeds.lines().map(str::to_owned).collect()
}

#[test]
fn a_page_that_failed_three_times_is_no_seed_until_it_answers() {
    let place = place();
    let refresh = "refresh bank --goal sites --per-site 1";
    for goal in [refresh, "refresh bank --plan web --seeds 1 --budget 8"] {
        place.run(&words(goal)).done();
    }
    assert_eq!(seeds(&place), [FIRST, "http://b.example/"]);
    let plan = place
        .run(&words("plans bank show default --format json"))
        .json();
    assert_eq!(plan["parameters"]["max-failures"], 3);

    // After two failures the page is still a seed, and `seeds` reports them.
    fail(&place, 2);
    fail(&place, 3);
    place.run(&words("refresh bank")).done();
    assert_eq!(seeds(&place)[0], FIRST);
    let first = &place.run(&words("seeds bank --format jsonl")).json_lines()[0];
    fits("seeds", first);
    assert_eq!(first["failures"]["count"], 2);

    fail(&place, 4);
    let told = place.run(&words("refresh bank")).done();
    assert!(told.contains("rejected: 1 by --max-failures\n"), "{told}");
    assert!(!seeds(&place).contains(&FIRST.to_owned()));
    place.run(&words("refresh bank --plan web")).done();
    let web = place.run(&words("seeds bank --plan web")).done();
    assert!(!web.contains("http://a.example/\n"), "{web}");

    let why = place.run(&["explain", "bank", FIRST]).done();
    assert!(why.contains("--max-failures"), "{why}");
    let why = place
        .run(&["explain", "bank", FIRST, "--format", "json"])
        .json();
    fits("explain", &why);
    assert_eq!(why["policy"]["policy"], "rejected");
    assert_eq!(why["policy"]["by"], "max-failures");
    let page = place.run(&["page", "bank", FIRST]).done();
    assert!(
        page.contains("3 failed fetches since 2026-11-02T04:00:00Z"),
        "{page}"
    );
    assert!(page.contains("--max-failures"), "{page}");
    let diff = place.run(&words("diff bank --format json")).json_lines();
    let lost = diff.iter().find(|seed| seed["url"] == FIRST).unwrap();
    assert_eq!(lost["change"], "lost");
    assert_eq!(lost["cause"], "policy");
    let site = place.run(&words("site bank a.example")).done();
    assert!(site.contains("1 page whose last fetch failed"), "{site}");

    // The answer clears it.
    let pages: Vec<String> = (0..9).map(|number| format!("{FIRST}{number}")).collect();
    let links: Vec<&str> = pages.iter().map(String::as_str).collect();
    place.write("again.jsonl", record(FIRST, &links));
    place
        .run(&words("ingest bank again.jsonl --as-of 2026-11-05"))
        .done();
    place.run(&words("refresh bank")).done();
    assert_eq!(seeds(&place), [FIRST, "http://b.example/"]);
    place.run(&["check", "bank"]).done();
}

#[test]
fn the_limit_can_be_set_and_lifted() {
    let place = place();
    fail(&place, 2);
    place
        .run(&words("refresh bank --method max-weight --per-site 1"))
        .done();
    assert_eq!(seeds(&place)[0], FIRST);
    let strict = words("refresh bank --max-failures 1 --format json");
    let told = place.run(&strict).json();
    fits("refresh", &told);
    assert_eq!(told["policy"]["rejected"]["max-failures"], 1);
    assert!(!seeds(&place).contains(&FIRST.to_owned()));
    // A pinned page stays.
    fs::write(place.path("pins"), format!("{FIRST}\n")).unwrap();
    place.run(&words("refresh bank --pin pins")).done();
    assert_eq!(seeds(&place)[0], FIRST);
    place
        .run(&words("refresh bank --pin none --max-failures 0"))
        .done();
    assert_eq!(seeds(&place)[0], FIRST);
    let error = place
        .run(&words("refresh bank --max-failures few"))
        .fails(2);
    assert!(error.contains("--max-failures"), "{error}");
}

/// A refresh of an unchanged graph loads nothing unless the policy rejects a page, or did.
#[test]
fn cores_of_an_unchanged_graph_are_kept_unless_fetches_failed() {
    let place = Place::with_bank();
    let to = ["http://c.example/1", "http://c.example/2"];
    let crawl = record(FIRST, &to) + &record("http://b.example/", &to);
    place.write("crawl.jsonl", crawl);
    place
        .run(&words("ingest bank crawl.jsonl --as-of 2026-11-01"))
        .done();
    let goal = "refresh bank --plan groups --goal communities --seeds 1";
    place.run(&words(goal)).done();
    let refresh = |is_loaded: bool, rejected: u64| {
        let options = words("refresh bank --plan groups --format json");
        let report = place.run(&options).json();
        assert_eq!(report["pages_loaded"] != 0, is_loaded, "{report}");
        let by_failures = &report["policy"]["rejected"]["max-failures"];
        assert_eq!(by_failures.as_u64().unwrap_or(0), rejected, "{report}");
    };
    refresh(false, 0);
    fail(&place, 2);
    refresh(false, 0);
    fail(&place, 3);
    fail(&place, 4);
    refresh(true, 1);
    let seeds = place.run(&words("seeds bank --plan groups")).done();
    assert_eq!(seeds, "http://b.example/\n");
    // It answers again, with the same links.
    place.write("answer.jsonl", record(FIRST, &to));
    place
        .run(&words("ingest bank answer.jsonl --as-of 2026-11-05"))
        .done();
    refresh(true, 0);
    refresh(false, 0);
}
