//! The graph of the whole web: all pages, their values, and all links in both directions.

use super::super::graph::SiteGraphError;
use super::super::limits::MAX_PRICE;
use super::super::revisit::{Age, Due};
use super::super::value::UNIT;
use super::constraints::Cap;
use super::contents::{ContentPage, Contents, SharedContent};
use super::share::{Group, WebShare};
use crate::graph::{Csr, number};
use crate::watch::Interrupted;
use std::sync::Arc;

/// All crawled and known pages that are not gone, numbered in byte order of their URLs (the smallest URL is
/// 0), with their values in millionths, the links between them in both directions, and the candidates.
///
/// Or the share of one of several processes: its pages, numbered in the same order, and their links. Links to pages of
/// other processes lead to ghosts, which are numbered behind all pages.
///
/// Memory: 8 bytes per link and 29 per page; with a weight of quality 37 per page; 4 more for each cap, and with sites; 24 for each
/// page that shares its content. A share has 12 more per page, 16 for each ghost and 8 for each mirror.
#[derive(Clone, Debug)]
pub struct WebGraph {
    values: Vec<i64>,
    successors: Csr,
    predecessors: Csr,
    candidates: Vec<u32>,
    pins: Vec<u32>,
    caps: Vec<Cap>,
    /// By page: whether it is known only from links; empty if nothing depends on it.
    known: Vec<bool>,
    /// By page: its value if it were known only from links; empty if that is 0 for all pages.
    values_as_known: Vec<i64>,
    /// By page: what it counts for; `None` if all count whole.
    ages: Option<Arc<[Age]>>,
    /// By page: its site, from 0; `None` if nothing depends on it.
    sites: Option<Arc<[u32]>>,
    /// The pages that share contents; `None` if no process has any.
    contents: Option<Arc<Contents>>,
    /// What is known of the pages of other processes; `None` if this one has all pages.
    share: Option<Arc<WebShare>>,
    totals: Totals,
}

/// Counts over all processes.
#[derive(Clone, Copy, Debug)]
struct Totals {
    pages: u64,
    links: u64,
    candidates: u64,
}

/// Fails unless there is a list of links for every page, to pages or `ghosts` that exist.
fn check_links(
    values: &[i64],
    links: &Csr,
    ghosts: u32,
    may_be_seed: &[bool],
) -> Result<(), SiteGraphError> {
    let pages = values.len();
    let targets = pages + ghosts as usize;
    // `u32::MAX` means "no page".
    if u32::try_from(targets).is_err() {
        return Err(SiteGraphError::TooManyPages(targets));
    }
    let beyond = links.entries().iter().find(|p| **p as usize >= targets);
    if let Some(&page) = beyond.filter(|_| links.len() == pages) {
        return Err(SiteGraphError::NoSuchPage { page, pages });
    }
    if links.len() != pages || may_be_seed.len() != pages {
        let page = number(links.len().max(may_be_seed.len()));
        return Err(SiteGraphError::NoSuchPage { page, pages });
    }
    Ok(())
}

/// Returns a bound on every sum of values and fetch costs of these pages; the largest number if it is larger.
fn worth_bound(values: &[i64]) -> i64 {
    let worth: i128 = values.iter().map(|&value| i128::from(value).abs()).sum();
    let prices = i128::from(MAX_PRICE * UNIT) * values.len() as i128;
    i64::try_from(worth + prices).unwrap_or(i64::MAX)
}

/// Fails unless there is a list of links for every page, to pages that exist, and no sum of values overflows.
fn check(values: &[i64], links: &Csr, may_be_seed: &[bool]) -> Result<(), SiteGraphError> {
    check_links(values, links, 0, may_be_seed)?;
    if worth_bound(values) == i64::MAX {
        return Err(SiteGraphError::ValuesTooLarge);
    }
    Ok(())
}

impl WebGraph {
    /// Builds the graph. `predecessors` has a list for each page: the pages that link to it, ascending,
    /// distinct and without itself. A page is a candidate if `may_be_seed` holds for it and it has links.
    pub fn new(
        values: Vec<i64>,
        predecessors: Csr,
        may_be_seed: &[bool],
    ) -> Result<Self, SiteGraphError> {
        check(&values, &predecessors, may_be_seed)?;
        let successors = predecessors.transpose(values.len());
        Ok(Self::of_links(
            values,
            successors,
            predecessors,
            may_be_seed,
        ))
    }

