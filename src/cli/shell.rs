//! `completions` and `man`: generate shell completions and manual pages.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::failure::CliError;
use super::output::Output;
use super::session::Outcome;

const COMPLETIONS: &str = "\
Examples:
  seedbank completions bash > ~/.local/share/bash-completion/completions/seedbank
  seedbank completions zsh > ~/.zfunc/_seedbank
  seedbank completions fish > ~/.config/fish/completions/seedbank.fish";

const MAN: &str = "\
Examples:
  seedbank man | man -l -              show the manual page
  seedbank man --out man/man1          write one page per command";

/// Print completions for a shell
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

pub(super) fn completions(
    args: &CompletionsArgs,
    mut command: clap::Command,
) -> Result<Outcome, CliError> {
    // Generate into memory, since the generator panics if standard output is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "seedbank", &mut script);
    let mut out = Output::new();
    out.bytes(&script)?;
    out.finish()?;
    Ok(Outcome::Done)
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
