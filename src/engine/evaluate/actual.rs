//! What crawlers fetched from each seed, beside what the lists promised.

use std::collections::{BTreeMap, HashMap};

use super::answers::{ActualEvaluation, ActualRequest, PlanActual, SeedActual};
use super::seed_lists::state;

use crate::engine::history::seed_counts::{SeedCounts, SeedPromise, batches, count, for_each_page};
use crate::engine::plan::ResolvedPlan;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, PlanOptions};
use seedbank_algorithms::cover::global::ValueBy;
use seedbank_algorithms::cover::{PUniq, PageFacts, Value, Weights, page_value};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::FORGOTTEN_URL;
use seedbank_store::records::{
    BatchId, BatchRecord, FetchCounts, PageRecord, PageState, RefreshId, RefreshRecord,
};
use seedbank_store::seed_fetches::SeedFetches;
use seedbank_store::{Store, StoreError, tables};

/// See [`Bank::evaluate_actual`].
pub(super) fn run(
    bank: &Bank,
    request: &ActualRequest,
    watch: &dyn Watch,
) -> Result<ActualEvaluation, EngineError> {
    let views = Views::open(bank)?;
    let store: &Store = &views.reader;
    let mut lists = plans(store, request.plan.as_deref())?;
    let since = request.since.unwrap_or(1).saturating_sub(1);
    let mut found = batches(store, since, BatchId::MAX)?;
    let tells = |(_, record): &(BatchId, BatchRecord)| {
        record.attributed > 0 || record.unattributed != FetchCounts::default()
    };
    found.retain(tells);
    watch.stage("fetches", Some(found.len() as u64));
    let mut pages = PageValues::new(store);
    let (mut others, mut all) = (BTreeMap::new(), BTreeMap::new());
    let mut unattributed = FetchCounts::default();
    for (batch, record) in &found {
        unattributed = unattributed + record.unattributed;
        for list in &mut lists {
            list.advance(store, *batch)?;
        }
        for_each_page(store, *batch, |page, fetches| {
            watch.proceed()?;
            count(&mut all, fetches);
            add(&mut lists, &mut others, &mut pages, page, fetches)
        })?;
        watch.advance(1);
    }
    let others = rows(&views, others, &HashMap::new())?;
    let mut plans = Vec::with_capacity(lists.len());
    let wanted = |list: &ListInTime| {
        let plan = request.plan.as_ref();
        plan.is_none_or(|plan| *plan == list.plan)
    };
    for list in lists.into_iter().filter(wanted) {
        plans.push(list.finish(&views)?);
    }
    Ok(ActualEvaluation {
        state: state(store)?,
        batches: found.iter().map(|(batch, _)| *batch).collect(),
        plans,
        others,
        unattributed,
        forgotten: forgotten(&views, all)?,
    })
}

/// Adds up the fetches from seeds without a URL.
fn forgotten(views: &Views, all: BTreeMap<PageId, SeedCounts>) -> Result<SeedCounts, EngineError> {
    let mut sum = SeedCounts::default();
    for (seed, counts) in all {
        if views.name(seed)?.1 == FORGOTTEN_URL {
            sum = sum + counts;
        }
    }
    Ok(sum)
}

/// Adds the fetches of a page to their seeds, in every plan with the seed on its list, or else to the others.
fn add(
    lists: &mut [ListInTime],
    others: &mut BTreeMap<PageId, SeedSums>,
    pages: &mut PageValues<'_>,
    page: PageId,
    fetches: &SeedFetches,
) -> Result<(), EngineError> {
    let both = [(fetches.answered, false), (fetches.failed, true)];
    for (fetch, is_failed) in both {
        let Some(fetch) = fetch else { continue };
        let is_worth = !is_failed && !fetches.is_duplicate;
        let mut is_listed = false;
        let of_seed = lists.iter_mut().filter_map(|list| {
            let sums = list.seeds.get_mut(&fetch.seed)?;
            sums.is_current.then_some((sums, list.valuation))
        });
        for (sums, valuation) in of_seed {
            is_listed = true;
            sums.add(fetches, is_failed);
            if let (Some(valuation), true) = (valuation, is_worth) {
                sums.value += pages.value(page, &valuation)?;
            }
        }
        if !is_listed {
            let sums = others.entry(fetch.seed).or_default();
            sums.add(fetches, is_failed);
            if is_worth {
                sums.value += pages.value(page, &Valuation::default())?;
            }
        }
    }
    Ok(())
}

