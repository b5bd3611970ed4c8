//! The class `Bank`.
#![expect(
    clippy::needless_pass_by_value,
    reason = "PyO3 converts arguments to values"
)]

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use seedbank::answers::CorePage;
use seedbank::engine::maintenance::BackupRequest;
use seedbank::engine::query::{
    CompareRequest, DiffRequest, PageLimits, QuotaBy, QuotaRequest, SearchLimits, Seed, SiteLimits,
    SiteQuota,
};
use seedbank::engine::scores::{PageScore, ScoresRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::{IngestRequest, RefreshRequest, Which};

use crate::call::Call;
use crate::evaluate::Evaluate;
use crate::handle::{Handle, object};
use crate::ingest::Source;
use crate::table::{Table, TableBuilder};
use crate::{arguments, export, parameters};

/// A bank: one folder with crawled pages, their links, and seeds selected from them.
#[pyclass(frozen, module = "seedbank_engine")]
pub(crate) struct Bank(Arc<Handle>);

impl Bank {
    fn new(bank: seedbank::Bank, progress: Option<Py<PyAny>>) -> Self {
        Self(Arc::new(Handle::new(bank, progress)))
    }
}

/// Returns the refresh that is meant by the name of a plan or a number.
fn which(plan: Option<String>, refresh: Option<u32>) -> Which {
    Which { plan, refresh }
}

#[pymethods]
impl Bank {
    /// Opens the bank in this folder.
    #[staticmethod]
    #[pyo3(signature = (path, *, progress = None))]
    fn open(py: Python<'_>, path: PathBuf, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let handle = seedbank::Bank::at(&path);
        let call = Call::new(py, &handle, None)?;
        call.run(|_| seedbank::Bank::open(&path))?;
        Ok(Self::new(handle, arguments::reporter(py, progress)?))
    }

    /// Creates an empty bank in a folder that does not exist or is empty.
    #[staticmethod]
    #[pyo3(signature = (path, *, sites = None, urls = None, exist_ok = false, progress = None))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        sites: Option<&str>,
        urls: Option<&str>,
        exist_ok: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let sites = sites.map(|name| arguments::named(py, "sites", &SiteMode::NAMES, name));
        let urls = urls.map(|name| arguments::named(py, "urls", &UrlRules::NAMES, name));
        let mode = sites.transpose()?.unwrap_or_default();
        let naming = mode.with(urls.transpose()?.unwrap_or_default());
        let handle = seedbank::Bank::at(&path);
        let call = Call::new(py, &handle, None)?;
        call.run(|_| {
            if exist_ok {
                seedbank::Bank::open_or_create(&path, naming)
            } else {
                seedbank::Bank::create(&path, naming)
            }
        })?;
        Ok(Self::new(handle, arguments::reporter(py, progress)?))
    }

    /// Applies a batch to the bank, completely or not at all.
    #[pyo3(signature = (source, *, snapshot = false, format = "auto", name = None, as_of = None, sites = None,
        columns = None, truncated = "refuse", max_rejects = 1.0, max_loss = 20.0, rejects = None, dry_run = false, again = false,
        learn_from_bulk = false, allow_private = false, memory = 512 << 20, wait = false))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments"
    )]
    fn ingest<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        snapshot: bool,
        format: &str,
        name: Option<String>,
        as_of: Option<Bound<'py, PyAny>>,
        sites: Option<PathBuf>,
        columns: Option<&str>,
        truncated: &str,
        max_rejects: f64,
        max_loss: f64,
        rejects: Option<PathBuf>,
        dry_run: bool,
        again: bool,
        learn_from_bulk: bool,
        allow_private: bool,
        memory: usize,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = IngestRequest {
            inputs: Vec::new(),
            format: arguments::format(py, format)?,
            columns: arguments::columns(py, columns)?,
            truncated: arguments::truncated(py, truncated)?,
            sites: sites.map(Input::named),
            snapshot,
            as_of: as_of.as_ref().map(arguments::seconds).transpose()?,
            name,
            max_rejects: arguments::percent(py, "max_rejects", max_rejects)?,
            max_loss: arguments::percent(py, "max_loss", max_loss)?,
            rejects,
            dry_run,
            wait,
            again,
            learn_from_bulk,
            allow_private,
            memory,
        };
        let call = self.0.call(py)?;
        let report = Source::new(source)?.ingest(call, request)?;
        object(py, &report)
    }

    /// Takes the last batch back.
    #[pyo3(signature = (*, memory = 512 << 20, wait = false))]
    fn undo<'py>(&self, py: Python<'py>, memory: usize, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, |bank| bank.undo(wait, memory))
    }

    /// Removes the record of the last refused batch and returns it, or None if no batch was refused.
    #[pyo3(signature = (*, wait = false))]
    fn dismiss_refused<'py>(&self, py: Python<'py>, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, |bank| bank.dismiss_refused(wait))
    }

    /// Selects seeds by a plan and stores them.
    #[pyo3(signature = (plan = None, *, cold = false, keep = None, tune = false, judge = false, replace = false,
        explain_cost = false, dry_run = false, wait = false, **parameters))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments"
    )]
    fn refresh<'py>(
        &self,
        py: Python<'py>,
        plan: Option<String>,
        cold: bool,
        keep: Option<u32>,
        tune: bool,
        judge: bool,
        replace: bool,
        explain_cost: bool,
        dry_run: bool,
        wait: bool,
        parameters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut call = self.0.call(py)?;
        let request = RefreshRequest {
            plan,
            options: parameters::read(&mut call, parameters)?,
            cold,
            keep,
            wait,
            explain_cost,
            tune,
            judge,
            replace,
            rejects_empty_bank: !dry_run,
            ..RefreshRequest::default()
        };
        if dry_run {
            let run = call.run(|bank| bank.dry_run(&request))?;
            return object(py, &run);
        }
        let report = call.run(|bank| bank.refresh(&request))?;
        object(py, &report)
    }

    /// The seeds of a refresh, best first.
    #[pyo3(signature = (plan = None, *, refresh = None))]
    fn seeds(&self, py: Python<'_>, plan: Option<String>, refresh: Option<u32>) -> PyResult<Table> {
        self.0.call(py)?.run(|bank| {
            let mut table = TableBuilder::new::<Seed>();
            for seed in bank.seeds(which(plan, refresh))? {
                table.add(&seed?)?;
            }
            table.finish()
        })
    }

    /// The pages of the cores of a refresh, with their scores.
    #[pyo3(signature = (plan = None, *, refresh = None))]
    fn cores(&self, py: Python<'_>, plan: Option<String>, refresh: Option<u32>) -> PyResult<Table> {
        self.0.call(py)?.run(|bank| {
            let mut table = TableBuilder::new::<CorePage<'_>>();
            for core in bank.cores(which(plan, refresh))? {
                for page in CorePage::all(&core?) {
                    table.add(&page)?;
                }
            }
            table.finish()
        })
    }

    /// Degrees and centralities of every page, with what the last refresh of a plan computed for it.
    #[pyo3(signature = (plan = None, *, rng_seed = 0))]
    fn scores(&self, py: Python<'_>, plan: Option<String>, rng_seed: u64) -> PyResult<Table> {
        let request = ScoresRequest { plan, rng_seed };
        self.0.call(py)?.run(|bank| {
            let mut table = TableBuilder::new::<PageScore>();
            bank.scores(&request, |score| table.add(&score))?;
            table.finish()
        })
    }

    /// How many pages of each site the next crawl should fetch.
    #[pyo3(signature = (pages, *, by = "value", plan = None))]
    fn quotas(
        &self,
        py: Python<'_>,
        pages: u64,
        by: &str,
        plan: Option<String>,
    ) -> PyResult<Table> {
        let names = [
            QuotaBy::Value,
            QuotaBy::Pagerank,
            QuotaBy::Quality,
            QuotaBy::Seeds,
        ];
        let by = arguments::named(py, "by", &names.map(|by| (by, by.name())), by)?;
        let request = QuotaRequest { pages, by, plan };
        self.0.call(py)?.run(|bank| {
            let mut table = TableBuilder::new::<SiteQuota>();
            for site in &bank.quotas(&request)?.sites {
                table.add(site)?;
            }
            table.finish()
        })
    }

    /// Why a page is a seed of a refresh, or why not.
    #[pyo3(signature = (url, plan = None, *, refresh = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        url: &str,
        plan: Option<String>,
        refresh: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0
            .answer(py, |bank| bank.explain(url, which(plan, refresh)))
    }

    /// Facts about a page.
    fn page<'py>(&self, py: Python<'py>, url: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0
            .answer(py, |bank| bank.page(url, PageLimits::AS_JSON))
    }

    /// Facts about a site.
    fn site<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0
            .answer(py, |bank| bank.site(name, SiteLimits::AS_JSON))
    }

    /// Pages and sites whose names contain a text.
    fn search<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0
            .answer(py, |bank| bank.search(text, SearchLimits::default()))
    }

    /// What changed between two lists of seeds, and why.
    #[pyo3(signature = (plan = None, *, refreshes = Vec::new(), against = None))]
    fn diff<'py>(
        &self,
        py: Python<'py>,
        plan: Option<String>,
        refreshes: Vec<u32>,
        against: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = DiffRequest {
            plan,
            refreshes,
            against,
            list: None,
        };
        self.0.answer(py, |bank| bank.diff(&request))
    }

    /// A list of start pages beside the seeds of a refresh.
    #[pyo3(signature = (urls, plan = None, *, refresh = None, fetches = vec![1_000, 5_000], crawl = None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        urls: &Bound<'py, PyAny>,
        plan: Option<String>,
        refresh: Option<u32>,
        fetches: Vec<u64>,
        crawl: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = CompareRequest {
            fetches,
            crawl: crawl.map(|text| arguments::crawl(py, text)).transpose()?,
            ..CompareRequest::new(which(plan, refresh))
        };
        let list = arguments::url_list("urls", urls)?;
        self.0.answer(py, |bank| bank.compare(&list, &request))
    }

    /// The batches and refreshes of the bank.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, seedbank::Bank::history)
    }

    /// The history of a page.
    #[pyo3(signature = (url, plan = None))]
    fn page_history<'py>(
        &self,
        py: Python<'py>,
        url: &str,
        plan: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, |bank| bank.page_history(url, plan))
    }

    /// The plans of the bank.
    fn plans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, seedbank::Bank::plans)
    }

    /// Contents, age and disk usage of the bank.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.answer(py, seedbank::Bank::status_with_canonical)
    }

    /// Experiments on the bank.
    #[getter]
    fn evaluate(&self) -> Evaluate {
        Evaluate::new(Arc::clone(&self.0))
    }

    /// Writes the whole state as records.
    #[pyo3(signature = (path, *, sites = None))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        sites: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0
            .answer(py, |bank| export::to_files(bank, &path, sites.as_deref()))
    }

    /// Compares every table of the bank with its indexes.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let check = self.0.call(py)?.run(seedbank::Bank::check)?;
        let answer = object(py, &check)?;
        answer.set_item("clean", check.is_clean())?;
        answer.set_item("count", check.count())?;
        Ok(answer)
    }

    /// Makes a backup.
    #[pyo3(signature = (folder, *, keep = None, verify = false, wait = false))]
    fn backup<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        keep: Option<NonZeroU32>,
        verify: bool,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = BackupRequest { keep, verify, wait };
        self.0.answer(py, |bank| bank.backup(&folder, &request))
    }

    /// Pins the published state: calls of the result are about it, also after later batches.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Self> {
        let bank = self.0.call(py)?.run(seedbank::Bank::pinned)?;
        Ok(Self::new(bank, self.0.progress(py)))
    }

    /// Whether calls are about the state that is published now.
    #[getter]
    fn is_current(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.call(py)?.run(seedbank::Bank::is_current)
    }

    /// The folder of the bank.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let path = self.0.call(py)?.bank().path().to_path_buf();
        py.import("pathlib")?.call_method1("Path", (path,))
    }

    /// Releases a pinned state. Every later call fails.
    fn close(&self) {
        self.0.close();
    }

    fn __enter__(bank: Bound<'_, Self>) -> Bound<'_, Self> {
        bank
    }

    fn __exit__(
        &self,
        _exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close();
    }

    fn __repr__(&self) -> String {
        match self.0.path() {
            Some(path) => format!("<Bank {}>", path.display()),
            None => "<Bank, closed>".to_owned(),
        }
    }
}
