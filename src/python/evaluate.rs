//! The class `Evaluate`: experiments on a bank.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use seedbank::engine::evaluate::{
    ActualRequest, BudgetRequest, MethodsRequest, NextRequest, SeedList,
};

use crate::arguments;
use crate::handle::Handle;

/// Experiments on a bank: how good are these seeds?
#[pyclass(frozen, module = "seedbank_engine")]
pub(crate) struct Evaluate {
    handle: Arc<Handle>,
}

impl Evaluate {
    pub(crate) const fn new(handle: Arc<Handle>) -> Self {
        Self { handle }
    }
}

#[pymethods]
impl Evaluate {
    /// Compares crawls from the seeds of every method and of common baselines.
    #[pyo3(signature = (*, seeds = vec![20, 100], budgets = Vec::new(), draws = 5, rng_seed = 0, plan = None,
        crawl = None, since = None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn methods<'py>(
        &self,
        py: Python<'py>,
        seeds: Vec<u32>,
        budgets: Vec<u64>,
        draws: u32,
        rng_seed: u64,
        plan: Option<String>,
        crawl: Option<&str>,
        since: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let crawl = crawl.map(|text| arguments::crawl(py, text)).transpose()?;
        let request = MethodsRequest {
            seeds,
            budgets,
            draws,
            rng_seed,
            plan,
            crawl,
            since,
            ..MethodsRequest::default()
        };
        self.handle
            .answer(py, |bank| bank.evaluate_methods(&request))
    }

    /// Compares the lists of a plan with others by the new pages that the crawls after each of the last batches found.
    #[pyo3(signature = (*, plan = None, seeds = None, budget = None, rng_seed = 0))]
    fn next<'py>(
        &self,
        py: Python<'py>,
        plan: Option<String>,
        seeds: Option<u32>,
        budget: Option<u64>,
        rng_seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = NextRequest {
            plan,
            seeds,
            budget,
            rng_seed,
        };
        self.handle.answer(py, |bank| bank.evaluate_next(&request))
    }

    /// Compares crawls of a number of pages from several lists of URLs.
    #[pyo3(signature = (lists, *, pages, crawl = None))]
    fn budget<'py>(
        &self,
        py: Python<'py>,
        lists: &Bound<'py, PyDict>,
        pages: u64,
        crawl: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let list = |(name, urls): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            let list = arguments::url_list(&name.extract::<String>()?, &urls)?;
            let urls = list.urls.into_iter().map(|(_, url)| url).collect();
            let name = list.name;
            Ok::<_, PyErr>(SeedList::Urls { name, urls })
        };
        let lists = lists.iter().map(list).collect::<PyResult<Vec<_>>>()?;
        let crawl = crawl.map(|text| arguments::crawl(py, text)).transpose()?;
        let request = BudgetRequest {
            lists,
            pages,
            crawl,
        };
        self.handle
            .answer(py, |bank| bank.evaluate_budget(&request))
    }

    /// What crawlers fetched from each seed, beside what its list promised.
    #[pyo3(signature = (*, plan = None, since = None))]
    fn actual<'py>(
        &self,
        py: Python<'py>,
        plan: Option<String>,
        since: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = ActualRequest { plan, since };
        self.handle
            .answer(py, |bank| bank.evaluate_actual(&request))
    }
}
