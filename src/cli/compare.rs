//! `compare`: compares a list of start pages with the seeds of a plan.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::query::{
    CompareRequest, CrawlComparison, CrawlResult, LineState, ListComparison, ListRelation,
    ListedLine,
};

use super::failure::CliError;
use super::output::{Output, print_json};
use super::session::{Outcome, Session};
use super::table::aligned;
use super::url_list;
use super::values::{Format, FormatArgs, WhichArgs, integer};

const EXAMPLES: &str = "\
Examples:
  seedbank compare bank today.txt                      the crawler's current list against plan `default`
  seedbank compare bank today.txt --plan weekly --fetches 1000,20000
  seedbank seeds bank --plan old | seedbank compare bank - --plan new
  seedbank compare bank today.txt --format json | jq -r '.lines[] | select(.state == \"gone\") | .url'

For every line of the list, the output says what the page is today and how it relates to the plan's
seeds; `seedbank explain` says why. The crawls are the same as in `seedbank evaluate BANK budget`.";

/// Compare a list of start pages with the seeds of a plan
///
/// Shows which pages of the list are alive, which are covered by the plan's seeds, and what crawls from
/// both lists find. Use it, for example, with the list that a crawler uses today. Only the text before
/// the first white space of a line is read; empty lines and lines that begin with # are skipped, so
/// text, nutch and heritrix output of `seedbank seeds` can be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArgs {
    /// The bank
    bank: PathBuf,
    /// The list: one URL per line; `-` reads standard input
    #[arg(value_name = "FILE")]
    list: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Numbers of pages fetched by the crawls from both lists, each at most 20000
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1000,5000",
        value_parser = integer::<u64>(1..=CompareRequest::MOST_FETCHES))]
    fetches: Vec<u64>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: CompareArgs, session: &Session) -> Result<Outcome, CliError> {
    let mut request = CompareRequest::new(args.which.into());
    request.fetches = args.fetches;
    let found = session.run(|watch| -> Result<ListComparison, CliError> {
        let list = url_list::read(&args.list, watch)?;
        Ok(session
            .bank(&args.bank)
            .watched(watch.clone())
            .compare(&list, &request)?)
    })?;
    match args.format.format {
        Format::Json => print_json(&found)?,
        Format::Text => {
            let mut out = Output::new();
            out.text(&readable(&counts(&found)))?;
            out.text(&worth(&found.crawls))?;
            for crawls in &found.crawls {
                if let Some(note) = fewer_from_all(crawls) {
                    out.line(&note)?;
                }
            }
            out.line("")?;
            for listed in &found.lines {
                out.line(&readable(&line(listed)))?;
            }
            out.finish()?;
        }
    }
    Ok(Outcome::Done)
}

/// Formats the counts of the list as text.
fn counts(found: &ListComparison) -> String {
    let (asked, counts) = (&found.run, &found.counts);
    let mut text = format!(
        "{} against refresh {} of plan {} ({}), state after batch {}: {}\n",
        escape_controls(&found.list),
        asked.refresh,
        asked.plan,
        asked.method,
        asked.state_batch,
        counted(asked.seeds, "seed"),
    );
    // Zero counts are left out.
    let several = |parts: &[(u64, &str)]| {
        let nonzero = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = nonzero
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        parts.join(", ")
    };
    append!(
        text,
        "{}: {}",
        counted(counts.lines, "line"),
        counted(counts.pages, "page")
    );
    // Lines that name no further page explain why there are fewer pages than lines.
    for (count, what) in [
        (counts.duplicates, "repeated"),
        (counts.invalid_urls, "invalid"),
    ] {
        if count > 0 {
            append!(text, ", {count} {what}");
        }
    }
    let today = several(&[
        (counts.alive, "alive"),
        (counts.spam, "spam"),
        (counts.gone, "gone"),
        (
            counts.alias,
            if counts.alias == 1 {
                "alias"
            } else {
                "aliases"
            },
        ),
        (counts.unlinked, "no longer linked to"),
        (counts.not_in_bank, "not in the bank"),
    ]);
    append_line!(
        text,
        "\ntoday, after batch {}: {today}",
        found.current_batch
    );
    let standing = several(&[
        (counts.seeds, "on the plan's list"),
        (counts.covered, "covered by it"),
        (counts.near_core, "near a core"),
        (counts.not_covered, "not covered"),
    ]);
    if !standing.is_empty() {
        append_line!(text, "of the pages in the bank: {standing}");
    }
    text.push('\n');
    text
}

