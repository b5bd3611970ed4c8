//! The origin of the last fetch of a page that a crawler attributed to a seed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::EngineError;
use crate::engine::history::seed_counts::last_fetches;
use seedbank_algorithms::page::PageId;
use seedbank_formats::ingest::{FORGOTTEN_URL, URL_PATTERN};
use seedbank_store::records::{BatchId, PageRecord};

/// Origin of the last fetch of a page that a crawler attributed to a seed, as reported by the
/// crawler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FetchOrigin {
    /// Batch with the fetch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Whether the fetch failed.
    pub failed: bool,
    /// Seed that the crawl came from.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Page by which the crawler found this one; absent if it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub via: Option<String>,
    /// Number of links from the seed; absent if the crawler does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// Returns the origin of the last fetch of a page with a seed that is not forgotten. `is_failing`
/// tells whether the last fetch of the page failed.
pub(super) fn fetch_origin(
    views: &Views,
    page: PageId,
    record: &PageRecord,
    is_failing: bool,
) -> Result<Option<FetchOrigin>, EngineError> {
    let Some((batch, fetches)) = last_fetches(&views.reader, page, record)? else {
        return Ok(None);
    };
    let (answered, failed) = (fetches.answered, fetches.failed);
    let last = match (answered, failed) {
        (Some(fetch), None) => Some((fetch, false)),
        (Some(fetch), Some(_)) if !is_failing => Some((fetch, false)),
        (_, failed) => failed.map(|fetch| (fetch, true)),
    };
    let Some((fetch, failed)) = last else {
        return Ok(None);
    };
    let url = |page| -> Result<Option<String>, EngineError> {
        let (_, url) = views.name(page)?;
        Ok(Some(url).filter(|url| url != FORGOTTEN_URL))
    };
    let Some(seed) = url(fetch.seed)? else {
        return Ok(None);
    };
    Ok(Some(FetchOrigin {
        batch,
        failed,
        seed,
        via: match fetch.via {
            Some(via) => url(via)?,
            None => None,
        },
        depth: fetch.depth,
    }))
}
