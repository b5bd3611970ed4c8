//! The bank after each batch, taken back from the last state, compared with what was read at that time; and the
//! comparison by hand.

use std::collections::BTreeMap;

use super::*;
use crate::engine::scratch::scratch;
use crate::engine::web_graph::{Numbering, load_image};
use crate::engine::{Bank, IngestRequest, RefreshRequest};
use proptest::prelude::*;
use seedbank_algorithms::watch::Unwatched;
use seedbank_algorithms::yields::Yield;
use seedbank_formats::ingest::{Naming, Record};
use seedbank_store::ImageLinks;
use seedbank_store::records::PageState;

/// What is known of a page: its state, spam mark, last fetch, sums and links.
type Known = (PageState, bool, Option<u64>, Yield, Vec<String>);

/// Returns what is known of every page, by URL.
fn by_url(bank: &Bank, known: &Knowledge) -> BTreeMap<String, Known> {
    let views = Views::open(bank).unwrap();
    let image = load_image(&views.reader, ImageLinks::All, &Unwatched).unwrap();
    let numbers = Numbering::by_url(&image, |_| true).unwrap();
    let urls: Vec<String> = numbers
        .pages(&image)
        .into_iter()
        .map(|page| views.name(page).unwrap().1)
        .collect();
    let mut all = BTreeMap::new();
    for (page, url) in urls.iter().enumerate() {
        if !known.has(page) {
            continue;
        }
        let links = known.links[page].iter();
        let of_page = (
            known.states[page],
            known.spam[page],
            known.fetched[page],
            known.sums[page],
            links.map(|to| urls[*to as usize].clone()).collect(),
        );
        all.insert(url.clone(), of_page);
    }
    all
}

/// Returns the state now: that before the batches that are kept, and all of them.
fn now(bank: &Bank) -> Knowledge {
    let views = Views::open(bank).unwrap();
    let timeline = Timeline::load(&views.reader, 0, &Unwatched).unwrap();
    assert!(timeline.steps.is_empty());
    timeline.start
}

#[derive(Clone, Debug)]
enum Action {
    /// A fetch of a page, with its targets.
    Fetch(u8, Vec<u8>),
    Gone(u8),
    Redirect(u8, u8),
    Spam(u8, bool),
}

fn action() -> impl Strategy<Value = Action> {
    let targets = prop::collection::vec(0_u8..12, 0..5);
    prop_oneof![
        6 => (0_u8..8, targets).prop_map(|(page, to)| Action::Fetch(page, to)),
        1 => (0_u8..8).prop_map(Action::Gone),
        1 => (0_u8..8, 0_u8..8).prop_map(|(page, to)| Action::Redirect(page, to)),
        1 => (0_u8..8, any::<bool>()).prop_map(|(page, spam)| Action::Spam(page, spam)),
    ]
}

fn url(page: u8) -> String {
    format!("http://s{}.example/{page}", page % 3)
}

