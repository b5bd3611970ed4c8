//! The policies of a plan, with every parameter resolved.

use super::rejection_reason::RejectionReason;
use seedbank_store::Hash128;

/// The policies of a plan, with every parameter resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// Maximum number of seeds of a site; `None` without a limit.
    pub max_per_site: Option<u32>,
    /// Maximum number of seeds of a registrable domain; `None` without a limit.
    pub max_per_domain: Option<u32>,
    /// Hash of the list of pages that are never seeds.
    pub exclude: Option<Hash128>,
    /// Hash of the list of the only pages that can be seeds.
    pub only: Option<Hash128>,
    /// Hash of the list of pages that are excluded from the graph, and from being seeds.
    pub exclude_from_graph: Option<Hash128>,
    /// Hash of the list of pages that are always seeds.
    pub pin: Option<Hash128>,
    /// Minimum number of hubs of a core that gives a seed.
    pub min_hubs: u32,
    /// Minimum number of authorities of a core that gives a seed.
    pub min_authorities: u32,
    /// Minimum number of sites of the hubs of a core that gives a seed.
    pub min_hub_sites: u32,
    /// Minimum quality of a seed, in ten-thousandths.
    pub min_quality: u16,
    /// Number of consecutive failed fetches that keeps a page from being a seed; 0 without a limit.
    pub max_failures: u32,
    /// Pages fetched within this number of days before the last fetch in the bank are not seeds; 0
    /// without a limit.
    pub rest: u32,
    /// Maximum number of seeds that differ from the plan's previous list; `None` without a limit.
    pub max_changes: Option<u32>,
}

impl Policy {
    /// Returns the keys of the referenced lists, ascending.
    #[must_use]
    pub fn lists(&self) -> Vec<Hash128> {
        let lists = [self.exclude, self.only, self.exclude_from_graph, self.pin];
        let mut lists: Vec<Hash128> = lists.into_iter().flatten().collect();
        lists.sort_unstable();
        lists.dedup();
        lists
    }

    /// Whether no rule about single pages rejects any page.
    pub(crate) const fn allows_all_pages(&self) -> bool {
        self.exclude.is_none()
            && self.only.is_none()
            && self.exclude_from_graph.is_none()
            && self.min_quality == 0
            && self.max_failures == 0
            && self.rest == 0
    }

    /// Whether some cores may give no seed.
    pub(crate) const fn may_pass_over_cores(&self) -> bool {
        !self.allows_all_pages()
            || self.has_caps()
            || self.pin.is_some()
            || self.min_hubs > 1
            || self.min_authorities > 1
            || self.min_hub_sites > 1
    }

    /// Returns the policy that rejects a core of these numbers of hubs and authorities, or of this number of
    /// sites of the hubs; `None` if the core may give a seed.
    pub(crate) fn rejects_core(
        &self,
        hubs: usize,
        authorities: usize,
        hub_sites: usize,
    ) -> Option<RejectionReason> {
        let limits = [
            (RejectionReason::MinHubs, hubs, self.min_hubs),
            (
                RejectionReason::MinAuthorities,
                authorities,
                self.min_authorities,
            ),
            (RejectionReason::MinHubSites, hub_sites, self.min_hub_sites),
        ];
        let rejecting = limits
            .into_iter()
            .find(|(_, found, least)| *found < *least as usize);
        rejecting.map(|(by, ..)| by)
    }

    /// Whether seeds are counted by site or domain.
    pub(crate) const fn has_caps(&self) -> bool {
        self.max_per_site.is_some() || self.max_per_domain.is_some()
    }
}
