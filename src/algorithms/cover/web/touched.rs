//! How candidates are found whose gains may be others than in an earlier selection, and how their
//! gains follow the picks.

use std::collections::BTreeSet;

use super::before::{Before, Changes};
use super::follow::Follow;
use super::gains::{Sum, Touched};
use super::pairs::Pool;
use crate::graph::{NONE, number};
use crate::watch::Interrupted;

/// From how many candidates it is searched to learn what searching from all of them takes.
const SAMPLE: usize = 128;

impl Follow<'_> {
    /// Finds the candidates whose gains may be others before any pick, and by how much; `false` where
    /// that would take more than `most` page visits, by a sample.
    pub(super) fn touch_changes(&mut self, most: u64) -> Result<bool, Interrupted> {
        let (then, links, new) = match &self.former.changes {
            Changes::Unknown { revalued, relinked } => {
                let changed = revalued.iter().chain(relinked);
                let changed = changed.filter(|&&page| self.is_candidate[page as usize]);
                let changed: BTreeSet<u32> = changed.copied().collect();
                if self.visits_of_working_out(changed.len()) > most {
                    return Ok(false);
                }
                let mut near = self.near(revalued, self.depth);
                // Other links of a page lead to other pages one hop further on.
                near.extend(self.near(relinked, self.depth.saturating_sub(1)));
                near.sort_unstable();
                near.dedup();
                let fits = self.visits_of_working_out(near.len()) <= most;
                if fits {
                    self.work_out(&near)?;
                }
                return Ok(fits);
            }
            Changes::Known { values, links, new } => (values, links, new),
        };
        let mut new = new.clone();
        new.retain(|&page| self.is_candidate[page as usize]);
        new.sort_unstable();
        new.dedup();
        let today = then.iter().filter(|of| of.0 < self.graph.pages());
        let values: Vec<(u32, i64)> = today.copied().collect();
        let visits = self.visits_of_working_out(new.len() + values.len());
        let Some(most) = most.checked_sub(visits) else {
            return Ok(false);
        };
        let price = self.wanted.price;
        let before = Before::new(self.graph, self.rounds.len(), then, links, price);
        let mut near = Vec::new();
        if let Some(hops) = self.depth.checked_sub(1) {
            let relinked: Vec<u32> = before.relinked().collect();
            near = self.near(&relinked, hops);
            near.retain(|page| new.binary_search(page).is_err());
            near.sort_unstable();
        }
        let pool = Pool::new(before.pages());
        if self.visits_of_pairs(&before, &near, &pool, most)? > most {
            return Ok(false);
        }
        self.work_out(&new)?;
        // They were none that could have been listed.
        for touched in &mut self.touched {
            touched.margin = i64::MAX;
        }
        self.find_pairs(&before, &near, &pool)?;
        self.revalue(&values)?;
        Ok(true)
    }

    /// What finding the pairs of these candidates would take, by a sample; 0 where they are few, or
    /// any number of visits will do.
    fn visits_of_pairs(
        &mut self,
        before: &Before<'_>,
        near: &[u32],
        pool: &Pool,
        most: u64,
    ) -> Result<u64, Interrupted> {
        let step = near.len().div_ceil(SAMPLE);
        if step <= 1 || most == u64::MAX {
            return Ok(0);
        }
        let sample: Vec<u32> = near.iter().step_by(step).copied().collect();
        let depth = self.depth;
        let visits = self.balls.each(&sample, self.watch, |_, part| {
            pool.with(|pairs| {
                let of_page = |&page: &u32| pairs.differing(before, page, depth, |_, _| ());
                part.iter().map(of_page).sum::<u64>()
            })
        })?;
        let visits: u64 = visits.into_iter().sum();
        self.visits += visits;
        Ok(visits.saturating_mul(step as u64))
    }

    /// Finds what came within reach of these candidates and what left it.
    fn find_pairs(
        &mut self,
        before: &Before<'_>,
        near: &[u32],
        pool: &Pool,
    ) -> Result<(), Interrupted> {
        let (depth, rounds, former) = (self.depth, &self.rounds, self.former);
        let parts = self.balls.each(near, self.watch, |_, part| {
            pool.with(|pairs| {
                let mut visits = 0;
                let mut found = Vec::new();
                for &page in part {
                    let mut sum = Sum::default();
                    visits += pairs.differing(before, page, depth, |met, is_now| {
                        let worth = before.worth(met);
                        sum.add(if is_now { worth } else { -worth }, rounds[met as usize]);
                    });
                    let touched = sum.touched(page, false, former.margin(page));
                    if touched.gain != 0 || !touched.later.is_empty() {
                        found.push(touched);
                    }
                }
                (found, visits)
            })
        })?;
        self.note(parts);
        Ok(())
    }

    /// Gives what pages are worth more now to all that have them within reach.
    fn revalue(&mut self, values: &[(u32, i64)]) -> Result<(), Interrupted> {
        for &(page, then) in values {
            self.watch.proceed()?;
            let more = self.graph.values()[page as usize] - then;
            // A search that knew the gain took the value of today.
            self.give(page, more, false);
        }
        Ok(())
    }

    /// Takes what a page is worth off the gains of all that have it within reach, now and not when the
    /// pick is passed that it was reached by.
    pub(super) fn take_off(&mut self, page: u32) {
        self.give(page, -self.worth(page), true);
    }

    /// Gives what a page is worth back to the gains of all that have it within reach: the pick that it
    /// was reached by is passed, and it is not reached.
    pub(super) fn give_back(&mut self, page: u32) {
        self.rounds[page as usize] = NONE;
        self.give(page, self.worth(page), true);
    }

    fn worth(&self, page: u32) -> i64 {
        self.graph.values()[page as usize] - self.wanted.price
    }

    /// Adds to the gains of all candidates that have a page within reach, until the pick is passed that
    /// the page was reached by; with `to_known` also to gains that are known.
    fn give(&mut self, page: u32, worth: i64, to_known: bool) {
        if worth == 0 {
            return;
        }
        let Self {
            graph,
            former,
            depth,
            touched,
            place,
            is_candidate,
            balls,
            ..
        } = self;
        let round = self.rounds[page as usize];
        self.visits += balls.with(|ball| {
            ball.levels(graph.predecessors(), page, *depth, |level| {
                let candidates = level.pages.iter();
                for &source in candidates.filter(|&&page| is_candidate[page as usize]) {
                    let place = &mut place[source as usize];
                    if *place == NONE {
                        *place = number(touched.len());
                        let margin = former.margin(source);
                        touched.push(Sum::default().touched(source, false, margin));
                    }
                    let touched = &mut touched[*place as usize];
                    if to_known || !touched.is_known {
                        touched.gain += worth;
                        if round != NONE {
                            touched.add_later(round, worth);
                        }
                    }
                }
            })
        });
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

    /// What a page would add to the picks, by a search.
    pub(super) fn gain_left(&mut self, page: u32) -> i64 {
        let (graph, price, reached) = (self.graph, self.wanted.price, &self.reached);
        let mut gain = 0;
        self.visits += self.balls.with(|ball| {
            ball.levels(graph.successors(), page, self.depth, |level| {
                let left = level.pages.iter().filter(|&&page| !reached.has(page));
                gain += left
                    .map(|&page| graph.values()[page as usize] - price)
                    .sum::<i64>();
            })
        });
        gain
    }

    /// Works out the gains of candidates as they are now.
    pub(super) fn work_out(&mut self, candidates: &[u32]) -> Result<(), Interrupted> {
        let (graph, depth, price) = (self.graph, self.depth, self.wanted.price);
        let (rounds, reached, former) = (&self.rounds, &self.reached, self.former);
        let parts = self.balls.each(candidates, self.watch, |ball, part| {
            let mut visits = 0;
            let mut found = Vec::with_capacity(part.len());
            for &page in part {
                let mut sum = Sum::default();
                visits += ball.levels(graph.successors(), page, depth, |level| {
                    for &met in level.pages.iter().filter(|&&page| !reached.has(page)) {
                        sum.add(graph.values()[met as usize] - price, rounds[met as usize]);
                    }
                });
                found.push(sum.touched(page, true, former.margin(page)));
            }
            (found, visits)
        })?;
        self.note(parts);
        Ok(())
    }

    fn note(&mut self, parts: Vec<(Vec<Touched>, u64)>) {
        for (found, visits) in parts {
            self.visits += visits;
            for touched in found {
                let place = &mut self.place[touched.page as usize];
                if let Some(old) = self.touched.get_mut(*place as usize) {
                    let margin = old.margin;
                    *old = Touched { margin, ..touched };
                } else {
                    *place = number(self.touched.len());
                    self.touched.push(touched);
                }
            }
        }
    }
}
