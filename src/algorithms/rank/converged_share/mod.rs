//! The principal singular pair of the component with the largest sigma, in a graph that several processes share.
//!
//! Components with up to a given number of pages are gathered in process 0, which ranks them as [`Converged`] does: a region
//! that fits into one process is solved faster there, and its ties are decided by links and symmetry. Larger components stay
//! where they are. All processes solve what remains of these as one region, with the solver of a single region: it may be
//! disconnected, which has no effect as long as its principal pair is clearly separated from the second. If the pair is not,
//! components of the remaining links that have become small enough are gathered, too; a doubt is left if there are none.
//!
//! Sums over the region are made by slice, so that results do not depend on the number of processes.

mod place;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::{gather, message_of_first};
use crate::graph::{HubGraph, HubShare, NONE, OfClasses, Remaining, Role, Touched, WeakComponents};
use crate::watch::{Interrupted, Watch};

use super::converged::Converged;
use super::principal::{Doubt, Principal, TIED};
use super::ranker::{Next, Ranker};
use super::region::Region;
use super::region_share::RegionShare;
use super::solve::{Accuracy, EXACT, FINE, solve};
use super::start_vectors::StartVectors;
use super::work::Work;
use place::Place;
pub(crate) use place::{decode_doubt, encode_doubt};

/// Pairs nearer to each other than this may be in two components of the remaining links.
const MIN_GAP: f64 = 1e-5;

/// Source of the next core in a graph that several processes share, and why it is not certain that it comes first; `None` if
/// it is.
#[derive(Clone, Debug)]
pub(crate) enum SharedNext {
    /// A place in the components that processes share, with scores of the own classes of each.
    Shared(Arc<Principal>, Option<Doubt>),
    /// A place that process 0 has gathered.
    Gathered(Option<Doubt>),
}

/// Takes exact cores from a graph that several processes share. All of them call its functions at the same time.
pub(crate) struct ConvergedShare {
    share: Arc<HubShare>,
    /// The largest number of pages of a component that is gathered.
    max_gathered: u64,
    /// Whether local classes are in components that processes share.
    is_shared: OfClasses,
    /// The whole graph; classes of gathered components have no pages.
    region: Region,
    /// Upper bound on the sigma of the region.
    bound: f64,
    starts: StartVectors,
    solved: Option<Solved>,
    /// Whether all components that fit are gathered.
    is_split: bool,
    /// In process 0.
    gathered: Option<Gathered>,
    /// The number of times that components were gathered.
    gatherings: u32,
    /// The work of what was gathered before.
    gathered_work: Work,
    /// The same in all processes.
    work: Work,
}

/// The principal pair of the region.
struct Solved {
    principal: Arc<Principal>,
    /// The smallest page among its authorities with the best score.
    best: u32,
}

/// The components that process 0 ranks.
pub(crate) struct Gathered {
    pub(crate) graph: HubGraph,
    pub(crate) left: Remaining,
    pub(crate) ranker: Converged,
    /// What comes next; `None` if that is not known.
    next: Option<Next>,
}

impl ConvergedShare {
    /// Returns a ranker of the whole graph. Components with up to `max_gathered` pages are ranked in process 0; pages in both
    /// roles count twice.
    pub(crate) fn new(
        share: &Arc<HubShare>,
        left: &Remaining,
        max_gathered: u64,
    ) -> Result<Self, Interrupted> {
        let region = Region::of_share(RegionShare::new(Arc::clone(share))?, left);
        let all = |role: Role| vec![true; share.side(role).len()];
        let mut ranker = Self {
            is_shared: [all(Role::Hub), all(Role::Authority)],
            share: Arc::clone(share),
            max_gathered,
            region,
            bound: f64::INFINITY,
            starts: StartVectors::default(),
            solved: None,
            is_split: false,
            gathered: None,
            gatherings: 0,
            gathered_work: Work::default(),
            work: Work::default(),
        };
        ranker.split(left, true)?;
        Ok(ranker)
    }

    /// Returns what process 0 has gathered; `None` in other processes.
    pub(crate) const fn gathered(&mut self) -> Option<&mut Gathered> {
        self.gathered.as_mut()
    }

    /// Returns the number of times that components were gathered.
    pub(crate) const fn gatherings(&self) -> u32 {
        self.gatherings
    }