/// Sums over the fetches from a seed.
#[derive(Default)]
struct SeedSums {
    /// Whether the seed is on the list at this time.
    is_current: bool,
    counts: SeedCounts,
    /// Value in millionths.
    value: i64,
    promised: Option<SeedPromise>,
}

impl SeedSums {
    fn add(&mut self, fetches: &SeedFetches, is_failed: bool) {
        if is_failed {
            self.counts.failed += 1;
        } else {
            self.counts.add_answered(fetches);
        }
    }
}

/// How a plan values pages.
#[derive(Clone, Copy, Default)]
struct Valuation {
    weights: Weights,
    p_uniq: Option<Value>,
}

impl Valuation {
    /// Returns `None` for values by PageRank.
    fn from_plan(plan: &ResolvedPlan) -> Option<Self> {
        match plan {
            ResolvedPlan::Cores(_) => Some(Self::default()),
            ResolvedPlan::Cover(choice) => Some(Self {
                weights: choice.weights,
                p_uniq: choice.p_uniq,
            }),
            ResolvedPlan::Web(choice) => (choice.value_by == ValueBy::Weights).then_some(Self {
                weights: choice.weights,
                p_uniq: choice.p_uniq,
            }),
        }
    }
}

/// The current list of a plan, updated batch by batch.
struct ListInTime {
    plan: String,
    valuation: Option<Valuation>,
    /// Refreshes whose list is not the last one yet, the latest first.
    later: Vec<(RefreshId, RefreshRecord)>,
    refreshes: Vec<RefreshId>,
    promises: bool,
    seeds: HashMap<PageId, SeedSums>,
    /// Ranks on the last list.
    ranks: HashMap<PageId, u32>,
}

/// Returns the plans with their refreshes. An unknown plan is an error.
fn plans(store: &Store, wanted: Option<&str>) -> Result<Vec<ListInTime>, EngineError> {
    let mut lists = Vec::new();
    for entry in store.scan(&tables::PLANS)? {
        let (plan, record) = entry?;
        let resolved = PlanOptions::from_stored(&record.settings)?.resolve()?;
        lists.push(ListInTime {
            plan,
            valuation: Valuation::from_plan(&resolved),
            later: Vec::new(),
            refreshes: Vec::new(),
            promises: false,
            seeds: HashMap::new(),
            ranks: HashMap::new(),
        });
    }
    if let Some(wanted) = wanted
        && !lists.iter().any(|list| list.plan == wanted)
    {
        return Err(EngineError::UnknownPlan(wanted.to_owned()));
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (refresh, record) = entry?;
        if let Some(list) = lists.iter_mut().find(|list| list.plan == record.plan) {
            list.later.insert(0, (refresh, record));
        }
    }
    Ok(lists)
}

impl ListInTime {
    /// Takes the last list that was made before a batch.
    fn advance(&mut self, store: &Store, batch: BatchId) -> Result<(), EngineError> {
        let mut last = None;
        while let Some(refresh) = self.later.pop_if(|(_, record)| record.batch < batch) {
            last = Some(refresh.0);
        }
        let Some(refresh) = last else {
            return Ok(());
        };
        self.refreshes.push(refresh);
        self.ranks.clear();
        for sums in self.seeds.values_mut() {
            sums.is_current = false;
        }
        for (rank, seed) in store.list(refresh)? {
            self.ranks.insert(seed.page, rank);
            let sums = self.seeds.entry(seed.page).or_default();
            sums.is_current = true;
            if let Some(promise) = SeedPromise::from_evidence(&seed.evidence) {
                self.promises = true;
                let sum = sums.promised.get_or_insert_default();
                sum.pages += promise.pages;
                sum.known += promise.known;
                sum.value += promise.value;
            }
        }
        Ok(())
    }

