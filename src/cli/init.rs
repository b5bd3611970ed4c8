//! `init`: makes a bank.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::Bank;
use seedbank::ingest::SiteMode;

use super::failure::CliError;
use super::session::{Outcome, Session};

const EXAMPLES: &str = "\
Examples:
  seedbank init bank                 sites are hosts: a.example.org and b.example.org are two
  seedbank init bank --site domain   sites are registrable domains: both are example.org";

/// Make an empty bank
///
/// The folder must not exist, or be empty. It is made whole or not at all.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// The folder to make
    bank: PathBuf,
    /// What a site is; it cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_SITE")]
    site: Site,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Site {
    /// All pages of one host, without port
    #[default]
    Host,
    /// All pages of one registrable domain, by the public suffix list compiled in
    Domain,
}

pub(super) fn run(args: &InitArgs, session: &Session) -> Result<Outcome, CliError> {
    let mode = match args.site {
        Site::Host => SiteMode::Host,
        Site::Domain => SiteMode::Domain,
    };
    Bank::create(&args.bank, mode)?;
    session.note(format_args!(
        "made {}; fill it with `seedbank ingest`",
        args.bank.display()
    ));
    Ok(Outcome::Done)
}
