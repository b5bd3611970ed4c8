//! `seeds`: the seed list, in the formats that crawlers read.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Bank, Seed};
use seedbank::shown::{are, counted};
use seedbank::told::{SeedFormat, split_seeds, write_seeds};

use super::failure::CliError;
use super::out_file::{OutFile, Spot, complete};
use super::output::{Output, parquet_to};
use super::session::{Outcome, Session};
use super::values::{WhichArgs, named, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank seeds bank                              one URL a line, best first
  seedbank seeds bank --plan dense --format jsonl  with the evidence
  seedbank seeds bank --refresh 3 --format csv
  seedbank seeds bank --alive                      without those that died since the refresh
  seedbank seeds bank --limit 20                   the best 20
  seedbank seeds bank --format nutch --out urls/seeds.txt
  seedbank seeds bank --out seeds.txt --if-changed status 5 where seeds.txt has this list already
  seedbank seeds bank --out urls.txt --split 4     urls-1.txt to urls-4.txt, whole sites each
  seedbank seeds bank --format heritrix > job/seeds.txt
  seedbank seeds bank --format parquet --out seeds.parquet";

/// Print the seeds of a refresh, best first
///
/// By cores in the order of the cores. By the other methods first the first pick of every site,
/// then the second ones, and so on, each round by the value that the seeds cover (ties by site
/// name): so any head of the list is a good list.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SeedsArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Leave out dead seeds: pages that are gone, or no page any more, at the bank's last state. The
    /// others keep their ranks
    #[arg(long)]
    alive: bool,
    /// Print the best N, of those that are alive with --alive
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=u32::MAX))]
    limit: Option<u32>,
    /// Write to a file, which is replaced only once all is written
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write N files in place of one, for as many crawlers: with --out seeds.txt seeds-1.txt to
    /// seeds-N.txt
    ///
    /// The seeds of a site are in one of them, each is in the order of the list, and all are put in place
    /// together.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=256), requires = "out", conflicts_with = "if_changed")]
    split: Option<u32>,
    /// Print only where the list is another one; else say so, and end with status 5
    ///
    /// With --out it is another one where the file that is there does not hold the very bytes that
    /// would be written; it stays untouched where it does. (Formats that name the refresh are others
    /// after every refresh; text is not.) Without --out it is another one where it has not the same
    /// pages in the same order as the plan's refresh before, or none before is kept.
    #[arg(long)]
    if_changed: bool,
    /// How the seeds are printed
    #[arg(long, value_parser = named(SeedFormat::NAMED), default_value_t, env = "SEEDBANK_FORMAT")]
    format: SeedFormat,
}

pub(super) fn run(args: SeedsArgs, session: &Session) -> Result<Outcome, CliError> {
    if args.format == SeedFormat::Parquet {
        parquet_to(args.out.as_deref())?;
    }
    let bank = Bank::at(&args.bank);
    if let (Some(parts), Some(out)) = (args.split, &args.out) {
        if out.as_os_str() == "-" {
            let text = "--split writes files; give --out the name of a file";
            return Err(CliError::Usage(text.to_owned()));
        }
        let (seeds, all) = chosen(bank.seeds(&args.which.clone().into())?, &args, session);
        return split(&seeds, all, (parts, out), &args);
    }
    let out = Output::to(args.out.as_deref(), &args.bank)?;
    if !args.if_changed {
        let seeds = bank.seeds(&args.which.clone().into())?;
        write(seeds, &args, out, session)?.finish()?;
        return Ok(Outcome::Done);
    }
    if out.is_to_file() {
        let seeds = bank.seeds(&args.which.clone().into())?;
        if write(seeds, &args, out, session)?.finish_if_other()? {
            return Ok(Outcome::Done);
        }
        let file = args.out.unwrap_or_default();
        session.note(format_args!(
            "nothing changed: {} has this list already",
            file.display()
        ));
        return Ok(Outcome::Nothing);
    }
    if args.alive {
        return Err(CliError::Usage(
            "--if-changed with --alive compares with a file, since nobody keeps which seeds were alive the last time; give --out FILE"
                .to_owned(),
        ));
    }
    let list = bank.seeds_and_earlier(&args.which.clone().into())?;
    match &list.earlier {
        Some(earlier) if list.is_same(args.limit.map(|limit| limit as usize)) => {
            session.note(format_args!(
                "nothing changed: refresh {} of plan {} has the list of refresh {}",
                list.refresh, list.plan, earlier.refresh
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

/// Writes the list as the arguments say; what comes back is still to be finished.
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

/// Writes the parts of a list, each to a file of its own.
fn split(
    seeds: &[Seed],
    all: usize,
    (parts, out): (u32, &Path),
    args: &SeedsArgs,
) -> Result<Outcome, CliError> {
    let mut files = Vec::new();
    for (number, part) in (1..).zip(split_seeds(seeds, parts as usize)) {
        let spot = Spot::new("--out", &numbered(out, number), &args.bank)?;
        let mut file = OutFile::new(spot)?;
        let failed = file.failed();
        let mut list = Vec::new();
        write_seeds(&mut list, &part, all, args.format).map_err(&failed)?;
        file.write_all(&list).map_err(failed)?;
        files.push(file);
    }
    complete(files)?;
    Ok(Outcome::Done)
}

/// The name of a part: its number stands before what the name ends in.
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

/// The seeds of a list that are asked for, and how many the list has.
fn chosen(mut seeds: Vec<Seed>, args: &SeedsArgs, session: &Session) -> (Vec<Seed>, usize) {
    let all = seeds.len();
    let dead = seeds.iter().filter(|seed| !seed.alive).count();
    if args.alive {
        seeds.retain(|seed| seed.alive);
    }
    if dead > 0 {
        let way = if args.alive {
            "left out; refresh the plan for others in their place"
        } else {
            "refresh the plan; --alive leaves them out"
        };
        session.warn(format_args!(
            "{dead} of {} {} dead: gone or no page any more ({way})",
            counted(all, "seed"),
            are(&dead)
        ));
    }
    if let Some(limit) = args.limit {
        seeds.truncate(limit as usize);
    }
    (seeds, all)
}
