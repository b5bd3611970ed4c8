//! What pages were on every day of a crawl, from the records alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A page on one day.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    pub gone: bool,
    pub crawled: bool,
    pub has_record: bool,
    pub spam: bool,
    pub links: BTreeSet<String>,
}

/// Pages by URL after each batch; known ones that have no record are in `linked`.
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
            page.has_record = true;
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
        let has_record = self.pages.get(url).is_some_and(|page| page.has_record);
        has_record || self.linked.contains(url)
    }

    /// Whether cores may have it, spam left out.
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
