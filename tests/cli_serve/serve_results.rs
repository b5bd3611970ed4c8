//! The page of a plan shows what crawls from its seeds brought, and the page of a page where its last fetch came from.

use crate::support::command::{Place, record};
use crate::support::http::Served;

#[test]
fn what_crawls_brought_is_beside_what_was_promised() {
    let place = Place::with_bank();
    place.write(
        "first.jsonl",
        record(
            "http://a.example/",
            &["http://a.example/<b>", "http://b.example/"],
        ),
    );
    place
        .run(&["ingest", "bank", "first.jsonl", "--as-of", "2026-11-01"])
        .done();
    let refresh = "refresh bank --method greedy --scope web --seeds 1 --hops 1 --fetch-cost 0.1 --value-known 0.5";
    place.run(&refresh.split(' ').collect::<Vec<_>>()).done();
    let served = Served::start(&place, &["bank"]);
    let plan = "/plan?name=default";
    let heading = "What crawls from the seeds brought";
    assert!(!served.get(plan).done().contains(heading));
    let crawl = r#"{"url": "http://a.example/<b>", "outlinks": [], "fetched": "2026-11-02", "seed": "http://a.example/", "via": "http://a.example/", "depth": 1}"#;
    place
        .run_with(&["ingest", "bank", "-"], crawl.as_bytes())
        .done();
    let page = served.get(plan).done();
    assert!(page.contains(heading), "{page}");
    let csv = served
        .get("/plan?name=default&format=csv&table=results")
        .done();
    let expected = "rank,seed,fetched,new,failed,duplicates,promised_pages,promised_known\r\n\
                    1,http://a.example/,1,1,0,0,3,2\r\n";
    assert_eq!(csv, expected);
    let page = served
        .get("/page?url=http%3A%2F%2Fa.example%2F%3Cb%3E")
        .done();
    assert!(page.contains("fetch in batch 2 from seed "), "{page}");
    assert!(page.contains("1 link deep"), "{page}");
}
