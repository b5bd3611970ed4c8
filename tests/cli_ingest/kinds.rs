//! Pages, documents and resources on the command line, and canonical links, which merge no pages.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::command::Place;
use crate::support::warc::{answer, of, page, record};

/// The answer to a request for content of a type.
fn content(url: &str, mime: &str) -> Vec<u8> {
    let http = format!("HTTP/1.1 200 OK\nContent-Type: {mime}\n");
    answer(url, &http, b"x")
}

/// The records of an export by their URLs, which have one each.
fn exported(place: &Place, bank: &str) -> Vec<Value> {
    place.run(&["export", bank]).json_lines()
}

/// Checks that `copy`, made of the export of `bank`, has the same export.
fn comes_back(place: &Place) {
    place.write("export.jsonl", place.run(&["export", "bank"]).done());
    place.run(&["init", "copy", "-q"]).done();
    place
        .run(&["ingest", "copy", "--snapshot", "export.jsonl"])
        .done();
    assert_eq!(exported(place, "bank"), exported(place, "copy"));
}

/// What a bank says of a URL.
fn about(place: &Place, url: &str) -> Value {
    place.run(&["page", "bank", url, "--format", "json"]).json()
}

#[test]
fn what_pages_embed_is_no_page() {
    let place = Place::with_bank();
    let file = [
        page("https://site.example/", "<a href=/a>x</a><a href=/b>x</a>"),
        page(
            "https://site.example/a",
            "<a href=/b>x</a><a href=/doc.pdf>x</a>",
        ),
        content("https://fonts.cdn.example/f.woff2", "font/woff2"),
        content("https://ads.example/pixel?x=1", "image/gif"),
        content("https://chat.example/l.js", "application/javascript"),
        content("https://site.example/main.css", "text/css"),
        content("https://site.example/logo.svg", "image/svg+xml"),
        content("https://api.example/stats?cpn=1", "application/json"),
        content("https://site.example/robots.txt", "text/plain"),
        content("https://site.example/doc.pdf", "application/pdf"),
        answer(
            "https://ads.example/beacon",
            "HTTP/1.1 204 No Content\n",
            b"",
        ),
        answer(
            "https://site.example/lost.css",
            "HTTP/1.1 404 Not Found\nContent-Type: text/html\n",
            b"",
        ),
    ];
    place.write("crawl.warc", file.concat());
    let report = place.run(&["ingest", "bank", "crawl.warc"]).done();
    assert!(report.contains("3 became crawled"), "{report}");
    assert!(report.contains("resources: 8 new"), "{report}");
    let status = place.run(&["status", "bank"]).done();
    let pages = "pages 3 crawled, 1 known, 1 gone; 0 spam; 1 document; 8 resources apart\n";
    assert!(status.contains(pages), "{status}");
    assert!(status.contains("sites 1\n"), "{status}");
    let quotas = place
        .run(&["quotas", "bank", "--pages", "20", "--format", "csv"])
        .done();
    assert_eq!(quotas.lines().count(), 2, "{quotas}");
    let script = place
        .run(&["page", "bank", "https://chat.example/l.js"])
        .done();
    let says = "a resource, not a page: it is in no graph, and never a seed";
    assert!(script.contains(says), "{script}");
    let document = about(&place, "https://site.example/doc.pdf");
    assert_eq!(
        (&document["state"], &document["kind"]),
        (&json!("crawled"), &json!("document"))
    );
    assert_eq!(document["inlinks"]["pages"], 1);
    comes_back(&place);
    place.write("page.jsonl", r#"{"url": "https://chat.example/l.js", "outlinks": ["https://site.example/"], "fetched": "2027-01-01"}"#);
    place.run(&["ingest", "bank", "page.jsonl"]).done();
    assert_eq!(
        about(&place, "https://chat.example/l.js")["state"],
        "crawled"
    );
    place.run(&["undo", "bank"]).done();
    assert_eq!(exported(&place, "bank"), exported(&place, "copy"));
    place.run(&["check", "bank"]).done();
}

#[test]
fn documents_are_never_seeds() {
    let place = Place::with_bank();
    let mut lines = String::new();
    let authorities: Vec<String> = (0..4).map(|n| format!("http://a{n}.example/")).collect();
    for n in 0..4 {
        let kind = if n == 0 { "document" } else { "page" };
        let record =
            json!({"url": format!("http://h{n}.example/"), "outlinks": authorities, "kind": kind});
        writeln!(lines, "{record}").unwrap();
    }
    for (n, authority) in authorities.iter().enumerate() {
        let to = [
            format!("http://a{}.example/", (n + 1) % 4),
            "http://new.example/".to_owned(),
        ];
        writeln!(
            lines,
            "{}",
            json!({"url": authority, "outlinks": to, "kind": if n == 1 {"document"} else {"page"}})
        )
        .unwrap();
    }
    place.write("a.jsonl", lines);
    place.run(&["ingest", "bank", "a.jsonl"]).done();
    for method in ["cores", "greedy", "max-out"] {
        let plan = ["--method", method, "--plan", method, "--seeds", "20"];
        place
            .run(&[&["refresh", "bank", "-q"], &plan[..]].concat())
            .done();
        let seeds = place.run(&["seeds", "bank", "--plan", method]).done();
        for document in ["http://h0.example/", "http://a1.example/"] {
            assert!(!seeds.contains(document), "{method}: {seeds}");
        }
        assert!(!seeds.is_empty(), "{method}");
    }
    let why = place
        .run(&["explain", "bank", "http://h0.example/", "--plan", "cores"])
        .done();
    assert!(
        why.contains("it is a document, such as a PDF or a feed"),
        "{why}"
    );
}

#[test]
fn the_answer_to_another_method_is_no_page() {
    let place = Place::with_bank();
    let url = "https://f.example/login";
    let fields = of(url, "2026-07-01T00:00:00Z") + "Content-Type: application/http\r\n";
    let post = record("request", &fields, b"POST /login HTTP/1.1\r\n\r\n");
    let html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/home>";
    let response = record("response", &fields, html);
    place.write("crawl.warc", [post, response].concat());
    let report = place.run(&["ingest", "bank", "crawl.warc"]).done();
    assert!(report.contains("0 records"), "{report}");
    assert!(exported(&place, "bank").is_empty());
}

#[test]
fn what_a_browser_or_a_crawler_requested_decides() {
    let place = Place::with_bank();
    let html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/x>";
    let mut file = Vec::new();
    for (name, kind) in [("xhr", "xhr"), ("page", "document")] {
        let fields = of(&format!("http://a.example/{name}"), "2026-07-01T00:00:00Z")
            + &format!("Content-Type: application/http\r\nWARC-Resource-Type: {kind}\r\n");
        file.extend(record("response", &fields, html));
    }
    place.write("crawl.warc", file);
    let line = |url: &str, hops: &str, mime: &str, status: &str| {
        format!(
            "2026-11-19T04:00:01.123Z {status} 9 http://b.example/{url} {hops} http://b.example/ {mime} #014 20261119040000574+225 sha1:YIUO - -\n"
        )
    };
    let log = [
        line("frame", "LE", "text/html", "200"),
        line("unknown", "LE", "unk", "200"),
        line("script", "X", "unk", "404"),
        line("image", "LL", "image/png", "200"),
        line("gone", "L", "text/html", "404"),
    ];
    place.write("crawl.log", log.concat());
    place.run(&["ingest", "bank", "crawl.warc"]).done();
    place.run(&["ingest", "bank", "crawl.log"]).done();
    let kinds: Vec<(String, Value)> = exported(&place, "bank")
        .into_iter()
        .map(|record| {
            let says = [&record["kind"], &record["gone"]]
                .into_iter()
                .find(|says| !says.is_null());
            (
                record["url"].as_str().unwrap().to_owned(),
                says.cloned().unwrap_or(json!("page")),
            )
        })
        .collect();
    let expected = [
        ("http://a.example/page", json!("page")),
        ("http://a.example/xhr", json!("resource")),
        ("http://b.example/frame", json!("page")),
        ("http://b.example/gone", json!(true)),
        ("http://b.example/image", json!("resource")),
        ("http://b.example/unknown", json!("resource")),
    ];
    assert_eq!(kinds, expected.map(|(url, says)| (url.to_owned(), says)));
}

#[test]
fn a_canonical_link_merges_no_pages() {
    let place = Place::with_bank();
    let mut file = Vec::new();
    let head = |to: &str| format!("<head><link rel=canonical href=\"{to}\"></head>");
    for n in 0..30 {
        let html = head("/") + &format!("<a href=http://maker{n}.example/>x</a>");
        file.extend(page(&format!("http://shop.example/{n}"), &html));
    }
    let pages = [
        ("http://shop.example/", String::new()),
        ("http://shop.example/a?from=menu", head("/a")),
        ("http://shop.example/a", String::new()),
        ("http://shop.example/b", head("https://elsewhere.example/b")),
        ("http://shop.example/c", head("/d")),
        ("http://shop.example/d", head("/c")),
        ("http://elsewhere.example/", head("http://shop.example/a")),
    ];
    for (url, head) in &pages {
        file.extend(page(
            url,
            &(head.clone() + "<a href=http://x.example/>x</a>"),
        ));
    }
    place.write("crawl.warc", file);
    let report = place.run(&["ingest", "bank", "crawl.warc"]).done();
    assert!(report.contains("37 became crawled"), "{report}");
    assert!(report.contains("links: 37 added"), "{report}");
    assert!(!report.contains("aliases"), "{report}");
    let counts = json!({"same_content": 1, "leads_back": 2, "not_fetched": 1, "other_site": 1, "named_by_many": 30});
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    assert_eq!(status["canonical"], counts);
    let told = place
        .run(&["page", "bank", "http://shop.example/a?from=menu"])
        .done();
    let says = "its canonical page is http://shop.example/a; this link is one to a page with the same content\n";
    assert!(told.contains(says), "{told}");
    let many = about(&place, "http://shop.example/7");
    assert_eq!(
        many["canonical"],
        json!({"to": "http://shop.example/", "evidence": "named-by-many"})
    );
    comes_back(&place);
    // Later batches change what a link says, and links without a canonical page remove it.
    let lines = [
        json!({"url": "https://elsewhere.example/b", "outlinks": []}),
        json!({"url": "http://shop.example/d", "outlinks": []}),
    ];
    place.write(
        "later.jsonl",
        lines.map(|line| line.to_string() + "\n").concat(),
    );
    place.run(&["ingest", "bank", "later.jsonl"]).done();
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    let later = json!({"same_content": 2, "leads_back": 0, "not_fetched": 0, "other_site": 2, "named_by_many": 30});
    assert_eq!(status["canonical"], later);
    place.run(&["undo", "bank"]).done();
    let forget = ["forget", "bank", "http://shop.example/", "--yes"];
    place.run(&forget).done();
    assert!(
        about(&place, "http://shop.example/7")
            .get("canonical")
            .is_none()
    );
    place.run(&["check", "bank"]).done();
}

#[test]
fn twenty_redirects_are_followed_and_circles_are_counted() {
    let place = Place::with_bank();
    let step = |n: usize| format!("http://chain.example/{n}");
    let mut lines = String::new();
    for n in 0..20 {
        let record = json!({"url": step(n), "redirect": step(n + 1)});
        writeln!(lines, "{record}").unwrap();
    }
    for n in 0..5 {
        let record = json!({"url": format!("http://l{n}.example/"), "outlinks": [step(0)]});
        writeln!(lines, "{record}").unwrap();
    }
    writeln!(lines, "{}", json!({"url": step(20), "outlinks": []})).unwrap();
    place.write("crawl.jsonl", &lines);
    place.run(&["ingest", "bank", "crawl.jsonl"]).done();
    assert_eq!(about(&place, &step(20))["inlinks"]["pages"], 5);
    place.write(
        "circle.jsonl",
        json!({"url": step(20), "redirect": step(3)}).to_string(),
    );
    let report = place.run(&["ingest", "bank", "circle.jsonl"]).done();
    let says = "redirects: 1 new, 21 to nowhere (a cycle, or more than twenty steps)";
    assert!(report.contains(says), "{report}");
}
