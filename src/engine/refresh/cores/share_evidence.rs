//! Page evidence of a selection by several processes: each has that of its own pages.

use std::collections::BTreeMap;

use super::component_results::ShareComponent;
use super::load_share::{LoadedHubShare, OwnPages};
use super::page_evidence::{EvidenceBlocks, proximity};
use crate::engine::Result;
use crate::engine::web_graph::{Group, malformed};
use seedbank_algorithms::cores::{NearClasses, PageStanding, standings};
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::{LinkStatus, PageEvidence};

/// About the bytes of a number in a message, and of a page id.
const OF_NUMBER: usize = 5;
const OF_PAGE: usize = 9;

/// The evidence that a process has.
pub(super) struct ShareEvidence {
    /// For its own pages.
    pub(super) blocks: EvidenceBlocks,
    /// In process 0, the components of the whole graph.
    pub(super) components: Vec<ShareComponent>,
}

impl ShareEvidence {
    /// Returns the evidence for the pages of this process. `near` has the classes near cores, and `origins` the origin of
    /// each core. All processes call it at the same time.
    pub(super) fn new(
        group: Group<'_>,
        loaded: &LoadedHubShare,
        near: &NearClasses,
        origins: &[Option<u64>],
    ) -> Result<Self> {
        let LoadedHubShare {
            share,
            pages,
            ineligible,
        } = loaded;
        let components = share.components()?;
        let standings = standings(share, &components, near, pages.numbers())?;
        drop(components);
        let own = summaries(pages, &standings);
        let Names { names, components } = Names::exchange(group, &own)?;
        if !own.keys().eq(names.keys()) {
            return Err(malformed().into());
        }
        let evidence = |standing: &PageStanding| {
            let near = standing.near;
            let component = names.get(&standing.component);
            PageEvidence {
                links: component.map_or(LinkStatus::Isolated, |&component| LinkStatus::Counted {
                    component,
                    as_authority: standing.as_authority,
                    as_hub: standing.as_hub,
                }),
                near: near.map(|(near, hub)| proximity(near, hub, origins)),
            }
        };
        let isolated = PageEvidence {
            links: LinkStatus::Isolated,
            near: None,
        };
        let by_id = pages.by_id();
        let by_id = by_id.filter_map(|(page, at)| {
            let standing = standings.get(at)?.as_ref();
            Some((page, standing.map_or(isolated, evidence)))
        });
        Ok(Self {
            blocks: EvidenceBlocks::new(by_id, ineligible),
            components,
        })
    }
}

/// Returns what the pages of this process say of components, by the number of the smallest page of each.
fn summaries(
    pages: &OwnPages,
    standings: &[Option<PageStanding>],
) -> BTreeMap<u32, ShareComponent> {
    let mut own: BTreeMap<u32, ShareComponent> = BTreeMap::new();
    for (name, at) in pages.by_id() {
        if let Some(standing) = standings.get(at).copied().flatten() {
            let of_page = ShareComponent {
                name,
                pages: 1,
                row_sum: standing.as_authority,
            };
            let summary = own.entry(standing.component);
            summary.and_modify(|of| of.add(of_page)).or_insert(of_page);
        }
    }
    own
}

impl ShareComponent {
    /// Adds what other pages of the component say.
    fn add(&mut self, other: Self) {
        self.name = self.name.min(other.name);
        self.pages = self.pages.saturating_add(other.pages);
        self.row_sum = self.row_sum.max(other.row_sum);
    }
}

/// The names of components.
struct Names {
    /// Of the components of own pages, by the number of the smallest page of each.
    names: BTreeMap<u32, PageId>,
    /// In process 0, all components.
    components: Vec<ShareComponent>,
}

impl Names {
    /// Combines what processes know of components. All processes call it at the same time.
    ///
    /// Cost: some 30 bytes for each component and process. Memory: in process 0, 24 bytes for each component.
    fn exchange(group: Group<'_>, own: &BTreeMap<u32, ShareComponent>) -> Result<Self> {
        // A component is combined in one of the processes.
        let processes = group.processes();
        let process_of = |component: u32| component as usize % processes;
        let summaries = own.iter().map(|(&component, of)| {
            let summary = (component, (of.name, of.pages, of.row_sum));
            (process_of(component), summary)
        });
        let mut combined: BTreeMap<u32, (ShareComponent, Vec<usize>)> = BTreeMap::new();
        group.send(
            summaries,
            |_| OF_PAGE + 4 * OF_NUMBER,
            |from, (component, (name, pages, row_sum))| {
                let of_process = ShareComponent {
                    name,
                    pages,
                    row_sum,
                };
                let entry = combined.entry(component);
                let (of, asked) = entry.or_insert_with(|| (of_process, Vec::new()));
                if !asked.is_empty() {
                    of.add(of_process);
                }
                asked.push(from);
                Ok(())
            },
        )?;
        let answers = combined.iter().flat_map(|(component, (of, asked))| {
            let answer = (*component, of.name);
            asked.iter().map(move |process| (*process, answer))
        });
        let mut names: BTreeMap<u32, PageId> = BTreeMap::new();
        group.send(
            answers,
            |_| OF_PAGE + OF_NUMBER,
            |_, (component, name)| {
                names.insert(component, name);
                Ok(())
            },
        )?;
        let all = combined.values();
        let all = all.map(|(of, _)| (of.name, of.pages, of.row_sum));
        let mut components: Vec<ShareComponent> = Vec::new();
        group.send_to_first(
            all,
            |_| OF_PAGE + 3 * OF_NUMBER,
            |_, (name, pages, row_sum)| {
                components.push(ShareComponent {
                    name,
                    pages,
                    row_sum,
                });
                Ok(())
            },
        )?;
        components.sort_unstable_by_key(|of| of.name);
        Ok(Self { names, components })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::web_graph::in_threads;

    #[test]
    fn a_component_is_named_after_its_smallest_page_of_all_processes() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                // Page `p` is in component `p % 7`, and belongs to process `p % processes`.
                let mut own: BTreeMap<u32, ShareComponent> = BTreeMap::new();
                for page in (0..40).filter(|page| page % processes == process) {
                    let of_page = ShareComponent {
                        name: PageId(100 - page as u64),
                        pages: 1,
                        row_sum: page as u64,
                    };
                    let component = u32::try_from(page % 7).unwrap();
                    let summary = own.entry(component);
                    summary.and_modify(|of| of.add(of_page)).or_insert(of_page);
                }
                let found = Names::exchange(group, &own).unwrap();
                assert!(own.keys().eq(found.names.keys()));
                found
            });
            let last = |component: u32| (0..40).rev().find(|page| page % 7 == component).unwrap();
            for (process, Names { names, components }) in found.into_iter().enumerate() {
                for (component, name) in names {
                    assert_eq!(name.0, 100 - u64::from(last(component)));
                }
                let found = components
                    .iter()
                    .map(|of| (of.name.0, of.pages, of.row_sum));
                let expected = (0..7).map(|component| {
                    let (last, pages) = (last(component), 5 + u32::from(component < 5));
                    (100 - u64::from(last), pages, u64::from(last))
                });
                let mut expected: Vec<_> = expected.collect();
                expected.sort_unstable();
                expected.truncate(if process == 0 { 7 } else { 0 });
                assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
