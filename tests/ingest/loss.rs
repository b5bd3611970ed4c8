//! A batch that removes much of the bank is refused with the numbers, and leaves the bank unchanged.
//!
//! Families of cases, and what they catch:
//! * the smallest batches that are refused: limits that are off by one, or not net, or not of the whole bank;
//! * random batches compared with a map: wrong numbers, sites or limits in the error, in any order of records, over any
//!   number of files, with and without memory for sorting;
//! * the command line: settings that do not accept a batch, an error that does not say how to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::support;
use crate::support::command::Place;
use crate::support::properties::repeatable;
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
enum News {
    Gone,
    /// Its links are these.
    Links(BTreeSet<usize>),
    /// Clicks, but nothing about links.
    Clicks,
    /// That it was fetched, but nothing about links.
    Fetched,
}

/// A batch: what is news of each page.
type Batch = BTreeMap<usize, News>;

/// Gives a page this many links.
fn links(page: usize, count: usize) -> News {
    let targets = page + 1..=page + count;
    News::Links(targets.map(|target| target % 10_000).collect())
}

fn line(page: usize, news: &News) -> String {
    let mut record = json!({"url": url(page)});
    match news {
        News::Gone => record["gone"] = json!(true),
        News::Links(targets) => {
            record["outlinks"] = targets.iter().map(|target| url(*target)).collect();
        }
        News::Clicks => record["clicks"] = json!(3),
        News::Fetched => record["fetched"] = json!("2026-11-19T04:00:00Z"),
    }
    record.to_string() + "\n"
}

/// A bank, and a map of its crawled pages with their links.
struct Pair {
    folder: TempDir,
    bank: Bank,
    crawled: BTreeMap<usize, BTreeSet<usize>>,
}

