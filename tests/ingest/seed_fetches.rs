//! Fetches that crawlers attribute to seeds: `seed`, `via` and `depth` of records.
//!
//! * each rule by hand: what counts as a fetch, several records of one fetch, pages that only a seed names;
//! * random fetches of some pages in several batches, with undo and forget: after every step the bank attributes what
//!   a plain recount of the records does.

use std::collections::{BTreeMap, BTreeSet};

use crate::dated_bank::{A, B, C, DatedBank, NOON, fetched};
use crate::support::model::pages_of;
use proptest::prelude::*;
use seedbank::engine::evaluate::{ActualEvaluation, ActualRequest, FetchCounts, SeedCounts};
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::query::{PageLimits, PageState};
use seedbank::ingest::Record;

/// The counts of a seed: fetched, new, failed and duplicates.
type Counts = [u64; 4];

fn numbers(counts: SeedCounts) -> Counts {
    let SeedCounts {
        fetched,
        new,
        failed,
        duplicates,
        ..
    } = counts;
    [fetched, new, failed, duplicates]
}

impl DatedBank {
    fn actual(&self) -> ActualEvaluation {
        let request = ActualRequest::default();
        self.bank.evaluate_actual(&request).unwrap()
    }

    /// Returns the counts by seed; the bank has no plan.
    fn by_seed(&self) -> BTreeMap<String, Counts> {
        let rows = self.actual().others.into_iter();
        rows.map(|row| (row.url, numbers(row.counts))).collect()
    }

    fn without_seed(&self) -> [u64; 3] {
        let FetchCounts {
            fetched,
            new,
            failed,
        } = self.actual().unattributed;
        [fetched, new, failed]
    }
}

fn counts<const N: usize>(of: [(&str, Counts); N]) -> BTreeMap<String, Counts> {
    let owned = of.map(|(seed, counts)| (seed.to_owned(), counts));
    owned.into_iter().collect()
}

fn failed(url: &str, time: u64) -> Record {
    let status = "503".parse().unwrap();
    Record::new(url).status(status).fetched(time.to_string())
}

#[test]
fn fetches_count_for_the_seed_that_the_crawler_names() {
    let case = DatedBank::accepting_any_loss();
    let report = case.at(
        NOON,
        &[
            fetched(A, B, NOON).seed(A).depth(0).digest("x"),
            fetched(B, C, NOON + 1).seed(A).via(A).depth(1).digest("y"),
            failed(C, NOON + 2)
                .seed("HTTP://A.example:80/#top")
                .via(B)
                .depth(2),
            // Nothing is attributed by links or by the page that led to it.
            fetched("http://d.example/", A, NOON + 3).via(A).depth(1),
            // An attribute is no fetch.
            Record::new("http://e.example/").clicks(3).seed(A),
        ],
    );
    assert_eq!(report.attributed, 3);
    assert_eq!(case.by_seed(), counts([(A, [2, 2, 1, 0])]));
    assert_eq!(case.without_seed(), [1, 1, 0]);
    let origin = |url: &str| {
        let facts = case.bank.page(url, PageLimits::default()).unwrap();
        facts.origin.map(|origin| {
            let via = origin.via.unwrap_or_default();
            (origin.batch, origin.failed, origin.seed, via, origin.depth)
        })
    };
    let told =
        |failed, via: &str, depth| Some((1, failed, A.to_owned(), via.to_owned(), Some(depth)));
    assert_eq!(origin(A), told(false, "", 0));
    assert_eq!(origin(B), told(false, A, 1));
    assert_eq!(origin(C), told(true, B, 2));
    assert_eq!(origin("http://d.example/"), None);

    // The next crawl: a page again, one with the same content as another of its site, one that is gone.
    let copy = "http://b.example/copy";
    case.at(
        NOON + 100,
        &[
            fetched(B, C, NOON + 100).seed(B).digest("y"),
            fetched(copy, C, NOON + 101).seed(B).digest("y"),
            Record::new(A)
                .gone()
                .fetched((NOON + 102).to_string())
                .seed(B),
            fetched(C, A, NOON + 103).seed(B).digest("y"),
        ],
    );
    let both = counts([(A, [2, 2, 1, 0]), (B, [4, 2, 0, 1])]);
    assert_eq!(case.by_seed(), both);
    // Undone, as if it never was.
    case.bank.undo(false, 64 << 20).unwrap();
    assert_eq!(case.by_seed(), counts([(A, [2, 2, 1, 0])]));
    assert_eq!(case.actual().batches, [1]);
}

