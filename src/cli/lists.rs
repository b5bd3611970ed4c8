//! `diff` and `compare`: two seed lists with a cause for each change, and a list from elsewhere beside the seeds of a plan.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::failure::CliError;
use super::output::{Output, print, print_json};
use super::session::{Outcome, Session};
use super::url_list;
use super::values::{Format, FormatArgs, WhichArgs, integer, listed};

use seedbank::answers::{
    SummaryLine, crawl_note, crawl_table, line_relation, line_state, list_states, rejected_lines,
    without_new_pages,
};
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::EngineError;
use seedbank::engine::plan::Crawls;
use seedbank::engine::query::{
    Cause, Change, CompareRequest, CrawlComparison, DiffRequest, DiffSide, DiffSummary,
    ListComparison, ListedLine, SeedChange,
};
use seedbank::engine::refresh::RefreshId;

const DIFF_EXAMPLES: &str = "\
Examples:
  seedbank diff bank                         the last two refreshes of plan `default`
  seedbank diff bank 3 7                     two refreshes by number
  seedbank diff bank --plan weekly 12        refresh 12 and the plan's last refresh
  seedbank diff bank --against dense         the last refreshes of two plans
  seedbank diff bank --seeds-file seeds.txt  the crawler's current list and the last refresh
  seedbank diff bank --format jsonl | jq -r 'select(.successor) | [.url, .successor.url] | @tsv'

Causes are defined in the README and in schema/diff.schema.json. They are derived from what the
refreshes and batches stored; no seeds are selected again.";

/// Compare two seed lists: which seeds were gained, lost or moved, and why
///
/// Names the batch that caused each change. Of two refreshes, the first one given is the earlier list.
/// A list from a file is always the earlier list: gained seeds are those that the bank would add to it.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(super) struct DiffArgs {
    /// The bank
    bank: PathBuf,
    /// Refresh numbers: none, one or two
    ///
    /// Without a number, compares the plan's last two refreshes; with one number, compares that refresh
    /// with its plan's last one.
    #[arg(value_name = "REFRESH", num_args = 0..=2, value_parser = integer::<RefreshId>(1..=RefreshId::MAX))]
    refreshes: Vec<RefreshId>,
    /// The plan [default: default]; ignored if two refreshes are given
    #[arg(long, value_name = "NAME", env = "SEEDBANK_PLAN")]
    plan: Option<String>,
    /// Compare the plan's last refresh with the last one of this plan
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["refreshes", "seeds_file"])]
    against: Option<String>,
    /// Compare the URLs in this file with a refresh; `-` reads standard input
    ///
    /// The refresh is the plan's last one unless a number is given. The file has one URL per line; only the
    /// text before the first white space is read, and empty lines and lines that begin with # are skipped,
    /// so text, nutch and heritrix output of `seedbank seeds` can be read.
    #[arg(long, value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// Output format
    #[arg(long, value_parser = listed::<DiffFormat>(), default_value = "text", env = "SEEDBANK_FORMAT")]
    format: DiffFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum DiffFormat {
    /// Human-readable text; seeds that kept their rank are only counted
    #[default]
    Text,
    /// The counts, then one JSON object per seed and line; JSON Schema: schema/diff.schema.json
    #[value(alias = "json")]
    Jsonl,
}

pub(super) fn diff(args: DiffArgs, session: &Session) -> Result<Outcome, CliError> {
    let list = args.seeds_file.as_deref();
    let list = session.run(|watch| list.map(|path| url_list::read(path, watch)).transpose())?;
    let request = DiffRequest {
        plan: args.plan,
        refreshes: args.refreshes,
        against: args.against,
        list,
    };
    let diff = session.with_bank(&args.bank, |bank| bank.diff(&request));
    let diff = match diff {
        Err(CliError::Engine(EngineError::OneRefresh { plan, only })) => {
            return one_refresh(args.format, &plan, only, session);
        }
        diff => diff?,
    };
    let mut out = Output::new();
    match args.format {
        DiffFormat::Jsonl => {
            out.json(&SummaryLine::new(&diff))?;
            for seed in &diff.seeds {
                out.json(seed)?;
            }
        }
        DiffFormat::Text => {
            out.text(&diff_counts(&diff.summary))?;
            for seed in &diff.seeds {
                // Of the seeds that kept their rank, those with a note.
                if seed.change != Change::Kept || note(seed).is_some() {
                    out.line(&readable(&change_line(seed)))?;
                }
            }
        }
    }
    out.finish()?;
    Ok(Outcome::Done)
}