/// How a batch is ingested.
#[derive(Clone, Copy, Default)]
struct Setting {
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
        let setting = Setting {
            snapshot: true,
            ..Setting::default()
        };
        assert_eq!(pair.ingest(base, setting), None, "a first snapshot");
        pair.apply(base, true);
        pair
    }

    fn request(&self, batch: &Batch, setting: Setting) -> IngestRequest {
        let mut lines: Vec<String> = batch.iter().map(|(page, news)| line(*page, news)).collect();
        let mut files = Vec::new();
        if setting.otherwise {
            lines.reverse();
            files.push(self.file("second", &lines.split_off(lines.len() / 2)));
        }
        files.push(self.file("first", &lines));
        let plain = IngestRequest::default();
        IngestRequest {
            inputs: files.into_iter().map(Input::File).collect(),
            snapshot: setting.snapshot,
            max_loss: setting.limit.unwrap_or(plain.max_loss),
            memory: if setting.otherwise { 0 } else { plain.memory },
            dry_run: setting.dry_run,
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
    fn loss(&self, batch: &Batch, setting: Setting) -> Option<Box<BatchLoss>> {
        match self.bank.ingest(&self.request(batch, setting)) {
            Ok(_) => None,
            Err(EngineError::TooMuchLost(loss)) => {
                assert_eq!(Some(loss.limit), setting.limit.or(Some(20.0)));
                assert_eq!(loss.snapshot, setting.snapshot);
                Some(loss)
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Ingests a batch; returns the numbers if it is refused.
    fn ingest(&self, batch: &Batch, setting: Setting) -> Option<Numbers> {
        self.loss(batch, setting).map(|loss| numbers_of(&loss))
    }

    /// Tries a delta under the default limit.
    fn try_delta(&self, batch: &[(usize, News)]) -> Option<Numbers> {
        let setting = Setting {
            dry_run: true,
            ..Setting::default()
        };
        self.ingest(&batch.iter().cloned().collect(), setting)
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
    for (page, news) in batch {
        match news {
            News::Gone => {
                crawled.remove(page);
            }
            News::Links(targets) => {
                let mut targets = targets.clone();
                targets.remove(page);
                crawled.insert(*page, targets);
            }
            News::Fetched => {
                crawled.entry(*page).or_default();
            }
            News::Clicks => {}
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

/// The smallest batches that are refused and the largest that are not, exact to the page and to the link.
#[test]
fn limits_are_exact_and_net() {
    let gone = |pages: std::ops::Range<usize>| pages.map(|page| (page, News::Gone));
    let new = |pages: std::ops::Range<usize>| pages.map(|page| (page, links(page, 1)));
    let bank_of = |pages: usize| Pair::new(&new(0..pages).collect());
    let clicked = (300..310).map(|page| (page, News::Clicks));
    let small = bank_of(200);
    let lost = Some([200, 100, 200, 100]);
    for (batch, refused) in [
        (gone(0..99).collect::<Vec<_>>(), None),
        (gone(0..100).collect(), lost),
        (gone(0..109).chain(new(300..310)).collect(), None),
        (gone(0..110).chain(new(300..310)).collect(), lost),
        // A page of which only clicks are reported is not crawled.
        (gone(0..100).chain(clicked).collect(), lost),
    ] {
        assert_eq!(small.try_delta(&batch), refused, "{batch:?}");
    }
    let large = bank_of(500);
    assert_eq!(
        large.try_delta(&gone(0..100).collect::<Vec<_>>()),
        None,
        "20 % is allowed"
    );
    let refused = Some([500, 399, 500, 399]);
    assert_eq!(large.try_delta(&gone(0..101).collect::<Vec<_>>()), refused);
    // Pages 0 and 1 have 2,000 and 3,000 links, and ten pages one link each; 20 % of all links are 1,002.
    let mut base: Batch = new(5_000..5_010).collect();
    base.extend([(0, links(0, 2_000)), (1, links(1, 3_000))]);
    let pair = Pair::new(&base);
    let lost = Some([12, 12, 5_010, 4_007]);
    for (batch, refused) in [
        (vec![(0, links(0, 998))], None),
        (vec![(0, links(0, 997))], lost),
        (vec![(0, links(4_000, 2_000))], None),
        (vec![(0, links(0, 997)), (9_000, links(9_000, 1))], None),
        (vec![(0, links(0, 997)), (1, News::Clicks)], lost),
        (vec![(0, News::Gone)], Some([12, 11, 5_010, 3_010])),
        (vec![(0, News::Gone), (9_000, links(9_000, 998))], None),
    ] {
        assert_eq!(pair.try_delta(&batch), refused, "{batch:?}");
    }
    // Nearly all links of the named pages are lost, but the bank doubles.
    let pair = Pair::new(&(0..150).map(|page| (page, links(page, 10))).collect());
    let shrunk = (0..150).map(|page| (page, links(page, 0)));
    let grown = shrunk
        .clone()
        .chain((1_000..1_300).map(|page| (page, links(page, 10))));
    assert_eq!(pair.try_delta(&grown.collect::<Vec<_>>()), None);
    let lost = Some([150, 150, 1_500, 0]);
    assert_eq!(pair.try_delta(&shrunk.collect::<Vec<_>>()), lost);
}

/// A batch that was accepted once is the same batch under another limit.
#[test]
fn a_repeated_batch_is_not_refused() {
    let pair = Pair::new(&(0..150).map(|page| (page, News::Fetched)).collect());
    let one: Batch = [(0, News::Fetched)].into();
    let accepting = Setting {
        snapshot: true,
        limit: Some(100.0),
        ..Setting::default()
    };
    let report = pair.bank.ingest(&pair.request(&one, accepting)).unwrap();
    assert_eq!((report.batch, report.counts.became_gone), (Some(2), 149));
    let all = (0..150).map(|page| (page, links(page, 1))).collect();
    assert_eq!(pair.ingest(&all, Setting::default()), None);
    let again = IngestRequest {
        max_loss: 20.0,
        again: false,
        ..pair.request(&one, accepting)
    };
    assert_eq!(pair.bank.ingest(&again).unwrap().same_as, Some(2));
}

/// The messages of the command line, and the settings that accept a batch.
#[test]
fn the_command_says_what_would_be_lost_and_how_to_accept_it() {
    let place = Place::with_bank();
    let all: String = (0..150).map(|page| line(page, &links(page, 4))).collect();
    place.write("all.jsonl", all);
    let few = |count| -> String { (0..3).map(|page| line(page, &links(page, count))).collect() };
    place.write("three.jsonl", few(5));
    let bare: String = (0..150).map(|page| line(page, &links(page, 0))).collect();
    // Enough links that their loss counts.
    let full: String = (0..150).map(|page| line(page, &links(page, 8))).collect();
    place.write("bare.jsonl", bare);
    place.write("full.jsonl", full);
    let snapshot = ["ingest", "bank", "--snapshot"];
    place.run(&[&snapshot[..], &["all.jsonl"]].concat()).done();
    let state = place.state();
    for more in [&[][..], &["--dry-run"], &["--max-loss", "97.9", "--wait"]] {
        let args = [&snapshot[..], &["three.jsonl"], more].concat();
        let error = place.run(&args).fails(3);
        for words in [
            "from 150 to 3,",
            "from 600 to 15;",
            "lost by site: s3.example (21 pages, 84 links), s4.example (21 pages, ",
            "and 2 more sites",
            "the bank is unchanged",
            "omit --snapshot",
            "--max-loss 98\n",
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
    place.run(&["ingest", "bank", "full.jsonl"]).done();
    let error = place.run(&["ingest", "bank", "bare.jsonl"]).fails(3);
    for words in ["from 150 to 150,", "from 1200 to 0;", "--max-loss 100\n"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(!error.contains("omit --snapshot"), "{error}");
    let accepted = ["ingest", "bank", "bare.jsonl", "--max-loss", "100"];
    let report = place.run(&accepted).done();
    assert!(report.contains("1200 removed"), "{report}");
}

/// What a random batch says of its pages: few pages, or most; mostly the same thing.
fn batch() -> impl Strategy<Value = (Batch, bool)> {
    let news = |kind: u8, page: usize, count: usize| match kind {
        0 => News::Gone,
        1 => News::Clicks,
        2 => News::Fetched,
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
            .map(|(page, kind, count)| (page, news(kind, page, count)));
        (batch.collect(), snapshot)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 300,
..repeatable(6)})]

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
            let setting = Setting { snapshot, limit: Some(limit.into()), ..Setting::default() };
            let before = pair.bank.status().unwrap().counters;
            for otherwise in [false, true] {
                let dry_run = otherwise || !refused;
                let found = pair.loss(&batch, Setting { otherwise, dry_run, ..setting });
                prop_assert_eq!(found.as_ref().map(|loss| numbers_of(loss)), refused.then_some(numbers));
                if let Some(loss) = found {
                    let by_pages = is_too_much([pages_before, pages_after], 100, limit);
                    assert_worst(&loss, &sites, by_pages);
                    let of_pages = least_tenths([pages_before, pages_after], 100);
                    let of_links = least_tenths([links_before, links_after], 1_000);
                    let least = of_pages.max(of_links);
                    prop_assert!((loss.least_limit - least as f64 / 10.0).abs() < 1e-9, "{least}");
                    for (max_loss, accepted) in [(loss.least_limit, true), (loss.least_limit - 0.1, false)] {
                        let setting = Setting { limit: Some(max_loss), dry_run: true, ..setting };
                        prop_assert_eq!(pair.ingest(&batch, setting).is_none(), accepted);
                    }
                }
            }
            prop_assert_eq!(pair.bank.status().unwrap().counters, before);
            let meant = Setting { limit: Some(100.0), ..setting };
            prop_assert_eq!(pair.ingest(&batch, meant), None);
            pair.apply(&batch, snapshot);
        }
    }
}
