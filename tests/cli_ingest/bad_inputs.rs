//! Bad inputs, whole and line by line, each with the answer that is promised.
//!
//! [`Refused`](Answer::Refused): status 3, nothing written. [`Rejected`](Answer::Rejected): the bad
//! record is counted under its reason and the good one beside it goes in.
//! [`Dropped`](Answer::Dropped): a bad outlink is left out and its record stays.
//! [`Taken`](Answer::Taken): odd but good; the page is there under the URL given.

use std::io::Write;

use serde_json::json;

use Answer::{Dropped, Refused, Rejected, Taken};

/// What happens to an input.
pub enum Answer {
    /// The whole batch is refused, with these words.
    Refused(&'static str),
    /// The record is rejected for this reason.
    Rejected(&'static str),
    /// The outlink is dropped for this reason.
    Dropped(&'static str),
    /// The record counts, as a page of this URL.
    Taken(&'static str),
}

/// A record that is always good.
pub const GOOD: &[u8] = b"{\"url\": \"http://good.example/\", \"clicks\": 1}\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

/// A whole input.
pub fn inputs() -> Vec<(&'static str, Vec<u8>, Answer)> {
    let many: Vec<u8> = (0..20_000)
        .flat_map(|n| {
            format!(
                "{{\"url\": \"http://a.example/{n}\", \"digest\": \"{}\"}}\n",
                n * n
            )
            .into_bytes()
        })
        .collect();
    let whole = gzip(&many);
    let mut crc = whole.clone();
    let end = crc.len();
    crc[end - 6] ^= 1;
    let mut flipped = whole.clone();
    flipped[end / 2] ^= 0x55;
    let zstd = zstd::encode_all(&*many, 0).unwrap();
    let mut zstd_flipped = zstd.clone();
    zstd_flipped[zstd.len() / 2] ^= 0x55;
    let mut trailing = whole.clone();
    trailing.extend(b"and more");
    vec![
        (
            "truncated gzip",
            whole[..end / 2].to_vec(),
            Refused("damaged gzip"),
        ),
        (
            "gzip without its end",
            whole[..end - 4].to_vec(),
            Refused("damaged gzip"),
        ),
        ("gzip with a wrong checksum", crc, Refused("damaged gzip")),
        ("gzip with a flipped bit", flipped, Refused("damaged gzip")),
        (
            "gzip followed by something else",
            trailing,
            Refused("damaged gzip"),
        ),
        (
            "only the magic number of gzip",
            vec![0x1f, 0x8b],
            Refused("damaged gzip"),
        ),
        (
            "truncated zstd",
            zstd[..zstd.len() / 2].to_vec(),
            Refused("damaged zstd"),
        ),
        (
            "zstd with a flipped bit",
            zstd_flipped,
            Refused("damaged zstd"),
        ),
        (
            "all records bad",
            b"bad\nworse\n".to_vec(),
            Refused("2 of 2 records are bad"),
        ),
        (
            "random bytes",
            (0_u32..5000).map(|n| (n * n % 251) as u8).collect(),
            Refused("1 of 1 record is bad"),
        ),
    ]
}

/// A line beside a good one.
#[allow(clippy::too_many_lines, reason = "it is a table")]
pub fn lines() -> Vec<(&'static str, Vec<u8>, Answer)> {
    let text = |name, line: &str, answer| (name, line.as_bytes().to_vec(), answer);
    let field = |name, field: &str, answer| {
        let line = format!("{{\"url\": \"http://x.example/\", {field}}}");
        (name, line.into_bytes(), answer)
    };
    let url = |name, url: &str, answer| {
        let line = format!("{{\"url\": {}, \"clicks\": 1}}", json!(url));
        (name, line.into_bytes(), answer)
    };
    let link = |name, url: &str, reason| {
        let line = format!(
            "{{\"url\": \"http://x.example/\", \"outlinks\": [{}]}}",
            json!(url)
        );
        (name, line.into_bytes(), Dropped(reason))
    };
    let long = format!("http://x.example/{}", "a".repeat(70_000));
    let many: Vec<String> = (0..2000).map(|n| format!("\"f{n}\": 0")).collect();
    let many = format!("{{\"url\": \"http://x.example/\", {}}}", many.join(", "));
    let deep = format!(
        "{{\"url\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    vec![
        text(
            "no JSON",
            "url: http://x.example/",
            Rejected("invalid_json"),
        ),
        text(
            "cut off JSON",
            "{\"url\": \"http://x.exam",
            Rejected("invalid_json"),
        ),
        text(
            "two objects on a line",
            "{\"url\": \"http://x.example/\"} {}",
            Rejected("invalid_json"),
        ),
        text(
            "a trailing comma",
            "{\"url\": \"http://x.example/\",}",
            Rejected("invalid_json"),
        ),
        text("JSON nested too deep", &deep, Rejected("wrong_type")),
        text(
            "a list",
            "[\"http://x.example/\"]",
            Rejected("not_an_object"),
        ),
        text("a number", "7", Rejected("not_an_object")),
        text("an empty object", "{}", Rejected("missing_url")),
        text("too many fields", &many, Rejected("too_many_fields")),
        (
            "invalid UTF-8",
            b"{\"url\": \"http://x.example/\xff\xfe\"}".to_vec(),
            Rejected("invalid_utf8"),
        ),
        (
            "UTF-16",
            "{\"url\": 1}"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
            Rejected("invalid_json"),
        ),
        ("NUL bytes", b"\0\0\0\0".to_vec(), Rejected("invalid_json")),
        (
            "a NUL byte in a string",
            b"{\"url\": \"http://x.example/\0\"}".to_vec(),
            Rejected("invalid_json"),
        ),
        url(
            "an escaped NUL in a host",
            "http://x\0y.example/",
            Rejected("invalid_url"),
        ),
        url("a relative URL", "/a/b", Rejected("relative_url")),
        url(
            "a URL without scheme",
            "www.x.example/a",
            Rejected("relative_url"),
        ),
        url("an empty URL", "  ", Rejected("empty_url")),
        url(
            "a javascript URL",
            "javascript:alert(1)",
            Rejected("url_scheme"),
        ),
        url("a file URL", "file:///etc/passwd", Rejected("url_scheme")),
        url(
            "a URL without host",
            "http://",
            Rejected("url_without_host"),
        ),
        url(
            "a bad port",
            "http://x.example:99999/",
            Rejected("invalid_url"),
        ),
        url("a bad IPv6 host", "http://[1:2/", Rejected("invalid_url")),
        url("a URL too long", &long, Rejected("url_too_long")),
        text(
            "a URL that is a number",
            "{\"url\": 7}",
            Rejected("wrong_type"),
        ),
        text(
            "a URL twice",
            "{\"url\": \"http://x.example/\", \"url\": \"http://y.example/\"}",
            Rejected("duplicate_field"),
        ),
        field(
            "outlinks that are no list",
            "\"outlinks\": \"http://y.example/\"",
            Rejected("wrong_type"),
        ),
        field(
            "spam that is a number",
            "\"spam\": 1",
            Rejected("wrong_type"),
        ),
        field(
            "negative clicks",
            "\"clicks\": -1",
            Rejected("negative_number"),
        ),
        field(
            "fractional clicks",
            "\"clicks\": 1.5",
            Rejected("fractional_number"),
        ),
        field(
            "huge clicks",
            "\"clicks\": 1e400",
            Rejected("number_too_large"),
        ),
        field(
            "clicks beyond 64 bits",
            "\"clicks\": 18446744073709551616",
            Rejected("number_too_large"),
        ),
        field(
            "too many uncrawled outlinks",
            "\"uncrawled_outlinks\": 1000001",
            Rejected("number_too_large"),
        ),
        field(
            "negative uncrawled outlinks",
            "\"uncrawled_outlinks\": -3",
            Rejected("negative_number"),
        ),
        field(
            "clicks that are no JSON",
            "\"clicks\": NaN",
            Rejected("invalid_json"),
        ),
        field(
            "a day that is none",
            "\"fetched\": \"2026-02-30T00:00:00Z\"",
            Rejected("invalid_timestamp"),
        ),
        field(
            "a time in milliseconds",
            "\"fetched\": 1795060800000",
            Rejected("invalid_timestamp"),
        ),
        field(
            "a time that is true",
            "\"fetched\": true",
            Rejected("wrong_type"),
        ),
        link("a relative outlink", "/a", "relative"),
        link("a javascript outlink", "javascript:void(0)", "scheme"),
        link("a mailto outlink", "mailto:a@b.example", "scheme"),
        link("an empty outlink", "", "empty"),
        link("an outlink without host", "https://", "no_host"),
        link("a broken outlink", "http://[::x]/", "invalid"),
        link("an outlink too long", &long, "too_long"),
        field(
            "an outlink that is a number",
            "\"outlinks\": [7]",
            Rejected("wrong_type"),
        ),
        field(
            "an outlink that is null",
            "\"outlinks\": [\"http://y.example/\", null]",
            Rejected("wrong_type"),
        ),
        field(
            "an outlink without its URL",
            "\"outlinks\": [{\"text\": \"y\"}]",
            Rejected("wrong_type"),
        ),
        field(
            "an outlink as an object whose URL is relative",
            "\"outlinks\": [{\"href\": \"/y\"}]",
            Dropped("relative"),
        ),
        field(
            "an outlink of half a character",
            "\"outlinks\": [\"http://y.example/\\ud800\"]",
            Dropped("invalid"),
        ),
        url(
            "credentials",
            "http://user:secret@X.Example:80/#top",
            Taken("http://x.example/"),
        ),
        url(
            "a port",
            "https://x.example:8443/",
            Taken("https://x.example:8443/"),
        ),
        url(
            "an IDN host",
            "http://b\u{fc}cher.example/",
            Taken("http://xn--bcher-kva.example/"),
        ),
        url(
            "a punycode host",
            "http://XN--bcher-KVA.example/",
            Taken("http://xn--bcher-kva.example/"),
        ),
        url(
            "an IPv6 host",
            "http://[2001:DB8:0::1]/",
            Taken("http://[2001:db8::1]/"),
        ),
        url(
            "a number as host",
            "http://2130706433/",
            Taken("http://127.0.0.1/"),
        ),
        url(
            "percent-encoding",
            "http://x.example/%7e%C3%BC?q=%00 b",
            Taken("http://x.example/%7e%C3%BC?q=%00%20b"),
        ),
        url(
            "dots and backslashes",
            "http:\\\\x.example\\a\\..\\b",
            Taken("http://x.example/b"),
        ),
        url(
            "white space around and within",
            " http://x.ex\tample/\n",
            Taken("http://x.example/"),
        ),
        text(
            "several records for a page",
            "{\"url\": \"http://x.example/\"}\n{\"url\": \"http://x.example/#a\", \"clicks\": 2}",
            Taken("http://x.example/"),
        ),
        text(
            "a byte order mark and CRLF",
            "{\"url\": \"http://x.example/\", \"clicks\": 2}\r",
            Taken("http://x.example/"),
        ),
        text(
            "clicks as 3.0",
            "{\"url\": \"http://x.example/\", \"clicks\": 3.0}",
            Taken("http://x.example/"),
        ),
    ]
}
