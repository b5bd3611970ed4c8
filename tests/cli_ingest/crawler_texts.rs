//! Texts of crawlers and archives on the command line: recognised without a flag, from files and from
//! standard input, and the messages about empty ones.

use crate::support::command::Place;
use crate::support::crawler_texts::{CRAWL_LOG, SITEMAP, examples};
use serde_json::json;

#[test]
fn seeds_of_a_bank_become_known_pages_of_another() {
    let place = Place::with_seeds();
    let urls = place.run(&["seeds", "bank"]).done();
    let seeds = urls.lines().count() as u64;
    assert!(seeds > 0);
    for format in ["text", "nutch", "heritrix", "stormcrawler"] {
        let list = place.run(&["seeds", "bank", "--format", format]).done();
        let bank = format!("bank-{format}");
        place.run(&["init", &bank]).done();
        for input in ["auto", "urls"] {
            let args = ["ingest", &bank, "--input", input, "-", "--format", "json"];
            let report = place.run_with(&args, list.as_bytes()).json();
            assert_eq!(report["read"]["records"], seeds, "{format}: {report}");
            assert_eq!(report["read"]["rejects"], json!({}), "{format}: {report}");
        }
        let told = place.status_of(&bank);
        assert_eq!(told["known"], seeds, "{format}: {told}");
    }
}

#[test]
fn no_flag_is_needed() {
    let place = Place::with_bank();
    for example in examples() {
        if example.name == "heritrix links" {
            continue;
        }
        let name = example.name.replace(' ', "-");
        place.write(&name, &example.text);
        let told = place
            .run(&["ingest", "bank", &name, "--max-loss", "100"])
            .done();
        assert!(
            told.starts_with("batch ") || told.starts_with("nothing changed"),
            "{name}: {told}"
        );
        assert!(!told.contains("rejected"), "{name}: {told}");
    }
    let args = ["ingest", "bank", "--input", "heritrix-links", "heritrix"];
    let told = place.run(&args).done();
    let passed = "skipped, no information on a page: 4 records: no_link 4\n";
    assert!(told.contains(passed), "{told}");
}

#[test]
fn a_list_of_sitemaps_alone_is_refused() {
    let place = Place::with_bank();
    let index = "<sitemapindex xmlns=\"x\"><sitemap><loc>http://a.example/1.xml</loc></sitemap></sitemapindex>\n";
    place.write("index.xml", index);
    place.write("1.xml", SITEMAP);
    let before = place.state();
    let error = place.run(&["ingest", "bank", "index.xml"]).fails(3);
    let said = "index.xml is an index of 1 sitemap without pages; fetch the sitemaps that it lists and give them as further files";
    assert!(error.contains(said), "{error}");
    assert_eq!(place.state(), before);
    let told = place.run(&["ingest", "bank", "index.xml", "1.xml"]).done();
    assert!(told.contains("a page: 1 record: sitemap 1\n"), "{told}");
    assert!(told.contains("4 records"), "{told}");
}

#[test]
fn bad_records_are_told_by_their_places() {
    let place = Place::with_bank();
    place.write(
        "a.json",
        "[{\"url\": \"http://a.example/\"},\n {\"url\": 3}]",
    );
    place.write("b.xml", SITEMAP.replace("http://new", "ftp://new"));
    place.write(
        "crawl.log",
        CRAWL_LOG.replace("http://gone.example/ LL", "http:// LL"),
    );
    place.write("cut.json", "[{\"url\": \"http://a.example/\"},\n {\"url");
    for (file, words) in [
        (
            "a.json",
            "the first is record 2 of a.json: url: must be a string",
        ),
        (
            "b.xml",
            "the first is record 3 of b.xml: expected the scheme http or https, found ftp",
        ),
        ("crawl.log", "the first is line 5 of crawl.log: "),
        (
            "cut.json",
            "cut.json is truncated after record 1; it ends after ",
        ),
    ] {
        let error = place.run(&["ingest", "bank", file]).fails(3);
        assert!(error.contains("the bank is unchanged"), "{error}");
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("use --input"), "{error}");
    }
}
