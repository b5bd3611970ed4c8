//! `page`: what the bank knows of one page.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::{
    AliasBy, AliasView, Bank, GivenOf, LinkDirection, LinkedPages, LinkedRequest, LinksBySite,
    PageFacts, PageLimits, Seen,
};
use seedbank::shown::{counted, readable};
use seedbank::told::{Lines, sentence, state_name};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::Outcome;
use super::states::told;
use super::values::{Format, FormatArgs, time, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank page bank https://example.org/
  seedbank page bank https://example.org/ --limit 100    of up to 100 sites that it is linked with
  seedbank page bank https://example.org/ --format json
  seedbank page bank https://example.org/ --links in --limit 20
  seedbank page bank https://example.org/ --links out --site example.net --from 100";

/// Show what the bank knows of a page: its state, its links both ways by site, and what it is in
/// every plan; or the pages that it is linked with
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PageArgs {
    /// The bank
    bank: PathBuf,
    /// The page; its URL is normalised as ingest does
    url: String,
    /// The pages that link to it, or that it links to, in the place of all that: by the names of their
    /// sites, those of a site by URL
    #[arg(long, value_enum, value_name = "WAY")]
    links: Option<Way>,
    /// With `--links` the pages of this site alone
    #[arg(long, value_name = "SITE", requires = "links")]
    site: Option<String>,
    /// With `--links` how many of the pages are passed over
    #[arg(long, value_name = "N", requires = "links", value_parser = whole::<u64>(0..=u64::MAX))]
    from: Option<u64>,
    /// How many sites are named, of those that it links to and of those that link to it [default: 10,
    /// as JSON 100]; with `--links` how many pages [default: 100]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    limit: Option<u32>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Which way links go.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    /// The pages that link to it
    In,
    /// The pages that it links to
    Out,
}

impl From<Way> for LinkDirection {
    fn from(way: Way) -> Self {
        match way {
            Way::In => Self::In,
            Way::Out => Self::Out,
        }
    }
}

pub(super) fn run(args: &PageArgs) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    let format = args.format.format;
    let limit = args.limit.map(|limit| limit as usize);
    if let Some(way) = args.links {
        let request = LinkedRequest {
            direction: way.into(),
            site: args.site.clone(),
            from: args.from.unwrap_or(0),
            limit: limit.unwrap_or(100),
        };
        let answer = bank.linked(&args.url, &request)?;
        match format {
            Format::Json => print_json(&answer)?,
            Format::Text => print(&readable(&linked(&answer)))?,
        }
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
    match format {
        Format::Json => print_json(&facts)?,
        Format::Text => print(&readable(&text(&facts)))?,
    }
    Ok(Outcome::Done)
}

/// Pages that a page is linked with, for people.
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
        lines.add(format_args!("  none after {}", answer.from));
    }
    for (number, page) in (answer.from + 1..).zip(&answer.linked) {
        let mut about = told(page.state, page.spam);
        if !page.seed_of.is_empty() {
            about.push_str("; seed of ");
            about.push_str(&page.seed_of.join(", "));
        }
        lines.add(format_args!("  {number} {}  {about}", page.url));
    }
    let last = answer.from.saturating_add(answer.linked.len() as u64);
    let more = answer.pages.saturating_sub(last);
    if more > 0 && !answer.linked.is_empty() {
        lines.add(format_args!("  and {more} more (--from {last})"));
    }
    lines.to_string()
}

/// What the bank knows of a page, for people.
fn text(facts: &PageFacts) -> String {
    let mut lines = Lines::under(facts.url.as_str());
    lines.add(format_args!(
        "{}{}; first seen in {}{}",
        state_name(facts.state),
        match (facts.spam, facts.spam_given_of) {
            (false, _) => "",
            (true, Some(GivenOf::Site)) => ", spam as its site is",
            (true, _) => ", spam",
        },
        seen(facts.first_seen),
        facts.last_seen.map_or_else(
            || ", no record".to_owned(),
            |last| format!(", last record in {}", seen(last))
        )
    ));
    if let Some(alias) = &facts.alias {
        lines.add(self::alias(alias, facts.links_to_alias));
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
        let why = (plan.policy.as_ref(), &plan.why);
        lines.add(sentence(
            &plan.asked,
            why,
            &facts.site,
            facts.alias.as_ref(),
        ));
    }
    lines.to_string()
}

fn seen(seen: Seen) -> String {
    format!("batch {} ({})", seen.batch, time(seen.at))
}

/// The page's quality, after what else is told of it; nothing where it has none.
fn quality(facts: &PageFacts) -> String {
    let Some(quality) = facts.quality else {
        return String::new();
    };
    let of_site = match facts.quality_given_of {
        Some(GivenOf::Site) => " (its site's)",
        _ => "",
    };
    format!(", quality {quality}{of_site}")
}

fn alias(alias: &AliasView, links: u64) -> String {
    let by = match alias.by {
        AliasBy::Redirect => "it redirects to",
        AliasBy::Canonical => "its canonical page is",
    };
    let mut text = format!("{by} {}", alias.to);
    // Writing to a String cannot fail.
    let _ = match &alias.leads_to {
        Some(end) if *end == alias.to => Ok(()),
        Some(end) => write!(text, ", which leads to {end}"),
        None => write!(text, ", which leads nowhere"),
    };
    if links > 0 {
        let pages = if links == 1 {
            "1 page links".to_owned()
        } else {
            format!("{links} pages link")
        };
        let _ = write!(text, "; {pages} to it, which counts for where it leads");
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
            "  and {} (--limit has more)",
            counted(more, "site")
        ));
    }
}

/// Some of so many pages.
fn named(examples: &[String], pages: u64) -> String {
    let mut text = examples.join(", ");
    if pages > examples.len() as u64 {
        text.push_str(", ...");
    }
    text
}
