//! Growing one core out of the best authority of a region.
//!
//! Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), figures 1 and 2, whose misprint
//! is mended as DESIGN section 4 *Extraction* says: each round adds the best hub, then the best
//! authority. Classes are worked on, pages are added: the pages of a class have equal scores, so
//! the tie rule takes them in URL order.

use crate::graph::{HubGraph, NONE, Remaining, number};
use crate::rank::{Doubt, Principal, TIED};

use super::candidates::{Candidates, Chosen};
use super::params::{CoreParams, Growth, Rule};

/// A core as it grew: pages with their scores, in the order taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Grown {
    pub(super) hubs: Vec<u32>,
    pub(super) hub_scores: Vec<f64>,
    pub(super) authorities: Vec<u32>,
    pub(super) authority_scores: Vec<f64>,
    pub(super) sides: String,
    pub(super) edges: u64,
    pub(super) doubt: Option<Doubt>,
    pub(super) visits: u64,
}

/// Pages of a class that are left and not taken yet, in URL order.
type Pages<'a> = Box<dyn Iterator<Item = u32> + 'a>;

/// One role: hubs, or authorities.
struct Side<'a> {
    scores: &'a [f64],
    candidates: Candidates,
    /// How many chosen pages of the other side each page of the class is linked with.
    links: Vec<u32>,
    /// The next page of each class, once it was asked for.
    pages: Vec<Option<(u32, Pages<'a>)>>,
    start: Box<dyn Fn(u32) -> Pages<'a> + 'a>,
}

impl<'a> Side<'a> {
    fn new(scores: &'a [f64], start: Box<dyn Fn(u32) -> Pages<'a> + 'a>) -> Self {
        Self {
            scores,
            candidates: Candidates::new(scores),
            links: vec![0; scores.len()],
            pages: scores.iter().map(|_| None).collect(),
            start,
        }
    }

    fn next_page(&mut self, position: u32) -> u32 {
        let start = &self.start;
        let slot = &mut self.pages[position as usize];
        slot.get_or_insert_with(|| {
            let mut pages = start(position);
            (pages.next().unwrap_or(NONE), pages)
        })
        .0
    }

    /// The next page of the class is taken.
    fn take(&mut self, position: u32) {
        if let Some((next, pages)) = &mut self.pages[position as usize] {
            *next = pages.next().unwrap_or(NONE);
            let (next, links) = (*next, self.links[position as usize]);
            self.candidates.set(position, links, next);
        }
    }

    /// A page that these classes are linked with was chosen on the other side.
    fn link(&mut self, positions: &[u32]) {
        for &position in positions {
            self.links[position as usize] += 1;
            let page = self.next_page(position);
            self.candidates
                .set(position, self.links[position as usize], page);
        }
    }
}

/// What a side's turn came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Added,
    NoCandidate,
    /// `literal` growth: the best candidate does not fit.
    Done,
}

struct Growing<'a> {
    principal: &'a Principal,
    rule: Rule,
    hubs: Side<'a>,
    authorities: Side<'a>,
    grown: Grown,
}

/// Extracts the core of this region. It has no hub only if no link is left in the region.
pub(super) fn extract(
    graph: &HubGraph,
    left: &Remaining,
    principal: &Principal,
    params: &CoreParams,
) -> Grown {
    let region = &principal.region;
    let hubs =
        move |p: u32| -> Pages<'_> { Box::new(left.hub_pages(graph, region.hubs()[p as usize])) };
    let authorities = move |p: u32| -> Pages<'_> {
        Box::new(left.authority_pages(graph, region.authorities()[p as usize]))
    };
    let mut growing = Growing {
        principal,
        rule: params.rule,
        hubs: Side::new(&principal.hub_scores, Box::new(hubs)),
        authorities: Side::new(&principal.authority_scores, Box::new(authorities)),
        grown: Grown::default(),
    };
    growing.start();
    let max_hubs = params.max_hubs.map_or(usize::MAX, |most| most as usize);
    match params.rule {
        Rule::Density { .. } => loop {
            let hub = growing.add_hub(max_hubs);
            if hub == Turn::Done {
                break;
            }
            let authority = growing.add_authority();
            if authority == Turn::Done || (hub, authority) == (Turn::NoCandidate, Turn::NoCandidate)
            {
                break;
            }
        },
        Rule::Size { size, new_members } => loop {
            let before = growing.grown.sides.len();
            if before >= size as usize {
                break;
            }
            let mut room = 0..new_members;
            while room.next().is_some() && growing.add_hub(max_hubs) == Turn::Added {}
            let mut room = 0..new_members;
            while room.next().is_some() && growing.add_authority() == Turn::Added {}
            if growing.grown.sides.len() == before {
                break;
            }
        },
    }
    growing.grown
}

