//! Growth of a core in a region.

use crate::graph::{HubGraph, Remaining, Role, are_symmetric};
use crate::rank::{Principal, TIED};
use crate::watch::Interrupted;

use super::super::candidates::{Chosen, Unclear, rivals};
use super::growth::{Candidate, Field, Grown};
use super::side::Side;
use super::{PagesOfClasses, index};

/// The required relative accuracy of the best score, from which the bound of a tie follows.
const TIE_ACCURACY: f64 = 1e-3;

/// A region while a core grows in it.
pub(super) struct RegionField<'a> {
    graph: &'a HubGraph,
    left: &'a Remaining,
    principal: &'a Principal,
    hubs: Side<'a>,
    authorities: Side<'a>,
    /// The authorities that can be tied with the best one.
    rivals: Vec<u32>,
    pages: PagesOfClasses,
}

impl<'a> RegionField<'a> {
    /// Returns a region before any page is taken.
    pub(super) fn new(
        graph: &'a HubGraph,
        left: &'a Remaining,
        principal: &'a Principal,
        is_complete: bool,
    ) -> Self {
        let region = &principal.region;
        let hub = |p: u32, after: Option<u32>| {
            left.next_hub_page(graph, region.hubs()[p as usize], after)
        };
        let authority = |p: u32, after: Option<u32>| {
            left.next_authority_page(graph, region.authorities()[p as usize], after)
        };
        let rivals = rivals(&principal.authority_scores, &principal.authority_errors);
        let (hub_scores, hub_errors) = (&principal.hub_scores, &principal.hub_errors);
        Self {
            graph,
            left,
            principal,
            hubs: Side::new(hub_scores, hub_errors, is_complete.then_some(&[]), hub),
            authorities: Side::new(
                &principal.authority_scores,
                &principal.authority_errors,
                is_complete.then_some(&rivals),
                authority,
            ),
            rivals,
            pages: PagesOfClasses::default(),
        }
    }

    /// Returns the number of pages of the core in each class.
    pub(super) fn into_pages(self) -> PagesOfClasses {
        self.pages
    }

    const fn side(&self, role: Role) -> &Side<'a> {
        match role {
            Role::Hub => &self.hubs,
            Role::Authority => &self.authorities,
        }
    }

    /// The best candidate with at least `need` links. If the errors leave a tie open, the difference of the
    /// two classes' links may decide it, or symmetry; otherwise the core is in doubt.
    fn decided(&self, need: u32, role: Role, grown: &mut Grown) -> Option<Chosen> {
        let side = self.side(role);
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
                grown.doubt(error);
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
            let visits = &mut grown.visits;
            let is_tied =
                match is_tied_by_links(self.principal, role, chosen.best, position, visits) {
                    Some(is_tied) => is_tied,
                    None if are_symmetric(self.graph, self.left, role, a, b, visits) => true,
                    None => {
                        grown.doubt(error.max(side.errors[position as usize]));
                        return Some(chosen);
                    }
                };
            if is_tied && page < chosen.page {
                (chosen.position, chosen.page, chosen.links) = (position, page, links);
            }
        }
        Some(chosen)
    }
}

impl Field for &mut RegionField<'_> {
    /// Only `rivals` can be tied with the best authority.
    fn first(&mut self, grown: &mut Grown) -> Result<Option<Candidate>, Interrupted> {
        let rivals = std::mem::take(&mut self.rivals);
        self.authorities.offer(&rivals, true);
        let chosen = self.best(Role::Authority, 1, grown);
        self.authorities.offer(&rivals, false);
        chosen
    }

    fn best(
        &mut self,
        role: Role,
        need: u32,
        grown: &mut Grown,
    ) -> Result<Option<Candidate>, Interrupted> {
        let chosen = self.decided(need, role, grown);
        Ok(chosen.map(|chosen| Candidate {
            class: chosen.position,
            page: chosen.page,
            links: chosen.links,
        }))
    }

    fn take(
        &mut self,
        role: Role,
        Candidate { class, page, .. }: Candidate,
        taken: usize,
        grown: &mut Grown,
    ) -> Result<(f64, f64), Interrupted> {
        let region = &self.principal.region;
        let classes = match role {
            Role::Hub => region.hubs(),
            Role::Authority => region.authorities(),
        };
        let of_class = self.pages[index(role)].entry(classes[class as usize]);
        *of_class.or_default() += 1;
        let (side, other, linked) = match role {
            Role::Hub => (&mut self.hubs, &mut self.authorities, region.rows()),
            Role::Authority => (&mut self.authorities, &mut self.hubs, region.citers()),
        };
        let linked = linked.list(class);
        side.take(class, page);
        other.link(linked, taken);
        grown.visits += linked.len() as u64;
        Ok((side.scores[class as usize], side.errors[class as usize]))
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
