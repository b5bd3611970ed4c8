//! `cores`: the dense groups that seeds came from.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::{Bank, CoreView};
use seedbank::shown::{counted, readable};

use super::failure::CliError;
use super::output::Output;
use super::session::{Outcome, Session};
use super::values::WhichArgs;

/// How many hubs and authorities of a core are shown to people.
const SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  seedbank cores bank                   for people; long lists are cut
  seedbank cores bank --format jsonl    everything, with scores, one core a line
  seedbank cores bank --core 7 --format jsonl
  seedbank cores bank --plan dense --refresh 3 --format jsonl --out cores.jsonl";

/// Print the cores of a refresh: the dense groups of hubs and authorities that its seeds came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CoresArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Only the core of this rank
    #[arg(long, value_name = "N")]
    core: Option<u32>,
    /// Write to a file, which is replaced only once all is written
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the cores are printed
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_FORMAT")]
    format: CoreFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum CoreFormat {
    /// For people; long lists are cut
    #[default]
    Text,
    /// One JSON object a line; its JSON Schema is schema/cores.schema.json
    #[value(alias = "json")]
    Jsonl,
}

pub(super) fn run(args: CoresArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    let mut out = Output::to(args.out.as_deref(), &args.bank)?;
    let mut any = false;
    let mut each = |core: CoreView| {
        any = true;
        match args.format {
            CoreFormat::Text => out.text(&readable(&text(&core))),
            CoreFormat::Jsonl => out.json(&core),
        }
    };
    match args.core {
        Some(core) => each(bank.core(&args.which.into(), core)?)?,
        None => bank.cores(&args.which.into(), each)?,
    }
    out.finish()?;
    if !any {
        session.note("the refresh has no cores");
    }
    Ok(Outcome::Done)
}

/// A core for people.
fn text(core: &CoreView) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "core {}: sigma {:.6}, density {:.2} %, {}, {}, {}\n  {} {}",
        core.rank,
        core.sigma,
        core.density,
        counted(core.hubs.len(), "hub"),
        counted(core.authorities.len(), "authority"),
        counted(core.edges, "link"),
        if core.gives_seed {
            "seed"
        } else {
            "gives no seed; best hub"
        },
        core.seed
    );
    for (side, pages, scores) in [
        ("hub", &core.hubs, &core.hub_scores),
        ("authority", &core.authorities, &core.authority_scores),
    ] {
        for (page, score) in pages.iter().zip(scores).take(SHOWN) {
            let _ = writeln!(text, "  {side} {score:.6} {page}");
        }
        if pages.len() > SHOWN {
            let _ = writeln!(
                text,
                "  {side}: {} more; --format jsonl has all",
                pages.len() - SHOWN
            );
        }
    }
    text
}
