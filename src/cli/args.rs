//! The subcommands and the options that all of them share. The doc comments are the help texts.

use clap::builder::StyledStr;
use clap::{CommandFactory, Parser, Subcommand};

use super::session::GlobalArgs;
use super::{
    backups, cores, create, evaluate, export, history, ingest, lists, lookups, maintenance, plans,
    quotas, refresh, report, scores, seeds, shell, status, synth,
};
use seedbank::engine::maintenance::Format;

/// The commands by job, in the order of the help text.
const JOBS: [(&str, &[&str]); 6] = [
    (
        "Fill a bank",
        &["init", "cluster", "ingest", "undo", "forget", "synth"],
    ),
    ("Select seeds", &["refresh", "seeds", "plans", "quotas"]),
    (
        "Ask a bank",
        &[
            "explain",
            "search",
            "page",
            "site",
            "cores",
            "diff",
            "history",
            "status",
            "scores",
            "graph",
            #[cfg(feature = "serve")]
            "serve",
            #[cfg(feature = "mcp")]
            "mcp",
        ],
    ),
    ("Judge seeds", &["evaluate", "compare", "report"]),
    (
        "Keep a bank",
        &["check", "repair", "backup", "restore", "export", "compact"],
    ),
    ("Use a shell", &["completions", "man", "help"]),
];

const EXAMPLES: &str = "\
Examples:
  seedbank init bank                            create an empty bank
  seedbank ingest bank --snapshot day0.jsonl    ingest the whole crawl
  seedbank ingest bank day1.jsonl.zst           ingest what changed since then
  seedbank refresh bank --seeds 50              select seeds
  seedbank seeds bank                           print one URL per line, best first
  seedbank evaluate bank crawl                  compare them with random seeds

Exit status:
  0  success                   1  failure
  2  invalid usage             3  input rejected; the bank is unchanged
  4  the bank is busy, damaged, missing, or has an unsupported format
  5  empty result: nothing could be selected (the empty refresh is recorded), the bank is empty, the
     list is unchanged (seeds --if-changed), or the bank does not contain the page or site
  130  interrupted; the bank is unchanged

Options marked [env: ...] can also be set in the environment. A command that does not support the
format in SEEDBANK_FORMAT prints text and warns. SEEDBANK_LOG takes log filters such as
`seedbank=debug`. With --log-format json, every line on standard error is a JSON object.";

/// Select the pages that a continuous crawl should start from
///
/// Seedbank keeps what a crawler knows about the web in one folder, called a bank. `ingest` adds a
/// snapshot or a daily delta of the crawl, `refresh` selects seeds, `seeds` prints them, and `explain`
/// says why a page was selected.
#[derive(Debug, Parser)]
#[command(name = "seedbank", after_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) global: GlobalArgs,
}

