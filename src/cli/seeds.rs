//! `seeds`: prints seeds in the formats that crawlers read.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::answers::{SeedFormat, dated_verdict, split_seeds, write_seeds};
use seedbank::display::{counted, is_or_are};
use seedbank::engine::query::Seed;
use seedbank::engine::{Bank, EngineError};

use super::failure::CliError;
use super::output::{AtomicFile, Destination, Output, parquet_to, persist_all};
use super::session::{Outcome, Session};
use super::values::{WhichArgs, integer, named};

const EXAMPLES: &str = "\
Examples:
  seedbank seeds bank                              one URL per line, best first
  seedbank seeds bank --plan dense --format jsonl  with the evidence for each seed
  seedbank seeds bank --refresh 3 --format csv
  seedbank seeds bank --alive                      without seeds that have died since the refresh
  seedbank seeds bank --limit 20                   the best 20
  seedbank seeds bank --format nutch --out urls/seeds.txt
  seedbank seeds bank --out seeds.txt --if-changed
                                                   exit status 5 if seeds.txt already has this list
  seedbank seeds bank --out urls.txt --split 4     urls-1.txt to urls-4.txt, each with whole sites
  seedbank seeds bank --format heritrix > job/seeds.txt
  seedbank seeds bank --format parquet --out seeds.parquet";

/// Print the seeds of a refresh, best first
///
/// With method cores, seeds are in the order of the cores. With other methods, the first seed of every
/// site comes first, then the second of every site, and so on; within each round, seeds are ordered by
/// the value that they cover (ties by site name). Any beginning of the list is therefore a good list.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SeedsArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Omit dead seeds: pages that are gone or no longer pages in the bank's last state
    ///
    /// The other seeds keep their ranks.
    #[arg(long)]
    alive: bool,
    /// Print only the best N seeds, after --alive is applied
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX))]
    limit: Option<u32>,
    /// Write to this file or address, which is replaced only when the output is complete
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write N files, for as many crawlers: seeds-1.txt to seeds-N.txt for --out seeds.txt
    ///
    /// All seeds of a site are in the same file, each file is in the order of the list, and all files are put
    /// in place together.
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=256), requires = "out", conflicts_with = "if_changed")]
    split: Option<u32>,
    /// Write the list only if it has changed; otherwise say so and exit with status 5
    ///
    /// With --out, the list has changed if the existing file differs in any byte; an unchanged file is not
    /// touched. (Formats that contain the refresh number change with every refresh; text does not.) Without
    /// --out, the list has changed if its pages or their order differ from the plan's previous refresh, or
    /// if no previous refresh is stored.
    #[arg(long)]
    if_changed: bool,
    /// Output format
    #[arg(long, value_parser = named(SeedFormat::VALUES), default_value_t, env = "SEEDBANK_FORMAT")]
    format: SeedFormat,
}

pub(super) fn run(args: SeedsArgs, session: &Session) -> Result<Outcome, CliError> {
    if args.format == SeedFormat::Parquet {
        parquet_to(args.out.as_deref())?;
    }
    let bank = session.bank(&args.bank);
    if session.is_verbose() {
        note_verdict(&bank, &args, session)?;
    }
    // Several files are put in place together, so they do not share the path below.
    if let (Some(parts), Some(out)) = (args.split, &args.out) {
        if out.as_os_str() == "-" {
            let text = "--split writes files; use --out with the name of a file";
            return Err(CliError::Usage(text.to_owned()));
        }
        let (seeds, all) = chosen(all_seeds(&bank, &args)?, &args, session);
        return split(&seeds, all, parts, out, &args);
    }
    let out = Output::to(args.out.as_deref(), &args.bank)?;
    if !args.if_changed {
        let seeds = all_seeds(&bank, &args)?;
        write(seeds, &args, out, session)?.finish()?;
        return Ok(Outcome::Done);
    }
    // The bytes of the file decide, since crawlers read the file and not the bank.
    if out.is_to_file() {
        let seeds = all_seeds(&bank, &args)?;
        if write(seeds, &args, out, session)?.finish_if_changed()? {
            return Ok(Outcome::Done);
        }
        let file = args.out.unwrap_or_default();
        session.note(format_args!(
            "nothing changed: {} already has this list",
            file.display()
        ));
        return Ok(Outcome::Nothing);
    }
    if args.alive {
        return Err(CliError::Usage(
            "--if-changed with --alive requires --out FILE, since the bank does not store which seeds were alive last time"
                .to_owned(),
        ));
    }
    // Without a file, compare with the previous refresh of the plan.
    let list = bank.seeds_with_previous(args.which.clone())?;
    match &list.previous {
        Some(previous) if list.is_unchanged(args.limit.map(|limit| limit as usize)) => {
            session.note(format_args!(
                "nothing changed: refresh {} of plan {} has the same list as refresh {}",
                list.refresh, list.plan, previous.refresh
            ));
            return Ok(Outcome::Nothing);
        }
        Some(_) => {}
        None => session.note(format_args!(
            "plan {} has no earlier refresh to compare refresh {} with",
            list.plan, list.refresh
        )),
    }
    write(list.seeds, &args, out, session)?.finish()?;
    Ok(Outcome::Done)
}

