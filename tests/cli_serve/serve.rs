//! The server: every address answers what the command line prints, byte for byte if both are JSON, and
//! nothing is served without permission.
//!
//! Bug classes: limits or defaults that differ from those of the command, a page without HTML or
//! without JSON, a server that is open without a token, an answer that is more than three clicks away.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use seedbank::engine::Bank;
use seedbank::engine::query::PageLimits;
use serde_json::Value;

use crate::support::command::Place;
use crate::support::http::{Served, encoded, links};

/// A place with a crawl in `bank`: a snapshot and a day, with a refresh after each.
pub fn crawled() -> Place {
    let place = Place::with_bank();
    let pages = ["--pages", "2000", "--days", "2", "--rng-seed", "1"];
    place
        .run(&[&["synth", "crawl"], &pages[..]].concat())
        .done();
    let snapshot = ["ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot"];
    place.run(&snapshot).done();
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "20",
        ])
        .done();
    let day = ["ingest", "bank", "crawl/day-001.jsonl.zst"];
    place.run(&day).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place
}

/// URLs of the bank, at most so many.
fn urls(place: &Place, most: usize) -> Vec<String> {
    let limit = most.to_string();
    let search = ["search", "bank", "example", "--limit", &limit];
    let found = place
        .run(&[&search[..], &["--format", "json"]].concat())
        .json();
    let pages = found["pages"].as_array().unwrap();
    pages
        .iter()
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect()
}

/// A status without what depends on when it was asked.
fn timeless(mut status: Value) -> Value {
    let fields = status.as_object_mut().unwrap();
    fields.remove("at").unwrap();
    if let Some(batch) = fields["last_batch"].as_object_mut() {
        batch.remove("age").unwrap();
    }
    for plan in fields["plans"].as_array_mut().unwrap() {
        plan.as_object_mut().unwrap().remove("age").unwrap();
    }
    status
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = Place::with_seeds();
    let serve = |args: &[&str]| place.run(&[&["serve", "bank", "--listen"], args].concat());
    let told = serve(&["0.0.0.0:0"]).fails(2);
    assert!(told.contains("can be reached from other machines"));
    assert!(told.contains("hint: ") && told.contains("--token-file"));
    let told = serve(&["[::]:0"]).fails(2);
    assert!(told.contains("--token-file"), "{told}");
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
        let told = serve(&["127.0.0.1:0", "--token-file", "token"]).fails(2);
        assert!(told.contains(why), "{told}");
        // Whoever reads a log learns nothing of the secret.
        assert!(!told.contains("0123456789"), "{told}");
    }
    let told = serve(&["127.0.0.1:0", "--token-file", "none"]).fails(2);
    assert!(told.contains("none: No such file"), "{told}");
    for address in ["localhost:80", "127.0.0.1", "127.0.0.1:65536", "nowhere"] {
        assert_eq!(serve(&[address]).status, Some(2), "{address}");
    }
    let told = place.run(&["serve", "nobank", "--listen", "127.0.0.1:0"]);
    let told = told.fails(4);
    assert!(told.contains("nobank is not a bank"), "{told}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = serve(&[&address]).fails(1);
    assert!(
        told.contains(&format!("cannot listen on {address}")),
        "{told}"
    );
    assert!(told.contains("hint: ") && told.contains("--listen"));
}

#[test]
fn where_others_reach_it_a_token_is_asked_for_and_a_warning_told() {
    let place = Place::with_seeds();
    place.write("token", "a secret of its own".replace(' ', "-") + "\r\n\n");
    let served = Served::start(
        &place,
        &["bank", "--listen", "0.0.0.0:0", "--token-file", "token"],
    );
    let address = format!("127.0.0.1:{}", served.address.port());
    let mut connection = crate::support::http::Connection::to(address.parse().unwrap());
    for (header, status) in [
        ("", 401),
        ("Authorization: Bearer a-secret-of-its-own\r\n", 200),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n{header}\r\n");
        assert!(connection.send(request.as_bytes()));
        let answer = connection.answer(true).unwrap();
        assert_eq!(answer.status, status, "{header}");
        let asked = answer.header("www-authenticate").starts_with("Basic ");
        assert_eq!(asked, status == 401);
    }
    drop(connection);
    let err = served.stop();
    assert!(err.contains("can read the whole bank"), "{err}");
    assert!(!err.contains("a-secret-of-its-own"), "{err}");
}

