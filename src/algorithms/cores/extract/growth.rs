//! The rules by which a core grows.

use crate::graph::Role;
use crate::rank::Doubt;
use crate::watch::Interrupted;

use super::super::density::Density;
use super::super::params::{CoreParams, Growth, Rule};

/// The relative accuracy of the scores of a core.
const ACCURATE: f64 = 3e-7;

/// An extracted core: pages with their scores, in the order in which they were taken.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Grown {
    pub(in super::super) hubs: Vec<u32>,
    pub(in super::super) hub_scores: Vec<f64>,
    pub(in super::super) authorities: Vec<u32>,
    pub(in super::super) authority_scores: Vec<f64>,
    pub(in super::super) sides: String,
    pub(in super::super) edges: u64,
    pub(in super::super) doubt: Option<Doubt>,
    /// The largest relative error of a score.
    pub(in super::super) error: f64,
    pub(in super::super) visits: u64,
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

    /// Returns whether more accurate scores could lead to another core, or are needed for its scores.
    pub(in super::super) fn is_unsure(&self) -> bool {
        self.doubt.is_some() || self.error > ACCURATE
    }

    pub(super) fn doubt(&mut self, error: f64) {
        let doubt = Doubt::Comparison { error };
        self.doubt = self.doubt.or(Some(doubt));
    }
}

/// A candidate page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its class.
    pub(super) class: u32,
    pub(super) page: u32,
    /// The number of chosen pages of the other side that it is linked with.
    pub(super) links: u32,
}

/// Where a core grows.
pub(super) trait Field {
    /// Returns the best authority.
    fn first(&mut self, grown: &mut Grown) -> Result<Option<Candidate>, Interrupted>;

    /// Returns the best candidate with at least `need` links.
    fn best(
        &mut self,
        role: Role,
        need: u32,
        grown: &mut Grown,
    ) -> Result<Option<Candidate>, Interrupted>;

    /// Takes a page, the last candidate returned; with it, the core has `taken` pages of this side. Returns its score and
    /// the error of that.
    fn take(
        &mut self,
        role: Role,
        candidate: Candidate,
        taken: usize,
        grown: &mut Grown,
    ) -> Result<(f64, f64), Interrupted>;
}

/// The outcome of an attempt to add a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Added,
    NoCandidate,
    /// The best candidate does not fit, and growth is literal.
    Done,
}

struct Growing<F> {
    field: F,
    rule: Rule,
    is_complete: bool,
    grown: Grown,
}

/// Whether every hub of a core must link to every authority.
pub(super) fn is_complete(params: &CoreParams) -> bool {
    let complete = Rule::Density {
        density: Density::COMPLETE,
        growth: Growth::Maximal,
    };
    params.rule == complete
}

/// Extracts a core.
pub(super) fn grow(field: impl Field, params: &CoreParams) -> Result<Grown, Interrupted> {
    let mut growing = Growing {
        field,
        rule: params.rule,
        is_complete: is_complete(params),
        grown: Grown::default(),
    };
    if let Some(first) = growing.field.first(&mut growing.grown)? {
        growing.push(Role::Authority, Candidate { links: 0, ..first })?;
    }
    let max_hubs = params.max_hubs.map_or(usize::MAX, |most| most as usize);
    match params.rule {
        Rule::Density { .. } => loop {
            let hub = growing.add_hub(max_hubs)?;
            if hub == Turn::Done {
                break;
            }
            let authority = growing.add_authority()?;
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
            while room.next().is_some() && growing.add_hub(max_hubs)? == Turn::Added {}
            let mut room = 0..new_members;
            while room.next().is_some() && growing.add_authority()? == Turn::Added {}
            if growing.grown.sides.len() == before {
                break;
            }
        },
    }
    Ok(growing.grown)
}

impl<F: Field> Growing<F> {
    /// The links with the other side that the next page must have if the sides are to have these sizes.
    fn need(&self, hubs: usize, authorities: usize) -> u128 {
        match self.rule {
            Rule::Density { density, .. } => density
                .edges_needed(hubs as u64, authorities as u64)
                .saturating_sub(u128::from(self.grown.edges)),
            Rule::Size { .. } => 0,
        }
    }

    fn choose(&mut self, need: u128, role: Role) -> Result<Result<Candidate, Turn>, Interrupted> {
        let literal = matches!(
            self.rule,
            Rule::Density {
                growth: Growth::Literal,
                ..
            }
        );
        let need = u32::try_from(need.max(1)).unwrap_or(u32::MAX);
        let least = if literal || self.is_complete { 1 } else { need };
        let Some(mut chosen) = self.field.best(role, least, &mut self.grown)? else {
            return Ok(Err(Turn::NoCandidate));
        };
        if self.is_complete {
            chosen.links = need;
        }
        Ok(if chosen.links < need {
            Err(Turn::Done)
        } else {
            Ok(chosen)
        })
    }

    fn add_hub(&mut self, max_hubs: usize) -> Result<Turn, Interrupted> {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        if hubs >= max_hubs {
            return Ok(Turn::NoCandidate);
        }
        self.add(Role::Hub, self.need(hubs + 1, authorities))
    }

    fn add_authority(&mut self) -> Result<Turn, Interrupted> {
        let (hubs, authorities) = (self.grown.hubs.len(), self.grown.authorities.len());
        self.add(Role::Authority, self.need(hubs, authorities + 1))
    }

    fn add(&mut self, role: Role, need: u128) -> Result<Turn, Interrupted> {
        match self.choose(need, role)? {
            Ok(chosen) => {
                self.push(role, chosen)?;
                Ok(Turn::Added)
            }
            Err(turn) => Ok(turn),
        }
    }

    fn push(&mut self, role: Role, chosen: Candidate) -> Result<(), Interrupted> {
        let grown = &mut self.grown;
        let pages = match role {
            Role::Hub => &mut grown.hubs,
            Role::Authority => &mut grown.authorities,
        };
        pages.push(chosen.page);
        let taken = pages.len();
        grown.edges += u64::from(chosen.links);
        let (score, error) = self.field.take(role, chosen, taken, grown)?;
        let (scores, side) = match role {
            Role::Hub => (&mut grown.hub_scores, 'h'),
            Role::Authority => (&mut grown.authority_scores, 'a'),
        };
        scores.push(score);
        grown.sides.push(side);
        grown.record_error(error, score);
        Ok(())
    }
}
