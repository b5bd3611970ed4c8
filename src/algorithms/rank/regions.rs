//! The regions of a graph: its weakly connected components, as all processes that share it know them.
//!
//! A removed page leaves the graph in both roles, so that removing a core changes its own region alone. Hence the steps in a
//! region, and their order among themselves, follow from its pages and links and from the parameters. The *fingerprint* of a
//! region is a hash of its pages and links: the sum of hashes of its classes, so that each process can hash its own. It is made
//! of page ids in URL order, because numbers of pages and classes change with pages of other regions.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{Csr, Fingerprint, HubShare, Role, ShareComponents, number};
use crate::watch::Interrupted;

/// The number of row hashes in a sample.
const SAMPLE: usize = 256;

/// The bits of a hash that a double between 1 and 2 has room for.
const VALUE_BITS: u64 = (1 << 52) - 1;

/// Stores the low bits of a hash in a double, so that processes can exchange hashes like the values of classes.
fn as_value(hash: u64) -> f64 {
    f64::from_bits(1.0_f64.to_bits() | hash & VALUE_BITS)
}

fn bits_of(value: f64) -> u64 {
    value.to_bits() & VALUE_BITS
}

/// The sum of hashes, in the bits that a value has room for.
fn sum_of(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0_u64, u64::wrapping_add) & VALUE_BITS
}

/// Returns the id of the page with a number: of pages of own classes, and of the smallest page of each local class.
pub type IdOfPage<'a> = dyn Fn(u32) -> u64 + Sync + 'a;

/// A region as the next run recognises it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CachedRegion {
    /// The hash of its pages and links.
    pub fingerprint: Fingerprint,
    /// The smallest hashes of its rows, ascending.
    pub sample: Vec<u64>,
}

impl CachedRegion {
    /// Estimates which share of the rows changed, one for one, given the sample of the region as it is now.
    ///
    /// Source: Broder 1997 (bottom-k sketches). Of the smallest hashes of both samples, those in both are the rows that stayed.
    pub(super) fn changed_share(&self, sample: &[u64]) -> f64 {
        let mut all: Vec<u64> = self.sample.iter().chain(sample).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.truncate(SAMPLE);
        let is_in_both = |hash: &&u64| {
            self.sample.binary_search(hash).is_ok() && sample.binary_search(hash).is_ok()
        };
        let common = all.iter().filter(is_in_both).count();
        // A changed row has two hashes, one in each sample.
        let changed = all.len() - common;
        changed as f64 / (2 * common + changed).max(1) as f64
    }
}

/// What processes know of a region.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    fingerprint: u128,
    /// The number of links between classes.
    entries: u64,
    /// The largest row sum.
    bound: f64,
}

/// The regions of a graph, by smallest page.
#[derive(Debug)]
pub(super) struct Regions {
    facts: Vec<Facts>,
    /// The number of links between classes of all regions.
    entries: u64,
    /// The local classes of each region, ascending, by role.
    classes: [Csr; 2],
    of_authorities: Vec<u32>,
    /// By own hub class the sum of the hashes of the linked pages. It does not depend on how pages are grouped into classes: a
    /// page that leaves its class changes no row but those that link to it no longer.
    rows: Vec<u64>,
}

