//! Texts that crawlers and archives leave, in the layouts that they publish, each beside the records
//! of the same facts.

use seedbank::engine::ingest::Format;

/// A text, and what it says as JSON Lines.
pub struct Example {
    pub name: &'static str,
    pub format: Format,
    pub text: String,
    pub lines: String,
}

fn example(name: &'static str, format: Format, text: &str, lines: &[&str]) -> Example {
    Example {
        name,
        format,
        text: text.to_owned(),
        lines: lines.iter().flat_map(|line| [*line, "\n"]).collect(),
    }
}

/// What a bank has before: pages with links, so that those show that a text takes away.
pub const BEFORE: &str = r#"{"url": "http://a.example/", "outlinks": ["http://b.example/", "http://c.example/"], "digest": "old", "fetched": "2026-01-01T00:00:00Z"}
{"url": "http://b.example/", "outlinks": ["http://a.example/"], "clicks": 3}
{"url": "http://gone.example/", "outlinks": ["http://a.example/"]}
{"url": "http://moved.example/", "outlinks": ["http://a.example/"]}
{"url": "http://dead.example/", "gone": true}
"#;

pub const URLS: &str = "# seeds of the old crawler\r\nhttp://a.example/\r\n\nhttp://NEW.example\tnutch.score=0.5\tkey=value\nhttp://dead.example/ # again\n+http://(example,d,\nhttps://b.example/x#part \n";

pub const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/hostname">]>
<?xml-stylesheet type="text/xsl" href="http://a.example/main.xsl"?>
<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <!-- <sm:url><sm:loc>http://comment.example/</sm:loc></sm:url> -->
  <sm:url>
    <sm:loc> http://a.example/?a=1&amp;b=&#50;
    </sm:loc>
    <sm:lastmod>2026-11-19</sm:lastmod><sm:changefreq>daily</sm:changefreq>
    <image:image><image:loc>http://a.example/i.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="http://a.example/de?x&amp;y"/>
    <xhtml:link rel="stylesheet" href="http://a.example/main.css"></xhtml:link>
  </sm:url>
  <sm:url><sm:loc><![CDATA[http://b.example/?c=1&d]]></sm:loc></sm:url>
  <sm:url><sm:loc>http://new.example/?e&f=2</sm:loc></sm:url>
  <other:url xmlns:other="urn:x"><other:loc>http://other.example/</other:loc></other:url>
</sm:urlset>
"#;

pub const CDX: &str = " CDX N b a m s k r M S V g
example,a)/ 20261119040000 http://a.example/ text/html 200 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 1043 333 a.warc.gz
example,a)/new 20261119040001 http://a.example/new warc/revisit - 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 520 1376 a.warc.gz
example,b) 20261119040002 dns:b.example text/dns - PJFYRXQPVMIPZUSGGP6MMFGXZF6ZGAAA - - 200 1896 a.warc.gz
example,down)/ 20261119040003 http://down.example/ text/html 503 AQGFIYBQQKPTSEVEDPD4GHEBDHQXKXLM - - 600 2096 a.warc.gz
example,gone)/ 20261119040003 http://gone.example/ text/html 404 AQGFIYBQQKPTSEVEDPD4GHEBDHQXKXLM - - 600 2096 a.warc.gz
example,moved)/ 20261119040004 http://moved.example/ text/html 301 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ https://moved.example/ - 400 2696 a.warc.gz
example,moved)/x 20261119040005 http://moved.example/x text/html 302 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 400 3096 a.warc.gz
";

