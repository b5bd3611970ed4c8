//! The day after: what changed on the list of seeds, and why.

use seedbank::engine::query::DiffRequest;
use seedbank::ingest::{Naming, Record};
use seedbank::{Bank, IngestRequest, Plan, RefreshRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bank = Bank::create(folder.path().join("crawl.bank"), Naming::default())?;
    let topic = ["http://x.example/", "http://y.example/"];

    // Two pages that link to the same two others are a core, and one of them is its seed.
    let hubs = ["http://a.example/", "http://b.example/"];
    let monday = hubs.map(|url| Record::new(url).outlinks(topic));
    bank.ingest_records(&IngestRequest::default(), monday)?;
    let plan = Plan::communities().seeds(10).succeed();
    bank.refresh(&RefreshRequest::with("topics", plan))?;

    // On Tuesday one of them is gone, and there is another one.
    let tuesday = [
        Record::new("http://a.example/").gone(),
        Record::new("http://c.example/").outlinks(topic),
    ];
    bank.ingest_records(&IngestRequest::default(), tuesday)?;
    bank.refresh(&RefreshRequest::stored("topics"))?;

    let request = DiffRequest {
        plan: Some("topics".to_owned()),
        ..DiffRequest::default()
    };
    for change in bank.diff(&request)?.seeds {
        println!("{:?} {}: {:?}", change.change, change.url, change.cause);
    }
    let seeds: Result<Vec<_>, _> = bank.seeds("topics")?.collect();
    assert_eq!(seeds?[0].url, "http://b.example/");
    Ok(())
}
