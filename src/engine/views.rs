//! What a bank tells: seeds, cores, history, status. All of it from the published state, so it
//! can be asked while another process writes.

use serde::Serialize;

use super::plan::{DEFAULT_PLAN, PlanOptions};
use super::refresh_cores::unpack_sides;
use super::{Bank, EngineError, site_mode};
use crate::ingest::{self, SiteMode};
use crate::page::PageId;
use crate::storage::records::{
    BatchId, BatchRecord, CoreRecord, Counters, PageState, RefreshId, RefreshRecord, SeedEvidence,
};
use crate::storage::tables::{self, VectorKey, VectorSide};
use crate::storage::{CheckReport, Reader, Store, StoreError, Writer};
use crate::watch::Watch;

/// Which refresh is meant: one by number, else a plan's last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Which {
    /// The plan; where a refresh is given too, it must be one of this plan.
    pub plan: Option<String>,
    /// The refresh.
    pub refresh: Option<RefreshId>,
}

/// A seed of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Seed {
    /// Its rank, from 1.
    pub rank: u32,
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// The method that selected it.
    pub method: String,
    /// The plan.
    pub plan: String,
    /// The refresh.
    pub refresh: RefreshId,
    /// Why it was selected.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Why a seed was selected.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Evidence {
    /// It is the chosen hub of a core.
    Core {
        /// The core's rank.
        core: u32,
        /// The core's sigma.
        sigma: f64,
        /// Its hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers value on its site.
    Cover {
        /// The score that it was picked by: a weight in units, a PageRank or an out-degree; `null`
        /// where it was drawn.
        gain: Option<f64>,
        /// Pages that it covers and no earlier pick of the site does.
        covered_pages: u64,
        /// Their value.
        covered_value: f64,
        /// Its place among the picks of the site, from 1.
        pick: u32,
        /// The refresh that picked it; later ones took it over.
        since: RefreshId,
        /// The site's seats where seeds are shared out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<u32>,
    },
}

/// A core of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CoreView {
    /// Its rank, from 1.
    pub rank: u32,
    /// The refresh.
    pub refresh: RefreshId,
    /// The singular value of the region that it came from.
    pub sigma: f64,
    /// Links from its hubs to its authorities, in per cent of all that could be.
    pub density: f64,
    /// Links from its hubs to its authorities.
    pub edges: u64,
    /// The hub that became the seed.
    pub seed: String,
    /// Hubs in the order in which they were taken.
    pub hubs: Vec<String>,
    /// Authorities in the order in which they were taken.
    pub authorities: Vec<String>,
    /// Their scores, L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Their scores, L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// The interleaving of the additions: `a` for an authority, `h` for a hub.
    pub sides: String,
}

/// A batch as `history` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BatchView {
    /// Its number.
    pub batch: BatchId,
    /// What is kept of it.
    #[serde(flatten)]
    pub record: BatchSummary,
}

/// What `history` tells of a batch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BatchSummary {
    /// The user's name for it.
    pub name: String,
    /// Snapshot or delta.
    pub kind: crate::storage::records::BatchKind,
    /// The inputs, as they were named.
    pub inputs: Vec<String>,
    /// When it was ingested, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long that took, in seconds.
    pub seconds: f64,
    /// What it did.
    pub counts: crate::storage::records::BatchCounts,
}

/// A refresh as `history` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RefreshView {
    /// Its number.
    pub refresh: RefreshId,
    /// The plan.
    pub plan: String,
    /// The parameters that it ran with.
    pub parameters: PlanOptions,
    /// The last batch of the state that it ran on.
    pub batch: BatchId,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Whether every result was proven.
    pub certified: bool,
    /// Why not, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned.
    pub page_visits: u64,
}

/// Batches and refreshes in order.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct History {
    /// Batches.
    pub batches: Vec<BatchView>,
    /// Refreshes that are kept.
    pub refreshes: Vec<RefreshView>,
}

/// A plan as `status` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanView {
    /// Its name.
    pub plan: String,
    /// Its parameters.
    pub parameters: PlanOptions,
    /// Its last refresh.
    pub last_refresh: RefreshId,
}

/// What a bank holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// The format version.
    pub format: u32,
    /// What a site is.
    pub site_mode: SiteMode,
    /// The version of the public suffix list.
    pub suffix_list: String,
    /// Sites with at least one page that is known, crawled or gone.
    pub sites: u64,
    /// Totals and last numbers.
    #[serde(flatten)]
    pub counters: CounterView,
    /// Plans by name.
    pub plans: Vec<PlanView>,
    /// Bytes on disk, by table.
    pub tables: Vec<TableSize>,
}

/// Totals over the bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CounterView {
    /// Batches ingested.
    pub batches: BatchId,
    /// Refreshes run, deleted ones included.
    pub refreshes: RefreshId,
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links.
    pub inter_links: u64,
    /// Rows.
    pub rows: u64,
    /// Targets of all rows, each row counted once.
    pub row_links: u64,
}

