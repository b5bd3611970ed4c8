//! Seeds that die from day to day, and their successors: on 30 generated days, and on a folder of daily files
//! if one is given.
//!
//! `cargo bench --bench succession [-- --pages N] [-- --seeds N] [-- --days FOLDER]`. Each day is
//! ingested and each plan refreshed. The diff with the previous day is queried on the same day,
//! because successors depend on the current state.
#![allow(
    clippy::unwrap_used,
    reason = "a bench may stop where something is wrong"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use seedbank::engine::query::{Cause, Change, DiffRequest, SeedChange};
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cores::Pick;
use seedbank_algorithms::slack::Slack;
use seedbank_store::{Reader, tables};

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|a| a != name).nth(1)
}

/// Counts of the dead seeds of a plan.
#[derive(Default)]
struct Lives {
    seeds: u32,
    kept: u32,
    /// Seeds that were gone or unlinked, became spam, or were no longer hubs.
    died: [u32; 3],
    same_core: u32,
    /// Cases in which the page with the most similar row links to an authority of the old core.
    same_community: u32,
    similar: u32,
    similarity: f64,
    succeeded: u32,
}

/// Returns the authorities of the core of a seed.
fn authorities(bank: &Bank, refresh: u32, seed: &str) -> BTreeSet<String> {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let mut found = BTreeSet::new();
    for core in bank.cores(&which).unwrap() {
        let core = core.unwrap();
        if core.seed == seed {
            found.extend(core.authorities);
        }
    }
    found
}

fn outlinks(bank: &Bank, url: &str) -> Vec<String> {
    let mut found = Vec::new();
    bank.pages::<EngineError>(|page| {
        if page.url == url {
            found = page.outlinks;
        }
        Ok(())
    })
    .unwrap();
    found
}

impl Lives {
    fn lose(&mut self, bank: &Bank, refresh: u32, seed: &SeedChange) {
        let how = match seed.cause {
            Some(Cause::Gone | Cause::Unlinked) => 0,
            Some(Cause::Spam) => 1,
            Some(Cause::NoLinks) => 2,
            _ => return,
        };
        self.died[how] += 1;
        let Some(successor) = &seed.successor else {
            return;
        };
        self.similarity += successor.similarity;
        if successor.same_core {
            self.same_core += 1;
            return;
        }
        let authorities = authorities(bank, refresh, &seed.url);
        let links = outlinks(bank, &successor.url);
        if links.iter().any(|link| authorities.contains(link)) {
            self.same_community += 1;
        } else {
            self.similar += 1;
        }
    }

    fn print(&self, plan: &str) {
        let died: u32 = self.died.iter().sum();
        let followed = self.same_core + self.same_community + self.similar;
        println!(
            "{plan:8} {:5.1} % stay; {died} died ({} gone, {} spam, {} no hub): {} same core, {} same \
             community, {} other, {} nobody, mean similarity {:.2}; {} succeeded",
            100.0 * f64::from(self.kept) / f64::from(self.seeds.max(1)),
            self.died[0],
            self.died[1],
            self.died[2],
            self.same_core,
            self.same_community,
            self.similar,
            died - followed,
            self.similarity / f64::from(followed.max(1)),
            self.succeeded,
        );
    }
}

fn plans(seeds: u32) -> [(&'static str, PlanOptions); 3] {
    let best = PlanOptions {
        seeds: Some(seeds),
        within: Some(Slack::EXACT),
        ..PlanOptions::default()
    };
    let stable = PlanOptions {
        pick: Some(Pick::Stable),
        ..best.clone()
    };
    let succeed = PlanOptions {
        succeed: Some(true),
        ..best.clone()
    };
    [("best", best), ("stable", stable), ("succeed", succeed)]
}

fn live(name: &str, days: &[PathBuf], seeds: u32) {
    let place = tempfile::tempdir().unwrap();
    let bank = Bank::create(
        place.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let mut lives: BTreeMap<&str, (Option<u32>, Lives)> = BTreeMap::new();
    for day in days {
        let request = IngestRequest {
            inputs: vec![Input::named(day.clone())],
            // Some days of real crawls are clean-ups.
            max_loss: 100.0,
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        for (plan, options) in plans(seeds) {
            let request = RefreshRequest {
                plan: Some(plan.to_owned()),
                options,
                ..RefreshRequest::default()
            };
            let now = bank.refresh(&request).unwrap().view.refresh;
            let (before, lives) = lives.entry(plan).or_default();
            if let Some(before) = before.replace(now) {
                let request = DiffRequest {
                    refreshes: vec![before, now],
                    ..DiffRequest::default()
                };
                let diff = bank.diff(&request).unwrap();
                lives.seeds += diff.summary.from.seeds;
                lives.kept += diff.summary.kept;
                for seed in &diff.seeds {
                    lives.succeeded += u32::from(seed.succeeds.is_some());
                    if seed.change == Change::Lost {
                        lives.lose(&bank, before, seed);
                    }
                }
            }
        }
    }
    println!("{name}: {} days, {seeds} seeds", days.len() - 1);
    for (plan, _) in plans(seeds) {
        lives[plan].1.print(plan);
    }
    let reader = Reader::open(bank.path()).unwrap();
    let pages = reader.scan(&tables::PAGE_HISTORY).unwrap().count();
    let rows = reader.scan(&tables::REMOVED_ROWS).unwrap().count();
    let sizes = bank.status().unwrap().tables;
    let bytes = |former: bool| -> u64 {
        let of = sizes
            .iter()
            .filter(|t| !former || t.table.starts_with("former"));
        of.map(|table| table.bytes).sum()
    };
    println!(
        "{pages} former pages, {rows} former rows: {} of {} bytes on disk",
        bytes(true),
        bytes(false)
    );
}

fn main() {
    let number = |name, default| argument(name).map_or(default, |text| text.parse().unwrap());
    let (pages, seeds) = (number("--pages", 3000), number("--seeds", 50));
    let crawl = SynthOptions {
        days: 30,
        ..SynthOptions::new(u64::from(pages))
    };
    let place = tempfile::tempdir().unwrap();
    let days: Vec<PathBuf> = (0..=30)
        .map(|day| {
            let file = place.path().join(format!("{day:03}.jsonl"));
            std::fs::write(&file, day_text(&crawl, day).unwrap()).unwrap();
            file
        })
        .collect();
    live(&format!("{pages} generated pages"), &days, seeds);
    if let Some(folder) = argument("--days") {
        let files = std::fs::read_dir(folder).unwrap();
        let mut days: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        days.sort();
        live("real pages", &days, seeds);
    }
}
