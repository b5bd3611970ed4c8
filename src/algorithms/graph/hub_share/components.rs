//! Weakly connected components of a graph that several processes share.

use super::HubShare;
use crate::graph::dense_index::{NONE, number};
use crate::graph::exchange::exchange;
use crate::graph::remaining::Remaining;
use crate::graph::role::Role;
use crate::graph::union_find::UnionFind;
use crate::watch::Interrupted;

/// The component of each own class of a share, named by the smallest page of its classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShareComponents {
    /// By own hub class.
    pub hubs: Vec<u32>,
    /// By own authority class.
    pub authorities: Vec<u32>,
}

impl HubShare {
    /// Finds the components of the whole graph. All processes call it at the same time.
    ///
    /// Cost: a pass over the local links; then rounds of messages, as many as the most changes of processes on a path
    /// between two classes. In each round, a process sends the components of mirrors and ghosts that it has joined with
    /// others.
    pub fn components(&self) -> Result<ShareComponents, Interrupted> {
        self.find_components(None)
    }

    /// Finds the components of the remaining links, named by the smallest page of their authority classes. A page does not
    /// join its two classes. Hub classes without remaining links have [`NONE`]. All processes call it at the same time.
    ///
    /// Cost: that of [`HubShare::components`].
    pub(crate) fn linked_components(
        &self,
        left: &Remaining,
    ) -> Result<ShareComponents, Interrupted> {
        self.find_components(Some(left))
    }

    /// Finds the components of the whole graph, or of the remaining links.
    fn find_components(&self, left: Option<&Remaining>) -> Result<ShareComponents, Interrupted> {
        let (hubs, authorities) = (self.hubs.len(), self.authorities.len());
        let authority = |class: u32| number(hubs) + class;
        let remains = |role: Role, class: u32| left.is_none_or(|left| left.pages(role, class) > 0);
        let mut sets = UnionFind::new(hubs + authorities);
        for hub in (0..number(hubs)).filter(|hub| remains(Role::Hub, *hub)) {
            let row = self.graph.rows().list(hub).iter();
            for &target in row.filter(|target| remains(Role::Authority, **target)) {
                sets.union(hub, authority(target));
            }
        }
        let joins_roles = left.is_none();
        if joins_roles {
            // A page in both roles joins its classes.
            for class in self.authorities.own() {
                for &page in self.graph.authority_members().list(class) {
                    if let Some(hub) = self.graph.hub_class(page) {
                        sets.union(hub, authority(class));
                    }
                }
            }
        }
        // The smallest page found so far, by set. A page in both roles would give the same name to components that it does
        // not join.
        let mut smallest = vec![NONE; hubs + authorities];
        let of_hubs = self.hubs.ids().iter();
        let of_hubs = of_hubs.map(|id| if joins_roles { *id } else { NONE });
        let ids = of_hubs.chain(self.authorities.ids().iter().copied());
        for (node, id) in (0..).zip(ids) {
            let of_set = &mut smallest[sets.find(node) as usize];
            *of_set = id.min(*of_set);
        }
        let processes = self.communicator().processes();
        let shared = (0..processes).map(|with| self.shared_nodes(with, joins_roles));
        let shared: Vec<Vec<u32>> = shared.collect();
        let mut sent: Vec<Vec<u32>> = shared.iter().map(|of| vec![NONE; of.len()]).collect();
        loop {
            let mut changed = 0;
            let mut messages: Vec<Vec<(u32, u32)>> = vec![Vec::new(); processes];
            for ((nodes, sent), message) in shared.iter().zip(&mut sent).zip(&mut messages) {
                for (place, (&node, sent)) in (0..).zip(nodes.iter().zip(sent)) {
                    let found = smallest[sets.find(node) as usize];
                    if std::mem::replace(sent, found) != found {
                        message.push((place, found));
                        changed += 1;
                    }
                }
            }
            let [changed] = self.sum([changed])?;
            if changed == 0 {
                break;
            }
            let mut items =
                (0..processes).flat_map(|to| messages[to].iter().map(move |of| (to, of)));
            exchange(
                self.communicator(),
                |messages| {
                    let Some((to, &(place, found))) = items.next() else {
                        return false;
                    };
                    messages[to].number(place.into());
                    messages[to].number(found.into());
                    true
                },
                |from, message| {
                    let place = message.index()?;
                    let found = message.index()?;
                    let node = *shared.get(from)?.get(place as usize)?;
                    let of_set = &mut smallest[sets.find(node) as usize];
                    *of_set = found.min(*of_set);
                    Some(())
                },
            )?;
        }
        let mut of_own = |nodes: std::ops::Range<u32>| -> Vec<u32> {
            nodes
                .map(|node| smallest[sets.find(node) as usize])
                .collect()
        };
        Ok(ShareComponents {
            hubs: of_own(self.hubs.own()),
            authorities: of_own(authority(0)..authority(self.authorities.own)),
        })
    }

    /// Returns the local classes that are known to this process and another one, hubs first and then authorities: those
    /// of the process with the smaller number, those of the other, and the twins if `has_twins`. Both processes have them
    /// in the same order.
    fn shared_nodes(&self, with: usize, has_twins: bool) -> Vec<u32> {
        let authority = |class: &u32| number(self.hubs.len()) + class;
        let mirrors = [&self.hubs, &self.authorities].map(|side| side.mirrors.get(with));
        let [hubs, authorities] = mirrors.map(|of| of.map_or(&[][..], Vec::as_slice));
        let own = hubs
            .iter()
            .copied()
            .chain(authorities.iter().map(authority));
        let [hubs, authorities] = [&self.hubs, &self.authorities].map(|side| {
            let ghosts = side.ghosts_of(with);
            number(ghosts.start)..number(ghosts.end)
        });
        let ghosts = hubs.chain(authority(&authorities.start)..authority(&authorities.end));
        let twins = self.twins.each_ref();
        let twins = twins.map(|of| of.get(with).filter(|_| has_twins));
        let [authorities, hubs] = twins.map(|of| of.map_or(&[][..], Vec::as_slice));
        let (authorities, hubs) = (authorities.iter().map(authority), hubs.iter().copied());
        if self.communicator().process() < with {
            let shared = own.chain(ghosts).chain(authorities).chain(hubs);
            shared.collect()
        } else {
            let shared = ghosts.chain(own).chain(hubs).chain(authorities);
            shared.collect()
        }
    }
}
