//! `explain`: why a page is a seed, or why not.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use seedbank::display::{escape_controls, readable};
use seedbank::engine::EngineError;
use seedbank::engine::query::Explainer;
use seedbank::render::{Lines, page_explanation, site_explanation};
use seedbank::watch::Unwatched;
use serde::Serialize;

use super::failure::CliError;
use super::output::Output;
use super::session::{Outcome, Session};
use super::url_list;
use super::values::{Format, FormatArgs, WhichArgs};

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: ExplainArgs, session: &Session) -> Result<Outcome, CliError> {
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
            let answer = bank.explain(url, which)?;
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
    let mut lines = Lines::under(escape_controls(answer.url).as_ref());
    lines.add(format_args!("no answer: {}", answer.error));
    if let Some(hint) = &answer.hint {
        lines.add(escape_controls(hint).as_ref());
    }
    lines.to_string()
}