pub const CDXJ: &str = r#"!OpenWayback-CDXJ 1.0
!meta {"format": "x"}
example,a)/ 20261119040000 {"url": "http://a.example/", "mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "1043", "offset": "333", "filename": "a.warc.gz", "charset": "UTF-8", "languages": "eng"}
example,a)/new 20261119040001 {"url": "http://a.example/new", "mime": "warc/revisit", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "520", "offset": "1376", "filename": "a.warc.gz"}
example,gone)/ 20261119040003 {"url": "http://gone.example/", "mime": "text/html", "status": 404, "digest": "AQGFIYBQQKPTSEVEDPD4GHEBDHQXKXLM"}
example,moved)/ 20261119040004 {"url": "http://moved.example/", "mime": "text/html", "status": "301", "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "redirect": "https://moved.example/"}
example,moved)/x 20261119040005 {"url": "http://moved.example/x", "mime": "text/html", "status": "302", "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}
"#;

const CAPTURES: [&str; 4] = [
    r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}"#,
    r#"{"url": "http://a.example/new", "kind": null, "fetched": "2026-11-19T04:00:01Z", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}"#,
    r#"{"url": "http://gone.example/", "fetched": "2026-11-19T04:00:03Z", "gone": true}"#,
    r#"{"url": "http://moved.example/", "fetched": "2026-11-19T04:00:04Z", "redirect": "https://moved.example/"}"#,
];

/// Captures, and what failed.
fn with_failures(failures: &[&'static str]) -> Vec<&'static str> {
    [&CAPTURES[..], failures].concat()
}

pub const JSON: &str = r#"[
  {"url": "http://a.example/", "outlinks": ["http://x.example/}]\"", "http://b.example/"]},
  {
    "url": "http://b.example/",
    "clicks": 7
  }
, {"url":"http://gone.example/","gone":true}]
"#;

const JSON_SPREAD: &str = r#"{
  "url": "http://a.example/",
  "outlinks": [
    "http://x.example/}]\"",
    "http://b.example/"
  ]
}{"url": "http://b.example/", "clicks": 7}
{
  "url": "http://gone.example/", "gone": true }"#;

const RECORDS: [&str; 3] = [
    r#"{"url": "http://a.example/", "outlinks": ["http://x.example/}]\"", "http://b.example/"]}"#,
    r#"{"url": "http://b.example/", "clicks": 7}"#,
    r#"{"url": "http://gone.example/", "gone": true}"#,
];

pub const NUTCH_TEXT: &str = "http://a.example/\tVersion: 7
Status: 2 (db_fetched)
Fetch time: Sat Dec 19 04:00:00 UTC 2026
Modified time: Thu Nov 19 04:00:00 UTC 2026
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 1.0
Signature: 9f86d081884c7d659a2feaa0c55ad015
Metadata: 
 \t_pst_=success(1), lastModified=0
\t_rs_=132
\tContent-Type=text/html

http://gone.example/\tVersion: 7
Status: 3 (db_gone)
Fetch time: Sat Dec 19 04:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.0
Signature: null
Metadata: 
 \t_pst_=notfound(14), lastModified=0: http://gone.example/

http://moved.example/\tVersion: 7
Status: 5 (db_redir_perm)
Fetch time: Sat Dec 19 05:00:00 CET 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.0
Signature: null
Metadata: 
 \t_pst_=moved(12), lastModified=0: https://moved.example/

http://new.example/\tVersion: 7
Status: 1 (db_unfetched)
Fetch time: Thu Nov 19 04:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.0
Signature: null
Metadata: 
 

http://busy.example/\tVersion: 7
Status: 1 (db_unfetched)
Fetch time: Fri Nov 20 04:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 1
Retry interval: 2592000 seconds (30 days)
Score: 0.0
Signature: null
Metadata: 
 \t_pst_=exception(16), lastModified=0: Http code=503, url=http://busy.example/

http://private.example/\tVersion: 7
Status: 3 (db_gone)
Fetch time: Sat Dec 19 04:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.0
Signature: null
Metadata: 
 \t_pst_=robots_denied(18), lastModified=0

";