/// Reports that the plan has only one refresh, which is normal on its first day and no error.
fn one_refresh(
    format: DiffFormat,
    plan: &str,
    only: RefreshId,
    session: &Session,
) -> Result<Outcome, CliError> {
    let text = format!(
        "plan {plan} has only refresh {only}, so there is nothing to compare; refresh it again after the next batch, name two refreshes, or compare it with another plan (--against)"
    );
    match format {
        DiffFormat::Text => print(&(text + "\n"))?,
        // JSON Lines begin with the counts, and there are none.
        DiffFormat::Jsonl => session.note(text),
    }
    Ok(Outcome::Done)
}

/// Formats the counts as text.
fn diff_counts(summary: &DiffSummary) -> String {
    let mut text = format!(
        "{} -> {}\n{} -> {}: {} gained, {} lost, {} kept ({} of them moved)",
        side(&summary.from),
        side(&summary.to),
        counted(summary.from.seeds, "seed"),
        summary.to.seeds,
        summary.gained,
        summary.lost,
        summary.kept,
        summary.moved
    );
    text.push('\n');
    if !summary.differing_parameters.is_empty() {
        append_line!(
            text,
            "the parameters differ: {}",
            summary.differing_parameters.join(", ")
        );
    } else if summary.parameters_differ {
        text.push_str("the parameters differ\n");
    }
    if summary.kept_without_new > 0 {
        append_line!(
            text,
            "kept although their fetches brought no new page: {}",
            summary.kept_without_new
        );
    }
    if !summary.causes.is_empty() {
        let causes = summary.causes.iter();
        let causes: Vec<String> = causes
            .map(|(cause, count)| match cause {
                Cause::Parameters => format!("{count} by other parameters"),
                cause => format!("{count} {}", cause_name(*cause)),
            })
            .collect();
        append_line!(text, "causes: {}", causes.join(", "));
    }
    text
}

fn side(side: &DiffSide) -> String {
    match (side.refresh, &side.plan, side.batch) {
        (Some(refresh), Some(plan), Some(batch)) => {
            format!("refresh {refresh} of plan {plan}, after batch {batch}")
        }
        _ => escape_controls(side.list.as_deref().unwrap_or_default()).into_owned(),
    }
}

