//! The experiments of the papers, on a bank: how good are these seeds?
//!
//! Experiments read the published state and change nothing. The whole graph is loaded into memory,
//! as for a refresh that shares seeds out by PageRank; `evaluate coverage` loads sites in groups.

mod actual;
mod answers;
mod budget;
mod convergence;
mod coverage;
mod crawl;
mod crawl_answers;
mod distances;
mod graph_structure;
mod hub_draws;
mod judged_refresh;
mod methods;
mod next;
mod seed_lists;

// Types of requests and answers that other crates declare.
pub use seedbank_algorithms::evaluate::Estimate;
pub use seedbank_algorithms::statistics::PowerLaw;
pub use seedbank_store::records::FetchCounts;

pub use crate::engine::history::seed_counts::{SeedCounts, SeedPromise};
pub use answers::{
    AbsentReason, AbsentSeed, BudgetEvaluation, BudgetRow, Claim, CorePlace, CoverageCurve,
    CoverageEvaluation, CoveragePoint, CoverageShare, DistanceSpread, DistancesEvaluation,
    GraphDistance, ListView, StateView,
};
pub use answers::{ActualEvaluation, PlanActual, SeedActual};
pub use answers::{
    ActualRequest, BudgetRequest, ComparedWith, CoverageRequest, CrawlRequest, DistancesRequest,
    MethodsRequest, SeedList,
};
pub use crawl_answers::{
    Convergence, CoreConvergence, CrawlDepth, CrawlEvaluation, RandomDepth, TopPage,
};
pub use graph_structure::{
    ComponentClass, DegreeClass, DegreeDistribution, DegreeKind, GraphStructure, SiteClass,
    SiteComponents, StructureRequest,
};
pub use methods::{
    Baseline, ByFetches, ComparedList, Comparison, GatheredView, ListKind, MethodsEvaluation,
    Recommended,
};
pub use next::{NewPages, NextEvaluation, NextRequest, NextRow};

use super::{Bank, EngineError};

impl Bank {
    /// Crawls breadth first from the seeds of a refresh, or from any URLs, and from random sets of
    /// the same number of crawled pages.
    ///
    /// Cost: the whole graph is loaded, ranked, and searched once for each draw, in parallel. Plans with a fixed number of
    /// iterations of HITS select their cores again, and those of converged HITS.
    pub fn evaluate_crawl(&self, request: &CrawlRequest) -> Result<CrawlEvaluation, EngineError> {
        crawl::run(self, request, self.watch())
    }

    /// Measures the distances between the cores of a refresh, over all links of the current state,
    /// and the average distance between pages.
    ///
    /// Cost: the whole graph is loaded, and searched once for each core and sample, in parallel.
    pub fn evaluate_distances(
        &self,
        request: &DistancesRequest,
    ) -> Result<DistancesEvaluation, EngineError> {
        distances::run(self, request, self.watch())
    }

    /// Selects seeds by every cover method on the same sites and compares their coverage.
    ///
    /// Cost: the sites are loaded once, in groups; each method selects once for each number of
    /// hops.
    pub fn evaluate_coverage(
        &self,
        request: &CoverageRequest,
    ) -> Result<CoverageEvaluation, EngineError> {
        coverage::run(self, request, self.watch())
    }

    /// Selects seeds by every method and by the baselines of today's crawlers, and compares what
    /// crawls from them gather per page fetched: with everything known, with a tenth of the crawled
    /// pages held out and, if the bank has a history, with the pages crawled since an earlier batch
    /// held out.
    ///
    /// Cost: the whole graph is loaded once. Then, once and for each draw, every method selects for
    /// each number of seeds (plans with a budget also for each number of fetches), harmonic
    /// centralities are measured, and each list is crawled from.
    pub fn evaluate_methods(
        &self,
        request: &MethodsRequest,
    ) -> Result<MethodsEvaluation, EngineError> {
        methods::run(self, request, self.watch())
    }

    /// Counts what crawlers fetched from each seed according to their own records, beside what the
    /// lists of that time promised.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPlan`] if the plan of the request does not exist.
    ///
    /// Cost: a scan of the attributed fetches of the batches, and for each page two reads or three.
    pub fn evaluate_actual(
        &self,
        request: &ActualRequest,
    ) -> Result<ActualEvaluation, EngineError> {
        actual::run(self, request, self.watch())
    }

    /// Simulates crawls with a given number of fetches from each of several lists.
    ///
    /// Cost: the whole graph is loaded and ranked, and searched once for each list and crawl, in parallel.
    pub fn evaluate_budget(
        &self,
        request: &BudgetRequest,
    ) -> Result<BudgetEvaluation, EngineError> {
        budget::run(self, request, self.watch())
    }
}
