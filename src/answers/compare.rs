//! A list from outside the bank compared with the seeds of a plan.

use super::facts::Line;
use super::table::{Cell, Table};
use crate::engine::query::{
    CrawlComparison, CrawlResult, LineState, ListComparison, ListCounts, ListRelation, ListedLine,
};
use seedbank_formats::display::counted;

/// Returns the numbers of pages of a list by state, as far as there are any.
#[must_use]
pub fn list_states(counts: &ListCounts) -> Vec<(u64, &'static str)> {
    let aliases = if counts.alias == 1 {
        "alias"
    } else {
        "aliases"
    };
    let states = [
        (counts.alive, "alive"),
        (counts.spam, "spam"),
        (counts.gone, "gone"),
        (counts.alias, aliases),
        (counts.resource, "no page but a resource"),
        (counts.unlinked, "no longer linked to"),
        (counts.not_in_bank, "not in the bank"),
    ];
    states.into_iter().filter(|(count, _)| *count > 0).collect()
}

/// Returns the numbers of lines of a list that name no further page, by reason.
#[must_use]
pub fn rejected_lines(counts: &ListCounts) -> Vec<(u64, &'static str)> {
    let reasons = [
        (counts.duplicates, "repeated"),
        (counts.invalid_urls, "invalid"),
    ];
    reasons
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .collect()
}

/// Describes what a line of a list names, and the state of the page.
#[must_use]
pub fn line_state(listed: &ListedLine) -> Line {
    let state = match (listed.state, listed.first_line, &listed.error) {
        (_, Some(first), _) => return format_args!("repeats line {first}").into(),
        (_, _, Some(problem)) => return format_args!("not a page URL: {problem}").into(),
        (LineState::Alive, _, _) => "alive",
        (LineState::Spam, _, _) => "spam",
        (LineState::Gone, _, _) => "gone",
        (LineState::Alias, _, _) => "an alias",
        (LineState::Resource, _, _) => "a resource",
        (LineState::Unlinked, _, _) => "no longer linked to",
        (LineState::NotInBank, _, _) => "not in the bank",
        _ => "",
    };
    let alias = listed
        .page
        .as_ref()
        .and_then(|page| page.current.alias.as_ref());
    match alias.and_then(|alias| alias.resolves_to.as_ref()) {
        Some(to) => Line::from(state).and(" of ").and_page(to),
        None => state.into(),
    }
}

/// Describes how a page relates to the seeds of the plan.
#[must_use]
pub fn line_relation(relation: &ListRelation) -> Line {
    match relation {
        ListRelation::Seed { rank } => format_args!("seed {rank}").into(),
        ListRelation::InCore { core, seed } => {
            Line::from(format_args!("in core {core}, of ")).and_page(seed)
        }
        ListRelation::Covered { by, rank, hop } => {
            let links = counted(*hop, "link");
            Line::from(format_args!("covered by seed {rank} in {links}: ")).and_page(by)
        }
        ListRelation::NearCore { core, seed } => {
            Line::from(format_args!("near core {core}, of ")).and_page(seed)
        }
        ListRelation::NotCovered => "not covered".into(),
    }
}

/// Returns what crawls find from the list, and from as many seeds.
#[must_use]
pub fn crawl_table(found: &ListComparison) -> Table {
    let crawls = found.crawls.iter().flat_map(crawls);
    Table::of("crawls", "Results of crawls by number of fetches", crawls)
        .word("from", "a crawl from", |(_, from, _)| from)
        .number("starts", "starts", |(.., crawl)| crawl.starts)
        .number("fetches", "fetches", |(fetches, ..)| fetches)
        .number("pages", "pages", |(.., crawl)| crawl.pages)
        .number("crawled", "crawled", |(.., crawl)| crawl.crawled)
        .number("contents", "different", |(.., crawl)| crawl.contents)
        .number("sites", "sites", |(.., crawl)| crawl.sites)
        .number("clicks", "clicks", |(.., crawl)| crawl.clicks)
        .optional("depth", "depth", |(.., crawl)| crawl.depth)
        .done()
}

/// Returns the crawls with one number of fetches, each with a name for its starting points.
fn crawls(found: &CrawlComparison) -> Vec<(u64, &'static str, &CrawlResult)> {
    let lists = [
        ("the list", Some(&found.list)),
        ("as many seeds", Some(&found.first_seeds)),
        ("all seeds", found.all_seeds.as_ref()),
    ];
    let lists = lists.into_iter();
    lists
        .filter_map(|(from, crawl)| Some((found.fetches, from, crawl?)))
        .collect()
}

/// Returns the cell of a page that the bank may not contain.
#[must_use]
pub fn listed_page(listed: &ListedLine) -> Cell {
    match &listed.url {
        Some(url) if listed.page.is_some() => Cell::page(url),
        Some(url) => url.into(),
        None => (&listed.text).into(),
    }
}