    /// Gathers the components of the remaining links that fit into one process, for the first time or again. Returns whether
    /// any of them was shared.
    fn split(&mut self, left: &Remaining, is_first: bool) -> Result<bool, Interrupted> {
        self.is_split = true;
        let share = &self.share;
        let components = share.linked_components(left)?;
        let is_shared = share.in_large_components(left, &components, self.max_gathered)?;
        drop(components);
        let [_, authorities] = &is_shared;
        let own = (0..self.region.own(Role::Authority)).filter(|at| self.region.is_linked(*at));
        let moved = own.filter(|at| !authorities[*at]).count();
        if share.sum([moved as u64])? == [0] && !is_first {
            return Ok(false);
        }
        self.gatherings += 1;
        if let Some(before) = self.gathered.take() {
            self.gathered_work += before.ranker.work();
        }
        let graph = share.gather(left, &is_shared)?;
        if share.communicator().process() == 0 {
            let components = WeakComponents::new(&graph, &[]);
            self.gathered = Some(Gathered {
                left: Remaining::all(&graph),
                ranker: Converged::new(&graph, &components, BTreeMap::new()),
                graph,
                next: None,
            });
        }
        self.is_shared = is_shared;
        let [hubs, authorities] = &self.is_shared;
        self.region.restrict(
            left,
            |class| hubs[class as usize],
            |class| authorities[class as usize],
            &mut Work::default(),
        );
        if !self.region.has_links()? {
            self.bound = 0.0;
        }
        Ok(true)
    }