/// Formats what the crawls find as a table.
fn worth(worth: &[CrawlComparison]) -> String {
    let row = |fetches: u64, from: &str, found: &CrawlResult| {
        vec![
            from.to_owned(),
            found.starts.to_string(),
            fetches.to_string(),
            found.pages.to_string(),
            found.crawled.to_string(),
            found.sites.to_string(),
            found.clicks.to_string(),
            found
                .depth
                .map_or_else(|| "-".to_owned(), |depth| depth.to_string()),
        ]
    };
    let mut rows = Vec::new();
    for of in worth {
        rows.push(row(of.fetches, "the list", &of.list));
        rows.push(row(of.fetches, "as many seeds", &of.first_seeds));
        if let Some(all) = &of.all_seeds {
            rows.push(row(of.fetches, "all seeds", all));
        }
    }
    let header = [
        "a crawl from",
        "starts",
        "fetches",
        "pages",
        "crawled",
        "sites",
        "clicks",
        "depth",
    ];
    aligned(&header, &rows)
}

/// Says why a crawl from all seeds finds fewer crawled pages than one from the first of them; `None` if it
/// does not.
fn fewer_from_all(crawls: &CrawlComparison) -> Option<String> {
    let (first, all) = (&crawls.first_seeds, crawls.all_seeds.as_ref()?);
    if all.crawled >= first.crawled {
        return None;
    }
    Some(format!(
        "{} from all seeds find fewer crawled pages than from the first {}: a crawl fetches what all its starts link to before it follows further links, so it gets to depth {} instead of {}",
        counted(crawls.fetches, "fetch"),
        first.starts,
        all.depth.unwrap_or(0),
        first.depth.unwrap_or(0),
    ))
}

/// Formats one line of the list as text.
fn line(listed: &ListedLine) -> String {
    let url = escape_controls(listed.url.as_deref().unwrap_or(&listed.text));
    let mut text = format!("{} {url}  ", listed.line);
    match (listed.state, listed.first_line, &listed.error) {
        (_, Some(first), _) => {
            append!(text, "repeats line {first}");
        }
        (_, _, Some(problem)) => {
            append!(text, "not a page URL: {problem}");
        }
        (is, _, _) => text.push_str(state(is)),
    }
    let Some(page) = &listed.page else {
        return text;
    };
    if let Some(to) = page
        .current
        .alias
        .as_ref()
        .and_then(|alias| alias.resolves_to.as_ref())
    {
        append!(text, " of {to}");
    }
    text.push_str("; ");
    match &page.relation {
        ListRelation::Seed { rank } => append!(text, "seed {rank}"),
        ListRelation::InCore { core, seed } => append!(text, "in core {core}, of {seed}"),
        ListRelation::Covered { by, rank, hop } => {
            let links = counted(*hop, "link");
            append!(text, "covered by seed {rank} in {links}: {by}");
        }
        ListRelation::NearCore { core, seed } => append!(text, "near core {core}, of {seed}"),
        _ => append!(text, "not covered"),
    }
    text
}

const fn state(is: LineState) -> &'static str {
    match is {
        LineState::Alive => "alive",
        LineState::Spam => "spam",
        LineState::Gone => "gone",
        LineState::Alias => "an alias",
        LineState::Unlinked => "no longer linked to",
        LineState::NotInBank => "not in the bank",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn fewer_pages_from_more_seeds_are_explained() {
        let result = |starts: u64, crawled: u64, depth: u32| {
            json!({"starts": starts, "pages": 1000, "crawled": crawled, "sites": 9, "clicks": 0,
                "clicked_pages": 0, "spam": 0, "depth": depth})
        };
        let with = |all: Value| -> CrawlComparison {
            let few = result(2, 553, 3);
            let crawls =
                json!({"fetches": 1000, "list": few, "first_seeds": few, "all_seeds": all});
            serde_json::from_value(crawls).unwrap()
        };
        let crawls = with(result(20, 386, 1));
        assert_eq!(
            fewer_from_all(&crawls).as_deref(),
            Some(
                "1000 fetches from all seeds find fewer crawled pages than from the first 2: a crawl fetches what all its starts link to before it follows further links, so it gets to depth 1 instead of 3"
            )
        );
        assert_eq!(fewer_from_all(&with(result(20, 553, 1))), None);
        assert_eq!(fewer_from_all(&with(Value::Null)), None);
    }
}
