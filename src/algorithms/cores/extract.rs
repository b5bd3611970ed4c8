//! Extraction of one core, starting from the best authority of a region.
//!
//! Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), figures 1 and 2, with a misprint corrected
//! (`src/guide/cores.md`, *Extraction*): each round adds the best hub, then the best authority. The
//! computation is on classes, but pages are added: the pages of a class have equal scores, so the tie rule
//! takes them in URL order.

use std::collections::BTreeMap;

use crate::graph::{HubGraph, NONE, Remaining, Role, are_symmetric};
use crate::rank::{Doubt, Principal, TIED};

use super::candidates::{Candidates, Chosen, Unclear, rivals};
use super::density::Density;
use super::params::{CoreParams, Growth, Rule};

/// The required relative accuracy of the best score, from which the bound of a tie follows.
const TIE_ACCURACY: f64 = 1e-3;

/// An extracted core: pages with their scores, in the order in which they were taken.
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
    fn record_error(&mut self, error: f64, score: f64) {
        let relative = if score > 0.0 {
            error / score
        } else {
            f64::INFINITY
        };
        self.error = self.error.max(relative);
    }
}

/// The state of one role: hubs or authorities.
struct Side<'a> {
    scores: &'a [f64],
    errors: &'a [f64],
    candidates: Candidates,
    /// The number of chosen pages of the other side that each page of the class is linked with. In a complete
    /// core, it stops growing at the first chosen page that the class is not linked with.
    links: Vec<u32>,
    /// In a complete core, where every hub links to every authority, the classes that are linked with all
    /// chosen pages of the other side: they are candidates with one link, all others with none. `None` if the
    /// core need not be complete.
    fitting: Option<Vec<u32>>,
    /// The last page taken of each class; pages are taken in URL order.
    taken: BTreeMap<u32, u32>,
    /// The first remaining page of a class, after the given page if there is one.
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

    /// The next page of the class; [`NONE`] if all are taken.
    fn next_page(&self, position: u32) -> u32 {
        (self.next)(position, self.taken.get(&position).copied()).unwrap_or(NONE)
    }

    /// Takes `page`, the next page of the class.
    fn take(&mut self, position: u32, page: u32) {
        self.taken.insert(position, page);
        let next = self.next_page(position);
        let links = self.links[position as usize];
        self.candidates.set(position, links, next);
    }

    /// Accounts for a page chosen on the other side, now with `chosen` pages, that these classes are linked
    /// with.
    fn link(&mut self, positions: &[u32], chosen: usize) {
        if let Some(fitting) = self.fitting.take() {
            self.fitting = Some(self.narrowed(fitting, positions, chosen));
            return;
        }
        for &position in positions {
            let links = &mut self.links[position as usize];
            *links += 1;
            // A class with links already knows its next page, or that it has none.
            let (links, page) = match *links {
                1 => (1, self.next_page(position)),
                more => (more, self.candidates.at(position).0),
            };
            self.candidates.set(position, links, page);
        }
    }

    /// Returns the fitting classes that are also at `positions`. No other class can be a candidate of a
    /// complete core again.
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

/// The outcome of an attempt to add a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Added,
    NoCandidate,
    /// The best candidate does not fit, and growth is literal.
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

/// Extracts the core of a region. It has no hub only if the region has no link left.
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
    /// Takes the best authority of the region. Only `rivals` can be tied with it.
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

    /// The best candidate with at least `need` links. If the errors leave a tie open, the difference of the
    /// two classes' links may decide it, or symmetry; otherwise the core is in doubt.
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
                // Tied or not, it cannot win: another candidate is better and has a smaller URL.
                continue;
            }
            let (a, b) = (classes[chosen.best as usize], classes[position as usize]);
            let visits = &mut self.grown.visits;
            let is_tied =
                match is_tied_by_links(self.principal, role, chosen.best, position, visits) {
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

    /// The links with the other side that the next page must have if the sides are to have these sizes.
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
        let least = if literal || is_complete { 1 } else { need };
        let mut chosen = self.decided(least, role).ok_or(Turn::NoCandidate)?;
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
            .record_error(self.hubs.errors[chosen.position as usize], score);
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
            .record_error(self.authorities.errors[position as usize], score);
        self.grown.sides.push('a');
    }
}

/// Whether a class is tied with the best one, decided by the links that only one of the two has, since
/// common links add the same to both scores and to both errors; `None` if that does not decide it. Cost:
/// the lists of both, added to `visits`.
fn is_tied_by_links(
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
    // `less` is the difference of the scores; rounding may have put the better class second.
    let [less, sum, error] = [less, sum, error].map(|of| of / principal.sigma);
    let terms = (list.len() + other.len() + 16) as f64;
    let error = error + sum * terms * f64::EPSILON;
    let best = best as usize;
    if own_errors[best] > own[best] * TIE_ACCURACY {
        return None;
    }
    let tied = own[best] * TIED;
    if error == 0.0 && less == 0.0 {
        Some(true)
    } else if less - error < 0.0 || (less - tied).abs() <= error + tied * TIE_ACCURACY {
        None
    } else {
        Some(less < tied)
    }
}
