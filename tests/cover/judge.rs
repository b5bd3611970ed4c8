//! Computes from first principles what a cover method may pick next: distances between all pages, and
//! sets of pages. Shares no code with the library, and is only for sites of a few pages.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use seedbank_algorithms::cover::{CoverParams, Covered, Method, SiteGraph};

const FAR: u32 = u32::MAX;

/// What a method sees at a pick, from first principles.
pub struct Judge<'a> {
    graph: &'a SiteGraph,
    params: &'a CoverParams,
    /// Distances on the whole site graph.
    whole: Vec<Vec<u32>>,
    alive: BTreeSet<u32>,
    pub picks: BTreeSet<u32>,
    covered: BTreeSet<u32>,
}

impl<'a> Judge<'a> {
    pub fn new(graph: &'a SiteGraph, params: &'a CoverParams) -> Self {
        let alive: BTreeSet<u32> = (0..graph.pages()).collect();
        Self {
            graph,
            params,
            whole: distances(graph, &alive),
            alive,
            picks: BTreeSet::new(),
            covered: BTreeSet::new(),
        }
    }

    pub fn removing(&self) -> bool {
        self.params.method == Method::MaxOut || self.params.covered == Some(Covered::Remove)
    }

    pub fn value(&self, page: u32) -> i64 {
        let spent = !self.removing() && self.covered.contains(&page);
        if spent {
            0
        } else {
            self.graph.values()[page as usize]
        }
    }

    /// The candidates with their scores; where the pick is confined, only those it is confined to.
    pub fn scores(&self) -> Vec<(i64, u32)> {
        let distance = distances(self.graph, &self.alive);
        let depth = match self.params.method {
            Method::Greedy => self.params.hops,
            _ => self.params.depth.unwrap_or(0),
        };
        let score = |page: u32| match self.params.method {
            Method::OutDegree | Method::MaxOut => {
                let targets = self.graph.successors(page).iter();
                i64::try_from(targets.filter(|t| self.alive.contains(t)).count()).unwrap()
            }
            _ => {
                let near = |q: &&u32| distance[page as usize][**q as usize] <= depth;
                self.alive.iter().filter(near).map(|&q| self.value(q)).sum()
            }
        };
        let reaches = |a: u32, b: u32| distance[a as usize][b as usize] != FAR;
        let component = |page: u32| -> BTreeSet<u32> {
            let all = self.alive.iter().copied();
            all.filter(|&q| reaches(page, q) && reaches(q, page))
                .collect()
        };
        let components: BTreeSet<BTreeSet<u32>> =
            self.alive.iter().map(|&page| component(page)).collect();
        let open = |c: &BTreeSet<u32>| !c.is_subset(&self.picks);
        let heaviest = |among: Vec<&BTreeSet<u32>>| -> BTreeSet<u32> {
            let weight = |c: &BTreeSet<u32>| c.iter().map(|&p| self.value(p)).sum::<i64>();
            let best = among
                .into_iter()
                .max_by_key(|c| (weight(c), Reverse(c.first().copied())));
            best.cloned().unwrap_or_default()
        };
        let above = |a: &BTreeSet<u32>, b: &BTreeSet<u32>| matches!((a.first(), b.first()), (Some(&a), Some(&b)) if reaches(a, b));
        let place = match self.params.method {
            Method::MaxScc => heaviest(components.iter().filter(|c| open(c)).collect()),
            Method::RootScc => {
                let root = |c: &BTreeSet<u32>| components.iter().all(|o| o == c || !above(o, c));
                let roots: Vec<_> = components.iter().filter(|c| root(c) && open(c)).collect();
                let below = components
                    .iter()
                    .filter(|c| roots.iter().any(|r| above(r, c)));
                let heavy = heaviest(below.collect());
                heaviest(roots.into_iter().filter(|r| above(r, &heavy)).collect())
            }
            _ => self.alive.clone(),
        };
        let open = place.into_iter().filter(|page| !self.picks.contains(page));
        open.map(|page| (score(page), page)).collect()
    }

    /// What a pick would add on the whole graph: pages for max-out, else their value.
    pub fn adds(&self, page: u32) -> i64 {
        let near = |q: &u32| self.whole[page as usize][*q as usize] <= self.params.hops;
        let pages = (0..self.graph.pages()).filter(|q| near(q) && !self.covered.contains(q));
        let adds = |q: u32| match self.params.method {
            Method::MaxOut => 1,
            _ => self.graph.values()[q as usize],
        };
        pages.map(adds).sum()
    }

    /// What the pick newly covers at each hop, on the whole graph.
    pub fn take(&mut self, page: u32) -> Vec<(BTreeSet<u32>, i64)> {
        let hops = self.params.hops;
        let remaining = distances(self.graph, &self.alive);
        let row = &self.whole[page as usize];
        let adds = (0..)
            .zip(row)
            .filter(|&(q, &d)| d <= hops && !self.covered.contains(&q));
        let reached = adds.map(|(_, &d)| d).max().unwrap_or(0);
        let at = |hop: u32| -> BTreeSet<u32> {
            let all = (0..)
                .zip(row)
                .filter(|&(q, &d)| d == hop && !self.covered.contains(&q));
            all.map(|(q, _)| q).collect()
        };
        let value =
            |pages: &BTreeSet<u32>| pages.iter().map(|&p| self.graph.values()[p as usize]).sum();
        let gains: Vec<(BTreeSet<u32>, i64)> = (0..=reached)
            .map(at)
            .map(|pages| {
                let value = value(&pages);
                (pages, value)
            })
            .collect();
        for (pages, _) in &gains {
            self.covered.extend(pages);
        }
        self.picks.insert(page);
        if self.removing() {
            self.alive
                .retain(|&q| remaining[page as usize][q as usize] > hops);
        }
        gains
    }

    pub fn exhausted(&self) -> bool {
        if self.removing() {
            self.alive.is_empty()
        } else {
            (0..self.graph.pages()).all(|page| self.value(page) == 0)
        }
    }
}

/// All distances over the `alive` pages, by relaxing until nothing changes.
pub fn distances(graph: &SiteGraph, alive: &BTreeSet<u32>) -> Vec<Vec<u32>> {
    let n = graph.pages() as usize;
    let mut distance = vec![vec![FAR; n]; n];
    for &a in alive {
        distance[a as usize][a as usize] = 0;
        for &b in graph.successors(a).iter().filter(|b| alive.contains(b)) {
            distance[a as usize][b as usize] = 1;
        }
    }
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                let through = distance[a][via].saturating_add(distance[via][b]);
                distance[a][b] = distance[a][b].min(through);
            }
        }
    }
    distance
}
