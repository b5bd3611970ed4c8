//! Pages that are always seeds.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::list::List;
use super::rejection_reason::RejectionReason;
use crate::engine::Result;
use crate::engine::error::PlanError;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, BadPattern, Naming};
use seedbank_store::records::PageState;
use seedbank_store::{Store, tables};

/// Pages of the bank that a plan pins.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    /// In the order of the list.
    pub(crate) pages: Vec<PageId>,
    /// Whether each of them is crawled.
    pub(crate) crawled: Vec<bool>,
    positions: HashMap<PageId, u32>,
    /// Pins that cannot be seeds, in the order of the list.
    pub(crate) rejected: Vec<RejectedPin>,
}

/// A pinned page that is not a seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RejectedPin {
    /// The URL as in the list.
    pub url: String,
    /// Why it is not a seed.
    pub why: PinRejection,
}

/// Why a pinned page is not a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinRejection {
    /// The bank does not contain the page.
    Unknown,
    /// The page is gone.
    Gone,
    /// The page redirects to another, or names another one as canonical.
    Alias,
    /// The plan excludes the page.
    Excluded,
}

impl Pins {
    /// Finds the pages of a list of URLs, one per line.
    pub(super) fn find(
        store: &Store,
        text: &str,
        list: &List,
        candidates: &Candidates,
        naming: Naming,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut pins = Self::default();
        for url in text.lines() {
            watch.proceed()?;
            let bad = |_| PlanError::Line {
                list: list.name().to_owned(),
                line: url.to_owned(),
                why: BadPattern::NoPage,
            };
            let at = ingest::parse(url, naming).map_err(bad)?;
            match find(store, &at, candidates)? {
                Ok((page, is_crawled)) => {
                    let position = u32::try_from(pins.pages.len()).unwrap_or(u32::MAX);
                    if let std::collections::hash_map::Entry::Vacant(entry) =
                        pins.positions.entry(page)
                    {
                        entry.insert(position);
                        pins.pages.push(page);
                        pins.crawled.push(is_crawled);
                    }
                }
                Err(why) => pins.rejected.push(RejectedPin {
                    url: url.to_owned(),
                    why,
                }),
            }
        }
        Ok(pins)
    }

    /// Returns a page's position among the pins, from 0; `None` if it is not pinned.
    pub(crate) fn position(&self, page: PageId) -> Option<u32> {
        self.positions.get(&page).copied()
    }

    /// Returns the number of pinned pages that can be seeds.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.pages.len()).unwrap_or(u32::MAX)
    }
}

fn find(
    store: &Store,
    at: &ingest::Location,
    candidates: &Candidates,
) -> Result<Result<(PageId, bool), PinRejection>> {
    let Some(site) = store.get(&tables::SITE_IDS, &at.site)? else {
        return Ok(Err(PinRejection::Unknown));
    };
    let Some(index) = store.get(&tables::PAGE_IDS, &(site, at.local.clone()))? else {
        return Ok(Err(PinRejection::Unknown));
    };
    let page = PageId::new(site, index);
    let record = store.need(&tables::PAGES, &page)?;
    let rejected_by = candidates
        .rejection(&at.site, &record, false)
        .map(|rejection| rejection.by);
    Ok(match (record.state, rejected_by) {
        (PageState::Unlinked, _) => Err(PinRejection::Unknown),
        (PageState::Gone, _) => Err(PinRejection::Gone),
        (PageState::Alias, _) => Err(PinRejection::Alias),
        // Pins override `only`, the minimum quality and failed fetches.
        (_, Some(RejectionReason::Exclude | RejectionReason::ExcludeFromGraph)) => {
            Err(PinRejection::Excluded)
        }
        (state, _) => Ok((page, state == PageState::Crawled)),
    })
}
