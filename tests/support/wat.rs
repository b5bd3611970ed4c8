//! WAT files as Common Crawl publishes them, and the JSON Lines that say the same.

use std::convert::Infallible;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::select;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{
    Event, Input, Naming, Position, ReadError, ReadOptions, ReadSummary, read_batch,
};
use seedbank::watch::Unwatched;
use serde_json::{Map, Value, json};
use url::Url;

/// A capture of a page.
#[derive(Clone, Debug)]
pub struct Capture {
    pub url: String,
    pub date: String,
    pub status: u16,
    pub location: Option<String>,
    pub digest: Option<String>,
    /// `None` where the page is no HTML.
    pub html: Option<Html>,
}

/// What the HTML of a page says, as it is written there.
#[derive(Clone, Debug, Default)]
pub struct Html {
    pub base: Option<String>,
    pub canonical: Option<String>,
    pub robots: Option<String>,
    pub links: Vec<Link>,
}

#[derive(Clone, Debug)]
pub struct Link {
    pub path: &'static str,
    pub url: String,
    pub rel: Option<&'static str>,
}

impl Link {
    pub fn to(url: &str) -> Self {
        Self {
            path: "A@/href",
            url: url.to_owned(),
            rel: None,
        }
    }
}

impl Capture {
    /// A page with these links.
    pub fn of(url: &str, links: &[&str]) -> Self {
        Self {
            url: url.to_owned(),
            date: "2024-05-18T01:58:10Z".to_owned(),
            status: 200,
            location: None,
            digest: Some("sha1:ZA4S2ROKJQBBZUB7HNCIF4B343CJJLNW".to_owned()),
            html: Some(Html {
                links: links.iter().map(|url| Link::to(url)).collect(),
                ..Html::default()
            }),
        }
    }

    /// An answer of a server without a page.
    pub fn answered(url: &str, status: u16, location: Option<&str>) -> Self {
        Self {
            status,
            location: location.map(str::to_owned),
            html: None,
            ..Self::of(url, &[])
        }
    }

    const fn media_type(&self) -> &'static str {
        match self.html {
            Some(_) => "text/html",
            None => "application/pdf",
        }
    }

    /// The metadata of the response.
    pub fn response(&self) -> Value {
        let mut head = json!({
            "WARC-Type": "response",
            "WARC-Date": self.date,
            "WARC-Record-ID": "<urn:uuid:2cd3845f-df52-4a79-b668-3a96d50e5fed>",
            "Content-Length": "24707",
            "Content-Type": "application/http; msgtype=response",
            "WARC-Target-URI": self.url,
        });
        // Of some writers the digest stands in the one place, of some in the other.
        let in_head = self.url.len().is_multiple_of(2);
        let mut response = json!({
            "Response-Message": {"Status": self.status.to_string(), "Version": "HTTP/1.1", "Reason": ""},
            "Headers-Length": "317",
            "Headers": {"Date": "Sun, 19 May 2019 07:24:27 GMT", "Content-Type": self.media_type()},
        });
        if let Some(digest) = &self.digest {
            if in_head {
                head["WARC-Payload-Digest"] = json!(digest);
                response["Entity-Digest"] = json!("sha1:another");
            } else {
                response["Entity-Digest"] = json!(digest);
            }
        }
        if let Some(location) = &self.location {
            let name = if in_head { "Location" } else { "location" };
            response["Headers"][name] = json!(location);
        }
        if let Some(html) = &self.html {
            response["HTML-Metadata"] = html.metadata();
        }
        json!({
            "Container": {
                "Filename": "CC-MAIN-20240517233122-20240518023122-00000.warc.gz",
                "Compressed": true, "Offset": "80610731",
                "Gzip-Metadata": {"Deflate-Length": "14534", "Header-Length": "10"},
            },
            "Envelope": {
                "Payload-Metadata": {
                    "Actual-Content-Type": "application/http; msgtype=response",
                    "HTTP-Response-Metadata": response,
                    "Actual-Content-Length": "24707",
                    "Block-Digest": "sha1:U45OUWTVGO5ZPCXRAP5JJMF4OB4VXRQ5",
                },
                "Format": "WARC/1.0", "WARC-Header-Length": "598",
                "WARC-Header-Metadata": head,
            },
        })
    }

    /// The record that says the same; `None` where the capture says nothing of its page.
    pub fn record(&self) -> Option<Value> {
        let mut record = json!({"url": self.url, "fetched": self.date});
        let page = Url::parse(&self.url).unwrap();
        match self.status {
            200..300 => {}
            300..=303 | 305..=399 => {
                let to = page.join(self.location.as_ref()?).ok()?;
                if !to.scheme().starts_with("http") {
                    return None;
                }
                if to.as_str().split('#').next() == page.as_str().split('#').next() {
                    return None;
                }
                record["redirect"] = json!(to.as_str());
                return Some(record);
            }
            404 | 410 => {
                record["gone"] = json!(true);
                return Some(record);
            }
            304 => return None,
            status => {
                record["status"] = json!(status);
                return Some(record);
            }
        }
        if let Some(digest) = &self.digest {
            record["digest"] = json!(digest);
        }
        if self.html.is_none() {
            record["kind"] = json!("document");
        }
        if let Some(html) = &self.html {
            let base = html
                .base
                .as_ref()
                .map_or(Ok(page.clone()), |base| page.join(base));
            let base = base.ok().filter(|base| base.scheme().starts_with("http"));
            let base = base.unwrap_or(page);
            let absolute =
                |link: &String| base.join(link).map_or_else(|_| link.clone(), String::from);
            let links = html
                .links
                .iter()
                .filter(|link| link.path.ends_with("A@/href"));
            record["outlinks"] = links.map(|link| absolute(&link.url)).collect();
            if let Some(canonical) = &html.canonical {
                record["canonical"] = json!(absolute(canonical));
            }
        }
        Some(record)
    }
}

