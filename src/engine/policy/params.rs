//! The policies of a plan, each decided.

use seedbank_store::Hash128;

/// The policies of a plan, each decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// The most seeds of a site; `None` without a limit.
    pub max_per_site: Option<u32>,
    /// The most seeds of a registrable domain; `None` without a limit.
    pub max_per_domain: Option<u32>,
    /// Pages that are never seeds, by the hash of the list.
    pub exclude: Option<Hash128>,
    /// The only pages that can be seeds, by the hash of the list.
    pub only: Option<Hash128>,
    /// Pages that are no part of the graph, and no seeds, by the hash of the list.
    pub exclude_from_graph: Option<Hash128>,
    /// Pages that are always seeds, by the hash of the list.
    pub pin: Option<Hash128>,
    /// A core with fewer hubs gives no seed.
    pub min_hubs: u32,
    /// A core with fewer authorities gives no seed.
    pub min_authorities: u32,
    /// The least quality of a seed, in ten-thousandths.
    pub min_quality: u16,
    /// The most seeds that differ from the plan's last list; `None` without a limit.
    pub max_changes: Option<u32>,
}

impl Policy {
    /// The keys of the lists that it names, ascending.
    #[must_use]
    pub fn lists(&self) -> Vec<Hash128> {
        let lists = [self.exclude, self.only, self.exclude_from_graph, self.pin];
        let mut lists: Vec<Hash128> = lists.into_iter().flatten().collect();
        lists.sort_unstable();
        lists.dedup();
        lists
    }

    /// Whether every page may be a seed as far as it is only about that page.
    pub(crate) const fn admits_all(&self) -> bool {
        self.exclude.is_none()
            && self.only.is_none()
            && self.exclude_from_graph.is_none()
            && self.min_quality == 0
    }

    /// Whether there may be cores that give no seed.
    pub(crate) const fn may_pass_over_cores(&self) -> bool {
        !self.admits_all()
            || self.has_caps()
            || self.pin.is_some()
            || self.min_hubs > 1
            || self.min_authorities > 1
    }

    /// Whether seeds of a site or domain are counted.
    pub(crate) const fn has_caps(&self) -> bool {
        self.max_per_site.is_some() || self.max_per_domain.is_some()
    }
}
