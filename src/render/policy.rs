//! What policies came to, in words.

use std::fmt::Write;

use crate::engine::{HeldBy, PinFault, PolicyView, Shortage, ShortageReason, Stars};
use seedbank_formats::shown::{counted, plain};

/// The flag that holds a page back.
pub(crate) const fn flag(by: HeldBy) -> &'static str {
    match by {
        HeldBy::MaxPerSite => "--max-per-site",
        HeldBy::MaxPerDomain => "--max-per-domain",
        HeldBy::Exclude => "--exclude",
        HeldBy::Only => "--only",
        HeldBy::ExcludeFromGraph => "--exclude-from-graph",
        HeldBy::MinQuality => "--min-quality",
        HeldBy::MinHubs => "--min-hubs",
        HeldBy::MinAuthorities => "--min-authorities",
        HeldBy::MaxChanges => "--max-changes",
    }
}

/// Why a page that is pinned is no seed.
pub(crate) const fn fault(why: PinFault) -> &'static str {
    match why {
        PinFault::Unknown => "the bank has no such page",
        PinFault::Gone => "it is gone",
        PinFault::Alias => "it is an alias of another page",
        PinFault::Excluded => "the plan excludes it",
    }
}

/// What the policies of a refresh came to; nothing where they did nothing.
pub fn write_policy(text: &mut String, policy: &PolicyView) {
    // Writing to a String cannot fail, here and below.
    if policy.pinned > 0 {
        let _ = writeln!(text, "pinned: {}", counted(policy.pinned, "seed"));
    }
    for pin in &policy.rejected_pins {
        let url = plain(&pin.url);
        let _ = writeln!(text, "pinned and no seed: {url}: {}", fault(pin.why));
    }
    let held = policy.rejected.iter();
    let held: Vec<String> = held
        .map(|(by, count)| format!("{count} by {}", flag(*by)))
        .collect();
    if !held.is_empty() {
        let _ = writeln!(text, "held back: {}", held.join(", "));
    }
    if let Some(changes) = &policy.changes {
        let _ = writeln!(
            text,
            "beside the last list: {} came, {} left ({} could be no seed any more), {} stay only \
             because no more may change",
            changes.gained, changes.lost, changes.lost_ineligible, changes.retained
        );
    }
}

/// Which cores are stars.
pub fn write_stars(text: &mut String, stars: Stars) {
    let cores = counted(stars.cores, "core");
    let _ = writeln!(
        text,
        "stars: {cores} with a single hub or a single authority{}",
        stars.from.map_or_else(String::new, |from| format!(
            "; all of them from core {from} on"
        ))
    );
}

/// Why there are fewer seeds than were asked for.
pub fn write_shortage(text: &mut String, short: Shortage, found: u32) {
    let why = match short.reason {
        ShortageReason::NoLinkLeft => {
            "no inter-site link is left that a further core could come from"
        }
        ShortageReason::NoPageLeft => {
            "no page is left that may be one where further ones are to be"
        }
        ShortageReason::NoValueLeft => "no page that is left has any value",
        ShortageReason::NotPositive => "no further page is worth what it costs",
        ShortageReason::MaxChanges => "--max-changes lets no more pages in at a time",
    };
    let _ = writeln!(
        text,
        "{found} of the {} seeds asked for: {why}",
        short.requested
    );
}
