//! Components that one process gets whole.

use std::collections::{BTreeMap, BTreeSet};

use super::{HubShare, ShareComponents};
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::csr::Csr;
use crate::graph::dense_index::{NONE, number};
use crate::graph::exchange::{exchange, gather};
use crate::graph::hub_graph::{ClassOfPage, HubGraph};
use crate::graph::remaining::Remaining;
use crate::graph::role::Role;
use crate::watch::Interrupted;

/// By local class: hubs, authorities.
pub(crate) type OfClasses = [Vec<bool>; 2];

impl HubShare {
    /// Returns which local classes are in a component of the remaining links with more than `max_pages` pages; a page in both
    /// roles counts twice. All processes call it at the same time.
    ///
    /// Cost: the classes of each process, and some 5 bytes for each component with more than `max_pages / processes` pages in
    /// a process. Memory: 16 bytes for each component of a process.
    pub(crate) fn in_large_components(
        &self,
        left: &Remaining,
        components: &ShareComponents,
        max_pages: u64,
    ) -> Result<OfClasses, Interrupted> {
        let mut own: BTreeMap<u32, u64> = BTreeMap::new();
        for (role, of_classes) in [
            (Role::Hub, &components.hubs),
            (Role::Authority, &components.authorities),
        ] {
            for (class, &component) in (0..).zip(of_classes) {
                *own.entry(component).or_default() += u64::from(left.pages(role, class));
            }
        }
        own.remove(&NONE);
        // One of the processes has an equal share of a large component, or more.
        let least = max_pages / self.communicator().processes() as u64;
        let mut message = Encoder::default();
        for (&component, _) in own.iter().filter(|(_, pages)| **pages > least) {
            message.number(component.into());
        }
        let mut candidates = BTreeSet::new();
        for message in gather(self.communicator(), message)? {
            let mut message = Decoder(&message);
            while !message.0.is_empty() {
                candidates.insert(message.index().ok_or_else(|| self.malformed())?);
            }
        }
        let mut message = Encoder::default();
        for component in &candidates {
            message.number(own.get(component).copied().unwrap_or(0));
        }
        let mut pages = vec![0_u64; candidates.len()];
        for message in gather(self.communicator(), message)? {
            let mut message = Decoder(&message);
            for pages in &mut pages {
                let more = message.number().ok_or_else(|| self.malformed())?;
                *pages = pages.saturating_add(more);
            }
        }
        let large = candidates.into_iter().zip(pages);
        let large: BTreeSet<u32> = large
            .filter_map(|(component, pages)| (pages > max_pages).then_some(component))
            .collect();
        let is_large = |role: Role, of_classes: &[u32]| -> Result<Vec<bool>, Interrupted> {
            let own = of_classes.iter().map(|component| large.contains(component));
            let mut values: Vec<f64> = own.map(|is_large| u8::from(is_large).into()).collect();
            values.resize(self.side(role).len(), 0.0);
            self.pull(role, &mut values)?;
            Ok(values.into_iter().map(|value| value > 0.0).collect())
        };
        Ok([
            is_large(Role::Hub, &components.hubs)?,
            is_large(Role::Authority, &components.authorities)?,
        ])
    }