pub const NUTCH_CSV: &str = "Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata
\"http://a.example/\",2,\"db_fetched\",Sat Dec 19 04:00:00 UTC 2026,Thu Nov 19 04:00:00 UTC 2026,0,2592000.0,30.0,1.0,\"9f86d081884c7d659a2feaa0c55ad015\",\"_pst_:success(1), lastModified=0|||_rs_:132|||\"
\"http://gone.example/\",3,\"db_gone\",Sat Dec 19 04:00:00 UTC 2026,Thu Jan 01 00:00:00 UTC 1970,0,2592000.0,30.0,0.0,\"null\",\"_pst_:notfound(14), lastModified=0: http://gone.example/|||\"
\"http://moved.example/\",5,\"db_redir_perm\",Sat Dec 19 05:00:00 CET 2026,Thu Jan 01 00:00:00 UTC 1970,0,2592000.0,30.0,0.0,\"null\",\"_pst_:moved(12), lastModified=0: https://moved.example/|||\"
\"http://new.example/\",1,\"db_unfetched\",Thu Nov 19 04:00:00 UTC 2026,Thu Jan 01 00:00:00 UTC 1970,0,2592000.0,30.0,0.0,\"null\",\"\"
\"http://busy.example/\",1,\"db_unfetched\",Fri Nov 20 04:00:00 UTC 2026,Thu Jan 01 00:00:00 UTC 1970,1,2592000.0,30.0,0.0,\"null\",\"_pst_:exception(16), lastModified=0: Http code=503, url=http://busy.example/|||\"
\"http://private.example/\",3,\"db_gone\",Sat Dec 19 04:00:00 UTC 2026,Thu Jan 01 00:00:00 UTC 1970,0,2592000.0,30.0,0.0,\"null\",\"_pst_:robots_denied(18), lastModified=0|||\"
";

pub const NUTCH_JSON: &str = r#"{"url": "http://a.example/", "statusCode": 2, "statusName": "db_fetched", "fetchTime": "Sat Dec 19 04:00:00 UTC 2026", "modifiedTime": "Thu Nov 19 04:00:00 UTC 2026", "retriesSinceFetch": 0, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 1.0, "signature": "9f86d081884c7d659a2feaa0c55ad015", "metadata": {"_pst_": "success(1), lastModified=0", "_rs_": 132}}
{"url": "http://gone.example/", "statusCode": 3, "statusName": "db_gone", "fetchTime": "Sat Dec 19 04:00:00 UTC 2026", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 0, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 0.0, "signature": "null", "metadata": {"_pst_": "notfound(14), lastModified=0: http://gone.example/"}}
{"url": "http://moved.example/", "statusCode": 5, "statusName": "db_redir_perm", "fetchTime": "Sat Dec 19 05:00:00 CET 2026", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 0, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 0.0, "signature": "null", "metadata": {"_pst_": "moved(12), lastModified=0: https://moved.example/"}}
{"url": "http://new.example/", "statusCode": 1, "statusName": "db_unfetched", "fetchTime": "Thu Nov 19 04:00:00 UTC 2026", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 0, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 0.0, "signature": "null", "metadata": ""}
{"url": "http://busy.example/", "statusCode": 1, "statusName": "db_unfetched", "fetchTime": "Fri Nov 20 04:00:00 UTC 2026", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 1, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 0.0, "signature": "null", "metadata": {"_pst_": "exception(16), lastModified=0: Http code=503, url=http://busy.example/"}}
{"url": "http://private.example/", "statusCode": 3, "statusName": "db_gone", "fetchTime": "Sat Dec 19 04:00:00 UTC 2026", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 0, "retryIntervalSeconds": 2592000, "retryIntervalDays": 30, "score": 0.0, "signature": "null", "metadata": {"_pst_": "robots_denied(18), lastModified=0"}}
"#;

const NUTCH: [&str; 6] = [
    r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z", "digest": "9f86d081884c7d659a2feaa0c55ad015"}"#,
    r#"{"url": "http://gone.example/", "gone": true, "fetched": "2026-11-19T04:00:00Z"}"#,
    r#"{"url": "http://moved.example/", "redirect": "https://moved.example/", "fetched": "2026-11-19T04:00:00Z"}"#,
    r#"{"url": "http://new.example/"}"#,
    r#"{"url": "http://busy.example/", "status": 503, "fetched": "2026-11-19T04:00:00Z"}"#,
    r#"{"url": "http://private.example/", "status": "robots", "fetched": "2026-11-19T04:00:00Z"}"#,
];

