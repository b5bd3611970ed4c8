//! Records as formats before 7 kept them, and what each becomes.

use serde::{Deserialize, Serialize};

use super::records::{
    BatchId, CoreRecord, CoverRecord, CoverStop, Hash128, PageRecord, PageState, PlanRecord,
    RefreshId, RefreshRecord, SeriesRecord, SiteGiven, SiteRecord,
};
use super::table::widened_values;
use seedbank_algorithms::page::PageId;

/// A [`PlanRecord`] before plans named lists.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderPlan {
    settings: String,
    last_refresh: RefreshId,
}

impl From<OlderPlan> for PlanRecord {
    fn from(older: OlderPlan) -> Self {
        Self {
            settings: older.settings,
            last_refresh: older.last_refresh,
            lists: Vec::new(),
        }
    }
}

/// A [`RefreshRecord`] before plans named lists.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderRefresh {
    plan: String,
    settings: String,
    batch: BatchId,
    at: u64,
    seconds: f64,
    cold: bool,
    certified: bool,
    doubt: Option<String>,
    seeds: u32,
    cores: u32,
    steps_reused: u64,
    steps_recomputed: u64,
    link_visits: u64,
    page_visits: u64,
    standings: Option<SeriesRecord>,
    components: u32,
}

impl From<OlderRefresh> for RefreshRecord {
    fn from(older: OlderRefresh) -> Self {
        Self {
            plan: older.plan,
            settings: older.settings,
            batch: older.batch,
            at: older.at,
            seconds: older.seconds,
            cold: older.cold,
            certified: older.certified,
            doubt: older.doubt,
            seeds: older.seeds,
            cores: older.cores,
            steps_reused: older.steps_reused,
            steps_recomputed: older.steps_recomputed,
            link_visits: older.link_visits,
            page_visits: older.page_visits,
            standings: older.standings,
            components: older.components,
            lists: Vec::new(),
            policy: None,
            chosen: None,
        }
    }
}

/// A [`CoreRecord`] when every core gave a seed.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderCore {
    sigma: f64,
    edges: u64,
    hubs: Vec<PageId>,
    authorities: Vec<PageId>,
    sides: Vec<u8>,
    seed: PageId,
}

impl From<OlderCore> for CoreRecord {
    fn from(older: OlderCore) -> Self {
        Self {
            sigma: older.sigma,
            edges: older.edges,
            hubs: older.hubs,
            authorities: older.authorities,
            sides: older.sides,
            seed: older.seed,
            gives_seed: true,
        }
    }
}

/// A [`CoverRecord`] when every crawled page could be a seed.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderCover {
    since: RefreshId,
    seats: u32,
    ranks: Vec<u32>,
    stop: CoverStop,
    crawled: u32,
    value: Option<i64>,
    page_visits: u64,
}

impl From<OlderCover> for CoverRecord {
    fn from(older: OlderCover) -> Self {
        Self {
            since: older.since,
            seats: older.seats,
            ranks: older.ranks,
            stop: older.stop,
            crawled: older.crawled,
            value: older.value,
            page_visits: older.page_visits,
            allowed: None,
            pinned: 0,
        }
    }
}

/// A [`SiteRecord`] before records of sites.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderSite {
    name: String,
    next_page: u32,
    next_row: u32,
    changed: BatchId,
    cover_changed: BatchId,
    known: u32,
    crawled: u32,
    gone: u32,
    spam: u32,
    with_digest: u32,
    distinct_digests: u32,
    rows: u32,
    row_links: u64,
    intra_links: u64,
    inter_links: u64,
}

impl From<OlderSite> for SiteRecord {
    fn from(older: OlderSite) -> Self {
        Self {
            name: older.name,
            next_page: older.next_page,
            next_row: older.next_row,
            changed: older.changed,
            cover_changed: older.cover_changed,
            known: older.known,
            crawled: older.crawled,
            gone: older.gone,
            spam: older.spam,
            with_digest: older.with_digest,
            distinct_digests: older.distinct_digests,
            rows: older.rows,
            row_links: older.row_links,
            intra_links: older.intra_links,
            inter_links: older.inter_links,
            given: SiteGiven::default(),
            known_quality: 0,
            crawled_quality: 0,
        }
    }
}

/// A [`PageRecord`] before pages had a quality, and sites attributes.
#[derive(Serialize, Deserialize)]
pub(super) struct OlderPage {
    local: String,
    state: PageState,
    spam: bool,
    clicks: u64,
    uncrawled_given: Option<u32>,
    uncrawled_intra: u32,
    digest: Option<Hash128>,
    row: Option<u32>,
    first_seen: BatchId,
    last_seen: Option<BatchId>,
}

impl From<OlderPage> for PageRecord {
    fn from(older: OlderPage) -> Self {
        Self {
            local: older.local,
            state: older.state,
            spam: older.spam,
            clicks: older.clicks,
            uncrawled_given: older.uncrawled_given,
            uncrawled_intra: older.uncrawled_intra,
            digest: older.digest,
            row: older.row,
            first_seen: older.first_seen,
            last_seen: older.last_seen,
            // `false` was also what a page had of which nothing was said.
            spam_given: older.spam.then_some(true),
            quality_given: None,
            quality: None,
        }
    }
}

widened_values!(
    SiteRecord, once OlderSite;
    PageRecord, once OlderPage;
    PlanRecord, once OlderPlan;
    RefreshRecord, once OlderRefresh;
    CoreRecord, once OlderCore;
    CoverRecord, once OlderCover;
);
