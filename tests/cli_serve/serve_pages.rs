//! Pages use every parameter and keep submitted text, every link on them works, and tables are files.
//!
//! Bug classes: an ignored parameter, two lists compared in the wrong order, a form that loses its text, a plan or a refresh
//! that no page shows, a link that is longer than the server accepts, a seed without its reason, a file with the rows of one
//! page only, a sentence about sites for a plan over the web, commands that cannot be typed.

use serde_json::Value;

use crate::serve::ok;
use crate::support::command::{Place, record};
use crate::support::http::{Answer, Served, encoded, links};

const EXACT: &str = "--method cores --within 0";

/// A bank of two cores, refreshed so many times.
fn refreshed(times: usize) -> Place {
    let place = Place::with_seeds();
    for _ in 1..times {
        ok(&place, &format!("refresh bank {EXACT}"));
    }
    place
}

/// A form as a browser sends it: the text that was typed, and perhaps a file that was chosen.
fn form(served: &Served, plan: &str, typed: &str, file: Option<(&str, &str)>) -> Answer {
    let (name, text) = file.unwrap_or_default();
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"list\"\r\n\r\n{typed}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/plain\r\n\r\n{text}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"plan\"\r\n\r\n{plan}\r\n--b--\r\n"
    );
    let lines = ["Content-Type: multipart/form-data; boundary=b"];
    served.ask("POST", "/compare", &lines, body.as_bytes())
}

/// The text in the box for a list.
fn typed(page: &str) -> &str {
    let (_, after) = page.split_once("<textarea").unwrap();
    let (_, after) = after.split_once(">\n").unwrap();
    after.split_once("</textarea>").unwrap().0
}

#[test]
fn a_submitted_list_is_kept_and_a_file_counts_before_it() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let list = "http://h1.example/\n";
    let page = form(&served, "default", list, None).done();
    assert!(page.contains("1 line: 1 alive"), "{page}");
    assert_eq!(typed(&page), list);
    let file = "http://none.test/\nhttp://a1.example/\n";
    let page = form(&served, "default", list, Some(("mine.txt", file))).done();
    assert!(page.contains("The file mine.txt: 2 lines: 1 alive, 1 not in the bank"));
    // The file is not typed, so it is not compared again with the next one.
    assert_eq!(typed(&page), list);
    let long: Vec<String> = (0..2001).map(|n| format!("http://a.test/{n}\n")).collect();
    let long = long.concat();
    for (plan, list, file, status, why) in [
        ("default", &*long, None, 413, "at most 2000 URLs"),
        (
            "default",
            "# a comment\n\n# and one more\n",
            None,
            400,
            "contains no seeds",
        ),
        (
            "default",
            list,
            Some(("none.txt", "")),
            400,
            "the list contains no seeds",
        ),
        (
            "default",
            "",
            Some(("long.txt", &*long)),
            413,
            "The uploaded file was used.",
        ),
        ("none", list, None, 404, "none"),
    ] {
        let answer = form(&served, plan, list, file);
        assert_eq!(answer.status, status, "{why}");
        let page = answer.text();
        assert!(
            page.contains("role=\"alert\"") && page.contains(why),
            "{page}"
        );
        assert_eq!(typed(page), list);
        // Programs have the error alone.
        if file.is_none() {
            let path = format!("/v1/compare?plan={plan}");
            let as_text = ["Content-Type: text/plain"];
            let answer = served.ask("POST", &path, &as_text, list.as_bytes());
            assert_eq!(answer.status, status, "{why}");
            let error: Value = serde_json::from_slice(&answer.body).unwrap();
            assert!(error["detail"].as_str().unwrap().contains(why), "{error}");
        }
    }
    served.stop();
}

