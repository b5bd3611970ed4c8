//! `completions` and `man`: generate shell completions and manual pages.
//!
//! A completion script asks the program itself for candidates, through the environment variable
//! [`ASKED_BY`], so that it knows the plans and refreshes of the bank that was typed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use seedbank::display::counted;
use seedbank::engine::Bank;

use super::failure::CliError;
use super::output::Output;
use super::session::Outcome;

/// The environment variable with which a completion script names its shell.
pub(super) const ASKED_BY: &str = "SEEDBANK_COMPLETE";

const COMPLETIONS: &str = "\
Examples:
  seedbank completions bash > ~/.local/share/bash-completion/completions/seedbank
  seedbank completions zsh > ~/.zfunc/_seedbank
  seedbank completions fish > ~/.config/fish/completions/seedbank.fish";

const MAN: &str = "\
Examples:
  seedbank man | man -l -        show the manual page
  seedbank man --out man/man1    write one page per command";

/// Print completions for a shell
///
/// Completes commands, options and their values, files, and the plans and refreshes of the bank
/// that was typed.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub(super) struct ManArgs {
    /// Write one page per command to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<Outcome, CliError> {
    let shell = args.shell.to_string();
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&shell) {
        shell
            .write_registration(ASKED_BY, "seedbank", "seedbank", "seedbank", &mut script)
            .map_err(CliError::Output)?;
    }
    let mut out = Output::new();
    out.bytes(&script)?;
    out.finish()?;
    Ok(Outcome::Done)
}

/// Prints the candidates for the word that the user is typing. The arguments of the process are `--` and
/// the words of the command line.
pub(super) fn complete(shell: &OsStr, command: Command) -> Result<Outcome, CliError> {
    let mut candidates = Vec::new();
    let words = typed();
    let shells = Shells::builtins();
    if let Some(shell) = shell.to_str().and_then(|name| shells.completer(name))
        && !words.is_empty()
    {
        let mut command = command.mut_subcommands(with_candidates);
        let folder = std::env::current_dir().ok();
        shell
            .write_complete(&mut command, words, folder.as_deref(), &mut candidates)
            .map_err(CliError::Output)?;
    }
    let mut out = Output::new();
    out.bytes(&candidates)?;
    out.finish()?;
    Ok(Outcome::Done)
}

/// Returns the words of the command line that is completed.
fn typed() -> Vec<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--");
    words.skip(1).collect()
}

/// Says for each argument of a command and its subcommands what its values are.
fn with_candidates(command: Command) -> Command {
    command
        .mut_args(|argument| match argument.get_id().as_str() {
            "bank" => argument.value_hint(ValueHint::DirPath),
            "plan" | "against" => with(argument, plans),
            "refresh" | "refreshes" => with(argument, refreshes),
            _ => argument,
        })
        .mut_subcommands(with_candidates)
}

fn with(argument: Arg, candidates: fn(&Bank) -> Vec<CompletionCandidate>) -> Arg {
    argument.add(ArgValueCandidates::new(move || {
        let bank = typed().iter().find_map(|word| bank_at(Path::new(word)));
        bank.as_ref().map(candidates).unwrap_or_default()
    }))
}

/// Opens the bank in a folder; returns `None` if the folder is not a bank.
fn bank_at(folder: &Path) -> Option<Bank> {
    let bank = Bank::at(folder);
    (folder.is_dir() && bank.plans().is_ok()).then_some(bank)
}

fn plans(bank: &Bank) -> Vec<CompletionCandidate> {
    let plans = bank.plans().map(|plans| plans.plans).unwrap_or_default();
    let candidates = plans.into_iter().map(|plan| {
        let help = format!("{}, last refresh {}", plan.method.name(), plan.last.refresh);
        CompletionCandidate::new(plan.plan).help(Some(StyledStr::from(help)))
    });
    candidates.collect()
}

/// Returns the refreshes, last first.
fn refreshes(bank: &Bank) -> Vec<CompletionCandidate> {
    let refreshes = bank.history().map(|history| history.refreshes);
    let candidates = refreshes.unwrap_or_default().into_iter().rev();
    let candidates = candidates.enumerate().map(|(order, refresh)| {
        let help = format!(
            "plan {}, after batch {}, {}",
            refresh.plan,
            refresh.batch,
            counted(refresh.seeds, "seed")
        );
        CompletionCandidate::new(refresh.refresh.to_string())
            .help(Some(StyledStr::from(help)))
            .display_order(Some(order))
    });
    candidates.collect()
}

pub(super) fn man(args: &ManArgs, command: clap::Command) -> Result<Outcome, CliError> {
    if let Some(folder) = &args.out {
        let failed = |source| CliError::File {
            path: folder.clone(),
            source,
        };
        fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command, folder).map_err(failed)?;
        return Ok(Outcome::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(CliError::Output)?;
    let mut out = Output::new();
    out.bytes(&page)?;
    out.finish()?;
    Ok(Outcome::Done)
}
