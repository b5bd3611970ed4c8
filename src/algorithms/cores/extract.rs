//! Growing one core out of the best authority of a region.
//!
//! Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), figures 1 and 2, whose misprint is
//! corrected as the guide says (`src/guide/cores.md`, *Extraction*): each round adds the
//! best hub, then the best authority. The work is done on classes, but pages are added: the pages
//! of a class have equal scores, so the tie rule takes them in URL order.

use std::collections::BTreeMap;

use crate::graph::{HubGraph, NONE, Remaining, Role, are_symmetric};
use crate::rank::{Doubt, Principal, TIED};

use super::candidates::{Candidates, Chosen, Unclear, rivals};
use super::density::Density;
use super::params::{CoreParams, Growth, Rule};

/// The relative accuracy that the best score needs, since the bound of a tie follows from it.
const ROUGHLY: f64 = 1e-3;

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
    /// The largest relative error of a score.
    pub(super) error: f64,
    pub(super) visits: u64,
}

impl Grown {
    fn note(&mut self, error: f64, score: f64) {
        let relative = if score > 0.0 {
            error / score
        } else {
            f64::INFINITY
        };
        self.error = self.error.max(relative);
    }
}

/// One role: hubs, or authorities.
struct Side<'a> {
    scores: &'a [f64],
    errors: &'a [f64],
    candidates: Candidates,
    /// How many chosen pages of the other side each page of the class is linked with; in a complete core
    /// counted as long as it is linked with all of them.
    links: Vec<u32>,
    /// In a complete core, where every hub leads to every authority, the classes that are linked with all
    /// chosen pages of the other side. They are candidates with one link, all others with none. `None` where
    /// the core need not be complete.
    fitting: Option<Vec<u32>>,
    /// For each class that a page was taken from, the last such page: pages are taken in URL order.
    taken: BTreeMap<u32, u32>,
    /// The first page that is left of a class; where a page is given, the first one after it.
    next: Box<dyn Fn(u32, Option<u32>) -> Option<u32> + 'a>,
}

impl<'a> Side<'a> {
    fn new(
        scores: &'a [f64],
        errors: &'a [f64],
        rivals: Option<&[u32]>,
        next: impl Fn(u32, Option<u32>) -> Option<u32> + 'a,
    ) -> Self {
        Self {
            scores,
            errors,
            candidates: Candidates::new(scores, errors, rivals),
            links: vec![0; scores.len()],
            fitting: rivals.map(|_| Vec::new()),
            taken: BTreeMap::new(),
            next: Box::new(next),
        }
    }

    /// The next page of the class that is not taken yet; [`NONE`] if there is none.
    fn next_page(&self, position: u32) -> u32 {
        (self.next)(position, self.taken.get(&position).copied()).unwrap_or(NONE)
    }

    /// Takes the next page of the class, which is `page`.
    fn take(&mut self, position: u32, page: u32) {
        self.taken.insert(position, page);
        let next = self.next_page(position);
        let links = self.links[position as usize];
        self.candidates.set(position, links, next);
    }

    /// Notes that a page which these classes are linked with was chosen on the other side, the last of
    /// `chosen`.
    fn link(&mut self, positions: &[u32], chosen: usize) {
        if let Some(fitting) = self.fitting.take() {
            self.fitting = Some(self.narrowed(fitting, positions, chosen));
            return;
        }
        for &position in positions {
            let links = &mut self.links[position as usize];
            *links += 1;
            // A class that is a candidate has its next page already; one that has run out of pages
            // has none.
            let (links, page) = match *links {
                1 => (1, self.next_page(position)),
                more => (more, self.candidates.at(position).0),
            };
            self.candidates.set(position, links, page);
        }
    }

    /// Of the classes that are linked with all that was chosen before, those that these positions name. No
    /// others can be candidates of a complete core any more.
    fn narrowed(&mut self, mut fitting: Vec<u32>, positions: &[u32], chosen: usize) -> Vec<u32> {
        if chosen == 1 {
            self.candidates = Candidates::new(self.scores, self.errors, Some(positions));
            for &position in positions {
                self.links[position as usize] = 1;
                self.candidates.set(position, 1, self.next_page(position));
            }
            return positions.to_vec();
        }
        for &position in positions {
            let links = &mut self.links[position as usize];
            *links += u32::from(*links as usize + 1 == chosen);
        }
        fitting.retain(|&position| {
            let fits = self.links[position as usize] as usize == chosen;
            if !fits {
                self.candidates.set(position, 0, NONE);
            }
            fits
        });
        fitting
    }
}

