//! What pages were on every day of a crawl, from the records alone, and banks that go through such
//! days.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::banks::{cores_of, seeds_of};
use super::plans::exact_cores;
use seedbank::engine::query::CoreView;
use seedbank::engine::{Bank, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use serde_json::Value;

/// A page on one day.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    pub gone: bool,
    pub crawled: bool,
    pub spam: bool,
    pub links: BTreeSet<String>,
}

/// Pages that ever had a record, by URL, after each batch; the targets of links are in `linked`.
#[derive(Clone, Default)]
pub struct Day {
    pub pages: BTreeMap<String, Page>,
    pub linked: BTreeSet<String>,
}

pub fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}

impl Day {
    /// The day after these records. A URL has at most one record.
    pub fn next(&self, text: &str) -> Self {
        let mut day = self.clone();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let url = record["url"].as_str().unwrap().to_owned();
            let page = day.pages.entry(url.clone()).or_default();
            page.gone = record["gone"] == true;
            if page.gone {
                page.links.clear();
                page.crawled = false;
                continue;
            }
            let fields = ["outlinks", "digest", "fetched"];
            page.crawled |= fields.iter().any(|field| record.get(*field).is_some());
            if let Some(spam) = record["spam"].as_bool() {
                page.spam = spam;
            }
            if let Some(targets) = record["outlinks"].as_array() {
                let targets = targets.iter().map(|target| target.as_str().unwrap());
                let targets = targets.filter(|target| target.starts_with("http"));
                page.links = targets.map(str::to_owned).collect();
                page.links.remove(&url);
            }
        }
        let targets = day.pages.values().flat_map(|page| &page.links);
        day.linked = targets.cloned().collect();
        day
    }

    pub fn gone(&self, url: &str) -> bool {
        self.pages.get(url).is_some_and(|page| page.gone)
    }

    pub fn spam(&self, url: &str) -> bool {
        self.pages.get(url).is_some_and(|page| page.spam)
    }

    /// Known, crawled or gone.
    pub fn is_page(&self, url: &str) -> bool {
        self.pages.contains_key(url) || self.linked.contains(url)
    }

    /// Whether cores may have the page, where spam is left out.
    pub fn takes_part(&self, url: &str) -> bool {
        self.is_page(url) && !self.gone(url) && !self.spam(url)
    }

    /// Whether an inter-site link that counts goes from one page to another.
    pub fn has_link(&self, from: &str, to: &str) -> bool {
        let links = self.pages.get(from).is_some_and(|p| p.links.contains(to));
        links && host(from) != host(to) && self.takes_part(from) && self.takes_part(to)
    }

    /// Whether a page links to another site's page that takes part.
    pub fn is_hub(&self, url: &str) -> bool {
        let page = self.pages.get(url);
        page.is_some_and(|page| page.links.iter().any(|to| self.has_link(url, to)))
    }
}

/// A bank with a batch and a refresh of each plan for every day.
pub struct Life {
    _place: tempfile::TempDir,
    pub bank: Bank,
    /// The state after each batch; before the first one, an empty one.
    pub days: Vec<Day>,
    /// Refreshes by plan, one a day.
    pub refreshes: BTreeMap<&'static str, Vec<u32>>,
}

/// A plan by cores.
pub fn options(seeds: u32) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    }
}

/// The records of the first `few` real days, in order; see [`super::real_days`].
pub fn friendlinks(shared: &Path, few: usize) -> impl Iterator<Item = String> {
    let days = super::real_days(shared, few).into_iter();
    days.map(|(_, file)| super::gunzip(&file))
}

impl Life {
    /// Takes a bank through these days.
    pub fn live(
        texts: impl Iterator<Item = String>,
        plans: &[(&'static str, PlanOptions)],
    ) -> Self {
        Self::lived(texts, plans, |_| {})
    }

    /// Takes a bank through these days, and hands it to `each` at the end of each one.
    pub fn lived(
        texts: impl Iterator<Item = String>,
        plans: &[(&'static str, PlanOptions)],
        mut each: impl FnMut(&Self),
    ) -> Self {
        let place = super::scratch();
        let bank = Bank::create(
            place.path().join("bank"),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
        let file = place.path().join("day.jsonl");
        let mut life = Self {
            _place: place,
            bank,
            days: vec![Day::default()],
            refreshes: BTreeMap::new(),
        };
        for text in texts {
            std::fs::write(&file, &text).unwrap();
            let request = IngestRequest {
                inputs: vec![Input::File(file.clone())],
                // Some days are clean-ups.
                max_loss: 100.0,
                ..IngestRequest::default()
            };
            life.bank.ingest(&request).unwrap();
            let day = life.days.last().unwrap().next(&text);
            life.days.push(day);
            for (plan, options) in plans {
                let request = RefreshRequest {
                    plan: Some((*plan).to_owned()),
                    options: exact_cores(options.clone()),
                    ..RefreshRequest::default()
                };
                let report = life.bank.refresh(&request).unwrap();
                assert_eq!(report.view.batch as usize + 1, life.days.len());
                life.refreshes
                    .entry(plan)
                    .or_default()
                    .push(report.view.refresh);
            }
            each(&life);
        }
        life
    }
}

/// What a refresh printed.
pub struct Printed {
    /// The batch that it ran after, which is the index of the day in [`Life::days`].
    pub batch: usize,
    pub seeds: Vec<String>,
    pub cores: Vec<CoreView>,
    /// How many seeds it was to have.
    pub asked: usize,
}

impl Printed {
    pub fn of(bank: &Bank, refresh: u32, batch: usize, asked: usize) -> Self {
        let which = Which {
            plan: None,
            refresh: Some(refresh),
        };
        let cores = cores_of(bank, &which);
        let seeds = seeds_of(bank, &which);
        Self {
            batch,
            seeds: seeds.into_iter().map(|seed| seed.url).collect(),
            cores,
            asked,
        }
    }

    /// The core that a page is in, as a hub or as an authority.
    pub fn core_of(&self, url: &str, hubs: bool) -> Option<&CoreView> {
        self.cores.iter().find(|core| {
            let pages = if hubs { &core.hubs } else { &core.authorities };
            pages.iter().any(|page| page == url)
        })
    }

    pub fn core_with(&self, url: &str) -> Option<&CoreView> {
        self.core_of(url, true).or(self.core_of(url, false))
    }
}
