//! How many seeds each site is to have: the same number, or a total shared out by crawled pages,
//! value, or PageRank of the whole graph.
//!
//! Sharing out looks at all sites at every refresh, so a change on one site can move seats on
//! others; those are selected on again. By pages that costs nothing. By value, the sites that
//! changed are read twice. By PageRank, the whole graph is read and ranked anew.

use std::collections::BTreeMap;

use super::sites::{CoverSite, in_groups};
use crate::cover::{Choice, Seats, Share, pagerank_weight, share_out, value_weight};
use crate::engine::EngineError;
use crate::engine::whole::Whole;
use crate::page::SiteId;
use crate::storage::Store;
use crate::storage::records::CoverRecord;
use crate::watch::Watch;

/// Seats, in the order of the sites.
pub(crate) struct Assigned {
    pub(crate) of_sites: Vec<u32>,
    /// The values of the sites, in millionths; `None` where they are not known.
    pub(crate) values: Vec<Option<i64>>,
    /// Page visits of ranking the whole graph.
    pub(crate) visits: u64,
}

/// Gives each site its seats. `kept` is what an earlier refresh knew of sites that did not change.
pub(crate) fn seats(
    store: &Store,
    sites: &[CoverSite],
    kept: &[Option<CoverRecord>],
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<Assigned, EngineError> {
    let mut assigned = Assigned {
        of_sites: Vec::new(),
        values: kept.iter().map(|kept| kept.as_ref()?.value).collect(),
        visits: 0,
    };
    let (total, share) = match choice.seats {
        Seats::PerSite(seats) => {
            assigned.of_sites = vec![seats; sites.len()];
            return Ok(assigned);
        }
        Seats::Shared(total, share) => (total, share),
    };
    let weights: Vec<u64> = match share {
        Share::Pages => sites.iter().map(|site| site.crawled.into()).collect(),
        Share::Value => {
            read_values(store, sites, &mut assigned.values, choice, watch)?;
            let values = assigned.values.iter();
            values.map(|v| value_weight(v.unwrap_or(0))).collect()
        }
        Share::Pagerank => {
            let (of_sites, cost) = Whole::load(store, watch)?.by_site(watch)?;
            assigned.visits = cost;
            let of_sites: BTreeMap<SiteId, f64> = of_sites.into_iter().collect();
            let of = |site: &CoverSite| of_sites.get(&site.id).copied().unwrap_or(0.0);
            sites.iter().map(|site| pagerank_weight(of(site))).collect()
        }
    };
    let names = sites.iter().map(|site| site.name.as_str());
    let weights: Vec<(&str, u64)> = names.zip(weights).collect();
    assigned.of_sites = share_out(total, &weights);
    Ok(assigned)
}

/// Fills in the values that are not known, which are those of sites that changed.
fn read_values(
    store: &Store,
    sites: &[CoverSite],
    values: &mut [Option<i64>],
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let unknown: Vec<usize> = (0..sites.len())
        .filter(|&at| values[at].is_none())
        .collect();
    let to_read: Vec<&CoverSite> = unknown.iter().map(|&at| &sites[at]).collect();
    watch.stage("value sites", Some(to_read.len() as u64));
    in_groups(store, &to_read, choice, watch, |group, loaded| {
        for (at, site) in group.iter().zip(loaded) {
            values[unknown[*at]] = Some(site.graph.value());
            watch.advance(1);
        }
        Ok(())
    })
}
