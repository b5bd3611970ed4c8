//! Plans in Rust: one type for each goal or method, with the parameters that it has.

use std::fmt;
use std::marker::PhantomData;

use super::kinds::{
    Communities, Cores, Coverage, Discovery, HasBudget, HasCores, HasCovered, HasDepth,
    HasDuplicates, HasFetchCost, HasHops, HasKnown, HasRandom, HasRevisit, HasSeeds, HasSites,
    HasValues, Importance, Kind, Learned, OverWeb, PerSite, SiteMethod, Sites, WebMethod,
};
use super::{
    CoreRule, Covered, Crawls, Duplicates, Hits, Pages, Pick, PlanOptions, Revisit, Share, Slack,
    Value,
};
use crate::engine::policy::{Limit, List};

/// A goal or a method with the parameters that it has, for
/// [`RefreshRequest::with`](crate::engine::RefreshRequest::with).
///
/// `K` is what the plan began with. A parameter that does not belong to it does not exist, so plans that
/// mix parameters of several methods do not compile. Numbers are checked by the refresh.
///
/// Parameters that are not set come from the bank's plan of that name and then, for a new plan, from
/// the goal and the defaults. [`PlanOptions`] has the same parameters as plan files do.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::Plan;
///
/// let plan = Plan::communities().seeds(20).max_per_site(3);
/// let report = bank.refresh(&RefreshRequest::with("groups", plan))?;
/// assert_eq!(report.view.parameters.goal, Some(Goal::Communities));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A seed from each core is not a list for a number of fetches:
///
/// ```compile_fail,E0599
/// seedbank::Plan::communities().budget(2_000);
/// ```
///
/// Nor do seeds for the whole web have a number for each site:
///
/// ```compile_fail,E0599
/// seedbank::Plan::coverage().per_site(2);
/// ```
///
/// And this method exists only on each site:
///
/// ```compile_fail,E0277
/// seedbank::Plan::over_web(seedbank::engine::plan::kinds::MaxScc);
/// ```
#[must_use = "a plan does nothing before a refresh"]
pub struct Plan<K> {
    options: PlanOptions,
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Plan<K> {
    fn clone(&self) -> Self {
        Self {
            options: self.options.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Plan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plan").field(&self.options).finish()
    }
}

impl<K> From<Plan<K>> for PlanOptions {
    fn from(plan: Plan<K>) -> Self {
        plan.options
    }
}

impl Plan<Coverage> {
    /// Begins a plan whose seeds lead a crawl to pages worth having.
    pub fn coverage() -> Self {
        Self::begin()
    }
}

impl Plan<Discovery> {
    /// Begins a plan whose seeds lead a crawl to pages that were not known before.
    pub fn discovery() -> Self {
        Self::begin()
    }
}

impl Plan<Learned> {
    /// Begins a plan whose seeds lead a crawl to the most new links, as expected from past fetches.
    pub fn learned() -> Self {
        Self::begin()
    }
}

impl Plan<Importance> {
    /// Begins a plan whose seeds lead a crawl to pages of high PageRank.
    pub fn importance() -> Self {
        Self::begin()
    }
}

impl Plan<Communities> {
    /// Begins a plan with a seed from every dense group of pages that spans several sites.
    pub fn communities() -> Self {
        Self::begin()
    }
}

impl Plan<Sites> {
    /// Begins a plan whose seeds cover the pages of each site separately.
    pub fn sites() -> Self {
        Self::begin()
    }
}

impl Plan<Cores> {
    /// Begins a plan with the method cores, as published.
    pub fn cores() -> Self {
        Self::begin()
    }
}

impl<M: SiteMethod> Plan<PerSite<M>> {
    /// Begins a plan with a cover method on each site.
    ///
    /// ```
    /// use seedbank::Plan;
    /// use seedbank::engine::plan::kinds::MaxWeight;
    ///
    /// let plan = Plan::on_sites(MaxWeight).per_site(3).depth(2);
    /// ```
    pub fn on_sites(_: M) -> Self {
        Self::begin()
    }
}

impl<M: WebMethod> Plan<OverWeb<M>> {
    /// Begins a plan with a cover method over the whole web.
    pub fn over_web(_: M) -> Self {
        Self::begin()
    }
}

impl<K: Kind> Plan<K> {
    fn begin() -> Self {
        Self {
            options: K::begin(),
            kind: PhantomData,
        }
    }

    /// Limits the number of seeds of a site; [`Limit::None`] removes the limit of the stored plan.
    pub fn max_per_site(mut self, limit: impl Into<Limit>) -> Self {
        self.options.max_per_site = Some(limit.into());
        self
    }

    /// Limits the number of seeds of a registrable domain with its subdomains; [`Limit::None`] removes the
    /// limit of the stored plan.
    pub fn max_per_domain(mut self, limit: impl Into<Limit>) -> Self {
        self.options.max_per_domain = Some(limit.into());
        self
    }

    /// Limits the number of seeds that differ from the plan's previous list; [`Limit::None`] removes the
    /// limit of the stored plan.
    pub fn max_changes(mut self, limit: impl Into<Limit>) -> Self {
        self.options.max_changes = Some(limit.into());
        self
    }
}

/// The crawl that seeds are selected for: its number of fetches, and how parameters are tuned for it.
///
/// ```
/// use seedbank::Plan;
/// use seedbank::engine::plan::Budget;
///
/// let quick = Plan::coverage().budget(Budget::pages(2_000).holdouts(3));
/// let plain = Plan::coverage().budget(2_000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    pages: u64,
    holdouts: Option<u32>,
    tune_visits: Option<u64>,
    crawl: Option<Crawls>,
    no_tune: Option<bool>,
}

impl Budget {
    /// Creates the budget of a crawl that fetches this number of pages.
    #[must_use]
    pub const fn pages(pages: u64) -> Self {
        Self {
            pages,
            holdouts: None,
            tune_visits: None,
            crawl: None,
            no_tune: None,
        }
    }

