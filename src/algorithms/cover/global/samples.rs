//! Small webs for tests.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::contents::SharedContent;
use super::graph::WebGraph;
use crate::cover::value::UNIT;
use crate::graph::Csr;

/// A small web as sets.
#[derive(Clone, Debug)]
pub(super) struct SmallWeb {
    pub(super) values: Vec<i64>,
    /// Links by page, distinct, ascending, none to itself.
    pub(super) links: Vec<BTreeSet<u32>>,
    pub(super) may_be_seed: Vec<bool>,
}

impl SmallWeb {
    pub(super) fn graph(&self) -> WebGraph {
        let mut sources = vec![Vec::new(); self.links.len()];
        for (page, links) in (0..).zip(&self.links) {
            for &to in links {
                sources[to as usize].push(page);
            }
        }
        let mut predecessors = Csr::default();
        for sources in sources {
            predecessors.push(sources);
        }
        WebGraph::new(self.values.clone(), predecessors, &self.may_be_seed).unwrap()
    }

    pub(super) fn candidates(&self) -> Vec<u32> {
        let pages = (0..).take(self.links.len());
        pages
            .filter(|&page| {
                self.may_be_seed[page as usize] && !self.links[page as usize].is_empty()
            })
            .collect()
    }

    /// The pages at each distance from `from`, over the pages in `alive`.
    pub(super) fn levels(
        &self,
        from: &[u32],
        hops: u32,
        alive: &BTreeSet<u32>,
    ) -> Vec<BTreeSet<u32>> {
        let mut met: BTreeSet<u32> = from.iter().copied().collect();
        let mut levels = vec![met.clone()];
        for _ in 0..hops {
            let last = levels.last().unwrap();
            let next = last.iter().flat_map(|&page| &self.links[page as usize]);
            let next: BTreeSet<u32> = next
                .filter(|page| alive.contains(page) && !met.contains(page))
                .copied()
                .collect();
            if next.is_empty() {
                break;
            }
            met.extend(&next);
            levels.push(next);
        }
        levels
    }

    pub(super) fn all(&self) -> BTreeSet<u32> {
        (0..).take(self.links.len()).collect()
    }

    pub(super) fn within(&self, from: u32, hops: u32) -> BTreeSet<u32> {
        let levels = self.levels(&[from], hops, &self.all());
        levels.into_iter().flatten().collect()
    }

    pub(super) fn worth<'a>(&self, pages: impl IntoIterator<Item = &'a u32>) -> i64 {
        pages.into_iter().map(|&p| self.values[p as usize]).sum()
    }

    /// The pages that a crawl fetches.
    pub(super) fn crawl(&self, seeds: &[u32], budget: usize) -> Vec<u32> {
        let fitting = &seeds[..seeds.len().min(budget)];
        let levels = self.levels(fitting, u32::MAX, &self.all());
        let pages = levels.into_iter().flatten();
        pages.take(budget).collect()
    }
}

/// Up to 24 pages with values that are often tied and sometimes negative, some of which are no
/// candidates; links favour a few pages, and circles are common.
pub(super) fn web() -> impl Strategy<Value = SmallWeb> {
    webs(2..24)
}

/// Webs like those of [`web`], with numbers of pages in this range.
pub(super) fn webs(pages: std::ops::Range<u32>) -> impl Strategy<Value = SmallWeb> {
    let value = prop_oneof![4 => Just(UNIT), 3 => Just(0), 1 => Just(UNIT / 3), 2 => -9_i64..9];
    pages.prop_flat_map(move |pages| {
        let link = prop_oneof![
            2 => (0..pages, 0..pages),
            1 => (0..pages, 0..pages.min(4)),
            1 => (0..pages.min(4), 0..pages),
        ];
        (
            proptest::collection::vec(value.clone(), pages as usize),
            proptest::collection::vec(link, 0..70),
            proptest::collection::vec(
                prop_oneof![4 => Just(true), 1 => Just(false)],
                pages as usize,
            ),
        )
            .prop_map(|(values, arcs, may_be_seed)| {
                let mut links = vec![BTreeSet::new(); values.len()];
                for (from, to) in arcs.into_iter().filter(|(from, to)| from != to) {
                    links[from as usize].insert(to);
                }
                SmallWeb {
                    values,
                    links,
                    may_be_seed,
                }
            })
    })
}

/// A ring in which every page also links to the next few.
pub(super) fn ring(pages: u32) -> SmallWeb {
    let links = |page: u32| (1..=3).map(|step| (page + step) % pages).collect();
    SmallWeb {
        values: vec![UNIT; pages as usize],
        links: (0..pages).map(links).collect(),
        may_be_seed: vec![true; pages as usize],
    }
}

/// A web of 9,000 pages, most of which link to some of their neighbours, to a page of a few hundred,
/// and to one that many link to.
pub(super) fn large() -> WebGraph {
    let pages = 9000_u32;
    let mut next = 12345_u32;
    let mut draw = |below: u32| {
        next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (next >> 8) % below
    };
    let mut links = vec![BTreeSet::new(); pages as usize];
    // One in three is only linked to.
    for page in (0..pages).filter(|page| page % 3 > 0) {
        for _ in 0..draw(6) {
            links[page as usize].insert((page + 1 + draw(40)) % pages);
        }
        let middle = draw(300);
        let small = draw(20) * draw(20);
        links[page as usize].extend([middle, small]);
        links[page as usize].remove(&page);
    }
    let may_be_seed: Vec<bool> = (0..pages).map(|page| page % 3 > 0).collect();
    let value = |&is: &bool| if is { UNIT } else { 0 };
    let plain = SmallWeb {
        values: may_be_seed.iter().map(value).collect(),
        links,
        may_be_seed,
    };
    plain.graph()
}

/// The contents of pages by their labels; `None` for a content of its own.
pub(super) fn labelled(pages: usize) -> impl Strategy<Value = Vec<Option<u32>>> {
    let label = proptest::option::weighted(0.6, 0_u32..6);
    proptest::collection::vec(label, pages)
}

/// The pages that share labels. The first page of a label represents it.
pub(super) fn shared_of(labels: &[Option<u32>]) -> Vec<SharedContent> {
    let mut shared = Vec::new();
    for (page, label) in (0..).zip(labels).filter(|of| of.1.is_some()) {
        let others: Vec<u32> = (0..)
            .zip(labels)
            .filter(|of| of.1 == label)
            .map(|of| of.0)
            .collect();
        let rank = others.iter().position(|other| *other == page).unwrap();
        if others.len() > 1 {
            shared.push(SharedContent {
                page,
                content: others[0],
                rank: u32::try_from(rank).unwrap(),
            });
        }
    }
    shared
}
