//! Ingest compared with a map: after every batch of a random sequence the bank shows the pages,
//! counters and counts of the model, and `check` finds nothing.
//!
//! Families of cases, and what they catch:
//! * sequences of deltas and snapshots, by host and by domain: links, states and counts that are
//!   updated by differences and drift;
//! * the same with next to no memory: sorts on disk and bulk loads that differ from the small way;
//! * records shuffled, many of one page among them, a delta cut into several: anything that depends on
//!   order or on ids;
//! * records older than the last fetch of their page: news that is overwritten by older news;
//! * the same batch twice, and dry runs;
//! * batches of every kind that are undone, the first one too: entries that are not put back, or put back although
//!   something later depends on them; ids given out twice; what was stored for undoing another batch than the last.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::support;
use crate::support::banks::{cores_of, seeds_of};
use crate::support::histories::exported;
use crate::support::model::{
    Counts, Model, assert_clean, digests_of, given_of, ingest, of_batch, pages_of, totals_of,
    was_bulk,
};
use crate::support::plans::{exact_cores, plan};
use crate::support::properties::repeatable;
use crate::support::records::{Batch, Record, batch, cuts, distinct, record, site_line};
use proptest::prelude::*;
use proptest::sample::Index;
use seedbank::engine::error::UndoError;
use seedbank::engine::ingest::BatchKind;
use seedbank::engine::query::{CoreView, Seed};
use seedbank::engine::{Bank, EngineError, IngestRequest, RefreshRequest};
use seedbank::ingest::{SiteMode, UrlRules};
use seedbank_store::{Reader, tables};
use tempfile::TempDir;

const PLENTY: usize = 512 << 20;

fn bank(by_domain: bool) -> (TempDir, Bank) {
    let folder = support::scratch();
    let sites = if by_domain {
        SiteMode::Domain
    } else {
        SiteMode::Host
    };
    let bank = Bank::create(folder.path().join("bank"), sites.with(UrlRules::Whatwg)).unwrap();
    (folder, bank)
}

fn cases(number: u32) -> ProptestConfig {
    ProptestConfig {
        max_shrink_iters: 300,
        ..repeatable(number)
    }
}

fn assert_equals(bank: &Bank, model: &Model) {
    assert_eq!(pages_of(bank), model.pages());
    assert_eq!(totals_of(bank), model.totals());
    assert_eq!(digests_of(bank), model.digests());
    assert_eq!(given_of(bank), model.given());
    assert_clean(bank);
}

/// How many batches, over all cases, ended in a commit by bulk load.
static BULK: AtomicU64 = AtomicU64::new(0);