impl Html {
    fn metadata(&self) -> Value {
        let mut head =
            json!({"Title": "a page", "Scripts": [{"path": "SCRIPT@/src", "url": "/x.js"}]});
        if let Some(base) = &self.base {
            head["Base"] = json!(base);
        }
        let mut links = vec![json!({"path": "LINK@/href", "rel": "stylesheet", "url": "/x.css"})];
        if let Some(canonical) = &self.canonical {
            links.push(json!({"path": "LINK@/href", "rel": "Canonical", "url": canonical}));
            links.push(json!({"path": "LINK@/href", "rel": "canonical", "url": "/second"}));
        }
        head["Link"] = json!(links);
        let mut metas = vec![json!({"content": "text/html", "http-equiv": "content-type"})];
        if let Some(robots) = &self.robots {
            metas.push(json!({"name": "Robots", "content": robots}));
        }
        head["Metas"] = json!(metas);
        let mut html = json!({"Head": head});
        // The list is missing where it would be empty.
        if !self.links.is_empty() {
            let links = self.links.iter().map(|link| {
                let mut tag = Map::new();
                tag.insert("path".to_owned(), json!(link.path));
                tag.insert("url".to_owned(), json!(link.url));
                tag.insert("text".to_owned(), json!("a text"));
                if let Some(rel) = link.rel {
                    tag.insert("rel".to_owned(), json!(rel));
                }
                Value::Object(tag)
            });
            html["Links"] = links.collect();
        }
        html
    }
}

/// A record of a web archive.
pub fn record(kind: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2024-05-31T01:17:49Z\r\n\
         WARC-Record-ID: <urn:uuid:3d3f4785-c69a-4f8c-968c-d23302c55ef4>\r\n\
         Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The metadata of a record.
pub fn metadata(envelope: &Value) -> Vec<u8> {
    record(
        "metadata",
        "application/json",
        format!("{envelope}\n").as_bytes(),
    )
}

/// The records of a file: what it is, and for each capture the request, the response and what was
/// noted of the fetch.
pub fn records(captures: &[Capture]) -> Vec<Vec<u8>> {
    let about = "Software-Info: ia-web-commons.1.1.10-SNAPSHOT-20240513074037\r\n\
        format: WARC File Format 1.0\r\n\r\n";
    let mut records = vec![record(
        "warcinfo",
        "application/warc-fields",
        about.as_bytes(),
    )];
    for capture in captures {
        let beside = |kind: &str| {
            metadata(&json!({
                "Container": {"Compressed": true, "Offset": "80610308"},
                "Envelope": {
                    "Payload-Metadata": {"Actual-Content-Length": "265"},
                    "WARC-Header-Metadata": {"WARC-Type": kind, "WARC-Target-URI": capture.url},
                },
            }))
        };
        records.push(beside("request"));
        records.push(metadata(&capture.response()));
        records.push(beside("metadata"));
    }
    records
}

/// Each record compressed by itself, as published.
pub fn members(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        let mut gzip = GzEncoder::new(file, Compression::default());
        gzip.write_all(record).unwrap();
        file = gzip.finish().unwrap();
    }
    file
}

