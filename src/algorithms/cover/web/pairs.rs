//! Which pages came within reach of a candidate, and which left it, between two webs.
//!
//! A search from the candidate goes through both webs at once, to one hop less than it looks: each
//! page is settled for the web in which it is met. What is within reach at the last hop can differ
//! only where a page with other links, or one that was met in one of the webs alone, leads to; of such
//! a page it is looked whether another one that was met links to it. So the last hop, which is most of
//! a search, is not made.

use std::sync::{Mutex, PoisonError};

use super::before::Before;

/// In today's web.
const NOW: u32 = 1;
/// In the earlier one.
const THEN: u32 = 2;
const BOTH: u32 = NOW | THEN;

/// The working memory of one such search: 8 bytes per page of both webs.
pub(super) struct Pairs {
    /// By page: the number of the run that met it last, times four, and in which webs it did.
    met: Vec<u32>,
    /// The same for the pages that are led to at the last hop.
    led_to: Vec<u32>,
    run: u32,
    /// The pages met, in the order of the search; some twice.
    order: Vec<u32>,
    /// With the webs in which they were met at this hop.
    here: Vec<(u32, u32)>,
    next: Vec<(u32, u32)>,
    /// The pages that are led to at the last hop and perhaps in one web alone.
    last: Vec<u32>,
}

/// Working memories for the searches that run at a time.
pub(super) struct Pool {
    pages: usize,
    idle: Mutex<Vec<Pairs>>,
}

impl Pool {
    /// For webs of so many pages together.
    pub(super) fn new(pages: usize) -> Self {
        Self {
            pages,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Runs `work` with a working memory that nobody else uses.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Pairs) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock must be released before the work begins.
        let kept = idle().pop();
        let mut pairs = kept.unwrap_or_else(|| Pairs::new(self.pages));
        let result = work(&mut pairs);
        idle().push(pairs);
        result
    }
}

/// The webs that an entry tells for this run.
const fn webs(entry: u32, run: u32) -> u32 {
    if entry >> 2 == run { entry & BOTH } else { 0 }
}

