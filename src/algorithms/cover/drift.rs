//! How far the weights on a site may be above those of an earlier time, page by page.
//!
//! Let `N_r(p)` be what p reached within r hops, and `N'_r(p)` what it reaches today. A page q that p
//! reaches today within d hops and did not then is reached over a new link; let s be the page that
//! the first such link on a shortest way leaves from, j hops from p. All links up to s are old, so q
//! is in `N'_{d-j}(s)` and was not in `N_{d-j}(s)`. The same holds the other way round for what p no
//! longer reaches. So what changes for p is at most
//!
//! ```text
//! sum over the pages s with other links, j < d hops from p:
//!     positive value of N'_{d-j}(s) without N_{d-j}(s), and negative value of N_{d-j}(s) without N'_{d-j}(s)
//! sum over the pages s worth more than before, j <= d hops from p:  by how much
//! ```
//!
//! The sets are found by searching from the pages s, before and after, 256 at a time; the sums by
//! searching backward from them. Pages s with many links to them change little for much of the site:
//! what they change is granted to every page instead, as long as it is little in all.
//!
//! Where `P_uniq` rises, every page of a site is worth a little more. A value that is not negative
//! rises by no more than its share of the ratio of the two, and so do sums of them.

use super::former::Former;
use super::graph::SiteGraph;
use super::known::Mark;
use super::reach::{Direction, OfSite};
use super::value::PUniq;
use crate::graph::lanes::{Bits, LANES, LaneValues, Pool};

/// A page is much linked if one page or link in this many leads to it.
const MUCH_LINKED: u64 = 128;
/// Where more than one page in so many has other links, a site is selected on anew.
const MUCH_CHANGED: usize = 16;
/// What is granted to every page is at most one part in so many of the weight of the last pick.
const GRANTED: i64 = 256;

/// A ratio of at least 1 by which values that are not negative rise at most.
#[derive(Clone, Copy, Debug)]
struct Rise {
    over: u128,
    under: u128,
}

impl Rise {
    fn new((old, new): (PUniq, PUniq)) -> Self {
        let (over, under) = new.over(old);
        if over > under {
            Self { over, under }
        } else {
            Self { over: 1, under: 1 }
        }
    }

    const fn is_none(self) -> bool {
        self.over == self.under
    }

    /// By how much this may rise at most.
    fn of(self, value: i64) -> i64 {
        if self.is_none() {
            return 0;
        }
        let value = u128::from(value.max(0).unsigned_abs());
        let risen = (value * (self.over - self.under)).div_ceil(self.under);
        i64::try_from(risen).unwrap_or(i64::MAX / 8)
    }
}

/// How far weights may be above those of an earlier time.
#[derive(Debug)]
pub(super) struct Drift {
    /// By page.
    of_pages: Vec<i64>,
    rise: Rise,
    /// The negative value of the site then, as a positive number.
    negative: i64,
    /// What is granted to every page.
    granted: i64,
}

impl Drift {
    /// Bounds of today's weight and positive value of a page, as far as a mark of it tells.
    pub(super) fn of(&self, page: usize, mark: &Mark) -> (i64, i64) {
        let more = self.of_pages[page] + self.granted;
        let risen = self.rise.of(mark.positive);
        let heavier = self.rise.of(mark.weight.saturating_add(self.negative));
        let above = |bound: i64, risen: i64| bound.saturating_add(more).saturating_add(risen);
        let weight = above(mark.weight, heavier.min(risen));
        (weight, above(mark.positive, risen))
    }
}

/// A page that differs, and what it changes for pages that reach it.
struct Source {
    page: u32,
    /// By how much it is worth more.
    more: i64,
    /// By hops left, from 0: what is reached through it now and was not, or the other way round.
    through: Vec<i64>,
}

impl Source {
    fn most(&self) -> i64 {
        self.more + self.through.iter().max().copied().unwrap_or(0)
    }
}

