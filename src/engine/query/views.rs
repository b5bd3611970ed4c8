//! Reads seeds, cores, pages and history from the published state, which is possible while another
//! process writes.

use std::collections::HashSet;
use std::sync::Arc;

use super::answers::{
    AliasView, BatchSummary, BatchView, ByPolicy, CoreView, Evidence, History, PageView, Seed,
    SuccessorView, Which,
};
use crate::engine::error::PlanError;
use crate::engine::plan::{DEFAULT_PLAN, Method, PlanOptions};
use crate::engine::refresh::RefreshView;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_formats::display::file_name;
use seedbank_formats::ingest::{self, Naming};
use seedbank_store::records::{
    BatchId, BatchRecord, CoreRecord, PageRecord, PageState, RefreshId, RefreshRecord,
    SeedEvidence, SeedRecord, Succession,
};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart};
use seedbank_store::{self, BankCheck, Reader, RepairReport, StoreError, member_order};

/// Reader of the published state that resolves ids to URLs.
pub(crate) struct Views {
    pub(crate) reader: Arc<Reader>,
    pub(crate) naming: Naming,
    /// Whether paths of files are reduced to their last component.
    hides_folders: bool,
}

impl Views {
    pub(crate) fn open(bank: &Bank) -> Result<Self, EngineError> {
        let reader = bank.reader()?;
        let naming = crate::engine::naming(&reader.settings()?)?;
        Ok(Self {
            reader,
            naming,
            hides_folders: bank.hides_folders(),
        })
    }

    /// Parses the stored parameters of a plan or refresh.
    pub(super) fn options(&self, settings: &str) -> Result<PlanOptions, PlanError> {
        let mut options = PlanOptions::from_stored(settings)?;
        if self.hides_folders {
            options.hide_folders();
        }
        Ok(options)
    }

    /// Returns the view of a refresh.
    pub(super) fn refresh(
        &self,
        refresh: RefreshId,
        record: RefreshRecord,
    ) -> Result<RefreshView, EngineError> {
        let options = self.options(&record.settings)?;
        RefreshView::new(refresh, record, options)
    }

    /// Returns the target of an alias; `None` for any other page.
    pub(crate) fn alias(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<Option<AliasView>, EngineError> {
        if record.state != PageState::Alias {
            return Ok(None);
        }
        let Some(to) = self.reader.alias(page)? else {
            return Ok(None);
        };
        let end = self.reader.resolve_alias(page)?;
        Ok(Some(AliasView {
            to: self.name(to)?.1,
            resolves_to: end
                .map(|end| Ok::<_, StoreError>(self.name(end)?.1))
                .transpose()?,
        }))
    }

    /// Returns the site and URL of a page.
    pub(crate) fn name(&self, page: PageId) -> Result<(String, String), StoreError> {
        let (site, url, _) = self.name_and_state(page)?;
        Ok((site, url))
    }

    fn name_and_state(&self, page: PageId) -> Result<(String, String, PageState), StoreError> {
        let site = self.reader.need(&tables::SITES, &page.site())?.name;
        let record = self.reader.need(&tables::PAGES, &page)?;
        let url = ingest::url(&site, &record.local, self.naming.sites);
        Ok((site, url, record.state))
    }

    fn urls(&self, pages: &[PageId]) -> Result<Vec<String>, StoreError> {
        pages.iter().map(|page| Ok(self.name(*page)?.1)).collect()
    }

    /// Finds the selected refresh.
    pub(crate) fn find(&self, which: &Which) -> Result<(RefreshId, RefreshRecord), EngineError> {
        let Some(refresh) = which.refresh else {
            let plan = which.plan.as_deref().unwrap_or(DEFAULT_PLAN);
            let found = self.reader.get(&tables::PLANS, &plan.to_owned())?;
            let found = found.ok_or_else(|| EngineError::UnknownPlan(plan.to_owned()))?;
            let refresh = found.last_refresh;
            return Ok((refresh, self.reader.need(&tables::REFRESHES, &refresh)?));
        };
        let record = self.reader.get(&tables::REFRESHES, &refresh)?;
        let Some(record) = record else {
            let last = self.reader.counters()?.refresh;
            return Err(if (1..=last).contains(&refresh) {
                EngineError::DeletedRefresh(refresh)
            } else {
                EngineError::UnknownRefresh(refresh)
            });
        };
        match &which.plan {
            Some(plan) if *plan != record.plan => Err(EngineError::RefreshOfOtherPlan {
                refresh,
                found: record.plan,
                asked: plan.clone(),
            }),
            _ => Ok((refresh, record)),
        }
    }
}

impl Bank {
    /// Returns a core of a refresh by its rank, from 1.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownCore`] if the refresh has no core of this rank.
    pub fn core(&self, which: impl Into<Which>, rank: u32) -> Result<CoreView, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        match views.reader.get(&tables::CORES, &(refresh, rank))? {
            Some(core) => core_view(&views, refresh, rank, &core),
            None => Err(EngineError::UnknownCore {
                refresh,
                rank,
                cores: record.cores,
            }),
        }
    }

