//! What lists on the pages have: the reason of every seed, files with all rows, words that are true of the plan,
//! and what to type if there is nothing yet.
//!
//! Bug classes: a list without reasons, a file with the rows of one page only, a sentence about sites for a
//! plan over the web, commands that cannot be typed.

use super::serve_pages::refreshed;
use crate::support::command::{Place, record};
use crate::support::http::{Served, encoded, links};

#[test]
fn an_empty_bank_says_what_to_type() {
    let place = Place::new();
    place.run(&["init", "my bank"]).done();
    let served = Served::start(&place, &["my bank"]);
    let page = served.get("/").done();
    let ingest = "seedbank ingest &#39;my bank&#39; crawl.jsonl.zst --snapshot";
    assert!(page.contains(ingest), "{page}");
    for path in ["/plans", "/evaluate", "/quotas", "/quotas?pages=5"] {
        assert!(served.get(path).done().ends_with("</html>\n"), "{path}");
    }
    // What it says can be typed.
    let lines = record("http://h1.example/", &["http://a1.example/"]);
    place.write("crawl.jsonl", lines);
    let typed = ["ingest", "my bank", "crawl.jsonl", "--snapshot"];
    place.run(&typed).done();
    let page = served.get("/").done();
    let refresh = "seedbank refresh &#39;my bank&#39; --seeds 20 --budget 2000";
    assert!(
        page.contains(refresh) && !page.contains("seedbank ingest"),
        "{page}"
    );
    let typed = ["refresh", "my bank", "--seeds", "20", "--budget", "2000"];
    place.run(&typed).done();
    assert!(!served.get("/").done().contains("seedbank refresh"));
    served.stop();
}

#[test]
fn every_seed_has_its_reason_in_every_list() {
    let place = refreshed(2);
    let served = Served::start(&place, &["bank"]);
    let seeds = place.run(&["seeds", "bank"]).done();
    let site = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    for seed in seeds.lines() {
        let explained = place.run(&["explain", "bank", seed]).done();
        let sentence = explained.lines().nth(1).unwrap().trim();
        let (_, reason) = sentence.split_once(": it ").unwrap();
        let reason = format!("It {reason}");
        let of_site = format!("/site?name={}", site(seed));
        for path in ["/refresh?refresh=2", "/cores?refresh=2", &of_site] {
            let page = served.get(path).done();
            let row = page
                .split("<tr>")
                .find(|row| row.contains(seed) && row.contains(&reason));
            assert!(row.is_some(), "{path}: {reason}: {page}");
        }
    }
    // Of the gained ones in a comparison.
    let other = [
        "refresh", "bank", "--plan", "other", "--method", "cores", "--within", "0", "--seeds", "1",
    ];
    place.run(&other).done();
    let page = served.get("/diff?from=3&to=2").done();
    assert!(
        page.contains("Why it is a seed") && page.contains("It represents"),
        "{page}"
    );
    served.stop();
}

#[test]
fn the_history_is_shown_by_method() {
    let place = refreshed(2);
    let other = "refresh bank --plan other --method random --seeds 1";
    place.run(&other.split(' ').collect::<Vec<_>>()).done();
    let served = Served::start(&place, &["bank"]);
    let all = served.get("/batches").done();
    assert!(links(&all).contains(&"/batches?method=random".to_owned()));
    let page = served.get("/batches?method=random").done();
    assert!(page.contains("1 in all") && page.contains("<b>refreshes by random</b>"));
    assert!(
        page.contains("plan <a href=\"/plan?name=other\">"),
        "{page}"
    );
    assert!(!page.contains("name=default"), "{page}");
    let of_method = "/v1/batches?method=random";
    let history = served.get(of_method).json();
    assert_eq!(history["batches"], serde_json::json!([]));
    assert_eq!(history["refreshes"].as_array().unwrap().len(), 1);
    assert_eq!(history["refreshes"][0]["plan"], "other");
    served.stop();
}

