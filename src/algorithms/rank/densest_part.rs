//! Restriction of scores to the densest of their connected parts.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubShare, NONE, Remaining, Role, UnionFind, number};
use crate::watch::Interrupted;

use super::principal::TIED;
use super::region::Region;
use super::work::Work;

/// Quantised authority scores with their hub scores.
#[derive(Debug)]
pub(super) struct Place {
    /// By authority position.
    pub(super) x: Vec<f64>,
    /// `A x`, by hub position.
    pub(super) hubs: Vec<f64>,
    /// `|A x|^2 / |x|^2`, rounded down.
    pub(super) lambda: f64,
}

/// Sets all scores to 0 outside the connected part with the largest quotient `|A x|^2 / |x|^2`. Of
/// tied parts it keeps the one whose best authority has the smallest URL. Both vectors are on the own classes. All processes
/// call it at the same time.
///
/// Cost: all processes get the smallest pages of the scored authorities that several of them know.
pub(super) fn densest_part(
    share: &HubShare,
    left: &Remaining,
    region: &Region,
    own_scores: &mut [f64],
    hubs: &mut [f64],
    work: &mut Work,
) -> Result<(), Interrupted> {
    let own = own_scores.len();
    let mut x = own_scores.to_vec();
    x.resize(share.side(Role::Authority).len(), 0.0);
    share.pull(Role::Authority, &mut x)?;
    let mut sets = UnionFind::new(x.len());
    let mut local_parts = x.iter().filter(|score| **score > 0.0).count();
    let own_hubs = region.own(Role::Hub);
    for ((hub, pages), score) in (0..).zip(&region.hub_pages()[..own_hubs]).zip(&mut *hubs) {
        if *pages == 0.0 {
            *score = 0.0;
            continue;
        }
        let row = region.rows().list(hub);
        // Counted even if it is not read, so that the count does not depend on the number of processes.
        *work += row.len() as u64;
        if local_parts <= 1 {
            continue;
        }
        let mut scored = row.iter().filter(|at| x[**at as usize] > 0.0);
        if let Some(first) = scored.next() {
            local_parts -= scored.filter(|other| sets.union(*first, **other)).count();
        }
    }
    let parts = part_of_each(share, &x, &mut sets)?;
    let ids = share.side(Role::Authority).ids();
    let firsts = parts.iter().zip(ids).take(own);
    let firsts = firsts.filter(|(part, id)| part == id).count();
    if share.sum([firsts as u64])?[0] <= 1 {
        return Ok(());
    }
    let of_hub = |hub: usize| {
        let mut row = region.rows().list(number(hub)).iter();
        let scored = row.find(|at| x[**at as usize] > 0.0);
        scored.map_or(NONE, |at| parts[*at as usize])
    };
    let of_hubs: Vec<u32> = (0..own_hubs).map(of_hub).collect();
    let mut found: Vec<BTreeMap<u32, Part>> = Vec::new();
    for range in share.side(Role::Authority).slices() {
        let mut of_slice: BTreeMap<u32, Part> = BTreeMap::new();
        for at in range.filter(|at| x[*at] > 0.0) {
            let page = left.next_authority_page(share.graph(), number(at), None);
            let pages = region.authority_pages()[at];
            let part = of_slice.entry(parts[at]).or_default();
            part.add_authority(x[at], pages, page.unwrap_or(NONE));
        }
        found.push(of_slice);
    }
    for (range, of_slice) in share.side(Role::Hub).slices().zip(&mut found) {
        for at in range.filter(|at| of_hubs[*at] != NONE && hubs[*at] > 0.0) {
            let part = of_slice.entry(of_hubs[at]).or_default();
            part.numerator += region.hub_pages()[at] * hubs[at] * hubs[at];
        }
    }
    let chosen = densest(share, &found)?;
    for (score, part) in own_scores.iter_mut().zip(parts) {
        if part != chosen {
            *score = 0.0;
        }
    }
    for (score, part) in hubs.iter_mut().zip(of_hubs) {
        if part != chosen {
            *score = 0.0;
        }
    }
    Ok(())
}

