//! Seed lists read back by readers as strict as the crawlers, written from their sources: Nutch's
//! injector, StormCrawler's tab-separated scheme, Heritrix's seeds file, the configuration of
//! Browsertrix Crawler, URLFrontier's messages as JSON.
//!
//! Catches URLs and evidence that a format truncates, drops or misinterprets. What a crawler would
//! skip silently is an error here.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::support::command::{Place, record};
use crate::support::plans::refresh;

/// What a reader got of a seed: its URL, and its metadata where the format has some.
type Read = Result<(String, BTreeMap<String, String>), String>;

fn no_url(url: &str) -> bool {
    let parsed = url::Url::parse(url);
    !parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Key=value after the URL, with tabs between. An injector leaves out what has no `=`, and the spaces at
/// the ends of a line; of two values of one name the later counts.
fn tabbed(line: &str) -> Read {
    let mut tokens = line.split('\t');
    let url = tokens.next().unwrap_or_default();
    if url.trim() != url || url.is_empty() || url.starts_with('#') || no_url(url) {
        return Err(format!("no URL: {url}"));
    }
    let mut metadata = BTreeMap::new();
    for token in tokens {
        let (name, value) = token.split_once('=').ok_or(format!("no =: {token}"))?;
        if name.trim() != name || name.is_empty() || value.trim() != value {
            return Err(format!("spaces: {token}"));
        }
        if metadata.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(format!("twice: {token}"));
        }
    }
    Ok((url.to_owned(), metadata))
}

/// A line as Nutch's injector takes it; a page with a score of 0 is never chosen.
fn nutch(line: &str) -> Read {
    let (url, metadata) = tabbed(line)?;
    for (name, value) in &metadata {
        let fits = match name.as_str() {
            "nutch.score" => value.parse::<f32>().is_ok_and(|s| s > 0.0 && s.is_finite()),
            "nutch.fetchInterval" | "nutch.fetchInterval.fixed" => value.parse::<i32>().is_ok(),
            _ => true,
        };
        if !fits || (name.starts_with("nutch.") && !name.starts_with("nutch.score")) {
            return Err(format!("{name}={value}"));
        }
    }
    Ok((url, metadata))
}

/// A line as StormCrawler's scheme takes it: all metadata go along with the URL, a score too.
fn stormcrawler(line: &str) -> Read {
    let (url, metadata) = tabbed(line)?;
    if let Some(name) = metadata.keys().find(|name| name.starts_with("nutch.")) {
        return Err(format!("{name} means nothing here"));
    }
    Ok((url, metadata))
}

/// An entry of Heritrix's seeds: no space in it, nothing but a comment after it, and a letter or digit at
/// its beginning, since other lines are directives. What has no scheme gets `http://` before it.
fn heritrix(line: &str) -> Read {
    let line = line.trim_start();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (entry, rest) = line.split_at(end);
    let rest = rest.trim_start();
    if !rest.is_empty() && !rest.starts_with('#') {
        return Err(format!("more than an entry: {line}"));
    }
    if !entry.starts_with(char::is_alphanumeric) {
        return Err(format!("a directive: {line}"));
    }
    let scheme = entry.split_once(':').map(|(scheme, _)| scheme);
    let letters = |scheme: &str| {
        scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_+-".contains(c))
    };
    if !scheme.is_some_and(|scheme| scheme.len() > 1 && letters(scheme)) || no_url(entry) {
        return Err(format!("no URL: {entry}"));
    }
    Ok((entry.to_owned(), BTreeMap::new()))
}

/// A string of YAML in double quotes, as its specification has escapes.
fn yaml_string(text: &str) -> Result<String, String> {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let mut chars = inner.ok_or(format!("no string in quotes: {text}"))?.chars();
    let mut string = String::new();
    while let Some(c) = chars.next() {
        if c == '"' || (c.is_control() && c != '\t') {
            return Err(format!("{c:?} in {text}"));
        }
        if c != '\\' {
            string.push(c);
            continue;
        }
        let escape = chars.next().ok_or("an escape without an end")?;
        let digits = match escape {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let hex: String = chars.by_ref().take(digits).collect();
        string.push(match escape {
            '\\' | '"' | '/' | ' ' => escape,
            'n' => '\n',
            't' => '\t',
            'x' | 'u' | 'U' if hex.len() == digits => u32::from_str_radix(&hex, 16)
                .ok()
                .and_then(char::from_u32)
                .ok_or(format!("no character: {hex}"))?,
            _ => return Err(format!("no escape of a URL: {escape}")),
        });
    }
    Ok(string)
}

/// The configuration's seeds: items with a `url` each, of which Browsertrix trims spaces and quotes, and
/// none twice.
fn browsertrix(text: &str) -> Result<Vec<String>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("seeds:") {
        return Err("no list of seeds".to_owned());
    }
    let mut urls: Vec<String> = Vec::new();
    for line in lines {
        let value = line.strip_prefix("  - url: ");
        let url = yaml_string(value.ok_or(format!("no item: {line}"))?)?;
        let quoted = |quote: char| url.starts_with(quote) && url.ends_with(quote);
        let changed = url.trim() != url || quoted('"') || quoted('\'');
        if changed || no_url(&url) || urls.contains(&url) {
            return Err(format!("no URL: {url}"));
        }
        urls.push(url);
    }
    if urls.is_empty() {
        return Err("no valid seeds".to_owned());
    }
    Ok(urls)
}