impl Growing<'_> {
    /// Takes the best authority of the region.
    fn start(&mut self) {
        let scores = &self.principal.authority_scores;
        let best = scores.iter().copied().fold(0.0, f64::max);
        let limit = best * (1.0 - TIED);
        let error = 2.0 * self.principal.error;
        let mut chosen: Option<(u32, u32)> = None;
        let mut undecided = false;
        for (position, &score) in scores.iter().enumerate() {
            undecided |= (score / best - (1.0 - TIED)).abs() <= error;
            if score >= limit {
                let position = number(position);
                let page = self.authorities.next_page(position);
                chosen = chosen.into_iter().chain([(page, position)]).min();
            }
        }
        if let Some((page, position)) = chosen {
            self.note(best, undecided);
            self.push_authority(position, page, 0);
        }
    }

    /// How many links with the other side a page must bring, when the sides will be so large.
    fn need(&self, hubs: usize, authorities: usize) -> u128 {
        match self.rule {
            Rule::Density { density, .. } => density
                .edges_needed(hubs as u64, authorities as u64)
                .saturating_sub(u128::from(self.grown.edges)),
            Rule::Size { .. } => 0,
        }
    }

    fn choose(&mut self, need: u128, hub: bool) -> Result<Chosen, Turn> {
        let side = if hub { &self.hubs } else { &self.authorities };
        let literal = matches!(
            self.rule,
            Rule::Density {
                growth: Growth::Literal,
                ..
            }
        );
        let need = u32::try_from(need.max(1)).unwrap_or(u32::MAX);
        let asked = if literal { 1 } else { need };
        let chosen = side.candidates.best(asked, self.principal.error);
        let chosen = chosen.ok_or(Turn::NoCandidate)?;
        self.note(chosen.best, chosen.undecided);
        if chosen.links < need {
            return Err(Turn::Done);
        }
        Ok(chosen)
    }

    fn note(&mut self, best: f64, undecided: bool) {
        let error = self.principal.error;
        let floor = self.principal.floor;
        let doubt = if undecided {
            Some(Doubt::Comparison { error })
        } else {
            // The floor is an authority score; a hub score is a sum of those over sigma.
            (floor > 0.0 && best <= floor).then_some(Doubt::Faint { floor })
        };
        self.grown.doubt = self.grown.doubt.or(doubt);
    }

    fn add_hub(&mut self, max_hubs: usize) -> Turn {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        if hubs >= max_hubs {
            return Turn::NoCandidate;
        }
        match self.choose(self.need(hubs + 1, authorities), true) {
            Ok(chosen) => {
                self.push_hub(chosen);
                Turn::Added
            }
            Err(turn) => turn,
        }
    }

    fn add_authority(&mut self) -> Turn {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        match self.choose(self.need(hubs, authorities + 1), false) {
            Ok(chosen) => {
                self.push_authority(chosen.position, chosen.page, chosen.links);
                Turn::Added
            }
            Err(turn) => turn,
        }
    }

    fn push_hub(&mut self, chosen: Chosen) {
        let row = self.principal.region.rows().list(chosen.position);
        self.hubs.take(chosen.position);
        self.authorities.link(row);
        self.grown.visits += row.len() as u64;
        self.grown.edges += u64::from(chosen.links);
        self.grown.hubs.push(chosen.page);
        let score = self.hubs.scores[chosen.position as usize];
        self.grown.hub_scores.push(score);
        self.grown.sides.push('h');
    }

    fn push_authority(&mut self, position: u32, page: u32, links: u32) {
        let citers = self.principal.region.citers().list(position);
        self.authorities.take(position);
        self.hubs.link(citers);
        self.grown.visits += citers.len() as u64;
        self.grown.edges += u64::from(links);
        self.grown.authorities.push(page);
        let score = self.authorities.scores[position as usize];
        self.grown.authority_scores.push(score);
        self.grown.sides.push('a');
    }
}