impl Pairs {
    fn new(pages: usize) -> Self {
        Self {
            met: vec![0; pages],
            led_to: vec![0; pages],
            run: 0,
            order: Vec::new(),
            here: Vec::new(),
            next: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Hands every page that is within `hops` of `from` in one web alone to `each`, with whether that
    /// is today's; pages that were worth nothing are left out. Returns the page visits: pages settled
    /// plus entries of lists scanned.
    pub(super) fn differing(
        &mut self,
        webs: &Before<'_>,
        from: u32,
        hops: u32,
        each: impl FnMut(u32, bool),
    ) -> u64 {
        let Some(hops) = hops.checked_sub(1) else {
            return 0;
        };
        self.run += 1;
        if self.run > u32::MAX >> 2 {
            self.met.fill(0);
            self.led_to.fill(0);
            self.run = 1;
        }
        let visits = self.search(webs, from, hops);
        visits + self.last_hop(webs, hops == 0, each)
    }

    /// Meets the pages within `hops` in either web.
    fn search(&mut self, before: &Before<'_>, from: u32, hops: u32) -> u64 {
        let Self {
            met,
            order,
            here,
            next,
            run,
            ..
        } = self;
        let run = *run;
        order.clear();
        here.clear();
        here.push((from, BOTH));
        met[from as usize] = run << 2 | BOTH;
        order.push(from);
        let mut visits = 1;
        for _ in 0..hops {
            next.clear();
            let mut scan = |list: &[u32], here: u32| {
                visits += list.len() as u64;
                for &page in list {
                    let entry = &mut met[page as usize];
                    let known = webs(*entry, run);
                    let new = here & !known;
                    if new == 0 {
                        continue;
                    }
                    if known == 0 {
                        order.push(page);
                    }
                    *entry = run << 2 | known | new;
                    next.push((page, new));
                    visits += 1;
                }
            };
            for &(page, of) in here.iter() {
                if of == BOTH && before.differs(page) {
                    scan(before.now(page), NOW);
                    scan(before.then(page), THEN);
                } else if of == THEN {
                    scan(before.then(page), THEN);
                } else {
                    scan(before.now(page), of);
                }
            }
            std::mem::swap(here, next);
        }
        visits
    }

    /// Finds the pages that are within one hop more in one web alone. `at_once` says that no page but
    /// the first was met.
    fn last_hop(
        &mut self,
        before: &Before<'_>,
        at_once: bool,
        mut each: impl FnMut(u32, bool),
    ) -> u64 {
        let Self {
            met,
            led_to,
            order,
            last,
            run,
            ..
        } = self;
        let run = *run;
        last.clear();
        let mut visits = 0;
        let mut lead = |page: u32, of: u32| {
            let entry = &mut led_to[page as usize];
            let known = webs(*entry, run);
            if known == 0 {
                last.push(page);
            }
            *entry = run << 2 | known | of;
        };
        for &page in order.iter() {
            match webs(met[page as usize], run) {
                BOTH => {
                    let (came, went) = (before.came(page), before.went(page));
                    visits += (came.len() + went.len()) as u64;
                    for &to in came {
                        lead(to, NOW);
                    }
                    for &to in went {
                        lead(to, THEN);
                    }
                }
                of => {
                    lead(page, of);
                    let links = if of == NOW {
                        before.now(page)
                    } else {
                        before.then(page)
                    };
                    visits += links.len() as u64;
                    for &to in links {
                        lead(to, of);
                    }
                }
            }
        }
        for &page in last.iter() {
            if before.worth(page) == 0 {
                continue;
            }
            let of = webs(led_to[page as usize], run) | webs(met[page as usize], run);
            if of == BOTH {
                continue;
            }
            let is_met = |source: u32, of: u32| webs(met[source as usize], run) & of != 0;
            let other = BOTH & !of;
            let mut is_led_to = false;
            if !at_once {
                for &source in before.sources(page) {
                    visits += 1;
                    if is_met(source, other)
                        && (other == NOW || before.came(source).binary_search(&page).is_err())
                    {
                        is_led_to = true;
                        break;
                    }
                }
                if !is_led_to && other == THEN {
                    for source in before.lost_sources(page) {
                        visits += 1;
                        if is_met(source, THEN) {
                            is_led_to = true;
                            break;
                        }
                    }
                }
            }
            if !is_led_to {
                each(page, of == NOW);
            }
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::cover::web::samples::web;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn pages_differ_that_are_within_reach_in_one_web_alone(
            then in web(),
            changes in proptest::collection::vec(
                (0_u32..24, proptest::collection::btree_set(0_u32..24, 0..4)),
                0..5,
            ),
            hops in 0_u32..5,
        ) {
            let mut now = then.clone();
            let pages = u32::try_from(then.links.len()).unwrap();
            for (page, links) in changes.into_iter().filter(|of| of.0 < pages) {
                let links = links.into_iter().filter(|to| *to < pages && *to != page);
                now.links[page as usize] = links.collect();
            }
            let links = |page: u32| then.links[page as usize].iter().copied().collect();
            let links: Vec<(u32, Vec<u32>)> = (0..pages).map(|page| (page, links(page))).collect();
            // A price that no page is worth, so that every page counts.
            let graph = now.graph();
            let before = Before::new(&graph, pages as usize, &[], &links, 7_654_321);
            let mut pairs = Pairs::new(pages as usize);
            for from in 0..pages {
                let (mut came, mut went) = (BTreeSet::new(), BTreeSet::new());
                pairs.differing(&before, from, hops, |page, is_now| {
                    let of = if is_now { &mut came } else { &mut went };
                    assert!(of.insert(page), "{page} is told twice");
                });
                let (now, then) = (now.within(from, hops), then.within(from, hops));
                prop_assert_eq!(came, &now - &then);
                prop_assert_eq!(went, &then - &now);
            }
        }
    }
}