/// The fields of a message, each of which it must have.
fn fields<'v>(
    message: &'v Value,
    known: &[&str],
) -> Result<&'v serde_json::Map<String, Value>, String> {
    let fields = message
        .as_object()
        .ok_or(format!("no message: {message}"))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("no field {name}")),
        None => Ok(fields),
    }
}

/// A `URLItem` with a `discovered`, whose metadata are lists of strings.
fn urlfrontier(line: &str) -> Read {
    let item: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let outer = fields(&item, &["discovered", "known", "ID"])?;
    let discovered = outer.get("discovered").ok_or("nothing discovered")?;
    if outer.contains_key("known") {
        return Err("both discovered and known".to_owned());
    }
    let info = fields(discovered, &["info"])?
        .get("info")
        .ok_or("no info")?;
    let info = fields(info, &["url", "key", "metadata", "crawlID"])?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let url = text(info.get("url")).unwrap_or_default();
    let key = text(info.get("key")).unwrap_or_default();
    if no_url(&url) || key.is_empty() || text(outer.get("ID")).as_ref() != Some(&url) {
        return Err(format!("no URL, key or ID: {line}"));
    }
    let mut metadata = BTreeMap::new();
    for (name, list) in info
        .get("metadata")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let values = fields(list, &["values"])?
            .get("values")
            .and_then(Value::as_array);
        let [Value::String(value)] = values.ok_or("no values")?.as_slice() else {
            return Err(format!("no list of one string: {list}"));
        };
        metadata.insert(name.clone(), value.clone());
    }
    Ok((url, metadata))
}

/// URLs that are difficult for a format, before they are normalised.
fn nasty() -> Vec<String> {
    let mut urls: Vec<String> = [
        "http://a.example/'single'",
        "http://a.example/\"double\"?q=\"x\"",
        "http://a.example/100%25?a=%zz%&b=%",
        "http://a.example/a:b: c?d: e",
        "http://a.example/- item",
        "http://a.example/-leading?-",
        "http://a.example/#fragment # comment",
        "http://a.example/ # no comment",
        "http://a.example/%23no-fragment",
        "http://a.example/ü/日本?q=ß",
        "http://bücher.example/",
        "http://a.example/tab\there?a=%09b",
        "http://a.example/%0Anext%0D%0A",
        "http://a.example/\u{2028}\u{85}\u{feff}\u{200b}x",
        "http://a.example/{a}[b]|c\\d^e`f~g",
        "http://a.example/&anchor*alias!tag@at,comma;semi",
        "http://a.example/?nutch.score=0",
        "http://a.example/?a=b=c&=&==",
        "http://a.example/''?\"\"",
        "http://a.example/\\u0041\\n\\x41",
        "http://a.example/null?true&~",
        "http://a.example//double//slash/../up/./x",
        "http://a.example/+surt",
        "http://user:word@a.example/login",
        "http://[2001:db8::1]/",
        "http://127.0.0.1:8080/",
        "https://a.example:444/?",
        "https://xn--a_b.example/",
        "http://-dash.example/",
        "http://_under.example/",
        "http://1.example/",
    ]
    .map(str::to_owned)
    .into();
    let mut runner = TestRunner::deterministic();
    let parts = ("\\PC{0,12}", "[ -~]{0,16}");
    for _ in 0..300 {
        let (path, query) = parts.new_tree(&mut runner).unwrap().current();
        urls.push(format!("http://b.example/{path}?{query}"));
    }
    urls
}

