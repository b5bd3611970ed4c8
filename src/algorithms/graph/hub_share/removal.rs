//! Removal of pages from a graph that several processes share.

use super::HubShare;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::remaining::{Remaining, Touched};
use crate::graph::role::Role;
use crate::watch::Interrupted;

/// A local class that lost pages, with their number.
pub(crate) type Loss = (u32, u32);

/// The local classes that lost pages, ascending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) hubs: Vec<Loss>,
    pub(crate) authorities: Vec<Loss>,
}

impl HubShare {
    /// Returns the whole graph.
    pub(crate) fn all(&self) -> Remaining {
        let mut left = Remaining::all(&self.graph);
        for role in [Role::Hub, Role::Authority] {
            let side = self.side(role);
            for (class, &pages) in (side.own..).zip(&side.ghost_pages) {
                left.set_pages(role, class, pages);
            }
        }
        left
    }

    /// Removes pages, in both roles. All processes call it at the same time with the same pages.
    pub(crate) fn remove(
        &self,
        left: &mut Remaining,
        pages: impl IntoIterator<Item = u32>,
    ) -> Result<Losses, Interrupted> {
        let mut pages: Vec<u32> = pages.into_iter().collect();
        pages.sort_unstable();
        pages.dedup();
        let mut losses = Losses::default();
        let mut count = |role: Role, class: Option<u32>| {
            let class = class?;
            match role {
                Role::Hub => losses.hubs.push((class, 1)),
                Role::Authority => losses.authorities.push((class, 1)),
            }
            Some(())
        };
        for &page in pages.iter().filter(|page| !left.removed().contains(**page)) {
            count(Role::Hub, self.graph.hub_class(page));
            count(Role::Authority, self.graph.authority_class(page));
        }
        left.remove(&self.graph, pages);
        let mut message = Encoder::default();
        for role in [Role::Hub, Role::Authority] {
            let of_side = losses.side(role);
            of_side.sort_unstable();
            of_side.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                earlier.1 += if is_same { later.1 } else { 0 };
                is_same
            });
            message.number(of_side.len() as u64);
            for &(class, lost) in &*of_side {
                message.number(self.side(role).ids[class as usize].into());
                message.number(lost.into());
            }
        }
        // All processes learn what became of their ghosts.
        let received = gather(self.communicator(), message)?;
        for (process, message) in received.iter().enumerate() {
            if process != self.communicator().process() {
                let read = self.lose_ghosts(left, &mut losses, process, &mut Decoder(message));
                read.ok_or_else(|| self.malformed())?;
            }
        }
        losses.hubs.sort_unstable();
        losses.authorities.sort_unstable();
        Ok(losses)
    }

    /// Reads which classes of a process lost pages. Returns `None` if the message is not as expected.
    fn lose_ghosts(
        &self,
        left: &mut Remaining,
        losses: &mut Losses,
        process: usize,
        message: &mut Decoder<'_>,
    ) -> Option<()> {
        for role in [Role::Hub, Role::Authority] {
            for _ in 0..message.index()? {
                let (id, lost) = (message.index()?, message.index()?);
                // Other classes of that process are not linked with own ones.
                if let Some(class) = self.side(role).ghost(process, id) {
                    let pages = left.pages(role, class).checked_sub(lost)?;
                    left.set_pages(role, class, pages);
                    losses.side(role).push((class, lost));
                }
            }
        }
        message.0.is_empty().then_some(())
    }
}

impl Losses {
    /// Returns the classes without the numbers of pages.
    pub(crate) fn touched(&self) -> Touched {
        let classes = |losses: &[Loss]| losses.iter().map(|of| of.0).collect();
        Touched {
            hubs: classes(&self.hubs),
            authorities: classes(&self.authorities),
        }
    }

    fn side(&mut self, role: Role) -> &mut Vec<Loss> {
        match role {
            Role::Hub => &mut self.hubs,
            Role::Authority => &mut self.authorities,
        }
    }
}