impl Regions {
    /// Describes the components of a graph. `row_sums` are those of the own authorities. All processes call it at the same
    /// time.
    ///
    /// Cost: a pass over the own rows and pages, and some 30 bytes for each region and process.
    pub(super) fn new(
        share: &HubShare,
        components: &ShareComponents,
        row_sums: &[f64],
        id: &IdOfPage<'_>,
    ) -> Result<Self, Interrupted> {
        let graph = share.graph();
        let targets = share.side(Role::Authority).ids();
        let hash_row = |hub: u32| {
            let mut hasher = blake3::Hasher::new();
            for &target in graph.rows().list(hub) {
                hasher.update(&id(targets[target as usize]).to_le_bytes());
            }
            *hasher.finalize().as_bytes()
        };
        let own_hubs = share.side(Role::Hub).own();
        let own_authorities = share.side(Role::Authority).own();
        let rows: Vec<[u8; 32]> = own_hubs.clone().into_par_iter().map(hash_row).collect();
        let hash_members = |role: u8, members: &[u32]| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&[role]);
            for &page in members {
                hasher.update(&id(page).to_le_bytes());
            }
            hasher
        };
        let mut own: BTreeMap<u32, Facts> = BTreeMap::new();
        let hubs: Vec<u128> = own_hubs
            .clone()
            .into_par_iter()
            .map(|hub| {
                let mut hasher = hash_members(b'h', graph.hub_members().list(hub));
                first_half(hasher.update(&rows[hub as usize]))
            })
            .collect();
        for ((hub, component), hash) in own_hubs.clone().zip(&components.hubs).zip(hubs) {
            let facts = own.entry(*component).or_default();
            facts.fingerprint = facts.fingerprint.wrapping_add(hash);
            facts.entries += graph.rows().list(hub).len() as u64;
        }
        let authorities: Vec<u128> = own_authorities
            .clone()
            .into_par_iter()
            .map(|class| first_half(&hash_members(b'a', graph.authority_members().list(class))))
            .collect();
        let of_classes = components.authorities.iter().zip(authorities).zip(row_sums);
        for ((component, hash), sum) in of_classes {
            let facts = own.entry(*component).or_default();
            facts.fingerprint = facts.fingerprint.wrapping_add(hash);
            facts.bound = facts.bound.max(*sum);
        }
        let all = exchanged(share, own)?;
        let region = |component: &u32| all.binary_search_by_key(component, |of| of.0);
        let regions_of = |components: &[u32]| -> Vec<u32> {
            let regions = components.par_iter().map(region);
            // All processes know the components of their classes.
            regions.map(|region| region.map_or(0, number)).collect()
        };
        let classes_of = |regions: &[u32]| {
            let mut lists = Csr::with_capacity(regions.len(), regions.len());
            for region in regions {
                lists.push([*region]);
            }
            lists.transpose(all.len())
        };
        let of_authorities = regions_of(&components.authorities);
        let mut of_pages = vec![1.0; share.side(Role::Authority).len()];
        for (class, value) in share.side(Role::Authority).own().zip(&mut of_pages) {
            let members = graph.authority_members().list(class).iter();
            *value = as_value(sum_of(members.map(|page| mixed(id(*page)))));
        }
        share.pull(Role::Authority, &mut of_pages)?;
        let of_row = |hub: u32| {
            let targets = graph.rows().list(hub).iter();
            sum_of(targets.map(|target| bits_of(of_pages[*target as usize])))
        };
        Ok(Self {
            entries: all.iter().map(|of| of.1.entries).sum(),
            classes: [
                classes_of(&regions_of(&components.hubs)),
                classes_of(&of_authorities),
            ],
            of_authorities,
            rows: own_hubs.map(of_row).collect(),
            facts: all.into_iter().map(|of| of.1).collect(),
        })
    }

    pub(super) fn len(&self) -> u32 {
        number(self.facts.len())
    }

    /// Returns the largest row sum of a region, which is an upper bound on its largest eigenvalue.
    pub(super) fn largest_row_sum(&self, region: u32) -> f64 {
        self.facts[region as usize].bound
    }

    /// Returns whether a region has at least half of all links.
    pub(super) fn is_most(&self, region: u32) -> bool {
        self.facts[region as usize].entries >= self.entries.div_ceil(2)
    }

    pub(super) fn fingerprint(&self, region: u32) -> Fingerprint {
        self.facts[region as usize].fingerprint.to_le_bytes()
    }

    /// Returns the local classes of a region, ascending: hubs, authorities.
    pub(super) fn classes(&self, region: u32) -> [&[u32]; 2] {
        self.classes.each_ref().map(|lists| lists.list(region))
    }

    pub(super) fn of_authority(&self, class: u32) -> u32 {
        self.of_authorities[class as usize]
    }

    /// Returns the smallest hashes of the rows of a region, ascending; a row counts once for each of its pages. All processes
    /// call it at the same time.
    ///
    /// Cost: the hubs of the region.
    pub(super) fn sample(
        &self,
        share: &HubShare,
        region: u32,
        id: &IdOfPage<'_>,
    ) -> Result<Vec<u64>, Interrupted> {
        let [hubs, _] = self.classes(region);
        let mut hashes: Vec<u64> = Vec::new();
        // Ghosts come last.
        for (&hub, row) in hubs
            .iter()
            .map_while(|hub| Some((hub, self.rows.get(*hub as usize)?)))
        {
            let pages = share.graph().hub_members().list(hub).iter();
            hashes.extend(pages.map(|page| mixed(*row ^ mixed(id(*page)))));
            if hashes.len() > 16 * SAMPLE {
                hashes.select_nth_unstable(SAMPLE);
                hashes.truncate(SAMPLE);
            }
        }
        hashes.sort_unstable();
        hashes.truncate(SAMPLE);
        if share.communicator().processes() > 1 {
            let message = Encoder(hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect());
            hashes.clear();
            for message in gather(share.communicator(), message)? {
                let (of_process, rest) = message.as_chunks::<8>();
                if !rest.is_empty() {
                    return Err(share.malformed());
                }
                hashes.extend(of_process.iter().map(|hash| u64::from_le_bytes(*hash)));
            }
            hashes.sort_unstable();
            hashes.truncate(SAMPLE);
        }
        Ok(hashes)
    }
}