    /// Returns in process 0 the remaining links of the local classes of all processes that are not `left_out`, with the
    /// remaining pages of these; in other processes an empty graph. Classes have the order that they have in the whole
    /// graph. All processes call it at the same time.
    ///
    /// Cost: some 5 bytes for each of the pages and links. Memory: in process 0, that of the graph, and 60 bytes for each
    /// class while it is built.
    pub(crate) fn gather(
        &self,
        left: &Remaining,
        [hubs, authorities]: &OfClasses,
    ) -> Result<HubGraph, Interrupted> {
        let graph = &self.graph;
        let remains = |page: &&u32| !left.removed().contains(**page);
        let remaining = |members: &Csr, class: u32| -> Vec<u32> {
            members
                .list(class)
                .iter()
                .filter(remains)
                .copied()
                .collect()
        };
        let is_in = |left_out: &[bool], role: Role, class: u32| {
            !left_out[class as usize] && left.pages(role, class) > 0
        };
        let of_authorities = self.authorities.own();
        let is_linked = |class: u32| {
            let mut citers = graph.citers().list(class).iter();
            citers.any(|hub| left.hubs(*hub) > 0)
        };
        let of_authorities = of_authorities
            .filter(|class| is_in(authorities, Role::Authority, *class) && is_linked(*class));
        let of_authorities = of_authorities.map(|class| {
            let members = remaining(graph.authority_members(), class);
            (self.authorities.ids()[class as usize], members, Vec::new())
        });
        let of_hubs = self.hubs.own();
        let of_hubs = of_hubs.filter(|class| is_in(hubs, Role::Hub, *class));
        let of_hubs = of_hubs.filter_map(|class| {
            let row = graph.rows().list(class).iter();
            let targets = row.filter(|to| is_in(authorities, Role::Authority, **to));
            let targets = targets.map(|to| self.authorities.ids()[*to as usize]);
            let targets: Vec<u32> = targets.collect();
            let members = remaining(graph.hub_members(), class);
            let id = self.hubs.ids()[class as usize];
            (!targets.is_empty()).then_some((id, members, targets))
        });
        let mut classes = of_authorities.chain(of_hubs);
        let mut received: [Vec<Class>; 2] = Default::default();
        exchange(
            self.communicator(),
            |messages| {
                let Some((id, members, targets)) = classes.next() else {
                    return false;
                };
                let message = &mut messages[0];
                message.number(id.into());
                for list in [members, targets] {
                    message.number(list.len() as u64);
                    for number in list {
                        message.number(number.into());
                    }
                }
                true
            },
            |_, message| {
                let id = message.index()?;
                let mut lists = [Vec::new(), Vec::new()];
                for list in &mut lists {
                    for _ in 0..message.index()? {
                        list.push(message.index()?);
                    }
                }
                let [members, targets] = lists;
                let [of_hubs, of_authorities] = &mut received;
                let is_hub = !targets.is_empty();
                let of_role = if is_hub { of_hubs } else { of_authorities };
                of_role.push((id, members, targets));
                Some(())
            },
        )?;
        let [of_hubs, of_authorities] = received;
        graph_of(of_hubs, of_authorities).ok_or_else(|| self.malformed())
    }
}

/// The smallest page of a class, before any was removed; its members, ascending; and for a hub the classes of its targets, by
/// their smallest pages, ascending.
type Class = (u32, Vec<u32>, Vec<u32>);

/// Builds a graph of classes. Returns `None` if a hub links to a class that is not among them.
fn graph_of(mut hubs: Vec<Class>, mut authorities: Vec<Class>) -> Option<HubGraph> {
    hubs.sort_unstable();
    authorities.sort_unstable();
    let ids: Vec<u32> = authorities.iter().map(|class| class.0).collect();
    let mut rows = Csr::with_capacity(hubs.len(), 0);
    for (_, _, targets) in &hubs {
        let numbers = targets
            .iter()
            .map(|id| ids.binary_search(id).ok().map(number));
        rows.push(numbers.collect::<Option<Vec<u32>>>()?);
    }
    let members = |classes: Vec<Class>| {
        let mut members = Csr::with_capacity(classes.len(), 0);
        for (_, of_class, _) in classes {
            members.push(of_class);
        }
        let mut pages: Vec<(u32, u32)> = Vec::with_capacity(members.entries().len());
        for class in 0..number(members.len()) {
            pages.extend(members.list(class).iter().map(|page| (*page, class)));
        }
        pages.sort_unstable();
        (members, ClassOfPage::Sorted(pages))
    };
    let (hub_members, hub_class) = members(hubs);
    let (authority_members, authority_class) = members(authorities);
    Some(HubGraph {
        citers: rows.transpose(authority_members.len()),
        hub_members,
        authority_members,
        rows,
        hub_class,
        authority_class,
    })
}