/// A subcommand.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Init(create::InitArgs),
    Cluster(create::ClusterArgs),
    Ingest(Box<ingest::IngestArgs>),
    Refresh(Box<refresh::RefreshArgs>),
    Seeds(seeds::SeedsArgs),
    Cores(cores::CoresArgs),
    Diff(lists::DiffArgs),
    Compare(lists::CompareArgs),
    Explain(lookups::ExplainArgs),
    Evaluate(Box<evaluate::EvaluateArgs>),
    History(history::HistoryArgs),
    Search(lookups::SearchArgs),
    Page(lookups::PageArgs),
    Site(lookups::SiteArgs),
    #[command(alias = "ls")]
    Plans(plans::PlansArgs),
    Quotas(quotas::QuotasArgs),
    Report(report::ReportArgs),
    #[cfg(feature = "serve")]
    Serve(super::serve::ServeArgs),
    #[cfg(feature = "mcp")]
    Mcp(super::mcp::McpArgs),
    Export(export::ExportArgs),
    Graph(export::GraphArgs),
    Scores(scores::ScoresArgs),
    #[command(aliases = ["info", "stats"])]
    Status(status::StatusArgs),
    #[command(alias = "doctor")]
    Check(maintenance::CheckArgs),
    Repair(maintenance::RepairArgs),
    Undo(maintenance::UndoArgs),
    Forget(maintenance::ForgetArgs),
    Backup(backups::BackupArgs),
    Restore(backups::RestoreArgs),
    Compact(maintenance::CompactArgs),
    Synth(synth::SynthArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Returns the whole command line as a clap command.
pub(super) fn command() -> clap::Command {
    let format = Format::current();
    let version = format!("{} (store format {format})", env!("CARGO_PKG_VERSION"));
    let command = Cli::command().version(version);
    let template = template(&command);
    with_negative_numbers(command).help_template(template)
}

/// Returns the layout of the help text, in which commands are grouped by job.
fn template(command: &clap::Command) -> StyledStr {
    let heading = command.get_styles().get_header();
    let name_style = command.get_styles().get_literal();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (job, names) in JOBS {
        append_line!(text, "\n{heading}{job}:{heading:#}");
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(clap::Command::get_about);
            // clap adds `help` only when it parses.
            let about = about.map_or_else(
                || "Print the help of a command".to_owned(),
                |about| about.ansi().to_string(),
            );
            let space = " ".repeat(13 - name.len());
            append_line!(text, "  {name_style}{name}{name_style:#}{space}{about}");
        }
    }
    append_line!(
        text,
        "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    StyledStr::from(text)
}

/// Lets a negative number be the value of an option, so that the error is about the number and not about an
/// unknown option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_one = |argument: &clap::Arg| {
        let values = argument.get_num_args();
        argument.get_action().takes_values()
            && !argument.is_positional()
            && values.is_none_or(|values| values == 1.into())
    };
    command
        .mut_args(|argument| {
            let takes_one = takes_one(&argument);
            argument.allow_negative_numbers(takes_one)
        })
        .mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_one_job() {
        let mut listed: Vec<&str> = JOBS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        listed.sort_unstable();
        let command = command();
        let commands = command.get_subcommands().map(clap::Command::get_name);
        let mut commands: Vec<&str> = commands.chain(["help"]).collect();
        commands.sort_unstable();
        assert_eq!(listed, commands);
    }

    /// In each block of examples, descriptions begin in one column, after two blanks or more.
    #[test]
    fn examples_are_aligned() {
        fn walk(command: &clap::Command) {
            for help in [command.get_after_help(), command.get_after_long_help()] {
                let text = help.map(ToString::to_string).unwrap_or_default();
                let examples = text.lines().filter(|line| line.starts_with("  seedbank "));
                let columns: BTreeSet<usize> = examples
                    .filter_map(|line| {
                        let (_, description) = line.trim_start().split_once("  ")?;
                        Some(line.len() - description.trim_start().len())
                    })
                    .collect();
                let name = command.get_name();
                assert!(columns.len() < 2, "{name}: {columns:?}\n{text}");
            }
            command.get_subcommands().for_each(walk);
        }
        walk(&command());
    }

    #[test]
    fn every_format_flag_takes_the_same_values() {
        fn walk(command: &clap::Command) {
            let mut arguments = command.get_arguments();
            // The files of `graph` are data for other programs, not answers.
            let format = arguments.find(|argument| argument.get_id() == "format");
            if let Some(format) = format.filter(|_| command.get_name() != "graph") {
                let values = format.get_possible_values();
                for name in ["text", "json", "jsonl"] {
                    let value = values.iter().find(|value| value.get_name() == name);
                    assert!(
                        value.is_some_and(|value| !value.is_hide_set()),
                        "{} does not list --format {name}",
                        command.get_name()
                    );
                }
            }
            command.get_subcommands().for_each(walk);
        }
        walk(&command());
    }

    #[test]
    fn every_argument_has_a_help_text() {
        fn walk(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let name = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{name} has no help text");
                let takes_values = argument.get_action().takes_values();
                let values = argument.get_possible_values();
                // The names of shells explain themselves.
                let needs_help = takes_values && argument.get_id() != "shell";
                for value in values.iter().filter(|_| needs_help) {
                    let switch = ["true", "false"].contains(&value.get_name());
                    assert!(
                        switch || value.get_help().is_some(),
                        "{name} {} has no help text",
                        value.get_name()
                    );
                }
            }
            for command in command.get_subcommands() {
                walk(command);
            }
        }
        walk(&command());
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in command().get_subcommands() {
            let examples = command.get_after_help().map(ToString::to_string);
            assert!(
                examples.is_some_and(|text| text.contains("seedbank ")),
                "{} shows no example",
                command.get_name()
            );
        }
    }
}
