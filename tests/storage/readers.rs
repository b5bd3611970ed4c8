//! Readers beside a writer: every answer belongs to one published state.
//!
//! The days of a generated crawl are ingested and refreshed once with nobody reading, which gives
//! the table of states; then once more, alternately in this process and by the command, while
//! threads and other processes ask all the time. Bug classes: an answer that mixes two states, a
//! state removed while it is read, an open that fails while the pointer moves, a state that comes
//! back, published states and log files that pile up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::banks::{cores_of, seeds_of};
use crate::support::command::{Place, names};
use crate::support::plans::exact_cores;
use seedbank::engine::query::CounterView;
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::Input;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;
use seedbank_store::records::PageState;
use seedbank_store::{Reader, Verdict, Writer};

const DAYS: u32 = 4;
const SEEDS: u32 = 8;

/// The numbers of batches and refreshes so far, which identify a state.
type Number = (u32, u32);

/// What a state answers.
#[derive(Clone, PartialEq, Debug)]
struct State {
    counters: CounterView,
    sites: u64,
    /// How many pages are known, crawled and gone, counted page by page.
    pages: [u64; 3],
}

fn number(counters: &CounterView) -> Number {
    (counters.batches, counters.refreshes)
}

fn day(place: &Place, day: u32) -> String {
    let path = place.path(&format!("crawl/day-{day:03}.jsonl.zst"));
    path.to_str().unwrap().to_owned()
}

fn count_pages(bank: &Bank) -> [u64; 3] {
    let mut counts = [0; 3];
    bank.pages(|page| {
        counts[match page.state {
            PageState::Known => 0,
            PageState::Crawled => 1,
            _ => 2,
        }] += 1;
        Ok::<_, EngineError>(())
    })
    .unwrap();
    counts
}

fn state(bank: &Bank) -> State {
    let status = bank.status().unwrap();
    State {
        counters: status.counters,
        sites: status.sites,
        pages: count_pages(bank),
    }
}

fn urls(bank: &Bank) -> (u32, Vec<String>) {
    let seeds = seeds_of(bank, Which::default());
    let refresh = seeds[0].refresh;
    assert!(seeds.iter().all(|seed| seed.refresh == refresh));
    (refresh, seeds.into_iter().map(|seed| seed.url).collect())
}

/// Ingests one day; every other one by the command.
fn ingest(place: &Place, name: &str, number: u32) {
    if number % 2 == 1 {
        place.run(&["ingest", name, &day(place, number)]).done();
        return;
    }
    let request = IngestRequest {
        inputs: vec![Input::named(day(place, number).into())],
        // Every fourth day is a bulk load.
        memory: if number.is_multiple_of(4) {
            0
        } else {
            64 << 20
        },
        ..IngestRequest::default()
    };
    let bank = Bank::at(place.path(name));
    bank.ingest(&request).unwrap();
}

fn refresh(place: &Place, name: &str, number: u32) {
    if number.is_multiple_of(2) {
        let seeds = SEEDS.to_string();
        place
            .run(&[
                "refresh", name, "--method", "cores", "--within", "0", "--seeds", &seeds,
            ])
            .done();
        return;
    }
    let request = RefreshRequest {
        options: exact_cores(PlanOptions {
            seeds: Some(SEEDS),
            ..PlanOptions::default()
        }),
        ..RefreshRequest::default()
    };
    let bank = Bank::at(place.path(name));
    bank.refresh(&request).unwrap();
}

/// The states of the reference run, and the seeds of each refresh.
struct Expected {
    states: BTreeMap<Number, State>,
    seeds: BTreeMap<u32, Vec<String>>,
}

/// Ingests and refreshes day by day; `each` sees the bank after every step.
fn live_through(
    place: &Place,
    name: &str,
    days: std::ops::RangeInclusive<u32>,
    mut each: impl FnMut(&Bank),
) {
    let bank = Bank::at(place.path(name));
    for number in days {
        ingest(place, name, number);
        each(&bank);
        refresh(place, name, number);
        each(&bank);
    }
}

impl Expected {
    /// Judges the answer of `status`, and of a walk over the pages.
    fn judge_status(&self, found: &CounterView, sites: u64) -> Number {
        let state = self.states.get(&number(found));
        let state = state.unwrap_or_else(|| panic!("no such state: {found:?}"));
        assert_eq!((found, sites), (&state.counters, state.sites));
        number(found)
    }

    fn judge_pages(&self, found: [u64; 3]) {
        let known = self.states.values().any(|state| state.pages == found);
        assert!(known, "no state has {found:?} pages");
    }
}

