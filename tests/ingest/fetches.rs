//! Random fetches of some pages, in batches of any cut and order, compared with models. The rules, one by one, are in
//! `cases/bank`.
//!
//! * pages, links, failures and sums that depend on the order of batches or on their cuts;
//! * a failure that is counted although the page was fetched later;
//! * seeds that count other fetches than those that name them, also after undo and forget.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support;
use crate::support::histories::{exported, exported_web, made_of};
use crate::support::model::{assert_clean, pages_of};
use crate::support::properties::repeatable;
use proptest::prelude::*;
use proptest::sample::Index;
use seedbank::engine::evaluate::{ActualRequest, FetchCounts, SeedCounts};
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::query::{Failures, PageLimits, PageYield};
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{FetchStatus, Naming, Record};
use serde_json::{Value, json};

const NOON: u64 = 1_795_086_000;
const DAY: u64 = 86_400;

struct DatedBank {
    _folder: tempfile::TempDir,
    bank: Bank,
}

impl DatedBank {
    fn new() -> Self {
        let folder = support::scratch();
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        Self {
            _folder: folder,
            bank,
        }
    }

    /// Ingests a batch whose undated records count as fetched at this time.
    fn at(&self, as_of: u64, records: &[Record]) -> IngestReport {
        let request = IngestRequest {
            as_of: Some(as_of),
            max_loss: 100.0,
            learn_from_bulk: true,
            ..IngestRequest::default()
        };
        let report = self.bank.ingest_records(&request, records.iter().cloned());
        assert_clean(&self.bank);
        report.unwrap()
    }

    fn failures(&self) -> BTreeMap<String, Failures> {
        let pages = pages_of(&self.bank).into_keys();
        let failures = |url: &String| self.bank.page(url, PageLimits::default()).unwrap().failures;
        pages
            .filter_map(|url| failures(&url).map(|found| (url, found)))
            .collect()
    }
}

fn at(url: &str, time: u64) -> Record {
    Record::new(url).fetched(time.to_string())
}

#[test]
fn records_of_no_time_have_that_of_the_ingest() {
    let case = DatedBank::new();
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let before = now();
    let record = Record::new("http://a.example/").digest("a");
    case.bank
        .ingest_records(&IngestRequest::default(), [record])
        .unwrap();
    let time = pages_of(&case.bank)["http://a.example/"].fetched.unwrap();
    assert!((before..=now()).contains(&time), "{time}");
}

#[test]
fn a_revisit_in_the_same_file_keeps_the_links() {
    let url = "http://a.example/";
    let page = at(url, NOON).outlinks(["http://b.example/"]).clicks(3);
    let revisit = at(url, NOON + 60).digest("same");
    let together = DatedBank::new();
    together.at(NOON + DAY, &[page.clone(), revisit.clone()]);
    let expected = exported_web(&together.bank);
    let digest = format!("blake3-128:{}", &blake3::hash(b"same").to_hex()[..32]);
    assert_eq!(
        expected
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Value>>(),
        [
            json!({"url": url, "fetched": "2026-11-19T11:01:00Z", "digest": digest}),
            json!({"url": url, "fetched": "2026-11-19T11:00:00Z", "outlinks": ["http://b.example/"], "clicks": 3}),
        ]
    );
    for records in [[&page, &revisit], [&revisit, &page]] {
        let apart = DatedBank::new();
        for record in records {
            apart.at(NOON + DAY, std::slice::from_ref(record));
        }
        assert_eq!(exported_web(&apart.bank), expected);
        // What was already stated is stale, and undo takes back what was not.
        assert_eq!(
            apart
                .at(NOON + DAY, &[page.clone().clicks(9), revisit.clone()])
                .stale,
            0
        );
        apart.bank.undo(false, 0).unwrap();
        assert_eq!(exported_web(&apart.bank), expected);
    }
}

