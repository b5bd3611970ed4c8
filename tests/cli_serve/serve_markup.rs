//! Crawled text is text: markup, scripts, quotes and characters that change the direction of a line,
//! in URLs, names of batches, searches and lists, are displayed and never interpreted.

use crate::serve::ok;
use crate::support::command::{Place, record};
use crate::support::http::{Served, encoded};

/// Nothing that a crawler hands over may end an attribute, open a tag, or turn a line around.
const NASTY: &[&str] = &[
    "http://a.test/<script>alert(1)</script>?\"'><img src=x onerror=alert(2)>",
    "http://b.test/\u{202e}gpj.exe\u{200f}\u{2066}",
    "http://c.test/?x=javascript:alert(3)\"onmouseover=\"alert(4)",
    "http://d.test/&lt;i&gt;&amp;%3Cscript%3E&quot;",
    "http://e.test/{{7*7}}{% raw %}",
    "http://f.test/--><!--",
    "http://g.test/</textarea></title><svg onload=alert(5)>",
    "http://h.test/a\u{2028}b\u{0}c\u{85}",
    "http://i.test/`${alert(7)}`",
    "http://j.test/<base href=//evil.example>",
];

/// The tags that pages of the server are made of.
const TAGS: &str = "\
    a b body br button caption circle code dd desc details div dl dt figure figcaption footer form h1 h2 h3 head header html input label \
    li line link main meta nav ol option p path pre rect section select small span summary svg g table tbody td text textarea th thead title tr ul";

/// Reads a page as a browser does: every tag is one of the server's own, no attribute is a script, and
/// every link is to a path here or to the web.
#[track_caller]
fn is_harmless(what: &str, page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>").unwrap_or(page);
    let turning = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\0');
    assert!(!body.contains(turning), "{what}: {body}");
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = |c: char| !c.is_ascii_alphanumeric();
        let tag = rest.strip_prefix('/').unwrap_or(rest);
        let (tag, mut inside) = tag.split_at(tag.find(end).unwrap());
        assert!(
            TAGS.split(' ').any(|known| known == tag),
            "{what}: <{tag}> in {body}"
        );
        loop {
            inside = inside.trim_start_matches([' ', '/', '\n']);
            if let Some(after) = inside.strip_prefix('>') {
                rest = after;
                break;
            }
            let is_name = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
            let (name, after) = inside.split_at(inside.find(is_name).unwrap());
            assert!(!name.is_empty(), "{what}: {inside}");
            let is_script = name.starts_with("on") || name == "style" || name == "srcdoc";
            assert!(!is_script, "{what}: {name}");
            let Some(value) = after.strip_prefix("=\"") else {
                inside = after;
                continue;
            };
            let (value, after) = value.split_once('"').unwrap();
            assert!(!value.contains(['<', '>']), "{what}: {name}={value}");
            if matches!(name, "href" | "src" | "action") {
                let starts = ["/", "#", "http://", "https://"];
                let leads = starts.iter().any(|start| value.starts_with(start));
                assert!(leads && !value.starts_with("//"), "{what}: {name}={value}");
            }
            inside = after;
        }
    }
}

#[test]
fn the_judge_sees_what_it_looks_for() {
    for bad in [
        "<script>",
        "<p><img src=\"/x\">",
        "<p onclick=\"x\">",
        "<a href=\"javascript:x\">",
        "<a href=\"//evil.example/\">",
        "<p title=\"<b>\">",
        "<p>\u{202e}</p>",
    ] {
        let judged = std::panic::catch_unwind(|| is_harmless("bad", bad));
        assert!(judged.is_err(), "{bad}");
    }
    is_harmless(
        "good",
        "<!DOCTYPE html>\n<p class=\"x\">a &lt;b> <br/>\n</p>\n",
    );
}

/// A bank of nasty names, asked for in every way.
fn nasty() -> Place {
    let place = Place::with_bank();
    let nasty = NASTY.iter().map(|url| record(url, &["http://t.test/"]));
    // Hubs, so that nasty pages are authorities of a core and a seed.
    let hubs = (0..3).map(|hub| record(&format!("http://h{hub}.test/<b>\"'"), NASTY));
    let name = "<script>b<img src=x onerror=y>\u{202e}.jsonl";
    place.write(name, hubs.chain(nasty).collect::<String>());
    place.run(&["ingest", "bank", "--snapshot", name]).done();
    for _ in 0..2 {
        ok(&place, "refresh bank --method cores --within 0 --seeds 5");
    }
    place
}

#[test]
fn crawled_text_is_displayed_and_never_interpreted() {
    let place = nasty();
    let served = Served::start(&place, &["bank"]);
    let found = served.get("/v1/search?q=test").json();
    let urls: Vec<String> = found["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect();
    // All of them, the hubs, and where they lead.
    assert_eq!(urls.len(), NASTY.len() + 3 + 1);
    let mut paths: Vec<String> = [
        "/",
        "/batches",
        "/compare",
        "/batches?from=9",
        "/refresh?refresh=1&from=9",
        "/plan?name=default",
        "/refresh?refresh=1",
        "/refresh?refresh=2&sort=url&desc=true",
        "/core?core=1",
        "/cores",
        "/plans",
        "/evaluate",
        "/quotas?pages=9",
        "/diff",
        "/search?q=test",
        "/search?q=script",
    ]
    .map(str::to_owned)
    .into();
    for url in &urls {
        let url = encoded(url);
        for page in [
            "/page",
            "/explain",
            "/history",
            "/links?of=in",
            "/links?of=out",
        ] {
            let and = if page.contains('?') { '&' } else { '?' };
            paths.push(format!("{page}{and}url={url}"));
        }
    }
    for path in &paths {
        is_harmless(path, &served.get(path).done());
    }
    // What nobody ever stored is reflected, which is no less a way in.
    for text in NASTY.iter().chain(&["\"><script>\u{202e}", "'-alert(1)-'"]) {
        let text = encoded(text);
        for path in [
            "/search?q=",
            "/site?name=",
            "/plan?name=",
            "/page?url=http://none.test/",
            "/page?url=",
            "/refresh?refresh=1&q=",
            "/refresh?refresh=",
            "/refresh?sort=",
            "/diff?plan=",
            "/core?core=",
            "/links?url=x&of=",
            "/quotas?pages=3&plan=",
            "/search?q=x&state=",
            "/plans?format=csv&table=",
            "/history?url=",
            "/?nothing&",
            "/seeds?format=",
            "/?format=",
            "/",
        ] {
            let answer = served.get(&format!("{path}{text}"));
            assert!([200, 400, 404].contains(&answer.status), "{path}{text}");
            assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
            is_harmless(&format!("{path}{text}"), answer.text());
        }
    }
    let list = urls.join("\n") + "\n</textarea><script>x</script>\n<img src=x>\n";
    let as_text = ["Content-Type: text/plain"];
    let answer = served.ask("POST", "/compare", &as_text, list.as_bytes());
    is_harmless("/compare", &answer.done());
    // The names are there, so the judge has seen them.
    for path in ["/", "/batches"] {
        let page = served.get(path).done();
        assert!(page.contains("&lt;script&gt;b"), "{path}: {page}");
    }
    // Answers that are saved or read by programs cannot be taken for pages.
    for (path, kind) in [
        ("/seeds?format=text", "text/plain"),
        ("/seeds?format=csv", "text/csv"),
        ("/metrics", "text/plain"),
        ("/v1/batches", "application/json"),
        ("/style.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200);
        assert!(answer.header("content-type").starts_with(kind));
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    served.stop();
}