/// Asks until the writer has finished; returns the states that were seen.
fn ask(place: &Place, expected: &Expected, finished: &AtomicBool) -> BTreeSet<Number> {
    let bank = Bank::at(place.path("bank"));
    let mut all = BTreeSet::new();
    let mut last = (0, 0);
    loop {
        // Read first, so that every reader sees the last state.
        let done = finished.load(Ordering::SeqCst);
        let status = bank.status().unwrap();
        let now = expected.judge_status(&status.counters, status.sites);
        assert!(now >= last, "{now:?} after {last:?}");
        last = now;
        all.insert(now);
        let (refresh, found) = urls(&bank);
        assert!(refresh >= now.1);
        assert_eq!(found, expected.seeds[&refresh]);
        expected.judge_pages(count_pages(&bank));
        let cores = cores_of(&bank, Which::default());
        let of = cores[0].refresh;
        let seeds: Vec<String> = cores.into_iter().map(|core| core.seed).collect();
        assert_eq!(seeds, expected.seeds[&of]);
        if done {
            return all;
        }
    }
}

/// As [`ask`], by the command.
fn ask_by_command(place: &Place, expected: &Expected, finished: &AtomicBool) {
    loop {
        let done = finished.load(Ordering::SeqCst);
        let status = place.run(&["status", "bank", "--format", "json"]).json();
        let count = |name: &str| status[name].as_u64().unwrap();
        let number = ["batches", "refreshes"].map(|name| u32::try_from(count(name)).unwrap());
        let state = &expected.states[&(number[0], number[1])];
        assert_eq!(count("crawled"), state.counters.crawled);
        assert_eq!(count("inter_links"), state.counters.inter_links);
        assert_eq!(count("sites"), state.sites);
        let text = place.run(&["seeds", "bank"]).done();
        let found: Vec<&str> = text.lines().collect();
        assert!(expected.seeds.values().any(|seeds| *seeds == found));
        if done {
            return;
        }
    }
}

/// Tells the readers to finish, even if the writer fails.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The epochs of the published states in the bank.
fn published(bank: &Path) -> Vec<u64> {
    let names = names(&bank.join("published"));
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

#[test]
fn every_answer_belongs_to_one_published_state() {
    let place = Place::new();
    let options = SynthOptions {
        days: DAYS,
        rng_seed: 8,
        // Many, so that a day is large enough for a bulk load.
        changed_per_day: 0.8,
        ..SynthOptions::new(350)
    };
    generate(&place.path("crawl"), &options, &Unwatched).unwrap();
    let mut expected = Expected {
        states: BTreeMap::new(),
        seeds: BTreeMap::new(),
    };
    place.run(&["init", "reference"]).done();
    let mut bulk_loads = 0;
    live_through(&place, "reference", 0..=DAYS, |bank| {
        // The folder of a load stays, empty, until the next open.
        bulk_loads += names(&bank.path().join("loads")).len();
        let state = state(bank);
        let counters = state.counters;
        expected.states.insert(number(&counters), state);
        if counters.batches == counters.refreshes {
            let (refresh, urls) = urls(bank);
            expected.seeds.insert(refresh, urls);
        }
    });
    assert_eq!(expected.states.len(), 2 * (DAYS as usize + 1));

    assert!(bulk_loads > 1, "no bulk load beside readers");

    place.run(&["init", "bank"]).done();
    live_through(&place, "bank", 0..=0, |_| ());
    let bank = place.path("bank");
    let held = Reader::open(&bank).unwrap();
    let epoch = held.epoch();
    let finished = AtomicBool::new(false);
    let seen: Vec<BTreeSet<Number>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| ask(&place, &expected, &finished)))
            .collect();
        for _ in 0..2 {
            scope.spawn(|| ask_by_command(&place, &expected, &finished));
        }
        let finish = Finish(&finished);
        live_through(&place, "bank", 1..=DAYS, |_| ());
        drop(finish);
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let last = (DAYS + 1, DAYS + 1);
    for states in &seen {
        assert!(states.contains(&last) && states.len() >= 3, "{states:?}");
    }
    assert_eq!(state(&Bank::at(&bank)), expected.states[&last]);

    // The state that was held all the time is unchanged; then it goes too.
    let first = expected.states[&(1, 1)].counters;
    assert_eq!(CounterView::from(held.counters().unwrap()), first);
    assert!(published(&bank).contains(&epoch));
    drop(held);
    let check = Bank::at(&bank).check().unwrap();
    assert!(
        check.is_clean() && check.live.verdict == Verdict::Good,
        "{check:?}"
    );
    drop(Writer::open(&bank, false, &Unwatched).unwrap());
    let current = u64::from(last.0 + last.1);
    assert_eq!(published(&bank), [current]);
    // Hundreds of opens have written logs into that folder.
    let files = names(&bank.join(format!("published/{current}"))).len();
    assert!(files < 100, "{files} files in a published state");
}
