//! Seeds of a refresh with their evidence, and entries of final lists.

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
    /// The reason for its selection.
    pub evidence: SeedEvidence,
    /// The previous seed that this one replaced, if the plan keeps the list stable; else `None`.
    pub succeeds: Option<Succession>,
}

/// The reason for the selection of a seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum SeedEvidence {
    /// It is the selected hub of a core.
    Core {
        /// The rank of the core.
        core: u32,
        /// The sigma of the core.
        sigma: f64,
        /// The hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers pages of its site.
    Cover(CoverEvidence),
    /// It reaches pages of the whole web.
    Web(WebEvidence),
    /// A policy put it on the list, not the method: it is pinned, or stays because of the limit on changes.
    ByPolicy,
}

/// An entry of a final list that differs from the selected seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FinalListEntry {
    /// The page.
    pub page: PageId,
    /// Its rank among the seeds that the method selected; `None` if it was not selected.
    pub chosen: Option<u32>,
    /// The last refresh of the plan in which the method selected it.
    pub last_chosen: RefreshId,
}

record_values!(SeedRecord, FinalListEntry);
