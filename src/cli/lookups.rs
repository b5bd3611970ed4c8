//! `search`, `page`, `site`, `explain`: what the bank contains about pages and sites, and why a page is a seed or not.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::CliError;
use super::output::Output;
use super::session::{Outcome, Session};
use super::url_list;
use super::values::{Format, FormatArgs, WhichArgs, integer, state_and_spam};

use seedbank::answers::{
    Facts, linked_pages, page_explanation, page_facts, site_explanation, site_facts,
};
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::query::{
    Explainer, FoundPage, LinkDirection, LinkedRequest, PageLimits, SearchLimits, SearchResult,
    SiteLimits,
};
use seedbank::engine::{Bank, EngineError};
use seedbank::watch::Unwatched;

const SEARCH_EXAMPLES: &str = "\
Examples:
  seedbank search bank https://example.org/about
  seedbank search bank example.org/about                  the same page, by http or https
  seedbank search bank news --limit 100                   sites and pages that contain `news`
  seedbank search bank example --format json";

/// Find pages and sites by URL, name, or part of one
///
/// Sites are found by name, and pages by URL, with or without http:// or https://. Upper and lower case
/// are equivalent. Results that begin with the text come first; otherwise sites are ordered by name, and
/// pages by the names of their sites and by URL.
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(super) struct SearchArgs {
    /// The bank
    bank: PathBuf,
    /// A URL, the name of a site, or part of one
    text: String,
    /// Maximum number of sites, and of pages, in the result
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = integer::<u32>(1..=10_000))]
    limit: u32,
    /// Maximum number of site names and URLs to examine; at most half of them are site names
    #[arg(long, value_name = "N", default_value_t = SearchLimits::default().examined,
        value_parser = integer::<u64>(1..=u64::MAX))]
    look: u64,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn search(args: &SearchArgs, session: &Session) -> Result<Outcome, CliError> {
    let limits = SearchLimits {
        sites: args.limit as usize,
        pages: args.limit as usize,
        examined: args.look,
    };
    let found = session.with_bank(&args.bank, |bank| bank.search(&args.text, limits))?;
    args.format.format.print(&found, |found| {
        readable(&found_text(found, limits)).into_owned()
    })?;
    Ok(if is_empty(&found) {
        Outcome::Nothing
    } else {
        Outcome::Done
    })
}

fn is_empty(found: &SearchResult) -> bool {
    found.page.is_none() && found.sites.is_empty() && found.pages.is_empty()
}

/// Formats the result as text.
fn found_text(found: &SearchResult, limits: SearchLimits) -> String {
    let mut lines = Facts::under(escape_controls(&found.query).as_ref());
    let page =
        |page: &FoundPage| format!("{}  {}", page.url, state_and_spam(page.state, page.spam));
    if let Some(exact) = &found.page {
        lines.add(format_args!("page {}", page(exact)));
    }
    if !found.sites.is_empty() {
        lines.add("sites");
    }
    for site in &found.sites {
        lines.add(format_args!(
            "  {}  {} crawled, {} known",
            site.site, site.crawled, site.known
        ));
    }
    // The exact match is already printed.
    let exact = found.page.as_ref().map(|page| &page.url);
    let others: Vec<&FoundPage> = found
        .pages
        .iter()
        .filter(|page| Some(&page.url) != exact)
        .collect();
    match (others.is_empty(), &found.page) {
        (true, _) => {}
        (false, None) => lines.add("pages with the text in their URLs"),
        (false, Some(_)) => lines.add("other pages with the text in their URLs"),
    }
    for other in others {
        lines.add(format_args!("  {}", page(other)));
    }
    // Distinguish an empty result from a search that was cut short.
    match (found.complete, is_empty(found)) {
        (true, false) => {}
        (true, true) => lines.add("no site name and no URL contains the text"),
        (false, true) => lines.add(format_args!(
            "none of the {} examined contains the text (--look examines more)",
            counted(found.examined, "name")
        )),
        (false, false) => {
            let is_full = found.sites.len() >= limits.sites || found.pages.len() >= limits.pages;
            if is_full {
                lines.add("there may be more; --limit raises the number of results");
            } else {
                lines.add(format_args!(
                    "there may be more: only {} {} examined; --look examines more",
                    counted(found.examined, "name"),
                    if found.examined == 1 { "was" } else { "were" }
                ));
            }
        }
    }
    lines.to_string()
}

const PAGE_EXAMPLES: &str = "\
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
#[command(after_help = PAGE_EXAMPLES)]
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

pub(super) fn page(args: &PageArgs, session: &Session) -> Result<Outcome, CliError> {
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
        let answer = of_address(&bank, &args.url, session, |url| bank.linked(url, &request))?;
        format.print(&answer, |answer| {
            readable(&linked_pages(answer).to_string()).into_owned()
        })?;
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
    let facts = of_address(&bank, &args.url, session, |url| bank.page(url, limits))?;
    format.print(&facts, |facts| {
        readable(&page_facts(facts).to_string()).into_owned()
    })?;
    Ok(Outcome::Done)
}