fn record(action: &Action) -> Record {
    match action {
        Action::Fetch(page, to) => Record::new(url(*page)).outlinks(to.iter().map(|to| url(*to))),
        Action::Gone(page) => Record::new(url(*page)).gone(),
        Action::Redirect(page, to) => Record::new(url(*page)).redirect(url(*to)),
        Action::Spam(page, spam) => Record::new(url(*page)).spam(*spam),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_state_is_that_of_its_time(
        mut batches in prop::collection::vec(
            (prop::collection::vec(action(), 1..7), prop::bool::weighted(0.15)),
            2..9,
        ),
    ) {
        // Before any fetch there is nothing to take back.
        batches[0].0.push(Action::Fetch(0, vec![1]));
        let folder = scratch();
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        // The batches that were not undone, with what was known after each.
        let mut states = Vec::new();
        for (time, (actions, is_undone)) in (1..).zip(batches) {
            let request = IngestRequest {
                as_of: Some(time * 50_000),
                max_loss: 100.0,
                again: true,
                learn_from_bulk: true,
                ..IngestRequest::default()
            };
            let records: Vec<Record> = actions.iter().map(record).collect();
            let report = bank.ingest_records(&request, records).unwrap();
            if is_undone && states.len() > 1 {
                bank.undo(false, 64 << 20).unwrap();
            } else {
                let known = now(&bank);
                let of_time = (by_url(&bank, &known), known.first, known.last_fetch());
                states.push((report.batch.unwrap(), of_time));
            }
        }
        let views = Views::open(&bank).unwrap();
        let timeline = Timeline::load(&views.reader, KEPT_BATCHES, &Unwatched).unwrap();
        prop_assert_eq!(timeline.steps.len() + 1, states.len());
        let mut known = timeline.start;
        for (at, (batch, then)) in states.iter().enumerate() {
            if let Some(before) = at.checked_sub(1) {
                prop_assert_eq!(timeline.steps[before].batch, *batch);
                known.apply(&timeline.steps[before]);
            }
            let found = (by_url(&bank, &known), known.first, known.last_fetch());
            prop_assert_eq!(&found, then);
        }
    }
}

/// A feed that brings two new pages every day, beside a page whose links never change.
fn feed_and_list(days: u64) -> (tempfile::TempDir, Bank) {
    let folder = scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let list = [1, 2].map(|at| format!("http://a.example/{at}"));
    for day in 0..days {
        let time = (day + 1) * 86_400;
        let news = (0..2).map(|at| format!("http://feed.example/{day}/{at}"));
        let records = [
            Record::new("http://feed.example/").outlinks(news),
            Record::new("http://a.example/").outlinks(list.clone()),
        ];
        let request = IngestRequest {
            as_of: Some(time),
            ..IngestRequest::default()
        };
        bank.ingest_records(&request, records).unwrap();
    }
    (folder, bank)
}

#[test]
fn what_brings_new_pages_is_learned() {
    let (_folder, bank) = feed_and_list(14);
    let request = NextRequest {
        seeds: Some(1),
        budget: Some(1),
        ..NextRequest::default()
    };
    let found = bank.evaluate_next(&request).unwrap();
    let row = |list: &str| found.rows.iter().find(|row| row.list == list).unwrap();
    // 13 batches after the first; three are needed after each list.
    assert_eq!((found.batches.len(), found.batches_in_loop.len()), (10, 13));
    assert_eq!((found.batches[0], &found.plan), (2, &None));
    // In three days the feed had six new pages; a crawl for each day finds two. On the first day nothing is known.
    let learned = row("learned");
    assert!(learned.replayed.found >= 5.4 - 1e-9, "{learned:?}");
    assert!(learned.replayed.fetched < 1e-9);
    assert!(learned.closed_loop.found > 1.3, "{learned:?}");
    // The other page has as many links, and a smaller URL.
    let degree = row("out-degree");
    assert!(degree.replayed.found < 1e-9 && degree.closed_loop.found < 1e-9);
    // Without a plan, none is kept, and the list that finds the most is taken.
    let most = found.rows.iter().map(|row| row.closed_loop.found);
    let most = most.fold(0.0, f64::max);
    assert!((row(&found.recommended).closed_loop.found - most).abs() < 1e-9);
    assert!(found.followed <= most && found.rows.iter().all(|row| row.times_plan.is_none()));
}

#[test]
fn a_plan_is_compared_as_it_is() {
    let (_folder, bank) = feed_and_list(8);
    let refresh = |options: PlanOptions| {
        let request = RefreshRequest {
            options,
            replace: true,
            ..RefreshRequest::default()
        };
        bank.refresh(&request).unwrap();
        bank.evaluate_next(&NextRequest::default()).unwrap()
    };
    let of_goal = PlanOptions {
        goal: Some(Goal::Coverage),
        hops: Some(1),
        fetch_cost: Some(Value(330_000)),
        value_known: Some(Value(0)),
        seeds: Some(1),
        budget: Some(1),
        revisit: Some(Revisit::Days(3)),
        ..PlanOptions::default()
    };
    let found = refresh(of_goal);
    let names: Vec<(&str, bool)> = found
        .rows
        .iter()
        .map(|row| (row.list.as_str(), row.replaces))
        .collect();
    let own = [
        "revisit 3",
        "revisit off",
        "revisit auto",
        "revisit 2",
        "revisit 7",
        "revisit 30",
    ];
    let others = ["oldest", "random", "out-degree", "learned"];
    let own = own.map(|name| (name, false)).into_iter();
    assert!(own.chain(others.map(|name| (name, true))).eq(names));
    assert_eq!(
        (found.plan.as_deref(), found.seeds, found.budget),
        (Some("default"), 1, 1)
    );
    assert!(found.rows[0].is_plan && found.rows[1..].iter().all(|row| !row.is_plan));
    // The list of another method is that of the plan, if the plan has this method.
    let found = refresh(PlanOptions {
        method: Some(Method::Cover(cover::Method::Oldest)),
        scope: Some(Scope::Web),
        seeds: Some(1),
        ..PlanOptions::default()
    });
    let lists: Vec<&str> = found.rows.iter().map(|row| row.list.as_str()).collect();
    assert_eq!(lists[0], "plan default");
    assert!(found.rows[0].is_plan && !lists.contains(&"oldest") && lists.len() == 9);
}

#[test]
fn a_refresh_that_compares_its_list_names_the_one_that_leads() {
    let folder = scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let pages = (0..30).map(|page| format!("http://pages.example/{page}"));
    let judged = |days: std::ops::Range<u64>| {
        for day in days {
            // A hub of pages with a new link each day, and a feed with six.
            let new = |count: u64, of: &str| {
                let links = (0..count).map(|at| format!("http://{of}.example/{day}/{at}"));
                links.collect::<Vec<_>>()
            };
            let all = pages.clone().chain(new(1, "hub"));
            let mut records = vec![
                Record::new("http://hub.example/").outlinks(all),
                Record::new("http://feed.example/").outlinks(new(6, "feed")),
            ];
            records.extend(
                pages
                    .clone()
                    .map(|page| Record::new(&page).outlinks(["http://hub.example/"])),
            );
            let request = IngestRequest {
                as_of: Some((day + 1) * 86_400),
                ..IngestRequest::default()
            };
            bank.ingest_records(&request, records).unwrap();
        }
        let options = PlanOptions {
            goal: Some(Goal::Coverage),
            hops: Some(1),
            fetch_cost: Some(Value(0)),
            value_known: Some(Value(0)),
            seeds: Some(1),
            budget: Some(1),
            revisit: Some(Revisit::Off),
            ..PlanOptions::default()
        };
        let request = RefreshRequest {
            options,
            judge: true,
            ..RefreshRequest::default()
        };
        let report = bank.refresh(&request).unwrap();
        assert!(report.verdict.is_some());
        report.leading
    };
    // Too few batches.
    assert_eq!(judged(0..4), None);
    let leading = judged(4..14).unwrap();
    let found = bank.evaluate_next(&NextRequest::default()).unwrap();
    assert_eq!((&*leading.list, leading.batches), (&*found.recommended, 13));
    assert!(leading.times_plan.mean > 2.0, "{leading:?}");
}

#[test]
fn few_batches_are_not_enough() {
    let (_folder, bank) = feed_and_list(4);
    let error = bank.evaluate_next(&NextRequest::default()).unwrap_err();
    assert!(error.to_string().contains("found 4 batches"), "{error}");
    let (_folder, bank) = feed_and_list(5);
    let found = bank.evaluate_next(&NextRequest::default()).unwrap();
    assert_eq!((found.batches.len(), found.batches_in_loop.len()), (1, 4));
    assert!(found.followed.abs() < 1e-9);
}

#[test]
fn a_plan_is_kept_unless_another_list_finds_clearly_more() {
    let list = |found: [[u64; 3]; 3], days: usize| {
        let day = |found: u64| DayInLoop { found, fetched: 0 };
        recommended(&found.map(|of| of.map(day).to_vec()), days, Some(1))
    };
    let found = [[9, 0, 0], [0, 200, 0], [1, 200, 600]];
    assert_eq!(list(found, 0), 1);
    // Twice as much.
    assert_eq!(list(found, 1), 0);
    // A page more is less than a twentieth.
    assert_eq!(list(found, 2), 1);
    assert_eq!(list(found, 3), 2);
    // 60 pages are more than two errors of 740, and 12 pages are not of 38.
    assert_eq!(list([[0, 0, 0], [0, 0, 340], [0, 0, 400]], 3), 2);
    assert_eq!(list([[0, 0, 0], [0, 0, 13], [0, 0, 25]], 3), 1);
    assert_eq!(list([[0, 0, 0], [0, 0, 12], [0, 0, 25]], 3), 2);
    // What was found earlier counts less.
    assert_eq!(list([[0, 0, 0], [300, 0, 0], [0, 0, 230]], 3), 1);
    assert_eq!(list([[0, 0, 0], [100, 0, 0], [0, 0, 200]], 3), 2);
    let none: [Vec<DayInLoop>; 2] = Default::default();
    assert_eq!(recommended(&none, 0, None), 0);
}