    fn finish(self, views: &Views) -> Result<PlanActual, EngineError> {
        let mut seeds = rows(views, self.seeds, &self.ranks)?;
        if self.valuation.is_none() {
            for seed in &mut seeds {
                (seed.value, seed.value_per_fetch) = (None, None);
            }
        }
        Ok(PlanActual {
            plan: self.plan,
            refreshes: self.refreshes,
            promises: self.promises,
            valued: self.valuation.is_some(),
            seeds,
        })
    }
}

/// Returns the rows of seeds, by rank and then by URL, without forgotten seeds, which have none.
fn rows(
    views: &Views,
    seeds: impl IntoIterator<Item = (PageId, SeedSums)>,
    ranks: &HashMap<PageId, u32>,
) -> Result<Vec<SeedActual>, EngineError> {
    let mut rows = Vec::new();
    for (page, sums) in seeds {
        let (_, url) = views.name(page)?;
        if url == FORGOTTEN_URL {
            continue;
        }
        let value = sums.value as f64 / 1e6;
        let fetches = sums.counts.fetches();
        rows.push(SeedActual {
            url,
            rank: ranks.get(&page).copied(),
            counts: sums.counts,
            value: Some(value),
            value_per_fetch: (fetches > 0).then(|| value / fetches as f64),
            promised: sums.promised,
        });
    }
    rows.sort_by(|a, b| {
        let rank = |row: &SeedActual| row.rank.unwrap_or(u32::MAX);
        rank(a).cmp(&rank(b)).then_with(|| a.url.cmp(&b.url))
    });
    Ok(rows)
}

/// Values of pages by their attributes today.
struct PageValues<'a> {
    store: &'a Store,
    /// Distinct digests of a site, and its pages with a digest.
    digests: HashMap<SiteId, (u32, u32)>,
    /// The last page, with its facts if it is crawled.
    last: Option<(PageId, Option<PageFacts>)>,
}

impl<'a> PageValues<'a> {
    fn new(store: &'a Store) -> Self {
        Self {
            store,
            digests: HashMap::new(),
            last: None,
        }
    }

    /// Returns the value of a page in millionths; 0 if it is not crawled.
    fn value(&mut self, page: PageId, by: &Valuation) -> Result<i64, EngineError> {
        let facts = match self.last {
            Some((last, facts)) if last == page => facts,
            _ => {
                let facts = self.facts(page)?;
                self.last = Some((page, facts));
                facts
            }
        };
        let Some(facts) = facts else {
            return Ok(0);
        };
        let site = page.site();
        let digests = if let Some(digests) = self.digests.get(&site) {
            *digests
        } else {
            let record = self.store.need(&tables::SITES, &site)?;
            let digests = (record.distinct_digests, record.with_digest);
            self.digests.insert(site, digests);
            digests
        };
        let p_uniq = PUniq::new(by.p_uniq, digests.0.into(), digests.1.into());
        Ok(page_value(facts, p_uniq, &by.weights))
    }

    fn facts(&self, page: PageId) -> Result<Option<PageFacts>, StoreError> {
        let record = self.store.need(&tables::PAGES, &page)?;
        if record.state != PageState::Crawled {
            return Ok(None);
        }
        Ok(Some(PageFacts {
            spam: record.spam,
            clicks: record.clicks,
            uncrawled_outlinks: self.uncrawled_outlinks(page, &record)?,
            quality: record.quality(),
        }))
    }

    fn uncrawled_outlinks(&self, page: PageId, record: &PageRecord) -> Result<u32, StoreError> {
        if let Some(given) = record.uncrawled_given {
            return Ok(given);
        }
        let in_row = match record.row {
            Some(row) => {
                let row = RowId::new(page.site(), row);
                self.store.need(&tables::ROW_MEMBERS, &row)?.uncrawled
            }
            None => 0,
        };
        Ok(record.uncrawled_intra.saturating_add(in_row))
    }
}
