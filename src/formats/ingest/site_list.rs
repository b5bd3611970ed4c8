//! Site lists: attributes of one site per line, as JSON or tab-separated.

use super::formats::json_lines::{parse_structure, truth};
use super::formats::tsv::{columns, flag};
use super::interner::UrlNumber;
use super::lines::{LineFormat, Lines};
use super::location::{MAX_URL, Naming, SiteMode, parse};
use super::number::{integer, quality};
use super::open::Input;
use super::piece_parser::PieceParser;
use super::record::{Attribute, Event, SiteAttributes};
use super::reject::{Fault, RejectReason};
use super::source::Source;

/// The fields of a site record.
pub const SITE_FIELDS: [&str; 4] = ["site", "quality", "spam", "quota"];

/// Creates the source of a site list.
#[must_use]
pub fn site_list_source(input: &Input) -> Box<dyn Source> {
    Box::new(Lines::new(input.clone(), SiteList))
}

/// The format of site lists. A line is a JSON object (`schema/site.schema.json`) or
/// `site<TAB>quality<TAB>spam<TAB>quota`. A list may mix both, since no site name begins with a brace.
///
/// A field that is absent, or empty in TSV, is unchanged; a JSON null removes it. `spam` is 0 or 1 in
/// TSV. Unknown and duplicate fields are treated as in [`JsonLines`](super::JsonLines).
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteList;

impl LineFormat for SiteList {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let site = if line.trim_start().starts_with('{') {
            parse_object(line, parser)
        } else {
            parse_tsv(line, parser.naming)
        };
        site.map(Event::Site)
    }
}

fn parse_object(line: &str, parser: &mut PieceParser) -> Result<SiteAttributes, Fault> {
    let fields = parse_structure(line, &SITE_FIELDS)?;
    for name in &fields.unknown {
        parser.summary.unknown_fields.count(name);
    }
    fields.check()?;
    let name = fields.text("site")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingSite,
            "expected a field `site`, found none",
        )
    })?;
    let mut site = SiteAttributes::new(site_name(&name, parser.naming)?);
    site.quality = fields.attribute("quality", quality)?;
    site.spam = fields.attribute("spam", truth)?;
    site.quota = fields.attribute("quota", quota)?;
    Ok(site)
}

fn parse_tsv(line: &str, naming: Naming) -> Result<SiteAttributes, Fault> {
    let [name, quality_text, spam, quota_text] = columns(line)?;
    let mut site = SiteAttributes::new(site_name(name, naming)?);
    site.quality = attribute(quality_text, |text| quality(text, "quality"))?;
    site.spam = flag(spam, "spam")?.map_or(Attribute::Absent, Attribute::Given);
    site.quota = attribute(quota_text, |text| quota(text, "quota"))?;
    Ok(site)
}

/// Parses a TSV attribute; an empty text is absent.
fn attribute<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, Fault>,
) -> Result<Attribute<T>, Fault> {
    if text.is_empty() {
        return Ok(Attribute::Absent);
    }
    read(text).map(Attribute::Given)
}

fn quota(text: &str, field: &str) -> Result<u32, Fault> {
    let pages = integer(text, field, u32::MAX.into())?;
    Ok(u32::try_from(pages).unwrap_or(u32::MAX))
}

/// Normalises a site name for a bank with this naming: lower case, punycode, and without a leading `www.`
/// if the bank removes it.
fn site_name(text: &str, naming: Naming) -> Result<String, Fault> {
    let name = text.trim_matches(|c: char| c <= ' ');
    let fault = |detail: String| Err(Fault::new(RejectReason::InvalidSite, detail));
    // Ignore the colons of an IPv6 address in brackets.
    let outside = name
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(name, |(_, rest)| rest);
    if outside.contains(['/', '\\', ':', '?', '#', '@']) {
        return fault(
            "site: expected a host name without scheme, port and path, such as example.org"
                .to_owned(),
        );
    }
    if name.is_empty() || name.len() > MAX_URL || name.contains(char::is_whitespace) {
        return fault("site: expected a host name, such as example.org".to_owned());
    }
    let url = format!("http://{name}/");
    let site = match parse(&url, naming) {
        Ok(location) => location.site,
        Err(problem) => return fault(format!("site: not a host name: {problem}")),
    };
    if naming.sites == SiteMode::Domain {
        let host = parse(&url, SiteMode::Host.with(naming.urls)).map(|location| location.site);
        if host.as_ref() != Ok(&site) {
            return fault(format!(
                "site: expected a registrable domain, as in all sites of this bank, found a host of {site}"
            ));
        }
    }
    Ok(site)
}

#[cfg(test)]
mod tests {
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
            ("a.example\t2\t\t", RejectReason::NumberTooLarge),
            ("a.example\t-1\t\t", RejectReason::NegativeNumber),
            ("a.example\tNaN\t\t", RejectReason::WrongType),
            ("a.example\t\ttrue\t", RejectReason::WrongType),
            ("a.example\t\t\t1.5", RejectReason::FractionalNumber),
            ("a.example\t\t\t4294967296", RejectReason::NumberTooLarge),
            (r#"{"quality":1}"#, RejectReason::MissingSite),
            (r#"{"site":null}"#, RejectReason::MissingSite),
            (r#"{"site":7}"#, RejectReason::WrongType),
            (r#"{"site":"a.example","spam":1}"#, RejectReason::WrongType),
            (
                r#"{"site":"a.example","site":"a.example"}"#,
                RejectReason::DuplicateField,
            ),
            (r#"{"site":"a.example""#, RejectReason::InvalidJson),
        ] {
            assert_eq!(read(line, SiteMode::BareHost), Err(reason), "{line}");
        }
    }
}
