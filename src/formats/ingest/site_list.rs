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
#[path = "site_list_tests.rs"]
mod tests;