/// Prints how the plan's list compares with baselines, if that is known.
fn note_verdict(bank: &Bank, args: &SeedsArgs, session: &Session) -> Result<(), CliError> {
    let list = bank.seeds_with_previous(args.which.clone())?;
    let plan = bank.plan(&list.plan)?;
    match &plan.summary.parameters.judged {
        Some(verdict) => session.note(format_args!(
            "plan {} {}",
            list.plan,
            dated_verdict(verdict)
        )),
        None => session.note(format_args!(
            "plan {} has not been compared with baselines; `refresh --judge` does it",
            list.plan
        )),
    }
    Ok(())
}

fn all_seeds(bank: &Bank, args: &SeedsArgs) -> Result<Vec<Seed>, EngineError> {
    bank.seeds(args.which.clone())?.collect()
}

/// Writes the list as the arguments say; the caller must finish the returned output.
fn write(
    seeds: Vec<Seed>,
    args: &SeedsArgs,
    mut out: Output,
    session: &Session,
) -> Result<Output, CliError> {
    let (seeds, all) = chosen(seeds, args, session);
    let failed = out.failed();
    write_seeds(&mut out, &seeds, all, args.format).map_err(failed)?;
    Ok(out)
}

/// Writes the parts of a list to one file each.
fn split(
    seeds: &[Seed],
    all: usize,
    parts: u32,
    out: &Path,
    args: &SeedsArgs,
) -> Result<Outcome, CliError> {
    let mut files = Vec::new();
    for (number, part) in (1..).zip(split_seeds(seeds, parts as usize)) {
        let destination = Destination::new("--out", &numbered(out, number), &args.bank)?;
        let mut file = AtomicFile::new(destination)?;
        let failed = file.failed();
        let mut list = Vec::new();
        write_seeds(&mut list, &part, all, args.format).map_err(&failed)?;
        file.write_all(&list).map_err(failed)?;
        files.push(file);
    }
    persist_all(files)?;
    Ok(Outcome::Done)
}

/// Returns the name of a part: its number is inserted before the extension.
fn numbered(out: &Path, number: u32) -> PathBuf {
    let stem = out.file_stem().unwrap_or_default().to_os_string();
    let mut name = stem;
    name.push(format!("-{number}"));
    if let Some(ending) = out.extension() {
        name.push(".");
        name.push(ending);
    }
    out.with_file_name(name)
}

/// Returns the requested seeds, and the length of the whole list.
fn chosen(mut seeds: Vec<Seed>, args: &SeedsArgs, session: &Session) -> (Vec<Seed>, usize) {
    let all = seeds.len();
    let dead = seeds.iter().filter(|seed| !seed.alive).count();
    if args.alive {
        seeds.retain(|seed| seed.alive);
    }
    if dead > 0 {
        let advice = if args.alive {
            "omitted; refresh the plan to replace them"
        } else {
            "refresh the plan, or omit them with --alive"
        };
        session.warn(format_args!(
            "{dead} of {} {} dead: gone or no longer a page ({advice})",
            counted(all, "seed"),
            is_or_are(&dead)
        ));
    }
    if let Some(limit) = args.limit {
        seeds.truncate(limit as usize);
    }
    (seeds, all)
}
