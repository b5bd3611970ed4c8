//! Distributes the rows of all processes and merges equal pages.
//!
//! ```text
//! each process        its rows ----------------------> the process of the hub class: merges equal rows
//! of the hub class    its pages and targets ---------> the process that collects what is known of a page
//! that collects       a page with its citers --------> the process of the authority class: merges equal pages
//! of an authority     its class ---------------------> the processes of the hub classes that cite it
//! ```

mod authorities;
mod hubs;
mod numbering;
mod places;

use std::sync::Arc;

use super::{HubShare, ShareSide};
use crate::communicator::Communicator;
use crate::graph::build::Rows;
use crate::graph::csr::Csr;
use crate::graph::dense_index::number;
use crate::graph::exchange::{exchange, malformed};
use crate::graph::hub_graph::HubGraph;
use crate::graph::role::Role;
use crate::watch::Interrupted;
pub(super) use authorities::slice_of_citers;
use authorities::{Authorities, Collected, HubLinks, link_hubs};
use hubs::Hubs;
use numbering::Numbering;
pub(crate) use places::collector;
use places::{Places, TWO_ROWS};
pub(super) use places::{ids_of, slice_of_targets, sum_of_keys};

impl HubShare {
    /// Distributes the graph of the rows of all processes, given those of this one; pages are numbered as in the whole
    /// graph. All processes call it at the same time.
    ///
    /// # Errors
    ///
    /// If the work was stopped, or if a page has two rows.
    ///
    /// Cost: each row, and each link between a page and a class, is sent up to three times. Memory: while it is built,
    /// some 30 bytes for each link of a process.
    pub fn new(communicator: &Arc<dyn Communicator>, rows: &Rows) -> Result<Self, Interrupted> {
        if communicator.processes() == 1 {
            let graph = rows.graph().map_err(|_| communicator.fail(TWO_ROWS))?;
            return Ok(Self::in_slices(graph));
        }
        let places = Places {
            communicator: &**communicator,
            processes: communicator.processes(),
        };
        let hubs = Hubs::merge(places, rows)?;
        let collected = Collected::collect(places, &hubs)?;
        let authorities = Authorities::merge(places, collected)?;
        let links = link_hubs(places, &hubs, &authorities)?;
        let share = Self::of_classes(places, communicator, &hubs, &authorities, links);
        let mut share = share.ok_or_else(|| malformed(places.communicator))?;
        share.link_twins(places, &authorities)?;
        share.ask_for_pages()?;
        Ok(share)
    }

    /// Numbers the local classes and links them. Returns `None` if a link does not fit.
    fn of_classes(
        places: Places<'_>,
        communicator: &Arc<dyn Communicator>,
        hubs: &Hubs,
        authorities: &Authorities,
        links: HubLinks,
    ) -> Option<Self> {
        let (hub_ids, authority_ids) = (ids_of(&hubs.members), ids_of(&authorities.members));
        let mut row_lengths = vec![0; hub_ids.len()];
        for (hub, _) in &links {
            row_lengths[*hub as usize] += 1;
        }
        let classes = 0..number(authority_ids.len());
        let citer_lengths = classes.clone().map(|at| authorities.citers.list(at).len());
        let citer_lengths: Vec<usize> = citer_lengths.collect();
        let citing = classes.flat_map(|class| {
            let slices = &authorities.citer_slices[authorities.citers.range(class)];
            let citers = authorities.citers.list(class).iter();
            citers
                .zip(slices)
                .map(move |(hub, slice)| (class, (*hub, *slice)))
        });
        let hub_numbers = Numbering::new(
            places,
            (&hub_ids, &hubs.slices, &row_lengths),
            links.iter().map(|(hub, to)| (*hub, to.1)),
            citing.clone().map(|(_, hub)| hub),
        );
        let authority_numbers = Numbering::new(
            places,
            (&authority_ids, &authorities.slices, &citer_lengths),
            citing.clone().map(|(class, hub)| (class, hub.1)),
            links.iter().map(|(_, authority)| *authority),
        );
        // All local links as pairs: those of own hubs, and those of ghosts with own authorities.
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(links.len());
        for (hub, authority) in links {
            let authority = authority_numbers.of_key(places, authority, &authority_ids)?;
            pairs.push((hub_numbers.local[hub as usize], authority));
        }
        for (class, hub) in citing {
            if places.of_slice(hub.1) != communicator.process() {
                let hub = hub_numbers.of_key(places, hub, &hub_ids)?;
                pairs.push((hub, authority_numbers.local[class as usize]));
            }
        }
        let rows = lists(&mut pairs, &hub_numbers.side, &authority_numbers.side.ids);
        for pair in &mut pairs {
            *pair = (pair.1, pair.0);
        }
        let citers = lists(&mut pairs, &authority_numbers.side, &hub_numbers.side.ids);
        let (hub_members, hub_class) = hub_numbers.members(&hubs.members);
        let (authority_members, authority_class) = authority_numbers.members(&authorities.members);
        Some(Self {
            communicator: Arc::clone(communicator),
            graph: HubGraph {
                hub_members,
                authority_members,
                rows,
                citers,
                hub_class,
                authority_class,
            },
            hubs: hub_numbers.side,
            authorities: authority_numbers.side,
            twins: Default::default(),
        })
    }

