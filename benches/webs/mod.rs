//! Banks with synthetic webs, and their daily changes.
#![allow(unreachable_pub, reason = "a module of a bench")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use seedbank::engine::{Bank, IngestReport, IngestRequest, PlanOptions, RefreshReport};
use seedbank::engine::{RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::synth::{SynthOptions, Web};
use seedbank_algorithms::cores::Hits;
use seedbank_algorithms::graph::{HubGraph, Rows};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::slack::Slack;
use seedbank_store::records::PageState;
use seedbank_store::{LinkScan, Reader, tables};

/// A bank in a temporary folder.
pub struct Place {
    folder: tempfile::TempDir,
    bank: Bank,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let bank = Bank::create(
            folder.path().join("bank"),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
        Self { folder, bank }
    }

    pub fn ingest(&self, file: &Path) -> IngestReport {
        let request = IngestRequest {
            inputs: vec![Input::File(file.to_path_buf())],
            // Some days of real crawls are clean-ups.
            max_loss: 100.0,
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap()
    }

    /// Ingests lines as a delta.
    pub fn delta(&self, write: impl FnOnce(&mut dyn Write)) -> IngestReport {
        let path = self.folder.path().join("delta.jsonl");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        write(&mut file);
        file.flush().unwrap();
        let report = self.ingest(&path);
        std::fs::remove_file(path).unwrap();
        report
    }

    /// Ingests a day of a crawl, with the prefix `before` added to all host names.
    pub fn day(&self, crawl: &SynthOptions, day: u32, before: &str) -> IngestReport {
        let crawl = SynthOptions {
            days: crawl.days.max(day),
            ..crawl.clone()
        };
        let web = Web::new(&crawl).unwrap();
        self.delta(|out| {
            for line in web.day(day).unwrap().lines() {
                let line = line.unwrap().replace("://", &format!("://{before}"));
                writeln!(out, "{line}").unwrap();
            }
        })
    }

    pub fn refresh(&self, plan: &str, seeds: u32, hits: Hits, cold: bool) -> RefreshReport {
        let options = PlanOptions {
            seeds: Some(seeds),
            hits: Some(hits),
            within: Some(Slack::EXACT),
            ..PlanOptions::default()
        };
        self.refresh_by(plan, options, cold)
    }

    pub fn refresh_by(&self, plan: &str, options: PlanOptions, cold: bool) -> RefreshReport {
        let request = RefreshRequest {
            plan: Some(plan.to_owned()),
            options,
            cold,
            ..RefreshRequest::default()
        };
        self.bank.refresh(&request).unwrap()
    }

    /// Returns the seeds of the last refresh of a plan, in order.
    pub fn seeds(&self, plan: &str) -> Vec<String> {
        let which = Which {
            plan: Some(plan.to_owned()),
            refresh: None,
        };
        let seeds = self
            .bank
            .seeds(&which)
            .unwrap()
            .collect::<Result<Vec<_>, _>>()
            .unwrap();
        seeds.into_iter().map(|seed| seed.url).collect()
    }

    /// Returns whether the last refreshes of two plans have the same seeds in the same order.
    pub fn same_seeds(&self, a: &str, b: &str) -> bool {
        self.seeds(a) == self.seeds(b)
    }

    /// Returns the graph that is ranked, with pages numbered by their ids.
    pub fn graph(&self) -> HubGraph {
        let reader = Reader::open(self.bank.path()).unwrap();
        let mut live: Vec<PageId> = Vec::new();
        for entry in reader.scan(&tables::PAGES).unwrap() {
            let (page, record) = entry.unwrap();
            let is_page = matches!(record.state, PageState::Known | PageState::Crawled);
            if is_page && !record.spam {
                live.push(page);
            }
        }
        let number = |page: PageId| Some(u32::try_from(live.binary_search(&page).ok()?).unwrap());
        let mut rows = Rows::new();
        let mut links = LinkScan::new(&reader).unwrap();
        let sites = (0..reader.counters().unwrap().next_site).map(SiteId);
        let mut all = Vec::new();
        for site in sites {
            all.extend(links.carried_rows(site));
        }
        for entry in all {
            let (row, members, targets) = entry.unwrap();
            let carriers = members.pages.iter();
            let carriers = carriers.map(|index| PageId::new(row.site(), index));
            let carriers: Vec<u32> = carriers.filter_map(number).collect();
            let mut targets: Vec<u32> = targets.into_iter().filter_map(number).collect();
            targets.sort_unstable();
            rows.push(&carriers, &targets).unwrap();
        }
        rows.graph().unwrap()
    }
}

/// A web of many disconnected communities, each on its own sites.
pub struct Communities {
    pub count: u32,
}

impl Communities {
    /// Creates as many communities as have about this many crawled pages.
    pub fn with_pages(pages: u32) -> Self {
        Self {
            count: (pages / 40).max(1),
        }
    }

    /// Returns the number of crawled pages of a community: 20 to 60.
    const fn hubs(community: u32) -> u32 {
        20 + community * 37 % 41
    }

    /// Returns the number of crawled pages.
    pub fn pages(&self) -> u32 {
        (0..self.count).map(Self::hubs).sum()
    }

    /// Returns the record of a page after `version` changes. It links to about two thirds of the topic pages of
    /// its community, and every third page has the same links as the previous one.
    fn record(community: u32, hub: u32, version: u32) -> String {
        let row = hub - u32::from(hub % 3 == 2);
        let seed = u64::from(community) << 32 | u64::from(version) << 16 | u64::from(row);
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut text = format!(
            "{{\"url\":\"http://h{}.c{community}.test/{hub}\",\"outlinks\":[",
            hub % 7
        );
        let authorities = 8 + community * 11 % 17;
        let mut comma = "";
        for authority in (0..authorities).filter(|_| rng.random_bool(0.65)) {
            write!(text, "{comma}\"http://a{authority}.c{community}.test/\"").unwrap();
            comma = ",";
        }
        text + "]}\n"
    }

    /// Returns all pages.
    pub fn write(&self, out: &mut dyn Write) {
        for community in 0..self.count {
            for hub in 0..Self::hubs(community) {
                let record = Self::record(community, hub, 0);
                out.write_all(record.as_bytes()).unwrap();
            }
        }
    }

    /// Changes random pages.
    pub fn change(&self, pages: u32, version: u32, out: &mut dyn Write) {
        let mut rng = Pcg64::seed_from_u64(u64::from(version));
        let mut changed = BTreeSet::new();
        while changed.len() < pages as usize {
            let community = rng.random_range(0..self.count);
            let hub = rng.random_range(0..Self::hubs(community));
            if changed.insert((community, hub)) {
                let record = Self::record(community, hub, version);
                out.write_all(record.as_bytes()).unwrap();
            }
        }
    }
}
