//! Records as formats before 7 kept them, and what each becomes.

use serde::{Deserialize, Serialize};

use super::records::{BatchId, PlanRecord, RefreshId, RefreshRecord, SeriesRecord};

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
        }
    }
}
