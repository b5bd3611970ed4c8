//! Pages use every parameter and keep submitted text, and every link on them works.
//!
//! Bug classes: an ignored parameter, two lists compared in the wrong order, a form that loses its
//! text, a plan or a refresh that no page shows, a link that is longer than the server accepts.

use serde_json::Value;

use crate::support::command::{Place, record};
use crate::support::http::{Answer, Served, encoded, links};
use crate::support::plans::refresh;

/// A bank of two cores, refreshed so many times.
pub fn refreshed(times: usize) -> Place {
    let place = Place::with_seeds();
    for _ in 1..times {
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
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

/// What stands in the box for a list.
fn typed(page: &str) -> &str {
    let (_, after) = page.split_once("<textarea").unwrap();
    let (_, after) = after.split_once(">\n").unwrap();
    after.split_once("</textarea>").unwrap().0
}

/// What a page is refused with.
#[track_caller]
fn refused(served: &Served, path: &str, status: u16) -> String {
    let page = served.get(path);
    assert_eq!(page.status, status, "{path}");
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let text = page.text();
    let entities = [
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    entities
        .iter()
        .fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c))
}

#[test]
fn a_file_counts_before_what_was_typed() {
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
    // An empty file was chosen too.
    let page = form(&served, "default", list, Some(("none.txt", "")));
    assert_eq!(page.status, 400);
    assert!(page.text().contains("the list contains no seeds"));
    served.stop();
}

#[test]
fn a_list_that_cannot_be_compared_stands_there_still() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let long = (0..2001).map(|n| format!("http://a.test/{n}\n"));
    let long = long.collect::<Vec<_>>().concat();
    for (plan, list, status, why) in [
        ("default", long.as_str(), 413, "at most 2000 URLs"),
        (
            "default",
            "# a comment\n\n# and one more\n",
            400,
            "contains no seeds",
        ),
        ("none", "http://h1.example/\n", 404, "none"),
    ] {
        let answer = form(&served, plan, list, None);
        assert_eq!(answer.status, status, "{why}");
        let page = answer.text();
        assert!(
            page.contains("role=\"alert\"") && page.contains(why),
            "{page}"
        );
        assert_eq!(typed(page), list);
        // Programs have the error alone.
        let path = format!("/v1/compare?plan={plan}");
        let as_text = ["Content-Type: text/plain"];
        let answer = served.ask("POST", &path, &as_text, list.as_bytes());
        assert_eq!(answer.status, status, "{why}");
        let told: Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(told["detail"].as_str().unwrap().contains(why), "{told}");
    }
    let answer = form(&served, "default", "", Some(("long.txt", &long)));
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("The uploaded file was used."));
    assert_eq!(typed(answer.text()), "");
    served.stop();
}

