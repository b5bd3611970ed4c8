//! What all experiments read and print in the same way: lists of seeds, output formats, the state, claims.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::failure::CliError;
use crate::cli::output::{print, print_json};
use crate::cli::session::{Outcome, Session};
use crate::cli::url_list;
use crate::cli::values::listed;
pub(super) use crate::cli::values::state_line;
use seedbank::display::{counted, escape_controls, is_or_are, readable};
use seedbank::engine::Which;
use seedbank::engine::evaluate::{AbsentReason, Claim, ListView, SeedList};
use seedbank::watch::Watch;

/// The maximum number of excluded seeds that text output lists.
const SHOWN: usize = 10;

/// The output format of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum TableFormat {
    /// Human-readable tables and a conclusion
    #[default]
    Text,
    /// One JSON object on one line; JSON Schemas: schema/evaluate-*.schema.json
    #[value(alias = "jsonl")]
    Json,
    /// The tables as comma-separated values (RFC 4180) with a header
    Csv,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct TableFormatArgs {
    /// Output format
    #[arg(long, value_parser = listed::<TableFormat>(), default_value = "text", env = "SEEDBANK_FORMAT")]
    format: TableFormat,
}

impl TableFormatArgs {
    pub(super) fn print<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
        csv: impl FnOnce(&T) -> String,
    ) -> Result<Outcome, CliError> {
        match self.format {
            TableFormat::Text => print(&readable(&text(result)))?,
            TableFormat::Json => print_json(result)?,
            TableFormat::Csv => print(&csv(result))?,
        }
        Ok(Outcome::Done)
    }
}

/// Formats a list as one line, followed by the seeds that are excluded from the experiment.
pub(super) fn list_lines(list: &ListView) -> String {
    let mut text = format!(
        "{}: {}",
        escape_controls(&list.name),
        counted(list.seeds, "seed")
    );
    if let Some(batch) = list.batch {
        append!(text, " selected after batch {batch}");
    }
    if list.repeated > 0 {
        append!(text, ", {} repeated", list.repeated);
    }
    if list.dead > 0 {
        let have = if list.dead == 1 { "has" } else { "have" };
        append!(text, ", {} {have} died since", list.dead);
        if let Some(succeeded) = list.succeeded {
            append!(text, " and {succeeded} of them with a successor here");
        }
    }
    if list.unknown > 0 {
        append!(
            text,
            ", {} {} not in the bank",
            list.unknown,
            is_or_are(&list.unknown)
        );
    }
    text.push('\n');
    // Name the excluded seeds: the result is about the others only.
    for seed in list.absent.iter().take(SHOWN) {
        let why = match seed.why {
            AbsentReason::Alias => "an alias of another page",
            AbsentReason::Resource => "a resource",
            AbsentReason::Gone => "gone",
            AbsentReason::Spam => "spam",
            AbsentReason::Unlinked => "unlinked",
            AbsentReason::NotInBank => "not in the bank",
            AbsentReason::NoUrl => "not a page URL",
        };
        append!(text, "  {why}: {}", escape_controls(&seed.url));
        if let Some(successor) = &seed.successor {
            append!(text, ", succeeded by {successor}");
        }
        text.push('\n');
    }
    if list.absent.len() > SHOWN {
        let more = list.absent.len() - SHOWN;
        append_line!(text, "  {more} more; --format json prints all");
    }
    text
}

/// Formats claims and whether they hold, one per line.
pub(super) fn claim_lines(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let holds = if claim.holds { "yes" } else { "no" };
        format!("{holds}: {}\n", escape_controls(&claim.text))
    };
    claims.iter().map(line).collect()
}

/// Warns about excluded seeds if the output format does not list them.
pub(super) fn warn_of_absent(list: &ListView, format: TableFormatArgs, session: &Session) {
    if format.format == TableFormat::Csv && !list.absent.is_empty() {
        session.warn(format_args!(
            "{} of {} of {} are excluded: {} died, {} {} not in the bank",
            list.absent.len(),
            counted(list.given, "seed"),
            list.name,
            list.dead,
            list.unknown,
            is_or_are(&list.unknown)
        ));
    }
}

/// Returns the seeds of a refresh as a list.
pub(super) fn refresh_list(which: Which, succeed: bool) -> SeedList {
    if succeed {
        SeedList::Succeeded(which)
    } else {
        SeedList::Refresh(which)
    }
}

/// Reads a list of URLs from a file.
pub(super) fn read(path: &Path, watch: &dyn Watch) -> Result<SeedList, CliError> {
    let list = url_list::read(path, watch)?;
    Ok(SeedList::Urls {
        name: list.name,
        urls: list.urls.into_iter().map(|(_, url)| url).collect(),
    })
}

/// Reads several lists, at most one of them from standard input.
pub(super) fn read_all(paths: &[PathBuf], watch: &dyn Watch) -> Result<Vec<SeedList>, CliError> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage(
            "standard input (-) is given more than once and can be read only once; give the other lists as files".to_owned(),
        ));
    }
    paths.iter().map(|path| read(path, watch)).collect()
}
