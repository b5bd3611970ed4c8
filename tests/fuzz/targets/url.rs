//! URLs: what is read is normal, however often it is read; the short way and the parser agree, and
//! so do both ways to cut sites; pages of a site sort as their URLs do.
//!
//! An input is two texts with a line end between them.

use seedbank::ingest::{Interner, Location, MAX_URL, SiteMode, parse};

use super::json_lines::is_normal;

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (one, other) = text.split_once('\n').unwrap_or((text, ""));
    for mode in [SiteMode::Host, SiteMode::Domain] {
        if let (Some(one), Some(other)) = (page(one, mode), page(other, mode))
            && one.site == other.site
        {
            let urls = (one.url(mode), other.url(mode));
            assert_eq!(one.local.cmp(&other.local), urls.0.cmp(&urls.1));
        }
    }
    let url = |mode| parse(one, mode).map(|page| page.url(mode));
    assert_eq!(url(SiteMode::Host), url(SiteMode::Domain));
}

fn page(text: &str, mode: SiteMode) -> Option<Location> {
    let parsed = parse(text, mode);
    // A blank is dropped, but keeps a text from the short way.
    assert_eq!(parsed, parse(&format!(" {text}"), mode));
    let mut urls = Interner::default();
    let number = urls.parse(text, mode);
    assert_eq!(parsed, number.clone().map(|number| urls.location(number)));
    let page = parsed.ok()?;
    assert_eq!(Ok(urls.number(&page)), number);
    assert!(page.url(mode).len() <= MAX_URL);
    is_normal(&page, mode);
    Some(page)
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    [
        "http://a.example/\nhttps://a.example/",
        "HTTPS://User:Pass@WWW.Example.CO.UK:443/a/../b/%7e?q=1&r=%20#frag\nhttps://www.example.co.uk:8080/b",
        "http://[::1]:80/x\nhttp://0x7f.1/",
        "http://b\u{fc}cher.example./\u{e4} b\\c\nhttp://xn--bcher-kva.example./",
        " \thttp:a.example?x\nhttp:///a.example//",
        "javascript:alert(1)\n/relative",
        "http://a.example/.%2e/%2E/x;y=z\nhttp://a.example?",
        "http://a%41.example/\nhttp://1.2.3.4.5/",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
