//! `init` and `cluster`: create banks, in one database or in several.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::integer;

use seedbank::display::counted;
use seedbank::engine::Bank;
use seedbank::ingest::{Naming, SiteMode, UrlRules};

const INIT_EXAMPLES: &str = "\
Examples:
  seedbank init bank                 a site is a host: a.example.org and b.example.org are two sites,
                                     a.example.org and www.a.example.org are one
  seedbank init bank --site domain   a site is a registrable domain: these are all example.org";

/// Create an empty bank
///
/// The folder must be empty or not exist. If the command fails, no part of a bank remains.
#[derive(Debug, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub(super) struct InitArgs {
    /// The folder of the new bank
    bank: PathBuf,
    /// What counts as one site; cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_SITE")]
    site: Site,
    /// Which URLs count as the same; cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_URL_RULES")]
    url_rules: Rules,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Site {
    /// All pages of a host, on any port; a leading `www.` is ignored
    #[default]
    BareHost,
    /// All pages of a host, on any port
    Host,
    /// All pages of a registrable domain, according to the built-in public suffix list
    Domain,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Rules {
    /// %7e, %7E and ~ are the same, and so are hosts with and without a final dot
    #[default]
    Rfc3986,
    /// The URL standard of browsers: these are different
    Whatwg,
}

/// Returns how a bank with these settings delimits pages and sites.
pub(super) fn naming(site: Site, rules: Rules) -> Naming {
    let sites = match site {
        Site::BareHost => SiteMode::BareHost,
        Site::Host => SiteMode::Host,
        Site::Domain => SiteMode::Domain,
    };
    let urls = match rules {
        Rules::Rfc3986 => UrlRules::Rfc3986,
        Rules::Whatwg => UrlRules::Whatwg,
    };
    sites.with(urls)
}

pub(super) fn init(args: &InitArgs, session: &Session) -> Result<Outcome, CliError> {
    Bank::create(&args.bank, naming(args.site, args.url_rules))?;
    session.note(format_args!(
        "created {}; fill it with `seedbank ingest`",
        args.bank.display()
    ));
    Ok(Outcome::Done)
}

const CLUSTER_EXAMPLES: &str = "\
Examples:
  seedbank cluster init bank --banks 64
  seedbank ingest bank crawl.jsonl.zst --snapshot       every other command takes the folder as usual";

/// Create a bank that is spread over several databases
///
/// A cluster bank consists of several databases, its parts, each with the sites of some shards. Commands
/// commit to all parts or to none, and their results do not depend on the number of parts.
#[derive(Debug, Args)]
#[command(after_help = CLUSTER_EXAMPLES, disable_help_subcommand = true, subcommand_value_name = "init")]
pub(super) struct ClusterArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Init(ClusterInitArgs),
}

/// Create an empty cluster bank
///
/// The folder must be empty or not exist. If the command fails, no part of a bank remains.
#[derive(Debug, Args)]
struct ClusterInitArgs {
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

pub(super) fn cluster(args: &ClusterArgs, session: &Session) -> Result<Outcome, CliError> {
    let Action::Init(args) = &args.action;
    Bank::create_cluster(&args.bank, naming(args.site, args.url_rules), args.banks)?;
    session.note(format_args!(
        "created {}, a cluster bank of {}; fill it with `seedbank ingest`",
        args.bank.display(),
        counted(args.banks, "part")
    ));
    Ok(Outcome::Done)
}
