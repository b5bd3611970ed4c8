//! What a bank contains about pages and sites.

use super::explain::site_in_plan;
use super::facts::{Facts, Line};
use super::phrases::{
    failed_fetches, failing_pages, fetch_origin, mirrored_hosts, page_yield, state_name,
};
use super::sentence::page_reason;
use crate::engine::query::{
    AliasView, AttributeSource, CanonicalEvidence, LinkDirection, LinkedPages, LinksBySite,
    PageFacts, PageKind, SeenInBatch, SiteAttributes, SiteFacts, SiteLinkCounts,
};
use seedbank_formats::clock::time;
use seedbank_formats::display::counted;

/// Lists the pages that are linked with a page.
#[must_use]
pub fn linked_pages(answer: &LinkedPages) -> Facts {
    let mut lines = Facts::under(answer.url.as_str());
    let what = match answer.direction {
        LinkDirection::In => "linked from",
        LinkDirection::Out => "links to",
    };
    let site = answer.site.as_ref();
    let site = site.map_or_else(String::new, |site| format!(" on {site}"));
    if answer.pages == 0 {
        lines.add(format_args!("{what} no page{site}"));
        return lines;
    }
    lines.add(format_args!(
        "{what} {}{site}",
        counted(answer.pages, "page")
    ));
    if answer.linked.is_empty() {
        lines.add(format_args!("  none after {}", answer.offset));
    }
    for (number, page) in (answer.offset + 1..).zip(&answer.linked) {
        let spam = if page.spam { ", spam" } else { "" };
        let mut description = [state_name(page.state), spam].concat();
        if !page.seed_of.is_empty() {
            description.push_str("; seed of ");
            description.push_str(&page.seed_of.join(", "));
        }
        lines.add(format_args!("  {number} {}  {description}", page.url));
    }
    let last = answer.offset.saturating_add(answer.linked.len() as u64);
    let more = answer.pages.saturating_sub(last);
    if more > 0 && !answer.linked.is_empty() {
        lines.add(format_args!("  and {more} more (--from {last})"));
    }
    lines
}

/// Returns the state and the attributes of a page.
#[must_use]
pub fn page_attributes(facts: &PageFacts) -> Facts {
    let mut lines = Facts::under(facts.url.as_str());
    lines.add(format_args!(
        "{}{}{}{}; first seen in {}{}",
        state_name(facts.state),
        match facts.kind {
            PageKind::Document => ", a document, which is never a seed",
            PageKind::Page | PageKind::Resource => "",
        },
        match (facts.spam, facts.spam_source) {
            (false, _) => "",
            (true, Some(AttributeSource::Site)) => ", spam because its site is",
            (true, _) => ", spam",
        },
        facts
            .fetched
            .map_or_else(String::new, |at| format!(", last fetched {}", time(at))),
        seen(facts.first_seen),
        facts.last_seen.map_or_else(
            || ", no record".to_owned(),
            |last| format!(", last record in {}", seen(last))
        )
    ));
    if let Some(canonical) = &facts.canonical {
        let line = Line::from("its canonical page is ").and_page(&canonical.to);
        let evidence = canonical_evidence(canonical.evidence);
        lines.add(line.and(format_args!("; this link is one {evidence}")));
    }
    if let Some(alias) = &facts.alias {
        lines.add(alias_line(alias, facts.links_to_alias));
    }
    if !facts.stated_earlier.is_empty() {
        let fields = facts.stated_earlier.iter();
        let fields: Vec<String> = fields
            .map(|(field, at)| format!("{field} {}", time(*at)))
            .collect();
        lines.add(format_args!(
            "stated by earlier fetches: {}",
            fields.join(", ")
        ));
    }
    if let Some(changed) = facts.changed {
        let is_due = facts.fetched.is_some_and(|fetched| changed > fetched);
        let due = if is_due {
            ", after its last fetch: it is due"
        } else {
            ""
        };
        lines.add(format_args!("known to have changed {}{due}", time(changed)));
    }
    if let Some(failures) = &facts.failures {
        lines.add(failed_fetches(failures));
    }
    if let Some(yields) = &facts.yields {
        lines.add(page_yield(yields));
    }
    if let Some(origin) = &facts.origin {
        lines.add(fetch_origin(origin));
    }
    lines.add(format_args!(
        "{}, {} ({}), {}{}",
        counted(facts.clicks, "click"),
        counted(facts.uncrawled_outlinks, "uncrawled outlink"),
        if facts.uncrawled_given {
            "given"
        } else {
            "counted"
        },
        if facts.digest {
            "a content digest"
        } else {
            "no content digest"
        },
        quality(facts)
    ));
    lines
}

