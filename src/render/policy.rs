//! Renders the effects of policies as text.

use std::fmt::Write;

use crate::engine::policy::{PinRejection, RejectionReason};
use crate::engine::refresh::{PolicyView, Shortage, ShortageReason, Stars};
use seedbank_formats::display::{counted, escape_controls};

/// Returns the flag of the policy that rejected a page.
pub(crate) const fn flag(by: RejectionReason) -> &'static str {
    match by {
        RejectionReason::MaxPerSite => "--max-per-site",
        RejectionReason::MaxPerDomain => "--max-per-domain",
        RejectionReason::Exclude => "--exclude",
        RejectionReason::Only => "--only",
        RejectionReason::ExcludeFromGraph => "--exclude-from-graph",
        RejectionReason::MinQuality => "--min-quality",
        RejectionReason::MaxFailures => "--max-failures",
        RejectionReason::Rest => "--rest",
        RejectionReason::MinHubs => "--min-hubs",
        RejectionReason::MinAuthorities => "--min-authorities",
        RejectionReason::MinHubSites => "--min-hub-sites",
        RejectionReason::MaxChanges => "--max-changes",
    }
}

/// Describes why a pinned page is not a seed.
pub(crate) const fn fault(why: PinRejection) -> &'static str {
    match why {
        PinRejection::Unknown => "the bank has no such page",
        PinRejection::Gone => "it is gone",
        PinRejection::Alias => "it is an alias of another page",
        PinRejection::Excluded => "the plan excludes it",
    }
}

/// Appends the effects of a refresh's policies; nothing if they had none.
pub fn write_policy(text: &mut String, policy: &PolicyView) {
    // Writing to a String cannot fail.
    if policy.pinned > 0 {
        let _ = writeln!(text, "pinned: {}", counted(policy.pinned, "seed"));
    }
    for pin in &policy.rejected_pins {
        let url = escape_controls(&pin.url);
        let _ = writeln!(text, "pinned but not a seed: {url}: {}", fault(pin.why));
    }
    let rejected: Vec<String> = policy
        .rejected
        .iter()
        .map(|(by, count)| format!("{count} by {}", flag(*by)))
        .collect();
    if !rejected.is_empty() {
        let _ = writeln!(text, "rejected: {}", rejected.join(", "));
    }
    if let Some(changes) = &policy.changes {
        let _ = writeln!(
            text,
            "compared with the previous list: {} gained, {} lost ({} of them no longer eligible), {} kept \
             only because of --max-changes",
            changes.gained, changes.lost, changes.lost_ineligible, changes.retained
        );
    }
}

/// Appends the number of star-shaped cores.
pub fn write_stars(text: &mut String, stars: Stars) {
    let cores = counted(stars.cores, "core");
    let are = if stars.cores == 1 { "has" } else { "have" };
    let _ = write!(text, "{cores} {are} only one hub or only one authority");
    if let Some(from) = stars.from {
        let _ = write!(text, ", among them core {from} and all that follow");
    }
    text.push_str("; --min-hubs 2 and --min-authorities 2 exclude such cores\n");
}

/// Appends why there are fewer seeds than requested.
pub fn write_shortage(text: &mut String, short: Shortage, found: u32) {
    let why = match short.reason {
        ShortageReason::NoLinkLeft => "no inter-site links are left for another core",
        ShortageReason::NoPageLeft => "no eligible page is left where more seeds are due",
        ShortageReason::NoValueLeft => "no remaining page has any value",
        ShortageReason::NotPositive => "no remaining page is worth its cost",
        ShortageReason::MaxChanges => "--max-changes allows no more new seeds",
    };
    let _ = writeln!(
        text,
        "{found} of {} requested seeds: {why}",
        short.requested
    );
}