    /// Sets the number of times that tuning holds out a random tenth of the crawled pages; 0 compares
    /// settings by the pages that they are selected for.
    #[must_use]
    pub const fn holdouts(mut self, draws: u32) -> Self {
        self.holdouts = Some(draws);
        self
    }

    /// Sets the maximum number of page visits of tuning.
    #[must_use]
    pub const fn tune_visits(mut self, visits: u64) -> Self {
        self.tune_visits = Some(visits);
        self
    }

    /// Keeps what was tuned, however the bank grows or shrinks.
    #[must_use]
    pub const fn no_tune(mut self) -> Self {
        self.no_tune = Some(true);
        self
    }

    /// Sets the crawl: one with limits, or [`Crawls::Panel`].
    #[must_use]
    pub fn crawl(mut self, crawl: impl Into<Crawls>) -> Self {
        self.crawl = Some(crawl.into());
        self
    }
}

impl From<u64> for Budget {
    fn from(pages: u64) -> Self {
        Self::pages(pages)
    }
}

impl<K: HasBudget> Plan<K> {
    /// Sets the number of pages that the crawl will fetch. Hops, the fetch cost and the value of known
    /// pages are tuned for it, as far as they are not given.
    pub fn budget(mut self, budget: impl Into<Budget>) -> Self {
        let budget = budget.into();
        self.options.budget = Some(budget.pages);
        self.options.holdouts = budget.holdouts;
        self.options.tune_visits = budget.tune_visits;
        self.options.crawl = budget.crawl;
        self.options.no_tune = budget.no_tune;
        self
    }
}

impl<K: HasSites> Plan<K> {
    /// Selects this number of seeds on each site.
    pub fn per_site(mut self, seeds: u32) -> Self {
        self.options.per_site = Some(seeds);
        (self.options.seeds, self.options.share) = (None, None);
        self
    }

    /// Distributes a total of seeds over the sites, instead of the same number for each.
    pub fn seeds_in_total(mut self, seeds: u32, share: Share) -> Self {
        (self.options.seeds, self.options.share) = (Some(seeds), Some(share));
        self.options.per_site = None;
        self
    }
}

impl<K: HasCores> Plan<K> {
    /// Ranks pages by HITS until it is proved that a core is within this percentage of the best. The
    /// alternative is [`classic_hits`](Self::classic_hits).
    pub fn within(mut self, slack: Slack) -> Self {
        (self.options.hits, self.options.iterations) = (Some(Hits::Converged), None);
        self.options.within = Some(slack);
        self
    }

