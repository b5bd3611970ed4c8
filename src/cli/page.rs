//! `page`: shows what the bank contains about one page.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::display::{counted, readable};
use seedbank::engine::query::{
    AliasBy, AliasView, AttributeSource, LinkDirection, LinkedPages, LinkedRequest, LinksBySite,
    PageFacts, PageLimits, SeenInBatch,
};
use seedbank::render::{Lines, failed_fetches, fetch_origin, page_reason, page_yield, state_name};

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, integer, state_and_spam, time};

const EXAMPLES: &str = "\
Examples:
  seedbank page bank https://example.org/
  seedbank page bank https://example.org/ --limit 100    up to 100 linked sites each way
  seedbank page bank https://example.org/ --format json
  seedbank page bank https://example.org/ --links in --limit 20
  seedbank page bank https://example.org/ --links out --site example.net --from 100";

/// Show the state of a page, its links by site, and its role in every plan
///
/// With `--links`, lists the pages that it links to or that link to it instead.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PageArgs {
    /// The bank
    bank: PathBuf,
    /// The page; its URL is normalised in the same way as by `ingest`
    url: String,
    /// List the pages that link to it, or that it links to, instead
    ///
    /// Pages are ordered by the names of their sites, and by URL within a site.
    #[arg(long, value_enum, value_name = "DIRECTION")]
    links: Option<Direction>,
    /// With `--links`: only the pages of this site
    #[arg(long, value_name = "SITE", requires = "links")]
    site: Option<String>,
    /// With `--links`: skip the first N pages
    #[arg(long, value_name = "N", requires = "links", value_parser = integer::<u64>(0..=u64::MAX))]
    from: Option<u64>,
    /// Maximum number of linked sites each way [default: 10, in JSON 100]
    ///
    /// With `--links`, the maximum number of pages [default: 100].
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=10_000))]
    limit: Option<u32>,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Direction {
    /// The pages that link to it
    In,
    /// The pages that it links to
    Out,
}

impl From<Direction> for LinkDirection {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::In => Self::In,
            Direction::Out => Self::Out,
        }
    }
}

pub(super) fn run(args: &PageArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = session.bank(&args.bank);
    let format = args.format.format;
    let limit = args.limit.map(|limit| limit as usize);
    if let Some(direction) = args.links {
        let request = LinkedRequest {
            direction: direction.into(),
            site: args.site.clone(),
            offset: args.from.unwrap_or(0),
            limit: limit.unwrap_or(100),
        };
        let answer = bank.linked(&args.url, &request)?;
        format.print(&answer, |answer| readable(&linked(answer)).into_owned())?;
        return Ok(Outcome::Done);
    }
    let limits = match format {
        Format::Text => PageLimits::default(),
        Format::Json => PageLimits::AS_JSON,
    };
    let limits = PageLimits {
        sites: limit.unwrap_or(limits.sites),
        ..limits
    };
    let facts = bank.page(&args.url, limits)?;
    format.print(&facts, |facts| readable(&text(facts)).into_owned())?;
    Ok(Outcome::Done)
}

/// Formats the linked pages as text.
fn linked(answer: &LinkedPages) -> String {
    let mut lines = Lines::under(answer.url.as_str());
    let what = match answer.direction {
        LinkDirection::In => "linked from",
        LinkDirection::Out => "links to",
    };
    let site = answer.site.as_ref();
    let site = site.map_or_else(String::new, |site| format!(" on {site}"));
    if answer.pages == 0 {
        lines.add(format_args!("{what} no page{site}"));
        return lines.to_string();
    }
    lines.add(format_args!(
        "{what} {}{site}",
        counted(answer.pages, "page")
    ));
    if answer.linked.is_empty() {
        lines.add(format_args!("  none after {}", answer.offset));
    }
    for (number, page) in (answer.offset + 1..).zip(&answer.linked) {
        let mut description = state_and_spam(page.state, page.spam);
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
    lines.to_string()
}

/// Formats the facts about a page as text.
fn text(facts: &PageFacts) -> String {
    let mut lines = Lines::under(facts.url.as_str());
    lines.add(format_args!(
        "{}{}{}; first seen in {}{}",
        state_name(facts.state),
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
    if let Some(alias) = &facts.alias {
        lines.add(alias_line(alias, facts.links_to_alias));
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
    links(&mut lines, "links to", &facts.outlinks);
    links(&mut lines, "linked from", &facts.inlinks);
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
    lines.to_string()
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

fn alias_line(alias: &AliasView, links: u64) -> String {
    let by = match alias.by {
        AliasBy::Redirect => "it redirects to",
        AliasBy::Canonical => "its canonical page is",
    };
    let mut text = format!("{by} {}", alias.to);
    match &alias.resolves_to {
        Some(end) if *end == alias.to => {}
        Some(end) => append!(text, ", which leads to {end}"),
        None => append!(text, ", which leads nowhere (a cycle, or too many steps)"),
    }
    if links > 0 {
        let pages = if links == 1 {
            "1 page links".to_owned()
        } else {
            format!("{links} pages link")
        };
        append!(text, "; {pages} to it; these links count for that page");
    }
    text
}

fn links(lines: &mut Lines, what: &str, ends: &LinksBySite) {
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
