//! Compares a seed list with the previous one of the plan, to tell whether a crawler needs it.

use super::answers::{Seed, Which};
use super::diff::refreshes_of;
use super::refresh_iterators::Seeds;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_store::records::RefreshId;

/// Seed list and the previous one of the same plan, read from one published state.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ListWithPrevious {
    /// Number of the refresh.
    pub refresh: RefreshId,
    /// Plan of the refresh.
    pub plan: String,
    /// Seeds, best first.
    pub seeds: Vec<Seed>,
    /// Previous stored refresh of the plan; `None` if there is none.
    pub previous: Option<PreviousList>,
}

/// Seed list of the previous refresh.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PreviousList {
    /// Number of the refresh.
    pub refresh: RefreshId,
    /// URLs of its seeds, best first. A seed that was forgotten since has a placeholder that no page has, so
    /// that a list without it counts as different.
    pub urls: Vec<String>,
}

impl ListWithPrevious {
    /// Returns whether the first `limit` seeds (all if `None`) are the same pages in the same order as in
    /// the previous list; `false` without a previous list.
    #[must_use]
    pub fn is_unchanged(&self, limit: Option<usize>) -> bool {
        let limit = limit.unwrap_or(usize::MAX);
        let Some(previous) = &self.previous else {
            return false;
        };
        let before = previous.urls.iter().take(limit);
        before.eq(self.seeds.iter().take(limit).map(|seed| &seed.url))
    }
}

impl Bank {
    /// Returns the seeds of a refresh, as [`seeds`](Bank::seeds) does, and the list of the previous refresh
    /// of the same plan.
    ///
    /// Cost: one scan of the refresh records, and a read per seed of both lists.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// assert_eq!(bank.seeds_with_previous("default")?.previous, None);
    /// bank.refresh(&RefreshRequest::default())?;
    /// let both = bank.seeds_with_previous("default")?;
    /// assert!(both.is_unchanged(None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seeds_with_previous(
        &self,
        which: impl Into<Which>,
    ) -> Result<ListWithPrevious, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        let before = refreshes_of(&views, &record.plan)?
            .into_iter()
            .rfind(|(number, _)| *number < refresh);
        let previous = match before {
            Some((number, _)) => {
                let list = views.reader.list(number)?;
                let urls = list.iter().map(|(_, seed)| Ok(views.name(seed.page)?.1));
                Some(PreviousList {
                    refresh: number,
                    urls: urls.collect::<Result<_, EngineError>>()?,
                })
            }
            None => None,
        };
        let plan = record.plan.clone();
        let seeds = Seeds::new(views, refresh, record)?;
        Ok(ListWithPrevious {
            seeds: seeds.collect::<Result<_, _>>()?,
            refresh,
            plan,
            previous,
        })
    }
}
