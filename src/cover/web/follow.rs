//! Picks that follow those of an earlier state, at the cost of what changed.
//!
//! A candidate is *clean* while nothing that its gain follows from differs: the pages within its
//! reach, their values, and which of them were reached before each pick. The gain of a clean
//! candidate at a pick is what it was then. So of all clean ones the best is the earlier pick, or
//! where that is not clean the first clean one of those that came next ([`FormerPick::next`]); the
//! last of these bounds all that are not listed. The others are *touched*: they have a changed page
//! within reach, and their gains are worked out by a search.
//!
//! ```text
//! round of a page     the pick that is the first to reach it, as far as is known: at first the
//!                     earlier one
//! gain at pick i      sum over the pages within reach whose round is not before i
//! ```
//!
//! One search from a touched candidate gives its gains at all picks. Where a pick reaches other
//! pages than it did, the rounds of these pages change, and all that have them within reach are
//! touched. Where the best of all cannot be told, because what is left of a list is too short, or
//! where following takes more visits than it may, the caller selects anew. So the picks are always
//! those of a selection from scratch.

use std::cmp::Reverse;

use super::super::pick::{Scored, Stop};
use super::ball::Balls;
use super::graph::WebGraph;
use super::greedy::{Gain, Reached, Wanted, scored};
use super::picks::{NEXT, WebCover, WebPick};
use crate::graph::{NONE, number};
use crate::watch::{Interrupted, Watch};

/// A pick of the earlier selection. Pages are numbers of today's graph; `None` is no page any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormerPick {
    /// The page.
    pub page: Option<u32>,
    /// Its gain.
    pub gain: i64,
    /// The best candidates after it at that moment, best first.
    pub next: Vec<(Option<u32>, i64)>,
}

/// What came of following an earlier selection.
#[derive(Clone, PartialEq, Debug)]
pub enum Followed<T> {
    /// What a selection from scratch gives.
    Found(T),
    /// It cannot be told, or would take too many visits, or the method has no such way.
    GaveUp {
        /// The page visits so far.
        page_visits: u64,
    },
}

/// An earlier selection with the same parameters, in the numbers of today's graph.
#[derive(Clone, Debug, Default)]
pub struct Former {
    /// Its picks, in their order.
    pub picks: Vec<FormerPick>,
    /// By page: the place, from 0, of the pick that was the first to reach it; [`NONE`] where none
    /// did.
    pub rounds: Vec<u32>,
    /// The candidates that no pick reached, ascending, with their gains after the last pick.
    pub rest: Vec<(u32, i64)>,
    /// Pages whose value may be another.
    pub revalued: Vec<u32>,
    /// Pages whose links may be others, or that may be candidates now and were not, or the other way
    /// round. Of new pages nothing need be said: those that link to them are here.
    pub relinked: Vec<u32>,
    /// The most page visits that following may take; those that a pass would take, unless given.
    pub most_visits: Option<u64>,
}

/// A candidate whose gains may be others.
struct Touched {
    page: u32,
    /// The gain at the pick that is being made.
    gain: i64,
    /// What the pages of each later round are worth, the next round last.
    later: Vec<(u32, i64)>,
}

struct Follow<'a> {
    graph: &'a WebGraph,
    depth: u32,
    price: i64,
    rounds: Vec<u32>,
    touched: Vec<Touched>,
    /// By page: its place in `touched`; [`NONE`] for the others.
    place: Vec<u32>,
    picked: Vec<bool>,
    is_candidate: Vec<bool>,
    visits: u64,
    balls: &'a Balls,
    watch: &'a dyn Watch,
}