    /// Ranks pages by a fixed number of iterations of HITS, as published. The alternative is
    /// [`within`](Self::within).
    pub fn classic_hits(mut self, iterations: u32) -> Self {
        self.options.hits = Some(Hits::Classic);
        self.options.iterations = Some(iterations);
        self.options.within = Some(Slack::EXACT);
        self
    }

    /// Sets the rule that ends a core.
    pub fn rule(mut self, rule: CoreRule) -> Self {
        let (density, size) = match rule {
            CoreRule::Density { density, growth } => (Some((density, growth)), None),
            CoreRule::Size { size, new_members } => (None, Some((size, new_members))),
        };
        (self.options.density, self.options.growth) = density.unzip();
        (self.options.core_size, self.options.new_members) = size.unzip();
        self
    }

    /// Sets which hub of a core becomes the seed. The alternative is [`succeed`](Self::succeed).
    pub fn pick(mut self, pick: Pick) -> Self {
        (self.options.pick, self.options.succeed) = (Some(pick), None);
        self
    }

    /// Keeps the list stable: the seeds of the previous refresh stay, and one that is gone, spam or no
    /// longer a hub is replaced by its successor.
    pub fn succeed(mut self) -> Self {
        (self.options.pick, self.options.succeed) = (None, Some(true));
        self
    }
}

macro_rules! setters {
    ($($bound:ident {$($(#[doc = $doc:literal])+ $parameter:ident: $type:ty;)+})+) => {$(
        impl<K: $bound> Plan<K> {$(
            $(#[doc = $doc])+
            pub fn $parameter(mut self, $parameter: $type) -> Self {
                self.options.$parameter = Some($parameter);
                self
            }
        )+}
    )+};
}

setters! {
    Kind {
        /// Sets pages that are never seeds.
        exclude: List;
        /// Sets the only pages that can be seeds.
        only: List;
        /// Sets pages that are excluded from the graph, and so from being seeds.
        exclude_from_graph: List;
        /// Sets pages that are always seeds and come first.
        pin: List;
        /// Sets the minimum quality of a seed; a page of unknown quality has 0.
        min_quality: Value;
        /// Sets the number of consecutive failed fetches that keeps a page from being a seed; 0 allows any
        /// number.
        max_failures: u32;
    }
    HasSeeds {
        /// Sets the number of seeds.
        seeds: u32;
    }
    HasCores {
        /// Sets the maximum number of hubs of a core.
        max_hubs: u32;
        /// Sets whether spam pages are ranked.
        keep_spam: bool;
        /// Sets which pages are ranked.
        pages: Pages;
        /// Sets the minimum number of hubs of a core that gives a seed.
        min_hubs: u32;
        /// Sets the minimum number of authorities of a core that gives a seed.
        min_authorities: u32;
        /// Sets the minimum number of sites of the hubs of a core that gives a seed.
        min_hub_sites: u32;
    }
    HasHops {
        /// Sets the number of hops within which a seed covers pages.
        hops: u32;
        /// Sets whether to stop before a seed that adds nothing.
        positive_only: bool;
    }
    HasValues {
        /// Sets the value of a page that is neither spam nor clicked.
        value_base: Value;
        /// Sets the value of a spam page.
        value_spam: Value;
        /// Sets the value of a clicked page.
        value_clicked: Value;
        /// Sets what a quality of 1 adds to a page's value.
        value_quality: Value;
        /// Sets the value of an uncrawled outlink, added to the page that has the link.
        p_uniq: Value;
    }
    HasKnown {
        /// Sets the value of a page that is known only from links.
        value_known: Value;
    }
    HasFetchCost {
        /// Sets the cost of each reached page, which is subtracted from its value.
        fetch_cost: Value;
    }
    HasDuplicates {
        /// Sets how crawled pages with the same content digest count.
        duplicates: Duplicates;
        /// Sets how much less the list may be worth than a new one while seeds of the previous list stay.
        keep_seeds: Slack;
    }
    HasRevisit {
        /// Sets after how many days a fetched page has its whole value again.
        revisit: Revisit;
    }
    HasDepth {
        /// Sets the number of hops, at most `hops`, whose value a page is picked by.
        depth: u32;
    }
    HasCovered {
        /// Sets what happens to pages that a seed covers.
        covered: Covered;
    }
    HasRandom {
        /// Sets the seed of the random numbers.
        rng_seed: u64;
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