#[test]
fn every_crawler_reads_the_same_urls_and_evidence() {
    let place = Place::with_bank();
    let mut lines = String::new();
    for url in nasty() {
        writeln!(lines, "{}", record(&url, &[])).unwrap();
    }
    place.write("crawl.jsonl", lines);
    place
        .run(&["ingest", "bank", "crawl.jsonl", "--max-rejects", "5"])
        .done();
    let plan = [
        "--method",
        "random",
        "--per-site",
        "1000",
        "--positive-only",
        "false",
    ];
    place.run(&refresh(&plan[..])).done();
    let list = |format: &str| place.run(&["seeds", "bank", "--format", format]).done();
    let text = list("text");
    let urls: Vec<&str> = text.lines().collect();
    assert!(urls.len() > 250, "{}", urls.len());
    let read =
        |format: &str, reader: fn(&str) -> Read| -> Vec<(String, BTreeMap<String, String>)> {
            let text = list(format);
            let lines = text
                .lines()
                .filter(|line| format != "heritrix" || !line.starts_with('#'));
            let read: Vec<_> = lines.map(|line| reader(line).unwrap()).collect();
            let found: Vec<&str> = read.iter().map(|(url, _)| url.as_str()).collect();
            assert_eq!(found, urls, "{format}");
            read
        };
    let storm = read("stormcrawler", stormcrawler);
    assert!(storm.iter().all(|(_, metadata)| metadata.len() > 5));
    // The frontier has the same metadata; Nutch a score more, which descends and is never 0.
    assert_eq!(read("urlfrontier", urlfrontier), storm);
    let mut before = f64::INFINITY;
    for ((_, mut metadata), (_, expected)) in read("nutch", nutch).into_iter().zip(&storm) {
        let score: f64 = metadata.remove("nutch.score").unwrap().parse().unwrap();
        assert!(score < before);
        before = score;
        assert_eq!(metadata, *expected);
    }
    read("heritrix", heritrix);
    assert_eq!(browsertrix(&list("browsertrix")).unwrap(), urls);
    for format in ["scrapy", "crawlee"] {
        let requests: Value = serde_json::from_str(&list(format)).unwrap();
        let requests = requests.as_array().unwrap().iter();
        let found = requests.map(|request| request["url"].as_str().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), urls, "{format}");
    }
}

#[test]
fn the_readers_reject_what_the_crawlers_do() {
    for line in [
        "",
        "# a comment",
        "a.example/",
        "ftp://a.example/",
        " http://a.example/",
        "http://a.example/\tseed.rank",
        "http://a.example/\tseed.plan=a\tb",
        "http://a.example/\tseed.rank=1\tseed.rank=2",
        "http://a.example/\tseed.rank=1 ",
    ] {
        assert!(nutch(line).is_err(), "{line}");
        assert!(stormcrawler(line).is_err(), "{line}");
    }
    for score in ["0", "0.0", "-1", "1e-60", "high", "NaN", "inf", ""] {
        let line = format!("http://a.example/\tnutch.score={score}");
        assert!(nutch(&line).is_err(), "{line}");
    }
    nutch("http://a.example/?a=b\tseed.plan=a=b\tnutch.score=0.5").unwrap();
    nutch("http://a.example/\tnutch.fetchInterval=soon").unwrap_err();
    stormcrawler("http://a.example/\tnutch.score=0.5").unwrap_err();
    for line in [
        "+http://(com,example,",
        "-http://(com",
        "a.example",
        "http://a b/",
        "http:// #x",
        "?",
    ] {
        assert!(heritrix(line).is_err(), "{line}");
    }
    heritrix("http://a.example/#x # rank 1").unwrap();
    for item in [
        "http://a.example/",
        "\"a.example\"",
        "\"\"",
        "\"mailto:a@b.example\"",
        "\" http://a.example/\"",
        "\"'http://a.example/'\"",
        "\"http://a.example/\\q\"",
        "\"http://a.example/\"\"",
        "[\"http://a.example/\"]",
        "7",
        "null",
    ] {
        assert!(
            browsertrix(&format!("seeds:\n  - url: {item}\n")).is_err(),
            "{item}"
        );
    }
    browsertrix("seeds: []\n").unwrap_err();
    browsertrix("seeds:\n").unwrap_err();
    let good = "  - url: \"http://a.example/\\u00fc\"\n";
    assert_eq!(
        browsertrix(&format!("seeds:\n{good}")).unwrap(),
        ["http://a.example/ü"]
    );
    browsertrix(&format!("seeds:\n{good}{good}")).unwrap_err();
    let info = json!({"url": "http://a.example/", "key": "a.example"});
    let id = "http://a.example/";
    urlfrontier(&json!({"discovered": {"info": info}, "ID": id}).to_string()).unwrap();
    for item in [
        json!({"known": {"info": info}, "ID": id}),
        json!({"discovered": {"info": info}, "known": {"info": info}, "ID": id}),
        json!({"discovered": {"info": info, "score": 1}, "ID": id}),
        json!({"discovered": {"info": {"url": "a", "key": "a"}}, "ID": "a"}),
        json!({"discovered": {"info": {"url": id, "key": "a", "metadata": {"a": "b"}}}, "ID": id}),
        json!({"discovered": {"info": {"url": id, "key": "a", "metadata": {"a": {"values": [1]}}}}, "ID": id}),
        json!([info]),
    ] {
        assert!(urlfrontier(&item.to_string()).is_err(), "{item}");
    }
}