/// Addresses, and what their pages refuse; one that refuses nothing is answered.
const ADDRESSES: &str = "\
400 /?refresh=1: unknown field `refresh`, expected `table` or `format`
400 /refresh?n=1: unknown field `n`, expected one of `refresh`, `plan`, `q`
400 /seeds?n=1: unknown field `n`
400 /search?p=x: unknown field `p`, expected one of `q`, `state`, `table`, `format`
400 /search?q=x&state=dead: state: unknown variant `dead`
400 /cores?core=1: unknown field `core`
400 /quotas?pages=5&by=size: by: unknown variant `size`
400 /evaluate?plan=x: unknown field `plan`
400 /plans?plan=x: unknown field `plan`
400 /metrics?plan=x: unknown field `plan`
400 /compare?plan=default: unknown field `plan`
400 /batches?to=1: unknown field `to`
400 /batches?method=x: method: no method \"x\", expected
400 /refresh?refresh=x: refresh: invalid value: string \"x\", expected a whole number
400 /refresh?refresh=4294967296: string \"4294967296\", expected a whole number below 2^32
400 /refresh?sort=age: sort: unknown variant `age`, expected one of `rank`, `url`, `site`, `score`, `pages`
400 /refresh?desc=yes: desc:\x20
400 /refresh?q=a&q=b: duplicate field `q`
400 /seeds?refresh=x: expected a whole number
400 /core: missing field `core`
400 /page: missing field `url`
400 /page?url=HUB&format=json: /openapi.json
400 /links?url=HUB: missing field `of`
400 /links?url=HUB&of=both: of: unknown variant `both`, expected `in` or `out`
400 /plans?table=none&format=csv: expected one of common, parameters
400 /explain?url=HUB&format=csv: has no table
409 /diff?from=1&against=other: found both
404 /diff?to=1: no refresh of plan default before refresh 1 is stored
404 /diff?to=4: no refresh of plan other before refresh 4 is stored
404 /diff?to=9: 9
404 /nowhere: Not found
404 /page?url=http%3A%2F%2Fnone.test%2F: none.test
404 /refresh?refresh=9: 9
200 /refresh?refresh=1: <h1>Refresh 1:\x20
200 /core?core=1&refresh=1: <h1>
200 /cores?refresh=1: <h1>
200 /explain?url=HUB&refresh=1: <h1>
200 /seeds?refresh=1: http://h1.example/";

#[test]
fn every_parameter_is_used_or_refused() {
    let place = refreshed(3);
    ok(
        &place,
        &format!("refresh bank --plan other {EXACT} --seeds 1"),
    );
    let served = Served::start(&place, &["bank"]);
    for line in ADDRESSES.lines() {
        let (status, rest) = line.split_once(' ').unwrap();
        let (path, words) = rest.split_once(": ").unwrap();
        let path = path.replace("HUB", &encoded("http://h1.example/"));
        let answer = served.get(&path);
        assert_eq!(answer.status.to_string(), status, "{path}");
        let entities = [
            ("&#34;", "\""),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&amp;", "&"),
        ];
        let replaced = |text: String, (entity, c): (&str, &str)| text.replace(entity, c);
        let text = entities
            .into_iter()
            .fold(answer.text().to_owned(), replaced);
        assert!(text.contains(words), "{path}: {text}");
        // A page of an error leads on.
        if status != "200" && text.starts_with("<!DOCTYPE") {
            assert_eq!(text.matches("action=\"/search\"").count(), 1, "{path}");
            let listed = links(&text);
            for to in ["/", "/batches", "/compare"] {
                assert!(listed.contains(&to.to_owned()), "{path}: {to}");
            }
        }
    }
    // A refresh alone is compared with the one before it, or with the last one.
    let diff = |how: &str| served.get(&format!("/v1/diff?{how}")).done();
    assert_eq!(diff("to=2"), diff("from=1&to=2"));
    assert_eq!(diff("from=1"), diff("from=1&to=3"));
    // Parameters of a posted list count too.
    let as_text = ["Content-Type: text/plain"];
    for (path, status) in [
        ("/compare", 200),
        ("/compare?plan=other", 200),
        ("/compare?plan=none&plan=other", 400),
        ("/compare?format=bogus", 400),
        ("/compare?refresh=1", 400),
    ] {
        let answer = served.ask("POST", path, &as_text, b"http://h1.example/");
        assert_eq!(answer.status, status, "{path}");
    }
    let body = b"--b\r\nContent-Disposition: form-data; name=\"lines\"\r\n\r\na\r\n--b--\r\n";
    let kind = ["Content-Type: multipart/form-data; boundary=b"];
    let answer = served.ask("POST", "/compare", &kind, body);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("list, file, plan"));
    // Beyond its end a list says so, and leads to its first page.
    let hub = encoded("http://h1.example/");
    let outlinks = format!("/links?url={hub}&of=out");
    for (first, and) in [
        ("/refresh?refresh=1", "&"),
        ("/refresh?refresh=1&q=h&sort=url", "&"),
        ("/batches", "?"),
        ("/plan?name=default", "&"),
        (&*outlinks, "&"),
    ] {
        let page = served.get(&format!("{first}{and}from=100")).done();
        let (_, after) = page.split_once("none of them on this page").unwrap();
        assert_eq!(links(after)[0], first);
        assert!(!page.contains("<table"), "{first}");
        let page = served.get(first).done();
        assert!(!page.contains("none of them on this page"), "{first}");
    }
    // The footer names the same as JSON.
    let footer = served.get(&format!("/page?url={hub}")).done();
    let (_, footer) = footer.split_once("<footer>").unwrap();
    for (name, to) in [("The facts as JSON", "page"), ("the history", "history")] {
        let link = format!("<a href=\"/v1/{to}?url={hub}\">{name}</a>");
        assert!(footer.replace("&amp;", "&").contains(&link), "{footer}");
    }
    served.stop();
}

