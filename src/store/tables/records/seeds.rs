//! Seeds of a refresh, each with why it was selected, and the list where it is another.

use serde::{Deserialize, Serialize};

use super::cover_evidence::{CoverEvidence, WebEvidence};
use super::page_history::Succession;
use crate::tables::table::record_values;
use seedbank_algorithms::page::PageId;

use super::RefreshId;

/// A seed of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeedRecord {
    /// The page.
    pub page: PageId,
    /// Why it was selected.
    pub evidence: SeedEvidence,
    /// The old seed that this one replaced, where the plan keeps the list stable; else `None`.
    pub succeeds: Option<Succession>,
}

/// Why a seed was selected.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum SeedEvidence {
    /// It is the chosen hub of a core.
    Core {
        /// The core's rank.
        core: u32,
        /// The core's sigma.
        sigma: f64,
        /// The seed's hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers value on its site.
    Cover(CoverEvidence),
    /// It reaches value on the whole web.
    Web(WebEvidence),
    /// A policy has it on the list, and the method has nothing to say of it: it is pinned, or stays
    /// since no more of the list may change.
    ByPolicy,
}

/// A place of a list that is not what the method came to, since no more of it may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FinalListEntry {
    /// The page.
    pub page: PageId,
    /// Its rank among the seeds that the method came to; `None` where it stays on the list without
    /// being one of them.
    pub chosen: Option<u32>,
    /// The last refresh of the plan in which the method came to it.
    pub last_chosen: RefreshId,
}

record_values!(SeedRecord, FinalListEntry);
