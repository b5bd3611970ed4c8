//! Picks that follow those of an earlier state, at the cost of what changed.
//!
//! With `C_p` the pages that the first p picks of the earlier selection reached, and C those that the
//! picks so far reach, a candidate has an earlier gain, counted over what C_p leaves, and one now,
//! counted over what C leaves. p follows the picks: it moves on when the next earlier pick is picked,
//! or cannot be, or has fallen behind. Of each candidate one of three things is known:
//!
//! ```text
//! clean       nothing that its gain follows from differs: its gain is the earlier one
//! differing   by how much its gain differs from the earlier one, pick by pick (`pairs`)
//! known       its gain itself, by a search
//! ```
//!
//! The earlier gains at p are known of those that came first then ([`FormerPick::next`]), and each of
//! the others fell short of the last of these by a margin that is known ([`Former::margins`]). So a
//! differing candidate is searched only where what is to be added could make it one of the best.
//! Where picks reach other pages than the earlier ones, what these pages are worth goes to all that
//! have them within reach, which a search against the links finds: as in
//! [`greedy`](super::greedy), but for the pages that differ alone.
//!
//! Lists get shorter where candidates leave them. Then those that were nearest to being listed are
//! searched, and where that is not enough, all: so the picks are always those of a selection from
//! scratch. Where finding what changed would take too many visits, by a sample, nothing is found, and
//! the caller selects anew.

use std::cmp::Reverse;

use super::super::pick::{HopGain, Stop};
use super::ball::Balls;
use super::before::Changes;
use super::gains::Touched;
use super::graph::WebGraph;
use super::greedy::{Reached, Wanted, scored};
use super::picks::{NEXT, WebCover, WebPick};
use crate::graph::{NONE, number};
use crate::watch::{Interrupted, Watch};

/// Of the visits of a pass, finding what changed may take one in so many.
const CHANGES: u64 = 2;

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
    /// It would take too many visits, or the method has no such way.
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
    /// By page, those that are no pages any more after today's: the place, from 0, of the pick that
    /// was the first to reach it; [`NONE`] where none did.
    pub rounds: Vec<u32>,
    /// The candidates that no pick reached, ascending, with their gains after the last pick.
    pub rest: Vec<(u32, i64)>,
    /// By page: how much it fell short at least of the last candidate listed with a pick, whenever it
    /// could be picked and was not listed, and of a gain in the end where that ended the selection;
    /// 0 where nothing is known, or beyond the end.
    pub margins: Vec<i64>,
    /// What differs since.
    pub changes: Changes,
    /// The most page visits that finding what changed may take; half of what a pass would take, unless
    /// given.
    pub most_visits: Option<u64>,
}

impl Former {
    pub(super) fn margin(&self, page: u32) -> i64 {
        self.margins.get(page as usize).copied().unwrap_or(0)
    }
}

/// A selection that is being followed.
///
/// Memory: 26 bytes per page, and some 80 for each touched candidate.
pub(super) struct Follow<'a> {
    pub(super) graph: &'a WebGraph,
    pub(super) former: &'a Former,
    pub(super) depth: u32,
    pub(super) wanted: Wanted,
    /// How many of the earlier picks are passed.
    pub(super) passed: usize,
    /// By page: the place of the earlier pick that was the first to reach it, if that is not passed;
    /// else [`NONE`]. Of pages that the picks reach without meaning.
    pub(super) rounds: Vec<u32>,
    by_round: Vec<Vec<u32>>,
    pub(super) touched: Vec<Touched>,
    /// By page: its place in `touched`; [`NONE`] for the others.
    pub(super) place: Vec<u32>,
    /// By page: its margin as far as it was told since it was touched.
    pub(super) margins: Vec<i64>,
    /// By how much lists go on at most beyond the earlier ones.
    pub(super) slack: i64,
    /// The margin of the nearest candidates that were not searched, once the nearest were.
    pub(super) nearest: Option<i64>,
    /// How often they were.
    pub(super) widened: usize,
    picked: Vec<bool>,
    pub(super) is_candidate: Vec<bool>,
    pub(super) reached: Reached<'a>,
    pub(super) visits: u64,
    /// What a search from a candidate takes on average.
    pub(super) visits_of_search: u64,
    pub(super) balls: &'a Balls,
    pub(super) watch: &'a dyn Watch,
}

/// Picks as [`greedy`](super::greedy) does, stopping before a gain that is not positive.
pub(super) fn follow(
    graph: &WebGraph,
    former: &Former,
    depth: u32,
    wanted: Wanted,
    balls: &Balls,
    watch: &dyn Watch,
) -> Result<Followed<WebCover>, Interrupted> {
    let mut run = Follow::new(graph, former, depth, wanted, balls, watch);
    // Where there are so few, nothing is saved.
    let most = match former.most_visits {
        Some(most) => most,
        None if graph.candidates().len() < 2 * NEXT => return Ok(run.gave_up()),
        None => run.visits_of_pass()? / CHANGES,
    };
    if !run.touch_changes(most)? {
        return Ok(run.gave_up());
    }
    let mut picks: Vec<WebPick> = Vec::new();
    let stop = loop {
        watch.proceed()?;
        if picks.len() >= wanted.seeds as usize {
            break Stop::Complete;
        }
        let mut best = run.best()?.into_iter();
        let Some(seed) = best.next().filter(|best| best.0 > 0) else {
            break Stop::NotPositive;
        };
        let next: Vec<_> = best.take(NEXT).collect();
        run.note_margins(next.last().copied().unwrap_or(seed));
        let hops = run.take(seed.1.0, picks.len() + 1)?;
        picks.push(WebPick {
            seed: scored(seed),
            next: next.into_iter().map(scored).collect(),
            hops,
        });
    };
    if stop == Stop::NotPositive {
        run.note_margins((0, Reverse(0)));
    }
    while run.passed < former.picks.len() {
        run.pass()?;
    }
    let stop = match stop {
        _ if !picks.is_empty() && !run.has_value_left() => Stop::NoValueLeft,
        _ if !graph.candidates().iter().any(|&page| run.is_open(page)) => Stop::NoPageLeft,
        stop => stop,
    };
    Ok(Followed::Found(WebCover {
        picks,
        stop,
        rest: run.rest()?,
        margins: run.all_margins(),
        page_visits: run.all_visits(),
    }))
}

