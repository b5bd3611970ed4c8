//! `init`: creates a bank.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::Bank;
use seedbank::ingest::{Naming, SiteMode, UrlRules};

use super::failure::CliError;
use super::session::{Outcome, Session};

const EXAMPLES: &str = "\
Examples:
  seedbank init bank                 a site is a host: a.example.org and b.example.org are two sites,
                                     a.example.org and www.a.example.org are one
  seedbank init bank --site domain   a site is a registrable domain: these are all example.org";

/// Create an empty bank
///
/// The folder must be empty or not exist. If the command fails, no part of a bank remains.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: &InitArgs, session: &Session) -> Result<Outcome, CliError> {
    Bank::create(&args.bank, naming(args.site, args.url_rules))?;
    session.note(format_args!(
        "created {}; fill it with `seedbank ingest`",
        args.bank.display()
    ));
    Ok(Outcome::Done)
}
