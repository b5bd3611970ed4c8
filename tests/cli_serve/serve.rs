//! The server: every address answers what the command line prints, byte for byte if both are JSON, and nothing is served
//! without permission.
//!
//! Bug classes: limits or defaults that differ from those of the command, a page without HTML or without JSON, a server
//! that is open without a token, an answer that is more than three clicks away.

use std::net::TcpListener;

use seedbank::engine::Bank;
use seedbank::engine::query::PageLimits;
use serde_json::Value;

use crate::support::command::Place;
use crate::support::http::{Served, encoded, links};

/// Runs a command, which must succeed; arguments have no spaces.
#[track_caller]
pub fn ok(place: &Place, line: &str) -> String {
    place.run(&line.split(' ').collect::<Vec<_>>()).done()
}

/// The JSON that a command prints.
#[track_caller]
fn json(place: &Place, line: &str) -> Value {
    serde_json::from_str(&ok(place, &format!("{line} --format json"))).unwrap()
}

/// A place with a crawl in `bank`: a snapshot and a day, with a refresh after each.
pub fn crawled() -> Place {
    let place = Place::with_bank();
    for line in [
        "synth crawl --pages 2000 --days 2 --rng-seed 1",
        "ingest bank crawl/day-000.jsonl.zst --snapshot",
        "refresh bank --method cores --within 0 --seeds 20",
        "ingest bank crawl/day-001.jsonl.zst",
        "refresh bank --method cores --within 0",
    ] {
        ok(&place, line);
    }
    place
}

/// Some URLs of the bank.
fn urls(place: &Place, most: usize) -> Vec<String> {
    let found = json(place, &format!("search bank example --limit {most}"));
    let pages = found["pages"].as_array().unwrap().iter();
    pages
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect()
}

/// A status without what depends on when it was made.
fn timeless(mut status: Value) -> Value {
    let fields = status.as_object_mut().unwrap();
    fields.remove("at").unwrap();
    fields["last_batch"]
        .as_object_mut()
        .unwrap()
        .remove("age")
        .unwrap();
    for plan in fields["plans"].as_array_mut().unwrap() {
        plan.as_object_mut().unwrap().remove("age").unwrap();
    }
    status
}

