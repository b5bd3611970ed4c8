//! What processes that share a graph know of its pages, for the processes that have the pages.

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::exchange;
use crate::graph::{Csr, HubShare, Role, ShareComponents, collector};
use crate::watch::Interrupted;

use super::near_cores::{NearClasses, Nearness};
use super::row_sums::{RowSums, row_sums};

/// What is known of a page on links of a graph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PageStanding {
    /// The smallest page of its component.
    pub component: u32,
    /// Its row sum as a hub; 0 if it is not a hub.
    pub as_hub: u64,
    /// Its row sum as an authority; 0 if it is not an authority.
    pub as_authority: u64,
    /// The first core that it was near, and whether as a hub, which takes precedence.
    pub near: Option<(Nearness, bool)>,
}

/// What a class says of its pages.
#[derive(Clone, Copy)]
struct ClassFacts {
    role: Role,
    component: u32,
    row_sum: u64,
    near: Option<Nearness>,
}

impl ClassFacts {
    fn write(self, message: &mut Encoder) {
        message.number(u64::from(self.role == Role::Hub));
        message.number(self.component.into());
        message.number(self.row_sum);
        message.number(self.near.map_or(0, |near| near.core.into()));
        if let Some(near) = self.near {
            message.number(near.links.into());
            message.0.extend(near.score.to_le_bytes());
        }
    }

    fn read(message: &mut Decoder<'_>) -> Option<Self> {
        let role = match message.number()? {
            0 => Role::Authority,
            1 => Role::Hub,
            _ => return None,
        };
        let (component, row_sum) = (message.index()?, message.number()?);
        let core = message.index()?;
        let near = if core == 0 {
            None
        } else {
            let links = message.index()?;
            let (bytes, rest) = message.0.split_first_chunk()?;
            message.0 = rest;
            let score = f64::from_le_bytes(*bytes);
            Some(Nearness { core, links, score })
        };
        Some(Self {
            role,
            component,
            row_sum,
            near,
        })
    }

    /// Adds what this class says of a page to what the other one does.
    fn add_to(self, standing: &mut Option<PageStanding>) {
        let standing = standing.get_or_insert(PageStanding {
            component: self.component,
            as_hub: 0,
            as_authority: 0,
            near: None,
        });
        let is_hub = self.role == Role::Hub;
        match self.role {
            Role::Hub => standing.as_hub = self.row_sum,
            Role::Authority => standing.as_authority = self.row_sum,
        }
        // The first core counts, and of both roles the hub.
        let nears = standing.near.into_iter();
        let nears = nears.chain(self.near.map(|near| (near, is_hub)));
        standing.near = nears.min_by_key(|(near, is_hub)| (near.core, !is_hub));
    }
}

/// What is known of the pages of a process.
pub struct Standings<'a> {
    classes: Classes<'a>,
    /// By position among the pages of this process; empty if it has the whole graph.
    received: Vec<Option<PageStanding>>,
}

/// What the own classes of a process say of their pages.
struct Classes<'a> {
    share: &'a HubShare,
    components: &'a ShareComponents,
    near: &'a NearClasses,
    sums: RowSums,
}

impl Classes<'_> {
    fn facts(&self, role: Role, class: u32) -> ClassFacts {
        let (components, sums, near) = match role {
            Role::Hub => (&self.components.hubs, &self.sums.hubs, &self.near.hubs),
            Role::Authority => (
                &self.components.authorities,
                &self.sums.authorities,
                &self.near.authorities,
            ),
        };
        let at = class as usize;
        ClassFacts {
            role,
            component: components[at],
            row_sum: sums[at],
            near: near[at],
        }
    }
}

impl Standings<'_> {
    /// Returns what is known of a page of this process, given its position among them and its number; `None` if it is on no
    /// link of the graph.
    #[must_use]
    pub fn of_page(&self, position: usize, page: u32) -> Option<PageStanding> {
        if let Some(received) = self.received.get(position) {
            return *received;
        }
        let graph = self.classes.share.graph();
        let mut standing = None;
        for (role, class) in [
            (Role::Hub, graph.hub_class(page)),
            (Role::Authority, graph.authority_class(page)),
        ] {
            if let Some(class) = class {
                self.classes.facts(role, class).add_to(&mut standing);
            }
        }
        standing
    }
}

/// Finds what is known of these pages, ascending. `near` has the classes near cores, by local number. All processes call it
/// at the same time, each for other pages.
///
/// Cost: in several processes some 20 bytes for each page and role, sent twice. Memory: there some 60 bytes for each page.
pub fn standings<'a>(
    share: &'a HubShare,
    components: &'a ShareComponents,
    near: &'a NearClasses,
    pages: &[u32],
) -> Result<Standings<'a>, Interrupted> {
    let communicator = share.communicator();
    let processes = communicator.processes();
    let classes = Classes {
        share,
        components,
        near,
        sums: row_sums(share)?,
    };
    if processes == 1 {
        return Ok(Standings {
            classes,
            received: Vec::new(),
        });
    }
    // The process that asks for each page, in the process that collects what is known of it.
    let mut asked: Vec<(u32, usize)> = Vec::new();
    let mut unsent = pages.iter();
    exchange(
        communicator,
        |messages| {
            let Some(&page) = unsent.next() else {
                return false;
            };
            messages[collector(page, processes)].number(page.into());
            true
        },
        |from, message| {
            asked.push((message.index()?, from));
            Some(())
        },
    )?;
    asked.sort_unstable();
    // What classes say of their pages.
    let says = &classes;
    let roles = [Role::Hub, Role::Authority].into_iter();
    let mut of_pages = roles.flat_map(|role| {
        let members = members(share, role);
        let own = share.side(role).own();
        own.flat_map(move |class| {
            let pages = members.list(class).iter();
            pages.map(move |page| (*page, says.facts(role, class)))
        })
    });
    let mut collected: Vec<(u32, ClassFacts)> = Vec::new();
    exchange(
        communicator,
        |messages| {
            let Some((page, facts)) = of_pages.next() else {
                return false;
            };
            let message = &mut messages[collector(page, processes)];
            message.number(page.into());
            facts.write(message);
            true
        },
        |_, message| {
            let page = message.index()?;
            collected.push((page, ClassFacts::read(message)?));
            Some(())
        },
    )?;
    let mut received = vec![None; pages.len()];
    let mut uncollected = collected.iter();
    exchange(
        communicator,
        |messages| {
            let Some((page, facts)) = uncollected.next() else {
                return false;
            };
            if let Ok(at) = asked.binary_search_by_key(page, |of| of.0) {
                let message = &mut messages[asked[at].1];
                message.number((*page).into());
                facts.write(message);
            }
            true
        },
        |_, message| {
            let page = message.index()?;
            let facts = ClassFacts::read(message)?;
            let at = pages.binary_search(&page).ok()?;
            facts.add_to(&mut received[at]);
            Some(())
        },
    )?;
    Ok(Standings { classes, received })
}

const fn members(share: &HubShare, role: Role) -> &Csr {
    match role {
        Role::Hub => share.graph().hub_members(),
        Role::Authority => share.graph().authority_members(),
    }
}