/// Asks about the page at a URL, or about the only one with a text in its URL; names some of them if there are more.
fn of_address<T>(
    bank: &Bank,
    text: &str,
    session: &Session,
    mut ask: impl FnMut(&str) -> Result<T, EngineError>,
) -> Result<T, CliError> {
    let invalid = match ask(text) {
        Err(e @ EngineError::InvalidUrl { .. }) if !text.contains("://") => e,
        answer => return Ok(answer?),
    };
    let limits = SearchLimits {
        pages: MOST_OFFERED,
        ..SearchLimits::default()
    };
    let found = bank.search(text, limits)?;
    let urls: Vec<String> = found.pages.into_iter().map(|page| page.url).collect();
    match &urls[..] {
        [] => Err(invalid.into()),
        [url] if found.complete => {
            session.note(format_args!("the only page with {text:?}: {url}"));
            Ok(ask(url)?)
        }
        _ => Err(EngineError::UnknownPage {
            url: text.to_owned(),
            nearest: urls,
        }
        .into()),
    }
}

/// Number of pages that are offered instead of a part of a URL.
const MOST_OFFERED: usize = 5;

const SITE_EXAMPLES: &str = "\
Examples:
  seedbank site bank example.org
  seedbank site bank https://example.org/about            the site of a page
  seedbank site bank example.org --limit 100              up to 100 linked sites each way
  seedbank site bank example.org --format json";

/// Show a site: pages, links with other sites, repeated content, and role in every plan
#[derive(Debug, Args)]
#[command(after_help = SITE_EXAMPLES)]
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

pub(super) fn site(args: &SiteArgs, session: &Session) -> Result<Outcome, CliError> {
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
    let facts = session.with_bank(&args.bank, |bank| bank.site(&args.site, limits))?;
    format.print(&facts, |facts| {
        readable(&site_facts(facts).to_string()).into_owned()
    })?;
    Ok(Outcome::Done)
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  seedbank explain bank https://example.org/about
  seedbank explain bank https://example.org/ --plan sites --refresh 3
  seedbank explain bank --site example.org --format json
  seedbank seeds bank --limit 5 | seedbank explain bank - --format jsonl

For several pages, JSON output has one line per page in the order given. A page without an answer has a
line with the error, and the exit status is then 5.";

/// Explain why a page is a seed or why it is not, or how a site was treated
///
/// The answer comes from what the refresh stored, so it takes no computation, and any stored refresh can
/// be explained. The output also shows what the page is today.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(super) struct ExplainArgs {
    /// The bank
    bank: PathBuf,
    /// One or several pages; `-` reads them from standard input, one per line
    ///
    /// URLs are normalised in the same way as by `ingest`.
    #[arg(
        value_name = "URL",
        required_unless_present = "site",
        conflicts_with = "site"
    )]
    urls: Vec<String>,
    /// Explain a site instead: its seeds, what they cover, and which pages no seed reaches
    #[arg(long, value_name = "SITE")]
    site: Option<String>,
    #[command(flatten)]
    which: WhichArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn explain(args: ExplainArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = session.bank(&args.bank);
    let which = args.which;
    let format = args.format.format;
    let cost = match (&args.site, args.urls.as_slice()) {
        (Some(site), _) => {
            let answer = bank.explain_site(site, which)?;
            format.print(&answer, |answer| {
                readable(&site_explanation(answer).to_string()).into_owned()
            })?;
            answer.cost
        }
        (None, [url]) if url != "-" => {
            let answer = of_address(&bank, url, session, |url| bank.explain(url, which.clone()))?;
            format.print(&answer, |answer| {
                readable(&page_explanation(answer).to_string()).into_owned()
            })?;
            answer.cost
        }
        (None, urls) => return many(&bank.explainer(which)?, urls, format),
    };
    session.note_cost(cost);
    Ok(Outcome::Done)
}

/// The JSON output for a page without an answer.
#[derive(Serialize, JsonSchema)]
pub(super) struct NoAnswer<'a> {
    /// The text that was given as a page.
    url: &'a str,
    /// Why there is no answer: the text is not a URL, or the bank does not contain the page.
    error: String,
    /// A similar page that the bank contains, or what to do; `null` if there is no advice.
    hint: Option<String>,
}

/// Explains several pages, all in one published state.
fn many(explainer: &Explainer, urls: &[String], format: Format) -> Result<Outcome, CliError> {
    let mut out = Output::new();
    let mut outcome = Outcome::Done;
    let mut is_first = true;
    let mut each = |url: &str| -> Result<(), CliError> {
        // Answers as text have several lines, so an empty line separates them.
        if !std::mem::take(&mut is_first) && format == Format::Text {
            out.line("")?;
        }
        match explainer.page(url) {
            Ok(answer) => match format {
                Format::Json => out.json(&answer),
                Format::Text => out.text(&readable(&page_explanation(&answer).to_string())),
            },
            Err(e @ (EngineError::UnknownPage { .. } | EngineError::InvalidUrl { .. })) => {
                // One bad URL must not hide the answers about the others.
                outcome = Outcome::Nothing;
                let e = CliError::from(e);
                let answer = NoAnswer {
                    url,
                    error: e.text(),
                    hint: e.hint(),
                };
                match format {
                    Format::Json => out.json(&answer),
                    Format::Text => out.text(&readable(&no_answer(&answer))),
                }
            }
            Err(e) => Err(e.into()),
        }
    };
    for url in urls {
        if url == "-" {
            for (_, url) in url_list::read(Path::new("-"), &Unwatched)?.urls {
                each(&url)?;
            }
        } else {
            each(url)?;
        }
    }
    out.finish()?;
    Ok(outcome)
}

fn no_answer(answer: &NoAnswer<'_>) -> String {
    let mut lines = Facts::under(escape_controls(answer.url).as_ref());
    lines.add(format_args!("no answer: {}", answer.error));
    if let Some(hint) = &answer.hint {
        lines.add(escape_controls(hint).as_ref());
    }
    lines.to_string()
}