    /// Builds the graph as [`new`](Self::new) does, from the pages that each page links to.
    pub fn from_successors(
        values: Vec<i64>,
        successors: Csr,
        may_be_seed: &[bool],
    ) -> Result<Self, SiteGraphError> {
        check(&values, &successors, may_be_seed)?;
        let predecessors = successors.transpose(values.len());
        Ok(Self::of_links(
            values,
            successors,
            predecessors,
            may_be_seed,
        ))
    }

    /// Builds the share of a process as [`from_successors`](Self::from_successors) builds a graph. `successors` has a
    /// list for each page of the share: its pages, and ghosts from the number of its pages on. All processes call this
    /// at the same time.
    ///
    /// # Errors
    ///
    /// If another process fails, and as `from_successors`.
    pub fn from_share(
        values: Vec<i64>,
        successors: Csr,
        may_be_seed: &[bool],
        mut share: WebShare,
    ) -> Result<Result<Self, SiteGraphError>, Interrupted> {
        let ghosts = share.ghosts();
        if share.pages() != values.len() {
            let page = number(share.pages().max(values.len()));
            let pages = values.len();
            return Ok(Err(SiteGraphError::NoSuchPage { page, pages }));
        }
        if let Err(error) = check_links(&values, &successors, ghosts, may_be_seed) {
            return Ok(Err(error));
        }
        share.set_largest()?;
        let targets = values.len() + ghosts as usize;
        let predecessors = successors.transpose(targets);
        let bound = worth_bound(&values);
        let mut graph = Self::of_links(values, successors, predecessors, may_be_seed);
        graph.share = Some(Arc::new(share));
        let group = graph.group();
        if group.sum([bound])? == [i64::MAX] {
            return Ok(Err(SiteGraphError::ValuesTooLarge));
        }
        let Totals {
            pages,
            links,
            candidates,
        } = graph.totals;
        let [pages, links, candidates] = group.total([pages, links, candidates])?;
        graph.totals = Totals {
            pages,
            links,
            candidates,
        };
        Ok(Ok(graph))
    }

    /// Builds the graph of links that were checked, in both directions.
    fn of_links(
        values: Vec<i64>,
        successors: Csr,
        predecessors: Csr,
        may_be_seed: &[bool],
    ) -> Self {
        let candidates: Vec<u32> = (0..number(values.len()))
            .filter(|&page| may_be_seed[page as usize] && !successors.list(page).is_empty())
            .collect();
        Self {
            totals: Totals {
                pages: values.len() as u64,
                links: successors.entries().len() as u64,
                candidates: candidates.len() as u64,
            },
            share: None,
            ages: None,
            sites: None,
            contents: None,
            values,
            successors,
            predecessors,
            candidates,
            pins: Vec::new(),
            caps: Vec::new(),
            known: Vec::new(),
            values_as_known: Vec::new(),
        }
    }

