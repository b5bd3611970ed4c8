//! `cores`: prints the dense groups of pages that seeds were selected from.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::display::{counted, readable};
use seedbank::engine::Which;
use seedbank::engine::query::{CoreLinks, CoreView};

use super::failure::CliError;
use super::output::Output;
use super::session::{Outcome, Session};
use super::values::{WhichArgs, integer, listed};

/// The number of hubs and authorities of a core that text output shows.
const SHOWN: usize = 10;

/// The number of hubs and authorities of a core that text output shows with `--links`.
const DRAWN: usize = 60;

const EXAMPLES: &str = "\
Examples:
  seedbank cores bank                   as text; long lists are truncated
  seedbank cores bank --format jsonl    all data with scores, one core per line
  seedbank cores bank --core 7 --format jsonl
  seedbank cores bank --core 7 --links  which hub links to which authority today
  seedbank cores bank --plan dense --refresh 3 --format jsonl --out cores.jsonl";

/// Print the cores of a refresh: dense groups of hubs and authorities
///
/// With method cores, seeds are selected from the cores.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CoresArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Print only the core with this rank
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX))]
    core: Option<u32>,
    /// Show which hubs of the core link to which of its authorities today
    ///
    /// Also counts the links from its hubs to other cores.
    #[arg(long, requires = "core")]
    links: bool,
    /// Write to this file or address, which is replaced only when the output is complete
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_parser = listed::<CoreFormat>(), default_value = "text", env = "SEEDBANK_FORMAT")]
    format: CoreFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum CoreFormat {
    /// Human-readable text; long lists are truncated
    #[default]
    Text,
    /// One JSON object per line; JSON Schema: schema/cores.schema.json
    #[value(alias = "json")]
    Jsonl,
}

pub(super) fn run(args: CoresArgs, session: &Session) -> Result<Outcome, CliError> {
    // The cores and their links are read from one pinned state, so that they fit together.
    let bank = session.bank(&args.bank).pinned()?;
    let mut out = Output::to(args.out.as_deref(), &args.bank)?;
    let mut any = false;
    let mut each = |core: CoreView| {
        any = true;
        match args.format {
            CoreFormat::Text => out.text(&readable(&text(&core))),
            CoreFormat::Jsonl => out.json(&core),
        }
    };
    let which = Which::from(args.which);
    match args.core {
        Some(core) if args.links => {
            let links = bank.core_links(&which, core)?;
            match args.format {
                CoreFormat::Text => {
                    let of_core = Which {
                        refresh: Some(links.refresh),
                        ..which
                    };
                    let core = bank.core(&of_core, core)?;
                    out.text(&readable(&drawn(&core, &links)))?;
                }
                CoreFormat::Jsonl => out.json(&links)?,
            }
            any = true;
        }
        Some(core) => each(bank.core(&which, core)?)?,
        None => {
            for core in bank.cores(which)? {
                each(core?)?;
            }
        }
    }
    out.finish()?;
    if !any {
        session.note("the refresh has no cores");
    }
    Ok(Outcome::Done)
}

/// Formats a core as text.
fn text(core: &CoreView) -> String {
    let mut text = String::new();
    let accuracy = core.residual.zip(core.sigma_change);
    let accuracy = accuracy.map(|(residual, change)| {
        format!(" (residual {residual:.1e}, {change:.1e} of it added by the last iteration)")
    });
    append_line!(
        text,
        "core {}{}: sigma {:.6}{}{}, density {:.2} %, {} on {}, {}, {}\n  {} {}",
        core.rank,
        if core.is_template() {
            " (page template)"
        } else {
            ""
        },
        core.sigma,
        core.sigma_bound
            .map_or_else(String::new, |bound| format!(" of at most {bound:.6}")),
        accuracy.unwrap_or_default(),
        core.density,
        counted(core.hubs.len(), "hub"),
        counted(core.hub_sites, "site"),
        counted(core.authorities.len(), "authority"),
        counted(core.edges, "link"),
        if core.gives_seed {
            "seed"
        } else {
            "no seed selected; best hub"
        },
        core.seed
    );
    for (side, pages, scores) in [
        ("hub", &core.hubs, &core.hub_scores),
        ("authority", &core.authorities, &core.authority_scores),
    ] {
        for (page, score) in pages.iter().zip(scores).take(SHOWN) {
            append_line!(text, "  {side} {score:.6} {page}");
        }
        if pages.len() > SHOWN {
            append_line!(
                text,
                "  {side}: {} more; --format jsonl prints all",
                pages.len() - SHOWN
            );
        }
    }
    text
}

/// Draws the links of a core today as text: one row per hub, one column per authority.
fn drawn(core: &CoreView, links: &CoreLinks) -> String {
    let mut text = String::new();
    append_line!(
        text,
        "core {} of refresh {}: {}, {}; {}, today {} ({} fewer)",
        links.rank,
        links.refresh,
        counted(links.hubs, "hub"),
        counted(links.authorities, "authority"),
        counted(links.edges, "link"),
        links.current_edges,
        links.lost_edges,
    );
    // Large cores are truncated, so that rows fit on a terminal.
    let columns = core.authorities.len().min(DRAWN);
    append_line!(
        text,
        "one row per hub, one column per authority; #: link in the current state, .: no link"
    );
    for (hub, to) in core.hubs.iter().zip(&links.links).take(DRAWN) {
        let mut marks = vec!['.'; columns];
        for at in to {
            if let Some(mark) = marks.get_mut(*at as usize) {
                *mark = '#';
            }
        }
        let marks = String::from_iter(marks);
        append_line!(text, "  {marks} {hub}");
    }
    for (what, all) in [
        ("hub", core.hubs.len()),
        ("authority", core.authorities.len()),
    ] {
        if all > DRAWN {
            let more = counted(all - DRAWN, what);
            append_line!(text, "  not shown: {more}; --format jsonl prints more");
        }
    }
    // The legend: columns are numbered, since URLs do not fit above them.
    for (at, authority) in core.authorities.iter().take(columns).enumerate() {
        append_line!(text, "  column {} {authority}", at + 1);
    }
    for other in &links.neighbours {
        append_line!(
            text,
            "  {} to core {}, of {}",
            counted(other.links, "link"),
            other.rank,
            other.seed
        );
    }
    text
}
