//! Weakly connected components of a graph that several processes share.

use super::HubShare;
use crate::graph::dense_index::number;
use crate::graph::exchange::exchange;
use crate::graph::union_find::UnionFind;
use crate::watch::Interrupted;

/// The component of each local class of a share: the smallest page of the component's classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShareComponents {
    /// By local hub class.
    pub hubs: Vec<u32>,
    /// By local authority class.
    pub authorities: Vec<u32>,
}

impl HubShare {
    /// Finds the components of the whole graph. All processes call it at the same time.
    ///
    /// Cost: a pass over the local links; then rounds of messages, as many as the most changes of processes on a path
    /// between two classes. In each round, a process sends the components of mirrors and ghosts that it has joined with
    /// others.
    pub fn components(&self) -> Result<ShareComponents, Interrupted> {
        let (hubs, authorities) = (self.hubs.len(), self.authorities.len());
        let authority = |class: u32| number(hubs) + class;
        let mut sets = UnionFind::new(hubs + authorities);
        for hub in 0..number(hubs) {
            for &target in self.graph.rows().list(hub) {
                sets.union(hub, authority(target));
            }
        }
        // A page in both roles joins its classes.
        for class in self.authorities.own() {
            for &page in self.graph.authority_members().list(class) {
                if let Some(hub) = self.graph.hub_class(page) {
                    sets.union(hub, authority(class));
                }
            }
        }
        // The smallest page found so far, by set.
        let mut smallest = vec![u32::MAX; hubs + authorities];
        let ids = self.hubs.ids().iter().chain(self.authorities.ids());
        for (node, &id) in (0..).zip(ids) {
            let of_set = &mut smallest[sets.find(node) as usize];
            *of_set = id.min(*of_set);
        }
        let processes = self.communicator().processes();
        let shared: Vec<Vec<u32>> = (0..processes).map(|with| self.shared_nodes(with)).collect();
        let mut sent: Vec<Vec<u32>> = shared.iter().map(|of| vec![u32::MAX; of.len()]).collect();
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
        let mut of_local = |nodes: std::ops::Range<u32>| -> Vec<u32> {
            nodes
                .map(|node| smallest[sets.find(node) as usize])
                .collect()
        };
        Ok(ShareComponents {
            hubs: of_local(0..number(hubs)),
            authorities: of_local(authority(0)..authority(number(authorities))),
        })
    }

    /// Returns the local classes that are known to this process and another one, hubs first and then authorities: those
    /// of the process with the smaller number, those of the other, and the twins. Both processes have them in the same
    /// order.
    fn shared_nodes(&self, with: usize) -> Vec<u32> {
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
        let twins = self.twins.each_ref().map(|of| of.get(with));
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