#[test]
fn a_list_of_links_and_a_log_of_one_crawl_are_one_fetch() {
    let urls = ["http://a.example/", "http://a.example/1"];
    let listed = urls.map(|url| Record::new(url).outlinks(["http://b.example/"]));
    let logged = urls.map(|url| at(url, NOON + 3600).digest("d"));
    let case = DatedBank::new();
    case.at(NOON, &listed);
    assert_eq!(case.at(NOON + DAY, &logged).learned.fetched_again, 0);
    // The next day has a list and a log again, which are one more fetch.
    assert_eq!(case.at(NOON + DAY, &listed).learned.fetched_again, 2);
    let next = urls.map(|url| at(url, NOON + DAY + 3600));
    assert_eq!(case.at(NOON + 2 * DAY, &next).learned.fetched_again, 0);
    // A log alone reports a fetch of its own.
    let later = urls.map(|url| at(url, NOON + DAY + 7200));
    assert_eq!(case.at(NOON + 2 * DAY, &later).learned.fetched_again, 2);
}

#[test]
fn stale_records_are_listed_after_the_rejected_ones() {
    let case = DatedBank::new();
    let [a, b, c] = [
        "http://a.example/",
        "http://b.example/",
        "http://c.example/",
    ];
    case.at(NOON, &[at(a, NOON), at(b, NOON)]);
    let bad = Record::new("nowhere").clicks(1);
    let records = [at(a, NOON - 61), bad, at(b, 0), Record::new(c).digest("c")];
    for dry_run in [true, false] {
        let request = IngestRequest {
            max_rejects: 50.0,
            as_of: Some(NOON),
            dry_run,
            ..IngestRequest::default()
        };
        let report = case.bank.ingest_records(&request, records.clone()).unwrap();
        let counts = (report.stale, report.read.rejected(), report.rejects_listed);
        assert_eq!(counts, (2, 1, 1));
        let list = fs::read_to_string(report.rejects_file.unwrap()).unwrap();
        let mut lines: Vec<Value> = list
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["reason"], "relative_url");
        // Stale records are listed in the order of the ids of their pages.
        lines[1..].sort_by_key(|line| line["url"].to_string());
        let stale = |url: &str, time: &str| json!({"url": url, "reason": "stale", "fetched": time, "page_fetched": "2026-11-19T11:00:00Z"});
        let expected = [
            stale(a, "2026-11-19T10:58:59Z"),
            stale(b, "1970-01-01T00:00:00Z"),
        ];
        assert_eq!(lines[1..], expected);
    }
}

/// What a record says of its page.
#[derive(Clone, Debug)]
enum News {
    /// The page was fetched, without its links.
    Page,
    Links(Vec<usize>),
    Alias(usize),
    Gone,
}

fn page_url(page: usize) -> String {
    format!("http://s{}.example/{page}", page % 3)
}

/// A record with a time and, unless the page is gone, with some attributes: a bit of `fields` each.
fn record_of(page: usize, news: &News, time: u64, fields: u8) -> Record {
    let mut record = at(&page_url(page), time);
    let number = u64::from(fields % 5);
    record = match news {
        News::Gone if fields >> 5 == 1 => {
            return record.gone().changed((NOON + 2 * number).to_string());
        }
        News::Gone => return record.gone(),
        News::Page => record,
        // A page is no alias of itself.
        News::Alias(to) => record.redirect(page_url(if *to == page { 9 } else { *to })),
        News::Links(to) => record.outlinks(to.iter().map(|to| page_url(*to))),
    };
    if fields >> 5 == 1 {
        record = record.changed((NOON + 2 * number).to_string());
    }
    for bit in (0..5).filter(|bit| fields >> bit & 1 == 1) {
        record = match bit {
            0 => record.clicks(number),
            1 => record.spam(number == 1),
            2 if number == 3 => record.count_uncrawled_outlinks(),
            2 => record.uncrawled_outlinks(number),
            3 if number == 4 => record.no_quality(),
            3 => record.quality(0.25),
            _ => record.digest(format!("digest {number}")),
        };
    }
    record
}

