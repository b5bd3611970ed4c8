//! From what a crawler fetched to the seeds of its next crawl, with the reason for each.

use seedbank::ingest::{Naming, Record};
use seedbank::answers::seed_reason;
use seedbank::{Bank, IngestRequest, Plan, RefreshRequest};

/// What the crawler fetched: pages with their links.
const FETCHED: [(&str, &[&str]); 3] = [
    ("http://news.example/", &["http://news.example/1", "http://shop.example/"]),
    ("http://news.example/1", &["http://news.example/2"]),
    ("http://blog.example/", &["http://shop.example/", "http://news.example/1"]),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bank = Bank::open_or_create(folder.path().join("crawl.bank"), Naming::default())?;

    // One batch per crawl or day. Records can also be pushed while the crawl runs: `Bank::push`.
    let records = FETCHED.map(|(url, links)| Record::new(url).outlinks(links.iter().copied()));
    let batch = bank.ingest_records(&IngestRequest::default(), records)?;
    assert_eq!(batch.counts.became_crawled, 3);

    // Two pages from which a crawl of ten fetches finds most, on different sites.
    let plan = Plan::coverage().seeds(2).budget(10).max_per_site(1);
    bank.refresh(&RefreshRequest::with("next", plan))?;

    let explainer = bank.explainer("next")?;
    for seed in bank.seeds("next")? {
        let url = seed?.url;
        let page = explainer.page(&url)?;
        let reason = seed_reason(&page.run, page.policy.as_ref(), &page.why);
        println!("{url}: {}", reason.unwrap_or_default());
    }
    assert_eq!(bank.seeds("next")?.count(), 2);
    Ok(())
}
