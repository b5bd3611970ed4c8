//! What a [`Plan`](super::Plan) can begin with, and which parameters it then has.

use std::fmt::Debug;

use super::{CoverMethod, Goal, Method, PlanOptions, Scope};

mod sealed {
    pub trait Sealed {}
}

/// What a plan begins with: a goal or a method.
pub trait Kind: sealed::Sealed {
    /// The parameters that are set from the beginning.
    #[doc(hidden)]
    fn begin() -> PlanOptions;
}

/// A cover method.
pub trait AnyMethod: sealed::Sealed + Debug {
    #[doc(hidden)]
    const METHOD: CoverMethod;
}

/// A method that selects on each site separately; see [`Plan::per_site`](super::Plan::per_site).
pub trait SiteMethod: AnyMethod {}

/// A method that selects over the whole web; see [`Plan::over_web`](super::Plan::over_web).
pub trait WebMethod: AnyMethod {}

macro_rules! goals {
    ($($goal:ident = $doc:literal;)+) => {$(
        #[doc = $doc]
        #[derive(Debug)]
        pub enum $goal {}

        impl sealed::Sealed for $goal {}

        impl Kind for $goal {
            fn begin() -> PlanOptions {
                PlanOptions {
                    goal: Some(Goal::$goal),
                    ..PlanOptions::default()
                }
            }
        }
    )+};
}

goals! {
    Coverage = "The goal coverage.";
    Discovery = "The goal discovery.";
    Importance = "The goal importance.";
    Communities = "The goal communities.";
    Sites = "The goal sites.";
}

/// The goal discovery, with values that are learned from past fetches.
#[derive(Debug)]
pub enum Learned {}

impl sealed::Sealed for Learned {}

impl Kind for Learned {
    fn begin() -> PlanOptions {
        PlanOptions {
            goal: Some(Goal::Discovery),
            learned: Some(true),
            ..PlanOptions::default()
        }
    }
}

/// The method cores.
#[derive(Debug)]
pub enum Cores {}

impl sealed::Sealed for Cores {}

impl Kind for Cores {
    fn begin() -> PlanOptions {
        PlanOptions {
            method: Some(Method::Cores),
            ..PlanOptions::default()
        }
    }
}

macro_rules! methods {
    ($($method:ident = $doc:literal;)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $method;

        impl sealed::Sealed for $method {}

        impl AnyMethod for $method {
            const METHOD: CoverMethod = CoverMethod::$method;
        }
    )+};
}

methods! {
    Random = "Pages drawn at random.";
    Pagerank = "The pages with the highest PageRank.";
    OutDegree = "The pages with the most links.";
    Oldest = "The pages whose last fetch is the longest ago.";
    MaxOut = "The pages with the most links to pages that no earlier seed covers.";
    MaxWeight = "The pages with the most value within `depth` hops.";
    MaxScc = "As max-weight, in the heaviest strongly connected component.";
    RootScc = "As max-weight, in the heaviest of the root components that lead to the heaviest component.";
    Greedy = "The pages with the most value within all hops.";
}

impl SiteMethod for Random {}
impl SiteMethod for Pagerank {}
impl SiteMethod for OutDegree {}
impl SiteMethod for MaxOut {}
impl SiteMethod for MaxWeight {}
impl SiteMethod for MaxScc {}
impl SiteMethod for RootScc {}
impl SiteMethod for Greedy {}

impl WebMethod for Random {}
impl WebMethod for Pagerank {}
impl WebMethod for OutDegree {}
impl WebMethod for Oldest {}
impl WebMethod for MaxOut {}
impl WebMethod for MaxWeight {}
impl WebMethod for Greedy {}

/// A method on each site separately.
#[derive(Debug)]
pub struct PerSite<M>(M);

/// A method over the whole web.
#[derive(Debug)]
pub struct OverWeb<M>(M);

impl<M> sealed::Sealed for PerSite<M> {}
impl<M> sealed::Sealed for OverWeb<M> {}

impl<M: SiteMethod> Kind for PerSite<M> {
    fn begin() -> PlanOptions {
        by_cover(M::METHOD, Scope::Site)
    }
}

impl<M: WebMethod> Kind for OverWeb<M> {
    fn begin() -> PlanOptions {
        by_cover(M::METHOD, Scope::Web)
    }
}

fn by_cover(method: CoverMethod, scope: Scope) -> PlanOptions {
    PlanOptions {
        method: Some(Method::Cover(method)),
        scope: Some(scope),
        ..PlanOptions::default()
    }
}

macro_rules! traits {
    ($($(#[$doc:meta])+ $name:ident: $($kind:ty $(where $method:ident: $bound:ident)?),+;)+) => {$(
        $(#[$doc])+
        pub trait $name: Kind {}

        $(impl$(<$method: $bound>)? $name for $kind {})+
    )+};
}

traits! {
    /// Plans by cores.
    HasCores: Communities, Cores;
    /// Plans with a total number of seeds.
    HasSeeds: Communities, Cores, Coverage, Discovery, Importance, Learned, OverWeb<M> where M: WebMethod;
    /// Plans with a number of seeds for each site.
    HasSites: Sites, PerSite<M> where M: SiteMethod;
    /// Plans whose seeds cover pages.
    HasHops: Coverage, Discovery, Importance, Learned, Sites, PerSite<M> where M: SiteMethod, OverWeb<M> where M: WebMethod;
    /// Plans that give each page a value by weights.
    HasValues: Coverage, Discovery, Sites, PerSite<M> where M: SiteMethod, OverWeb<M> where M: WebMethod;
    /// Plans that give a value to pages that are known only from links.
    HasKnown: Coverage, Discovery, OverWeb<M> where M: WebMethod;
    /// Plans with a price for each page.
    HasFetchCost: Coverage, Discovery, Importance, Learned, OverWeb<Greedy>, OverWeb<MaxWeight>;
    /// Plans for a crawl of a number of pages.
    HasBudget: Coverage, Discovery, Importance, Learned, OverWeb<Greedy>;
    /// Plans in which pages with one content can count once.
    HasDuplicates: Coverage, Discovery, Importance, OverWeb<Greedy>;
    /// Plans in which the value of a page can depend on the time since its last fetch.
    HasRevisit: Coverage, Discovery, Importance, OverWeb<M> where M: WebMethod;
    /// Plans that pick pages by the value within a depth.
    HasDepth: Sites, PerSite<MaxWeight>, PerSite<MaxScc>, PerSite<RootScc>, OverWeb<MaxWeight>;
    /// Plans that can remove covered pages.
    HasCovered: Sites, PerSite<MaxWeight>, PerSite<MaxScc>;
    /// Plans that draw pages at random.
    HasRandom: PerSite<Random>, OverWeb<Random>;
}
