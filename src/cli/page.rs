//! `page`: what the bank knows of one page.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{
    AliasBy, AliasView, Bank, GivenOf, LinksBySite, PageFacts, PageLimits, PageState, Seen,
};
use seedbank::shown::{counted, readable};
use seedbank::told::{Lines, sentence};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::Outcome;
use super::values::{Format, FormatArgs, time, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank page bank https://example.org/
  seedbank page bank https://example.org/ --limit 100    of up to 100 sites that it is linked with
  seedbank page bank https://example.org/ --format json";

/// Show what the bank knows of a page: its state, its links both ways by site, and what it is in
/// every plan
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PageArgs {
    /// The bank
    bank: PathBuf,
    /// The page; its URL is normalised as ingest does
    url: String,
    /// How many sites are named, of those that it links to and of those that link to it [default: 10,
    /// as JSON 100]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    limit: Option<u32>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &PageArgs) -> Result<Outcome, CliError> {
    let format = args.format.format;
    let (sites, examples) = match format {
        Format::Text => (10, 3),
        Format::Json => (100, 10),
    };
    let limits = PageLimits {
        sites: args.limit.map_or(sites, |limit| limit as usize),
        examples,
    };
    let facts = Bank::at(&args.bank).page(&args.url, limits)?;
    match format {
        Format::Json => print_json(&facts)?,
        Format::Text => print(&readable(&text(&facts)))?,
    }
    Ok(Outcome::Done)
}

/// What the bank knows of a page, for people.
fn text(facts: &PageFacts) -> String {
    let mut lines = Lines(format!("{}\n", facts.url));
    lines.add(format_args!(
        "{}{}; first seen in {}{}",
        state(facts.state),
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
    lines.0
}

const fn state(state: PageState) -> &'static str {
    match state {
        PageState::Known => "known, not crawled",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no page any more: nobody links to it",
        PageState::Alias => "an alias",
    }
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
