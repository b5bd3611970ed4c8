use super::*;
use seedbank_formats::ingest::{SiteMode, UrlRules};

fn has(text: &str, what: &str, sites: SiteMode) -> bool {
    let naming = sites.with(UrlRules::Rfc3986);
    let names = NameSet::parse(&[what.to_owned()], naming).unwrap();
    Redactor::new(&names, naming).is_in(text)
}

#[test]
fn a_page_is_found_whole_and_however_it_is_spelled() {
    let has = |text: &str| has(text, "http://a.example/x", SiteMode::BareHost);
    assert!(has("http://a.example/x"));
    assert!(has(r#"{"url":"HTTP://A.example/x"}"#));
    assert!(has("line 3: \"http://a.example:80/y/../%78\" is"));
    assert!(has("it leads to http://a.example/x, which is"));
    assert!(has("it leads to http://a.example/x."));
    assert!(has("a.example/x"));
    for other in [
        "http://a.example/xy",
        "http://a.example/x/",
        "http://a.example/x?y",
        "http://aa.example/x",
        "http://a.example.net/x",
        "https://a.example/x",
        "http://www.a.example/x",
        "http://shop.a.example/x",
        "a.example",
        "x",
        "",
    ] {
        assert!(!has(other), "{other}");
    }
}

#[test]
fn of_a_site_everything_counts_and_nothing_of_others() {
    let bare = |text: &str| has(text, "a.example", SiteMode::BareHost);
    let own = [
        "http://a.example:8080/x",
        ".a.example",
        "a.example",
        "A.Example.",
        "http://www.a.example/",
        "www.a.example",
        "http://a.example",
        "@a.example/x*",
        "ftp is not http: //a.example/x",
    ];
    for text in own {
        assert!(bare(text), "{text}");
    }
    let others = [
        "http://ba.example/",
        "http://a.examples/",
        "sub.a.example",
        "http://sub.a.example/q",
        "example",
    ];
    for text in others {
        assert!(!bare(text), "{text}");
    }
    assert!(!has("www.a.example", "a.example", SiteMode::Host));
    assert!(has("http://sub.a.com/q", "a.com", SiteMode::Domain));
    assert!(has(
        "m\u{fc}nchen.test/x",
        "m\u{fc}nchen.test",
        SiteMode::Host
    ));
    assert!(has(
        "xn--mnchen-3ya.test",
        "m\u{fc}nchen.test",
        SiteMode::Host
    ));
}

#[test]
fn json_keeps_all_but_the_name() {
    let naming = SiteMode::Host.with(UrlRules::Rfc3986);
    let names = NameSet::parse(&["http://a.example/x".to_owned()], naming).unwrap();
    let redactor = Redactor::new(&names, naming);
    let json = r#"{"left_out":[{"url":"http://a.example/x","why":"gone"}],"n":1}"#;
    let clean = redact_json(json, &redactor);
    assert_eq!(
        clean,
        r#"{"left_out":[{"url":"http://forgotten.invalid/","why":"gone"}],"n":1}"#
    );
    assert_eq!(redact_json(&clean, &redactor), clean);
    assert!(redactor.is_in_json(r#"{"text":"{\"url\":\"http:\\/\\/a.example\\/x\"}"}"#));
}