/// The outcome of a side's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Added,
    NoCandidate,
    /// In `literal` growth: the best candidate does not fit.
    Done,
}

struct Growing<'a> {
    graph: &'a HubGraph,
    left: &'a Remaining,
    principal: &'a Principal,
    rule: Rule,
    hubs: Side<'a>,
    authorities: Side<'a>,
    grown: Grown,
}

/// Extracts the core of this region. It has no hub only if the region has no link left.
pub(super) fn extract(
    graph: &HubGraph,
    left: &Remaining,
    principal: &Principal,
    params: &CoreParams,
) -> Grown {
    let region = &principal.region;
    let hub =
        |p: u32, after: Option<u32>| left.next_hub_page(graph, region.hubs()[p as usize], after);
    let authority = |p: u32, after: Option<u32>| {
        left.next_authority_page(graph, region.authorities()[p as usize], after)
    };
    let rivals = rivals(&principal.authority_scores, &principal.authority_errors);
    let complete = Rule::Density {
        density: Density::COMPLETE,
        growth: Growth::Maximal,
    };
    let is_complete = params.rule == complete;
    let (hub_scores, hub_errors) = (&principal.hub_scores, &principal.hub_errors);
    let mut growing = Growing {
        graph,
        left,
        principal,
        rule: params.rule,
        hubs: Side::new(hub_scores, hub_errors, is_complete.then_some(&[]), hub),
        authorities: Side::new(
            &principal.authority_scores,
            &principal.authority_errors,
            is_complete.then_some(&rivals),
            authority,
        ),
        grown: Grown::default(),
    };
    growing.start(rivals);
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
    /// Takes the best authority of the region; no others than `rivals` can be tied with it.
    fn start(&mut self, rivals: Vec<u32>) {
        for &position in &rivals {
            let page = self.authorities.next_page(position);
            self.authorities.candidates.set(position, 1, page);
        }
        let chosen = self.decided(1, Role::Authority);
        for position in rivals {
            self.authorities.candidates.set(position, 0, NONE);
        }
        if let Some(chosen) = chosen {
            self.push_authority(chosen.position, chosen.page, 0);
        }
    }

    /// The best candidate with at least `need` links. Where the errors leave ties open, the links
    /// of the two classes may decide, or symmetry.
    fn decided(&mut self, need: u32, role: Role) -> Option<Chosen> {
        let side = match role {
            Role::Hub => &self.hubs,
            Role::Authority => &self.authorities,
        };
        let mut chosen = side.candidates.best(need)?;
        let region = &self.principal.region;
        let classes = match role {
            Role::Hub => region.hubs(),
            Role::Authority => region.authorities(),
        };
        let error = side.errors[chosen.best as usize];
        let unclear = match std::mem::replace(&mut chosen.unclear, Unclear::Few(Vec::new())) {
            Unclear::Few(few) => few,
            Unclear::Many => {
                self.doubt(error);
                return Some(chosen);
            }
        };
        for position in unclear {
            let (page, links) = side.candidates.at(position);
            let could_win = side.scores[position as usize] + side.errors[position as usize]
                > side.scores[chosen.best as usize] - error;
            if page > chosen.page && !could_win {
                // Whether tied or not, it cannot win: it is not the best, and another has the
                // smallest URL.
                continue;
            }
            let (a, b) = (classes[chosen.best as usize], classes[position as usize]);
            let visits = &mut self.grown.visits;
            let is_tied = match nearness(self.principal, role, chosen.best, position, visits) {
                Some(is_tied) => is_tied,
                None if are_symmetric(self.graph, self.left, role, a, b, visits) => true,
                None => {
                    self.doubt(error.max(side.errors[position as usize]));
                    return Some(chosen);
                }
            };
            if is_tied && page < chosen.page {
                (chosen.position, chosen.page, chosen.links) = (position, page, links);
            }
        }
        Some(chosen)
    }

    fn doubt(&mut self, error: f64) {
        let doubt = Doubt::Comparison { error };
        self.grown.doubt = self.grown.doubt.or(Some(doubt));
    }

    /// How many links with the other side a page must bring when the sides are to have these sizes.
    fn need(&self, hubs: usize, authorities: usize) -> u128 {
        match self.rule {
            Rule::Density { density, .. } => density
                .edges_needed(hubs as u64, authorities as u64)
                .saturating_sub(u128::from(self.grown.edges)),
            Rule::Size { .. } => 0,
        }
    }

    fn choose(&mut self, need: u128, role: Role) -> Result<Chosen, Turn> {
        let literal = matches!(
            self.rule,
            Rule::Density {
                growth: Growth::Literal,
                ..
            }
        );
        let need = u32::try_from(need.max(1)).unwrap_or(u32::MAX);
        let is_complete = self.hubs.fitting.is_some();
        let asked = if literal || is_complete { 1 } else { need };
        let mut chosen = self.decided(asked, role).ok_or(Turn::NoCandidate)?;
        if is_complete {
            chosen.links = need;
        }
        if chosen.links < need {
            return Err(Turn::Done);
        }
        Ok(chosen)
    }

    fn add_hub(&mut self, max_hubs: usize) -> Turn {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        if hubs >= max_hubs {
            return Turn::NoCandidate;
        }
        match self.choose(self.need(hubs + 1, authorities), Role::Hub) {
            Ok(chosen) => {
                self.push_hub(&chosen);
                Turn::Added
            }
            Err(turn) => turn,
        }
    }

    fn add_authority(&mut self) -> Turn {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        match self.choose(self.need(hubs, authorities + 1), Role::Authority) {
            Ok(chosen) => {
                self.push_authority(chosen.position, chosen.page, chosen.links);
                Turn::Added
            }
            Err(turn) => turn,
        }
    }

    fn push_hub(&mut self, chosen: &Chosen) {
        let row = self.principal.region.rows().list(chosen.position);
        self.hubs.take(chosen.position, chosen.page);
        self.grown.hubs.push(chosen.page);
        self.authorities.link(row, self.grown.hubs.len());
        self.grown.visits += row.len() as u64;
        self.grown.edges += u64::from(chosen.links);
        let score = self.hubs.scores[chosen.position as usize];
        self.grown.hub_scores.push(score);
        self.grown
            .note(self.hubs.errors[chosen.position as usize], score);
        self.grown.sides.push('h');
    }

    fn push_authority(&mut self, position: u32, page: u32, links: u32) {
        let citers = self.principal.region.citers().list(position);
        self.authorities.take(position, page);
        self.grown.authorities.push(page);
        self.hubs.link(citers, self.grown.authorities.len());
        self.grown.visits += citers.len() as u64;
        self.grown.edges += u64::from(links);
        let score = self.authorities.scores[position as usize];
        self.grown.authority_scores.push(score);
        self.grown
            .note(self.authorities.errors[position as usize], score);
        self.grown.sides.push('a');
    }
}

