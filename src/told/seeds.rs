//! Seed lists in the formats that crawlers read.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use crate::engine::{ByPolicy, Evidence, Seed};
use crate::shown::{counted, quoted};

/// How a seed list is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SeedFormat {
    /// One URL a line.
    #[default]
    Text,
    /// One JSON object a line, with the evidence; its JSON Schema is `schema/seeds.schema.json`.
    Jsonl,
    /// Comma-separated values (RFC 4180) with a header.
    Csv,
    /// URL and `key=value` fields with tabs between: what Apache Nutch injects and Apache StormCrawler
    /// reads.
    Nutch,
    /// The `seeds.txt` of Heritrix: URLs with comments.
    Heritrix,
}

impl SeedFormat {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Self; 5] = [
        Self::Text,
        Self::Jsonl,
        Self::Csv,
        Self::Nutch,
        Self::Heritrix,
    ];

    /// Its name, as it is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Nutch => "nutch",
            Self::Heritrix => "heritrix",
        }
    }
}

impl Display for SeedFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes a list, or a part of one of `all` seeds.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::told::{SeedFormat, write_seeds};
///
/// let seeds = bank.seeds(&Which::default())?;
/// let mut list = Vec::new();
/// write_seeds(&mut list, &seeds, seeds.len(), SeedFormat::Text)?;
/// assert_eq!(list, b"http://a.example/\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_seeds(
    mut out: impl Write,
    seeds: &[Seed],
    all: usize,
    format: SeedFormat,
) -> io::Result<()> {
    match (format, seeds.first()) {
        (SeedFormat::Csv, _) => out.write_all(CSV_HEADER.as_bytes())?,
        (SeedFormat::Heritrix, Some(seed)) => writeln!(
            out,
            "# {} of seedbank plan {}, method {}, refresh {}",
            counted(seeds.len(), "seed"),
            seed.plan,
            seed.method,
            seed.refresh
        )?,
        _ => {}
    }
    for seed in seeds {
        match format {
            SeedFormat::Text => writeln!(out, "{}", seed.url)?,
            SeedFormat::Jsonl => writeln!(out, "{}", serde_json::to_string(seed)?)?,
            SeedFormat::Csv => out.write_all(csv_line(seed).as_bytes())?,
            SeedFormat::Nutch => writeln!(out, "{}", nutch_line(seed, all))?,
            SeedFormat::Heritrix => writeln!(out, "{}", heritrix_line(seed))?,
        }
    }
    Ok(())
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
    use crate::engine::{CoverMethod, Method};

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
