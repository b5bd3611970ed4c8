//! The best candidates while an earlier selection is followed, and how far the others are from them.

use std::cmp::Reverse;

use super::super::pick::Scored;
use super::follow::{Follow, FormerPick};
use super::gains::Touched;
use super::greedy::{Gain, scored};
use super::picks::NEXT;
use crate::watch::Interrupted;

/// How many of the best candidates are searched for where their gains are not known. With fewer, a
/// selection that follows this one could not tell the best of the others.
const BEST: usize = NEXT / 2;
/// Where fewer than these are known, the candidates that were nearest to being listed are searched.
const FEW: usize = NEXT / 4;
/// Of how many candidates one is searched then.
const NEAREST: usize = 128;
/// How often that is done at most.
const WIDENED: usize = 8;
/// A margin that no candidate is beyond.
const ALL: i64 = i64::MAX;

impl Follow<'_> {
    /// The best candidates, best first, as many as their gains can be told of; empty, or the first one
    /// without a gain, where none has one.
    pub(super) fn best(&mut self) -> Result<Vec<Gain>, Interrupted> {
        while self.is_next_dead() && self.can_pass() {
            self.pass()?;
        }
        loop {
            let (ranked, floor) = self.ranked();
            let enough = ranked.get(BEST).or(ranked.last());
            // What is below the floor is of no use.
            let enough = enough.map_or(floor, |&enough| enough.max(floor));
            let doubtful: Vec<u32> = self.unknown(enough).map(|bound| bound.1.0).collect();
            if !doubtful.is_empty() {
                self.work_out(&doubtful)?;
                continue;
            }
            let floor = self.unknown(floor).max().unwrap_or(floor);
            let known = ranked.into_iter().take_while(|gain| *gain > floor);
            let best: Vec<Gain> = known.collect();
            if best.len() < FEW && self.widened < WIDENED && self.nearest != Some(ALL) {
                self.search_nearest()?;
                continue;
            }
            let is_over = best.first().map_or(self.is_at_end(), |best| best.0 <= 0);
            if is_over || best.len() > 1 || self.nearest == Some(ALL) {
                return Ok(best);
            }
            if self.can_pass() {
                self.pass()?;
            } else {
                self.search_up_to(ALL)?;
            }
        }
    }

    /// Whether the next earlier pick is no page or no candidate any more.
    fn is_next_dead(&self) -> bool {
        let next = self.former.picks.get(self.passed);
        let is_candidate = |page: u32| self.is_candidate[page as usize];
        next.is_some_and(|next| !next.page.is_some_and(is_candidate))
    }

    /// What bounds the gains of candidates that are not known, where that is above a gain.
    fn unknown(&self, above: Gain) -> impl Iterator<Item = Gain> + '_ {
        let last = self.listed().last().map_or(0, |(_, gain)| gain);
        let bounded = self.touched.iter().filter(|touched| !touched.is_known);
        let bounded =
            bounded.map(move |touched| (self.bound(last, touched), Reverse(touched.page)));
        bounded.filter(move |bound| {
            let page = bound.1.0;
            *bound > above && self.is_open(page) && !self.is_listed(page)
        })
    }

    /// A bound of the gain of a candidate that is not known and was not listed with the earlier pick;
    /// `last` is the gain of the last one that was.
    fn bound(&self, last: i64, touched: &Touched) -> i64 {
        let margin = self.former.margin(touched.page);
        last.saturating_add(touched.gain).saturating_sub(margin)
    }

    /// Whether what is known after the next earlier pick is enough to go on.
    fn can_pass(&self) -> bool {
        let left = self.former.picks.len() - self.passed;
        // After the last pick of a complete selection nothing bounds the others.
        left > 1 || (left == 1 && !self.was_complete())
    }

    pub(super) fn was_complete(&self) -> bool {
        self.former.picks.len() >= self.wanted.seeds as usize
    }

    /// Whether all earlier picks are passed, after which no candidate had a gain.
    fn is_at_end(&self) -> bool {
        self.passed >= self.former.picks.len()
    }

    /// The candidates that were listed with the next earlier pick, itself first, with their gains.
    fn listed(&self) -> impl Iterator<Item = (Option<u32>, i64)> + '_ {
        let of_pick = |pick: &'_ FormerPick| (pick.page, pick.gain);
        let pick = self.former.picks.get(self.passed);
        let next = pick.into_iter().flat_map(|pick| pick.next.iter().copied());
        pick.map(of_pick).into_iter().chain(next)
    }

    fn is_listed(&self, page: u32) -> bool {
        self.listed().any(|(listed, _)| listed == Some(page))
    }

    pub(super) fn touched(&self, page: u32) -> Option<&Touched> {
        self.touched.get(self.place[page as usize] as usize)
    }

    /// The candidates whose gains are known, best first, and a bound of all others that nothing
    /// touched: none is better.
    fn ranked(&self) -> (Vec<Gain>, Gain) {
        let known = self.touched.iter().filter(|touched| touched.is_known);
        let known = known.filter(|touched| self.is_open(touched.page));
        let mut ranked: Vec<Gain> = known.map(|of| (of.gain, Reverse(of.page))).collect();
        // Where the earlier selection ended, no candidate had a gain.
        let mut floor = (0, Reverse(0));
        for (page, gain) in self.listed() {
            // All others were worse than the last one listed, so the next URL bounds them. Without
            // its page, all that can be told of a tie is that it is one.
            floor = (gain, Reverse(page.map_or(0, |page| page.saturating_add(1))));
            let Some(page) = page.filter(|&page| self.is_open(page)) else {
                continue;
            };
            let more = match self.touched(page) {
                Some(touched) if touched.is_known => continue,
                touched => touched.map_or(0, |touched| touched.gain),
            };
            ranked.push((gain + more, Reverse(page)));
        }
        if let Some(margin) = self.nearest.filter(|margin| *margin > 0) {
            floor = (floor.0.saturating_sub(margin), Reverse(0));
        }
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        (ranked, floor)
    }

    /// Searches the candidates that were nearest to being listed, so that longer lists can be told.
    fn search_nearest(&mut self) -> Result<(), Interrupted> {
        let margin = |page: u32| self.former.margin(page);
        let candidates = self.graph.candidates().iter();
        let mut margins: Vec<i64> = candidates.map(|&page| margin(page)).collect();
        margins.sort_unstable();
        self.widened += 1;
        let most = NEXT + self.widened * margins.len() / NEAREST;
        let beyond = margins.get(most).or(margins.last()).copied();
        self.search_up_to(beyond.unwrap_or(0))
    }

    /// Searches the candidates with smaller margins than this; with [`ALL`] every one.
    fn search_up_to(&mut self, margin: i64) -> Result<(), Interrupted> {
        let is_known = |page| self.touched(page).is_some_and(|touched| touched.is_known);
        let candidates = self.graph.candidates().iter().copied();
        let candidates = candidates.filter(|&page| self.is_open(page) && !is_known(page));
        let is_near = |page: &u32| margin == ALL || self.former.margin(*page) < margin;
        let near: Vec<u32> = candidates.filter(is_near).collect();
        self.nearest = Some(margin);
        self.work_out(&near)
    }

    /// Notes how far candidates are from the last one listed with a pick.
    pub(super) fn note_margins(&mut self, last: Gain) {
        let floor = self.listed().last().map_or(0, |(_, gain)| gain);
        let listed: Vec<(u32, i64)> = self
            .listed()
            .filter_map(|(page, gain)| Some((page?, gain)))
            .filter(|&(page, _)| self.is_open(page))
            .collect();
        self.slack = self.slack.max(floor.saturating_sub(last.0));
        let mut margins = std::mem::take(&mut self.margins);
        let mut note = |page: u32, gain: i64| {
            let margin = &mut margins[page as usize];
            *margin = (*margin).min(last.0.saturating_sub(gain).max(0));
        };
        // Gains that are above the last one are listed now.
        let is_below = |page: u32, gain: i64| (gain, Reverse(page)) <= last;
        for touched in &self.touched {
            let (page, gain) = (touched.page, touched.gain);
            if !self.is_open(page) {
                continue;
            }
            if !touched.is_known && !listed.iter().any(|of| of.0 == page) {
                note(page, self.bound(floor, touched));
            } else if touched.is_known && is_below(page, gain) {
                note(page, gain);
            }
        }
        for (page, gain) in listed {
            let more = match self.touched(page) {
                Some(touched) if touched.is_known => continue,
                touched => touched.map_or(0, |touched| touched.gain),
            };
            if is_below(page, gain + more) {
                note(page, gain + more);
            }
        }
        self.margins = margins;
    }

    /// The margins of the candidates, in their order.
    pub(super) fn all_margins(&self) -> Vec<i64> {
        let candidates = self.graph.candidates().iter();
        let margin = |&page: &u32| {
            // While nothing touched it, its distance was no less than that from the earlier lists, which
            // ended by so much sooner at most.
            let before = match self.touched(page) {
                Some(touched) => touched.margin,
                None => self.former.margin(page),
            };
            let before = before.saturating_sub(self.slack).max(0);
            before.min(self.margins[page as usize])
        };
        candidates.map(margin).collect()
    }

    /// The candidates that no pick reaches, with their gains.
    pub(super) fn rest(&mut self) -> Result<Vec<Scored>, Interrupted> {
        let candidates = self.graph.candidates().iter();
        let candidates = candidates.filter(|&&page| !self.reached.has(page));
        let rest: Vec<u32> = candidates.copied().collect();
        let unknown = rest.iter().filter(|&&page| self.last_gain(page).is_none());
        let unknown: Vec<u32> = unknown.copied().collect();
        self.work_out(&unknown)?;
        let gains = rest.into_iter().filter_map(|page| {
            let gain = self.last_gain(page)?;
            Some(scored((gain, Reverse(page))))
        });
        Ok(gains.collect())
    }

    /// The gain of a candidate once all earlier picks are passed; `None` where it is not known.
    fn last_gain(&self, page: u32) -> Option<i64> {
        let touched = self.touched(page);
        if let Some(touched) = touched.filter(|touched| touched.is_known) {
            return Some(touched.gain);
        }
        let rest = &self.former.rest;
        let at = rest.binary_search_by_key(&page, |entry| entry.0).ok()?;
        Some(rest[at].1 + touched.map_or(0, |touched| touched.gain))
    }
}
