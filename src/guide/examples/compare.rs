//! Are the seeds better than the start pages of today?

use seedbank::engine::query::{CompareRequest, UrlList};
use seedbank::ingest::{Naming, Record};
use seedbank::{Bank, IngestRequest, Plan, RefreshRequest, Which};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bank = Bank::create(folder.path().join("crawl.bank"), Naming::default())?;
    // A site of 30 pages, each with a link to the next one, and a page about all of them.
    let page = |number: u32| format!("http://site.example/{number}");
    let mut records: Vec<Record> = (0..30)
        .map(|number| Record::new(page(number)).outlinks([page(number + 1)]))
        .collect();
    records.push(Record::new("http://guide.example/").outlinks((0..30).map(page)));
    bank.ingest_records(&IngestRequest::default(), records)?;
    let plan = Plan::coverage().seeds(1).budget(20);
    bank.refresh(&RefreshRequest::with("next", plan))?;

    let mut today = UrlList {
        name: "today".to_owned(),
        ..UrlList::default()
    };
    today.push_line(1, &page(20));
    let request = CompareRequest {
        fetches: vec![20],
        ..CompareRequest::new(Which::from("next"))
    };
    let found = bank.compare(&today, &request)?;
    let crawl = &found.crawls[0];
    println!(
        "20 fetches find {} pages from today's list, {} from the seeds",
        crawl.list.pages, crawl.first_seeds.pages
    );
    assert!(crawl.first_seeds.pages > crawl.list.pages);
    Ok(())
}
