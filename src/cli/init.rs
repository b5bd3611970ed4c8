//! `init`: makes a bank.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::Bank;
use seedbank::ingest::{SiteMode, UrlRules};

use super::failure::CliError;
use super::session::{Outcome, Session};

const EXAMPLES: &str = "\
Examples:
  seedbank init bank                 sites are hosts: a.example.org and b.example.org are two,
                                     www.a.example.org and a.example.org are one
  seedbank init bank --site domain   sites are registrable domains: all of them are example.org";

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
    /// What is one URL; it cannot be changed later
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_URL_RULES")]
    url_rules: Rules,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Site {
    /// All pages of one host, without port; a leading `www.` is left out
    #[default]
    BareHost,
    /// All pages of one host, without port
    Host,
    /// All pages of one registrable domain, by the public suffix list compiled in
    Domain,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Rules {
    /// %7e, %7E and ~ are one, and so are a host with and without a final dot
    #[default]
    Rfc3986,
    /// As browsers have it: these stay apart
    Whatwg,
}

pub(super) fn run(args: &InitArgs, session: &Session) -> Result<Outcome, CliError> {
    let sites = match args.site {
        Site::BareHost => SiteMode::BareHost,
        Site::Host => SiteMode::Host,
        Site::Domain => SiteMode::Domain,
    };
    let urls = match args.url_rules {
        Rules::Rfc3986 => UrlRules::Rfc3986,
        Rules::Whatwg => UrlRules::Whatwg,
    };
    Bank::create(&args.bank, sites.with(urls))?;
    session.note(format_args!(
        "made {}; fill it with `seedbank ingest`",
        args.bank.display()
    ));
    Ok(Outcome::Done)
}
