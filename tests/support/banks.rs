//! Banks for tests: in a folder of their own, filled from files or text.

use std::path::{Path, PathBuf};

use super::plans::exact_cores;
use seedbank::engine::ingest::Format;
use seedbank::engine::plan::Method;
use seedbank::engine::query::{CoreView, Evidence, Seed};
use seedbank::engine::{Bank, IngestRequest, PlanOptions, RefreshReport, RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};

use super::model::assert_clean;

/// All seeds of a refresh.
pub fn seeds_of(bank: &Bank, which: impl Into<Which>) -> Vec<Seed> {
    let seeds = bank.seeds(which).unwrap();
    seeds.collect::<Result<_, _>>().unwrap()
}

/// All cores of a refresh.
pub fn cores_of(bank: &Bank, which: impl Into<Which>) -> Vec<CoreView> {
    let cores = bank.cores(which).unwrap();
    cores.collect::<Result<_, _>>().unwrap()
}

/// A bank that is removed at the end of the test.
pub struct TestBank {
    folder: tempfile::TempDir,
    pub bank: Bank,
}

impl TestBank {
    pub fn new() -> Self {
        let folder = super::scratch();
        let bank = Bank::create(
            folder.path().join("bank"),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
        Self { folder, bank }
    }

    /// A bank with one of the real graphs.
    pub fn real(shared: &Path, name: &str) -> Self {
        let bank = Self::new();
        let folder = shared.join("data").join(name);
        let crawl = folder.join("crawl.jsonl.gz");
        if crawl.exists() {
            bank.ingest(crawl, Format::JsonLines);
        } else {
            let pages = Some(Input::File(folder.join("pages.tsv.gz")));
            bank.ingest(folder.join("links.tsv.gz"), Format::Links { pages });
        }
        bank
    }

    fn ingest(&self, file: PathBuf, format: Format) {
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            format,
            // Models read all links of the real graphs.
            allow_private: true,
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap();
    }

    /// Ingests records of pages and of sites, both as JSON Lines, as one delta.
    pub fn delta_with_sites(&self, lines: &str, sites: &str) {
        if sites.is_empty() {
            return self.delta(lines);
        }
        let file = |name: &str, text: &str| {
            let file = self.folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            Input::File(file)
        };
        let request = IngestRequest {
            inputs: vec![file("delta.jsonl", lines)],
            sites: Some(file("sites.jsonl", sites)),
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap();
    }

    /// Ingests JSON Lines as a delta.
    pub fn delta(&self, lines: &str) {
        let file = self.folder.path().join("delta.jsonl");
        std::fs::write(&file, lines).unwrap();
        self.ingest(file, Format::JsonLines);
    }

    /// Ingests the records of a day of a real crawl as a delta; some days are clean-ups.
    pub fn day(&self, lines: &str) {
        let file = self.folder.path().join("day.jsonl");
        std::fs::write(&file, lines).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            max_loss: 100.0,
            allow_private: true,
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap();
    }

    /// Refreshes a plan; a new one without a method is of exact cores.
    pub fn refresh(&self, plan: &str, options: &PlanOptions, cold: bool) -> RefreshReport {
        let mut options = options.clone();
        if self.bank.plan(plan).is_err() {
            if options == PlanOptions::default() {
                options.method = Some(Method::Cores);
            }
            options = exact_cores(options);
        }
        let request = RefreshRequest {
            plan: Some(plan.to_owned()),
            options,
            cold,
            ..RefreshRequest::default()
        };
        self.bank.refresh(&request).unwrap()
    }

    /// Replaces the parameters of a plan, and refreshes it.
    pub fn replace(&self, plan: &str, options: &PlanOptions) -> RefreshReport {
        let request = RefreshRequest {
            plan: Some(plan.to_owned()),
            options: exact_cores(options.clone()),
            replace: true,
            ..RefreshRequest::default()
        };
        self.bank.refresh(&request).unwrap()
    }

    /// The seeds of a plan's last refresh.
    pub fn seeds(&self, plan: &str) -> Vec<Seed> {
        seeds_of(&self.bank, plan)
    }

    /// The seeds of a plan's last refresh, without the names of the plan and its refreshes.
    pub fn bare_seeds(&self, plan: &str) -> Vec<(u32, String, Evidence)> {
        let bare = self.seeds(plan).into_iter().map(|seed| {
            let mut evidence = seed.evidence;
            if let Evidence::Cover { since, .. } = &mut evidence {
                *since = 0;
            }
            (seed.rank, seed.url, evidence)
        });
        bare.collect()
    }

    #[track_caller]
    pub fn is_sound(&self) {
        assert_clean(&self.bank);
    }
}
