//! Attributes of sites and quality of pages: given, inherited, removed, rejected; and quotas, compared
//! with sums computed by hand.

use crate::support::command::Place;
use crate::support::schemas::fits;
use serde_json::{Value, json};

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Three sites: two crawled pages and one known on a.example, one crawled on each of the others.
fn three_sites() -> Place {
    let place = Place::new();
    place.run(&words("init bank")).done();
    let records = [
        json!({"url": "http://a.example/", "outlinks": ["http://a.example/2", "http://a.example/3"],
            "quality": 0.5}),
        json!({"url": "http://a.example/2", "outlinks": ["http://b.example/"]}),
        json!({"url": "http://www.b.example/", "outlinks": ["http://c.example/"], "spam": false}),
        json!({"url": "http://c.example/", "outlinks": ["http://a.example/"]}),
    ];
    place.write("crawl.jsonl", records.map(|r| r.to_string()).join("\n"));
    place.run(&words("ingest bank crawl.jsonl")).done();
    place
}

/// The quota and the share of each site, by name.
fn quotas(place: &Place, line: &str) -> Vec<(String, u64, f64)> {
    let all = place.run(&words(line)).json();
    fits("quotas", &all);
    let sites = all["sites"].as_array().unwrap();
    let sum: u64 = sites
        .iter()
        .map(|site| site["quota"].as_u64().unwrap())
        .sum();
    assert_eq!(all["allocated"], sum);
    let mut rows: Vec<(String, u64, f64)> = sites
        .iter()
        .map(|site| {
            let name = site["site"].as_str().unwrap().to_owned();
            let share = site["share"].as_f64().unwrap();
            (name, site["quota"].as_u64().unwrap(), share)
        })
        .collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

fn only(rows: &[(String, u64, f64)]) -> Vec<u64> {
    rows.iter().map(|row| row.1).collect()
}

#[test]
fn a_list_of_sites_is_a_batch_like_any_other() {
    let place = three_sites();
    place.write(
        "sites.tsv",
        "www.b.example\t0.8\t1\t5\nc.example\t0.25\t1\t\nnew.example\t1\t\t\n",
    );
    let tried = place.run(&words(
        "ingest bank --sites sites.tsv --dry-run --format json",
    ));
    fits("ingest", &tried.json());
    let report = place
        .run(&words("ingest bank --sites sites.tsv --format json"))
        .json();
    fits("ingest", &report);
    assert_eq!(report["sites"], json!({"named": 3, "changed": 3}));
    // The page of b.example says itself that it is no spam, but inherits the quality; c.example's
    // inherits both. The known page http://b.example/ inherits all.
    assert_eq!(report["counts"]["changed"], 3);
    assert_eq!(place.status()["spam"], 2);
    let again = place
        .run(&words("ingest bank --sites sites.tsv --format json"))
        .json();
    assert_eq!(again["same_as"], 2);
    let history = place.run(&words("history bank --format json")).json();
    assert_eq!(history["batches"][1]["inputs"], json!(["sites.tsv"]));
    let page = place.run(&words("page bank http://c.example/")).done();
    assert!(
        page.contains("crawled, spam because its site is, last fetched 20"),
        "{page}"
    );
    assert!(page.contains(", quality 0.25 (its site's)"), "{page}");
    let page = place
        .run(&words("page bank http://www.b.example/ --format json"))
        .json();
    fits("page", &page);
    assert_eq!(
        (&page["spam"], &page["quality"]),
        (&json!(false), &json!(0.8))
    );
    // A page that is born later inherits, and one that is no longer given loses it.
    place.write(
        "more.jsonl",
        r#"{"url": "http://new.example/", "outlinks": []}"#,
    );
    place.write(
        "sites.jsonl",
        "{\"site\": \"c.example\", \"spam\": null}\n{\"site\": \"c.example\", \"spam\": false}\n",
    );
    let both = words("ingest bank more.jsonl --sites sites.jsonl --format json");
    let report = place.run(&both).json();
    assert_eq!(report["counts"]["superseded"], 1);
    assert_eq!(place.status()["spam"], 1);
    let check = place.run(&words("check bank")).done();
    assert!(
        check.contains("no problems found") || !check.is_empty(),
        "{check}"
    );
    let rows = quotas(&place, "quotas bank --pages 3 --by quality --format json");
    // 0.5, 1.6 (two pages), 0.25, 1: of 3.35.
    assert_eq!(only(&rows), [1, 1, 0, 1]);
    assert!((rows[1].2 - 1.6 / 3.35).abs() < 1e-12, "{rows:?}");
}

#[test]
fn bad_records_of_sites_are_listed() {
    let place = three_sites();
    place.write(
        "sites.tsv",
        "http://b.example/\t\t\t\nb.example\t1.5\t\t\nb.example\t\t\t7\n",
    );
    let refused = place.run(&words("ingest bank --sites sites.tsv")).fails(3);
    assert!(refused.contains("2 of 3"), "{refused}");
    let line = "ingest bank --sites sites.tsv --max-rejects 100 --rejects bad.jsonl --format json";
    let report = place.run(&words(line)).json();
    let rejects = json!({"invalid_site": 1, "number_too_large": 1});
    assert_eq!(report["read"]["rejects"], rejects);
    let bad = std::fs::read_to_string(place.path("bad.jsonl")).unwrap();
    assert!(bad.contains("expected a host name without scheme"), "{bad}");
    place.run(&words("ingest bank")).fails(2);
    let only_sites = place.run(&words(
        "ingest bank --snapshot --sites sites.tsv --max-rejects 100",
    ));
    only_sites.fails(3);
}

#[test]
fn records_without_quality_are_known_again() {
    let place = three_sites();
    let again = place
        .run(&words("ingest bank crawl.jsonl --format json"))
        .json();
    assert_eq!(again["same_as"], 1);
    place.write(
        "null.jsonl",
        r#"{"url": "http://a.example/", "quality": null}"#,
    );
    let report = place
        .run(&words("ingest bank null.jsonl --format json"))
        .json();
    assert_eq!(report["counts"]["changed"], 1);
    place.write(
        "bad.jsonl",
        r#"{"url": "http://a.example/", "quality": 1.01}"#,
    );
    let refused = place.run(&words("ingest bank bad.jsonl")).fails(3);
    assert!(refused.contains("number_too_large 1"), "{refused}");
}

#[test]
fn quality_is_part_of_the_value() {
    let place = three_sites();
    let line = "refresh bank --plan q --method greedy --per-site 1 --value-quality 4";
    place.run(&words(line)).done();
    let seeds = place
        .run(&words("seeds bank --plan q --format jsonl"))
        .json_lines();
    let value = |url: &str| {
        let seed = seeds.iter().find(|seed| seed["url"] == url).unwrap();
        seed["gain"].as_f64().unwrap()
    };
    // Two pages, 0.5 times 4, and one link to a page that is not crawled on each.
    assert!((value("http://a.example/") - 6.0).abs() < 1e-9, "{seeds:?}");
    let line =
        "refresh bank --plan w --method greedy --scope web --value-by pagerank --value-quality 4";
    let refused = place.run(&words(line)).fails(2);
    assert!(
        refused.contains("conflicts with `--value-by pagerank`"),
        "{refused}"
    );
}

#[test]
fn quotas_add_up_within_what_is_known_and_given() {
    let place = three_sites();
    let value = |pages: u64| format!("quotas bank --pages {pages} --format json");
    // Values 4 (two pages and two links to pages that are not crawled), 1 and 1; of these, a fifth
    // page is known of b.example.
    let rows = quotas(&place, &value(3));
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 3);
    assert_eq!(quotas(&place, &value(1)).len(), 3);
    place.write("sites.jsonl", r#"{"site": "a.example", "quota": 1}"#);
    place.run(&words("ingest bank --sites sites.jsonl")).done();
    let rows = quotas(&place, &value(3));
    assert_eq!(
        (rows[0].1, rows.iter().map(|row| row.1).sum::<u64>()),
        (1, 3)
    );
    // More than there is: every site gets all it can have, and the rest is told.
    let all = place.run(&words("quotas bank --pages 100 --by pagerank"));
    let told = all.err.clone();
    assert!(
        told.contains("96 of 100 pages are not distributed"),
        "{told}"
    );
    assert!(told.contains("the bank knows 6 pages"), "{told}");
    assert!(told.contains("given quotas exclude 2 of them"), "{told}");
    assert!(
        all.done()
            .starts_with("4 pages of 100 on 3 sites, by pagerank")
    );
    let lines = place
        .run(&words("quotas bank --pages 2 --format jsonl"))
        .json_lines();
    for line in &lines {
        fits("quotas", line);
    }
    assert_eq!(lines.len(), 3);
    let csv = place
        .run(&words("quotas bank --pages 2 --format csv"))
        .done();
    assert!(csv.starts_with("site,quota,pages,crawled,uncrawled,share,limit\r\n"));
    // Limits: a line for what has a quota, by domain or by site.
    let limits = place.run(&words("quotas bank --pages 2 --format cc"));
    assert!(limits.err.contains("with a quota of 0"), "{limits:?}");
    let limits = limits.done();
    let of_line = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let limits: Vec<Vec<String>> = limits.lines().map(of_line).collect();
    let with: Vec<&Value> = lines.iter().filter(|line| line["quota"] != 0).collect();
    assert_eq!(limits.len(), with.len());
    for limit in &limits {
        let site = with.iter().find(|line| line["site"] == *limit[0]).unwrap();
        assert_eq!(limit[1], site["quota"].to_string());
        assert_eq!(
            (limit[2].as_str(), limit[4].as_str()),
            (limit[1].as_str(), "1")
        );
    }
    let queues = place.run(&words("quotas bank --pages 2 --format urlfrontier"));
    let queues = queues.json_lines();
    let quota = |line: &&Value| json!({"key": line["site"], "limit": line["quota"]});
    assert_eq!(queues, with.iter().map(quota).collect::<Vec<_>>());
    // By seeds: sites without a seed come after those that have one.
    place
        .run(&words("refresh bank --plan s --method pagerank --seeds 1"))
        .done();
    let rows = quotas(
        &place,
        "quotas bank --pages 2 --by seeds --plan s --format json",
    );
    assert!((rows.iter().map(|row| row.2).sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(only(&rows), [1, 1, 0]);
    for (line, why) in [
        (
            "quotas bank --pages 2 --by quality --plan s",
            "does not use a plan",
        ),
        ("quotas bank --pages 0", "at least 1"),
        ("quotas bank --pages 2 --by seeds --plan none", "none"),
    ] {
        let refused = place.run(&words(line)).fails(2);
        assert!(refused.contains(why), "{refused}");
    }
    let empty = Place::new();
    empty.run(&words("init bank")).done();
    assert_eq!(empty.run(&words("quotas bank --pages 2")).status, Some(5));
}

/// Whole numbers as a stranger would work them out.
#[test]
fn quotas_are_those_of_the_largest_remainder() {
    let place = Place::new();
    place.run(&words("init bank")).done();
    let tenths = |site: u64, page: u64| (site * 7 + page * 13) % 11;
    let mut text = Vec::new();
    let mut weights = Vec::new();
    // One digit each, so that the numbers are in the order of the names.
    for site in 0..10 {
        let pages = 0..3 + site * 2;
        weights.push(pages.clone().map(|page| tenths(site, page)).sum::<u64>());
        for page in pages {
            let tenths = tenths(site, page);
            let url = format!("http://s{site}.example/{page}");
            text.push(format!(
                r#"{{"url":"{url}","digest":"d","quality":{tenths}e-1}}"#
            ));
        }
    }
    place.write("crawl.jsonl", text.join("\n"));
    place.run(&words("ingest bank crawl.jsonl")).done();
    let rows = quotas(&place, "quotas bank --pages 17 --by quality --format json");
    let all: u64 = weights.iter().sum();
    let mut wanted: Vec<u64> = weights.iter().map(|weight| 17 * weight / all).collect();
    let mut rest: Vec<(u64, usize)> = weights.iter().map(|w| 17 * w % all).zip(0..).collect();
    rest.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let left = 17 - wanted.iter().sum::<u64>();
    for (_, at) in rest.into_iter().take(usize::try_from(left).unwrap()) {
        wanted[at] += 1;
    }
    assert_eq!(only(&rows), wanted);
}