/// Returns the name of a cause as in JSON.
pub(super) fn cause_name(cause: Cause) -> String {
    match serde_json::to_value(cause) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// Formats one seed as text.
fn change_line(seed: &SeedChange) -> String {
    let rank = |rank: Option<u32>| rank.map_or_else(String::new, |rank| rank.to_string());
    let mut text = match seed.change {
        Change::Gained => format!("+ {}", rank(seed.rank_after)),
        Change::Lost => format!("- {}", rank(seed.rank_before)),
        Change::Moved | Change::Kept => {
            format!("  {} -> {}", rank(seed.rank_before), rank(seed.rank_after))
        }
    };
    append!(text, " {}", seed.url);
    match seed.cause {
        Some(Cause::Parameters) => {
            text.push_str("  ");
            text.push_str(&by_other_parameters(seed));
            return text + &successors(seed);
        }
        Some(cause) => append!(text, "  {}", cause_name(cause)),
        None => {}
    }
    if let (Some(links), Some(of)) = (seed.changed_links, seed.core_links) {
        append!(text, " ({links} of {})", counted(of, "link"));
    }
    if let Some(core) = seed.core {
        append!(text, ", core {core}");
    }
    if let Some(by) = &seed.by {
        append!(text, ", seed {by}");
    }
    if let Some(hop) = seed.hop {
        append!(text, " at hop {hop}");
    }
    if let Some(batch) = seed.batch {
        append!(text, ", batch {batch}");
    }
    text.push_str(&successors(seed));
    if let Some(note) = note(seed) {
        append!(text, "  {note}");
    }
    text
}

/// Returns a note on a kept seed whose fetches brought nothing new.
fn note(seed: &SeedChange) -> Option<String> {
    seed.fetches.as_ref().and_then(without_new_pages)
}

/// Returns where the list without the seed has its page: in a core, or covered by another seed.
fn by_other_parameters(seed: &SeedChange) -> String {
    match (&seed.by, seed.core, seed.hop) {
        (Some(by), Some(core), _) => {
            format!("by other parameters: in core {core}, seed {by}")
        }
        (None, Some(core), _) => format!("by other parameters: in core {core}"),
        (Some(by), None, Some(hop)) => {
            format!("by other parameters: covered by seed {by} at hop {hop}")
        }
        _ => "by other parameters".to_owned(),
    }
}

/// Names the seed that succeeds a lost one, and the one that a gained seed succeeds.
fn successors(seed: &SeedChange) -> String {
    let mut text = String::new();
    // A successor explains a gain and a loss together, so both lines name it.
    for (what, other) in [("succeeds", &seed.succeeds), ("successor", &seed.successor)] {
        if let Some(other) = other {
            let kin = if other.same_core {
                "same core"
            } else {
                "similar row"
            };
            append!(
                text,
                "; {what} {} ({kin}, similarity {:.2})",
                other.url,
                other.similarity
            );
        }
    }
    text
}

const COMPARE_EXAMPLES: &str = "\
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
#[command(after_help = COMPARE_EXAMPLES)]
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
    /// Crawls from both lists, as for `refresh` [default: those of the plan]
    #[arg(long, value_name = "LIMITS")]
    crawl: Option<Crawls>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn compare(args: CompareArgs, session: &Session) -> Result<Outcome, CliError> {
    let mut request = CompareRequest::new(args.which.into());
    request.fetches = args.fetches;
    request.crawl = args.crawl;
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
            out.text(&readable(&list_counts(&found)))?;
            let note = crawl_note(found.crawl);
            if !note.is_empty() {
                out.line(&format!("crawls{note}"))?;
            }
            out.text(&crawl_table(&found).aligned())?;
            for crawls in &found.crawls {
                if let Some(note) = fewer_from_all(crawls) {
                    out.line(&note)?;
                }
            }
            out.line("")?;
            for listed in &found.lines {
                out.line(&readable(&listed_line(listed)))?;
            }
            out.finish()?;
        }
    }
    Ok(Outcome::Done)
}

/// Formats the counts of the list as text.
fn list_counts(found: &ListComparison) -> String {
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
    let several = |parts: &[(u64, &str)]| {
        let parts = parts.iter().map(|(count, what)| format!("{count} {what}"));
        parts.collect::<Vec<String>>().join(", ")
    };
    append!(
        text,
        "{}: {}",
        counted(counts.lines, "line"),
        counted(counts.pages, "page")
    );
    // Lines that name no further page explain why there are fewer pages than lines.
    for (count, what) in rejected_lines(counts) {
        append!(text, ", {count} {what}");
    }
    append_line!(
        text,
        "\ntoday, after batch {}: {}",
        found.current_batch,
        several(&list_states(counts))
    );
    let mut standing = vec![
        (counts.seeds, "on the plan's list"),
        (counts.covered, "covered by it"),
        (counts.near_core, "near a core"),
        (counts.not_covered, "not covered"),
    ];
    standing.retain(|(count, _)| *count > 0);
    if !standing.is_empty() {
        append_line!(text, "of the pages in the bank: {}", several(&standing));
    }
    text.push('\n');
    text
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
fn listed_line(listed: &ListedLine) -> String {
    let url = escape_controls(listed.url.as_deref().unwrap_or(&listed.text));
    let text = format!("{} {url}  {}", listed.line, line_state(listed));
    match &listed.page {
        Some(page) => format!("{text}; {}", line_relation(&page.relation)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn fewer_pages_from_more_seeds_are_explained() {
        let result = |starts: u64, crawled: u64, depth: u32| {
            json!({"starts": starts, "pages": 1000, "crawled": crawled, "contents": crawled, "sites": 9, "clicks": 0,
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
