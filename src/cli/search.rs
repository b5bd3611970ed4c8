//! `search`: finds pages and sites by URL, name, or part of one.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::query::{FoundPage, SearchLimits, SearchResult};
use seedbank::render::Lines;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, integer, state_and_spam};

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: &SearchArgs, session: &Session) -> Result<Outcome, CliError> {
    let limits = SearchLimits {
        sites: args.limit as usize,
        pages: args.limit as usize,
        examined: args.look,
    };
    let found = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .search(&args.text, limits)
    })?;
    args.format
        .format
        .print(&found, |found| readable(&text(found, limits)).into_owned())?;
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
fn text(found: &SearchResult, limits: SearchLimits) -> String {
    let mut lines = Lines::under(escape_controls(&found.query).as_ref());
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
