//! Results of an attempt on a part of the graph, reused by the next attempt on a larger part.

use std::collections::BTreeMap;

use super::load::LoadedHubGraph;
use seedbank_algorithms::cores::{
    CachedComponent, CachedCore, Core, CoreCache, NearPage, Selection,
};
use seedbank_algorithms::graph::Fingerprint;
use seedbank_algorithms::page::PageId;

/// Results by component, in the page numbers of the attempt's graph.
#[derive(Default)]
pub(super) struct PartialResults {
    pages: Vec<PageId>,
    components: BTreeMap<Fingerprint, CachedComponent>,
}

impl PartialResults {
    pub(super) fn new(hubs: LoadedHubGraph, cache: &CoreCache, selection: &Selection) -> Self {
        let fingerprints = cache.components().fingerprints();
        let mut components = BTreeMap::new();
        for (&component, found) in &selection.found {
            let Some(fingerprint) = fingerprints.get(component as usize) else {
                continue;
            };
            let core = |(rank, near): &(u32, Vec<NearPage>)| {
                let at = *rank as usize - 1;
                Some(CachedCore {
                    core: selection.cores.get(at)?.clone(),
                    near: near.clone(),
                    origin: selection.origins.get(at).copied().flatten(),
                })
            };
            let known = CachedComponent {
                cores: found.cores.iter().map_while(core).collect(),
                next: found.next,
                ahead: None,
            };
            components.insert(*fingerprint, known);
        }
        Self {
            pages: hubs.pages,
            components,
        }
    }

    /// Returns the results of a component, converted to the numbers of another graph.
    pub(super) fn component(
        &self,
        fingerprint: &Fingerprint,
        hubs: &LoadedHubGraph,
    ) -> Option<CachedComponent> {
        let found = self.components.get(fingerprint)?;
        let number = |&page: &u32| hubs.number(*self.pages.get(page as usize)?);
        let numbers = |pages: &[u32]| pages.iter().map(number).collect::<Option<Vec<u32>>>();
        let core = |known: &CachedCore| {
            let near = known.near.iter().map(|near| {
                let page = number(&near.page)?;
                Some(NearPage { page, ..*near })
            });
            Some(CachedCore {
                core: Core {
                    hubs: numbers(&known.core.hubs)?,
                    authorities: numbers(&known.core.authorities)?,
                    seed: number(&known.core.seed)?,
                    ..known.core.clone()
                },
                near: near.collect::<Option<_>>()?,
                origin: known.origin,
            })
        };
        let cores: Option<_> = found.cores.iter().map(core).collect();
        Some(CachedComponent {
            cores: cores?,
            next: found.next,
            ahead: None,
        })
    }
}