/// Picks as [`greedy`](super::greedy) does, stopping before a gain that is not positive; `None`
/// where that cannot be told from the earlier selection, or takes too many visits.
pub(super) fn follow(
    graph: &WebGraph,
    former: &Former,
    depth: u32,
    wanted: Wanted,
    balls: &Balls,
    watch: &dyn Watch,
) -> Result<Followed<WebCover>, Interrupted> {
    let pages = graph.pages() as usize;
    let gave_up = |page_visits| Followed::GaveUp { page_visits };
    let mut run = Follow {
        graph,
        depth,
        price: wanted.price,
        rounds: former.rounds.clone(),
        touched: Vec::new(),
        place: vec![NONE; pages],
        picked: vec![false; pages],
        is_candidate: vec![false; pages],
        visits: 0,
        balls,
        watch,
    };
    for &page in graph.candidates() {
        run.is_candidate[page as usize] = true;
    }
    let mut by_round: Vec<Vec<u32>> = vec![Vec::new(); former.picks.len()];
    for (page, &round) in (0..).zip(&former.rounds) {
        if let Some(of_round) = by_round.get_mut(round as usize) {
            of_round.push(page);
        }
    }
    let most = match former.most_visits {
        Some(most) => most,
        None => run.visits_of_pass()?,
    };
    let near = run.near_changes(former);
    // Where so many are to be searched from, and again as picks differ, following saves nothing.
    if former.most_visits.is_none() && near.len() > graph.candidates().len() / 4 {
        return Ok(gave_up(run.visits));
    }
    run.work_out(&near, 0)?;
    let mut reached = Reached::new(graph, wanted.hops);
    let mut picks: Vec<WebPick> = Vec::new();
    let stop = loop {
        watch.proceed()?;
        let round = number(picks.len());
        if run.visits + reached.visits > most {
            return Ok(gave_up(run.visits + reached.visits));
        }
        if round >= wanted.seeds {
            break Stop::Complete;
        }
        let former_pick = former.picks.get(round as usize);
        let (ranked, floor) = run.ranked(former_pick);
        // What is not ranked is worse than the floor; below an earlier list's end, no gain.
        let mut known = ranked.into_iter().take_while(|gain| *gain > floor);
        let Some(best) = known.next() else {
            if former_pick.is_none() {
                break Stop::NotPositive;
            }
            return Ok(gave_up(run.visits + reached.visits));
        };
        if best.0 <= 0 {
            break Stop::NotPositive;
        }
        let next: Vec<Scored> = known.take(NEXT).map(scored).collect();
        if next.is_empty() {
            return Ok(gave_up(run.visits + reached.visits));
        }
        let seed = best.1.0;
        run.picked[seed as usize] = true;
        let (hops, added) = reached.add(seed);
        picks.push(WebPick {
            seed: scored(best),
            next,
            hops,
        });
        let expected = by_round.get(round as usize).map_or(&[][..], Vec::as_slice);
        run.pass_round(round, &added, expected, &reached)?;
        let missed = former_pick.and_then(|pick| pick.page);
        if let Some(page) = missed.filter(|&page| !run.picked[page as usize]) {
            run.work_out(&[page], round + 1)?;
        }
    };
    if picks.len() < former.picks.len() {
        // Gains of clean candidates are known before each earlier pick and after the last.
        return Ok(gave_up(run.visits + reached.visits));
    }
    let mut rest = Vec::new();
    for &page in graph
        .candidates()
        .iter()
        .filter(|&&page| !reached.has(page))
    {
        let gain = match run.touched.get(run.place[page as usize] as usize) {
            Some(touched) => touched.gain,
            None => match former.rest.binary_search_by_key(&page, |entry| entry.0) {
                Ok(at) => former.rest[at].1,
                Err(_) => return Ok(gave_up(run.visits + reached.visits)),
            },
        };
        rest.push(scored((gain, Reverse(page))));
    }
    Ok(Followed::Found(WebCover {
        picks,
        stop,
        rest,
        page_visits: run.visits + reached.visits,
    }))
}