/// Combines what processes know of regions. Returns all of them by smallest page.
fn exchanged(
    share: &HubShare,
    own: BTreeMap<u32, Facts>,
) -> Result<Vec<(u32, Facts)>, Interrupted> {
    if share.communicator().processes() == 1 {
        return Ok(own.into_iter().collect());
    }
    let mut message = Encoder::default();
    for (component, facts) in own {
        message.number(component.into());
        message.number(facts.entries);
        message.0.extend(facts.bound.to_le_bytes());
        message.0.extend(facts.fingerprint.to_le_bytes());
    }
    let mut all: BTreeMap<u32, Facts> = BTreeMap::new();
    for message in gather(share.communicator(), message)? {
        let mut message = Decoder(&message);
        while !message.0.is_empty() {
            let (component, of_process) =
                read_facts(&mut message).ok_or_else(|| share.malformed())?;
            let facts = all.entry(component).or_default();
            facts.entries = facts.entries.saturating_add(of_process.entries);
            facts.bound = facts.bound.max(of_process.bound);
            facts.fingerprint = facts.fingerprint.wrapping_add(of_process.fingerprint);
        }
    }
    Ok(all.into_iter().collect())
}

fn read_facts(message: &mut Decoder<'_>) -> Option<(u32, Facts)> {
    let (component, entries) = (message.index()?, message.number()?);
    let (bound, rest) = message.0.split_first_chunk()?;
    let (fingerprint, rest) = rest.split_first_chunk()?;
    message.0 = rest;
    let facts = Facts {
        fingerprint: u128::from_le_bytes(*fingerprint),
        entries,
        bound: f64::from_le_bytes(*bound),
    };
    Some((component, facts))
}

/// Returns the first half of a hash.
fn first_half(hasher: &blake3::Hasher) -> u128 {
    let mut half = [0; 16];
    hasher.finalize_xof().fill(&mut half);
    u128::from_le_bytes(half)
}

/// Mixes the bits of a number (the finalizer of `SplitMix64`).
const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::Rows;

    /// Hubs that link to the same pages, the first of them to one page less.
    fn sample_of(hubs: u32, targets: u32, fewer: u32) -> CachedRegion {
        let all: Vec<u32> = (hubs..hubs + targets).collect();
        let mut rows = Rows::new();
        rows.push(&[0], &all[..all.len() - fewer as usize]).unwrap();
        rows.push(&(1..hubs).collect::<Vec<u32>>(), &all).unwrap();
        let share = Arc::new(HubShare::of_graph(rows.graph().unwrap()));
        let components = share.components().unwrap();
        let row_sums = vec![1.0; share.own_authorities() as usize];
        let id: &IdOfPage<'_> = &|page| page.into();
        let regions = Regions::new(&share, &components, &row_sums, id).unwrap();
        assert_eq!(regions.len(), 1);
        CachedRegion {
            fingerprint: regions.fingerprint(0),
            sample: regions.sample(&share, 0, id).unwrap(),
        }
    }

    #[test]
    fn a_page_that_leaves_its_class_changes_no_other_row() {
        let (before, after) = (sample_of(10, 20, 0), sample_of(10, 20, 1));
        assert_ne!(before.fingerprint, after.fingerprint);
        let changed = before.changed_share(&after.sample);
        assert!((changed - 0.1).abs() < 1e-12, "{changed}");
    }

    #[test]
    fn the_share_of_changed_rows_is_estimated_from_samples() {
        let sample = |rows: &mut dyn Iterator<Item = u64>| {
            let mut sample: Vec<u64> = rows.map(mixed).collect();
            sample.sort_unstable();
            sample.truncate(SAMPLE);
            sample
        };
        let former = |rows: u64| CachedRegion {
            sample: sample(&mut (0..rows)),
            ..CachedRegion::default()
        };
        // Few rows are counted.
        let changed = former(100).changed_share(&sample(&mut (10..110)));
        assert!((changed - 0.1).abs() < 1e-12, "{changed}");
        assert!(former(100).changed_share(&former(100).sample) == 0.0);
        let changed = former(100).changed_share(&sample(&mut (200..300)));
        assert!((changed - 1.0).abs() < 1e-12, "{changed}");
        for percent in [1, 5, 20] {
            let rows = 100_000;
            let first = rows * percent / 100;
            let changed = former(rows).changed_share(&sample(&mut (first..rows + first)));
            let expected = percent as f64 / 100.0;
            assert!((changed - expected).abs() < 0.05, "{changed} {expected}");
        }
    }
}