/// The last anchor is that of Nutch 1.21; those before it wrote no metadata.
pub const NUTCH_LINKS: &str = "http://b.example/\tInlinks:
 fromUrl: http://a.example/ anchor: to anchor: b
 fromUrl: http://c.example/x anchor: 

http://x.example/\tInlinks:
 fromUrl: http://a.example/ anchor: x metadata:  key: value
 fromUrl: http://x.example/#y anchor: x metadata: 

";

const INLINKS: [&str; 3] = [
    r#"{"url": "http://a.example/", "outlinks": ["http://b.example/", "http://x.example/"]}"#,
    r#"{"url": "http://c.example/x", "outlinks": ["http://b.example/"]}"#,
    r#"{"url": "http://x.example/", "outlinks": []}"#,
];

pub const CRAWL_LOG: &str = "2026-11-19T04:00:00.001Z     1         52 dns:a.example P http://a.example/ text/dns #001 20261119035959900+50 sha1:PJFYRXQPVMIPZUSGGP6MMFGXZF6ZGAAA - -
2026-11-19T04:00:00.010Z   404        196 http://a.example/robots.txt P http://a.example/ text/html #001 20261119040000002+8 sha1:AQGFIYBQQKPTSEVEDPD4GHEBDHQXKXLM - -
2026-11-19T04:00:00.100Z   200       1299 http://a.example/ - - text/html #001 20261119040000000+100 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://a.example/ 2t
2026-11-19T04:00:01.200Z   200       1299 http://a.example/new L http://a.example/ text/html #002 20261119040001000+200 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://a.example/ -
2026-11-19T04:00:03.300Z   404        196 http://gone.example/ LL http://a.example/new text/html #003 20261119040003000+300 sha1:AQGFIYBQQKPTSEVEDPD4GHEBDHQXKXLM http://a.example/ -
2026-11-19T04:00:03.400Z   301          0 http://moved.example/ L http://a.example/ unknown #003 20261119040003100+300 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://a.example/ -
2026-11-19T04:00:04.100Z    -2          - https://moved.example/ LR http://moved.example/ no-type #004 20261119040004000+100 - http://a.example/ 3t
2026-11-19T04:00:05.000Z -9998          - http://b.example/private LL http://a.example/new no-type #005 - - http://a.example/ -
";

const FOLLOWED: [&str; 2] = [
    r#"{"url": "http://a.example/", "outlinks": ["http://a.example/new", "http://moved.example/"]}"#,
    r#"{"url": "http://a.example/new", "outlinks": ["http://gone.example/", "http://b.example/private"]}"#,
];

/// The crawler appends to one file; here the lists of two crawls were joined.
pub const PAGE_LIST: &str = r#"{"format":"json-pages-1.0","id":"pages","title":"Seed Pages","hasText":"false"}
{"id":"5d0c","url":"http://a.example/","title":"A \"quoted\" title","loadState":4,"ts":"2026-11-19T04:00:00.250Z","mime":"text/html","status":200,"seed":true,"depth":0,"favIconUrl":"http://a.example/favicon.ico"}
{"id":"5d0d","url":"http://a.example/new","title":"","loadState":1,"ts":"2026-11-19T04:00:01.000Z","status":200,"depth":1}
{"format":"json-pages-1.0","id":"pages","title":"Non-Seed Pages","hasText":"true"}
{"id":"5d0e","url":"http://gone.example/","title":"","loadState":2,"ts":"2026-11-19T04:00:03.000Z","mime":"text/html","status":404,"depth":2,"text":"nothing"}
{"id":"5d0f","url":"http://down.example/","title":"","loadState":0,"ts":"2026-11-19T04:00:03.500Z","status":503,"depth":1}
{"id":"5d10","url":"http://b.example/","title":"","loadState":0,"ts":"2026-11-19T04:00:04.000Z","depth":1}
"#;