#[test]
fn the_first_page_has_every_plan_and_the_last_refreshes() {
    let place = Place::with_seeds();
    for plan in ["p2", "p3", "p4", "p5", "p6", "p7", "p8"] {
        ok(
            &place,
            &format!("refresh bank --plan {plan} {EXACT} --seeds 1"),
        );
    }
    ok(&place, "refresh bank --plan p8");
    let served = Served::start(&place, &["bank"]);
    let start = || served.get("/").done();
    // The cells of a plan: the goal, the verdict, seeds, dead, a sparkline, new, lost.
    let cells = |page: &str, plan: &str| -> Vec<String> {
        let name = format!("name={plan}\"");
        let row = page.split("<tr>").find(|row| row.contains(&name));
        let cells = row.unwrap().split("<td").skip(1);
        let text = |cell: &str| cell.split_once('>').unwrap().1.replace("</td>", "");
        cells.map(text).collect()
    };
    let page = start();
    let once = cells(&page, "p7");
    assert!(
        once[1] == "not compared" && once[2].ends_with(">1</a>"),
        "{once:?}"
    );
    assert_eq!(once[3..7], ["0", "–", "–", "–"]);
    let twice = cells(&page, "p8");
    assert!(twice[4].starts_with("<svg class=\"spark\""), "{twice:?}");
    assert_eq!(twice[5..7], ["0", "0"]);
    assert_eq!(page.matches("<svg").count(), 1);
    // Each change is seen by the next request.
    for refreshes in 1..=2 {
        ok(&place, &format!("refresh bank {EXACT}"));
        let default = cells(&start(), "default");
        assert_eq!(default[4].matches("<rect").count(), refreshes);
    }
    // The newest five of eleven, the newest first.
    let page = start();
    let (_, listed) = page.split_once("<h2>Last refreshes</h2>").unwrap();
    let listed = links(listed.split_once("</table>").unwrap().0);
    let shown: Vec<String> = listed
        .into_iter()
        .filter(|to| to.starts_with("/refresh"))
        .collect();
    let newest = (7..=11).rev().map(|n| format!("/refresh?refresh={n}"));
    assert_eq!(shown, newest.collect::<Vec<_>>());
    served.stop();
}

#[test]
fn of_many_refreshes_the_oldest_can_be_reached() {
    let place = Place::with_seeds();
    let bank = seedbank::engine::Bank::at(place.path("bank"));
    for _ in 1..103 {
        bank.refresh(&seedbank::engine::RefreshRequest::default())
            .unwrap();
    }
    let served = Served::start(&place, &["bank"]);
    // Both refreshes that are compared are selected in their lists, which have 100, and the two.
    let page = served.get("/diff?from=1&to=2").done();
    let selected = |number: &str| format!("<option value=\"{number}\" selected>");
    assert!(page.contains(&selected("1")) && page.contains(&selected("2")));
    assert_eq!(page.matches(" selected>").count(), 2);
    assert_eq!(page.matches("<option ").count(), 2 * 102);
    let older = "/plan?name=default&from=100".to_owned();
    assert!(links(&served.get("/plan?name=default").done()).contains(&older));
    let page = served.get(&older).done();
    let listed = links(&page);
    for number in 1..=3 {
        assert!(listed.contains(&format!("/refresh?refresh={number}")));
    }
    assert!(!listed.contains(&"/refresh?refresh=4".to_owned()));
    assert!(listed.contains(&"/plan?name=default".to_owned()));
    // The oldest has nothing to be compared with, the next has.
    assert_eq!(page.matches("<td>–</td><td>–</td>").count(), 1);
    served.stop();
}