fn news() -> impl Strategy<Value = News> {
    prop_oneof![
        3 => Just(News::Page),
        5 => prop::collection::vec(0..9_usize, 0..4).prop_map(News::Links),
        2 => (0..9_usize).prop_map(News::Alias),
        1 => Just(News::Gone),
    ]
}

/// Records of few pages and times, in several batches, and the batches in another order.
fn batches() -> impl Strategy<Value = (Vec<Vec<Record>>, Vec<Vec<Record>>)> {
    let record = (0..5_usize, news(), NOON..NOON + 9, 0..64_u8, 0..5_usize);
    prop::collection::vec(record, 1..40).prop_flat_map(|all| {
        let mut batches = vec![Vec::new(); 5];
        for (page, news, time, fields, batch) in all {
            batches[batch].push(record_of(page, &news, time, fields));
        }
        batches.retain(|batch| !batch.is_empty());
        (Just(batches.clone()), Just(batches).prop_shuffle())
    })
}

/// A fetch that failed with a status, or found links to these pages; every fetch is some hours after the one before.
#[derive(Clone, Debug)]
struct Fetch {
    page: usize,
    time: u64,
    failed: Option<u16>,
    to: usize,
}

impl Fetch {
    fn record(&self) -> Record {
        let record = at(&page_url(self.page), self.time);
        match self.failed {
            Some(code) => record.status(FetchStatus::http(code).unwrap()),
            None => record.outlinks([page_url(self.to)]),
        }
    }
}

fn fetches() -> impl Strategy<Value = Vec<Fetch>> {
    let fetch = (0..4_usize, 0..4_usize, prop::option::of(500_u16..504));
    prop::collection::vec(fetch, 1..24).prop_map(|fetches| {
        let fetches = fetches.into_iter().zip((NOON..).step_by(5 * 3600 + 1));
        let fetch = |((page, to, failed), time)| Fetch {
            page,
            time,
            failed,
            to,
        };
        fetches.map(fetch).collect()
    })
}

/// The failures of each page that the whole list implies.
fn expected_failures(fetches: &[Fetch]) -> BTreeMap<String, Failures> {
    let mut expected = BTreeMap::new();
    let half_day = |fetch: &Fetch| fetch.time / (DAY / 2);
    for page in 0..4 {
        let of_page = || fetches.iter().filter(move |fetch| fetch.page == page);
        let answered = of_page().filter(|fetch| fetch.failed.is_none());
        let answered = answered.max_by_key(|fetch| fetch.time);
        let last = of_page().max_by_key(|fetch| fetch.time);
        let Some((last, status)) = last.and_then(|last| Some((last, last.failed?))) else {
            continue;
        };
        let is_later = |at: &u64| answered.is_none_or(|answered| *at > half_day(answered));
        let mut half_days: BTreeSet<u64> = of_page()
            .filter(|fetch| fetch.failed.is_some())
            .map(half_day)
            .filter(is_later)
            .collect();
        half_days.insert(half_day(last));
        let since = match half_days.first() {
            Some(first) if half_days.len() > 1 => first * (DAY / 2),
            _ => last.time,
        };
        let failures = Failures {
            status: FetchStatus::http(status).unwrap(),
            count: u32::try_from(half_days.len()).unwrap(),
            since,
            last: last.time,
        };
        expected.insert(page_url(page), failures);
    }
    expected
}