const PAGES_OF_LIST: [&str; 5] = [
    r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z"}"#,
    r#"{"url": "http://a.example/new", "fetched": "2026-11-19T04:00:01Z"}"#,
    r#"{"url": "http://gone.example/", "fetched": "2026-11-19T04:00:03Z", "gone": true}"#,
    r#"{"url": "http://down.example/", "fetched": "2026-11-19T04:00:03Z", "status": 503}"#,
    r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:04Z", "status": "other"}"#,
];

pub const SKIPPED_PAGES: &str = r#"{"format":"json-pages-1.0","id":"pages","title":"Skipped Pages","hasText":"false"}
{"url":"http://b.example/","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"robotsTxt","ts":"2026-11-19T04:00:00.000Z"}
{"url":"http://c.example/","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"failed","ts":"2026-11-19T04:00:01.000Z"}
{"url":"http://gone.example/","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"pageLimit","ts":"2026-11-19T04:00:01.000Z"}
{"url":"http://moved.example/","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"redirectToExcluded","ts":"2026-11-19T04:00:02.000Z"}
{"url":"http://never.example/","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"outOfScope","ts":"2026-11-19T04:00:03.000Z"}
{"url":"http://never.example/2","seedUrl":"http://a.example/","depth":2,"seed":false,"reason":"duplicate","ts":"2026-11-19T04:00:03.000Z"}
"#;

const SKIPPED: [&str; 2] = [
    r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:00Z", "status": "robots"}"#,
    r#"{"url": "http://c.example/", "fetched": "2026-11-19T04:00:01Z", "status": "other"}"#,
];

/// All of them.
pub fn examples() -> Vec<Example> {
    vec![
        example(
            "urls",
            Format::Urls,
            URLS,
            &[
                r#"{"url": "http://a.example/"}"#,
                r#"{"url": "http://new.example/"}"#,
                r#"{"url": "http://dead.example/"}"#,
                r#"{"url": "https://b.example/x"}"#,
            ],
        ),
        example(
            "sitemap",
            Format::Sitemap,
            SITEMAP,
            &[
                r#"{"url": "http://a.example/?a=1&b=2", "changed": "2026-11-19"}"#,
                r#"{"url": "http://a.example/de?x&y", "changed": "2026-11-19"}"#,
                r#"{"url": "http://b.example/?c=1&d"}"#,
                r#"{"url": "http://new.example/?e&f=2"}"#,
            ],
        ),
        example(
            "cdx",
            Format::Cdx,
            CDX,
            &with_failures(&[
                r#"{"url": "http://down.example/", "status": 503, "fetched": "2026-11-19T04:00:03Z"}"#,
            ]),
        ),
        example("cdxj", Format::Cdxj, CDXJ, &CAPTURES),
        example("json array", Format::Json, JSON, &RECORDS),
        example("json spread", Format::Json, JSON_SPREAD, &RECORDS),
        example("nutch text", Format::Nutch, NUTCH_TEXT, &NUTCH),
        example("nutch csv", Format::Nutch, NUTCH_CSV, &NUTCH),
        example("nutch json", Format::Nutch, NUTCH_JSON, &NUTCH),
        example("nutch links", Format::Nutch, NUTCH_LINKS, &INLINKS),
        example(
            "heritrix",
            Format::Heritrix,
            CRAWL_LOG,
            &with_failures(&[
                // Its log has no revisits.
                r#"{"url": "http://a.example/new", "fetched": "2026-11-19T04:00:01Z"}"#,
                r#"{"url": "https://moved.example/", "status": "connect", "fetched": "2026-11-19T04:00:04Z"}"#,
                r#"{"url": "http://b.example/private", "status": "robots", "fetched": "2026-11-19T04:00:05Z"}"#,
            ]),
        ),
        example(
            "heritrix links",
            Format::HeritrixLinks,
            CRAWL_LOG,
            &FOLLOWED,
        ),
        example(
            "browsertrix",
            Format::Browsertrix,
            PAGE_LIST,
            &PAGES_OF_LIST,
        ),
        example(
            "browsertrix skipped",
            Format::Browsertrix,
            SKIPPED_PAGES,
            &SKIPPED,
        ),
    ]
}
