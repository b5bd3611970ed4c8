//! `site`: shows what the bank contains about one site.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::{counted, readable};
use seedbank::engine::query::{SiteAttributes, SiteFacts, SiteLimits, SiteLinkCounts};
use seedbank::render::{Lines, failing_pages, site_in_plan};

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, integer};

const EXAMPLES: &str = "\
Examples:
  seedbank site bank example.org
  seedbank site bank https://example.org/about            the site of a page
  seedbank site bank example.org --limit 100              up to 100 linked sites each way
  seedbank site bank example.org --format json";

/// Show a site: pages, links with other sites, repeated content, and role in every plan
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SiteArgs {
    /// The bank
    bank: PathBuf,
    /// The site, or a URL on it
    site: String,
    /// Maximum number of linked sites each way [default: 10, in JSON 100]
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=10_000))]
    limit: Option<u32>,
    /// Maximum number of pages to examine, in the order of URLs
    #[arg(long, value_name = "N", default_value_t = SiteLimits::default().pages,
        value_parser = integer::<u64>(1..=u64::MAX))]
    look: u64,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &SiteArgs, session: &Session) -> Result<Outcome, CliError> {
    let format = args.format.format;
    let limits = match format {
        Format::Text => SiteLimits::default(),
        Format::Json => SiteLimits::AS_JSON,
    };
    let limits = SiteLimits {
        sites: args.limit.map_or(limits.sites, |limit| limit as usize),
        pages: args.look,
        ..limits
    };
    let facts = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .site(&args.site, limits)
    })?;
    format.print(&facts, |facts| readable(&text(facts)).into_owned())?;
    Ok(Outcome::Done)
}

/// Formats the facts about a site as text.
fn text(facts: &SiteFacts) -> String {
    let mut lines = Lines::under(format_args!("site {}", facts.site));
    if let Some(attributes) = attributes(facts.attributes) {
        lines.add(format_args!("given attributes: {attributes}"));
    }
    let pages = &facts.pages;
    lines.add(format_args!(
        "{} crawled, {} known, {} gone, {} spam",
        pages.crawled, pages.known, pages.gone, pages.spam
    ));
    if !facts.failing.is_empty() {
        lines.add(failing_pages(&facts.failing));
    }
    let aliases = match pages.aliases {
        1 => "1 alias".to_owned(),
        aliases => format!("{aliases} aliases"),
    };
    if !facts.complete {
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
    links(&mut lines, "links to", &facts.links_to);
    links(&mut lines, "linked from", &facts.linked_from);
    digests(&mut lines, facts);
    if facts.plans.is_empty() {
        lines.add("no plan has been refreshed yet");
    }
    for plan in &facts.plans {
        lines.extend(site_in_plan(plan));
    }
    lines.to_string()
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

fn links(lines: &mut Lines, what: &str, counts: &SiteLinkCounts) {
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

fn digests(lines: &mut Lines, facts: &SiteFacts) {
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
        let mut examples = same.examples.join(", ");
        if same.pages > same.examples.len() as u64 {
            examples.push_str(", ...");
        }
        lines.add(format_args!("  {} the same: {examples}", same.pages));
    }
}