fn follows_the_model(batches: &[Batch], by_domain: bool, memory: usize) {
    let (_folder, bank) = bank(by_domain);
    let mut model = Model::new(by_domain);
    for (number, batch) in (1..).zip(batches) {
        let report = ingest(&bank, batch, memory);
        if was_bulk(&bank) {
            BULK.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(report.batch, Some(number));
        assert_eq!(report.counts.rejected, u64::from(batch.bad_line));
        let counts = Counts {
            superseded: report.counts.superseded,
            stale: report.stale,
            new_pages: report.counts.new_pages,
            became_crawled: report.counts.became_crawled,
            became_gone: report.counts.became_gone,
            became_resources: report.counts.became_resources,
            changed: report.counts.changed,
            links_added: report.counts.links_added,
            links_removed: report.counts.links_removed,
        };
        assert_eq!(counts, model.apply(batch));
        assert_equals(&bank, &model);
    }
}

proptest! {
    #![proptest_config(cases(5))]

    #[test]
    fn batches_by_host(batches in proptest::collection::vec(batch(14), 1..8)) {
        follows_the_model(&batches, false, PLENTY);
    }

    #[test]
    fn batches_by_domain(batches in proptest::collection::vec(batch(14), 1..6)) {
        follows_the_model(&batches, true, PLENTY);
    }
}

/// Sorts go to disk and commits are bulk loads; otherwise the case would prove nothing.
#[test]
fn batches_without_memory() {
    let batches = proptest::collection::vec(batch(40), 1..6);
    let mut runner = proptest::test_runner::TestRunner::new(cases(10));
    let outcome = runner.run(&batches, |batches| {
        follows_the_model(&batches, false, 0);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let bulk = BULK.load(Ordering::Relaxed);
    assert!(bulk >= 10, "only {bulk} bulk loads");
}

/// The seeds and cores of three plans.
fn selected(bank: &Bank) -> Vec<(Vec<Seed>, Vec<CoreView>)> {
    let plans = [
        ("default", "seeds=6"),
        ("classic", "seeds=6 hits=classic growth=literal"),
        ("sized", "seeds=6 core-size=4 new-members=2 keep-spam=true"),
    ];
    let select = |(name, parameters): (&str, &str)| {
        let request = RefreshRequest {
            plan: Some(name.to_owned()),
            options: exact_cores(plan(parameters)),
            ..RefreshRequest::default()
        };
        bank.refresh(&request).unwrap();
        (seeds_of(bank, name), cores_of(bank, name))
    };
    plans.into_iter().map(select).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

/// URLs, orders and counts are equal, scores to 1e-6.
fn assert_same_selection(one: &Bank, other: &Bank) {
    for ((seeds, cores), (other_seeds, other_cores)) in
        selected(one).into_iter().zip(selected(other))
    {
        let urls = |seeds: &[Seed]| seeds.iter().map(|s| s.url.clone()).collect::<Vec<_>>();
        assert_eq!(urls(&seeds), urls(&other_seeds));
        assert_eq!(cores.len(), other_cores.len());
        for (mut core, other) in cores.into_iter().zip(other_cores) {
            assert!(near(core.sigma, other.sigma), "{core:?}\n{other:?}");
            for (ours, theirs) in [
                (&core.hub_scores, &other.hub_scores),
                (&core.authority_scores, &other.authority_scores),
            ] {
                assert_eq!(ours.len(), theirs.len());
                let all_near = ours.iter().zip(theirs).all(|(a, b)| near(*a, *b));
                assert!(all_near, "{ours:?} {theirs:?}");
            }
            core.sigma = other.sigma;
            core.hub_scores.clone_from(&other.hub_scores);
            core.authority_scores.clone_from(&other.authority_scores);
            assert_eq!(core, other);
        }
    }
}

fn assert_same_bank(one: &Bank, other: &Bank) {
    assert_eq!(pages_of(one), pages_of(other));
    assert_eq!(totals_of(one), totals_of(other));
    assert_eq!(digests_of(one), digests_of(other));
    assert_eq!(given_of(one), given_of(other));
    assert_same_selection(one, other);
    assert_clean(one);
    assert_clean(other);
}

/// Things in another order.
fn shuffled<T: Clone>(things: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|at| things[*at].clone()).collect()
}

/// An order of so many things.
fn order(count: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..count).collect::<Vec<usize>>()).prop_shuffle()
}

/// Many records of the first pages.
fn crowded() -> impl Strategy<Value = Vec<Record>> {
    let few = (record(), 0..4_usize, any::<bool>()).prop_map(|(record, page, timeless)| Record {
        page,
        fetched: record.fetched.filter(|_| !timeless),
        ..record
    });
    proptest::collection::vec(few, 2..40)
}

/// The digest of a bank's last batch.
fn last_digest(bank: &Bank) -> [u8; 32] {
    let reader = Reader::open(bank.path()).unwrap();
    let batches = reader.scan(&tables::BATCHES).unwrap();
    let last = batches.map(|entry| entry.unwrap().1).last();
    last.unwrap().digest
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn the_order_of_records_changes_nothing(
        (base, delta, order, of_sites) in (batch(14), batch(40)).prop_flat_map(|(base, delta)| {
            let (records, sites) = (delta.records.len(), delta.sites.len());
            (Just(base), Just(delta), order(records), order(sites))
        }),
    ) {
        let (_folder, straight) = bank(false);
        let (_other_folder, crooked) = bank(false);
        for bank in [&straight, &crooked] {
            ingest(bank, &base, PLENTY);
        }
        ingest(&straight, &delta, PLENTY);
        let records = shuffled(&delta.records, &order);
        let sites = shuffled(&delta.sites, &of_sites);
        ingest(&crooked, &Batch { records, sites, ..delta }, 0);
        assert_same_bank(&straight, &crooked);
    }

    /// Many records of few pages, most of them without a time, so that it is the weight that decides;
    /// in one portion, in several, and in as many as there are records.
    #[test]
    fn of_records_of_one_page_the_same_counts_in_any_order(
        (records, orders) in crowded().prop_flat_map(|records| {
            let orders = proptest::collection::vec(order(records.len()), 3);
            (Just(records), orders)
        }),
    ) {
        let (_folder, first) = bank(false);
        let mut model = Model::new(false);
        let report = ingest(&first, &Batch::delta(records.clone()), PLENTY);
        let counts = model.apply(&Batch::delta(records.clone()));
        prop_assert_eq!(report.counts.superseded, counts.superseded);
        assert_equals(&first, &model);
        for (order, memory) in orders.iter().zip([PLENTY, 1 << 17, 0]) {
            let (_folder, other) = bank(false);
            let again = ingest(&other, &Batch::delta(shuffled(&records, order)), memory);
            prop_assert_eq!(again.counts, report.counts.clone());
            prop_assert_eq!(pages_of(&other), pages_of(&first));
            prop_assert_eq!(digests_of(&other), digests_of(&first));
            prop_assert_eq!(last_digest(&other), last_digest(&first));
        }
    }

    #[test]
    fn the_cut_of_a_delta_changes_nothing(
        base in batch(14),
        records in distinct(40),
        cuts in cuts(),
        reversed in any::<bool>(),
        site in site_line(),
        place in any::<Index>(),
    ) {
        let (_folder, whole) = bank(true);
        let (_other_folder, pieces) = bank(true);
        for bank in [&whole, &pieces] {
            ingest(bank, &base, PLENTY);
        }
        let sites = vec![site];
        let all = Batch { sites: sites.clone(), ..Batch::delta(records.clone()) };
        ingest(&whole, &all, PLENTY);
        let place = place.index(cuts.len() + 1);
        let of_piece = |at| if at == place { sites.clone() } else { Vec::new() };
        let mut left = records;
        if reversed {
            left.reverse();
        }
        let last = cuts.len();
        for (at, cut) in cuts.into_iter().enumerate() {
            let piece = Batch { sites: of_piece(at), ..Batch::delta(split(&mut left, cut)) };
            ingest(&pieces, &piece, PLENTY);
        }
        let piece = Batch { sites: of_piece(last), ..Batch::delta(left) };
        ingest(&pieces, &piece, PLENTY);
        assert_same_bank(&whole, &pieces);
    }

    #[test]
    fn the_same_batch_again_changes_nothing(
        first in batch(14),
        second in batch(14),
        order in Just((0..14).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let (_folder, bank) = bank(false);
        ingest(&bank, &first, PLENTY);
        let report = ingest(&bank, &second, PLENTY);
        let number = report.batch;
        prop_assert_eq!(number, Some(2));
        let (pages, status) = (pages_of(&bank), bank.status().unwrap());
        let order: Vec<usize> =
            order.into_iter().filter(|at| *at < second.records.len()).collect();
        let records = shuffled(&second.records, &order);
        let again = of_batch(&bank, &Batch { records, ..second.clone() });
        let report = bank.ingest(&again).unwrap();
        prop_assert_eq!(report.batch, None);
        // Two batches may say the same in different words.
        prop_assert!(report.same_as == Some(2) || report.same_as == Some(1));
        prop_assert_eq!(pages_of(&bank), pages.clone());
        prop_assert_eq!(bank.status().unwrap().counters, status.counters);
        let report = ingest(&bank, &second, PLENTY);
        prop_assert_eq!((report.batch, report.same_as), (Some(3), None));
        prop_assert_eq!((report.counts.changed, report.counts.links_added), (0, 0));
        prop_assert_eq!(pages_of(&bank), pages);
        assert_clean(&bank);
    }

    #[test]
    fn a_dry_run_reports_and_changes_nothing(first in batch(14), second in batch(30)) {
        let (_folder, bank) = bank(false);
        ingest(&bank, &first, PLENTY);
        let (pages, status) = (pages_of(&bank), bank.status().unwrap());
        for memory in [0, PLENTY] {
            let request = IngestRequest {
                again: true,
                dry_run: true,
                memory,
                ..of_batch(&bank, &second)
            };
            let tried = bank.ingest(&request).unwrap();
            prop_assert_eq!((tried.batch, tried.dry_run), (None, true));
            prop_assert_eq!(&pages_of(&bank), &pages);
            prop_assert_eq!(bank.status().unwrap().counters, status.counters);
            assert_clean(&bank);
            if memory == PLENTY {
                let done = ingest(&bank, &second, PLENTY);
                prop_assert_eq!(tried.counts, done.counts);
                prop_assert_eq!(tried.read, done.read);
            }
        }
    }
}

/// Takes the records up to the cut off the list.
fn split(records: &mut Vec<Record>, cut: Index) -> Vec<Record> {
    if records.len() < 2 {
        return records.clone();
    }
    let tail = records.split_off(1 + cut.index(records.len() - 1));
    std::mem::replace(records, tail)
}

/// What is done with a batch: left, taken back, or taken back and ingested again.
type Turn = (Batch, u8);

fn follows_undos(turns: &[Turn], memory: usize) {
    let (_folder, bank) = bank(false);
    let mut model = Model::new(false);
    let mut last = 0;
    for (batch, turn) in turns {
        let before = model.clone();
        let export = exported(&bank);
        ingest(&bank, batch, memory);
        model.apply(batch);
        last += 1;
        let status = bank.status().unwrap();
        let kept = status.undo.unwrap();
        assert_eq!(kept.batch, last);
        // The first batch overwrites nothing, and neither does one of stale records alone.
        let is_stale = status.last_batch.unwrap().stale > 0;
        assert!((kept.bytes > 0) == (last > 1) || is_stale);
        if *turn == 0 {
            continue;
        }
        let undone = bank.undo(false, memory).unwrap();
        assert_eq!((undone.undone, undone.batch), (last, last + 1));
        assert_eq!(exported(&bank), export);
        last += 1;
        assert_equals(&bank, &before);
        assert_eq!(bank.status().unwrap().undo, None);
        let again = bank.undo(false, memory);
        assert!(
            matches!(again, Err(EngineError::CannotUndo(UndoError::IsUndo(batch))) if batch == last),
            "{again:?}"
        );
        if *turn == 1 {
            model = before;
            continue;
        }
        // It is no repetition: what was taken back is as if it had never been.
        let request = of_batch(&bank, batch);
        let report = bank.ingest(&request).unwrap();
        last += 1;
        assert_eq!(report.batch, Some(last));
        assert_equals(&bank, &model);
    }
    let history = bank.history().unwrap();
    let undone = history.batches.iter();
    let undone = undone.filter(|batch| batch.record.kind == BatchKind::Undo);
    let turns = turns.iter().filter(|(_, turn)| *turn > 0);
    assert_eq!(undone.count(), turns.count());
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn an_undone_batch_leaves_the_bank_as_it_was(
        turns in proptest::collection::vec((batch(14), 0_u8..3), 1..6),
        bulk in any::<bool>(),
    ) {
        follows_undos(&turns, if bulk { 0 } else { PLENTY });
    }
}

#[test]
fn without_a_batch_there_is_nothing_to_take_back() {
    let (_folder, bank) = bank(false);
    let none = bank.undo(false, 0);
    assert!(
        matches!(none, Err(EngineError::CannotUndo(UndoError::NoBatch))),
        "{none:?}"
    );
}
