//! Iterators over the seeds and the cores of a refresh.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::vec;

use super::answers::{CoreView, Seed, Which};
use super::views::{SeedRun, Views, core_view, seed_view};
use crate::engine::plan::Method;
use crate::engine::policy::pinned_urls;
use crate::engine::{Bank, EngineError, Result};
use seedbank_formats::ingest::FORGOTTEN_URL;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedRecord};
use seedbank_store::tables;

/// The seeds of a refresh, best first; see [`Bank::seeds`].
///
/// All of them come from the state that was published when the iterator was made. That state occupies
/// disk space until the iterator is dropped.
pub struct Seeds {
    views: Views,
    plan: String,
    method: Method,
    refresh: RefreshId,
    pinned: HashSet<String>,
    list: vec::IntoIter<(u32, SeedRecord)>,
}

impl Seeds {
    pub(super) fn new(
        views: Views,
        refresh: RefreshId,
        record: RefreshRecord,
    ) -> Result<Self, EngineError> {
        let options = views.options(&record.settings)?;
        Ok(Self {
            pinned: pinned_urls(&views.reader, options.lists(), views.naming)?,
            list: views.reader.list(refresh)?.into_iter(),
            plan: record.plan,
            method: options.method.unwrap_or_default(),
            refresh,
            views,
        })
    }
}

impl Iterator for Seeds {
    type Item = Result<Seed, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let run = SeedRun {
            plan: &self.plan,
            method: self.method,
            refresh: self.refresh,
        };
        loop {
            let (rank, seed) = self.list.next()?;
            match seed_view(&self.views, run, &self.pinned, rank, &seed) {
                // Forgotten pages have no URL that a crawler could fetch.
                Ok(seed) if seed.url == FORGOTTEN_URL => {}
                seed => return Some(seed),
            }
        }
    }
}

/// The cores of a refresh, in order; see [`Bank::cores`].
///
/// All of them come from the state that was published when the iterator was made. That state occupies
/// disk space until the iterator is dropped.
pub struct Cores {
    views: Views,
    refresh: RefreshId,
    ranks: RangeInclusive<u32>,
}

impl Iterator for Cores {
    type Item = Result<CoreView, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rank = self.ranks.next()?;
        let key = (self.refresh, rank);
        let core = self.views.reader.need(&tables::CORES, &key);
        let view = core.map_err(EngineError::from);
        Some(view.and_then(|core| core_view(&self.views, self.refresh, rank, &core)))
    }
}

impl Bank {
    /// Returns the seeds of a refresh, best first. Seeds of cores follow the order of the cores. With
    /// cover methods the first picks of all sites come first, then the second picks, and so on; each round
    /// is ordered by the value that the seeds cover, ties by site name.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// for seed in bank.seeds("default")? {
    ///     let seed = seed?;
    ///     println!("{} {}", seed.rank, seed.url);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: one scan of the list, and for each seed three reads. Memory: the list without its URLs.
    pub fn seeds(&self, which: impl Into<Which>) -> Result<Seeds, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        Seeds::new(views, refresh, record)
    }

    /// Returns the cores of a refresh, in order.
    ///
    /// Cost: for each core one read of its record, and two for each of its pages.
    pub fn cores(&self, which: impl Into<Which>) -> Result<Cores, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        Ok(Cores {
            views,
            refresh,
            ranks: 1..=record.cores,
        })
    }
}