#[test]
fn tables_are_files_with_all_their_rows() {
    let place = refreshed(2);
    let other = [
        "refresh", "bank", "--plan", "other", "--method", "cores", "--within", "0", "--seeds", "1",
    ];
    place.run(&other).done();
    let served = Served::start(&place, &["bank"]);
    let url = encoded("http://h1.example/");
    let mut files = Vec::new();
    for path in [
        "/",
        "/plans",
        "/plan?name=default",
        "/batches",
        "/cores?refresh=2",
        "/core?refresh=2&core=1",
        "/diff?from=3&to=2",
        "/quotas?pages=3&by=value",
        "/search?q=example",
        "/site?name=h1.example",
        &format!("/page?url={url}"),
        &format!("/links?url={url}&of=out"),
        &format!("/history?url={url}"),
    ] {
        let page = served.get(path).done();
        let listed = links(&page);
        let csv = listed.iter().filter(|to| to.contains("format=csv"));
        let csv: Vec<String> = csv.cloned().collect();
        assert!(!csv.is_empty(), "{path}");
        assert!(listed.iter().any(|to| to.starts_with("/v1/")), "{path}");
        files.extend(csv);
    }
    for file in &files {
        let answer = served.get(file);
        assert_eq!(
            answer.header("content-type"),
            "text/csv; charset=utf-8",
            "{file}"
        );
        let name = answer.header("content-disposition");
        assert!(
            name.starts_with("attachment; filename=\""),
            "{file}: {name}"
        );
        let text = answer.done();
        // A comma between quotes ends no field.
        let outside = text.split('"').step_by(2).collect::<String>();
        let mut lines = outside.split_terminator("\r\n");
        let columns = lines.next().unwrap().split(',').count();
        assert!(columns > 1, "{file}: {text}");
        assert!(
            lines.all(|line| line.split(',').count() == columns),
            "{file}: {text}"
        );
    }
    for (weight, flags) in [
        ("by=value", &["--by", "value"][..]),
        ("by=seeds&plan=other", &["--by", "seeds", "--plan", "other"]),
    ] {
        let json = ["quotas", "bank", "--pages", "3", "--format", "json"];
        let printed = place.run(&[&json[..], flags].concat()).done();
        let path = format!("/v1/quotas?pages=3&{weight}");
        assert_eq!(served.get(&path).done(), printed, "{path}");
    }
    let quotas = served.get("/quotas?pages=3&table=quotas&format=csv").done();
    let printed = place.run(&["quotas", "bank", "--pages", "3", "--format", "csv"]);
    let sites = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(1);
        lines
            .map(|line| line.split(',').take(5).collect())
            .collect()
    };
    assert_eq!(sites(&quotas), sites(&printed.done()));
    let list = b"http://h1.example/\nhttp://none.test/\n";
    let as_text = ["Content-Type: text/plain"];
    let compared = served.ask("POST", "/compare?format=csv", &as_text, list);
    let compared = compared.done();
    assert!(compared.starts_with("line,page,state,in_the_plan,why\r\n1,http://h1.example/,alive,"));
    assert!(
        compared.contains("\r\n2,http://none.test/,not in the bank,,\r\n"),
        "{compared}"
    );
    for (path, why) in [
        (
            "/plans?table=none&format=csv",
            "expected one of common, parameters",
        ),
        (&format!("/explain?url={url}&format=csv"), "has no table"),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.text().contains(why), "{path}: {}", answer.text());
    }
    served.stop();
}

/// Over the web a seed may be covered by one of any site, so no page says that it is one of the same site.
#[test]
fn a_plan_over_the_web_is_not_told_of_as_one_of_sites() {
    let place = Place::with_bank();
    let to = |numbers: std::ops::Range<u32>| -> Vec<String> {
        numbers.map(|at| format!("http://p{at}.example/")).collect()
    };
    let page = |url: &str, to: Vec<String>| {
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        record(url, &to)
    };
    let first = page("http://one.example/", to(0..5)) + &page("http://two.example/", to(5..9));
    place.write("day-0.jsonl", first);
    // A link from the seed of another site to the second seed: the former now covers what the latter covers.
    let mut all = to(0..9);
    all.push("http://two.example/".to_owned());
    place.write("day-1.jsonl", page("http://one.example/", all));
    let web = [
        "refresh",
        "bank",
        "--method",
        "greedy",
        "--scope",
        "web",
        "--hops",
        "2",
        "--seeds",
        "5",
        "--value-known",
        "1",
    ];
    place.run(&["ingest", "bank", "day-0.jsonl"]).done();
    place.run(&web).done();
    place.run(&["ingest", "bank", "day-1.jsonl"]).done();
    place.run(&["refresh", "bank"]).done();
    let served = Served::start(&place, &["bank"]);
    let page = served.get("/diff?from=1&to=2").done();
    assert!(page.contains("another seed covers it now"), "{page}");
    assert!(!page.contains("of its site"), "{page}");
    served.stop();
}
