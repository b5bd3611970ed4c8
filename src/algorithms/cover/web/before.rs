//! The web as an earlier selection saw it, beside today's: what links and values were.

use super::graph::WebGraph;
use crate::graph::{NONE, number};

/// What differs between the web of an earlier selection and today's. Pages are numbers of today's
/// graph; those that are no pages any more have numbers from [`WebGraph::pages`] on, as far as
/// [`Former::rounds`](super::Former::rounds) goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changes {
    /// What links and values were is known.
    Known {
        /// Pages with another value now, ascending, and all that are no pages any more, each with
        /// its value then, in millionths. Pages that were none then are not here.
        values: Vec<(u32, i64)>,
        /// Pages with other links now, ascending, with their links then, ascending. A page whose
        /// only difference is that a target came or went has other links too.
        links: Vec<(u32, Vec<u32>)>,
        /// Pages that may be candidates now and were not, in any order.
        new: Vec<u32>,
    },
    /// Only where something may differ is known.
    Unknown {
        /// Pages whose value may be another.
        revalued: Vec<u32>,
        /// Pages whose links may be others, or that may be candidates now and were not, or the other
        /// way round. Of new pages nothing need be said: those that link to them are here.
        relinked: Vec<u32>,
    },
}

impl Default for Changes {
    fn default() -> Self {
        Self::Known {
            values: Vec::new(),
            links: Vec::new(),
            new: Vec::new(),
        }
    }
}

/// The links of a page, where they differ.
struct Relinked {
    page: u32,
    then: Vec<u32>,
    /// The links that it has now and had not.
    came: Vec<u32>,
    /// The links that it had and has no more.
    went: Vec<u32>,
}

/// Both webs at once.
///
/// Memory: 12 bytes per page, and 12 for each link of a page whose links differ.
pub(super) struct Before<'a> {
    graph: &'a WebGraph,
    /// By page: its place in `relinked`; [`NONE`] for those with the same links.
    place: Vec<u32>,
    relinked: Vec<Relinked>,
    /// Links that went, each as target and source, ascending.
    went_to: Vec<(u32, u32)>,
    /// By page: what it was worth, less the price; where it was none, what it is worth now.
    worth: Vec<i64>,
}

impl<'a> Before<'a> {
    /// `pages` is the number of pages of both webs together.
    pub(super) fn new(
        graph: &'a WebGraph,
        pages: usize,
        values: &[(u32, i64)],
        links: &[(u32, Vec<u32>)],
        price: i64,
    ) -> Self {
        let mut worth: Vec<i64> = graph.values().iter().map(|value| value - price).collect();
        worth.resize(pages.max(worth.len()), 0);
        for &(page, value) in values {
            if let Some(worth) = worth.get_mut(page as usize) {
                *worth = value - price;
            }
        }
        let mut before = Self {
            graph,
            place: vec![NONE; worth.len()],
            relinked: Vec::with_capacity(links.len()),
            went_to: Vec::new(),
            worth,
        };
        for (page, then) in links {
            let now = before.now(*page);
            let came = now.iter().filter(|to| then.binary_search(to).is_err());
            let went = then.iter().filter(|to| now.binary_search(to).is_err());
            let relinked = Relinked {
                page: *page,
                came: came.copied().collect(),
                went: went.copied().collect(),
                then: then.clone(),
            };
            if relinked.came.is_empty() && relinked.went.is_empty() {
                continue;
            }
            let sources = relinked.went.iter().map(|&to| (to, *page));
            before.went_to.extend(sources);
            if let Some(place) = before.place.get_mut(*page as usize) {
                *place = number(before.relinked.len());
            }
            before.relinked.push(relinked);
        }
        before.went_to.sort_unstable();
        before
    }

    /// How many pages there are in both webs together.
    pub(super) fn pages(&self) -> usize {
        self.place.len()
    }

    /// What a page was worth, less the price.
    pub(super) fn worth(&self, page: u32) -> i64 {
        self.worth[page as usize]
    }

    /// The pages of today's web whose links differ.
    pub(super) fn relinked(&self) -> impl Iterator<Item = u32> + '_ {
        let pages = self.relinked.iter().map(|relinked| relinked.page);
        pages.filter(|page| *page < self.graph.pages())
    }

    fn differing(&self, page: u32) -> Option<&Relinked> {
        self.relinked.get(self.place[page as usize] as usize)
    }

    /// Whether the links of a page differ.
    pub(super) fn differs(&self, page: u32) -> bool {
        self.place[page as usize] != NONE
    }

    /// The links of a page now.
    pub(super) fn now(&self, page: u32) -> &[u32] {
        if page < self.graph.pages() {
            self.graph.successors().list(page)
        } else {
            &[]
        }
    }

    /// The links that a page had.
    pub(super) fn then(&self, page: u32) -> &[u32] {
        self.differing(page)
            .map_or_else(|| self.now(page), |relinked| &relinked.then)
    }

    /// The links of a page that came.
    pub(super) fn came(&self, page: u32) -> &[u32] {
        self.differing(page).map_or(&[], |relinked| &relinked.came)
    }

    /// The links of a page that went.
    pub(super) fn went(&self, page: u32) -> &[u32] {
        self.differing(page).map_or(&[], |relinked| &relinked.went)
    }

    /// The pages that link to this one now.
    pub(super) fn sources(&self, page: u32) -> &[u32] {
        if page < self.graph.pages() {
            self.graph.predecessors().list(page)
        } else {
            &[]
        }
    }

    /// The pages that linked to this one and do so no more.
    pub(super) fn lost_sources(&self, page: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.went_to.partition_point(|link| link.0 < page);
        let links = self.went_to[first..].iter();
        links
            .take_while(move |link| link.0 == page)
            .map(|link| link.1)
    }
}