#[test]
fn what_cannot_be_served_is_refused() {
    let place = Place::with_seeds();
    let serve = |args: &[&str]| place.run(&[&["serve", "bank", "--listen"], args].concat());
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error = serve(&[address]).fails(2);
        assert!(
            error.contains("can be reached from other machines"),
            "{error}"
        );
        assert!(
            error.contains("hint: ") && error.contains("--token-file"),
            "{error}"
        );
    }
    let tokens: [(&[u8], &str); 6] = [
        (b"", "at least 16 bytes, found 0"),
        (b"123456789012345\n", "at least 16 bytes, found 15"),
        (b"0123456789 abcdef", "without spaces"),
        (b"0123456789\nabcdef", "without spaces"),
        (b"0123456789abcdef\xff", "ASCII"),
        (&[b'a'; 4097], "at most 4096 bytes"),
    ];
    for (bytes, why) in tokens {
        place.write("token", bytes);
        let error = serve(&["127.0.0.1:0", "--token-file", "token"]).fails(2);
        // A log must not contain the secret.
        assert!(
            error.contains(why) && !error.contains("0123456789"),
            "{error}"
        );
    }
    let error = serve(&["127.0.0.1:0", "--token-file", "none"]).fails(2);
    assert!(error.contains("none: No such file"), "{error}");
    for address in ["localhost:80", "127.0.0.1", "127.0.0.1:65536", "nowhere"] {
        assert_eq!(serve(&[address]).status, Some(2), "{address}");
    }
    let error = place
        .run(&["serve", "nobank", "--listen", "127.0.0.1:0"])
        .fails(4);
    assert!(error.contains("nobank is not a bank"), "{error}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = serve(&[&address]).fails(1);
    assert!(
        error.contains(&format!("cannot listen on {address}")),
        "{error}"
    );
    // With a token the bank is served to others, with a warning.
    place.write("token", "a-secret-of-its-own\r\n\n");
    let args = ["bank", "--listen", "0.0.0.0:0", "--token-file", "token"];
    let served = Served::start(&place, &args);
    let address = format!("127.0.0.1:{}", served.address.port());
    let mut connection = crate::support::http::Connection::to(address.parse().unwrap());
    for (header, status) in [
        ("", 401),
        ("Authorization: Bearer a-secret-of-its-own\r\n", 200),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n{header}\r\n");
        assert!(connection.send(request.as_bytes()));
        assert_eq!(connection.answer(true).unwrap().status, status, "{header}");
    }
    drop(connection);
    let err = served.stop();
    assert!(err.contains("can read the whole bank"), "{err}");
    assert!(!err.contains("a-secret-of-its-own"), "{err}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "all of it looks at one server")]
fn every_address_is_a_page_and_what_the_command_line_prints() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    let list = ok(&place, "seeds bank");
    let seed = list.lines().next().unwrap();
    let site = json(&place, &format!("explain bank {seed}"))["site"]
        .as_str()
        .unwrap()
        .to_owned();
    let url = encoded(seed);
    for (path, line) in [
        (
            format!("/page?url={url}"),
            format!("page bank {seed} --format json"),
        ),
        (
            format!("/explain?url={url}"),
            format!("explain bank {seed} --format json"),
        ),
        (
            format!("/explain?url={url}&refresh=1"),
            format!("explain bank {seed} --refresh 1 --format json"),
        ),
        (
            format!("/links?url={url}&of=in"),
            format!("page bank {seed} --links in --format json"),
        ),
        (
            format!("/links?url={url}&of=out&offset=3"),
            format!("page bank {seed} --links out --from 3 --format json"),
        ),
        (
            format!("/history?url={url}"),
            format!("history bank {seed} --format json"),
        ),
        (
            format!("/history?url={url}&plan=default"),
            format!("history bank {seed} --plan default --format json"),
        ),
        (
            format!("/site?name={}", encoded(&site)),
            format!("site bank {site} --format json"),
        ),
        (
            "/core?core=2".to_owned(),
            "cores bank --core 2 --format jsonl".to_owned(),
        ),
        (
            "/core?core=1&refresh=1".to_owned(),
            "cores bank --core 1 --refresh 1 --format jsonl".to_owned(),
        ),
        ("/plans".to_owned(), "plans bank --format json".to_owned()),
        (
            "/batches".to_owned(),
            "history bank --format json".to_owned(),
        ),
        (
            "/search?q=kitchen".to_owned(),
            "search bank kitchen --format json".to_owned(),
        ),
    ] {
        let html = served.get(&path.replace("&offset=", "&from="));
        assert_eq!(html.header("content-type"), "text/html; charset=utf-8");
        let html = html.done();
        assert!(
            html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"),
            "{path}"
        );
        // The server names inputs without their folders.
        let printed = ok(&place, &line).replace("\"crawl/", "\"");
        let path = format!("/v1{path}");
        let answer = served.get(&path);
        assert_eq!(answer.header("content-type"), "application/json", "{path}");
        assert_eq!(answer.done(), printed, "{path}");
        let head = served.ask("HEAD", &path, &[], b"");
        assert_eq!(head.status, 200, "{path}");
        assert_eq!(head.header("content-length"), printed.len().to_string());
    }
    let links = ok(&place, "cores bank --core 2 --links --format jsonl");
    assert_eq!(served.get("/v1/core-links?core=2").done(), links);
    let status = timeless(json(&place, "status bank"));
    assert_eq!(timeless(served.get("/v1/status").json()), status);
    let plan = json(&place, "plans bank show default");
    assert_eq!(served.get("/v1/plan?name=default").json(), plan, "plan");
    let history = json(&place, "history bank");
    for (n, refresh) in (1..).zip(history["refreshes"].as_array().unwrap()) {
        assert_eq!(
            &served.get(&format!("/v1/refresh?refresh={n}")).json(),
            refresh
        );
    }
    for path in ["/", "/plan?name=default", "/refresh", "/compare", "/search"] {
        assert!(served.get(path).done().ends_with("</html>\n"), "{path}");
    }
    // The command line has the name of the file.
    let mine = format!("# mine\n{list}http://nowhere.test/ x\nno URL\n\n{list}");
    place.write("mine.txt", &mine);
    let mut printed = json(&place, "compare bank mine.txt");
    printed["list"] = "the list".into();
    let as_text = ["Content-Type: text/plain"];
    let answer = served.ask("POST", "/v1/compare", &as_text, mine.as_bytes());
    assert_eq!(answer.json(), printed);
    // Metrics are what the command writes to a file, and then those of requests.
    ok(&place, "status bank --metrics bank.prom");
    let written = std::fs::read_to_string(place.path("bank.prom")).unwrap();
    let metrics = served.get("/metrics");
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(metrics.header("content-type"), kind);
    let metrics = metrics.done();
    let (of_bank, _) = metrics
        .split_once("# HELP seedbank_http_requests_total ")
        .unwrap();
    assert_eq!(of_bank, written);
    assert_eq!(served.get("/healthz").done(), "ok\n");
    // Lists in every format.
    for (format, kind, ending) in [
        ("text", "text/plain; charset=utf-8", "txt"),
        ("jsonl", "application/jsonl; charset=utf-8", "jsonl"),
        ("csv", "text/csv; charset=utf-8", "csv"),
        ("nutch", "text/plain; charset=utf-8", "txt"),
        ("heritrix", "text/plain; charset=utf-8", "txt"),
    ] {
        let path = format!("/seeds?refresh=1&format={format}");
        let answer = served.get(&path);
        assert_eq!(answer.header("content-type"), kind, "{path}");
        let saved = format!("attachment; filename=\"seeds-default-1.{ending}\"");
        assert_eq!(answer.header("content-disposition"), saved, "{path}");
        let printed = ok(&place, &format!("seeds bank --refresh 1 --format {format}"));
        assert_eq!(answer.done(), printed, "{path}");
    }
    assert_eq!(served.get("/seeds").done(), list);
    served.stop();
}

#[test]
fn hundreds_of_pages_are_as_the_command_line_prints_them() {
    let place = crawled();
    let urls = urls(&place, 400);
    let served = Served::start(&place, &["bank"]);
    let bank = Bank::at(place.path("bank")).pinned().unwrap();
    let explain = ["explain", "bank", "-", "--format", "json"];
    let explained = place.run_with(&explain, urls.join("\n").as_bytes()).done();
    assert_eq!(explained.lines().count(), urls.len());
    for (at, (url, why)) in urls.iter().zip(explained.lines()).enumerate() {
        let path = format!("?url={}", encoded(url));
        let page = served.get(&format!("/v1/page{path}")).done();
        // A process for each page would take too long, so the library answers most of them.
        let facts = bank.page(url, PageLimits::AS_JSON).unwrap();
        assert_eq!(page, serde_json::to_string(&facts).unwrap() + "\n", "{url}");
        if at % 50 == 0 {
            assert_eq!(
                page,
                ok(&place, &format!("page bank {url} --format json")),
                "{url}"
            );
        }
        let answer = served.get(&format!("/v1/explain{path}")).done();
        assert_eq!(answer.trim_end(), why, "{url}");
    }
    served.stop();
}

#[test]
fn why_is_at_most_three_clicks_away() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    let start = served.get("/").done();
    // The form of the first page is one click.
    let form = start
        .split("<form")
        .find(|form| form.contains("name=\"q\""));
    assert!(form.unwrap().contains("action=\"/search\""));
    let searched = |url: &str| served.get(&format!("/search?q={}", encoded(url))).done();
    let explain = ["explain", "bank", "-", "--format", "json"];
    let all = place
        .run_with(&explain, urls(&place, 1000).join("\n").as_bytes())
        .json_lines();
    for kind in ["core-seed", "core-member", "near-core", "gone", "known"] {
        let is_kind = |answer: &&Value| answer["kind"] == kind || answer["page"]["state"] == kind;
        let answer = all.iter().find(is_kind).unwrap();
        let url = answer["url"].as_str().unwrap();
        let to_page = format!("/page?url={}", encoded(url));
        assert!(links(&searched(url)).contains(&to_page), "{kind}");
        let page = served.get(&to_page).done();
        let to_why = format!("/explain?url={}&refresh=2", encoded(url));
        assert!(links(&page).contains(&to_why), "{kind}: {page}");
        let why = served.get(&to_why).done();
        let is_bare = ["gone", "known"].contains(&kind);
        assert!(is_bare || why.contains("<h2>Evidence</h2>"), "{kind}");
    }
    // A seed and its core are found without a search too.
    assert!(links(&start).contains(&"/refresh?refresh=2".to_owned()));
    let listed = links(&served.get("/refresh?refresh=2").done());
    for seed in ok(&place, "seeds bank").lines() {
        assert!(
            listed.contains(&format!("/page?url={}", encoded(seed))),
            "{seed}"
        );
    }
    for core in 1..=20 {
        assert!(
            listed.contains(&format!("/core?refresh=2&core={core}")),
            "{core}"
        );
    }
    // A search for a page that the bank does not have says so, and its address leads on.
    let none = searched("http://nowhere.test/none");
    assert!(none.contains("The bank has no page and no site"), "{none}");
    let unknown = served.get(&format!("/page?url={}", encoded("http://nowhere.test/")));
    assert_eq!(unknown.status, 404);
    assert!(
        unknown
            .text()
            .contains("does not contain http://nowhere.test/")
    );
    assert!(links(unknown.text()).contains(&"/".to_owned()));
    served.stop();
}