    /// Returns the view of the selected refresh.
    #[cfg(feature = "report")]
    pub(crate) fn refresh_view(&self, which: &Which) -> Result<RefreshView, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
        views.refresh(refresh, record)
    }

    /// Returns batches and stored refreshes.
    pub fn history(&self) -> Result<History, EngineError> {
        let views = Views::open(self)?;
        let mut history = History {
            batches: Vec::new(),
            refreshes: Vec::new(),
            refused: self.refused_batch(),
        };
        for entry in views.reader.scan(&tables::BATCHES)? {
            let (batch, record) = entry?;
            history.batches.push(batch_view(&views, batch, record));
        }
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            history.refreshes.push(views.refresh(refresh, record)?);
        }
        Ok(history)
    }

    /// Compares every table of the live and the published state with its indexes, without changing
    /// anything. It does not wait for a writer: while another process writes, the live state is skipped.
    pub fn check(&self) -> Result<BankCheck, EngineError> {
        Ok(self.check_files()?)
    }

    /// Repairs a bank without loss: if one of the live and the published state is intact, it replaces the
    /// other. Replaced files are moved aside, not deleted.
    ///
    /// `wait` waits for another writer to finish.
    pub fn repair(&self, wait: bool) -> Result<RepairReport, EngineError> {
        Ok(seedbank_store::repair(self.path(), wait, self.watch())?)
    }

    /// Passes every page to `each`, site by site, except those with the state `unlinked`.
    pub fn pages<E: From<EngineError>>(
        &self,
        mut each: impl FnMut(PageView) -> Result<(), E>,
    ) -> Result<(), E> {
        let views = Views::open(self)?;
        let pages = views.reader.scan(&tables::PAGES);
        for entry in pages.map_err(EngineError::from)? {
            let (page, record) = entry.map_err(EngineError::from)?;
            if record.state != PageState::Unlinked {
                each(page_view(&views, page, &record)?)?;
            }
        }
        Ok(())
    }
}

/// Builds the view of the seed with this rank.
pub(super) fn seed_view(
    views: &Views,
    run: SeedRun<'_>,
    pinned: &HashSet<String>,
    rank: u32,
    seed: &SeedRecord,
) -> Result<Seed, EngineError> {
    let (site, url, state) = views.name_and_state(seed.page)?;
    let succeeds = seed.succeeds.map(|of| successor_view(views, of.page, of));
    let is_pinned = pinned.contains(&url);
    let is_kept = matches!(seed.evidence, SeedEvidence::ByPolicy);
    Ok(Seed {
        by_policy: match (is_pinned, is_kept) {
            (true, _) => Some(ByPolicy::Pin),
            (false, true) => Some(ByPolicy::MaxChanges),
            (false, false) => None,
        },
        rank,
        url,
        alive: state.is_live(),
        site,
        method: run.method,
        plan: run.plan.to_owned(),
        refresh: run.refresh,
        evidence: evidence(rank, &seed.evidence),
        succeeds: succeeds.transpose()?,
        failures: views
            .reader
            .get(&tables::FAILURES, &seed.page)?
            .map(Into::into),
    })
}

/// Plan, method and refresh that selected seeds.
#[derive(Clone, Copy)]
pub(super) struct SeedRun<'a> {
    pub(super) plan: &'a str,
    pub(super) method: Method,
    pub(super) refresh: RefreshId,
}

fn evidence(rank: u32, stored: &SeedEvidence) -> Evidence {
    match stored {
        SeedEvidence::Core {
            core,
            sigma,
            hub_score,
        } => Evidence::Core {
            core: *core,
            sigma: *sigma,
            hub_score: *hub_score,
        },
        SeedEvidence::Cover(cover) => Evidence::Cover {
            gain: cover.gain,
            covered_pages: cover.covered_pages(),
            covered_value: cover.covered_value() as f64 / 1e6,
            pick: cover.pick,
            since: cover.since,
            seats: cover.seats,
        },
        SeedEvidence::Web(web) => Evidence::Cover {
            gain: web.gain,
            covered_pages: web.reached_pages(),
            covered_value: web.reached_value() as f64 / 1e6,
            pick: rank,
            since: web.since,
            seats: None,
        },
        SeedEvidence::ByPolicy => Evidence::ByPolicy {},
    }
}