#[test]
fn a_fetch_counts_once() {
    let case = DatedBank::accepting_any_loss();
    // A log beside an archive, which has the links and does not know the seed.
    let log = Record::new(A).digest("x").fetched(NOON.to_string()).seed(B);
    let archive = fetched(A, C, NOON).digest("x");
    case.at(NOON, &[archive.clone(), log.clone()]);
    assert_eq!(case.by_seed(), counts([(B, [1, 1, 0, 0])]));
    assert_eq!(pages_of(&case.bank)[A].outlinks, [C]);
    // The same fetch in a later batch is no other fetch.
    case.at(NOON + 5, &[archive.clicks(7), log, fetched(B, A, NOON)]);
    assert_eq!(case.by_seed(), counts([(B, [1, 1, 0, 0])]));
    assert_eq!(case.without_seed(), [1, 1, 0]);
    // Of several records the latest tells; a failed fetch before it counts too, and of several the last.
    let at = |seconds| NOON + 100 + seconds;
    case.at(
        at(0),
        &[
            fetched(C, A, at(1)).seed(A),
            fetched(C, A, at(9)).seed(B),
            failed(C, at(2)).seed(A),
            failed(C, at(4)).seed(B),
            failed(A, at(3)).seed(A),
            // Stale.
            fetched(B, A, NOON - 1).seed(A),
        ],
    );
    let expected = counts([(A, [0, 0, 1, 0]), (B, [2, 2, 1, 0])]);
    assert_eq!(case.by_seed(), expected);
}

