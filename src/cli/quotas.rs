//! `quotas`: computes how many pages of each site the next crawl should fetch.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::answers::{
    Record as _, Table, without_limit, write_domain_limits, write_queue_limits,
};
use seedbank::display::{counted, is_or_are};
use seedbank::engine::query::{QuotaBy, QuotaRequest, Quotas, SiteQuota};

use super::failure::CliError;
use super::output::{Output, print, print_json};
use super::session::{Outcome, Session};
use super::values::{integer, listed};

const EXAMPLES: &str = "\
Examples:
  seedbank quotas bank --pages 100000
  seedbank quotas bank --pages 100000 --by quality --format csv
  seedbank quotas bank --pages 5000 --by seeds --plan weekly --format jsonl
  seedbank quotas bank --pages 100000 --format cc > domain-limits.txt";

/// Distribute the pages of the next crawl over the sites
///
/// Each site gets pages in proportion to its weight, but at most as many as the bank knows of it and as
/// its given quota allows (`ingest --sites`); the rest is distributed over the other sites by weight.
/// Sites with weight 0 get pages only after all other sites have reached their maximum.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct QuotasArgs {
    /// The bank
    bank: PathBuf,
    /// Number of pages that the next crawl fetches
    #[arg(long, value_name = "N", value_parser = integer::<u64>(1..=u64::MAX))]
    pages: u64,
    /// Weight of a site
    #[arg(long, value_enum, value_name = "WHAT", default_value = "value")]
    by: By,
    /// With `--by seeds`, use this plan's seeds [default: default]; with `--by value`, its values
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Output format
    #[arg(long, value_parser = listed::<QuotaFormat>(), default_value = "text", env = "SEEDBANK_FORMAT")]
    format: QuotaFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// Sum of the values of the site's crawled pages, as in cover methods; 0 if negative
    Value,
    /// Sum of the PageRank of the site's pages in the whole graph
    Pagerank,
    /// Sum of the qualities of the site's crawled and known pages
    Quality,
    /// Number of seeds on the site in the plan's last refresh
    Seeds,
}

impl From<By> for QuotaBy {
    fn from(by: By) -> Self {
        match by {
            By::Value => Self::Value,
            By::Pagerank => Self::Pagerank,
            By::Quality => Self::Quality,
            By::Seeds => Self::Seeds,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum QuotaFormat {
    /// A human-readable table
    #[default]
    Text,
    /// One JSON object with the totals and all sites; JSON Schema: schema/quotas.schema.json
    Json,
    /// One JSON object per line, one for each site
    Jsonl,
    /// Comma-separated values (RFC 4180) with a header
    Csv,
    /// Domain limits for the generator of Common Crawl's Nutch (generate.domain.limits.file)
    Cc,
    /// Queue limits for SetCrawlLimit of URLFrontier: one JSON object per line
    Urlfrontier,
}

pub(super) fn run(args: QuotasArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = QuotaRequest {
        pages: args.pages,
        by: args.by.into(),
        plan: args.plan,
    };
    let quotas = session.with_bank(&args.bank, |bank| bank.quotas(&request))?;
    if quotas.sites.is_empty() {
        session.note("the bank has no pages yet");
        return Ok(Outcome::Nothing);
    }
    if let Some(why) = shortage(&quotas) {
        session.warn(why);
    }
    match args.format {
        QuotaFormat::Text => print(&text(&quotas))?,
        QuotaFormat::Json => print_json(&quotas)?,
        QuotaFormat::Csv => print(&table(&quotas).csv())?,
        QuotaFormat::Cc => limits(&quotas, session, |out| write_domain_limits(out, &quotas))?,
        QuotaFormat::Urlfrontier => {
            limits(&quotas, session, |out| write_queue_limits(out, &quotas))?;
        }
        QuotaFormat::Jsonl => {
            let mut out = Output::new();
            for site in &quotas.sites {
                out.json(site)?;
            }
            out.finish()?;
        }
    }
    Ok(Outcome::Done)
}

/// Prints limits, and notes how many sites have none.
fn limits(
    quotas: &Quotas,
    session: &Session,
    write: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<(), CliError> {
    let unlimited = without_limit(quotas);
    if unlimited > 0 {
        session.note(format_args!(
            "{} with a quota of 0 {} omitted, since the crawler treats a limit of 0 as no limit; exclude them in the crawler",
            counted(unlimited, "site"),
            is_or_are(&unlimited)
        ));
    }
    let mut out = Output::new();
    let failed = out.failed();
    write(&mut out).map_err(failed)?;
    out.finish()
}

/// Explains why fewer pages are distributed than requested; `None` if all are.
fn shortage(quotas: &Quotas) -> Option<String> {
    let missing = quotas.requested - quotas.allocated;
    if missing == 0 {
        return None;
    }
    let given = match quotas.beyond_limits {
        0 => String::new(),
        beyond => format!(", and limits of sites exclude {beyond} of them"),
    };
    Some(format!(
        "{} of {} {} not distributed: the bank knows {}{given}",
        missing,
        counted(quotas.requested, "page"),
        is_or_are(&missing),
        counted(quotas.known, "page"),
    ))
}

fn text(quotas: &Quotas) -> String {
    let mut text = String::new();
    let by = match (&quotas.plan, quotas.refresh) {
        (Some(plan), Some(refresh)) => {
            format!("{} of plan {plan}, refresh {refresh}", quotas.by.name())
        }
        _ => quotas.by.name().to_owned(),
    };
    append_line!(
        text,
        "{} of {} on {}, by {by}, as of batch {}\n",
        counted(quotas.allocated, "page"),
        quotas.requested,
        counted(quotas.sites.len(), "site"),
        quotas.batch
    );
    text + &table(quotas).aligned()
}

fn table(quotas: &Quotas) -> Table {
    SiteQuota::table("quotas", "", &quotas.sites)
}