/// Returns the part of each local authority with a score: the smallest page of the classes in it. `sets` has those that are
/// joined by own hubs.
fn part_of_each(
    share: &HubShare,
    x: &[f64],
    sets: &mut UnionFind,
) -> Result<Vec<u32>, Interrupted> {
    let side = share.side(Role::Authority);
    let ids = side.ids();
    let scored = || (0..number(x.len())).filter(|at| x[*at as usize] > 0.0);
    // The smallest page of each local set.
    let mut smallest = vec![NONE; x.len()];
    for at in scored() {
        let of_set = &mut smallest[sets.find(at) as usize];
        *of_set = ids[at as usize].min(*of_set);
    }
    // The sets of authorities that other processes know, too.
    let mut message = Encoder::default();
    for at in scored().filter(|at| side.is_known_elsewhere(*at)) {
        message.number(ids[at as usize].into());
        message.number(smallest[sets.find(at) as usize].into());
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for message in gather(share.communicator(), message)? {
        let mut message = Decoder(&message);
        while !message.0.is_empty() {
            let pair = message.index().zip(message.index());
            pairs.push(pair.ok_or_else(|| share.malformed())?);
        }
    }
    let mut known: Vec<u32> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    known.sort_unstable();
    known.dedup();
    let place = |id: u32| known.binary_search(&id).ok().map(number);
    let mut joined = UnionFind::new(known.len());
    for (a, b) in pairs {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            joined.union(a, b);
        }
    }
    let mut parts = vec![NONE; x.len()];
    for at in scored() {
        let of_set = smallest[sets.find(at) as usize];
        let of_all = place(of_set).map(|place| known[joined.find(place) as usize]);
        parts[at as usize] = of_all.unwrap_or(of_set);
    }
    Ok(parts)
}

/// Returns the part with the largest quotient, given what this process has of each, by slice; of tied parts the one whose
/// best authority has the smallest URL.
fn densest(share: &HubShare, found: &[BTreeMap<u32, Part>]) -> Result<u32, Interrupted> {
    let mut message = Encoder::default();
    for (&id, part) in found.iter().flatten() {
        message.number(id.into());
        message.number(part.page.into());
        let numbers = [part.numerator, part.denominator, part.best];
        message
            .0
            .extend(numbers.into_iter().flat_map(f64::to_le_bytes));
    }
    let mut all: BTreeMap<u32, Part> = BTreeMap::new();
    for message in gather(share.communicator(), message)? {
        let mut message = Decoder(&message);
        while !message.0.is_empty() {
            let (id, part) = read_part(&mut message).ok_or_else(|| share.malformed())?;
            all.entry(id).or_default().merge(&part);
        }
    }
    let top = all.values().map(Part::quotient).fold(0.0, f64::max);
    let tied = all.iter();
    let tied = tied.filter(|(_, part)| part.quotient() >= top * (1.0 - TIED));
    let chosen = tied.min_by_key(|(_, part)| part.page);
    Ok(chosen.map_or(NONE, |(id, _)| *id))
}

fn read_part(message: &mut Decoder<'_>) -> Option<(u32, Part)> {
    let (id, page) = (message.index()?, message.index()?);
    let mut numbers = [0.0; 3];
    for number in &mut numbers {
        let (bytes, rest) = message.0.split_first_chunk()?;
        *number = f64::from_le_bytes(*bytes);
        message.0 = rest;
    }
    let [numerator, denominator, best] = numbers;
    Some((
        id,
        Part {
            numerator,
            denominator,
            best,
            page,
        },
    ))
}

/// A connected part of the scores and their hubs.
#[derive(Clone, Copy, Default)]
struct Part {
    /// `|A x|^2` of the part.
    numerator: f64,
    /// `|x|^2` of the part.
    denominator: f64,
    /// The best score.
    best: f64,
    /// The smallest page with the best score.
    page: u32,
}

impl Part {
    /// Adds an authority class; `page` is the smallest of its `pages` pages.
    fn add_authority(&mut self, score: f64, pages: f64, page: u32) {
        self.merge(&Self {
            numerator: 0.0,
            denominator: pages * score * score,
            best: score,
            page,
        });
    }

    /// Adds what another process or slice has of the part.
    fn merge(&mut self, other: &Self) {
        self.numerator += other.numerator;
        self.denominator += other.denominator;
        match other.best.total_cmp(&self.best) {
            Ordering::Less => {}
            Ordering::Equal => self.page = self.page.min(other.page),
            Ordering::Greater => (self.best, self.page) = (other.best, other.page),
        }
    }

    /// Returns the quotient; 0 if the part has no score.
    fn quotient(&self) -> f64 {
        self.numerator / self.denominator.max(f64::MIN_POSITIVE)
    }
}
