//! `seeds`: the seed list, in the formats that crawlers read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::engine::{Bank, ByPolicy, Evidence, Seed};
use seedbank::shown::{are, counted};

use super::failure::CliError;
use super::output::Output;
use super::session::{Outcome, Session};
use super::table::quoted;
use super::values::{WhichArgs, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank seeds bank                              one URL a line, best first
  seedbank seeds bank --plan dense --format jsonl  with the evidence
  seedbank seeds bank --refresh 3 --format csv
  seedbank seeds bank --alive                      without those that died since the refresh
  seedbank seeds bank --limit 20                   the best 20
  seedbank seeds bank --format nutch --out urls/seeds.txt
  seedbank seeds bank --out seeds.txt --if-changed status 5 where seeds.txt has this list already
  seedbank seeds bank --format heritrix > job/seeds.txt";

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
    /// Print only where the list is another one; else say so, and end with status 5
    ///
    /// With --out it is another one where the file that is there does not hold the very bytes that
    /// would be written; it stays untouched where it does. (Formats that name the refresh are others
    /// after every refresh; text is not.) Without --out it is another one where it has not the same
    /// pages in the same order as the plan's refresh before, or none before is kept.
    #[arg(long)]
    if_changed: bool,
    /// How the seeds are printed
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_FORMAT")]
    format: SeedFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum SeedFormat {
    /// One URL a line
    #[default]
    Text,
    /// One JSON object a line, with the evidence; its JSON Schema is schema/seeds.schema.json
    #[value(alias = "json")]
    Jsonl,
    /// Comma-separated values (RFC 4180) with a header
    Csv,
    /// URL and key=value fields with tabs between: what Apache Nutch injects and Apache
    /// StormCrawler reads
    Nutch,
    /// The seeds.txt of Heritrix: URLs with comments
    Heritrix,
}

pub(super) fn run(args: SeedsArgs, session: &Session) -> Result<Outcome, CliError> {
    let out = Output::to(args.out.as_deref(), &args.bank)?;
    let bank = Bank::at(&args.bank);
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
    mut seeds: Vec<Seed>,
    args: &SeedsArgs,
    mut out: Output,
    session: &Session,
) -> Result<Output, CliError> {
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
    if args.format == SeedFormat::Csv {
        out.text(CSV_HEADER)?;
    }
    if args.format == SeedFormat::Heritrix
        && let Some(seed) = seeds.first()
    {
        out.line(&format!(
            "# {} of seedbank plan {}, method {}, refresh {}",
            counted(seeds.len(), "seed"),
            seed.plan,
            seed.method,
            seed.refresh
        ))?;
    }
    for seed in &seeds {
        match args.format {
            SeedFormat::Text => out.line(&seed.url)?,
            SeedFormat::Jsonl => out.json(seed)?,
            SeedFormat::Csv => out.text(&csv_line(seed))?,
            SeedFormat::Nutch => out.line(&nutch_line(seed, all))?,
            SeedFormat::Heritrix => out.line(&heritrix_line(seed))?,
        }
    }
    Ok(out)
}

/// The columns, the same for every method, so that a reader need not know which one it was.
const CSV_HEADER: &str = "rank,url,site,method,plan,refresh,core,sigma,hub_score,\
    gain,covered_pages,covered_value,pick,since,seats,by_policy\r\n";

fn csv_line(seed: &Seed) -> String {
    let mut fields = vec![
        seed.rank.to_string(),
        quoted(&seed.url),
        quoted(&seed.site),
        quoted(seed.method.name()),
        quoted(&seed.plan),
        seed.refresh.to_string(),
    ];
    let none = String::new;
    match &seed.evidence {
        Evidence::Core {
            core,
            sigma,
            hub_score,
        } => {
            fields.extend([core.to_string(), sigma.to_string(), hub_score.to_string()]);
            fields.extend([none(), none(), none(), none(), none(), none()]);
        }
        Evidence::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
            seats,
        } => {
            fields.extend([none(), none(), none()]);
            fields.extend([
                gain.map_or_else(none, |gain| gain.to_string()),
                covered_pages.to_string(),
                covered_value.to_string(),
                pick.to_string(),
                since.to_string(),
                seats.map_or_else(none, |seats| seats.to_string()),
            ]);
        }
        Evidence::ByPolicy {} => fields.extend(std::iter::repeat_with(none).take(9)),
    }
    fields.push(by_policy(seed).to_owned());
    fields.join(",") + "\r\n"
}

/// The policy that has a seed on the list; empty where none does.
const fn by_policy(seed: &Seed) -> &'static str {
    match seed.by_policy {
        Some(ByPolicy::Pin) => "pin",
        Some(ByPolicy::MaxChanges) => "max-changes",
        None => "",
    }
}

