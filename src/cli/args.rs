//! The subcommands and the options that all of them share. The doc comments are the help texts.

use clap::{CommandFactory, Parser, Subcommand};

use super::session::GlobalArgs;
use super::{
    backup, check, compact, compare, cores, diff, evaluate, explain, export, forget, graph,
    history, ingest, init, migrate, page, plans, quotas, refresh, repair, report, restore, scores,
    search, seeds, serve, shell, site, status, synth, undo,
};
use seedbank::engine::maintenance::FORMAT;

const EXAMPLES: &str = "\
Examples:
  seedbank init bank                         create an empty bank
  seedbank ingest bank --snapshot day0.jsonl ingest the whole crawl
  seedbank ingest bank day1.jsonl.zst        ingest what changed since then
  seedbank refresh bank --seeds 50           select seeds
  seedbank seeds bank                        print one URL per line, best first
  seedbank evaluate bank crawl               compare them with random seeds

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
    Init(init::InitArgs),
    Ingest(ingest::IngestArgs),
    Refresh(Box<refresh::RefreshArgs>),
    Seeds(seeds::SeedsArgs),
    Cores(cores::CoresArgs),
    Diff(diff::DiffArgs),
    Compare(compare::CompareArgs),
    Explain(explain::ExplainArgs),
    Evaluate(Box<evaluate::EvaluateArgs>),
    History(history::HistoryArgs),
    Search(search::SearchArgs),
    Page(page::PageArgs),
    Site(site::SiteArgs),
    Plans(plans::PlansArgs),
    Quotas(quotas::QuotasArgs),
    Report(report::ReportArgs),
    Serve(serve::ServeArgs),
    Export(export::ExportArgs),
    Graph(graph::GraphArgs),
    Scores(scores::ScoresArgs),
    Status(status::StatusArgs),
    Check(check::CheckArgs),
    Repair(repair::RepairArgs),
    Undo(undo::UndoArgs),
    Forget(forget::ForgetArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Compact(compact::CompactArgs),
    Migrate(migrate::MigrateArgs),
    Synth(synth::SynthArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Returns the whole command line as a clap command.
pub(super) fn command() -> clap::Command {
    // clap wants a `'static` string; this function runs once per process, so the leak is bounded.
    let version = format!("{} (store format {FORMAT})", env!("CARGO_PKG_VERSION"));
    Cli::command().version(&*Box::leak(version.into_boxed_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
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
