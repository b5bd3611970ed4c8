//! Heritrix's notes in WARC: from which seed a page was fetched.

use crate::support::warc::{answer, notes, page};
use crate::support::wat::{Events, read};
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Location, Naming, Nofollow, ReadSummary, SkipReason};

/// What is read of a good file.
fn good(records: &[Vec<u8>]) -> (ReadSummary, Events) {
    let format = Format::Warc {
        nofollow: Nofollow::Keep,
    };
    let (summary, events) = read(&records.concat(), &format);
    (summary.unwrap(), events)
}

/// The seed, the page that led to it, and the depth, of the one page of a file.
fn origin(records: &[Vec<u8>]) -> Option<(String, Option<String>, Option<u32>)> {
    let (_, events) = good(records);
    let [(_, Event::Record(record))] = &events[..] else {
        panic!("{events:?}");
    };
    let origin = record.origin.as_ref()?;
    let url = |at: &Location| at.url(Naming::default().sites);
    let seed = origin.seed.as_ref().map(url)?;
    Some((seed, origin.via.as_ref().map(url), origin.depth))
}

#[test]
fn notes_name_the_seed() {
    let (a, seed) = ("http://a.example/", "http://seed.example/");
    let html = page(a, "<a href=/b>");
    let pdf = answer(
        a,
        "HTTP/1.1 200 OK\nContent-Type: application/pdf\n",
        b"%PDF",
    );
    let down = answer(a, "HTTP/1.1 503 No\n", b"");
    let tagged = notes(
        a,
        "via: http://x.example/\nhopsFromSeed: LEL\nsourceTag: http://seed.example/\nfetchTimeMs: 7\n",
    );
    let itself = notes(a, "seed: \nfetchTimeMs: 7\n");
    let untagged = notes(a, "via: http://x.example/\nhopsFromSeed: L\n");
    let other_tag = notes(a, "via: x\nhopsFromSeed: L\nsourceTag: tuesday\n");
    let found = Some((
        seed.to_owned(),
        Some("http://x.example/".to_owned()),
        Some(3),
    ));
    for answer in [&html, &pdf, &down] {
        for file in [
            [answer.clone(), tagged.clone()],
            [tagged.clone(), answer.clone()],
        ] {
            assert_eq!(origin(&file), found);
        }
        let of_seed = origin(&[answer.clone(), itself.clone()]);
        assert_eq!(of_seed, Some((a.to_owned(), None, Some(0))));
        assert_eq!(origin(&[answer.clone(), untagged.clone()]), None);
        assert_eq!(origin(&[answer.clone(), other_tag.clone()]), None);
    }
    // Notes without links say nothing of the links, and nothing without a response.
    let (_, events) = good(&[pdf, tagged.clone()]);
    assert!(matches!(&events[..], [(_, Event::Record(record))] if record.outlinks.is_none()));
    let (summary, events) = good(&[tagged]);
    assert_eq!(events, []);
    assert_eq!(summary.passed_over, [(SkipReason::NoResponse, 1)].into());
}
