use proptest::prelude::*;

use super::*;
use crate::ingest::interner::Interner;

/// Every way to cut sites, with URLs as browsers have them.
fn whatwg() -> impl Iterator<Item = Naming> {
    let all = Naming::ALL.into_iter();
    all.filter(|naming| naming.urls == UrlRules::Whatwg)
}

fn host(text: &str) -> Result<(String, String), UrlError> {
    parse(text, SiteMode::Host.with(UrlRules::Whatwg)).map(|l| (l.site, l.local))
}

#[test]
fn the_suffix_list_is_the_one_compiled_in() {
    let lock = include_str!("../../../Cargo.lock");
    let entry = format!("name = \"psl\"\nversion = \"{SUFFIX_LIST}\"\n");
    assert!(lock.contains(&entry), "SUFFIX_LIST differs from Cargo.lock");
}

#[test]
fn urls_are_normalised_as_browsers_do() {
    for (given, normalised) in [
        ("http://Example.COM", "http://example.com/"),
        ("HTTP://example.com:80/a#b", "http://example.com/a"),
        ("https://example.com:443/?#", "https://example.com/?"),
        ("http://example.com:443/", "http://example.com:443/"),
        (
            "https://example.com:8443/a?b=c#d",
            "https://example.com:8443/a?b=c",
        ),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("http://@example.com:8080/", "http://example.com:8080/"),
        ("  http://example.com/a\n", "http://example.com/a"),
        ("http://exa\nmple.com/a\tb", "http://example.com/ab"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        (
            "http://example.com/%7ea/%2F?%7e",
            "http://example.com/%7ea/%2F?%7e",
        ),
        ("http://example.com/a/../b/./c", "http://example.com/b/c"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://example.com./", "http://example.com./"),
        (
            "http://bücher.example/ü",
            "http://xn--bcher-kva.example/%C3%BC",
        ),
        (
            "http://XN--BCHER-KVA.example/",
            "http://xn--bcher-kva.example/",
        ),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        (
            "http://[2001:DB8:0:0::1]:8080/a",
            "http://[2001:db8::1]:8080/a",
        ),
        ("http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("http:example.com", "http://example.com/"),
        ("http:///example.com/", "http://example.com/"),
        ("http://exämple.com/a\0b", "http://xn--exmple-cua.com/a%00b"),
    ] {
        for naming in whatwg() {
            let location = parse(given, naming).unwrap();
            assert_eq!(location.url(naming.sites), normalised, "{given}");
            assert_eq!(parse(normalised, naming), Ok(location), "{given}");
        }
    }
}

#[test]
fn a_site_is_a_host_or_a_registrable_domain() {
    for (given, host, domain) in [
        (
            "http://www.example.co.uk:81/a",
            "www.example.co.uk",
            "example.co.uk",
        ),
        ("http://example.co.uk/", "example.co.uk", "example.co.uk"),
        ("http://co.uk/", "co.uk", "co.uk"),
        ("http://a.b.github.io/", "a.b.github.io", "b.github.io"),
        ("http://localhost/", "localhost", "localhost"),
        (
            "http://www.例子.中国/",
            "www.xn--fsqu00a.xn--fiqs8s",
            "xn--fsqu00a.xn--fiqs8s",
        ),
        ("http://10.1.2.3/", "10.1.2.3", "10.1.2.3"),
        ("http://[::1]/", "[::1]", "[::1]"),
        (
            "http://www.city.kawasaki.jp/",
            "www.city.kawasaki.jp",
            "city.kawasaki.jp",
        ),
    ] {
        assert_eq!(
            parse(given, SiteMode::Host.with(UrlRules::Whatwg))
                .unwrap()
                .site,
            host
        );
        assert_eq!(
            parse(given, SiteMode::Domain.with(UrlRules::Whatwg))
                .unwrap()
                .site,
            domain
        );
    }
    let split = ("example.com".to_owned(), "1:81/a?b".to_owned());
    assert_eq!(host("https://example.com:81/a?b"), Ok(split));
    let whole = parse(
        "https://w.example.com:81/a",
        SiteMode::Domain.with(UrlRules::Whatwg),
    )
    .unwrap();
    assert_eq!(whole.local, "1w.example.com:81/a");
    assert_eq!(whole.scheme(), Scheme::Https);
}

#[test]
fn a_bare_host_has_no_www_before_it() {
    for (given, site) in [
        ("http://www.example.org/a", "example.org"),
        ("http://example.org/a", "example.org"),
        ("http://WWW.Example.org./a", "example.org"),
        // Once.
        ("http://www.www.example.org/", "www.example.org"),
        // The rest has no dot, is a public suffix, or there is none.
        ("http://www.com/", "www.com"),
        ("http://www.co.uk/", "www.co.uk"),
        ("http://www.github.io/", "www.github.io"),
        ("http://www/", "www"),
        ("http://www1.example.org/", "www1.example.org"),
        ("http://10.1.2.3/", "10.1.2.3"),
    ] {
        assert_eq!(
            parse(given, Naming::default()).unwrap().site,
            site,
            "{given}"
        );
    }
    // A page keeps its host.
    let page = parse("https://www.example.org:81/a", Naming::default()).unwrap();
    assert_eq!(page.url(SiteMode::BareHost), "https://www.example.org:81/a");
    assert_eq!(page.local, "12:81/a");
    let page = parse("http://example.org/", Naming::default()).unwrap();
    assert_eq!(page.local, "01/");
    let page = parse("http://www.zoo.example/", Naming::default()).unwrap();
    assert_eq!(page.local, "00/");
}

#[test]
fn equal_urls_by_rfc_3986_are_one() {
    for (given, normalised) in [
        (
            "http://example.com/%7ea/%2f?%7e",
            "http://example.com/~a/%2F?~",
        ),
        ("http://example.com./", "http://example.com/"),
        ("http://example.com..:81/", "http://example.com:81/"),
        ("http://www.example.com./%e0", "http://www.example.com/%E0"),
        ("http://example.com/%E0", "http://example.com/%E0"),
        ("http://0x7f../", "http://0.0.0.127/"),
        (
            "http://bücher.example./ü",
            "http://xn--bcher-kva.example/%C3%BC",
        ),
        (
            "http://example.com/a?q=%41%3d#x",
            "http://example.com/a?q=A%3D",
        ),
        ("http://[::1]/%61", "http://[::1]/a"),
    ] {
        for sites in [SiteMode::BareHost, SiteMode::Host, SiteMode::Domain] {
            let page = parse(given, sites.with(UrlRules::Rfc3986)).unwrap();
            assert_eq!(page.url(sites), normalised, "{given}");
        }
    }
    let no_host = parse("http://./", Naming::default());
    assert_eq!(no_host, Err(UrlError::NoHost));
}

#[test]
fn what_is_no_page_has_a_reason() {
    let scheme = |name: &str| UrlError::Scheme(name.to_owned());
    for (given, problem) in [
        ("", UrlError::Empty),
        (" \t\n", UrlError::Empty),
        ("/a/b", UrlError::Relative),
        ("a.html", UrlError::Relative),
        ("//example.com/", UrlError::Relative),
        ("#top", UrlError::Relative),
        ("?q=a:b", UrlError::Relative),
        ("www.example.com", UrlError::Relative),
        ("mailto:a@example.com", scheme("mailto")),
        ("JavaScript:void(0)", scheme("javascript")),
        ("java\nscript:void(0)", scheme("javascript")),
        ("ftp://example.com/", scheme("ftp")),
        ("file:///etc/hosts", scheme("file")),
        ("localhost:8080/a", scheme("localhost")),
        ("http://", UrlError::NoHost),
        ("https:", UrlError::NoHost),
        ("http://user@/", UrlError::NoHost),
        ("http://:80/", UrlError::NoHost),
        (
            "http://example.com:99999/",
            UrlError::Invalid(ParseError::InvalidPort),
        ),
        (
            "http://exa mple.com/",
            UrlError::Invalid(ParseError::IdnaError),
        ),
        (
            "http://[::1/",
            UrlError::Invalid(ParseError::InvalidIpv6Address),
        ),
        (
            "http://1.2.3.999/",
            UrlError::Invalid(ParseError::InvalidIpv4Address),
        ),
    ] {
        assert_eq!(host(given), Err(problem), "{given:?}");
    }
    let long = format!("data:{}", "a".repeat(MAX_URL));
    assert_eq!(host(&long), Err(scheme("data")));
    let odd = format!("{}:", "x".repeat(70_000));
    assert_eq!(host(&odd), Err(scheme(&"x".repeat(MAX_SCHEME))));
}

#[test]
fn crawlers_fetch_from_public_hosts_and_in_private_networks_from_others() {
    let label = "a".repeat(63);
    let long = format!("{label}a.example");
    let longest = [&*label; 4].join(".");
    let [public, private, none] = [(true, true), (false, true), (false, false)];
    for (host, allowed) in [
        ("a.example", public),
        ("a.invalid.", public),
        ("A_b-c.test", public),
        ("xn--bcher-kva.example", public),
        (&*format!("{label}.example"), public),
        ("203.0.113.9", public),
        ("[2001:db8::1]", public),
        ("intranet", private),
        ("localhost", private),
        ("a.localhost.", private),
        ("printer.local", private),
        ("wiki.corp.internal", private),
        ("a.onion", private),
        ("10.1.2.3", private),
        ("172.16.0.1", private),
        ("192.168.1.1", private),
        ("169.254.169.254", private),
        ("127.1", private),
        ("0.0.0.0", private),
        ("[::1]", private),
        ("[fd00::1]", private),
        ("[fe80::1]", private),
        ("[::ffff:10.1.2.3]", private),
        (&*long, none),
        (&*longest, none),
        ("a..example", none),
        ("=hyperlink(1)", none),
        ("a.example,b", none),
        ("a$b.example", none),
    ] {
        for urls in [UrlRules::Rfc3986, UrlRules::Whatwg] {
            for path in ["/", "/%7e", ":81/"] {
                let url = format!("http://{host}{path}");
                let is_allowed = |hosts| {
                    let naming = Naming {
                        hosts,
                        ..SiteMode::Host.with(urls)
                    };
                    let is_valid = parse(&url, naming).is_ok();
                    assert_eq!(Interner::default().parse(&url, naming).is_ok(), is_valid);
                    is_valid
                };
                let found = (is_allowed(Hosts::Public), is_allowed(Hosts::Fetchable));
                assert_eq!(found, allowed, "{url}");
                assert!(is_allowed(Hosts::Any), "{url}");
            }
        }
    }
}

#[test]
fn long_urls_are_refused_as_given_and_as_normalised() {
    let url = |path: &str, times| format!("http://a.example/{}", path.repeat(times));
    let room = MAX_URL - url("", 0).len();
    assert!(host(&url("a", room)).is_ok());
    assert_eq!(
        host(&url("a", room + 1)),
        Err(UrlError::TooLong(MAX_URL + 1))
    );
    assert_eq!(host(&url("a", 70_000)), Err(UrlError::TooLong(70_017)));
    assert!(matches!(
        host(&url("é", room / 3)),
        Err(UrlError::TooLong(_))
    ));
}

fn some_url() -> impl Strategy<Value = String> {
    (
        prop_oneof![Just("http"), Just("https")],
        prop_oneof![
            Just("example.com"),
            Just("a.example.com"),
            Just("a-b.example.com"),
            Just("www.example.com"),
            Just("example.com."),
            Just("[::1]")
        ],
        prop_oneof![
            Just(String::new()),
            (1u16..9000).prop_map(|port| format!(":{port}"))
        ],
        "([/?a-c.:é%+!~-]|%4|%7e|%C3){0,6}",
    )
        .prop_map(|(scheme, host, port, rest)| format!("{scheme}://{host}{port}/{rest}"))
}

proptest! {
    #[test]
    fn site_and_local_give_the_url_back(text in some_url()) {
        let mut whole = Url::parse(&text).unwrap();
        whole.set_fragment(None);
        for naming in whatwg() {
            let location = parse(&text, naming).unwrap();
            let again = url(&location.site, &location.local, naming.sites);
            prop_assert_eq!(again, whole.as_str());
            prop_assert_eq!(location.scheme().name(), whole.scheme());
        }
    }

    #[test]
    fn the_order_of_local_is_the_order_of_urls(a in some_url(), b in some_url()) {
        for naming in Naming::ALL {
            let (a, b) = (parse(&a, naming).unwrap(), parse(&b, naming).unwrap());
            let url = |page: &Location| page.url(naming.sites);
            if a.site == b.site {
                prop_assert_eq!(a.local.cmp(&b.local), url(&a).cmp(&url(&b)));
                prop_assert_eq!(a.cmp(&b), a.local.cmp(&b.local));
            }
        }
    }

    #[test]
    fn any_text_is_a_page_or_has_a_reason(text in "(https?:/?/?)?([a-c.0-9%:@]{1,8}/)?.{0,30}") {
        for naming in Naming::ALL {
            if let Ok(location) = parse(&text, naming) {
                let url = location.url(naming.sites);
                let again = Url::parse(&url).unwrap();
                prop_assert_eq!(again.as_str(), &url);
                prop_assert_eq!(parse(&url, naming), Ok(location));
            }
        }
    }
}

/// URLs of the kind that is accepted without the parser, and near misses: every byte that means
/// something somewhere, dot segments and their escapes, ports, addresses, punycode.
fn nearly_plain() -> impl Strategy<Value = String> {
    let label = "(xn--)?[a-c0-9A_-]{0,3}(--)?[a-c0-9-]{0,2}|0x1f|[0-9]{1,3}|[a-z]{1,4}";
    let host = proptest::collection::vec(label, 1..4).prop_map(|labels| labels.join("."));
    let segment =
        r#"\.{0,3}|%2[eE]\.?|[a-cA-C0-9.%_~!$&'()*+,;=:@|^{}<>`"\[\] \\-]{0,4}|[a-z]{1,6}"#;
    let path = proptest::collection::vec(segment, 0..4).prop_map(|parts| parts.join("/"));
    let ends = r#"(/?)(\?[a-c?/'"<>.%=&{}|\\ ]{0,6})?(#[a-c/?]{0,3})?"#;
    ("https?://(u@|u:p@)?", host, "(:[0-9]{1,4})?/?", path, ends)
        .prop_map(|(scheme, host, port, path, ends)| [scheme, host, port, path, ends].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_plain_url_is_what_the_parser_makes_of_it(text in nearly_plain()) {
        for naming in Naming::ALL {
            prop_assert_eq!(parse(&text, naming), parse_standard(&text, naming));
        }
    }

    /// Any byte anywhere in an otherwise plain URL.
    #[test]
    fn one_byte_decides_between_the_two(at in 0_usize..40, byte in 0_u8..128) {
        let mut text = *b"https://www.a-b.example/p/q.html?x=y&z=1";
        text[at] = byte;
        let text = std::str::from_utf8(&text).unwrap();
        for naming in Naming::ALL {
            prop_assert_eq!(parse(text, naming), parse_standard(text, naming));
        }
    }
}

#[test]
fn what_crawls_are_full_of_is_plain() {
    for text in [
        "https://www.camera0.example/tag/letters?page=0",
        "http://a.example/",
        "http://a1-b.example.org/%7Ex/a.b/c;d=1//?q=a/b?c",
    ] {
        assert!(split_normal(text).is_some(), "{text}");
    }
    for text in [
        "http://a.example",
        "http://a.example/#x",
        "http://a.example/a/../b",
        "http://a.example/%2e/b",
        "http://1.2.3.4/",
        "http://xn--bcher-kva.example/",
        "http://a.example/?it's",
        "HTTP://a.example/",
    ] {
        assert!(split_normal(text).is_none(), "{text}");
    }
}

#[test]
fn queries_are_in_the_encoding_of_their_page() {
    for (link, encoding, encoded) in [
        (
            "/洪/3.asp?DengJh=洪1700718",
            "gbk",
            "/洪/3.asp?DengJh=%BA%E91700718",
        ),
        ("?q=ソ#ソ", "shift_jis", "?q=%83\\#ソ"),
        ("?q=да&b=<1", "windows-1251", "?q=%E4%E0&b=<1"),
        // The encoding lacks the character.
        ("?q=é洪", "iso-8859-1", "?q=%E9%26%2327946%3B"),
        ("?q=日本", "iso-2022-jp", "?q=%1B$BF|K\\%1B(B"),
        ("?q=%E6%B4%AA", "gbk", "?q=%E6%B4%AA"),
        ("/洪#?洪", "gbk", "/洪#?洪"),
    ] {
        let encoding = Encoding::for_label(encoding.as_bytes()).unwrap();
        assert_eq!(encode_query(link, encoding), encoded);
    }
}