#[test]
fn every_link_on_a_page_opens_however_long_urls_are() {
    let place = Place::with_bank();
    let long = |letter: &str, count: usize| format!("http://long.test/{}", letter.repeat(count));
    // As an address each byte of the last takes five.
    let urls = [long("a", 5000), long("b", 17_000), long("%C3%A9", 2000)];
    let all: Vec<&str> = urls.iter().map(String::as_str).collect();
    let pages = all.iter().map(|url| record(url, &["http://t.test/"]));
    let hubs = ["http://h1.test/", "http://h2.test/"].map(|hub| record(hub, &all));
    place.write("day.jsonl", pages.chain(hubs).collect::<String>());
    ok(&place, "ingest bank day.jsonl --snapshot");
    ok(&place, &format!("refresh bank {EXACT} --seeds 3"));
    let served = Served::start(&place, &["bank"]);
    let hub = encoded("http://h1.test/");
    for path in [
        "/search?q=long.test".to_owned(),
        format!("/links?url={hub}&of=out"),
        format!("/page?url={hub}"),
        "/core?core=1".to_owned(),
        "/refresh?refresh=1".to_owned(),
        format!("/page?url={}", encoded(&urls[0])),
    ] {
        let page = served.get(&path).done();
        for to in links(&page).iter().filter(|to| to.starts_with('/')) {
            assert_eq!(
                served.get(to).status,
                200,
                "{path}: {}",
                &to[..60.min(to.len())]
            );
        }
        let is_short =
            path.starts_with("/refresh") || path.starts_with("/page?url=http%3A%2F%2Flong");
        assert_eq!(page.contains("too long for a link"), !is_short, "{path}");
    }
    let found = served.get("/search?q=long.test").done();
    for url in &urls[..2] {
        assert!(found.contains(&url[..40]), "{url}");
    }
    assert!(links(&found).contains(&format!("/page?url={}", encoded(&urls[0]))));
    served.stop();
}

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
    let lines = record("http://h1.example/", &["http://a1.example/"]);
    place.write("crawl.jsonl", lines);
    place
        .run(&["ingest", "my bank", "crawl.jsonl", "--snapshot"])
        .done();
    let page = served.get("/").done();
    let refresh = "seedbank refresh &#39;my bank&#39; --seeds 20 --budget 2000";
    assert!(
        page.contains(refresh) && !page.contains("seedbank ingest"),
        "{page}"
    );
    place
        .run(&["refresh", "my bank", "--seeds", "20", "--budget", "2000"])
        .done();
    assert!(!served.get("/").done().contains("seedbank refresh"));
    served.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "all of it looks at one server")]
fn seeds_have_reasons_and_tables_are_files_with_all_rows() {
    let place = refreshed(2);
    ok(
        &place,
        &format!("refresh bank --plan other {EXACT} --seeds 1"),
    );
    ok(
        &place,
        "refresh bank --plan drawn --method random --seeds 1",
    );
    let served = Served::start(&place, &["bank"]);
    for seed in ok(&place, "seeds bank").lines() {
        let explained = ok(&place, &format!("explain bank {seed}"));
        let (_, reason) = explained
            .lines()
            .nth(1)
            .unwrap()
            .split_once(": it ")
            .unwrap();
        let reason = format!("It {}", reason.trim());
        let of_site = format!("/site?name={}", seed.split('/').nth(2).unwrap());
        for path in ["/refresh?refresh=2", "/cores?refresh=2", &of_site] {
            let page = served.get(path).done();
            let has = |row: &str| row.contains(seed) && row.contains(&reason);
            assert!(page.split("<tr>").any(has), "{path}: {reason}: {page}");
        }
    }
    let page = served.get("/diff?from=3&to=2").done();
    assert!(
        page.contains("Why it is a seed") && page.contains("It represents"),
        "{page}"
    );
    // The history by method.
    let page = served.get("/batches?method=random").done();
    assert!(page.contains("1 in all") && page.contains("<b>refreshes by random</b>"));
    assert!(
        page.contains("name=drawn") && !page.contains("name=default"),
        "{page}"
    );
    let history = served.get("/v1/batches?method=random").json();
    assert_eq!(history["refreshes"].as_array().unwrap().len(), 1);
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
        let listed = links(&served.get(path).done());
        let csv: Vec<String> = listed
            .into_iter()
            .filter(|to| to.contains("format=csv"))
            .collect();
        assert!(!csv.is_empty(), "{path} has no CSV");
        files.extend(csv);
    }
    for file in files {
        let answer = served.get(&file);
        assert_eq!(
            answer.header("content-type"),
            "text/csv; charset=utf-8",
            "{file}"
        );
        let text = answer.done();
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        assert!(!rows.headers().unwrap().is_empty(), "{file}");
        assert!(rows.records().all(|row| row.is_ok()), "{file}: {text}");
    }
    for (weight, flags) in [
        ("by=value", "--by value"),
        ("by=seeds&plan=other", "--by seeds --plan other"),
    ] {
        let printed = ok(
            &place,
            &format!("quotas bank --pages 3 --format json {flags}"),
        );
        assert_eq!(
            served.get(&format!("/v1/quotas?pages=3&{weight}")).done(),
            printed
        );
    }
    let quotas = served.get("/quotas?pages=3&table=quotas&format=csv").done();
    assert_eq!(quotas, ok(&place, "quotas bank --pages 3 --format csv"));
    let list = b"http://h1.example/\nhttp://none.test/\n";
    let as_text = ["Content-Type: text/plain"];
    let compared = served
        .ask("POST", "/compare?format=csv", &as_text, list)
        .done();
    assert!(compared.starts_with("line,page,state,in_the_plan,why\r\n1,http://h1.example/,alive,"));
    assert!(
        compared.contains("\r\n2,http://none.test/,not in the bank,,\r\n"),
        "{compared}"
    );
    served.stop();
}

