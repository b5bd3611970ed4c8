//! A batch that removes much of the bank is rejected with the numbers, and leaves the bank unchanged.
//!
//! * as a user meets it: a delta given as a snapshot, an export without links;
//! * the limits, exact to the page and to the link: what counts as net, which pages' links count;
//! * random batches compared with a map: both numbers, in any order of records, over any number of
//!   files, with and without memory for sorting.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::support;
use crate::support::command::Place;
use proptest::prelude::*;
use seedbank::engine::{Bank, EngineError, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::watch::Unwatched;
use serde_json::json;
use tempfile::TempDir;

/// The URL of a page by number; there are seven sites, so links lead within a site and to others.
fn url(page: usize) -> String {
    format!("http://s{}.example/{page}", page % 7)
}

/// What a record says of its page.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Said {
    Gone,
    /// Its links are these.
    Links(BTreeSet<usize>),
    /// Clicks, but nothing about links.
    Clicks,
    /// That it was fetched, but nothing about links.
    Fetched,
}

/// A batch: what is said of each page.
type Batch = BTreeMap<usize, Said>;

/// Gives a page this many links.
fn links(page: usize, count: usize) -> Said {
    let targets = page + 1..=page + count;
    Said::Links(targets.map(|target| target % 10_000).collect())
}

fn line(page: usize, said: &Said) -> String {
    let mut record = json!({"url": url(page)});
    match said {
        Said::Gone => record["gone"] = json!(true),
        Said::Links(targets) => {
            record["outlinks"] = targets.iter().map(|target| url(*target)).collect();
        }
        Said::Clicks => record["clicks"] = json!(3),
        Said::Fetched => record["fetched"] = json!("2026-11-19T04:00:00Z"),
    }
    record.to_string() + "\n"
}

/// A bank, and a map of its crawled pages with their links.
struct Pair {
    folder: TempDir,
    bank: Bank,
    crawled: BTreeMap<usize, BTreeSet<usize>>,
}

/// How a batch is given.
#[derive(Clone, Copy, Default)]
struct Given {
    snapshot: bool,
    /// Whether in two files, the last record first, with next to no memory.
    otherwise: bool,
    limit: Option<f64>,
    dry_run: bool,
}

/// Crawled pages before and after, then links before and after, of a batch that was refused.
type Numbers = [u64; 4];

impl Pair {
    fn new(base: &Batch) -> Self {
        let folder = support::scratch();
        let bank = Bank::create(
            &folder.path().join("bank"),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
        let mut pair = Self {
            folder,
            bank,
            crawled: BTreeMap::new(),
        };
        let given = Given {
            snapshot: true,
            ..Given::default()
        };
        assert_eq!(pair.ingest(base, given), None, "a first snapshot");
        pair.apply(base, true);
        pair
    }

    fn request(&self, batch: &Batch, given: Given) -> IngestRequest {
        let mut lines: Vec<String> = batch.iter().map(|(page, said)| line(*page, said)).collect();
        let mut files = Vec::new();
        if given.otherwise {
            lines.reverse();
            files.push(self.file("second", &lines.split_off(lines.len() / 2)));
        }
        files.push(self.file("first", &lines));
        let plain = IngestRequest::default();
        IngestRequest {
            inputs: files.into_iter().map(Input::File).collect(),
            snapshot: given.snapshot,
            max_loss: given.limit.unwrap_or(plain.max_loss),
            memory: if given.otherwise { 0 } else { plain.memory },
            dry_run: given.dry_run,
            again: true,
            ..plain
        }
    }

    fn file(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, lines.concat()).unwrap();
        path
    }

