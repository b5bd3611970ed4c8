//! What a selection over the web by gain leaves for the next refresh of its plan, page by page.
//!
//! For each page the table `gain_cache` has a hash of its links, its value and, of candidates, the gain before any pick. The next
//! refresh compares the hashes and values of all pages with those of its own web, and searches again only where they differ
//! (`algorithms::cover::global::CachedGains` says why that is exact). So no list of changes is needed: whatever makes a page
//! change, a batch, an undo, a policy or a content that another page represents, shows in its links or its value.
//!
//! Hashes also depend on what all gains depend on: the number of hops, the fetch cost and the value of known pages. With others,
//! all hashes differ.

use rayon::prelude::*;

use super::load::{LoadedWeb, half, positions_of};
use crate::engine::Result;
use crate::engine::refresh::share_request::Earlier;
use seedbank_algorithms::cover::global::{CachedGains, Previous, Setting, WebChoice, WebSelection};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::ReachKey;
use seedbank_store::gain_cache::{CachedGain, GainBlock};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::RefreshId;
use seedbank_store::{Entries, StoreError, row_hash};

/// The hash of what all gains depend on.
fn terms(choice: &WebChoice, setting: Setting) -> u64 {
    let Setting {
        hops,
        fetch_cost,
        value_known,
        ..
    } = setting;
    let depth = choice.depth_within(hops);
    let terms = [
        depth.into(),
        fetch_cost.0.cast_unsigned(),
        value_known.0.cast_unsigned(),
    ];
    half(row_hash(&terms.map(PageId)))
}

/// Returns a hash of links and of what all gains depend on; 0 for no links.
fn with_terms(links: u64, terms: u64) -> u64 {
    if links == 0 {
        0
    } else {
        (links ^ terms).max(1)
    }
}

impl LoadedWeb {
    /// Returns the numbers of the pages, in the order of their ids.
    fn by_id(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..number(self.pages.len())).collect();
        numbers.par_sort_unstable_by_key(|page| self.pages[*page as usize]);
        numbers
    }

    /// Returns what earlier refreshes have left for the pages of this process. `entries` returns what the table of gains has of
    /// a refresh.
    pub(super) fn previous<'a>(
        &self,
        choice: &WebChoice,
        earlier: &Earlier,
        entries: impl FnOnce(RefreshId) -> Result<Entries<'a, ReachKey, GainBlock>, StoreError>,
    ) -> Result<Previous> {
        let gains = match earlier.gains {
            Some(refresh) => self.cached_gains(choice, entries(refresh)?)?,
            None => None,
        };
        let mut list = vec![None; earlier.list.len()];
        for (place, page) in positions_of(&self.pages, &earlier.list) {
            list[place as usize] = Some(page);
        }
        Ok(Previous { gains, list })
    }

    /// Reads what a refresh has left for the pages of this process. `None` if the plan has no setting yet.
    fn cached_gains(
        &self,
        choice: &WebChoice,
        entries: Entries<'_, ReachKey, GainBlock>,
    ) -> Result<Option<CachedGains>> {
        let Some(setting) = choice.setting() else {
            return Ok(None);
        };
        let terms = terms(choice, setting);
        let count = self.pages.len();
        let mut links = vec![0; count];
        let mut cached = CachedGains {
            gains: vec![0; count],
            has_gain: vec![false; count],
            values: vec![setting.value_known.0; count],
            other_links: Vec::new(),
        };
        let by_id = self.by_id();
        let mut left = &by_id[..];
        for entry in entries {
            let (key, block) = entry?;
            for (place, of_page) in block.0 {
                let page = PageId::new(
                    key.site,
                    key.block.saturating_mul(BLOCK).saturating_add(place),
                );
                // Both are in the order of ids.
                left = &left[left.partition_point(|of| self.pages[*of as usize] < page)..];
                let at = left.first().map(|of| *of as usize);
                let Some(at) = at.filter(|at| self.pages[*at] == page) else {
                    continue;
                };
                links[at] = of_page.links;
                cached.values[at] = of_page.value;
                cached.has_gain[at] = of_page.gain.is_some();
                cached.gains[at] = of_page.gain.unwrap_or(0);
            }
        }
        let hashes = self.link_hashes.iter().zip(links);
        let is_other = |(now, before): (&u64, u64)| with_terms(*now, terms) != before;
        cached.other_links = (0..)
            .zip(hashes)
            .filter_map(|(page, hashes)| is_other(hashes).then_some(page))
            .collect();
        Ok(Some(cached))
    }

    /// Returns what a selection leaves of the pages of this process, in the order of their ids.
    pub(super) fn gains_to_cache(
        &self,
        selected: &WebSelection,
        choice: &WebChoice,
    ) -> Vec<(PageId, CachedGain)> {
        if self.link_hashes.is_empty() || selected.gains.is_empty() {
            return Vec::new();
        }
        let setting = selected.setting;
        let terms = terms(choice, setting);
        let default = CachedGain {
            value: setting.value_known.0,
            ..CachedGain::default()
        };
        let candidates = self.graph.candidates();
        let of_page = |page: u32| {
            let at = page as usize;
            let is_candidate = candidates.binary_search(&page).is_ok();
            CachedGain {
                links: with_terms(self.link_hashes[at], terms),
                value: self.graph.values()[at],
                gain: is_candidate.then(|| selected.gains[at]),
            }
        };
        let by_id = self.by_id().into_iter();
        let all = by_id.map(|page| (self.pages[page as usize], of_page(page)));
        all.filter(|(_, of)| *of != default).collect()
    }
}
