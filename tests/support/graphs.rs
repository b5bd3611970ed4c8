//! The real graphs as a plain model: records applied one by one to a map, no database.

use std::collections::BTreeMap;
use std::path::Path;

use seedbank_algorithms::graph::{HubGraph, Rows};
use serde_json::Value;

use super::gunzip;

/// What a crawl knows, by URL, so that pages come in URL byte order.
#[derive(Clone, Debug, Default)]
pub struct Web {
    pub pages: BTreeMap<String, Page>,
}

/// One page of a [`Web`].
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub crawled: bool,
    pub gone: bool,
    pub spam: bool,
    pub clicks: u64,
    pub uncrawled_outlinks: Option<u64>,
    pub digest: Option<String>,
    pub outlinks: Vec<String>,
}

impl Web {
    /// The graph in a folder of the data: `crawl.jsonl.gz`, or `links.tsv.gz` and `pages.tsv.gz`.
    pub fn load(folder: &Path) -> Self {
        let mut web = Self::default();
        let crawl = folder.join("crawl.jsonl.gz");
        if crawl.exists() {
            web.apply(&gunzip(&crawl));
        } else {
            web.apply_links(&gunzip(&folder.join("links.tsv.gz")));
            web.apply_pages(&gunzip(&folder.join("pages.tsv.gz")));
        }
        web
    }

    fn page(&mut self, url: &str) -> &mut Page {
        if !self.pages.contains_key(url) {
            self.pages.insert(url.to_owned(), Page::default());
        }
        self.pages.get_mut(url).unwrap()
    }

    /// Applies JSON Lines as a delta.
    pub fn apply(&mut self, lines: &str) {
        for line in lines.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            self.record(&record);
        }
    }

    fn record(&mut self, record: &Value) {
        let page = self.page(record["url"].as_str().unwrap());
        if record["gone"] == true {
            page.gone = true;
            page.outlinks.clear();
            return;
        }
        page.gone = false;
        if ["outlinks", "digest", "fetched"]
            .iter()
            .any(|field| record.get(field).is_some())
        {
            page.crawled = true;
        }
        if let Some(spam) = record["spam"].as_bool() {
            page.spam = spam;
        }
        if let Some(clicks) = record["clicks"].as_u64() {
            page.clicks = clicks;
        }
        if let Some(given) = record.get("uncrawled_outlinks") {
            page.uncrawled_outlinks = given.as_u64();
        }
        if let Some(digest) = record["digest"].as_str() {
            page.digest = Some(digest.to_owned());
        }
        if let Some(outlinks) = record["outlinks"].as_array() {
            let outlinks: Vec<String> = outlinks
                .iter()
                .map(|url| url.as_str().unwrap().to_owned())
                .collect();
            page.outlinks.clone_from(&outlinks);
            for url in outlinks {
                self.page(&url);
            }
        }
    }

    /// Applies links as TSV: every page named counts as crawled.
    pub fn apply_links(&mut self, lines: &str) {
        for line in lines.lines() {
            let (from, to) = line.split_once('\t').unwrap();
            self.page(to).crawled = true;
            let page = self.page(from);
            page.crawled = true;
            page.outlinks.push(to.to_owned());
        }
    }

    /// Applies a pages TSV.
    pub fn apply_pages(&mut self, lines: &str) {
        for line in lines.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let page = self.page(fields[0]);
            page.crawled = true;
            page.spam = fields
                .get(1)
                .is_some_and(|spam| *spam == "1" || *spam == "true");
            page.clicks = fields.get(2).map_or(0, |clicks| clicks.parse().unwrap());
        }
    }

    /// All URLs; a page's number is its index.
    pub fn urls(&self) -> Vec<&str> {
        self.pages.keys().map(String::as_str).collect()
    }

    /// The host-pruned graph.
    pub fn hub_graph(&self, keep_spam: bool, crawled_only: bool) -> HubGraph {
        let numbers: BTreeMap<&str, u32> = self.pages.keys().map(String::as_str).zip(0..).collect();
        let hosts: Vec<String> = self
            .pages
            .keys()
            .map(|url| url::Url::parse(url).unwrap().host_str().unwrap().to_owned())
            .collect();
        let counts = |page: &Page| {
            !page.gone && (keep_spam || !page.spam) && (!crawled_only || page.crawled)
        };
        let live: Vec<bool> = self.pages.values().map(counts).collect();
        let mut rows = Rows::new();
        for (from, page) in (0_u32..).zip(self.pages.values()) {
            if !live[from as usize] {
                continue;
            }
            let targets = page.outlinks.iter().map(|url| numbers[url.as_str()]);
            let mut targets: Vec<u32> = targets
                .filter(|&to| live[to as usize] && hosts[to as usize] != hosts[from as usize])
                .collect();
            targets.sort_unstable();
            targets.dedup();
            rows.push(&[from], &targets).unwrap();
        }
        rows.graph().unwrap()
    }
}