    /// Ingests a batch; returns the numbers if it is refused.
    fn ingest(&self, batch: &Batch, given: Given) -> Option<Numbers> {
        match self.bank.ingest(&self.request(batch, given), &Unwatched) {
            Ok(_) => None,
            Err(EngineError::TooMuchLost {
                pages_before,
                pages_after,
                links_before,
                links_after,
                limit,
                snapshot,
            }) => {
                assert_eq!(Some(limit), given.limit.or(Some(20.0)));
                assert_eq!(snapshot, given.snapshot);
                Some([pages_before, pages_after, links_before, links_after])
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Tries a delta under the default limit.
    fn try_delta(&self, batch: &[(usize, Said)]) -> Option<Numbers> {
        let given = Given {
            dry_run: true,
            ..Given::default()
        };
        self.ingest(&batch.iter().cloned().collect(), given)
    }

    /// What the batch takes away, by the words of the design.
    fn numbers(&self, batch: &Batch, snapshot: bool) -> Numbers {
        let mut after = self.crawled.clone();
        work_in(&mut after, batch, snapshot);
        let stays = |page: &&usize| self.crawled.contains_key(page) && after.contains_key(page);
        let named: Vec<usize> = batch.keys().filter(stays).copied().collect();
        let sum = |pages: &BTreeMap<usize, BTreeSet<usize>>| -> u64 {
            named.iter().map(|page| pages[page].len() as u64).sum()
        };
        let before = [self.crawled.len() as u64, sum(&self.crawled)];
        [before[0], after.len() as u64, before[1], sum(&after)]
    }

    fn apply(&mut self, batch: &Batch, snapshot: bool) {
        work_in(&mut self.crawled, batch, snapshot);
        let counters = self.bank.status().unwrap().counters;
        assert_eq!(counters.crawled, self.crawled.len() as u64);
        let links: usize = self.crawled.values().map(BTreeSet::len).sum();
        assert_eq!(counters.intra_links + counters.inter_links, links as u64);
    }
}

fn work_in(crawled: &mut BTreeMap<usize, BTreeSet<usize>>, batch: &Batch, snapshot: bool) {
    for (page, said) in batch {
        match said {
            Said::Gone => {
                crawled.remove(page);
            }
            Said::Links(targets) => {
                let mut targets = targets.clone();
                targets.remove(page);
                crawled.insert(*page, targets);
            }
            Said::Fetched => {
                crawled.entry(*page).or_default();
            }
            Said::Clicks => {}
        }
    }
    if snapshot {
        crawled.retain(|page, _| batch.contains_key(page));
    }
}

/// Whether a batch is refused: at least `fewest` are lost, and more than `limit` per cent.
fn is_too_much([before, after]: [u64; 2], fewest: u64, limit: u32) -> bool {
    after + fewest <= before && (before - after) * 100 > before * u64::from(limit)
}

#[test]
fn a_delta_given_as_a_snapshot_is_refused() {
    let place = Place::with_bank();
    let all: String = (0..150).map(|page| line(page, &links(page, 4))).collect();
    let three: String = (0..3).map(|page| line(page, &links(page, 5))).collect();
    place.write("all.jsonl", all);
    place.write("three.jsonl", three);
    let snapshot = ["ingest", "bank", "--snapshot"];
    place.run(&[&snapshot[..], &["all.jsonl"]].concat()).done();
    place.run(&["refresh", "bank", "--method", "random"]).done();
    let state = place.state();
    for more in [&[][..], &["--dry-run"], &["--max-loss", "97.9", "--wait"]] {
        let args = [&snapshot[..], &["three.jsonl"], more].concat();
        let error = place.run(&args).fails(3);
        for words in [
            "from 150 to 3,",
            "from 12 to 15;",
            "the bank is unchanged",
            "omit --snapshot",
            "--max-loss 100",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert_eq!(place.state(), state);
    }
    for (setting, status) in [("10", 3), ("98", 0), ("101", 2)] {
        let mut command = place.command(&[&snapshot[..], &["three.jsonl", "--dry-run"]].concat());
        let ended = place.run_command(command.env("SEEDBANK_MAX_LOSS", setting));
        assert_eq!(ended.status, Some(status), "{ended:?}");
    }
    assert_eq!(place.state(), state);
    place.run(&["ingest", "bank", "three.jsonl"]).done();
    let meant = [&snapshot[..], &["three.jsonl", "--max-loss", "100"]].concat();
    let done = place.run(&meant).done();
    assert!(done.contains("147 became gone"), "{done}");
}

#[test]
fn an_export_without_its_links_is_refused() {
    let place = Place::with_bank();
    let day = |count: usize| -> String { (0..300).map(|p| line(p, &links(p, count))).collect() };
    place.write("day.jsonl", day(4));
    place.write("broken.jsonl", day(0));
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let state = place.state();
    for more in [None, Some("--snapshot")] {
        let args = ["ingest", "bank", "broken.jsonl"];
        let args: Vec<&str> = args.into_iter().chain(more).collect();
        let error = place.run(&args).fails(3);
        for words in ["from 300 to 300,", "from 1200 to 0;", "--max-loss 100"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert!(!error.contains("omit --snapshot"), "{error}");
        assert_eq!(place.state(), state);
    }
    let meant = ["ingest", "bank", "broken.jsonl", "--max-loss", "100"];
    let done = place.run(&meant).done();
    assert!(done.contains("1200 removed"), "{done}");
}

#[test]
fn pages_are_counted_net_to_the_page() {
    let gone = |count: usize| (0..count).map(|page| (page, Said::Gone));
    let bank_of = |pages: usize| Pair::new(&(0..pages).map(|p| (p, links(p, 1))).collect());
    let small = bank_of(200);
    let tried = |pair: &Pair, batch: Vec<(usize, Said)>| pair.try_delta(&batch);
    assert_eq!(tried(&small, gone(99).collect()), None);
    assert_eq!(
        tried(&small, gone(100).collect()),
        Some([200, 100, 0, 0]),
        "half of the pages"
    );
    let new = (300..310).map(|page| (page, links(page, 1)));
    assert_eq!(tried(&small, gone(109).chain(new.clone()).collect()), None);
    assert_eq!(
        tried(&small, gone(110).chain(new).collect()),
        Some([200, 100, 0, 0])
    );
    // A page of which only clicks are reported is not crawled.
    let clicked = (300..310).map(|page| (page, Said::Clicks));
    assert_eq!(
        tried(&small, gone(100).chain(clicked).collect()),
        Some([200, 100, 0, 0])
    );
    let large = bank_of(500);
    assert_eq!(tried(&large, gone(100).collect()), None, "20 % is allowed");
    assert_eq!(tried(&large, gone(101).collect()), Some([500, 399, 0, 0]));
}

#[test]
fn links_are_counted_net_to_the_link() {
    // Pages 0 and 1 have 2,000 and 3,000 links, a seventh of them within their sites.
    let mut base: Batch = (5_000..5_010).map(|page| (page, links(page, 1))).collect();
    base.insert(0, links(0, 2_000));
    base.insert(1, links(1, 3_000));
    let pair = Pair::new(&base);
    assert_eq!(pair.try_delta(&[(0, links(0, 1_001))]), None);
    let half = Some([12, 12, 2_000, 1_000]);
    assert_eq!(pair.try_delta(&[(0, links(0, 1_000))]), half);
    // New links in place of old ones are no loss.
    assert_eq!(pair.try_delta(&[(0, links(4_000, 2_000))]), None);
    // 20 % of the links of both pages.
    assert_eq!(
        pair.try_delta(&[(0, links(0, 1_000)), (1, links(1, 3_000))]),
        None
    );
    assert_eq!(
        pair.try_delta(&[(0, links(0, 999)), (1, links(1, 3_000))]),
        Some([12, 12, 5_000, 3_999])
    );
    assert_eq!(
        pair.try_delta(&[(0, links(0, 999)), (1, links(1, 3_001))]),
        None,
        "net"
    );
    // A record that says nothing about links still names its page.
    for silent in [Said::Clicks, Said::Fetched] {
        assert_eq!(
            pair.try_delta(&[(0, links(0, 1_000)), (1, silent.clone())]),
            None
        );
        assert_eq!(
            pair.try_delta(&[(0, links(0, 999)), (1, silent)]),
            Some([12, 12, 5_000, 3_999])
        );
    }
    // Links of pages that do not stay crawled, or that become so only now, do not count.
    assert_eq!(pair.try_delta(&[(0, Said::Gone), (1, Said::Gone)]), None);
    assert_eq!(
        pair.try_delta(&[
            (0, links(0, 1_000)),
            (1, Said::Gone),
            (9_000, links(9_000, 3_000))
        ]),
        Some([12, 12, 2_000, 1_000])
    );
}

#[test]
fn what_changes_nothing_is_not_refused() {
    let pair = Pair::new(&(0..150).map(|page| (page, Said::Fetched)).collect());
    let one: Batch = [(0, Said::Fetched)].into();
    let meant = Given {
        snapshot: true,
        limit: Some(100.0),
        ..Given::default()
    };
    let report = pair.bank.ingest(&pair.request(&one, meant), &Unwatched);
    let report = report.unwrap();
    assert_eq!((report.batch, report.counts.became_gone), (Some(2), 149));
    let all = (0..150).map(|page| (page, links(page, 1))).collect();
    assert_eq!(pair.ingest(&all, Given::default()), None);
    let again = IngestRequest {
        max_loss: 20.0,
        again: false,
        ..pair.request(&one, meant)
    };
    let report = pair.bank.ingest(&again, &Unwatched).unwrap();
    assert_eq!(report.same_as, Some(2));
}

/// What a random batch says of its pages: few pages, or most; mostly the same thing.
fn batch() -> impl Strategy<Value = (Batch, bool)> {
    let said = |kind: u8, page: usize, count: usize| match kind {
        0 => Said::Gone,
        1 => Said::Clicks,
        2 => Said::Fetched,
        _ => links(page, count),
    };
    let records = (0_u8..6, 0_usize..12, 10_usize..300).prop_flat_map(move |(kind, most, size)| {
        let kinds = prop_oneof![3 => Just(kind), 2 => 0_u8..6];
        let record = (0_usize..300, kinds, 0..=most);
        proptest::collection::vec(record, size)
    });
    (records, proptest::bool::weighted(0.3)).prop_map(move |(records, snapshot)| {
        let batch = records
            .into_iter()
            .map(|(page, kind, count)| (page, said(kind, page, count)));
        (batch.collect(), snapshot)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_batches_are_refused_as_the_map_says(
        pages in 100_usize..250,
        batches in proptest::collection::vec(batch(), 1..3),
        limit in prop_oneof![Just(0_u32), Just(20), Just(50), 0_u32..=100],
    ) {
        let mut pair = Pair::new(&(0..pages).map(|page| (page, links(page, page % 16))).collect());
        for (batch, snapshot) in batches {
            let numbers = pair.numbers(&batch, snapshot);
            let [pages_before, pages_after, links_before, links_after] = numbers;
            let refused = is_too_much([pages_before, pages_after], 100, limit)
                || is_too_much([links_before, links_after], 1_000, limit);
            let given = Given { snapshot, limit: Some(limit.into()), ..Given::default() };
            let before = pair.bank.status().unwrap().counters;
            for otherwise in [false, true] {
                let dry_run = otherwise || !refused;
                let found = pair.ingest(&batch, Given { otherwise, dry_run, ..given });
                prop_assert_eq!(found, refused.then_some(numbers));
            }
            prop_assert_eq!(pair.bank.status().unwrap().counters, before);
            let meant = Given { limit: Some(100.0), ..given };
            prop_assert_eq!(pair.ingest(&batch, meant), None);
            pair.apply(&batch, snapshot);
        }
    }
}
