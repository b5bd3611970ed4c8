//! Sums over the processes of an ingest.

use seedbank_store::records::{BatchCounts, Counters};

/// Adds the counts of other records.
pub(super) fn add_counts(all: &mut BatchCounts, other: &BatchCounts) {
    // All fields are named, so that none is forgotten.
    let BatchCounts {
        records,
        rejected,
        superseded,
        dropped_outlinks,
        new_pages,
        became_crawled,
        became_gone,
        changed,
        links_added,
        links_removed,
    } = other;
    all.records += records;
    all.rejected += rejected;
    all.superseded += superseded;
    all.dropped_outlinks += dropped_outlinks;
    all.new_pages += new_pages;
    all.became_crawled += became_crawled;
    all.became_gone += became_gone;
    all.changed += changed;
    all.links_added += links_added;
    all.links_removed += links_removed;
}

/// Adds the change of the totals from `before` to `after`.
pub(super) fn add_change(all: &mut Counters, before: &Counters, after: &Counters) {
    // All fields are named, so that none is forgotten. The first ones are no totals.
    let Counters {
        epoch: _,
        batch: _,
        refresh: _,
        next_site: _,
        known,
        crawled,
        gone,
        spam,
        intra_links,
        inter_links,
        rows,
        row_links,
    } = after;
    // The sum is not negative, but changes are.
    let change = |total: &mut u64, before: u64, after: u64| {
        *total = total.wrapping_add(after).wrapping_sub(before);
    };
    change(&mut all.known, before.known, *known);
    change(&mut all.crawled, before.crawled, *crawled);
    change(&mut all.gone, before.gone, *gone);
    change(&mut all.spam, before.spam, *spam);
    change(&mut all.intra_links, before.intra_links, *intra_links);
    change(&mut all.inter_links, before.inter_links, *inter_links);
    change(&mut all.rows, before.rows, *rows);
    change(&mut all.row_links, before.row_links, *row_links);
}