    /// Sets the pins, pages that are seeds before any pick, in this order, and the caps, each with a group
    /// for every page. In a share, pins are numbers in the web, of all processes, and a group has the same number in all
    /// of them.
    pub fn with_constraints(
        mut self,
        pins: Vec<u32>,
        caps: Vec<Cap>,
    ) -> Result<Self, SiteGraphError> {
        let pages = self.values.len();
        let all = self.totals.pages;
        let beyond = pins.iter().find(|pin| u64::from(**pin) >= all).copied();
        let short = caps.iter().find(|cap| cap.group.len() != pages);
        if let Some(page) = beyond.or_else(|| short.map(|cap| number(cap.group.len()))) {
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        (self.pins, self.caps) = (pins, caps);
        Ok(self)
    }

    /// Marks the pages that are known only from links. `known` has an entry for each page;
    /// `values_as_known` too, the value that the page would have if it were known only from links, in
    /// millionths and without [`Setting::value_known`](super::Setting::value_known), or it is empty if
    /// that is 0 for all pages.
    #[must_use]
    pub fn with_known(mut self, known: Vec<bool>, values_as_known: Vec<i64>) -> Self {
        (self.known, self.values_as_known) = (known, values_as_known);
        self
    }

    /// Sets the part of its value that each page counts for in a selection, and the times since fetches, by which the places that
    /// picks by gain leave are filled. `ages` has an entry for each page; `None` changes nothing. Settings are tuned with whole
    /// values. In a share, all processes pass it or none does.
    #[must_use]
    pub fn with_ages(mut self, ages: Option<Vec<Age>>) -> Self {
        self.ages = ages.map(Into::into);
        self
    }

    /// Lets each page count for its part, from now on. Called once.
    pub(super) fn apply_ages(&mut self) {
        let ages = self.ages.iter().flat_map(|of| &**of);
        Due::apply(ages.map(|age| age.due), &mut self.values);
    }

    /// Whether pages count for parts of their values.
    pub(super) const fn has_ages(&self) -> bool {
        self.ages.is_some()
    }

    /// What the places that picks by gain leave are filled by, the greatest first: the time since the last fetch and then the
    /// number of links, or the value.
    pub(super) fn fills(&self, page: u32) -> i64 {
        const LINKS: u32 = 20;
        let Some(ages) = &self.ages else {
            return self.values[page as usize];
        };
        let seconds = ages[page as usize].seconds.min(1 << 40);
        let links = u64::from(self.out_degree(page)).min((1 << LINKS) - 1);
        // Below the largest number by the bounds of both.
        i64::try_from(seconds << LINKS | links).unwrap_or(i64::MAX)
    }

    /// Sets the site of each page, which limits of crawls and of seeds need: numbers from 0, the same for all pages of a
    /// site. Without them, seeds have no limit. In a share, other processes may use the same numbers for their sites.
    #[must_use]
    pub fn with_sites(mut self, sites: Vec<u32>) -> Self {
        self.sites = Some(sites.into());
        self
    }

    /// Lets each content count once: of the crawled pages that share one, only the first can be a seed and has a value.
    /// `shared` has these pages, ascending. In a share, all processes call this at the same time.
    ///
    /// # Errors
    ///
    /// If another process fails.
    pub fn with_contents(mut self, shared: &[SharedContent]) -> Result<Self, Interrupted> {
        let copies = shared.iter().filter(|of| of.rank > 0).count() as u64;
        let [copies] = self.group().total([copies])?;
        if copies == 0 {
            return Ok(self);
        }
        let of_page = |&shared: &SharedContent| ContentPage {
            shared,
            value: self.values[shared.page as usize],
            is_candidate: self.candidates.binary_search(&shared.page).is_ok(),
        };
        let pages: Vec<ContentPage> = shared.iter().map(of_page).collect();
        let is_copy = |page: u32| {
            let place = pages.binary_search_by_key(&page, |of| of.shared.page);
            place.is_ok_and(|place| pages[place].shared.rank > 0)
        };
        self.candidates.retain(|&page| !is_copy(page));
        for of in pages.iter().filter(|of| of.shared.rank > 0) {
            self.values[of.shared.page as usize] = 0;
        }
        self.contents = Some(Arc::new(Contents { pages, copies }));
        let own = self.candidates.len() as u64;
        [self.totals.candidates] = self.group().total([own])?;
        Ok(self)
    }

    /// The pages that share contents; `None` if each page counts, or no process has any.
    pub(super) fn contents(&self) -> Option<&Contents> {
        self.contents.as_deref()
    }

    /// The site of each page; empty if they were not set.
    pub(super) fn sites(&self) -> &[u32] {
        self.sites.as_deref().unwrap_or_default()
    }

    /// The site of each page with the most seeds of a site; `None` without a limit, or if sites were not set.
    pub(super) fn site_limit(&self, max_per_site: Option<u32>) -> Option<(&[u32], u32)> {
        self.sites.as_deref().zip(max_per_site)
    }

    /// Whether the sites of pages were set.
    pub(super) const fn has_sites(&self) -> bool {
        self.sites.is_some()
    }

    /// Returns a graph of the same pages with other values and fewer links. `predecessors` has some of the
    /// links of this graph, none of them from pages that are held out. Those become known only from links.
    /// `represents` has an entry for each page that shares its content: whether it now represents it.
    pub(super) fn without(
        &self,
        is_held_out: &[bool],
        represents: &[bool],
        mut values: Vec<i64>,
        predecessors: Csr,
    ) -> Result<Self, Interrupted> {
        let stays = |page: &u32| !is_held_out[*page as usize];
        let is_known = |page: u32| self.is_known(page) || is_held_out[page as usize];
        let mut candidates: Vec<u32> = self.candidates.iter().copied().filter(stays).collect();
        if let Some(contents) = self.contents() {
            candidates.retain(|&page| contents.of_page(page).is_none());
            for (of, &represents) in contents.pages.iter().zip(represents) {
                if represents && of.is_candidate {
                    candidates.push(of.shared.page);
                } else if !represents && stays(&of.shared.page) {
                    values[of.shared.page as usize] = 0;
                }
            }
            candidates.sort_unstable();
        }
        let links = predecessors.entries().len() as u64;
        let group = self.group();
        let [links, count] = group.total([links, candidates.len() as u64])?;
        Ok(Self {
            totals: Totals {
                pages: self.totals.pages,
                links,
                candidates: count,
            },
            share: self.share.clone(),
            ages: None,
            sites: self.sites.clone(),
            // A crawl of the whole web is scored.
            contents: None,
            candidates,
            pins: self.pins.clone(),
            caps: self.caps.clone(),
            known: (0..self.pages()).map(is_known).collect(),
            values_as_known: Vec::new(),
            values,
            successors: predecessors.transpose(is_held_out.len()),
            predecessors,
        })
    }

    /// The processes that have shares of the web.
    pub(super) fn group(&self) -> Group<'_> {
        Group(self.share.as_deref())
    }

