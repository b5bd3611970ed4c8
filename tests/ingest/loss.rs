//! A batch that removes much of the bank is rejected with the numbers, and leaves the bank unchanged.
//!
//! * the limits, exact to the page and to the link: net, of the whole bank;
//! * random batches compared with a map: all numbers, the sites that lose most and the smallest limit
//!   that accepts the batch, in any order of records, over any number of files, with and without
//!   memory for sorting;
//! * every day of a real crawl: refused only where the bank shrinks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::support;
use proptest::prelude::*;
use seedbank::engine::error::BatchLoss;
use seedbank::engine::{Bank, EngineError, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use serde_json::json;
use tempfile::TempDir;

/// The URL of a page by number; there are seven sites, so links lead within a site and to others.
fn url(page: usize) -> String {
    format!("http://s{}.example/{page}", page % 7)
}

/// What a record says of its page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
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
pub fn links(page: usize, count: usize) -> Said {
    let targets = page + 1..=page + count;
    Said::Links(targets.map(|target| target % 10_000).collect())
}

pub fn line(page: usize, said: &Said) -> String {
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
            folder.path().join("bank"),
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
            // That of all records with a time.
            as_of: Some(1_795_060_800),
            again: true,
            ..plain
        }
    }

    fn file(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, lines.concat()).unwrap();
        path
    }

    /// Ingests a batch; returns what it would remove if it is refused.
    fn loss(&self, batch: &Batch, given: Given) -> Option<Box<BatchLoss>> {
        match self.bank.ingest(&self.request(batch, given)) {
            Ok(_) => None,
            Err(EngineError::TooMuchLost(loss)) => {
                assert_eq!(Some(loss.limit), given.limit.or(Some(20.0)));
                assert_eq!(loss.snapshot, given.snapshot);
                Some(loss)
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Ingests a batch; returns the numbers if it is refused.
    fn ingest(&self, batch: &Batch, given: Given) -> Option<Numbers> {
        self.loss(batch, given).map(|loss| numbers_of(&loss))
    }

    /// Tries a delta under the default limit.
    fn try_delta(&self, batch: &[(usize, Said)]) -> Option<Numbers> {
        let given = Given {
            dry_run: true,
            ..Given::default()
        };
        self.ingest(&batch.iter().cloned().collect(), given)
    }

    /// Pages and links before and after the batch, and what each site loses.
    fn numbers(&self, batch: &Batch, snapshot: bool) -> (Numbers, BTreeMap<String, [i64; 2]>) {
        let mut after = self.crawled.clone();
        work_in(&mut after, batch, snapshot);
        let links = |pages: &BTreeMap<usize, BTreeSet<usize>>| -> u64 {
            pages.values().map(|links| links.len() as u64).sum()
        };
        let numbers = [
            self.crawled.len() as u64,
            after.len() as u64,
            links(&self.crawled),
            links(&after),
        ];
        let mut sites: BTreeMap<String, [i64; 2]> = BTreeMap::new();
        for (pages, by) in [(&self.crawled, 1), (&after, -1)] {
            for (page, links) in pages {
                let lost = sites.entry(format!("s{}.example", page % 7)).or_default();
                lost[0] += by;
                lost[1] += by * i64::try_from(links.len()).unwrap();
            }
        }
        (numbers, sites)
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

fn numbers_of(loss: &BatchLoss) -> Numbers {
    [
        loss.pages_before,
        loss.pages_after,
        loss.links_before,
        loss.links_after,
    ]
}

/// Compares the named sites with what each site loses. Sites that lose equally much may come in any
/// order.
fn assert_worst(loss: &BatchLoss, by_site: &BTreeMap<String, [i64; 2]>, by_pages: bool) {
    let of = usize::from(!by_pages);
    let losing: Vec<_> = by_site
        .iter()
        .filter(|(_, counts)| counts.iter().any(|n| *n > 0))
        .collect();
    assert_eq!(
        loss.sites.len() as u64 + loss.more_sites,
        losing.len() as u64
    );
    assert_eq!(loss.sites.len(), losing.len().min(5));
    for site in &loss.sites {
        let expected = by_site[&site.site].map(|count| u64::try_from(count).unwrap_or(0));
        assert_eq!([site.pages, site.links], expected, "{}", site.site);
    }
    let named: Vec<i64> = loss
        .sites
        .iter()
        .map(|site| by_site[&site.site][of])
        .collect();
    let mut worst: Vec<i64> = losing.iter().map(|(_, counts)| counts[of]).collect();
    worst.sort_unstable_by_key(|count| -count);
    worst.truncate(5);
    assert_eq!(named, worst);
}

/// Whether a batch is refused: at least `fewest` are lost, and more than `limit` per cent.
fn is_too_much([before, after]: [u64; 2], fewest: u64, limit: u32) -> bool {
    after + fewest <= before && (before - after) * 100 > before * u64::from(limit)
}

/// The smallest limit that accepts a loss, in tenths of a per cent; 0 if it is too small to count.
fn least_tenths([before, after]: [u64; 2], fewest: u64) -> u64 {
    if after + fewest > before {
        return 0;
    }
    (0..=1000)
        .find(|tenths| (before - after) * 1000 <= before * tenths)
        .unwrap()
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
        Some([200, 100, 200, 100]),
        "half of the pages"
    );
    let new = (300..310).map(|page| (page, links(page, 1)));
    assert_eq!(tried(&small, gone(109).chain(new.clone()).collect()), None);
    assert_eq!(
        tried(&small, gone(110).chain(new).collect()),
        Some([200, 100, 200, 100])
    );
    // A page of which only clicks are reported is not crawled.
    let clicked = (300..310).map(|page| (page, Said::Clicks));
    assert_eq!(
        tried(&small, gone(100).chain(clicked).collect()),
        Some([200, 100, 200, 100])
    );
    let large = bank_of(500);
    assert_eq!(tried(&large, gone(100).collect()), None, "20 % is allowed");
    let lost = tried(&large, gone(101).collect());
    assert_eq!(lost, Some([500, 399, 500, 399]));
}

#[test]
fn links_are_counted_net_to_the_link() {
    // Pages 0 and 1 have 2,000 and 3,000 links, a seventh of them within their sites, and ten pages
    // one link each.
    let mut base: Batch = (5_000..5_010).map(|page| (page, links(page, 1))).collect();
    base.insert(0, links(0, 2_000));
    base.insert(1, links(1, 3_000));
    let pair = Pair::new(&base);
    // 20 % of all links are 1,002.
    assert_eq!(pair.try_delta(&[(0, links(0, 998))]), None);
    let lost = Some([12, 12, 5_010, 4_007]);
    assert_eq!(pair.try_delta(&[(0, links(0, 997))]), lost);
    // New links in place of old ones are no loss.
    assert_eq!(pair.try_delta(&[(0, links(4_000, 2_000))]), None);
    // Links count on whatever page they are lost or added.
    assert_eq!(
        pair.try_delta(&[(0, links(0, 997)), (9_000, links(9_000, 1))]),
        None,
        "net"
    );
    assert_eq!(
        pair.try_delta(&[(0, links(0, 997)), (1, Said::Clicks)]),
        lost
    );
    let gone = pair.try_delta(&[(0, Said::Gone)]);
    assert_eq!(gone, Some([12, 11, 5_010, 3_010]));
    assert_eq!(
        pair.try_delta(&[(0, Said::Gone), (9_000, links(9_000, 998))]),
        None
    );
}

#[test]
fn a_bank_that_grows_is_not_refused() {
    // Nearly all links of the named pages are lost, and the bank doubles.
    let pair = Pair::new(&(0..150).map(|page| (page, links(page, 10))).collect());
    let shrunk = (0..150).map(|page| (page, links(page, 0)));
    let lost = Some([150, 150, 1_500, 0]);
    assert_eq!(pair.try_delta(&shrunk.clone().collect::<Vec<_>>()), lost);
    let grown = shrunk.chain((1_000..1_300).map(|page| (page, links(page, 10))));
    assert_eq!(pair.try_delta(&grown.collect::<Vec<_>>()), None);
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
    let report = pair.bank.ingest(&pair.request(&one, meant));
    let report = report.unwrap();
    assert_eq!((report.batch, report.counts.became_gone), (Some(2), 149));
    let all = (0..150).map(|page| (page, links(page, 1))).collect();
    assert_eq!(pair.ingest(&all, Given::default()), None);
    let again = IngestRequest {
        max_loss: 20.0,
        again: false,
        ..pair.request(&one, meant)
    };
    let report = pair.bank.ingest(&again).unwrap();
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
            let (numbers, sites) = pair.numbers(&batch, snapshot);
            let [pages_before, pages_after, links_before, links_after] = numbers;
            let refused = is_too_much([pages_before, pages_after], 100, limit)
                || is_too_much([links_before, links_after], 1_000, limit);
            let given = Given { snapshot, limit: Some(limit.into()), ..Given::default() };
            let before = pair.bank.status().unwrap().counters;
            for otherwise in [false, true] {
                let dry_run = otherwise || !refused;
                let found = pair.loss(&batch, Given { otherwise, dry_run, ..given });
                prop_assert_eq!(found.as_ref().map(|loss| numbers_of(loss)), refused.then_some(numbers));
                if let Some(loss) = found {
                    let by_pages = is_too_much([pages_before, pages_after], 100, limit);
                    assert_worst(&loss, &sites, by_pages);
                    let of_pages = least_tenths([pages_before, pages_after], 100);
                    let of_links = least_tenths([links_before, links_after], 1_000);
                    let least = of_pages.max(of_links);
                    prop_assert!((loss.least_limit - least as f64 / 10.0).abs() < 1e-9, "{least}");
                    for (max_loss, accepted) in [(loss.least_limit, true), (loss.least_limit - 0.1, false)] {
                        let given = Given { limit: Some(max_loss), dry_run: true, ..given };
                        prop_assert_eq!(pair.ingest(&batch, given).is_none(), accepted);
                    }
                }
            }
            prop_assert_eq!(pair.bank.status().unwrap().counters, before);
            let meant = Given { limit: Some(100.0), ..given };
            prop_assert_eq!(pair.ingest(&batch, meant), None);
            pair.apply(&batch, snapshot);
        }
    }
}
