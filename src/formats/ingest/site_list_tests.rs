use super::super::interner::Interner;
use super::super::location::UrlRules;
use super::*;

fn read(line: &str, mode: SiteMode) -> Result<SiteAttributes, RejectReason> {
    let mut parser = PieceParser::new(mode.with(UrlRules::Rfc3986), Interner::default());
    match SiteList.read(line, &mut parser) {
        Ok(Event::Site(site)) => Ok(site),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.reason),
    }
}

fn name(line: &str, mode: SiteMode) -> Result<String, RejectReason> {
    read(&format!("{line}\t\t\t"), mode).map(|site| site.site)
}

#[test]
fn site_names_are_normalised_for_the_bank() {
    use SiteMode::{BareHost, Domain, Host};
    for (text, mode, site) in [
        ("WWW.Example.org.", BareHost, "example.org"),
        ("www.example.org", Host, "www.example.org"),
        ("bücher.example", Host, "xn--bcher-kva.example"),
        ("example.co.uk", Domain, "example.co.uk"),
        ("[2001:DB8::1]", BareHost, "[2001:db8::1]"),
        ("localhost", Domain, "localhost"),
    ] {
        assert_eq!(name(text, mode).as_deref(), Ok(site), "{text}");
    }
    for text in [
        "http://example.org/",
        "example.org/",
        "example.org:80",
        "u@example.org",
        "",
        "a b",
        "[::1",
        "[::1]:80",
        "example.org?",
        "exa%mple.org",
    ] {
        let result = name(text, BareHost);
        assert_eq!(result, Err(RejectReason::InvalidSite), "{text}");
    }
    assert_eq!(
        name("a.example.co.uk", Domain),
        Err(RejectReason::InvalidSite)
    );
}

#[test]
fn json_and_tsv_lines_are_equivalent() {
    let read = |line| read(line, SiteMode::BareHost);
    let mut site = SiteAttributes::new("a.example".to_owned());
    assert_eq!(read("a.example\t\t\t"), Ok(site.clone()));
    assert_eq!(read(r#"{"site":"a.example"}"#), Ok(site.clone()));
    site.quality = Attribute::Given(8_000);
    site.spam = Attribute::Given(false);
    site.quota = Attribute::Given(500);
    assert_eq!(read("a.example\t0.8\t0\t500"), Ok(site.clone()));
    let line = r#" {"site":"www.a.example","quality":0.8,"spam":false,"quota":500}"#;
    assert_eq!(read(line), Ok(site.clone()));
    site.quality = Attribute::Removed;
    site.spam = Attribute::Removed;
    site.quota = Attribute::Removed;
    let line = r#"{"site":"a.example","quality":null,"spam":null,"quota":null}"#;
    assert_eq!(read(line), Ok(site));
}

#[test]
fn bad_lines() {
    for (line, reason) in [
        ("a.example", RejectReason::Columns),
        ("a.example\t\t", RejectReason::Columns),
        (r#"{"quality":1}"#, RejectReason::MissingSite),
        (r#"{"site":null}"#, RejectReason::MissingSite),
        (r#"{"site":7}"#, RejectReason::WrongType),
        (
            r#"{"site":"a.example","site":"a.example"}"#,
            RejectReason::DuplicateField,
        ),
        (r#"{"site":"a.example""#, RejectReason::InvalidJson),
    ] {
        assert_eq!(read(line, SiteMode::BareHost), Err(reason), "{line}");
    }
}

#[test]
fn bad_attributes_count_as_absent() {
    for line in [
        "a.example\t2\t\t",
        "a.example\t-1\t\t",
        "a.example\tNaN\t\t",
        "a.example\t\ttrue\t",
        "a.example\t\t\t1.5",
        "a.example\t\t\t4294967296",
        r#"{"site":"a.example","spam":1}"#,
        r#"{"site":"a.example","quota":1,"quota":2}"#,
    ] {
        let mut parser = PieceParser::new(
            SiteMode::BareHost.with(UrlRules::Rfc3986),
            Interner::default(),
        );
        let event = SiteList.read(line, &mut parser);
        parser.add(Position::Line(1), event, line.as_bytes());
        let site = Event::Site(SiteAttributes::new("a.example".to_owned()));
        assert_eq!(
            parser.events.pop().map(|(_, event)| event),
            Some(site),
            "{line}"
        );
        assert_eq!(parser.summary.bad_fields.len(), 1, "{line}");
    }
}