impl<'a> Follow<'a> {
    fn new(
        graph: &'a WebGraph,
        former: &'a Former,
        depth: u32,
        wanted: Wanted,
        balls: &'a Balls,
        watch: &'a dyn Watch,
    ) -> Self {
        let pages = graph.pages() as usize;
        let mut run = Self {
            graph,
            former,
            depth,
            wanted,
            passed: 0,
            rounds: former.rounds.clone(),
            by_round: vec![Vec::new(); former.picks.len()],
            touched: Vec::new(),
            place: vec![NONE; pages],
            margins: vec![i64::MAX; pages],
            slack: 0,
            nearest: None,
            widened: 0,
            picked: vec![false; pages],
            is_candidate: vec![false; pages],
            reached: Reached::new(graph, wanted.hops),
            visits: 0,
            visits_of_search: 0,
            balls,
            watch,
        };
        for &page in graph.candidates() {
            run.is_candidate[page as usize] = true;
        }
        for (page, &round) in (0..).zip(&former.rounds).take(pages) {
            if let Some(of_round) = run.by_round.get_mut(round as usize) {
                of_round.push(page);
            }
        }
        run
    }

    fn all_visits(&self) -> u64 {
        self.visits + self.reached.visits
    }

    fn gave_up<T>(&self) -> Followed<T> {
        Followed::GaveUp {
            page_visits: self.all_visits(),
        }
    }

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
        self.visits_of_search = visits / (sample.len() as u64).max(1);
        Ok(visits.saturating_mul(step as u64))
    }

    /// What working out so many candidates would take, about.
    pub(super) fn visits_of_working_out(&self, candidates: usize) -> u64 {
        self.visits_of_search.saturating_mul(candidates as u64)
    }

    /// Whether a page that no pick reaches is worth anything but its price.
    fn has_value_left(&self) -> bool {
        let values = (0..).zip(self.graph.values());
        let mut left = values.filter(|&(page, _)| !self.reached.has(page));
        left.any(|(_, &value)| value != self.wanted.price)
    }

    /// Whether a candidate can still be picked.
    pub(super) fn is_open(&self, page: u32) -> bool {
        self.is_candidate[page as usize] && !self.picked[page as usize]
    }

    /// Makes a page the pick of this number, from 1; returns what it adds, by hop.
    fn take(&mut self, page: u32, pick: usize) -> Result<Vec<HopGain>, Interrupted> {
        let is_last = pick >= self.wanted.seeds as usize;
        self.picked[page as usize] = true;
        let (hops, added) = self.reached.add(page);
        // A pick in place of the next earlier one reaches much of the same, which tells nothing new.
        let passes = self.passes(is_last) || self.is_outdone();
        let passing = number(self.passed);
        for page in added {
            self.watch.proceed()?;
            if !passes || self.rounds[page as usize] != passing {
                self.take_off(page);
            }
        }
        if passes {
            self.pass()?;
        }
        while self.passes(is_last) {
            self.pass()?;
        }
        Ok(hops)
    }

    /// Whether the next earlier pick is picked and can be passed; `is_last` says that no pick is to
    /// come.
    fn passes(&self, is_last: bool) -> bool {
        // After the last pick of a complete selection nothing is known of what comes next.
        let has_next = self.passed + 1 < self.former.picks.len();
        let next = self.former.picks.get(self.passed);
        let next = next.filter(|_| has_next || is_last || !self.was_complete());
        let page = next.and_then(|pick| pick.page);
        page.is_some_and(|page| self.picked[page as usize])
    }

    /// Whether the next earlier pick cannot be picked any more, or has fallen behind the two after it.
    fn is_outdone(&mut self) -> bool {
        let picks = &self.former.picks[self.passed.min(self.former.picks.len())..];
        let (Some(next), Some(after)) = (picks.first(), picks.get(2)) else {
            return false;
        };
        match next.page.filter(|&page| self.is_open(page)) {
            Some(page) => self.gain_left(page) < after.gain,
            None => true,
        }
    }

    /// Passes the next earlier pick.
    pub(super) fn pass(&mut self) -> Result<(), Interrupted> {
        let round = number(self.passed);
        for touched in &mut self.touched {
            while let Some((_, worth)) = touched.later.pop_if(|(at, _)| *at <= round) {
                touched.gain -= worth;
            }
        }
        let pages = self.by_round.get_mut(self.passed);
        let pages = pages.map(std::mem::take).unwrap_or_default();
        let page = self.former.picks.get(self.passed);
        let page = page.and_then(|pick| pick.page);
        self.passed += 1;
        for page in pages {
            self.watch.proceed()?;
            if !self.reached.has(page) {
                self.give_back(page);
            }
        }
        // Of what came after its own pick nothing bounds it.
        let is_known = |page| self.touched(page).is_some_and(|touched| touched.is_known);
        match page.filter(|&page| self.is_open(page) && !is_known(page)) {
            Some(page) => self.work_out(&[page]),
            None => Ok(()),
        }
    }
}