#[test]
fn no_parameter_is_passed_over() {
    let place = refreshed(3);
    let other = [
        "refresh", "bank", "--plan", "other", "--method", "cores", "--within", "0", "--seeds", "1",
    ];
    place.run(&other).done();
    let served = Served::start(&place, &["bank"]);
    let url = encoded("http://h1.example/");
    for (path, why) in [
        (
            "/?refresh=1",
            "unknown field `refresh`, expected `table` or `format`",
        ),
        (
            "/refresh?n=1",
            "unknown field `n`, expected one of `refresh`, `plan`, `q`",
        ),
        ("/seeds?n=1", "unknown field `n`"),
        (
            "/search?p=x",
            "unknown field `p`, expected one of `q`, `state`, `table`, `format`",
        ),
        ("/search?q=x&state=dead", "state: unknown variant `dead`"),
        ("/cores?core=1", "unknown field `core`"),
        ("/quotas?pages=5&by=size", "by: unknown variant `size`"),
        ("/evaluate?plan=x", "unknown field `plan`"),
        ("/plans?plan=x", "unknown field `plan`"),
        ("/metrics?plan=x", "unknown field `plan`"),
        ("/compare?plan=default", "unknown field `plan`"),
        ("/batches?to=1", "unknown field `to`"),
        ("/batches?method=x", "method: no method \"x\", expected"),
        (
            "/refresh?refresh=x",
            "refresh: invalid value: string \"x\", expected a whole number",
        ),
        (
            "/refresh?refresh=4294967296",
            "string \"4294967296\", expected a whole number below 2^32",
        ),
        (
            "/refresh?sort=age",
            "sort: unknown variant `age`, expected one of `rank`, `url`, `site`, `score`, `pages`",
        ),
        ("/refresh?desc=yes", "desc: "),
        ("/refresh?q=a&q=b", "duplicate field `q`"),
        ("/seeds?refresh=x", "expected a whole number"),
        ("/core", "missing field `core`"),
        ("/page", "missing field `url`"),
        (&format!("/links?url={url}"), "missing field `of`"),
        (
            &format!("/links?url={url}&of=both"),
            "of: unknown variant `both`, expected `in` or `out`",
        ),
    ] {
        let told = refused(&served, path, 400);
        assert!(told.contains(why), "{path}: {told}");
    }
    let told = refused(&served, "/diff?from=1&against=other", 409);
    assert!(told.contains("found both"), "{told}");
    // A refresh has one name at every address.
    for path in [
        "/refresh",
        "/core?core=1",
        "/cores",
        "/seeds",
        "/explain?url=",
    ] {
        let and = if path.contains('?') { '&' } else { '?' };
        let path = path.replace("url=", &format!("url={url}"));
        assert_eq!(
            served.get(&format!("{path}{and}refresh=1")).status,
            200,
            "{path}"
        );
    }
    let one = served.get("/refresh?refresh=1").done();
    assert!(one.contains("<h1>Refresh 1: "), "{one}");
    // The later refresh alone is compared with the one before it.
    let diff = |how: &str| served.get(&format!("/v1/diff?{how}")).done();
    assert_eq!(diff("to=2"), diff("from=1&to=2"));
    assert_eq!(diff("from=1"), diff("from=1&to=3"));
    for (path, why) in [
        (
            "/diff?to=1",
            "no refresh of plan default before refresh 1 is stored",
        ),
        (
            "/diff?to=4",
            "no refresh of plan other before refresh 4 is stored",
        ),
        ("/diff?to=9", "9"),
    ] {
        let told = refused(&served, path, 404);
        assert!(told.contains(why), "{path}: {told}");
    }
    served.stop();
}

#[test]
fn what_is_sent_is_looked_at_as_well_as_what_is_asked() {
    let place = refreshed(1);
    let other = refresh(&["--plan", "other", "--seeds", "1"]);
    place.run(&other).done();
    let served = Served::start(&place, &["bank"]);
    let as_text = ["Content-Type: text/plain"];
    let ask = |path: &str| {
        served
            .ask("POST", path, &as_text, b"http://h1.example/")
            .status
    };
    assert_eq!(ask("/compare"), 200);
    assert_eq!(ask("/compare?plan=other"), 200);
    for path in [
        "/compare?plan=none&plan=other",
        "/compare?format=bogus",
        "/compare?refresh=1",
    ] {
        assert_eq!(ask(path), 400, "{path}");
    }
    let body = b"--b\r\nContent-Disposition: form-data; name=\"lines\"\r\n\r\na\r\n--b--\r\n";
    let kind = ["Content-Type: multipart/form-data; boundary=b"];
    let answer = served.ask("POST", "/compare", &kind, body);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("list, file, plan"));
    served.stop();
}