fn bank_of_batches(fetches: &[Fetch], cuts: &[Index]) -> DatedBank {
    let case = DatedBank::new();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(fetches.len())).collect();
    cuts.extend([0, fetches.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    for part in cuts.windows(2) {
        let records: Vec<Record> = fetches[part[0]..part[1]]
            .iter()
            .map(Fetch::record)
            .collect();
        case.at(NOON + 30 * DAY, &records);
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..repeatable(10) })]

    #[test]
    fn the_order_of_batches_changes_nothing((batches, shuffled) in batches()) {
        let exports = [batches.clone(), shuffled, vec![batches.concat()]].map(|batches| {
            let case = DatedBank::new();
            for (time, records) in (7..).zip(&batches) {
                case.at(time, records);
            }
            let (_folder, made) = made_of(&case.bank);
            prop_assert_eq!(exported_web(&made), exported_web(&case.bank));
            Ok(exported_web(&case.bank))
        });
        let [one, other, whole] = exports;
        let one = one?;
        prop_assert_eq!(&one, &other?);
        prop_assert_eq!(&one, &whole?);
    }

    #[test]
    fn failures_are_those_of_the_whole_list(
        (fetches, shuffled) in fetches().prop_flat_map(|fetches| {
            (Just(fetches.clone()), Just(fetches).prop_shuffle())
        }),
        cuts in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let whole = bank_of_batches(&fetches, &[]);
        let in_order = bank_of_batches(&fetches, &cuts);
        let expected = expected_failures(&fetches);
        prop_assert_eq!(in_order.failures(), expected.clone());
        prop_assert_eq!(exported_web(&in_order.bank), exported_web(&whole.bank));
        let other = bank_of_batches(&shuffled, &cuts);
        prop_assert_eq!(other.failures(), expected);
        let (_folder, made) = made_of(&other.bank);
        prop_assert_eq!(exported_web(&made), exported_web(&other.bank));
        let mut others = pages_of(&other.bank);
        for (url, page) in pages_of(&whole.bank) {
            let other = others.remove(&url).unwrap();
            prop_assert_eq!((page.state, page.fetched), (other.state, other.fetched));
            prop_assert_eq!(page.outlinks, other.outlinks);
        }
    }
}

/// A fetch of one of few pages, some hours after the previous one.
#[derive(Clone, Debug)]
struct Revisit {
    page: usize,
    hours: u64,
    targets: BTreeSet<u64>,
    is_gone: bool,
    ends_batch: bool,
}

fn revisits() -> impl Strategy<Value = Vec<Revisit>> {
    let targets = prop::collection::btree_set(0_u64..25, 0..5);
    let gone = prop::bool::weighted(0.1);
    let fetch = (0_usize..3, 1_u64..900, targets, gone, any::<bool>());
    let fetch = fetch.prop_map(|(page, hours, targets, is_gone, ends_batch)| Revisit {
        page,
        hours,
        targets,
        is_gone,
        ends_batch,
    });
    prop::collection::vec(fetch, 1..25)
}

/// What the model knows of a page: the time of its last fetch, and for all fetches after the first their time, the time
/// since the one before, and the number of new links.
#[derive(Default)]
struct Modelled {
    fetched: Option<u64>,
    observed: Vec<(u64, u64, usize)>,
}

