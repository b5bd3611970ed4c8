//! Tables of batches and of refreshes.

use crate::engine::query::BatchView;
use crate::engine::refresh::RefreshView;
use crate::render::{kind_name, proof, reuse};
use crate::serve::table::{Cell, Column, Table};

/// Returns a table of refreshes, in the given order.
pub(super) fn refresh_table<'a>(refreshes: impl Iterator<Item = &'a RefreshView>) -> Table {
    let row = |refresh: &RefreshView| {
        vec![
            Cell::Refresh(refresh.refresh),
            Cell::Plan(refresh.plan.clone()),
            Cell::text(refresh.method().name()),
            Cell::Time(refresh.at),
            Cell::Count(refresh.batch.into()),
            Cell::Count(refresh.seeds.into()),
            Cell::Number(refresh.seconds),
            Cell::text(reuse(refresh)),
            Cell::text(proof(refresh.certified)),
        ]
    };
    let columns = vec![
        Column::number("refresh", "Refresh"),
        Column::word("plan", "Plan"),
        Column::word("method", "Method"),
        Column::word("time", "Time"),
        Column::number("batch", "After batch"),
        Column::number("seeds", "Seeds"),
        Column::number("seconds", "Seconds"),
        Column::word("reuse", "Reuse"),
        Column::word("proof", "Proof"),
    ];
    let caption = "Refreshes, newest first";
    Table::new("refreshes", caption, columns, refreshes.map(row).collect())
}

/// Returns a table of batches, in the given order.
pub(super) fn batch_table<'a>(batches: impl Iterator<Item = &'a BatchView>) -> Table {
    let row = |batch: &BatchView| {
        let counts = &batch.record.counts;
        vec![
            Cell::Count(batch.batch.into()),
            Cell::text(&batch.record.name),
            Cell::text(kind_name(batch.record.kind)),
            Cell::Time(batch.record.at),
            Cell::Count(counts.records),
            Cell::Count(counts.rejected),
            Cell::Count(batch.record.stale),
            Cell::Count(batch.record.failed),
            Cell::Count(counts.new_pages),
            Cell::Count(counts.changed),
            Cell::Count(counts.became_gone),
            Cell::Count(counts.links_added),
            Cell::Count(counts.links_removed),
            Cell::Number(batch.record.seconds),
        ]
    };
    let columns = vec![
        Column::number("batch", "Batch"),
        Column::text("name", "Name"),
        Column::word("kind", "Kind"),
        Column::word("time", "Time"),
        Column::number("records", "Records"),
        Column::number("rejected", "Rejected"),
        Column::number("stale", "Stale"),
        Column::number("failed", "Failed"),
        Column::number("new_pages", "New pages"),
        Column::number("changed", "Changed"),
        Column::number("gone", "Gone"),
        Column::number("links_added", "Links added"),
        Column::number("links_removed", "Links removed"),
        Column::number("seconds", "Seconds"),
    ];
    let caption = "Batches, newest first";
    Table::new("batches", caption, columns, batches.map(row).collect())
}