/// The evidence under the names that JSON Lines use.
fn evidence(evidence: &Evidence) -> Vec<(&'static str, String)> {
    match evidence {
        Evidence::Core {
            core,
            sigma,
            hub_score,
        } => vec![
            ("core", core.to_string()),
            ("sigma", sigma.to_string()),
            ("hub_score", hub_score.to_string()),
        ],
        Evidence::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
            seats,
        } => {
            let mut pairs = Vec::new();
            pairs.extend(gain.map(|gain| ("gain", gain.to_string())));
            pairs.extend([
                ("covered_pages", covered_pages.to_string()),
                ("covered_value", covered_value.to_string()),
                ("pick", pick.to_string()),
                ("since", since.to_string()),
            ]);
            pairs.extend(seats.map(|seats| ("seats", seats.to_string())));
            pairs
        }
        Evidence::ByPolicy {} => Vec::new(),
    }
}

/// A line for the injector of Nutch: metadata as key=value, with tabs between.
///
/// Scores of different cores or sites cannot be compared, so `nutch.score` follows the rank
/// alone: from 1 down in equal steps, and never 0, which Nutch would take for worthless.
fn nutch_line(seed: &Seed, seeds: usize) -> String {
    let better = f64::from(seed.rank.saturating_sub(1));
    let score = 1.0 - better / (seeds as f64).max(better + 1.0);
    let mut fields = vec![
        ("seed.rank", seed.rank.to_string()),
        ("seed.plan", seed.plan.clone()),
        ("seed.method", seed.method.name().to_owned()),
        ("seed.refresh", seed.refresh.to_string()),
    ];
    fields.extend(
        evidence(&seed.evidence)
            .into_iter()
            .map(|(name, value)| match name {
                "core" => ("seed.core", value),
                "sigma" => ("seed.sigma", value),
                "hub_score" => ("seed.hub_score", value),
                "gain" => ("seed.gain", value),
                "covered_pages" => ("seed.covered_pages", value),
                "covered_value" => ("seed.covered_value", value),
                "pick" => ("seed.pick", value),
                "since" => ("seed.since", value),
                _ => ("seed.seats", value),
            }),
    );
    fields.push(("nutch.score", format!("{score}")));
    let mut line = seed.url.clone();
    for (name, value) in fields {
        line.push('\t');
        line.push_str(name);
        line.push('=');
        line.push_str(&value);
    }
    line
}

/// A line of Heritrix's seeds.txt, which may end in a comment.
fn heritrix_line(seed: &Seed) -> String {
    let mut line = format!("{} # rank {}", seed.url, seed.rank);
    for (name, value) in evidence(&seed.evidence) {
        line.push_str(", ");
        line.push_str(name);
        line.push(' ');
        line.push_str(&value);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank::engine::{CoverMethod, Method};

    fn cover(rank: u32, seats: Option<u32>) -> Seed {
        Seed {
            rank,
            url: "http://a.example/?q=1,2".to_owned(),
            site: "a.example".to_owned(),
            method: Method::Cover(CoverMethod::MaxWeight),
            plan: "weekly".to_owned(),
            refresh: 7,
            alive: true,
            by_policy: None,
            evidence: Evidence::Cover {
                gain: Some(12.5),
                covered_pages: 3,
                covered_value: -0.25,
                pick: 2,
                since: 6,
                seats,
            },
            succeeds: None,
        }
    }

    #[test]
    fn cover_seeds_fill_their_own_columns() {
        assert_eq!(
            csv_line(&cover(1, Some(4))),
            "1,\"http://a.example/?q=1,2\",a.example,max-weight,weekly,7,,,,12.5,3,-0.25,2,6,4,\r\n"
        );
        for line in [
            CSV_HEADER.to_owned(),
            csv_line(&cover(1, None)).replace("1,2", "12"),
        ] {
            assert_eq!(line.matches(',').count(), 15, "{line}");
        }
        assert_eq!(
            heritrix_line(&cover(2, None)),
            "http://a.example/?q=1,2 # rank 2, gain 12.5, covered_pages 3, covered_value -0.25, \
             pick 2, since 6"
        );
        assert_eq!(
            nutch_line(&cover(2, Some(4)), 2),
            "http://a.example/?q=1,2\tseed.rank=2\tseed.plan=weekly\tseed.method=max-weight\t\
             seed.refresh=7\tseed.gain=12.5\tseed.covered_pages=3\tseed.covered_value=-0.25\t\
             seed.pick=2\tseed.since=6\tseed.seats=4\tnutch.score=0.5"
        );
    }

    #[test]
    fn a_nutch_score_is_above_0_and_falls() {
        let mut last = f32::INFINITY;
        for rank in 1..=1000 {
            let line = nutch_line(&cover(rank, None), 1000);
            let (_, score) = line.rsplit_once("nutch.score=").unwrap();
            let score: f32 = score.parse().unwrap();
            assert!(score > 0.0 && score < last, "{line}");
            last = score;
        }
    }
}