#[test]
fn every_address_is_a_page_and_what_the_command_line_prints() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    let list = place.run(&["seeds", "bank"]).done();
    let seed = list.lines().next().unwrap();
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(history["refreshes"].as_array().unwrap().len(), 2);
    let explained = place.run(&["explain", "bank", seed, "--format", "json"]);
    let site = explained.json()["site"].as_str().unwrap().to_owned();
    let url = encoded(seed);
    let page = |name: &str, rest: &str| format!("/{name}?url={url}{rest}");
    let json = ["--format", "json"];
    let jsonl = ["--format", "jsonl"];
    let cases: Vec<(String, Vec<&str>, &str)> = vec![
        (page("page", ""), vec!["page", "bank", seed], "json"),
        (page("explain", ""), vec!["explain", "bank", seed], "json"),
        (
            page("explain", "&refresh=1"),
            vec!["explain", "bank", seed, "--refresh", "1"],
            "json",
        ),
        (
            page("links", "&of=in"),
            vec!["page", "bank", seed, "--links", "in"],
            "json",
        ),
        (
            page("links", "&of=out&offset=3"),
            vec!["page", "bank", seed, "--links", "out", "--from", "3"],
            "json",
        ),
        (
            "/core?core=2".into(),
            vec!["cores", "bank", "--core", "2"],
            "jsonl",
        ),
        ("/plans".into(), vec!["plans", "bank"], "json"),
        (page("history", ""), vec!["history", "bank", seed], "json"),
        (
            page("history", "&plan=default"),
            vec!["history", "bank", seed, "--plan", "default"],
            "json",
        ),
        (
            "/core?core=1&refresh=1".into(),
            vec!["cores", "bank", "--core", "1", "--refresh", "1"],
            "jsonl",
        ),
        ("/batches".into(), vec!["history", "bank"], "json"),
        (
            format!("/site?name={}", encoded(&site)),
            vec!["site", "bank", &site],
            "json",
        ),
        (
            "/search?q=kitchen".into(),
            vec!["search", "bank", "kitchen"],
            "json",
        ),
    ];
    for (path, args, format) in cases {
        let html = served.get(&path.replace("&offset=", "&from="));
        assert_eq!(html.header("content-type"), "text/html; charset=utf-8");
        let html = html.done();
        assert!(html.starts_with("<!DOCTYPE html>"), "{path}");
        assert!(html.ends_with("</html>\n"), "{path}");
        let to = if format == "json" { json } else { jsonl };
        let printed = place.run(&[&args[..], &to].concat()).done();
        assert!(printed.starts_with('{'), "{path}: {printed}");
        // The server names inputs without their folders.
        let printed = printed.replace("\"crawl/", "\"");
        let path = format!("/v1{path}");
        let answer = served.get(&path);
        assert_eq!(answer.header("content-type"), "application/json", "{path}");
        assert_eq!(answer.done(), printed, "{path}");
        let head = served.ask("HEAD", &path, &[], b"");
        assert_eq!(head.status, 200, "{path}");
        assert_eq!(head.header("content-length"), printed.len().to_string());
    }
    let links = [&["cores", "bank", "--core", "2", "--links"], &jsonl[..]].concat();
    assert_eq!(
        served.get("/v1/core-links?core=2").done(),
        place.run(&links).done()
    );
    served.stop();
}

#[test]
fn what_the_command_line_adds_or_names_otherwise_is_all_that_differs() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).json();
    let status = timeless(json(&["status", "bank"]));
    assert_eq!(timeless(served.get("/v1/status").json()), status);
    let plan = json(&["plans", "bank", "show", "default"]);
    assert!(plan["command"].is_string());
    assert_eq!(served.get("/v1/plan?name=default").json(), plan, "plan");
    let refreshes = json(&["history", "bank"])["refreshes"].clone();
    for (n, refresh) in (1..).zip(refreshes.as_array().unwrap()) {
        let path = format!("/v1/refresh?refresh={n}");
        assert_eq!(&served.get(&path).json(), refresh, "{path}");
    }
    for path in ["/", "/plan?name=default", "/refresh", "/compare", "/search"] {
        let html = served.get(path);
        assert_eq!(html.header("content-type"), "text/html; charset=utf-8");
        assert!(html.done().ends_with("</html>\n"), "{path}");
    }
    // The name of the list: the command line says its file's.
    let seeds = place.run(&["seeds", "bank"]).done();
    let list = format!("# mine\n{seeds}http://nowhere.test/ x\nno URL\n\n{seeds}");
    place.write("mine.txt", &list);
    let mut printed = json(&["compare", "bank", "mine.txt"]);
    assert_eq!(printed["list"], "mine.txt");
    printed["list"] = "the list".into();
    let as_text = ["Content-Type: text/plain"];
    let compared = |to: &str, headers: &[&str], body: &[u8]| served.ask("POST", to, headers, body);
    let answer = compared("/v1/compare", &as_text, list.as_bytes());
    assert_eq!(answer.json(), printed);
    // A browser's form leads to a page.
    let form = format!(
        "--b\r\nContent-Disposition: form-data; name=\"list\"\r\n\r\n{list}\r\n--b\r\n\
         Content-Disposition: form-data; name=\"plan\"\r\n\r\ndefault\r\n--b--\r\n"
    );
    let as_form = ["Content-Type: multipart/form-data; boundary=b"];
    let page = compared("/compare", &as_form, form.as_bytes()).done();
    assert!(page.contains("not in the bank") && page.contains("repeated"));
    // Metrics are what the command writes to a file, and those of requests.
    place
        .run(&["status", "bank", "--metrics", "bank.prom"])
        .done();
    let written = std::fs::read_to_string(place.path("bank.prom")).unwrap();
    let metrics = served.get("/metrics");
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(metrics.header("content-type"), kind);
    let of_requests = "# HELP seedbank_http_requests_total ";
    assert_eq!(metrics.done().split_once(of_requests).unwrap().0, written);
    assert_eq!(served.get("/healthz").done(), "ok\n");
    served.stop();
}

