use super::*;
use crate::engine::PlanOptions;
use crate::engine::query::answers::BatchSummary;
use seedbank_store::records::{BatchCounts, BatchKind};

fn batch(batch: u32, at: u64) -> BatchView {
    BatchView {
        batch,
        record: BatchSummary {
            name: String::new(),
            kind: BatchKind::Delta,
            inputs: Vec::new(),
            at,
            seconds: 0.0,
            counts: BatchCounts::default(),
            stale: 0,
            failed: 0,
            failing: 0,
        },
    }
}

fn refresh(refresh: u32, batch: u32, at: u64) -> RefreshView {
    let plan = "default".to_owned();
    RefreshView {
        refresh,
        at,
        ..RefreshView::begun(plan, PlanOptions::default(), batch)
    }
}

fn names(history: &History) -> String {
    let name = |event: &Event<'_>| match event {
        Event::Batch(batch) => format!("b{}", batch.batch),
        Event::Refresh(refresh) => format!("r{}", refresh.refresh),
        Event::Refused(refused) => format!("x{}", refused.after),
    };
    let names: Vec<String> = history.in_order().iter().map(name).collect();
    names.join(" ")
}

#[test]
fn times_are_merged_and_numbers_stay_in_order() {
    let history = |batches: &[(u32, u64)], refreshes: &[(u32, u32, u64)]| History {
        batches: batches.iter().map(|b| batch(b.0, b.1)).collect(),
        refreshes: refreshes.iter().map(|r| refresh(r.0, r.1, r.2)).collect(),
        refused: None,
    };
    let lived = history(
        &[(1, 10), (2, 20), (3, 30)],
        &[(1, 1, 12), (2, 2, 30), (4, 3, 40)],
    );
    assert_eq!(names(&lived), "b1 r1 b2 b3 r2 r4");
    for (count, left) in [
        (0, ""),
        (1, "r4"),
        (3, "b3 r2 r4"),
        (6, "b1 r1 b2 b3 r2 r4"),
        (99, "b1 r1 b2 b3 r2 r4"),
    ] {
        assert_eq!(names(&lived.clone().last(count)), left);
    }
    // A clock that was set back.
    let odd = history(
        &[(1, 50), (2, 60), (3, 9)],
        &[(1, 2, 10), (2, 2, 5), (3, 3, 70)],
    );
    assert_eq!(names(&odd), "b1 b2 b3 r1 r2 r3");
    assert_eq!(names(&history(&[], &[])), "");
}

#[test]
fn a_refusal_follows_what_was_there() {
    let refused = |after, at| {
        let json = serde_json::json!({
            "name": "", "kind": "delta", "at": at, "after": after, "reason": "loss", "message": ""
        });
        let history = History {
            batches: vec![batch(1, 10), batch(2, 20)],
            refreshes: vec![refresh(1, 1, 12), refresh(2, 1, 15), refresh(3, 2, 30)],
            refused: serde_json::from_value(json).unwrap(),
        };
        (names(&history), names(&history.last(2)))
    };
    for (after, at, all, last) in [
        (0, 5, "x0 b1 r1 r2 b2 r3", "b2 r3"),
        (1, 12, "b1 r1 x1 r2 b2 r3", "b2 r3"),
        (1, 99, "b1 r1 r2 x1 b2 r3", "b2 r3"),
        (2, 20, "b1 r1 r2 b2 x2 r3", "x2 r3"),
        (2, 40, "b1 r1 r2 b2 r3 x2", "r3 x2"),
    ] {
        assert_eq!(refused(after, at), (all.to_owned(), last.to_owned()));
    }
}