/// The same captures as JSON Lines.
pub fn lines(captures: &[Capture]) -> String {
    let records = captures.iter().filter_map(Capture::record);
    let lines: Vec<String> = records.map(|record| record.to_string() + "\n").collect();
    lines.concat()
}

fn a_url() -> impl Strategy<Value = String> {
    let hosts = select(vec![
        "http://a.example",
        "https://www.a.example",
        "http://b.example:81",
    ]);
    let rests = select(vec!["/", "/x/", "/x/y", "/x/y?q=1", "/%7ez"]);
    (hosts, rests).prop_map(|(host, rest)| format!("{host}{rest}"))
}

fn a_link() -> impl Strategy<Value = String> {
    let relative = select(vec![
        "/",
        "x/y",
        "../y",
        "?q=1",
        "#top",
        "",
        "//b.example:81/x/",
        " /x/y ",
        "/\t/a.example/x/",
        "mailto:x@a.example",
        "javascript:void(0)",
        "http://",
        "y z",
        "\\x",
        "HTTP://A.example/x/y#z",
        "é/\u{1f980}",
        "//",
    ]);
    prop_oneof![a_url(), relative.prop_map(str::to_owned)]
}

fn html() -> impl Strategy<Value = Html> {
    let paths = select(vec!["A@/href", "AREA@/href", "IMG@/src", "FORM@/action"]);
    let rels = select(vec![
        None,
        Some("nofollow"),
        Some("noopener NoFollow"),
        Some("me"),
    ]);
    let link = (paths, a_link(), rels).prop_map(|(path, url, rel)| Link { path, url, rel });
    let base = select(vec!["/x/", "http://b.example:81/y", "data:,x", "http://"]);
    (
        prop::option::weighted(0.3, base.prop_map(str::to_owned)),
        prop::option::weighted(0.3, a_link()),
        prop::option::weighted(0.3, select(vec!["noindex, NOFOLLOW", "none", "all"])),
        prop::collection::vec(link, 0..6),
    )
        .prop_map(|(base, canonical, robots, links)| Html {
            base,
            canonical,
            robots: robots.map(str::to_owned),
            links,
        })
}

/// A capture of one of few pages, with links of all kinds.
pub fn a_capture() -> impl Strategy<Value = Capture> {
    (
        a_url(),
        0..40_u32,
        select(vec![
            200, 200, 200, 206, 301, 302, 304, 307, 403, 404, 410, 500,
        ]),
        prop::option::weighted(0.7, a_link()),
        prop::option::weighted(0.8, "sha1:[A-C]"),
        prop::option::weighted(0.9, html()),
    )
        .prop_map(|(url, second, status, location, digest, html)| Capture {
            url,
            date: format!("2024-05-18T01:58:{second:02}Z"),
            status,
            location,
            digest,
            html,
        })
}

pub type Events = Vec<(Position, Event)>;

/// What is read of a file.
pub fn read(bytes: &[u8], format: &Format) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    read_with(bytes, format, Naming::default().into())
}

/// What a file holds, read with these options.
pub fn read_with(
    bytes: &[u8],
    format: &Format,
    options: ReadOptions,
) -> (Result<ReadSummary, ReadError<Infallible>>, Events) {
    let folder = super::scratch();
    let path = folder.path().join("a.warc.wat.gz");
    std::fs::write(&path, bytes).unwrap();
    let mut events = Vec::new();
    let mut sources = format.sources(&[Input::File(path)]);
    let summary = read_batch(&mut sources, options, &Unwatched, &mut |at, event| {
        events.push((at, event));
        Ok(())
    });
    (summary, events)
}