impl Follow<'_> {
    /// What a pass would take, by a sample of one in 64 candidates, at most 256 of them.
    fn visits_of_pass(&mut self) -> Result<u64, Interrupted> {
        let candidates = self.graph.candidates();
        let sampled = (candidates.len() / 64).clamp(1, 256);
        let step = candidates.len().div_ceil(sampled).max(1);
        let sample: Vec<u32> = candidates.iter().step_by(step).copied().collect();
        let (links, depth) = (self.graph.successors(), self.depth);
        let visits = self.balls.each(&sample, self.watch, |ball, part| {
            let visits = part
                .iter()
                .map(|&page| ball.levels(links, page, depth, |_| ()));
            visits.sum::<u64>()
        })?;
        let visits: u64 = visits.into_iter().sum();
        self.visits += visits;
        Ok(visits.saturating_mul(step as u64))
    }

    /// The candidates whose gains at this pick are known, best first, and a bound of all others:
    /// none is better.
    fn ranked(&self, former: Option<&FormerPick>) -> (Vec<Gain>, Gain) {
        let open = |page: &u32| self.is_candidate[*page as usize] && !self.picked[*page as usize];
        let touched = self.touched.iter().filter(|touched| open(&touched.page));
        let mut ranked: Vec<Gain> = touched.map(|t| (t.gain, Reverse(t.page))).collect();
        let Some(former) = former else {
            // The earlier selection ended here: no clean candidate had a gain.
            ranked.sort_unstable_by(|a, b| b.cmp(a));
            return (ranked, (0, Reverse(0)));
        };
        let listed = std::iter::once((former.page, former.gain)).chain(former.next.iter().copied());
        let mut floor = (former.gain, Reverse(0));
        for (page, gain) in listed {
            // All others are worse than the last one listed, so the next URL bounds them. Without
            // its page, all that can be told of a tie is that it is one.
            floor = (gain, Reverse(page.map_or(0, |page| page.saturating_add(1))));
            let clean = page.filter(|&page| open(&page) && self.place[page as usize] == NONE);
            ranked.extend(clean.map(|page| (gain, Reverse(page))));
        }
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        (ranked, floor)
    }

    /// Settles the rounds of the pages that a pick was the first to reach, and of those that it was
    /// expected to reach.
    fn pass_round(
        &mut self,
        round: u32,
        added: &[u32],
        expected: &[u32],
        reached: &Reached<'_>,
    ) -> Result<(), Interrupted> {
        let mut moved = Vec::new();
        for &page in added {
            let before = std::mem::replace(&mut self.rounds[page as usize], round);
            if before != round {
                moved.push((page, Some(before)));
            }
        }
        for &page in expected {
            if self.rounds[page as usize] == round && !reached.has(page) {
                self.rounds[page as usize] = NONE;
                moved.push((page, None));
            }
        }
        for touched in &mut self.touched {
            while let Some((_, worth)) = touched.later.pop_if(|(at, _)| *at <= round) {
                touched.gain -= worth;
            }
        }
        self.follow_moved(&moved, round + 1)
    }

    /// Settles what follows from pages that are reached in another round: in this one, with the round
    /// that was known before, or in none. Touched candidates gain or lose what they are worth; the
    /// others that have them within reach are worked out, as they are at a round.
    fn follow_moved(
        &mut self,
        moved: &[(u32, Option<u32>)],
        round: u32,
    ) -> Result<(), Interrupted> {
        let mut clean = Vec::new();
        let Self {
            graph,
            depth,
            price,
            touched,
            place,
            is_candidate,
            visits,
            balls,
            watch,
            ..
        } = self;
        for &(page, before) in moved {
            watch.proceed()?;
            let worth = graph.values()[page as usize] - *price;
            if worth == 0 {
                continue;
            }
            *visits += balls.with(|ball| {
                ball.levels(graph.predecessors(), page, *depth, |level| {
                    for &source in level.pages {
                        let at = place[source as usize] as usize;
                        match (touched.get_mut(at), before) {
                            // It was to be reached later, and counted until then.
                            (Some(of), Some(before)) => {
                                of.gain -= worth;
                                let later = of.later.iter_mut().find(|later| later.0 == before);
                                if let Some((_, sum)) = later {
                                    *sum -= worth;
                                }
                            }
                            // It was to be reached now, and does not count any more.
                            (Some(of), None) => of.gain += worth,
                            (None, _) if is_candidate[source as usize] => clean.push(source),
                            (None, _) => {}
                        }
                    }
                })
            });
        }
        clean.sort_unstable();
        clean.dedup();
        self.work_out(&clean, round)
    }

    /// The candidates whose gains may be others, ascending.
    fn near_changes(&mut self, former: &Former) -> Vec<u32> {
        let mut near = self.near(&former.revalued, self.depth);
        // Other links of a page lead to other pages one hop further on.
        near.extend(self.near(&former.relinked, self.depth.saturating_sub(1)));
        near.sort_unstable();
        near.dedup();
        near
    }

    /// The candidates that have one of these pages within so many hops.
    fn near(&mut self, pages: &[u32], hops: u32) -> Vec<u32> {
        let mut near = Vec::new();
        if pages.is_empty() {
            return near;
        }
        let links = self.graph.predecessors();
        self.visits += self.balls.with(|ball| {
            ball.levels_of_all(links, pages, hops, |level| {
                near.extend_from_slice(level.pages);
            })
        });
        near.retain(|&page| self.is_candidate[page as usize]);
        near
    }

    /// Works out candidates as they are at a round.
    fn work_out(&mut self, candidates: &[u32], round: u32) -> Result<(), Interrupted> {
        let (graph, depth, price, rounds) = (self.graph, self.depth, self.price, &self.rounds);
        let parts = self.balls.each(candidates, self.watch, |ball, part| {
            let mut visits = 0;
            let mut found = Vec::with_capacity(part.len());
            for &page in part {
                let mut gain = 0;
                let mut later: Vec<(u32, i64)> = Vec::new();
                visits += ball.levels(graph.successors(), page, depth, |level| {
                    for &met in level.pages {
                        let worth = graph.values()[met as usize] - price;
                        let at = rounds[met as usize];
                        if at >= round {
                            gain += worth;
                            if at != NONE {
                                later.push((at, worth));
                            }
                        }
                    }
                });
                later.sort_unstable_by_key(|&(at, _)| Reverse(at));
                later.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 += if same { next.1 } else { 0 };
                    same
                });
                later.shrink_to_fit();
                found.push(Touched { page, gain, later });
            }
            (found, visits)
        })?;
        for (found, visits) in parts {
            self.visits += visits;
            for touched in found {
                let place = &mut self.place[touched.page as usize];
                if let Some(old) = self.touched.get_mut(*place as usize) {
                    *old = touched;
                } else {
                    *place = number(self.touched.len());
                    self.touched.push(touched);
                }
            }
        }
        Ok(())
    }
}
