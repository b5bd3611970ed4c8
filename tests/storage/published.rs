//! What readers see of a bank, and what `check` says of it.

use std::fs;
use std::path::Path;

use seedbank::engine::query::{CounterView, PageView};
use seedbank::engine::{Bank, EngineError};
use seedbank::watch::Unwatched;
use seedbank_store::{Verdict, Writer};

/// Everything in a bank that does not say when something happened, or how long it took.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    sites: u64,
    pub counters: CounterView,
    pub pages: Vec<PageView>,
}

pub fn seen(bank: &Path) -> Seen {
    let status = Bank::at(bank).status().unwrap();
    Seen {
        sites: status.sites,
        counters: status.counters,
        pages: pages(bank),
    }
}

pub fn pages(bank: &Path) -> Vec<PageView> {
    let mut pages = Vec::new();
    let each = |page| {
        pages.push(page);
        Ok::<_, EngineError>(())
    };
    Bank::at(bank).pages(each).unwrap();
    pages
}

/// Walks the tables of the bank as it was left, in which nothing may be wrong; then opens it for
/// writing, which completes what is unfinished, and walks them again.
#[track_caller]
pub fn check(bank: &Path) {
    let verdict = is_clean(bank);
    let held = "a killed process still holds the writer's lock";
    assert_ne!(verdict, Verdict::Unseen, "{held}");
    drop(Writer::open(bank, false, &Unwatched).expect(held));
    assert_eq!(is_clean(bank), Verdict::Good);
}

/// Returns what `check` says of the live state.
#[track_caller]
pub fn is_clean(bank: &Path) -> Verdict {
    // Another test of this process that is just starting a command shares the lock that was held
    // here, from the fork until the child runs its program: only for a moment, and not because of a
    // killed process.
    for _ in 0..100 {
        let check = Bank::at(bank).check().unwrap();
        assert!(check.is_clean(), "{check:?}");
        if check.live.verdict != Verdict::Unseen {
            return check.live.verdict;
        }
    }
    Verdict::Unseen
}

/// The epoch that readers are pointed to; `None` where the pointer is missing or cannot be read.
pub fn published(bank: &Path) -> Option<u64> {
    let text = fs::read_to_string(bank.join("published/CURRENT")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