/// Over the web a seed may be covered by one of any site, so no page says that it is one of the same site.
#[test]
fn a_plan_over_the_web_is_not_described_as_one_of_sites() {
    let place = Place::with_bank();
    let to = |numbers: std::ops::Range<u32>| -> Vec<String> {
        numbers.map(|at| format!("http://p{at}.example/")).collect()
    };
    let page = |url: &str, to: Vec<String>| {
        record(url, &to.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let first = page("http://one.example/", to(0..5)) + &page("http://two.example/", to(5..9));
    place.write("day-0.jsonl", first);
    // A link from the seed of another site to the second seed: the former now covers what the latter covers.
    let all = [to(0..9), vec!["http://two.example/".to_owned()]].concat();
    place.write("day-1.jsonl", page("http://one.example/", all));
    ok(&place, "ingest bank day-0.jsonl");
    ok(
        &place,
        "refresh bank --method greedy --scope web --hops 2 --seeds 5 --value-known 1",
    );
    ok(&place, "ingest bank day-1.jsonl");
    ok(&place, "refresh bank");
    let served = Served::start(&place, &["bank"]);
    let page = served.get("/diff?from=1&to=2").done();
    assert!(page.contains("another seed covers it now"), "{page}");
    assert!(!page.contains("of its site"), "{page}");
    served.stop();
}

#[test]
fn the_page_of_a_plan_has_what_crawls_from_its_seeds_found() {
    let place = Place::with_bank();
    let targets = ["http://a.example/<b>", "http://b.example/"];
    place.write("first.jsonl", record("http://a.example/", &targets));
    ok(&place, "ingest bank first.jsonl --as-of 2026-11-01");
    ok(
        &place,
        "refresh bank --method greedy --scope web --seeds 1 --hops 1 --fetch-cost 0.1 --value-known 0.5",
    );
    let served = Served::start(&place, &["bank"]);
    let plan = "/plan?name=default";
    let heading = "What crawls from the seeds brought";
    assert!(!served.get(plan).done().contains(heading));
    let crawl = r#"{"url": "http://a.example/<b>", "outlinks": [], "fetched": "2026-11-02", "seed": "http://a.example/", "via": "http://a.example/", "depth": 1}"#;
    place
        .run_with(&["ingest", "bank", "-"], crawl.as_bytes())
        .done();
    assert!(served.get(plan).done().contains(heading));
    let csv = served
        .get("/plan?name=default&format=csv&table=results")
        .done();
    let expected = "rank,seed,fetched,new,failed,duplicates,promised_pages,promised_known\r\n\
                    1,http://a.example/,1,1,0,0,3,2\r\n";
    assert_eq!(csv, expected);
    let page = served
        .get("/page?url=http%3A%2F%2Fa.example%2F%3Cb%3E")
        .done();
    assert!(
        page.contains("fetch in batch 2 from seed ") && page.contains("1 link deep"),
        "{page}"
    );
    served.stop();
}