/// Compares a site with what it was; `None` where too much has changed, or sums could overflow. Returns
/// the page visits, too.
pub(super) fn drift(former: &Former, graph: &SiteGraph, depth: u32) -> (Option<Drift>, u64) {
    let old = &former.graph;
    let rise = Rise::new(former.p_uniq);
    let mut visits = 0;
    let mut granted = 0;
    let mut sources = Vec::new();
    let mut relinked = Vec::new();
    for page in 0..graph.pages() {
        let (was, is) = (old.values()[page as usize], graph.values()[page as usize]);
        let mut more = (is - was).max(0);
        if !rise.is_none() {
            // Roundings of the value then, of today's, and of the share of the rise.
            if was >= 0 && more > 0 {
                granted += 3;
                more = (more - 3 - rise.of(was)).max(0);
            } else if more < super::value::UNIT {
                // Of a negative value, the part that rises is not known.
                granted += more;
                more = 0;
            }
        }
        let is_relinked = depth > 0 && old.successors(page) != graph.successors(page);
        if is_relinked {
            relinked.push(sources.len());
        }
        if is_relinked || more > 0 {
            sources.push(Source {
                page,
                more,
                through: Vec::new(),
            });
        }
    }
    if relinked.len() > graph.pages() as usize / MUCH_CHANGED {
        return (None, 0);
    }
    let pools = (Pool::new(graph.pages()), Pool::new(old.pages()));
    for group in relinked.chunks(LANES) {
        let pages: Vec<u32> = group.iter().map(|&at| sources[at].page).collect();
        let (through, made) = changed_reach((old, graph), &pages, depth, (&pools.1, &pools.0));
        visits += made;
        for (&at, through) in group.iter().zip(through) {
            sources[at].through = through;
        }
    }
    sources.retain(|source| source.most() > 0);
    let all: i128 = sources.iter().map(|source| i128::from(source.most())).sum();
    if all > i128::from(i64::MAX / 8) {
        return (None, visits);
    }
    let last = former.weights.last().copied().unwrap_or(0);
    let much = (u64::from(graph.pages()) + graph.links() as u64) / MUCH_LINKED;
    let mut left = last.max(0) / GRANTED;
    sources.sort_by_key(Source::most);
    sources.retain(|source| {
        let is_much_linked = graph.predecessors(source.page).len() as u64 > much;
        let most = source.most();
        if is_much_linked && most <= left {
            left -= most;
            granted += most;
            return false;
        }
        true
    });
    let mut of_pages = vec![0; graph.pages() as usize];
    let (near, far): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(|s| s.more == 0);
    for (sources, hops) in [(near, depth.saturating_sub(1)), (far, depth)] {
        for group in sources.chunks(LANES) {
            visits += spread(graph, group, (hops, depth), &pools.0, &mut of_pages);
        }
    }
    let negative = old.values().iter().map(|value| -value.min(&0)).sum();
    let drift = Drift {
        of_pages,
        rise,
        negative,
        granted,
    };
    (Some(drift), visits)
}

/// For each page what it reaches now within so many hops and did not, in positive value, and what it
/// reached and does not, in negative value; and the page visits.
fn changed_reach(
    (old, new): (&SiteGraph, &SiteGraph),
    pages: &[u32],
    depth: u32,
    pools: (&Pool, &Pool),
) -> (Vec<Vec<i64>>, u64) {
    // By page met: the hop, whether it is met today, the searches.
    let mut met: Vec<(u32, u32, bool, Bits)> = Vec::new();
    let mut visits = 0;
    for (graph, pool, today) in [(old, pools.0, false), (new, pools.1, true)] {
        let alive = vec![true; graph.pages() as usize];
        let links = OfSite(graph, Direction::Forward);
        visits += pool.with(|lanes| {
            lanes.run(&links, &alive, pages, depth, |hop, page, bits| {
                met.push((page, hop, today, bits));
            })
        });
    }
    met.sort_unstable_by_key(|(page, hop, today, _)| (*page, *hop, *today));
    let mut through = vec![vec![0_i64; depth as usize + 1]; pages.len()];
    for of_page in met.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(page, ..)) = of_page.first() else {
            continue;
        };
        let value = |graph: &SiteGraph| graph.values().get(page as usize).copied().unwrap_or(0);
        let (gained, lost) = (value(new).max(0), -value(old).min(0));
        let (mut then, mut today) = (Bits::NONE, Bits::NONE);
        for of_hop in of_page.chunk_by(|a, b| a.1 == b.1) {
            let before = (today.without(then), then.without(today));
            let mut hop = 0;
            for &(_, at, is_today, bits) in of_hop {
                hop = at as usize;
                if is_today { &mut today } else { &mut then }.add(bits);
            }
            let after = (today.without(then), then.without(today));
            for (value, before, after) in [(gained, before.0, after.0), (lost, before.1, after.1)] {
                if value != 0 {
                    after
                        .without(before)
                        .each(|lane| through[lane][hop] += value);
                    before
                        .without(after)
                        .each(|lane| through[lane][hop] -= value);
                }
            }
        }
    }
    for of_page in &mut through {
        for hop in 1..of_page.len() {
            of_page[hop] += of_page[hop - 1];
        }
    }
    (through, visits)
}

/// Adds what pages that differ change to what reaches them; returns the page visits.
fn spread(
    graph: &SiteGraph,
    sources: &[Source],
    (hops, depth): (u32, u32),
    pool: &Pool,
    of_pages: &mut [i64],
) -> u64 {
    let alive = vec![true; graph.pages() as usize];
    let links = OfSite(graph, Direction::Backward);
    let pages: Vec<u32> = sources.iter().map(|source| source.page).collect();
    let of_hops: Vec<LaneValues> = (0..=hops)
        .map(|hop| {
            let left = (depth - hop) as usize;
            let amounts = sources
                .iter()
                .map(|source| source.more + source.through.get(left).copied().unwrap_or(0));
            LaneValues::new(amounts.collect())
        })
        .collect();
    pool.with(|lanes| {
        lanes.run(&links, &alive, &pages, hops, |hop, page, bits| {
            of_pages[page as usize] += of_hops[hop as usize].sum(bits);
        })
    })
}
