//! `cluster`: creates a bank that consists of several banks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use seedbank::engine::Bank;

use super::failure::CliError;
use super::init::{Rules, Site, naming};
use super::session::{Outcome, Session};
use super::values::integer;

const EXAMPLES: &str = "\
Examples:
  seedbank cluster init bank --banks 64
  seedbank ingest bank crawl.jsonl.zst --snapshot       every other command takes the folder as usual";

/// Create a bank that is spread over several databases
///
/// A cluster bank consists of several databases, its parts, each with the sites of some shards. Commands
/// commit to all parts or to none, and their results do not depend on the number of parts.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true, subcommand_value_name = "init")]
pub(super) struct ClusterArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Init(InitArgs),
}

/// Create an empty cluster bank
///
/// The folder must be empty or not exist. If the command fails, no part of a bank remains.
#[derive(Debug, Args)]
struct InitArgs {
    /// The folder of the new bank
    bank: PathBuf,
    /// The number of parts, from 1 to 1024; cannot be changed later
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=1024))]
    banks: u32,
    /// What counts as one site; cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_SITE")]
    site: Site,
    /// Which URLs count as the same; cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_URL_RULES")]
    url_rules: Rules,
}

pub(super) fn run(args: &ClusterArgs, session: &Session) -> Result<Outcome, CliError> {
    let Action::Init(args) = &args.action;
    Bank::create_cluster(&args.bank, naming(args.site, args.url_rules), args.banks)?;
    session.note(format_args!(
        "created {}, a cluster bank of {} parts; fill it with `seedbank ingest`",
        args.bank.display(),
        args.banks
    ));
    Ok(Outcome::Done)
}