#[test]
fn a_list_is_the_same_file_in_every_format() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    for (format, kind, ending) in [
        ("text", "text/plain; charset=utf-8", "txt"),
        ("jsonl", "application/jsonl; charset=utf-8", "jsonl"),
        ("csv", "text/csv; charset=utf-8", "csv"),
        ("nutch", "text/plain; charset=utf-8", "txt"),
        ("heritrix", "text/plain; charset=utf-8", "txt"),
    ] {
        for refresh in ["1", "2"] {
            let path = format!("/seeds?refresh={refresh}&format={format}");
            let answer = served.get(&path);
            assert_eq!(answer.header("content-type"), kind, "{path}");
            let saved = format!("attachment; filename=\"seeds-default-{refresh}.{ending}\"");
            assert_eq!(answer.header("content-disposition"), saved, "{path}");
            let seeds = ["seeds", "bank", "--refresh", refresh, "--format", format];
            assert_eq!(answer.done(), place.run(&seeds).done(), "{path}");
        }
    }
    let text = place.run(&["seeds", "bank"]).done();
    assert_eq!(served.get("/seeds").done(), text);
    served.stop();
}

#[test]
fn a_program_that_wants_json_is_told_in_json_why_there_is_none() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    for path in [
        "/v1/page?url=http%3A%2F%2Fnone.test%2F",
        "/v1/nothing",
        "/v1/seeds?plan=none",
        "/seeds?plan=none&format=jsonl",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 404, "{path}");
        let kind = "application/problem+json";
        assert_eq!(answer.header("content-type"), kind, "{path}");
        let told: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(told["status"], 404, "{path}");
        assert!(told["detail"].is_string(), "{path}: {told}");
    }
    // JSON has addresses of its own.
    let answer = served.get("/page?url=http%3A%2F%2Fh1.example%2F&format=json");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("/openapi.json"));
    served.stop();
}

#[test]
fn a_thousand_pages_are_as_the_command_line_tells_them() {
    let place = crawled();
    let urls = urls(&place, 1000);
    assert_eq!(urls.len(), 1000);
    let served = Served::start(&place, &["bank"]);
    let bank = Bank::at(place.path("bank")).pinned().unwrap();
    let limits = PageLimits::AS_JSON;
    let asked = urls.join("\n") + "\n";
    let explain = ["explain", "bank", "-", "--format", "json"];
    let explained = place.run_with(&explain, asked.as_bytes()).done();
    assert_eq!(explained.lines().count(), urls.len());
    for (at, (url, why)) in urls.iter().zip(explained.lines()).enumerate() {
        let path = format!("?url={}", encoded(url));
        let page = served.get(&format!("/v1/page{path}")).done();
        // A process for each page would take half a minute, so the library answers most of them.
        let told = serde_json::to_string(&bank.page(url, limits).unwrap()).unwrap() + "\n";
        assert_eq!(page, told, "{url}");
        if at % 25 == 0 {
            let printed = place.run(&["page", "bank", url, "--format", "json"]);
            assert_eq!(page, printed.done(), "{url}");
        }
        let answer = served.get(&format!("/v1/explain{path}")).done();
        assert_eq!(answer.trim_end(), why, "{url}");
    }
    served.stop();
}

