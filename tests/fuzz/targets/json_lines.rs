//! Lines of JSON: a line is refused, or is a record that keeps the promises of a record and comes
//! back when it is written out.

use std::fmt::Write;

use seedbank::ingest::{
    Attribute, Event, Fault, Interner, JsonLines, LineFormat, Location, MAX_CLICKS, MAX_QUALITY,
    MAX_UNCRAWLED_OUTLINKS, Naming, PageRecord, PieceParser, UncrawledOutlinks, parse,
};

use super::{kind, texts};

/// The naming of pages and sites, by the first byte of an input.
pub(super) fn naming(kind: u8) -> Naming {
    Naming::ALL[usize::from(kind) % Naming::ALL.len()]
}

/// What a line says.
pub(super) fn read(format: &dyn LineFormat, line: &str, naming: Naming) -> Result<Event, Fault> {
    let mut parser = PieceParser::new(naming, Interner::default());
    let event = format.read(line, &mut parser)?;
    Ok(event.located(&parser.urls))
}

/// Checks that a page's URL is in the form in which it would be read again.
pub(super) fn is_normal(page: &Location, naming: Naming) {
    assert_eq!(parse(&page.url(naming.sites), naming).as_ref(), Ok(page));
}

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let naming = naming(kind);
    // Lines that get here are UTF-8, and none of them is blank.
    let Ok(line) = std::str::from_utf8(rest) else {
        return;
    };
    let line = line.lines().next().unwrap_or_default();
    let Ok(event) = read(&JsonLines, line, naming) else {
        return;
    };
    let Event::Record(mut record) = event else {
        panic!("a line of JSON is a record: {event:?}");
    };
    is_sound(&record, naming);
    // One is hashed, the other is counted in another unit: neither can be written as it was.
    (record.digest, record.fetched) = (None, None);
    let again = read(&JsonLines, &json(&record, naming), naming);
    assert_eq!(again, Ok(Event::Record(record)));
}

fn is_sound(record: &PageRecord, naming: Naming) {
    is_normal(&record.url, naming);
    let outlinks = record.outlinks.as_deref().unwrap_or_default();
    for to in outlinks {
        is_normal(to, naming);
    }
    assert!(
        outlinks.is_sorted_by(|a, b| a < b),
        "each once: {outlinks:?}"
    );
    assert!(!outlinks.contains(&record.url), "a link to the page itself");
    assert!(record.clicks.is_none_or(|clicks| clicks <= MAX_CLICKS));
    if let UncrawledOutlinks::Given(count) = record.uncrawled_outlinks {
        assert!(count <= MAX_UNCRAWLED_OUTLINKS);
    }
    if let Attribute::Given(quality) = record.quality {
        assert!(quality <= MAX_QUALITY);
    }
    if record.gone {
        let bare = PageRecord {
            gone: true,
            fetched: record.fetched,
            ..PageRecord::new(record.url.clone())
        };
        assert_eq!(*record, bare);
    }
}

fn json(record: &PageRecord, naming: Naming) -> String {
    let text = |page: &Location| serde_json::to_string(&page.url(naming.sites)).unwrap();
    let mut json = format!("{{\"url\": {}", text(&record.url));
    if let Some(outlinks) = &record.outlinks {
        let outlinks: Vec<String> = outlinks.iter().map(text).collect();
        write!(json, ", \"outlinks\": [{}]", outlinks.join(", ")).unwrap();
    }
    if let Some(spam) = record.spam {
        write!(json, ", \"spam\": {spam}").unwrap();
    }
    if let Some(clicks) = record.clicks {
        write!(json, ", \"clicks\": {clicks}").unwrap();
    }
    match record.uncrawled_outlinks {
        UncrawledOutlinks::Absent => {}
        UncrawledOutlinks::Counted => json.push_str(", \"uncrawled_outlinks\": null"),
        UncrawledOutlinks::Given(count) => {
            write!(json, ", \"uncrawled_outlinks\": {count}").unwrap();
        }
    }
    match record.quality {
        Attribute::Absent => {}
        Attribute::Removed => json.push_str(", \"quality\": null"),
        Attribute::Given(quality) => write!(json, ", \"quality\": {quality}e-4").unwrap(),
    }
    if record.gone {
        json.push_str(", \"gone\": true");
    }
    json.push('}');
    json
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    texts(
        &[0, 1],
        &[
            r#"{"url":"http://a.example/","outlinks":["http://b.example/","https://a.example/x?y=1#z","HTTP://B.example:80/./","mailto:x@y","/x","http://a.example/"]}"#,
            r#"{"url":"http://a.co.uk/","outlinks":["http:\/\/b.example\/\u00e4\ud83d\ude00","\ud800",7,null,{"url":"http://c.example/","text":"x"},{"href":"http://d.example/"}]}"#,
            r#"{"url":"http://a.example/","spam":true,"clicks":30e-1,"uncrawled_outlinks":null,"digest":"x","fetched":"2026-11-19T04:00:00.5+01:00","title":{"a":[1,2]}}"#,
            r#"{"url":"http://a.example/","gone":true,"fetched":7,"outlinks":"x","clicks":-1}"#,
            r#"{"url":"http://a.example/","outlinks":[],"clicks":9007199254740992,"uncrawled_outlinks":1000000,"spam":null}"#,
            r#"{"url":"http://a.example/","quality":0.99995}"#,
            r#"{"url":"http://a.example/","quality":null,"clicks":1}"#,
            r#"{"url":"http://a.example/","quality":10000000000001e-13}"#,
            r#"{"url":"http://a.example/","url":"http://b.example/"}"#,
            r#"["http://a.example/"]"#,
        ],
    )
}
