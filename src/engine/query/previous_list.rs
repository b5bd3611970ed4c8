//! A list beside the one before it: whether a plan's last refresh changed anything for a crawler.

use super::answers::{Seed, Which};
use super::diff::refreshes_of;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_store::records::RefreshId;

/// A list and the one of the same plan before it, both of one published state.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ListWithPrevious {
    /// The refresh.
    pub refresh: RefreshId,
    /// Its plan.
    pub plan: String,
    /// Its seeds, best first.
    pub seeds: Vec<Seed>,
    /// The plan's refresh before it; `None` where none is kept.
    pub previous: Option<PreviousList>,
}

/// The list of an previous refresh.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PreviousList {
    /// The refresh.
    pub refresh: RefreshId,
    /// Its seeds, best first; those that were forgotten since under a name that no page has, so that
    /// a list without them is another one.
    pub urls: Vec<String>,
}

impl ListWithPrevious {
    /// Whether the best `limit` seeds are the same pages in the same order as in the previous list;
    /// all of them where `None`. Without an previous list they are not.
    #[must_use]
    pub fn is_same(&self, limit: Option<usize>) -> bool {
        let limit = limit.unwrap_or(usize::MAX);
        let Some(previous) = &self.previous else {
            return false;
        };
        let before = previous.urls.iter().take(limit);
        before.eq(self.seeds.iter().take(limit).map(|seed| &seed.url))
    }
}

impl Bank {
    /// The seeds of a refresh, as [`seeds`](Bank::seeds) gives them, and those of the same plan's
    /// refresh before it.
    ///
    /// Cost: one scan of the records of refreshes, and a read for each seed of both lists.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::Which;
    ///
    /// assert_eq!(bank.seeds_with_previous(&Which::default())?.previous, None);
    /// bank.refresh(&RefreshRequest::default(), &Unwatched)?;
    /// let both = bank.seeds_with_previous(&Which::default())?;
    /// assert!(both.is_same(None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seeds_with_previous(&self, which: &Which) -> Result<ListWithPrevious, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
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
        Ok(ListWithPrevious {
            seeds: views.seeds(refresh, &record)?,
            refresh,
            plan: record.plan,
            previous,
        })
    }
}