/// Returns what a bank contains about a page: its attributes, its links by site, and its part in every plan.
#[must_use]
pub fn page_facts(facts: &PageFacts) -> Facts {
    let mut lines = page_attributes(facts);
    page_links(&mut lines, "links to", &facts.outlinks);
    page_links(&mut lines, "linked from", &facts.inlinks);
    // Links to aliases count as links to this page, so name the aliases.
    if facts.aliases.pages > 0 {
        lines.add(format_args!(
            "{} to it: {}",
            if facts.aliases.pages == 1 {
                "1 alias leads".to_owned()
            } else {
                format!("{} aliases lead", facts.aliases.pages)
            },
            named(&facts.aliases.examples, facts.aliases.pages)
        ));
    }
    if facts.plans.is_empty() {
        lines.add("no plan has been refreshed yet");
    }
    for plan in &facts.plans {
        lines.add(page_reason(
            &plan.run,
            plan.policy.as_ref(),
            &plan.why,
            &facts.site,
            facts.alias.as_ref(),
        ));
    }
    lines
}

fn seen(seen: SeenInBatch) -> String {
    format!("batch {} ({})", seen.batch, time(seen.at))
}

/// Formats the page's quality; empty if it has none.
fn quality(facts: &PageFacts) -> String {
    let Some(quality) = facts.quality else {
        return String::new();
    };
    let of_site = match facts.quality_source {
        Some(AttributeSource::Site) => " (its site's)",
        _ => "",
    };
    format!(", quality {quality}{of_site}")
}

/// Formats the numbers of documents and resources; empty if there are none.
#[must_use]
pub fn kind_counts(documents: u64, resources: u64) -> String {
    let some = |count, text: String| if count > 0 { text } else { String::new() };
    let documents = some(documents, format!("; {}", counted(documents, "document")));
    let resources = some(
        resources,
        format!("; {} apart", counted(resources, "resource")),
    );
    documents + &resources
}

/// Describes canonical links with this meaning.
#[must_use]
pub const fn canonical_evidence(evidence: CanonicalEvidence) -> &'static str {
    match evidence {
        CanonicalEvidence::SameContent => "to a page with the same content",
        CanonicalEvidence::LeadsBack => "ignored: it leads back to its page",
        CanonicalEvidence::NotFetched => "ignored: the canonical page was not fetched",
        CanonicalEvidence::OtherSite => "ignored: the canonical page is on another site",
        CanonicalEvidence::NamedByMany => "ignored: more than 10 pages name the canonical page",
    }
}

fn alias_line(alias: &AliasView, links: u64) -> Line {
    let line = Line::from("it redirects to ").and_page(&alias.to);
    let line = match &alias.resolves_to {
        Some(end) if *end == alias.to => line,
        Some(end) => line.and(", which leads to ").and_page(end),
        None => line.and(", which leads nowhere (a cycle, or too many steps)"),
    };
    match links {
        0 => line,
        1 => line.and("; 1 page links to it; these links count for that page"),
        links => line.and(format_args!(
            "; {links} pages link to it; these links count for that page"
        )),
    }
}

fn page_links(lines: &mut Facts, what: &str, ends: &LinksBySite) {
    if ends.pages == 0 {
        lines.add(format_args!("{what} no page"));
        return;
    }
    lines.add(format_args!(
        "{what} {} on {}",
        counted(ends.pages, "page"),
        counted(ends.sites, "site")
    ));
    for of_site in &ends.by_site {
        lines.add(format_args!(
            "  {} {}: {}",
            of_site.pages,
            of_site.site,
            named(&of_site.examples, of_site.pages)
        ));
    }
    let more = ends.sites.saturating_sub(ends.by_site.len() as u64);
    if more > 0 {
        lines.add(format_args!(
            "  and {} (--limit prints more)",
            counted(more, "site")
        ));
    }
}

/// Formats examples of pages, with an ellipsis if there are more.
fn named(examples: &[String], pages: u64) -> String {
    let mut text = examples.join(", ");
    if pages > examples.len() as u64 {
        text.push_str(", ...");
    }
    text
}

/// Returns the attributes of a site, and its counts of pages and links.
#[must_use]
pub fn site_attributes(facts: &SiteFacts) -> Facts {
    site_summary(facts, false)
}