    /// Returns the source of the next core; `None` if no link is left.
    pub(crate) fn next(
        &mut self,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<SharedNext>, Interrupted> {
        loop {
            watch.proceed()?;
            let gathered = self.first_gathered(watch)?;
            let limit = gathered.map_or(0.0, |first| first.sigma * (1.0 - 2.0 * TIED));
            let Some(Solved { principal, best }) = &self.solved else {
                if self.bound > 0.0 && self.bound >= limit {
                    self.solve(left, watch)?;
                    continue;
                }
                return Ok(gathered.map(|_| SharedNext::Gathered(None)));
            };
            let shared = Place::new(principal, principal.sigma, *best);
            let principal = Arc::clone(principal);
            let Some(gathered) = gathered else {
                return Ok(Some(SharedNext::Shared(principal, None)));
            };
            if gathered.is_near(&shared) {
                // Compare them as exactly as possible.
                if !principal.is_exact {
                    self.tighten(left, watch)?;
                    continue;
                }
                if gathered.is_loose {
                    self.tighten_gathered(watch)?;
                    continue;
                }
            }
            if gathered.is_before(&shared) {
                return Ok(Some(SharedNext::Gathered(gathered.doubt_beside(&shared))));
            }
            // Any of the gathered places may be proved too little.
            let doubt = self.doubt_of_gathered(shared.sigma)?;
            let doubt = doubt.or(shared.doubt_beside(&gathered));
            return Ok(Some(SharedNext::Shared(principal, doubt)));
        }
    }

    /// Solves the region, and gathers parts of it if no pair is clearly the first.
    fn solve(&mut self, left: &Remaining, watch: &dyn Watch) -> Result<(), Interrupted> {
        let starts = std::mem::take(&mut self.starts);
        self.solve_with(left, starts, FINE, watch)?;
        let principal = self.solved.as_ref().map(|solved| &solved.principal);
        let is_unclear = principal.is_some_and(|of| of.doubt.is_some() || of.gap < MIN_GAP);
        if is_unclear && !self.is_split && self.split(left, false)? {
            self.forget();
        }
        Ok(())
    }

    fn solve_with(
        &mut self,
        left: &Remaining,
        starts: StartVectors,
        accuracy: Accuracy,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let region = self.region.clone();
        let principal = solve(region, starts, accuracy, &mut self.work, watch)?;
        self.solved = Some(Solved {
            best: self.best_authority(left, &principal)?,
            principal: Arc::new(principal),
        });
        Ok(())
    }

    /// Removes the solution. Its bound and its vectors are kept for the next one.
    fn forget(&mut self) {
        if let Some(Solved { principal, .. }) = self.solved.take() {
            self.bound = self.bound.min(principal.upper);
            let mut vectors = principal.ritz_vectors.vectors().to_vec();
            for vector in &mut vectors {
                self.region.mask(vector);
            }
            self.starts = StartVectors::Authorities(vectors);
        }
    }

    /// Solves the region again, as exactly as possible.
    fn tighten(&mut self, left: &Remaining, watch: &dyn Watch) -> Result<(), Interrupted> {
        let Some(Solved { principal, .. }) = self.solved.take() else {
            return Ok(());
        };
        let others = principal.ritz_vectors.vectors().iter().skip(1).take(2);
        let starts = std::iter::once(&principal.authority_scores).chain(others);
        let starts = StartVectors::Authorities(starts.cloned().collect());
        drop(principal);
        self.solve_with(left, starts, EXACT, watch)
    }

    /// Returns what comes next once the place in the shared components is as accurate as possible.
    pub(crate) fn refine(
        &mut self,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<SharedNext>, Interrupted> {
        self.tighten(left, watch)?;
        self.next(left, watch)
    }

    /// Returns in all processes the first of the places that process 0 has gathered.
    fn first_gathered(&mut self, watch: &dyn Watch) -> Result<Option<Place>, Interrupted> {
        let mut message = Encoder::default();
        if let Some(gathered) = &mut self.gathered
            && let Some(Next::Solved(principal)) = gathered.next(watch)?
        {
            let best = principal.best_authority(&gathered.graph, &gathered.left);
            let top = gathered.ranker.top().unwrap_or(principal.sigma);
            message = Place::new(&principal, top, best).encode();
        }
        let message = message_of_first(self.share.communicator(), || message)?;
        if message.is_empty() {
            return Ok(None);
        }
        let place = Place::decode(&mut Decoder(&message));
        place.map(Some).ok_or_else(|| self.share.malformed())
    }

    /// Returns in all processes why it is uncertain that a sigma comes before those of all gathered places.
    fn doubt_of_gathered(&self, sigma: f64) -> Result<Option<Doubt>, Interrupted> {
        let mut message = Encoder::default();
        if let Some(gathered) = &self.gathered {
            encode_doubt(gathered.ranker.doubt(NONE, sigma), &mut message);
        }
        let message = message_of_first(self.share.communicator(), || message)?;
        decode_doubt(&mut Decoder(&message)).ok_or_else(|| self.share.malformed())
    }

    fn tighten_gathered(&mut self, watch: &dyn Watch) -> Result<(), Interrupted> {
        if let Some(gathered) = &mut self.gathered {
            let Gathered { graph, left, .. } = gathered;
            gathered.next = None;
            gathered.ranker.tighten_first(graph, left, watch)?;
        }
        Ok(())
    }

    /// Returns the smallest page among the authorities of all processes that are tied for the best score.
    fn best_authority(&self, left: &Remaining, principal: &Principal) -> Result<u32, Interrupted> {
        let scores = &principal.authority_scores;
        let top = self.region.largest(Role::Authority, |at| scores[at])?;
        let limit = top * (1.0 - TIED);
        let tied = (0..).zip(scores).filter(|(_, score)| **score >= limit);
        let graph = self.share.graph();
        let pages = tied.filter_map(|(class, _)| left.next_authority_page(graph, class, None));
        let mut message = Encoder::default();
        message.number(pages.min().unwrap_or(NONE).into());
        let mut best = NONE;
        for message in gather(self.share.communicator(), message)? {
            let page = Decoder(&message).index();
            best = best.min(page.ok_or_else(|| self.share.malformed())?);
        }
        Ok(best)
    }

    /// Must be called after pages were removed in all processes. `touched` are the local classes that lost some, and `left`
    /// what remains.
    pub(crate) fn pages_removed(
        &mut self,
        left: &Remaining,
        touched: &Touched,
        pages: impl IntoIterator<Item = u32>,
    ) -> Result<(), Interrupted> {
        if let Some(gathered) = &mut self.gathered {
            let Gathered { graph, left, .. } = gathered;
            let touched = left.remove(graph, pages);
            if touched != Touched::default() {
                gathered.next = None;
                gathered.ranker.pages_removed(graph, left, &touched);
            }
        }
        let [hubs, authorities] = &self.is_shared;
        let is_shared = |of_role: &[bool], classes: &[u32]| -> Vec<u32> {
            let classes = classes.iter().copied();
            classes.filter(|class| of_role[*class as usize]).collect()
        };
        let touched = Touched {
            hubs: is_shared(hubs, &touched.hubs),
            authorities: is_shared(authorities, &touched.authorities),
        };
        let is_touched = touched != Touched::default();
        if self.share.sum([is_touched.into()])? != [0] {
            self.region.update_pages(left, &touched);
            self.is_split = false;
            self.forget();
            if !self.region.has_links()? {
                self.bound = 0.0;
            }
        }
        Ok(())
    }

    /// Returns the work of this process: process 0 also has that of all together.
    pub(crate) fn work(&self) -> Work {
        let mut work = self.gathered_work;
        if let Some(gathered) = &self.gathered {
            work += self.work;
            work += gathered.ranker.work();
        }
        work
    }
}

impl Gathered {
    /// Returns what comes next.
    pub(crate) fn next(&mut self, watch: &dyn Watch) -> Result<Option<Next>, Interrupted> {
        if self.next.is_none() {
            self.next = self.ranker.next(&self.graph, &self.left, watch)?;
        }
        Ok(self.next.clone())
    }

    /// Returns what comes next, and forgets it, so that it can be refined.
    pub(crate) fn take_next(&mut self, watch: &dyn Watch) -> Result<Option<Next>, Interrupted> {
        let next = self.next(watch)?;
        self.next = None;
        Ok(next)
    }
}
