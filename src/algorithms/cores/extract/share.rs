//! Growth of a core in a graph that processes share.
//!
//! Each process has the candidates among its own classes. In each turn, all of them tell the others their best one, and take
//! the best of all. Once a complete core can grow on one side only, its candidates do not change any more, and processes
//! tell many at a time.

use std::collections::VecDeque;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubShare, NONE, Remaining, Role};
use crate::rank::{Principal, TIED};
use crate::watch::Interrupted;

use super::super::candidates::{BoundedScore, rivals};
use super::growth::{Candidate, Field, Grown};
use super::side::Side;
use super::{PagesOfClasses, index};

/// The most pages that a process offers at a time; few in unit tests.
const MOST_OFFERED: usize = if cfg!(test) { 3 } else { 256 };

/// What a process offers: a candidate, and what it says about the others.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Offer {
    process: usize,
    /// The smallest page of the class.
    id: u32,
    page: u32,
    links: u32,
    own: BoundedScore,
    /// Bounds on the best score of the process: it has a candidate with at least this score whatever the errors, and none
    /// can have a larger one than that.
    least: f64,
    most: f64,
}

/// The share of a process while a core grows.
pub(super) struct ShareField<'a> {
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
    pages: PagesOfClasses,
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

/// Returns the best of the first pages of all processes, if it is the best whatever the errors.
///
/// Each process offers its first page among those that may be tied with its own best score. Every page that may be tied with
/// the best score of all is among those of its process, since that score is not smaller. So no page before the first offered
/// one may be tied, and that one is the best if it is certainly tied.
fn best<'a>(first: impl Iterator<Item = &'a Offer> + Clone) -> Option<Offer> {
    let least = first.clone().map(|of| of.least).reduce(f64::max)?;
    let most = first.clone().map(|of| of.most).reduce(f64::max)?;
    first
        .filter(|of| of.most >= tied_with(least))
        .min_by_key(|of| of.page)
        .filter(|of| of.own.least() >= tied_with(most))
        .copied()
}

/// The smallest score that is tied with a best one.
fn tied_with(best: f64) -> f64 {
    best * (1.0 - TIED)
}

impl<'a> ShareField<'a> {
    pub(super) fn new(
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

    /// Returns the number of pages of the core in each local class.
    pub(super) fn into_pages(self) -> PagesOfClasses {
        self.pages
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

    /// Returns an own candidate as an offer, with bounds on the best score.
    fn own(&self, role: Role, class: u32, (least, most): (f64, f64)) -> Option<Offer> {
        let share = self.share;
        let side = self.side(role);
        let (page, links) = side.candidates.at(class);
        Some(Offer {
            process: share.communicator().process(),
            id: share.side(role).ids().get(class as usize).copied()?,
            page,
            links,
            own: side.score(class),
            least,
            most,
        })
    }

    /// Returns the own candidate with the smallest page that may be tied with the best own score.
    fn own_best(&self, role: Role, need: u32) -> Option<Offer> {
        let side = self.side(role);
        let (top, most) = side.candidates.top(need)?;
        let least = side.score(top).least();
        let class = side.candidates.first_possible(tied_with(least), need)?;
        self.own(role, class, (least, most))
    }

    /// Returns what all processes offer. `has_more` says whether this one has more pages than it offers.
    fn exchange(&self, own: &[Offer], has_more: bool) -> Result<Queue, Interrupted> {
        let mut message = Encoder::default();
        message.number(has_more.into());
        for own in own {
            for number in [own.id, own.page, own.links] {
                message.number(number.into());
            }
            let scores = [own.own.score, own.own.error, own.least, own.most];
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
        match best(offers.clone()) {
            None if offers.count() > 0 => self.best_of_exact_bounds(role, need, grown),
            best => Ok(best),
        }
    }

    /// Returns the best candidate of all processes, where the bounds that they offer do not decide it. Finds exact bounds.
    fn best_of_exact_bounds(
        &self,
        role: Role,
        need: u32,
        grown: &mut Grown,
    ) -> Result<Option<Offer>, Interrupted> {
        let candidates = &self.side(role).candidates;
        let offers = |class: Option<u32>, bounds| -> Result<Vec<Offer>, Interrupted> {
            let own = class.and_then(|class| self.own(role, class, bounds));
            let offers = self.exchange(own.as_slice(), false)?.offers;
            Ok(offers.into_iter().flatten().collect())
        };
        let first = |offers: Vec<Offer>| offers.into_iter().min_by_key(|of| of.page);
        let largest = |of: &[Offer], value: fn(&Offer) -> f64| {
            of.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
        };
        let top = candidates.top(need).map(|(class, _)| class);
        let least = candidates.largest_least(need).unwrap_or_default();
        let tops = offers(top, (least, least))?;
        let top = tied_with(largest(&tops, |of| of.own.score));
        let bounds = (tied_with(largest(&tops, |of| of.least)), top);
        // The first page that may be tied with the best score is the best if it is tied with every other one, whatever the
        // errors.
        let possible = candidates.first_possible(bounds.0, need);
        let Some(possible) = first(offers(possible, bounds)?) else {
            return Ok(None);
        };
        let class = self.share.local(role, possible.process, possible.id);
        let rival = candidates.largest_most(need, class.unwrap_or(NONE));
        let rivals = offers(rival, bounds)?.into_iter().map(|of| of.own);
        let rival = rivals.max_by(|a, b| {
            let by_score = || a.score.total_cmp(&b.score);
            let by_error = || a.error.total_cmp(&b.error);
            let by_most = a.most().total_cmp(&b.most());
            by_most.then_with(by_score).then_with(by_error)
        });
        let rival = rival.filter(|of| possible.own.least() < tied_with(of.most()));
        let Some(rival) = rival else {
            return Ok(Some(possible));
        };
        grown.doubt(possible.own.error.max(rival.error));
        // In doubt, the best candidate is the one by the scores without their errors.
        Ok(first(offers(candidates.first_scored(top, need), bounds)?))
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
            own: BoundedScore {
                score: float(message)?,
                error: float(message)?,
            },
            least: float(message)?,
            most: float(message)?,
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
        let mut linked = &[][..];
        let of_own: Vec<u32>;
        if let Some(class) = Some(class).filter(|class| *class != NONE) {
            let lists = match role {
                Role::Hub => share.graph().rows(),
                Role::Authority => share.graph().citers(),
            };
            *self.pages[index(role)].entry(class).or_default() += 1;
            if offer.process == share.communicator().process() {
                self.side_mut(role).take(class, page);
            }
            let other = share.side(role.other());
            let own = other.own();
            linked = lists.list(class);
            if own.len() < other.len() {
                let of_class = linked.iter().copied();
                of_own = of_class.filter(|class| own.contains(class)).collect();
                linked = &of_own;
            }
        }
        grown.visits += linked.len() as u64;
        self.side_mut(role.other()).link(linked, taken);
        Ok((offer.own.score, offer.own.error))
    }
}
