//! The text of `ingest`.

use std::collections::BTreeMap;
use std::fmt::Display;

use seedbank::display::{counted, escape_controls};
use seedbank::engine::IngestReport;
use seedbank::ingest::{ReadSummary, SkipReason, Unread};

use super::values::{human_bytes, kind_name};

/// Formats the report as text.
pub(super) fn ingest_text(report: &IngestReport) -> String {
    let mut text = String::new();
    let kind = kind_name(report.kind);
    let (read, counts) = (&report.read, &report.counts);
    let head = match (report.same_as, report.batch) {
        (Some(same), _) => {
            format!(
                "nothing changed: batch {same} had the same records (--again applies them again)"
            )
        }
        (None, Some(batch)) => format!("batch {batch}"),
        (None, None) if report.is_empty => "nothing changed: no records".to_owned(),
        (None, None) => "dry run, the bank is unchanged".to_owned(),
    };
    append_line!(
        text,
        "{head}: {} ({kind}), {}, {} of text, {:.2} s",
        escape_controls(&report.name),
        counted(read.records, "record"),
        human_bytes(read.bytes),
        report.seconds
    );
    if report.same_as.is_none() && !report.is_empty {
        append_line!(
            text,
            "pages: {} new, {} became crawled, {} became gone, {} changed\nlinks: {} added, {} removed",
            counts.new_pages,
            counts.became_crawled,
            counts.became_gone,
            counts.changed,
            counts.links_added,
            counts.links_removed
        );
    }
    text += &sites_and_aliases(report);
    if counts.superseded > 0 {
        append_line!(
            text,
            "duplicates: {} of pages that have another record in the batch",
            counted(counts.superseded, "record")
        );
    }
    text += &stale(report);
    text += &failed(report);
    text += &learned(report);
    if report.attributed > 0 {
        append_line!(
            text,
            "seeds: crawlers attribute {} to seeds",
            counted(report.attributed, "fetch")
        );
    }
    let blocked = &report.blocked;
    if blocked.records + blocked.links > 0 {
        append_line!(
            text,
            "blocked because forgotten earlier: {}, {} of other pages",
            counted(blocked.records, "record"),
            counted(blocked.links, "link")
        );
    }
    text += &passed_over(&read.passed_over);
    text += &unread(&read.unread);
    if read.rejected() > 0 {
        append!(
            text,
            "rejected: {} of {}: {}",
            read.rejected(),
            counted(read.records, "record"),
            list(&read.rejects)
        );
        if let Some(file) = &report.rejects_file {
            let first = match report.rejects_listed {
                all if all == read.rejected() => String::new(),
                first => format!("the first {first} are "),
            };
            append!(
                text,
                "; {first}listed in {}",
                escape_controls(&file.to_string_lossy())
            );
        }
        text.push('\n');
    }
    text += &omitted_outlinks(read);
    if read.zones_assumed > 0 {
        append_line!(
            text,
            "fetch times without a time zone, read as UTC: {}",
            read.zones_assumed
        );
    }
    text
}

/// Counts records that are older than the last fetch of their page; empty if there are none.
fn stale(report: &IngestReport) -> String {
    if report.stale == 0 {
        return String::new();
    }
    let file = report
        .rejects_file
        .as_ref()
        .map_or_else(String::new, |file| {
            format!("; listed in {}", escape_controls(&file.to_string_lossy()))
        });
    format!(
        "stale: {} of pages that were fetched later, skipped{file}\n",
        counted(report.stale, "record")
    )
}

/// Counts pages whose fetch failed; empty if there are none.
fn failed(report: &IngestReport) -> String {
    if report.failed == 0 {
        return String::new();
    }
    format!(
        "failed fetches: {}, which keep their states and links\n",
        counted(report.failed, "page")
    )
}

/// Describes what was learned from pages that were fetched again; empty if there are none.
fn learned(report: &IngestReport) -> String {
    let learned = &report.learned;
    if learned.fetched_again == 0 || report.same_as.is_some() {
        return String::new();
    }
    let bulk = if learned.is_bulk {
        "; not learned from, since that looks like a bulk import (--learn-from-bulk learns from it)"
    } else {
        ""
    };
    format!(
        "fetched again: {}, {:.1} days after the last time on average: {} new to the bank{bulk}\n",
        counted(learned.fetched_again, "page"),
        learned.days / learned.fetched_again as f64,
        counted(learned.new_links, "link")
    )
}

/// Counts records without information on a page, by reason; empty if there are none.
fn passed_over(by_reason: &BTreeMap<SkipReason, u64>) -> String {
    let passed: u64 = by_reason.values().sum();
    if passed == 0 {
        return String::new();
    }
    format!(
        "skipped, no information on a page: {}: {}\n",
        counted(passed, "record"),
        list(by_reason)
    )
}

/// Counts pages whose links were not read, by reason; empty if there are none.
fn unread(by_reason: &BTreeMap<Unread, u64>) -> String {
    let pages: u64 = by_reason.values().sum();
    if pages == 0 {
        return String::new();
    }
    format!(
        "pages whose links were not read, or not completely: {pages}: {}\n",
        list(by_reason)
    )
}

/// Reports changes of sites and aliases; empty if there are none.
fn sites_and_aliases(report: &IngestReport) -> String {
    let mut text = String::new();
    if report.same_as.is_none() && report.sites.named > 0 {
        append_line!(
            text,
            "sites: {} given, {} with changed attributes",
            report.sites.named,
            report.sites.changed
        );
    }
    let aliases = &report.aliases;
    if aliases.became + aliases.ended + aliases.cut > 0 {
        append_line!(
            text,
            "aliases: {} new, {} became pages again or gone, {} lead nowhere (a cycle, or more than five steps)",
            aliases.became,
            aliases.ended,
            aliases.cut
        );
    }
    text
}

/// Formats names with their counts.
fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        let comma = if text.is_empty() { "" } else { ", " };
        append!(text, "{comma}{name} {count}");
    }
    text
}

/// Counts outlinks that are not links of the bank; empty if there are none.
fn omitted_outlinks(read: &ReadSummary) -> String {
    let mut text = String::new();
    if !read.dropped_outlinks.is_empty() {
        let dropped: u64 = read.dropped_outlinks.values().sum();
        append_line!(
            text,
            "outlinks dropped: {dropped}: {}",
            list(&read.dropped_outlinks)
        );
    }
    if read.duplicate_outlinks + read.self_links > 0 {
        append_line!(
            text,
            "outlinks omitted: {} repeated, {} from a page to itself",
            read.duplicate_outlinks,
            read.self_links
        );
    }
    text
}