#[test]
fn the_first_page_tells_of_every_plan_and_of_the_last_refreshes() {
    let place = Place::with_seeds();
    for plan in ["p2", "p3", "p4", "p5", "p6", "p7", "p8"] {
        let named = [
            "refresh", "bank", "--plan", plan, "--method", "cores", "--within", "0", "--seeds", "1",
        ];
        place.run(&named).done();
    }
    place.run(&["refresh", "bank", "--plan", "p8"]).done();
    let served = Served::start(&place, &["bank"]);
    let start = || served.get("/").done();
    // The cells of a plan: the goal, the verdict, seeds, dead, a sparkline, new, lost.
    let cells = |page: &str, plan: &str| -> Vec<String> {
        let row = page
            .split("<tr>")
            .find(|row| row.contains(&format!("name={plan}\"")));
        let cells = row.unwrap().split("<td").skip(1);
        let text = |cell: &str| cell.split_once('>').unwrap().1.replace("</td>", "");
        cells.map(text).collect()
    };
    let page = start();
    let of_plan = cells(&page, "p7");
    assert!(of_plan[2].ends_with(">1</a>"), "{of_plan:?}");
    assert_eq!(of_plan[1], "not compared");
    assert_eq!(of_plan[3..7], ["0", "–", "–", "–"]);
    // It is the eighth, and has two refreshes.
    let of_plan = cells(&page, "p8");
    assert!(
        of_plan[4].starts_with("<svg class=\"spark\""),
        "{of_plan:?}"
    );
    assert_eq!(of_plan[5..7], ["0", "0"]);
    assert_eq!(page.matches("<svg").count(), 1);
    // Each change is seen by the next request.
    for refreshes in 1..=2 {
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
        let page = start();
        let of_plan = cells(&page, "default");
        assert_eq!(of_plan[4].matches("<rect").count(), refreshes);
        assert_eq!(of_plan[5..7], ["0", "0"]);
    }
    let page = start();
    assert_eq!(start(), page);
    // The newest five of eleven, and the first of them is the newest.
    let (_, listed) = page.split_once("<h2>Last refreshes</h2>").unwrap();
    let (listed, _) = listed.split_once("</table>").unwrap();
    let listed = links(listed);
    let shown: Vec<&String> = listed
        .iter()
        .filter(|to| to.starts_with("/refresh"))
        .collect();
    let newest: Vec<String> = (7..=11)
        .rev()
        .map(|n| format!("/refresh?refresh={n}"))
        .collect();
    assert_eq!(shown, newest.iter().collect::<Vec<_>>());
    served.stop();
}

#[test]
fn of_many_refreshes_the_oldest_can_be_reached() {
    let place = refreshed(103);
    let served = Served::start(&place, &["bank"]);
    // Both that are compared can be seen to be chosen.
    let page = served.get("/diff?from=1&to=2").done();
    let chosen = |number: &str| format!("<option value=\"{number}\" selected>");
    assert!(page.contains(&chosen("1")) && page.contains(&chosen("2")));
    assert_eq!(page.matches(" selected>").count(), 2);
    // Each list has 100, and the two.
    assert_eq!(page.matches("<option ").count(), 2 * 102);
    let plan = served.get("/plan?name=default").done();
    let older = "/plan?name=default&from=100".to_owned();
    assert!(links(&plan).contains(&older), "{plan}");
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
fn beyond_its_end_a_list_says_so() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    let url = encoded("http://h1.example/");
    for (path, first) in [
        ("/refresh?refresh=1&from=100", "/refresh?refresh=1"),
        (
            "/refresh?refresh=1&q=h&sort=url&from=7",
            "/refresh?refresh=1&q=h&sort=url",
        ),
        ("/batches?from=100", "/batches"),
        ("/plan?name=default&from=100", "/plan?name=default"),
        (
            &format!("/links?url={url}&of=out&from=9"),
            &format!("/links?url={url}&of=out"),
        ),
    ] {
        let page = served.get(path).done();
        let (_, told) = page.split_once("none of them on this page").unwrap();
        assert_eq!(links(told)[0], first, "{path}");
        assert!(!page.contains("<table"), "{path}");
        assert!(
            !served
                .get(first)
                .done()
                .contains("none of them on this page"),
            "{first}"
        );
    }
    served.stop();
}