pub(super) fn core_view(
    views: &Views,
    refresh: RefreshId,
    rank: u32,
    core: &CoreRecord,
) -> Result<CoreView, EngineError> {
    let scores = |side| {
        let key = CoreScoresKey {
            refresh,
            rank,
            side,
        };
        views.reader.need(&tables::CORE_SCORES, &key)
    };
    let pairs = core.hubs.len() as f64 * core.authorities.len() as f64;
    let convergence = core_figures(views, refresh, rank, CoreScoresPart::Convergence)?;
    Ok(CoreView {
        rank,
        refresh,
        sigma: core.sigma,
        sigma_bound: sigma_bound(views, refresh, rank)?,
        residual: convergence.first().copied(),
        sigma_change: convergence.get(1).copied(),
        density: 100.0 * core.edges as f64 / pairs,
        edges: core.edges,
        seed: views.name(core.seed)?.1,
        hub_sites: number(core.hub_sites()),
        gives_seed: core.gives_seed,
        hubs: views.urls(&core.hubs)?,
        authorities: views.urls(&core.authorities)?,
        hub_scores: scores(CoreScoresPart::Hubs)?,
        authority_scores: scores(CoreScoresPart::Authorities)?,
        sides: member_order::unpack(&core.sides, core.hubs.len() + core.authorities.len()),
    })
}

/// Returns the upper bound of the singular value of every remaining region at a core; `None` if the core's
/// own sigma is that bound.
pub(super) fn sigma_bound(
    views: &Views,
    refresh: RefreshId,
    rank: u32,
) -> Result<Option<f64>, StoreError> {
    let bound = core_figures(views, refresh, rank, CoreScoresPart::Bound)?;
    Ok(bound.first().copied())
}

/// Returns what is stored of the accuracy of a core; nothing if its plan has no such part.
fn core_figures(
    views: &Views,
    refresh: RefreshId,
    rank: u32,
    side: CoreScoresPart,
) -> Result<Vec<f64>, StoreError> {
    let key = CoreScoresKey {
        refresh,
        rank,
        side,
    };
    let found = views.reader.get(&tables::CORE_SCORES, &key)?;
    Ok(found.unwrap_or_default())
}

fn batch_view(views: &Views, batch: BatchId, mut record: BatchRecord) -> BatchView {
    if views.hides_folders {
        for input in &mut record.inputs {
            *input = file_name(input).to_owned();
        }
    }
    BatchView {
        batch,
        record: BatchSummary {
            name: record.name,
            kind: record.kind,
            inputs: record.inputs,
            at: record.at,
            seconds: record.seconds,
            counts: record.counts,
            stale: record.stale,
            failed: record.failed,
            failing: record.failing,
        },
    }
}

/// Returns the number of uncrawled outlinks of a page, given or counted.
pub(super) fn uncrawled_outlinks(
    views: &Views,
    page: PageId,
    record: &PageRecord,
) -> Result<u64, EngineError> {
    if let Some(given) = record.uncrawled_given {
        return Ok(given.into());
    }
    let mut uncrawled = u64::from(record.uncrawled_intra);
    if let Some(row) = record.row {
        let row = seedbank_algorithms::page::RowId::new(page.site(), row);
        uncrawled += u64::from(views.reader.need(&tables::ROW_MEMBERS, &row)?.uncrawled);
    }
    Ok(uncrawled)
}

fn page_view(views: &Views, page: PageId, record: &PageRecord) -> Result<PageView, EngineError> {
    let site = views.reader.need(&tables::SITES, &page.site())?.name;
    let url = ingest::url(&site, &record.local, views.naming.sites);
    let targets = views.reader.links_of(page, record.row)?;
    let mut outlinks = views.urls(&targets)?;
    outlinks.sort_unstable();
    Ok(PageView {
        url,
        site,
        state: record.state,
        alias: views.alias(page, record)?,
        kind: record.kind,
        canonical: match record.canonical {
            Some(to) => Some(views.name(to)?.1),
            None => None,
        },
        spam: record.spam,
        quality: record.quality.map(Value::from_quality),
        clicks: record.clicks,
        uncrawled_outlinks: uncrawled_outlinks(views, page, record)?,
        uncrawled_given: record.uncrawled_given.is_some(),
        fetched: record.fetched,
        outlinks,
    })
}

pub(crate) fn successor_view(
    views: &Views,
    page: PageId,
    succession: Succession,
) -> Result<SuccessorView, EngineError> {
    Ok(SuccessorView {
        url: views.name(page)?.1,
        same_core: succession.same_core,
        similarity: succession.similarity,
    })
}
