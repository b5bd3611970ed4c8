//! Reads the real graphs of `data/` into sites, with a reader of its own, so that the cover methods
//! are tested without a bank.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use seedbank_algorithms::cover::{PUniq, PageFacts, SiteGraph, Weights, page_value};

use crate::support::gunzip;

/// A crawled page as its record has it.
#[derive(Default)]
struct Record {
    targets: BTreeSet<String>,
    spam: bool,
    clicks: u64,
    given: Option<u32>,
    digest: Option<String>,
}

/// One site with the URLs of its crawled pages in byte order.
pub struct LoadedSite {
    pub name: String,
    pub urls: Vec<String>,
    pub graph: SiteGraph,
}

impl LoadedSite {
    pub fn page(&self, url: &str) -> u32 {
        let at = self.urls.binary_search_by(|u| u.as_str().cmp(url));
        u32::try_from(at.unwrap_or_else(|_| panic!("{url} is not on {}", self.name))).unwrap()
    }
}

/// A data set: its sites by name, and how many crawled pages every known site has.
pub struct Loaded {
    pub sites: BTreeMap<String, LoadedSite>,
    pub crawled: BTreeMap<String, u64>,
}

/// Loads `data/NAME`: `crawl.jsonl.gz`, or `links.tsv.gz` with `pages.tsv.gz`.
pub fn load(shared: &Path, name: &str) -> Loaded {
    let folder = shared.join("data").join(name);
    let crawl = folder.join("crawl.jsonl.gz");
    if crawl.exists() {
        build(&json_lines(&gunzip(&crawl)))
    } else {
        let links = gunzip(&folder.join("links.tsv.gz"));
        let pages = gunzip(&folder.join("pages.tsv.gz"));
        build(&tab_separated(&links, &pages))
    }
}

fn json_lines(text: &str) -> BTreeMap<String, Record> {
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for line in text.lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let targets = json["outlinks"].as_array().into_iter().flatten();
        let record = Record {
            targets: targets.map(|t| t.as_str().unwrap().to_owned()).collect(),
            spam: json["spam"].as_bool().unwrap_or(false),
            clicks: json["clicks"].as_u64().unwrap_or(0),
            given: json["uncrawled_outlinks"]
                .as_u64()
                .map(|n| n.try_into().unwrap()),
            digest: json["digest"].as_str().map(str::to_owned),
        };
        let url = json["url"].as_str().unwrap().to_owned();
        let is_crawled = ["outlinks", "digest", "fetched"]
            .iter()
            .any(|f| !json[f].is_null());
        assert!(
            is_crawled && json["gone"].is_null(),
            "unexpected record {line}"
        );
        assert!(records.insert(url, record).is_none(), "two records: {line}");
    }
    records
}

fn tab_separated(links: &str, pages: &str) -> BTreeMap<String, Record> {
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for line in links.lines() {
        let (from, to) = line.split_once('\t').unwrap();
        records.entry(to.to_owned()).or_default();
        let record = records.entry(from.to_owned()).or_default();
        record.targets.insert(to.to_owned());
    }
    for line in pages.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [url, spam, clicks, uncrawled] = fields[..] else {
            panic!("unexpected line {line}");
        };
        let record = records.entry(url.to_owned()).or_default();
        record.spam = spam == "1";
        record.clicks = clicks.parse().unwrap();
        record.given = Some(uncrawled.parse().unwrap());
    }
    records
}

fn host(url: &str) -> String {
    url::Url::parse(url).unwrap().host_str().unwrap().to_owned()
}

fn build(records: &BTreeMap<String, Record>) -> Loaded {
    let mut by_site: BTreeMap<String, Vec<(&String, &Record)>> = BTreeMap::new();
    let mut crawled = BTreeMap::new();
    for (url, record) in records {
        for target in &record.targets {
            crawled.entry(host(target)).or_insert(0);
        }
        by_site.entry(host(url)).or_default().push((url, record));
    }
    let mut sites = BTreeMap::new();
    for (name, pages) in by_site {
        crawled.insert(name.clone(), pages.len() as u64);
        let graph = graph(&pages, records);
        let urls = pages.iter().map(|&(url, _)| url.clone()).collect();
        sites.insert(name.clone(), LoadedSite { name, urls, graph });
    }
    Loaded { sites, crawled }
}

fn graph(pages: &[(&String, &Record)], records: &BTreeMap<String, Record>) -> SiteGraph {
    let digests = pages
        .iter()
        .filter_map(|(_, record)| record.digest.as_ref());
    let distinct = digests.clone().collect::<BTreeSet<_>>().len();
    let p_uniq = PUniq::from_digests(distinct as u64, digests.count() as u64);
    let number: HashMap<&String, u32> = pages.iter().map(|&(url, _)| url).zip(0..).collect();
    let mut links = Vec::new();
    let mut values = Vec::new();
    for (url, record) in pages {
        let uncrawled = record.targets.iter().filter(|t| !records.contains_key(*t));
        let facts = PageFacts {
            spam: record.spam,
            clicks: record.clicks,
            quality: 0,
            uncrawled_outlinks: record
                .given
                .unwrap_or_else(|| uncrawled.count().try_into().unwrap()),
        };
        values.push(page_value(facts, p_uniq, &Weights::default()));
        let targets = record
            .targets
            .iter()
            .filter_map(|target| number.get(target));
        links.extend(targets.map(|&target| (number[url], target)));
    }
    SiteGraph::new(values, links).unwrap()
}