    /// The share; `None` if this process has all pages.
    pub(super) fn share(&self) -> Option<&WebShare> {
        self.share.as_deref()
    }

    /// Returns the local number of a page, given its number in the web; `None` if another process has it. Without a
    /// share, the numbers are the same.
    #[must_use]
    pub fn local(&self, number: u32) -> Option<u32> {
        match &self.share {
            None => Some(number),
            Some(share) => share.local(number),
        }
    }

    /// Returns the number in the web of a page, given its local number. Without a share, the numbers are the same.
    #[must_use]
    pub fn number(&self, local: u32) -> u32 {
        match &self.share {
            None => local,
            Some(share) => share.number(local),
        }
    }

    /// The number of links of all processes.
    pub(super) const fn links_in_all(&self) -> u64 {
        self.totals.links
    }

    /// The number of candidates of all processes.
    pub(super) const fn candidates_in_all(&self) -> u64 {
        self.totals.candidates
    }

    /// The value of a page if it were known only from links, in millionths and without
    /// `Setting::value_known`.
    pub(super) fn value_as_known(&self, page: u32) -> i64 {
        self.values_as_known
            .get(page as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Whether a page is known only from links.
    #[must_use]
    pub fn is_known(&self, page: u32) -> bool {
        self.known.get(page as usize).copied().unwrap_or(false)
    }

    /// Adds a value to every page that is known only from links.
    pub(super) fn add_to_known(&mut self, value: i64) {
        if value == 0 {
            return;
        }
        for (page_value, known) in self.values.iter_mut().zip(&self.known) {
            if *known {
                *page_value += value;
            }
        }
    }

    /// The pages that are seeds before any pick, in order.
    #[must_use]
    pub fn pins(&self) -> &[u32] {
        &self.pins
    }

    /// The limits on the number of seeds in groups of pages.
    #[must_use]
    pub fn caps(&self) -> &[Cap] {
        &self.caps
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        number(self.values.len())
    }

    /// Returns the number of links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.successors.entries().len()
    }

    /// The value of each page, in millionths.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The pages that can be picked, ascending.
    #[must_use]
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }

    /// The pages that each page links to, ascending.
    #[must_use]
    pub fn successors(&self) -> &Csr {
        &self.successors
    }

    /// The pages that link to each page, ascending.
    #[must_use]
    pub fn predecessors(&self) -> &Csr {
        &self.predecessors
    }

    /// Returns the number of pages that a page links to.
    #[must_use]
    pub fn out_degree(&self, page: u32) -> u32 {
        number(self.successors.list(page).len())
    }
}
