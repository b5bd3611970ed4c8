//! Growth of a core in a graph that several processes share.
//!
//! Each process has the candidates among its own classes. In each turn, all of them tell the others their best one, and take
//! the best of all. Once a complete core can grow on one side only, its candidates do not change any more, and processes
//! tell many at a time.

use std::collections::{BTreeMap, VecDeque};

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubShare, NONE, Remaining, Role};
use crate::rank::{Principal, TIED};
use crate::watch::Interrupted;

use super::super::candidates::{Unclear, rivals};
use super::super::params::CoreParams;
use super::growth::{Candidate, Field, Grown, grow, is_complete};
use super::side::Side;

/// The most pages that a process offers at a time; few in unit tests.
const MOST_OFFERED: usize = if cfg!(test) { 3 } else { 256 };

/// An extracted core, with what this process knows of it.
pub(in super::super) struct SharedCore {
    pub(in super::super) grown: Grown,
    /// The number of pages of the core in each local class, by role: hubs, authorities.
    pub(in super::super) pages: [BTreeMap<u32, u32>; 2],
}

/// Extracts the core of a graph that several processes share. All processes call it at the same time.
///
/// The core is in doubt if the errors leave open which candidate has the best score, or whether one with a smaller page is
/// tied with it. Unlike in [`extract`](super::extract), neither links nor symmetry decide that. So a core can be in doubt
/// here that is not in doubt there, and can have other pages.
pub(in super::super) fn extract_shared(
    share: &HubShare,
    left: &Remaining,
    principal: &Principal,
    params: &CoreParams,
) -> Result<SharedCore, Interrupted> {
    let mut field = ShareField::new(share, left, principal, is_complete(params));
    let grown = grow(&mut field, params)?;
    Ok(SharedCore {
        grown,
        pages: field.pages,
    })
}

/// What a process offers: its best candidate.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Offer {
    process: usize,
    /// The smallest page of the class.
    id: u32,
    page: u32,
    links: u32,
    score: f64,
    error: f64,
    /// The largest score of its candidates.
    top: f64,
    top_error: f64,
    /// An upper bound on the scores of all of its candidates, whatever the errors.
    highest: f64,
    /// Whether the errors leave open if it is tied with the best score; of a best page, if one with a smaller number is.
    is_unclear: bool,
}

/// The share of a process while a core grows.
struct ShareField<'a> {
    share: &'a HubShare,
    hubs: Side<'a>,
    authorities: Side<'a>,
    rivals: Vec<u32>,
    /// Whether every hub must link to every authority.
    is_complete: bool,
    /// Whether a side has no candidate any more: hubs, authorities. Candidates of a complete core only become fewer.
    is_exhausted: [bool; 2],
    /// Pages that processes offered, once only one side has candidates.
    queue: Queue,
    /// The last candidate returned.
    last: Option<Offer>,
    pages: [BTreeMap<u32, u32>; 2],
}

/// What processes offer, in the order in which each of them would take its pages.
#[derive(Default)]
struct Queue {
    offers: Vec<VecDeque<Offer>>,
    /// Whether a process has more pages.
    has_more: Vec<bool>,
}

impl Queue {
    /// Removes and returns the best page; `None` if no page is offered, or if pages that are not offered may be better.
    fn pop(&mut self) -> Option<Offer> {
        let mut unknown = self.offers.iter().zip(&self.has_more);
        if unknown.any(|(offers, has_more)| offers.is_empty() && *has_more) {
            return None;
        }
        let first = best(self.offers.iter().filter_map(VecDeque::front))?;
        self.offers[first.process].pop_front()
    }
}

/// Returns the offer of a process that has the largest score; of equal ones, that with the largest error.
fn top<'a>(offers: impl Iterator<Item = &'a Offer>) -> Option<&'a Offer> {
    let by_score = |a: &Offer, b: &Offer| a.top.total_cmp(&b.top);
    let by_error = |a: &Offer, b: &Offer| a.top_error.total_cmp(&b.top_error);
    offers.max_by(|a, b| by_score(a, b).then(by_error(a, b)))
}

/// Returns the best of the first pages of all processes. Returns `None` if there are no pages, and if processes must look
/// again for pages that are tied with the best score of all.
fn best<'a>(first: impl Iterator<Item = &'a Offer> + Clone) -> Option<Offer> {
    let top = top(first.clone())?;
    let possible = (top.top - top.top_error) * (1.0 - TIED);
    let tied = (top.top + top.top_error) * (1.0 - TIED);
    let mut rivals = first.filter(|of| of.highest >= possible);
    // What is tied with the best of a process may not be tied with the best of all, and the reverse if it is unclear.
    let is_decided = |of: &Offer| !of.is_unclear && of.score - of.error >= tied;
    if !rivals.clone().all(is_decided) {
        return None;
    }
    let first = rivals.next().copied();
    rivals.fold(first, |best, of| {
        best.filter(|best| best.page < of.page).or(Some(*of))
    })
}

