//! Sums over the processes of an ingest.

use seedbank_store::records::{BatchCounts, Counters};

/// Adds the counts of other records.
pub(super) fn add_counts(all: &mut BatchCounts, other: &BatchCounts) {
    all.records += other.records;
    all.rejected += other.rejected;
    all.superseded += other.superseded;
    all.dropped_outlinks += other.dropped_outlinks;
    all.new_pages += other.new_pages;
    all.became_crawled += other.became_crawled;
    all.became_gone += other.became_gone;
    all.changed += other.changed;
    all.links_added += other.links_added;
    all.links_removed += other.links_removed;
}

/// Adds the change of the totals from `before` to `after`.
pub(super) fn add_change(all: &mut Counters, before: &Counters, after: &Counters) {
    // The sum is not negative, but changes are.
    let change = |total: &mut u64, before: u64, after: u64| {
        *total = total.wrapping_add(after).wrapping_sub(before);
    };
    change(&mut all.known, before.known, after.known);
    change(&mut all.crawled, before.crawled, after.crawled);
    change(&mut all.gone, before.gone, after.gone);
    change(&mut all.spam, before.spam, after.spam);
    change(&mut all.intra_links, before.intra_links, after.intra_links);
    change(&mut all.inter_links, before.inter_links, after.inter_links);
    change(&mut all.rows, before.rows, after.rows);
    change(&mut all.row_links, before.row_links, after.row_links);
}
