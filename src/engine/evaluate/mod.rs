//! The papers' experiments on a bank: how good are these seeds?
//!
//! Everything here reads the published state and changes nothing. The whole graph is loaded into
//! memory, as for a refresh that shares seeds out by PageRank; coverage loads sites in groups.

mod answers;

pub use answers::{
    AbsentSeed, AbsentWhy, BudgetEvaluation, BudgetRequest, BudgetRow, Claim, CorePlace,
    CoverageCurve, CoverageEvaluation, CoveragePoint, CoverageRequest, CoverageShare, CrawlDepth,
    CrawlEvaluation, CrawlRequest, DistanceSpread, DistancesEvaluation, DistancesRequest,
    GraphDistance, ListView, RandomDepth, SeedList, StateView, TopPage,
};

use super::{Bank, EngineError};
use crate::watch::Watch;

impl Bank {
    /// Crawls breadth first from seeds and from random seeds.
    pub fn evaluate_crawl(
        &self,
        _request: &CrawlRequest,
        _watch: &dyn Watch,
    ) -> Result<CrawlEvaluation, EngineError> {
        Err(EngineError::Internal("crawl is not there yet"))
    }

    /// Measures the distances between the cores of a refresh, and the graph's average distance.
    pub fn evaluate_distances(
        &self,
        _request: &DistancesRequest,
        _watch: &dyn Watch,
    ) -> Result<DistancesEvaluation, EngineError> {
        Err(EngineError::Internal("distances are not there yet"))
    }

    /// Selects by every cover method on the same sites and compares what they cover.
    pub fn evaluate_coverage(
        &self,
        _request: &CoverageRequest,
        _watch: &dyn Watch,
    ) -> Result<CoverageEvaluation, EngineError> {
        Err(EngineError::Internal("coverage is not there yet"))
    }

    /// Crawls so many pages from each of several lists.
    pub fn evaluate_budget(
        &self,
        _request: &BudgetRequest,
        _watch: &dyn Watch,
    ) -> Result<BudgetEvaluation, EngineError> {
        Err(EngineError::Internal("budget is not there yet"))
    }
}