const fn index(role: Role) -> usize {
    match role {
        Role::Hub => 0,
        Role::Authority => 1,
    }
}

impl<'a> ShareField<'a> {
    fn new(
        share: &'a HubShare,
        left: &'a Remaining,
        principal: &'a Principal,
        is_complete: bool,
    ) -> Self {
        let graph = share.graph();
        let own = |role: Role, values: &'a [f64]| &values[..share.side(role).own().len()];
        let (hubs, authorities) = (Role::Hub, Role::Authority);
        let hub_scores = own(hubs, &principal.hub_scores);
        let hub_errors = own(hubs, &principal.hub_errors);
        let authority_scores = own(authorities, &principal.authority_scores);
        let authority_errors = own(authorities, &principal.authority_errors);
        let rivals = rivals(authority_scores, authority_errors);
        let hub = |class: u32, after: Option<u32>| left.next_hub_page(graph, class, after);
        let authority =
            |class: u32, after: Option<u32>| left.next_authority_page(graph, class, after);
        let among = is_complete.then_some(&rivals[..]);
        Self {
            share,
            hubs: Side::new(hub_scores, hub_errors, is_complete.then_some(&[]), hub),
            authorities: Side::new(authority_scores, authority_errors, among, authority),
            rivals,
            is_complete,
            is_exhausted: [false; 2],
            queue: Queue::default(),
            last: None,
            pages: Default::default(),
        }
    }

    const fn side(&self, role: Role) -> &Side<'a> {
        match role {
            Role::Hub => &self.hubs,
            Role::Authority => &self.authorities,
        }
    }

    const fn side_mut(&mut self, role: Role) -> &mut Side<'a> {
        match role {
            Role::Hub => &mut self.hubs,
            Role::Authority => &mut self.authorities,
        }
    }

    /// Returns an own candidate as an offer, given the class with the largest score and a bound on all scores.
    fn own(
        &self,
        role: Role,
        class: u32,
        (best, highest): (u32, f64),
        is_unclear: bool,
    ) -> Option<Offer> {
        let share = self.share;
        let side = self.side(role);
        let (page, links) = side.candidates.at(class);
        let (class, best) = (class as usize, best as usize);
        Some(Offer {
            process: share.communicator().process(),
            id: share.side(role).ids().get(class).copied()?,
            page,
            links,
            score: side.scores[class],
            error: side.errors[class],
            top: side.scores[best],
            top_error: side.errors[best],
            highest,
            is_unclear,
        })
    }

    /// Returns the best own candidate.
    fn own_best(&self, role: Role, need: u32) -> Option<Offer> {
        let Side {
            candidates,
            scores,
            errors,
            ..
        } = self.side(role);
        let chosen = candidates.best(need)?;
        let least = scores[chosen.best as usize] - errors[chosen.best as usize];
        let may_be_taken = |class: &u32| {
            let highest = scores[*class as usize] + errors[*class as usize];
            candidates.at(*class).0 < chosen.page || highest > least
        };
        let is_unclear = match &chosen.unclear {
            Unclear::Few(few) => few.iter().any(may_be_taken),
            Unclear::Many => true,
        };
        let best = (chosen.best, chosen.highest);
        self.own(role, chosen.position, best, is_unclear)
    }

    /// Returns the own candidates with the smallest pages that are, or may be, tied with the best score of all, and the
    /// number of those that may exceed it.
    fn own_tied(&self, role: Role, need: u32, (best, error): (f64, f64)) -> (Vec<Offer>, u32) {
        let tied = self.side(role).candidates.tied_with(best, error, need);
        let [clear, unclear] =
            [(tied.clear, false), (tied.unclear, true)].map(|(class, is_unclear)| {
                class.and_then(|at| self.own(role, at, (at, best), is_unclear))
            });
        let offers = clear.into_iter().chain(unclear).collect();
        (offers, tied.possible_winners)
    }

    /// Returns what all processes offer. `has_more` says whether this one has more pages than it offers.
    fn exchange(&self, own: &[Offer], has_more: bool) -> Result<Queue, Interrupted> {
        let mut message = Encoder::default();
        message.number(has_more.into());
        for own in own {
            for number in [own.id, own.page, own.links, own.is_unclear.into()] {
                message.number(number.into());
            }
            let scores = [own.score, own.error, own.top, own.top_error, own.highest];
            message
                .0
                .extend(scores.into_iter().flat_map(f64::to_le_bytes));
        }
        let mut queue = Queue::default();
        for (process, message) in gather(self.share.communicator(), message)?
            .iter()
            .enumerate()
        {
            let read = read_offers(process, &mut Decoder(message));
            let (offers, has_more) = read.ok_or_else(|| self.share.malformed())?;
            queue.offers.push(offers);
            queue.has_more.push(has_more);
        }
        Ok(queue)
    }

    /// Returns the pages that this process would take first, and whether it has more.
    fn own_pages(&mut self, role: Role, need: u32) -> (Vec<Offer>, bool) {
        let mut offers: Vec<Offer> = Vec::new();
        let mut taken: Vec<(u32, Option<u32>)> = Vec::new();
        while offers.len() < MOST_OFFERED
            && let Some(offer) = self.own_best(role, need)
        {
            let class = self.share.local(role, offer.process, offer.id);
            let Some(class) = class else {
                break;
            };
            let side = self.side_mut(role);
            taken.push((class, side.last_taken(class)));
            side.take(class, offer.page);
            offers.push(offer);
        }
        let has_more = offers.len() == MOST_OFFERED;
        for (class, last) in taken.into_iter().rev() {
            self.side_mut(role).give_back(class, last);
        }
        (offers, has_more)
    }

    /// Returns the best candidate of all processes, from what they have offered before if that is known. If it is unclear
    /// whether another one comes first, the core is in doubt.
    fn best_of_all(
        &mut self,
        role: Role,
        need: u32,
        grown: &mut Grown,
    ) -> Result<Option<Offer>, Interrupted> {
        if self.is_complete && self.is_exhausted[index(role.other())] {
            if let Some(offer) = self.queue.pop() {
                return Ok(Some(offer));
            }
            let (own, has_more) = self.own_pages(role, need);
            self.queue = self.exchange(&own, has_more)?;
            if let Some(offer) = self.queue.pop() {
                return Ok(Some(offer));
            }
        }
        self.queue = Queue::default();
        let own = self.own_best(role, need);
        let offers = self.exchange(own.as_slice(), false)?.offers;
        let offers = offers.iter().flatten();
        if let Some(best) = best(offers.clone()) {
            return Ok(Some(best));
        }
        let Some(&Offer { top, top_error, .. }) = top(offers) else {
            return Ok(None);
        };
        let (own, possible_winners) = self.own_tied(role, need, (top, top_error));
        let offers = self.exchange(&own, false)?.offers;
        let [possible_winners] = self.share.sum([possible_winners.into()])?;
        let (unclear, clear): (Vec<Offer>, Vec<Offer>) =
            offers.into_iter().flatten().partition(|of| of.is_unclear);
        let best = clear.into_iter().min_by_key(|of| of.page);
        if let Some(best) = best {
            // One with the largest score is taken even if it may not be the best.
            let is_clear = best.score - best.error >= (top + top_error) * (1.0 - TIED);
            if unclear.iter().any(|of| of.page < best.page)
                || possible_winners > u64::from(!is_clear)
            {
                grown.doubt(top_error);
            }
        }
        Ok(best)
    }
}

