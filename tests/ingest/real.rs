//! Real inputs, read completely: every line becomes a record, and the speed is printed.

use std::convert::Infallible;
use std::time::Instant;

use crate::support;
use seedbank::ingest::{Event, Format, Input, Naming, SiteMode, UrlRules, read_batch};
use seedbank::watch::Unwatched;

#[test]
fn every_line_of_the_university_crawl_is_a_record() {
    let Some(shared) = support::shared("every_line_of_the_university_crawl_is_a_record") else {
        return;
    };
    let path = shared.join("data/ku-2017-webir/crawl.jsonl.gz");
    for naming in [SiteMode::Host.with(UrlRules::Whatwg), Naming::default()] {
        let mut sources = Format::JsonLines.sources(&[Input::File(path.clone())]);
        let mut links = 0;
        let mut last = None;
        let start = Instant::now();
        let summary =
            read_batch::<Infallible>(&mut sources, naming, &Unwatched, &mut |at, event| {
                let Event::Record(record) = event else {
                    panic!("{at:?}: {event:?}");
                };
                assert!(last < Some(at), "in the order of the input");
                last = Some(at);
                links += record.outlinks.map_or(0, |links| links.len());
                Ok(())
            })
            .unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{naming:?}: {:.0} MB/s, {:.0} records/s, {:.0} links/s",
            summary.bytes as f64 / seconds / 1e6,
            summary.records as f64 / seconds,
            f64::from(u32::try_from(links).unwrap()) / seconds,
        );
        assert_eq!((summary.records, summary.lines), (9_919, 9_919));
        assert!(summary.dropped_outlinks.is_empty(), "{summary:?}");
        let left_out = summary.duplicate_outlinks + summary.self_links;
        assert_eq!(links as u64 + left_out, 216_787);
        // As the crawler wrote them no two are equal; by RFC 3986 some are.
        assert_eq!(left_out == 0, naming.urls == UrlRules::Whatwg);
        assert!(summary.unknown_fields.names.is_empty());
    }
}

#[test]
fn links_and_pages_of_a_query_graph() {
    let Some(shared) = support::shared("links_and_pages_of_a_query_graph") else {
        return;
    };
    let folder = shared.join("data/epa");
    let format = Format::Links {
        pages: Some(Input::File(folder.join("pages.tsv.gz"))),
    };
    let mut sources = format.sources(&[Input::File(folder.join("links.tsv.gz"))]);
    let (mut links, mut pages) = (0, 0);
    let summary = read_batch::<Infallible>(
        &mut sources,
        SiteMode::Host.with(UrlRules::Whatwg),
        &Unwatched,
        &mut |_, event| {
            match event {
                Event::Link { .. } => links += 1,
                Event::Page(_) => pages += 1,
                other => panic!("{other:?}"),
            }
            Ok(())
        },
    )
    .unwrap();
    assert_eq!((links, pages), (8_820, 4_644));
    assert_eq!(summary.rejected(), 0);
}