impl From<Counters> for CounterView {
    fn from(counters: Counters) -> Self {
        Self {
            batches: counters.batch,
            refreshes: counters.refresh,
            known: counters.known,
            crawled: counters.crawled,
            gone: counters.gone,
            spam: counters.spam,
            intra_links: counters.intra_links,
            inter_links: counters.inter_links,
            rows: counters.rows,
            row_links: counters.row_links,
        }
    }
}

/// How large a table is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TableSize {
    /// The table.
    pub table: &'static str,
    /// Bytes of its files and of what is not in files yet.
    pub bytes: u64,
    /// An estimate of its entries.
    pub entries: u64,
}

/// A page as it stands in the bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageView {
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled or gone.
    pub state: PageState,
    /// The spam mark.
    pub spam: bool,
    /// Clicks.
    pub clicks: u64,
    /// Its uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether they were given.
    pub uncrawled_given: bool,
    /// Its links, in URL order.
    pub outlinks: Vec<String>,
}

/// The published state, with URLs.
struct Views {
    reader: Reader,
    mode: SiteMode,
}

impl Views {
    fn open(bank: &Bank) -> Result<Self, EngineError> {
        let reader = Reader::open(bank.path())?;
        let mode = site_mode(&reader.settings()?)?;
        Ok(Self { reader, mode })
    }

    /// A page's site and URL.
    fn name(&self, page: PageId) -> Result<(String, String), StoreError> {
        let site = self.reader.need(&tables::SITES, &page.site())?.name;
        let record = self.reader.need(&tables::PAGES, &page)?;
        let url = ingest::url(&site, &record.local, self.mode);
        Ok((site, url))
    }

    fn urls(&self, pages: &[PageId]) -> Result<Vec<String>, StoreError> {
        pages.iter().map(|page| Ok(self.name(*page)?.1)).collect()
    }

    /// The refresh that is meant.
    fn find(&self, which: &Which) -> Result<(RefreshId, RefreshRecord), EngineError> {
        let Some(refresh) = which.refresh else {
            let plan = which.plan.as_deref().unwrap_or(DEFAULT_PLAN);
            let found = self.reader.get(&tables::PLANS, &plan.to_owned())?;
            let found = found.ok_or_else(|| EngineError::NoPlan(plan.to_owned()))?;
            let refresh = found.last_refresh;
            return Ok((refresh, self.reader.need(&tables::REFRESHES, &refresh)?));
        };
        let record = self.reader.get(&tables::REFRESHES, &refresh)?;
        let record = record.ok_or(EngineError::NoRefresh(refresh))?;
        match &which.plan {
            Some(plan) if *plan != record.plan => Err(EngineError::OtherPlan {
                refresh,
                found: record.plan,
                asked: plan.clone(),
            }),
            _ => Ok((refresh, record)),
        }
    }
}

impl Bank {
    /// The seeds of a refresh, best first: by cores in the order of the cores; by cover first the
    /// first pick of every site, then the second ones, and so on, each round by the value that the
    /// seeds cover, ties by site name.
    pub fn seeds(&self, which: &Which) -> Result<Vec<Seed>, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
        let options = PlanOptions::from_kept(&record.settings)?;
        let method = options.method.unwrap_or_default().name();
        let mut seeds = Vec::new();
        for entry in views
            .reader
            .scan_under(&tables::SEEDS, &refresh.to_be_bytes())?
        {
            let ((_, rank), seed) = entry?;
            let (site, url) = views.name(seed.page)?;
            seeds.push(Seed {
                rank,
                url,
                site,
                method: method.to_owned(),
                plan: record.plan.clone(),
                refresh,
                evidence: evidence(&seed.evidence),
            });
        }
        Ok(seeds)
    }

    /// Hands the cores of a refresh to `each`, in order, one at a time.
    pub fn cores<E: From<EngineError>>(
        &self,
        which: &Which,
        mut each: impl FnMut(CoreView) -> Result<(), E>,
    ) -> Result<(), E> {
        let views = Views::open(self)?;
        let (refresh, _) = views.find(which)?;
        let prefix = refresh.to_be_bytes();
        let cores = views.reader.scan_under(&tables::CORES, &prefix);
        for entry in cores.map_err(EngineError::from)? {
            let ((_, rank), core) = entry.map_err(EngineError::from)?;
            each(core_view(&views, refresh, rank, &core)?)?;
        }
        Ok(())
    }

    /// Batches and refreshes, in order.
    pub fn history(&self) -> Result<History, EngineError> {
        let views = Views::open(self)?;
        let mut history = History {
            batches: Vec::new(),
            refreshes: Vec::new(),
        };
        for entry in views.reader.scan(&tables::BATCHES)? {
            let (batch, record) = entry?;
            history.batches.push(batch_view(batch, record));
        }
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            history.refreshes.push(refresh_view(refresh, record)?);
        }
        Ok(history)
    }

    /// What the bank holds.
    ///
    /// Cost: one scan of the sites.
    pub fn status(&self) -> Result<Status, EngineError> {
        let views = Views::open(self)?;
        let store: &Store = &views.reader;
        let settings = store.settings()?;
        let mut sites = 0;
        for entry in store.scan(&tables::SITES)? {
            let (_, site) = entry?;
            sites += u64::from(site.known + site.crawled + site.gone > 0);
        }
        let mut plans = Vec::new();
        for entry in store.scan(&tables::PLANS)? {
            let (plan, record) = entry?;
            plans.push(PlanView {
                plan,
                parameters: PlanOptions::from_kept(&record.settings)?,
                last_refresh: record.last_refresh,
            });
        }
        let tables = store
            .sizes()?
            .into_iter()
            .map(|(table, bytes, entries)| TableSize {
                table,
                bytes,
                entries,
            })
            .collect();
        Ok(Status {
            format: tables::FORMAT,
            site_mode: views.mode,
            suffix_list: settings.suffix_list,
            sites,
            counters: store.counters()?.into(),
            plans,
            tables,
        })
    }

    /// Walks every table against its mirrors.
    ///
    /// Looks at the live database, waiting for nobody: while another process writes, it is the
    /// published state that is checked, and the second value is `false`.
    pub fn check(&self, watch: &dyn Watch) -> Result<(CheckReport, bool), EngineError> {
        match Writer::open(self.path(), false, watch) {
            Ok(writer) => Ok((writer.check(watch)?, true)),
            Err(StoreError::Busy(_)) => Ok((Reader::open(self.path())?.check(watch)?, false)),
            Err(e) => Err(e.into()),
        }
    }

    /// Hands every page that is known, crawled or gone to `each`, site by site.
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