proptest! {
    #![proptest_config(repeatable(10))]

    #[test]
    fn what_fetches_brought_is_the_sum_over_the_whole_list(fetches in revisits()) {
        let case = DatedBank::new();
        let new_url = |number: &u64| format!("http://new.example/{number}");
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut modelled: BTreeMap<usize, Modelled> = BTreeMap::new();
        let mut time = NOON;
        // Of several fetches of a page in one batch, the last one counts.
        let mut batch: BTreeMap<usize, (u64, Revisit)> = BTreeMap::new();
        let last = fetches.len() - 1;
        for (number, fetch) in fetches.into_iter().enumerate() {
            time += fetch.hours * 3600;
            let ends_batch = fetch.ends_batch || number == last;
            batch.insert(fetch.page, (time, fetch));
            if !ends_batch {
                continue;
            }
            let batch = std::mem::take(&mut batch);
            let mut named: BTreeSet<String> = BTreeSet::new();
            let mut records = Vec::new();
            for (page, (time, fetch)) in &batch {
                let targets: Vec<String> = fetch.targets.iter().map(new_url).collect();
                let new = targets.iter().filter(|to| !fetch.is_gone && !known.contains(*to)).count();
                let page_model = modelled.entry(*page).or_default();
                if let Some(before) = page_model.fetched {
                    page_model.observed.push((*time, time - before, new));
                }
                page_model.fetched = Some(*time);
                let record = at(&page_url(*page), *time);
                if fetch.is_gone {
                    records.push(record.gone());
                } else {
                    named.extend(targets.iter().cloned());
                    records.push(record.outlinks(targets));
                }
            }
            known.extend(named);
            let report = case.at(time, &records);
            let again = modelled.values().flat_map(|model| &model.observed);
            let again = again.filter(|(time, ..)| batch.values().any(|(of_batch, _)| of_batch == time));
            prop_assert_eq!(report.learned.fetched_again, again.count() as u64);
        }
        for (page, model) in &modelled {
            let found = case.bank.page(&page_url(*page), PageLimits::default()).unwrap().yields;
            prop_assert_eq!(found.is_some(), !model.observed.is_empty());
            let (mut days, mut new) = (0.0, 0.0);
            for (time, since, found) in &model.observed {
                let age = (model.fetched.unwrap() - time) as f64 / DAY as f64;
                let weight = (-age / 64.0).exp2();
                days += weight * (*since as f64 / DAY as f64);
                new += weight * *found as f64;
            }
            let found = found.unwrap_or(PageYield { observed_days: 0.0, new_links: 0.0 });
            prop_assert!((found.observed_days - days).abs() < 5e-3, "{found:?} {days}");
            prop_assert!((found.new_links - new).abs() < 5e-3, "{found:?} {new}");
        }
        let (_folder, made) = made_of(&case.bank);
        prop_assert_eq!(exported(&made), exported(&case.bank));
    }
}

/// The counts of a seed: fetched, new, failed and duplicates.
type Counts = [u64; 4];

fn numbers(counts: SeedCounts) -> Counts {
    [counts.fetched, counts.new, counts.failed, counts.duplicates]
}