#[test]
fn what_is_there_as_json_is_what_it_is_called() {
    let place = refreshed(2);
    let served = Served::start(&place, &["bank"]);
    let url = encoded("http://h1.example/");
    for (path, named) in [
        (
            "/refresh?refresh=2&sort=url",
            vec![
                ("This refresh as JSON", "/v1/refresh?refresh=2".to_owned()),
                ("its first seeds", "/v1/seeds?refresh=2".to_owned()),
            ],
        ),
        (
            "/core?core=1",
            vec![
                ("This core as JSON", "/v1/core?refresh=2&core=1".to_owned()),
                (
                    "its links and neighbours",
                    "/v1/core-links?refresh=2&core=1".to_owned(),
                ),
            ],
        ),
        (
            &format!("/page?url={url}"),
            vec![
                ("The facts as JSON", format!("/v1/page?url={url}")),
                ("the history", format!("/v1/history?url={url}")),
            ],
        ),
        ("/compare", vec![]),
    ] {
        let page = served.get(path).done();
        let (_, footer) = page.split_once("<footer>").unwrap();
        let footer = footer.replace("&amp;", "&");
        assert_eq!(footer.matches("<a ").count(), named.len(), "{path}");
        for (name, to) in named {
            let link = format!("<a href=\"{to}\">{name}</a>");
            assert!(footer.contains(&link), "{path}: {footer}");
            assert!(served.get(&to).done().starts_with('{'), "{to}");
        }
    }
    let page = served.get(&format!("/history?url={url}")).done();
    assert!(page.contains("in 2 of 2 stored refreshes"), "{page}");
    served.stop();
}

#[test]
fn every_link_on_a_page_opens_however_long_urls_are() {
    let place = Place::with_bank();
    let long = |letter: &str, count: usize| format!("http://long.test/{}", letter.repeat(count));
    // As an address each byte of the last takes five.
    let urls = [long("a", 5000), long("b", 17_000), long("%C3%A9", 2000)];
    let mut lines: String = urls
        .iter()
        .map(|url| record(url, &["http://t.test/"]))
        .collect();
    let all: Vec<&str> = urls.iter().map(String::as_str).collect();
    lines.push_str(&record("http://h1.test/", &all));
    lines.push_str(&record("http://h2.test/", &all));
    place.write("day.jsonl", lines);
    place
        .run(&["ingest", "bank", "day.jsonl", "--snapshot"])
        .done();
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "3",
        ])
        .done();
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
        for to in links(&page) {
            if to.starts_with('/') {
                assert_eq!(
                    served.get(&to).status,
                    200,
                    "{path}: {}",
                    &to[..60.min(to.len())]
                );
            }
        }
        let short = path.starts_with("/refresh") || path.starts_with("/page?url=http%3A%2F%2Flong");
        assert_eq!(page.contains("too long for a link"), !short, "{path}");
    }
    let found = served.get("/search?q=long.test").done();
    // All three are shown, and the shortest leads to its page.
    for url in [&urls[0][..40], &urls[1][..40]] {
        assert!(found.contains(url), "{url}");
    }
    assert!(links(&found).contains(&format!("/page?url={}", encoded(&urls[0]))));
    served.stop();
}

#[test]
fn a_page_of_a_fault_leads_on() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    for (path, status) in [
        ("/nowhere", 404),
        ("/page?url=http%3A%2F%2Fnone.test%2F", 404),
        ("/refresh?refresh=x", 400),
        ("/refresh?refresh=9", 404),
        ("/?format=bogus", 400),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, status, "{path}");
        let page = answer.text();
        assert_eq!(page.matches("action=\"/search\"").count(), 1, "{path}");
        assert_eq!(page.matches("<header").count(), 1, "{path}");
        let listed = links(page);
        for to in ["/", "/batches", "/compare"] {
            assert!(listed.contains(&to.to_owned()), "{path}: {to}");
        }
    }
    served.stop();
}