/// Returns the same, and says how many pages were examined if not all were.
fn site_summary(facts: &SiteFacts, says_examined: bool) -> Facts {
    let mut lines = Facts::under(format_args!("site {}", facts.site));
    if let Some(attributes) = attributes(facts.attributes) {
        lines.add(format_args!("given attributes: {attributes}"));
    }
    let pages = &facts.pages;
    lines.add(format_args!(
        "{} crawled, {} known, {} gone, {} spam{}",
        pages.crawled,
        pages.known,
        pages.gone,
        pages.spam,
        kind_counts(pages.documents, pages.resources)
    ));
    if !facts.failing.is_empty() {
        lines.add(failing_pages(&facts.failing));
    }
    let aliases = match pages.aliases {
        1 => "1 alias".to_owned(),
        aliases => format!("{aliases} aliases"),
    };
    if says_examined && !facts.complete {
        lines.add(format_args!(
            "only its first {} were examined (--look): the aliases, unlinked pages, links with other \
             sites and repeated content below refer to these pages",
            counted(facts.examined, "page")
        ));
    }
    lines.add(format_args!(
        "{aliases}, {} no longer linked to",
        counted(pages.unlinked, "page")
    ));
    lines.add(format_args!(
        "{} within the site, {} to other sites",
        counted(facts.intra_links, "link"),
        facts.inter_links
    ));
    lines
}

/// A shape of URLs is named if it has more than this many pages.
const MANY_OF_A_SHAPE: u64 = 20;

/// Returns what a bank contains about a site: attributes, links with other sites, repeated content, and its part in
/// every plan.
#[must_use]
pub fn site_facts(facts: &SiteFacts) -> Facts {
    let mut lines = site_summary(facts, true);
    site_links(&mut lines, "links to", &facts.links_to);
    site_links(&mut lines, "linked from", &facts.linked_from);
    digests(&mut lines, facts);
    shapes(&mut lines, facts);
    for mirrored in &facts.mirrored {
        lines.add(mirrored_hosts(mirrored));
    }
    if facts.plans.is_empty() {
        lines.add("no plan has been refreshed yet");
    }
    for plan in &facts.plans {
        lines.extend(site_in_plan(plan, true).nested());
    }
    lines
}

/// Formats the attributes given for a site; `None` if there are none.
fn attributes(given: SiteAttributes) -> Option<String> {
    let quality = given.quality.map(|quality| format!("quality {quality}"));
    let spam = given
        .spam
        .map(|spam| if spam { "spam" } else { "not spam" });
    let quota = given.quota.map(|quota| format!("quota {quota}"));
    let attributes = [quality, spam.map(str::to_owned), quota];
    let attributes: Vec<String> = attributes.into_iter().flatten().collect();
    (!attributes.is_empty()).then(|| attributes.join(", "))
}

fn site_links(lines: &mut Facts, what: &str, counts: &SiteLinkCounts) {
    if counts.sites == 0 {
        lines.add(format_args!("{what} no other site"));
        return;
    }
    lines.add(format_args!(
        "{what} {} on {}, by {}",
        counted(counts.pages, "page"),
        counted(counts.sites, "site"),
        counted(counts.links, "link")
    ));
    for other in &counts.by_site {
        lines.add(format_args!(
            "  {}: {}, {}",
            other.site,
            counted(other.pages, "page"),
            counted(other.links, "link")
        ));
    }
    let more = counts.sites.saturating_sub(counts.by_site.len() as u64);
    if more > 0 {
        lines.add(format_args!(
            "  and {} (--limit prints more)",
            counted(more, "more site")
        ));
    }
}

fn digests(lines: &mut Facts, facts: &SiteFacts) {
    let digests = &facts.digests;
    if digests.pages == 0 {
        lines.add("no content digest is known");
        return;
    }
    lines.add(format_args!(
        "{} with a content digest, {} distinct",
        counted(digests.pages, "crawled page"),
        digests.distinct
    ));
    for same in &digests.repeated {
        let examples = named(&same.examples, same.pages);
        lines.add(format_args!("  {} the same: {examples}", same.pages));
    }
}

/// Adds what shows a trap: paths that repeat themselves, and many pages of one shape.
fn shapes(lines: &mut Facts, facts: &SiteFacts) {
    if facts.repeating > 0 {
        lines.add(format_args!(
            "{} with a path that repeats itself (@traps)",
            counted(facts.repeating, "page")
        ));
    }
    let shapes = facts.shapes.iter();
    for of in shapes.filter(|of| of.pages > MANY_OF_A_SHAPE) {
        lines.add(format_args!(
            "  {} as {}",
            counted(of.pages, "page"),
            of.shape
        ));
    }
}