/// A batch comes in between any two answers; the command line's answer is of a state that was published
/// between two of the server's, so it is one of them unless two batches came meanwhile.
#[test]
fn pages_are_as_the_command_line_tells_them_while_batches_come() {
    let place = crawled();
    let urls = urls(&place, 300);
    let served = Served::start(&place, &["bank"]);
    let done = AtomicBool::new(false);
    let batches = scope(|scope| {
        let writer = scope.spawn(|| {
            let mut batches = 0;
            // It ends also where the other side failed.
            while !done.load(Ordering::Relaxed) && batches < 1000 {
                let record = |(at, url): (usize, &String)| {
                    let to = &urls[(7 * batches + at) % urls.len()];
                    format!("{{\"url\": \"{url}\", \"outlinks\": [\"{to}\"]}}\n")
                };
                let from = 60 * batches % 240;
                let records = urls[from..from + 60].iter().enumerate().map(record);
                let records = records.collect::<Vec<_>>().concat();
                let ingest = place.run_with(
                    &["ingest", "bank", "-", "--max-loss", "100"],
                    records.as_bytes(),
                );
                ingest.done();
                batches += 1;
                sleep(Duration::from_millis(100));
            }
            batches
        });
        for url in &urls {
            let path = format!("/v1/page?url={}", encoded(url));
            let mut tries = 0;
            loop {
                let before = served.get(&path).done();
                let printed = place.run(&["page", "bank", url, "--format", "json"]).done();
                let after = served.get(&path).done();
                if printed == before || printed == after {
                    break;
                }
                tries += 1;
                assert!(tries < 20, "{url}: {before}{printed}{after}");
            }
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(batches > 5, "{batches}");
    served.stop();
}

/// What `explain` says of some page of each kind, by kind and by state.
fn of_each_kind(place: &Place) -> Vec<(String, Value)> {
    let asked = urls(place, 1000).join("\n");
    let explain = ["explain", "bank", "-", "--format", "json"];
    let all = place.run_with(&explain, asked.as_bytes()).json_lines();
    let find = |field: &dyn Fn(&Value) -> bool, name: &str| {
        let found = all.iter().find(|answer| field(answer));
        (
            name.to_owned(),
            found.unwrap_or_else(|| panic!("{name}")).clone(),
        )
    };
    let kind = |name: &'static str| find(&move |answer: &Value| answer["kind"] == name, name);
    vec![
        kind("core-seed"),
        kind("core-member"),
        kind("near-core"),
        find(&|answer: &Value| answer["page"]["state"] == "gone", "gone"),
        find(
            &|answer: &Value| answer["page"]["state"] == "known",
            "known",
        ),
    ]
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
    for (kind, answer) in of_each_kind(&place) {
        let url = answer["url"].as_str().unwrap();
        let found = links(&searched(url));
        let to_page = format!("/page?url={}", encoded(url));
        assert!(found.contains(&to_page), "{kind}: {found:?}");
        let page = served.get(&to_page).done();
        let to_why = format!("/explain?url={}&refresh=2", encoded(url));
        assert!(links(&page).contains(&to_why), "{kind}: {page}");
        let why = served.get(&to_why).done();
        let is_bare = ["gone", "known"].contains(&&*kind);
        assert!(is_bare || why.contains("<h2>Evidence</h2>"), "{kind}");
        let json = served.get(&format!("/v1{to_why}")).json();
        assert_eq!(json, answer, "{kind}");
    }
    // A seed and its core are found without a search too.
    let seeds = place.run(&["seeds", "bank"]).done();
    let refresh = "/refresh?refresh=2".to_owned();
    assert!(links(&start).contains(&refresh));
    let listed = links(&served.get(&refresh).done());
    for seed in seeds.lines() {
        let to_page = format!("/page?url={}", encoded(seed));
        assert!(listed.contains(&to_page), "{seed}");
    }
    for core in 1..=20 {
        let to_core = format!("/core?refresh=2&core={core}");
        assert!(listed.contains(&to_core), "{to_core}");
    }
    // What the bank does not know is told on the first page that is seen.
    let none = searched("http://nowhere.test/none");
    assert!(none.contains("The bank has no page and no site"), "{none}");
    let unknown = served.get(&format!("/page?url={}", encoded("http://nowhere.test/")));
    assert_eq!(unknown.status, 404);
    let text = unknown.text();
    assert!(text.contains("does not contain http://nowhere.test/"));
    assert!(links(text).contains(&"/".to_owned()));
    served.stop();
}