const PAGES: [&str; 6] = [
    "http://a.example/",
    "http://a.example/1",
    "http://a.example/2",
    "http://b.example/",
    "http://b.example/1",
    "http://b.example/2",
];
const ELSEWHERE: &str = "http://z.example/";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Crawled(Option<&'static str>),
    Gone,
    Moved,
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct SeedFetch {
    page: usize,
    time: u64,
    found: Found,
    seed: Option<usize>,
}

#[derive(Clone, Debug)]
enum Step {
    Ingest(Vec<SeedFetch>),
    Undo,
    Forget(usize),
}

fn seed_fetch() -> impl Strategy<Value = SeedFetch> {
    let found = prop_oneof![
        3 => prop::option::of(prop_oneof![Just("x"), Just("y")]).prop_map(Found::Crawled),
        1 => Just(Found::Gone),
        1 => Just(Found::Moved),
        2 => Just(Found::Failed),
    ];
    let seed = prop::option::weighted(0.8, 0..PAGES.len());
    (0..PAGES.len(), 0_u64..60, found, seed).prop_map(|(page, time, found, seed)| SeedFetch {
        page,
        time: NOON + time,
        found,
        seed,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(seed_fetch(), 1..10).prop_map(|mut fetches| {
            // Each page is fetched at most once a second.
            let mut seen = BTreeSet::new();
            fetches.retain(|fetch| seen.insert((fetch.page, fetch.time)));
            Step::Ingest(fetches)
        }),
        1 => Just(Step::Undo),
        1 => (0..PAGES.len()).prop_map(Step::Forget),
    ]
}

impl SeedFetch {
    fn record(&self) -> Record {
        let url = PAGES[self.page];
        let record = match self.found {
            Found::Failed => at(url, self.time).status("503".parse().unwrap()),
            Found::Gone => at(url, self.time).gone(),
            Found::Moved => at(url, self.time).redirect(ELSEWHERE),
            Found::Crawled(None) => at(url, self.time),
            Found::Crawled(Some(digest)) => at(url, self.time).digest(digest),
        };
        match self.seed {
            Some(seed) => record.seed(PAGES[seed]).depth(1),
            None => record,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Rank {
    #[default]
    Nothing,
    Gone,
    Moved,
    Crawled,
}

impl SeedFetch {
    fn rank(&self) -> Rank {
        match self.found {
            Found::Failed => Rank::Nothing,
            Found::Gone => Rank::Gone,
            Found::Moved => Rank::Moved,
            Found::Crawled(_) => Rank::Crawled,
        }
    }
}

/// What is known of a page.
#[derive(Clone, Copy, Default)]
struct Known {
    fetched: Option<u64>,
    /// What the last fetch found; at the same second the greatest counts.
    found: Rank,
    /// The last digest, after its time and its hash, which decides at the same second.
    digest: Option<(u64, [u8; 32], &'static str)>,
    gone: Option<u64>,
    /// The last failed fetch since then.
    failed: Option<u64>,
}

/// Fetches by seed, with how often its URL was forgotten before, and those without a seed.
type Tally = (BTreeMap<(usize, u32), Counts>, [u64; 3]);

/// The plain recount.
#[derive(Clone, Default)]
struct Recount {
    pages: [Known; PAGES.len()],
    /// How often each URL was forgotten.
    forgotten: [u32; PAGES.len()],
    /// The order in which pages got their ids: by batch, then by URL.
    order: Vec<(u32, usize)>,
    batches: Vec<Tally>,
}

impl Recount {
    fn name(&mut self, batch: u32, page: usize) {
        if !self.order.iter().any(|(_, known)| *known == page) {
            self.order.push((batch, page));
            self.order.sort_unstable();
        }
    }

    fn ingest(&mut self, batch: u32, fetches: &[SeedFetch]) {
        for fetch in fetches {
            self.name(batch, fetch.page);
            if let Some(seed) = fetch.seed {
                self.name(batch, seed);
            }
        }
        let before = self.pages;
        let site = |page: usize| page / 3;
        let has = |page: usize, digest: &str| {
            let has = before[page].digest.is_some_and(|known| known.2 == digest);
            before[page].found == Rank::Crawled && has
        };
        let mut tally = Tally::default();
        let mut digests: Vec<(usize, &str)> = Vec::new();
        for (_, page) in self.order.clone() {
            let of_page = || fetches.iter().filter(move |fetch| fetch.page == page);
            let old = before[page];
            let answers = of_page().filter(|fetch| fetch.found != Found::Failed);
            let answer = answers.max_by_key(|fetch| fetch.time);
            let answer =
                answer.filter(|fetch| (Some(fetch.time), fetch.rank()) >= (old.fetched, old.found));
            let known = &mut self.pages[page];
            for fetch in of_page() {
                match fetch.found {
                    Found::Gone => known.gone = known.gone.max(Some(fetch.time)),
                    Found::Crawled(Some(digest)) => {
                        let hash = *blake3::hash(digest.as_bytes()).as_bytes();
                        known.digest = known.digest.max(Some((fetch.time, hash, digest)));
                    }
                    _ => {}
                }
            }
            if let Some(fetch) = answer {
                let mut is_duplicate = false;
                if let Found::Crawled(Some(digest)) = fetch.found {
                    let is_other = |other: usize| other != page && site(other) == site(page);
                    is_duplicate = (0..PAGES.len())
                        .any(|other| is_other(other) && has(other, digest))
                        || digests.contains(&(site(page), digest));
                    digests.push((site(page), digest));
                }
                known.found = fetch.rank();
                if old.fetched != Some(fetch.time) {
                    let is_new = known.found == Rank::Crawled && old.fetched.is_none();
                    if let Some(seed) = fetch.seed {
                        let counts = tally.0.entry((seed, self.forgotten[seed])).or_default();
                        counts[0] += 1;
                        counts[1] += u64::from(is_new);
                        counts[3] += u64::from(is_duplicate);
                    } else {
                        tally.1[0] += 1;
                        tally.1[1] += u64::from(is_new);
                    }
                }
                known.fetched = Some(fetch.time);
                known.failed = known.failed.filter(|at| *at > fetch.time);
            }
            let (is_gone, gone) = (known.found == Rank::Gone, known.gone);
            known.digest = known.digest.filter(|of| !is_gone && Some(of.0) >= gone);
            let is_news = |fetch: &&SeedFetch| {
                let later = |at: Option<u64>| at.is_none_or(|at| fetch.time > at);
                fetch.found == Found::Failed && later(old.fetched) && later(old.failed)
            };
            if let Some(last) = of_page().filter(is_news).max_by_key(|fetch| fetch.time) {
                match last.seed {
                    Some(seed) => tally.0.entry((seed, self.forgotten[seed])).or_default()[2] += 1,
                    None => tally.1[2] += 1,
                }
                if known.fetched.is_none_or(|at| last.time > at) {
                    known.failed = known.failed.max(Some(last.time));
                }
            }
        }
        self.batches.push(tally);
    }

    fn forget(&mut self, page: usize) {
        self.pages[page] = Known::default();
        self.forgotten[page] += 1;
        self.order.retain(|(_, known)| *known != page);
    }

    /// The counts of seeds by URL, of forgotten ones together, and of nobody.
    fn sums(&self) -> (BTreeMap<String, Counts>, Counts, [u64; 3]) {
        let mut sums = (BTreeMap::new(), Counts::default(), [0; 3]);
        for (by_seed, nobody) in &self.batches {
            for ((seed, forgotten), counts) in by_seed {
                let sum = if *forgotten == self.forgotten[*seed] {
                    sums.0.entry(PAGES[*seed].to_owned()).or_default()
                } else {
                    &mut sums.1
                };
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum += count;
                }
            }
            for (sum, count) in sums.2.iter_mut().zip(nobody) {
                *sum += count;
            }
        }
        sums
    }
}

proptest! {
    #![proptest_config(repeatable(12))]

    #[test]
    fn the_bank_attributes_what_a_recount_does(steps in prop::collection::vec(step(), 1..8)) {
        let case = DatedBank::new();
        let mut recount = Recount::default();
        // The state before the last batch, while it can be undone.
        let mut previous: Option<Recount> = None;
        let mut batch = 0;
        for step in &steps {
            match step {
                Step::Ingest(fetches) => {
                    let records: Vec<Record> = fetches.iter().map(SeedFetch::record).collect();
                    let report = case.at(NOON + 1000, &records);
                    if report.batch.is_some() {
                        batch += 1;
                        previous = Some(recount.clone());
                        recount.ingest(batch, fetches);
                    }
                }
                Step::Undo => {
                    if let Some(before) = previous.take() {
                        case.bank.undo(false, 64 << 20).unwrap();
                        batch += 1;
                        // Pages keep their ids.
                        let order = std::mem::take(&mut recount.order);
                        recount = Recount { order, ..before };
                    }
                }
                Step::Forget(page) => {
                    let is_known = recount.order.iter().any(|(_, known)| known == page);
                    if is_known {
                        let request = ForgetRequest {
                            what: vec![PAGES[*page].to_owned()],
                            ..ForgetRequest::default()
                        };
                        case.bank.forget(&request).unwrap();
                        batch += 1;
                        previous = None;
                        recount.forget(*page);
                    }
                }
            }
            let (by_seed, forgotten, nobody) = recount.sums();
            let actual = case.bank.evaluate_actual(&ActualRequest::default()).unwrap();
            let rows = actual.others.into_iter().map(|row| (row.url, numbers(row.counts)));
            prop_assert_eq!(rows.collect::<BTreeMap<_, _>>(), by_seed);
            prop_assert_eq!(numbers(actual.forgotten), forgotten);
            let FetchCounts { fetched, new, failed } = actual.unattributed;
            prop_assert_eq!([fetched, new, failed], nobody);
        }
    }
}