fn evidence(kept: &SeedEvidence) -> Evidence {
    match kept {
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
    }
}

fn core_view(
    views: &Views,
    refresh: RefreshId,
    rank: u32,
    core: &CoreRecord,
) -> Result<CoreView, EngineError> {
    let scores = |side| {
        let key = VectorKey {
            refresh,
            rank,
            side,
        };
        views.reader.need(&tables::VECTORS, &key)
    };
    let pairs = core.hubs.len() as f64 * core.authorities.len() as f64;
    Ok(CoreView {
        rank,
        refresh,
        sigma: core.sigma,
        density: 100.0 * core.edges as f64 / pairs,
        edges: core.edges,
        seed: views.name(core.seed)?.1,
        hubs: views.urls(&core.hubs)?,
        authorities: views.urls(&core.authorities)?,
        hub_scores: scores(VectorSide::Hubs)?,
        authority_scores: scores(VectorSide::Authorities)?,
        sides: unpack_sides(&core.sides, core.hubs.len() + core.authorities.len()),
    })
}

fn batch_view(batch: BatchId, record: BatchRecord) -> BatchView {
    BatchView {
        batch,
        record: BatchSummary {
            name: record.name,
            kind: record.kind,
            inputs: record.inputs,
            at: record.at,
            seconds: record.seconds,
            counts: record.counts,
        },
    }
}

fn refresh_view(refresh: RefreshId, record: RefreshRecord) -> Result<RefreshView, EngineError> {
    Ok(RefreshView {
        refresh,
        plan: record.plan,
        parameters: PlanOptions::from_kept(&record.settings)?,
        batch: record.batch,
        at: record.at,
        seconds: record.seconds,
        seeds: record.seeds,
        cores: record.cores,
        cold: record.cold,
        certified: record.certified,
        doubt: record.doubt,
        link_visits: record.link_visits,
        page_visits: record.page_visits,
    })
}

fn page_view(
    views: &Views,
    page: PageId,
    record: &crate::storage::records::PageRecord,
) -> Result<PageView, EngineError> {
    let site = views.reader.need(&tables::SITES, &page.site())?.name;
    let url = ingest::url(&site, &record.local, views.mode);
    let intra = views.reader.get(&tables::INTRA, &page)?.unwrap_or_default();
    let mut targets: Vec<PageId> = intra
        .into_iter()
        .map(|index| PageId::new(page.site(), index))
        .collect();
    let mut uncrawled = u64::from(record.uncrawled_intra);
    if let Some(row) = record.row {
        let row = crate::page::RowId::new(page.site(), row);
        targets.extend(views.reader.need(&tables::ROWS, &row)?);
        uncrawled += u64::from(views.reader.need(&tables::ROW_MEMBERS, &row)?.uncrawled);
    }
    let mut outlinks = views.urls(&targets)?;
    outlinks.sort_unstable();
    Ok(PageView {
        url,
        site,
        state: record.state,
        spam: record.spam,
        clicks: record.clicks,
        uncrawled_outlinks: record.uncrawled_given.map_or(uncrawled, u64::from),
        uncrawled_given: record.uncrawled_given.is_some(),
        outlinks,
    })
}