    /// Finds the pairs of an authority class and a hub class of another process that have a page in common.
    fn link_twins(
        &mut self,
        places: Places<'_>,
        authorities: &Authorities,
    ) -> Result<(), Interrupted> {
        let mut of_authorities = vec![Vec::new(); places.processes];
        let mut of_hubs = vec![Vec::new(); places.processes];
        let process = places.communicator.process();
        let mut next = authorities.as_hubs.iter();
        let graph = &self.graph;
        exchange(
            places.communicator,
            |messages| {
                let Some(&(class, (hub, slice))) = next.next() else {
                    return false;
                };
                let owner = places.of_slice(slice);
                if owner != process {
                    let page = authorities.members.list(class)[0];
                    of_authorities[owner].extend(graph.authority_class(page));
                    messages[owner].number(hub.into());
                }
                true
            },
            |from, message| {
                let hub = message.index()?;
                of_hubs[from].push(graph.hub_class(hub)?);
                Some(())
            },
        )?;
        self.twins = [of_authorities, of_hubs];
        Ok(())
    }

    /// Asks for the numbers of pages of ghosts.
    fn ask_for_pages(&mut self) -> Result<(), Interrupted> {
        for role in [Role::Hub, Role::Authority] {
            let members = match role {
                Role::Hub => &self.graph.hub_members,
                Role::Authority => &self.graph.authority_members,
            };
            let classes = 0..number(members.len());
            let mut pages: Vec<f64> = classes
                .map(|class| f64::from(number(members.list(class).len())))
                .collect();
            self.pull(role, &mut pages)?;
            let own = self.side(role).own as usize;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "numbers of pages were converted exactly; a float out of range becomes the nearest number"
            )]
            let ghost_pages = pages[own..].iter().map(|pages| *pages as u32).collect();
            match role {
                Role::Hub => self.hubs.ghost_pages = ghost_pages,
                Role::Authority => self.authorities.ghost_pages = ghost_pages,
            }
        }
        Ok(())
    }
}

/// Returns for each local class of a side the classes of the other side that it is paired with, in the order of their
/// smallest pages.
fn lists(pairs: &mut [(u32, u32)], side: &ShareSide, other_ids: &[u32]) -> Csr {
    pairs.sort_unstable_by_key(|&(class, other)| (class, other_ids[other as usize]));
    let mut lists = Csr::with_capacity(side.len(), pairs.len());
    let mut rest = &*pairs;
    for class in 0..number(side.len()) {
        let end = rest.partition_point(|pair| pair.0 == class);
        let (own, others) = rest.split_at(end);
        lists.push(own.iter().map(|pair| pair.1));
        rest = others;
    }
    lists
}
