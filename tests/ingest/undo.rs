//! The last batch taken back: the bank holds what the model held before it, `check` finds nothing,
//! and the same batch goes in again as the first time.
//!
//! Families of cases, and what they catch:
//! * batches of every kind, the first one too, small and as bulk loads: entries that are not put
//!   back, or put back although something later depends on them; ids given out twice;
//! * several batches and undos in turn: what was kept for another batch than the last;
//! * refused undos: a second one in a row, none to take back.

use crate::support;
use crate::support::histories::{PLENTY, exported, for_each_history};
use crate::support::model::{
    Model, assert_clean, digests_of, given_of, ingest, of_batch, pages_of, totals_of,
};
use crate::support::records::{Batch, batch};
use proptest::prelude::*;
use seedbank::engine::error::UndoError;
use seedbank::engine::ingest::BatchKind;
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::{SiteMode, UrlRules};

fn assert_equals(bank: &Bank, model: &Model) {
    assert_eq!(pages_of(bank), model.pages());
    assert_eq!(totals_of(bank), model.totals());
    assert_eq!(digests_of(bank), model.digests());
    assert_eq!(given_of(bank), model.given());
    assert_clean(bank);
}

/// What is done with a batch: left, taken back, or taken back and ingested again.
type Turn = (Batch, u8);

fn live(turns: &[Turn], memory: usize) {
    let folder = support::scratch();
    let bank = Bank::create(
        folder.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let mut model = Model::new(false);
    let mut last = 0;
    for (batch, turn) in turns {
        let before = model.clone();
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
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(6),
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_bank_is_what_it_was(
        turns in proptest::collection::vec((batch(14), 0_u8..3), 1..6),
        bulk in any::<bool>(),
    ) {
        live(&turns, if bulk { 0 } else { 512 << 20 });
    }
}

#[test]
fn an_export_has_the_same_bytes_before_and_after() {
    for_each_history(12, 1, |bank, more| {
        let before = exported(bank);
        ingest(bank, &more[0], PLENTY);
        bank.undo(false, PLENTY).unwrap();
        assert_eq!(exported(bank), before);
    });
}

#[test]
fn without_a_batch_there_is_nothing_to_take_back() {
    let folder = support::scratch();
    let bank = Bank::create(
        folder.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let none = bank.undo(false, 0);
    assert!(
        matches!(none, Err(EngineError::CannotUndo(UndoError::NoBatch))),
        "{none:?}"
    );
}
