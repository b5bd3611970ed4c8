//! URLs: what is read is normal, however often it is read; the short way and the parser agree, and
//! so do all ways to cut sites; pages of a site sort as their URLs do.
//!
//! An input is two texts with a line end between them.

use seedbank::ingest::{Interner, Location, MAX_URL, Naming, SiteMode, UrlRules, parse};

use super::json_lines::is_normal;

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (one, other) = text.split_once('\n').unwrap_or((text, ""));
    for naming in Naming::ALL {
        if let (Some(one), Some(other)) = (page(one, naming), page(other, naming))
            && one.site == other.site
        {
            let urls = (one.url(naming.sites), other.url(naming.sites));
            assert_eq!(one.local.cmp(&other.local), urls.0.cmp(&urls.1));
        }
    }
    // What a site is changes no URL.
    for urls in [UrlRules::Rfc3986, UrlRules::Whatwg] {
        let url = |sites: SiteMode| parse(one, sites.with(urls)).map(|page| page.url(sites));
        assert_eq!(url(SiteMode::Host), url(SiteMode::Domain));
        assert_eq!(url(SiteMode::Host), url(SiteMode::BareHost));
    }
}

fn page(text: &str, naming: Naming) -> Option<Location> {
    let parsed = parse(text, naming);
    // A blank is dropped, but keeps a text from the short way.
    assert_eq!(parsed, parse(&format!(" {text}"), naming));
    let mut urls = Interner::default();
    let number = urls.parse(text, naming);
    assert_eq!(parsed, number.clone().map(|number| urls.location(number)));
    let page = parsed.ok()?;
    assert_eq!(Ok(urls.number(&page)), number);
    assert!(page.url(naming.sites).len() <= MAX_URL);
    is_normal(&page, naming);
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