#[test]
fn a_seed_is_no_link() {
    let case = DatedBank::accepting_any_loss();
    let (seed, via) = ("http://seed.example/", "http://via.example/");
    case.at(NOON, &[fetched(A, B, NOON).seed(seed).via(via)]);
    let pages = pages_of(&case.bank);
    assert_eq!(pages.keys().collect::<Vec<_>>(), [A, B]);
    assert_eq!(case.by_seed(), counts([(seed, [1, 1, 0, 0])]));
    // Once it is fetched, it is a page as any other.
    case.at(NOON + 9, &[fetched(seed, A, NOON + 9).seed(seed)]);
    assert_eq!(pages_of(&case.bank)[seed].state, PageState::Crawled);
    assert_eq!(case.by_seed(), counts([(seed, [2, 2, 0, 0])]));
    // Forgotten, its fetches are those of a seed without a name.
    let request = ForgetRequest {
        what: vec![seed.to_owned()],
        ..ForgetRequest::default()
    };
    case.bank.forget(&request).unwrap();
    assert_eq!(case.by_seed(), BTreeMap::new());
    assert_eq!(numbers(case.actual().forgotten), [2, 2, 0, 0]);
    let facts = case.bank.page(A, PageLimits::default()).unwrap();
    assert_eq!(facts.origin, None);
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
struct Fetch {
    page: usize,
    time: u64,
    found: Found,
    seed: Option<usize>,
}

#[derive(Clone, Debug)]
enum Step {
    Ingest(Vec<Fetch>),
    Undo,
    Forget(usize),
}

fn fetch() -> impl Strategy<Value = Fetch> {
    let found = prop_oneof![
        3 => prop::option::of(prop_oneof![Just("x"), Just("y")]).prop_map(Found::Crawled),
        1 => Just(Found::Gone),
        1 => Just(Found::Moved),
        2 => Just(Found::Failed),
    ];
    let seed = prop::option::weighted(0.8, 0..PAGES.len());
    (0..PAGES.len(), 0_u64..60, found, seed).prop_map(|(page, time, found, seed)| Fetch {
        page,
        time: NOON + time,
        found,
        seed,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(fetch(), 1..10).prop_map(|mut fetches| {
            // Each page is fetched at most once a second.
            let mut seen = BTreeSet::new();
            fetches.retain(|fetch| seen.insert((fetch.page, fetch.time)));
            Step::Ingest(fetches)
        }),
        1 => Just(Step::Undo),
        1 => (0..PAGES.len()).prop_map(Step::Forget),
    ]
}

impl Fetch {
    fn record(&self) -> Record {
        let url = PAGES[self.page];
        let record = match self.found {
            Found::Failed => failed(url, self.time),
            Found::Gone => Record::new(url).gone().fetched(self.time.to_string()),
            Found::Moved => Record::new(url)
                .redirect(ELSEWHERE)
                .fetched(self.time.to_string()),
            Found::Crawled(digest) => {
                let record = Record::new(url).fetched(self.time.to_string());
                match digest {
                    Some(digest) => record.digest(digest),
                    None => record,
                }
            }
        };
        match self.seed {
            Some(seed) => record.seed(PAGES[seed]).depth(1),
            None => record,
        }
    }
}

/// What is known of a page.
#[derive(Clone, Copy, Default)]
struct Known {
    fetched: Option<u64>,
    is_crawled: bool,
    digest: Option<&'static str>,
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

    fn ingest(&mut self, batch: u32, fetches: &[Fetch]) {
        for fetch in fetches {
            self.name(batch, fetch.page);
            if let Some(seed) = fetch.seed {
                self.name(batch, seed);
            }
        }
        let before = self.pages;
        let site = |page: usize| page / 3;
        let has = |page: usize, digest: &str| {
            before[page].is_crawled && before[page].digest == Some(digest)
        };
        let mut tally = Tally::default();
        let mut digests: Vec<(usize, &str)> = Vec::new();
        for (_, page) in self.order.clone() {
            let of_page = || fetches.iter().filter(move |fetch| fetch.page == page);
            let old = before[page];
            let answers = of_page().filter(|fetch| fetch.found != Found::Failed);
            let answer = answers.max_by_key(|fetch| fetch.time);
            let answer = answer.filter(|fetch| old.fetched.is_none_or(|at| fetch.time >= at));
            let known = &mut self.pages[page];
            if let Some(fetch) = answer {
                let mut is_duplicate = false;
                if let Found::Crawled(Some(digest)) = fetch.found {
                    let is_other = |other: usize| other != page && site(other) == site(page);
                    is_duplicate = (0..PAGES.len())
                        .any(|other| is_other(other) && has(other, digest))
                        || digests.contains(&(site(page), digest));
                    digests.push((site(page), digest));
                    known.digest = Some(digest);
                }
                known.is_crawled = matches!(fetch.found, Found::Crawled(_));
                if old.fetched != Some(fetch.time) {
                    let is_new = known.is_crawled && old.fetched.is_none();
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
            let is_news = |fetch: &&Fetch| {
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
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(20)))]

    #[test]
    fn the_bank_attributes_what_a_recount_does(steps in prop::collection::vec(step(), 1..8)) {
        let case = DatedBank::accepting_any_loss();
        let mut recount = Recount::default();
        // The state before the last batch, while it can be undone.
        let mut previous: Option<Recount> = None;
        let mut batch = 0;
        for step in &steps {
            match step {
                Step::Ingest(fetches) => {
                    let records: Vec<Record> = fetches.iter().map(Fetch::record).collect();
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
            prop_assert_eq!(case.by_seed(), by_seed);
            prop_assert_eq!(numbers(case.actual().forgotten), forgotten);
            prop_assert_eq!(case.without_seed(), nobody);
        }
    }
}