/// Whether a class is tied with the best one, if that follows from the links that only one of the
/// two has, and from no more than that: what both are linked with adds the same to both scores and
/// to both errors. Cost: the lists of the two, added to `visits`.
fn nearness(
    principal: &Principal,
    role: Role,
    best: u32,
    other: u32,
    visits: &mut u64,
) -> Option<bool> {
    if !principal.is_eigenpair() {
        return None;
    }
    let region = &principal.region;
    let (lists, pages, scores, errors, own, own_errors) = match role {
        Role::Hub => (
            region.rows(),
            region.authority_pages(),
            &principal.authority_scores,
            &principal.authority_errors,
            &principal.hub_scores,
            &principal.hub_errors,
        ),
        Role::Authority => (
            region.citers(),
            region.hub_pages(),
            &principal.hub_scores,
            &principal.hub_errors,
            &principal.authority_scores,
            &principal.authority_errors,
        ),
    };
    let (list, other) = (lists.list(best), lists.list(other));
    *visits += (list.len() + other.len()) as u64;
    let (mut less, mut sum, mut error) = (0.0, 0.0, 0.0);
    let mut add = |from: &[u32], without: &[u32], sign: f64| {
        for &at in from.iter().filter(|at| without.binary_search(at).is_err()) {
            let at = at as usize;
            less += sign * pages[at] * scores[at];
            sum += pages[at] * scores[at];
            error += pages[at] * errors[at];
        }
    };
    add(list, other, 1.0);
    add(other, list, -1.0);
    // How much less it scores, as far as the scores tell; rounding may have put it behind the best.
    let [less, sum, error] = [less, sum, error].map(|of| of / principal.sigma);
    let terms = (list.len() + other.len() + 16) as f64;
    let error = error + sum * terms * f64::EPSILON;
    let best = best as usize;
    if own_errors[best] > own[best] * ROUGHLY {
        return None;
    }
    let tied = own[best] * TIED;
    if error == 0.0 && less == 0.0 {
        Some(true)
    } else if less - error < 0.0 || (less - tied).abs() <= error + tied * ROUGHLY {
        None
    } else {
        Some(less < tied)
    }
}