/// Reads what a process offers, and whether it has more.
fn read_offers(process: usize, message: &mut Decoder<'_>) -> Option<(VecDeque<Offer>, bool)> {
    let float = |message: &mut Decoder<'_>| {
        let (bytes, rest) = message.0.split_first_chunk()?;
        message.0 = rest;
        Some(f64::from_le_bytes(*bytes))
    };
    let has_more = message.number()? != 0;
    let mut offers = VecDeque::new();
    while !message.0.is_empty() {
        offers.push_back(Offer {
            process,
            id: message.index()?,
            page: message.index()?,
            links: message.index()?,
            is_unclear: message.number()? != 0,
            score: float(message)?,
            error: float(message)?,
            top: float(message)?,
            top_error: float(message)?,
            highest: float(message)?,
        });
    }
    Some((offers, has_more))
}

impl Field for &mut ShareField<'_> {
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
        if self.is_exhausted[index(role)] {
            return Ok(None);
        }
        self.last = self.best_of_all(role, need, grown)?;
        self.is_exhausted[index(role)] = self.is_complete && self.last.is_none();
        let Some(offer) = self.last else {
            return Ok(None);
        };
        let share = self.share;
        Ok(Some(Candidate {
            class: share.local(role, offer.process, offer.id).unwrap_or(NONE),
            page: offer.page,
            links: offer.links,
        }))
    }

    fn take(
        &mut self,
        role: Role,
        Candidate { class, page, .. }: Candidate,
        taken: usize,
        grown: &mut Grown,
    ) -> Result<(f64, f64), Interrupted> {
        let share = self.share;
        let Some(offer) = self.last.take() else {
            return Err(share.malformed());
        };
        let mut linked = Vec::new();
        if let Some(class) = Some(class).filter(|class| *class != NONE) {
            let lists = match role {
                Role::Hub => share.graph().rows(),
                Role::Authority => share.graph().citers(),
            };
            *self.pages[index(role)].entry(class).or_default() += 1;
            if offer.process == share.communicator().process() {
                self.side_mut(role).take(class, page);
            }
            let own = share.side(role.other()).own();
            let of_class = lists.list(class).iter().copied();
            linked.extend(of_class.filter(|class| own.contains(class)));
        }
        grown.visits += linked.len() as u64;
        self.side_mut(role.other()).link(&linked, taken);
        Ok((offer.score, offer.error))
    }
}
