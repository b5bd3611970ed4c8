//! Why a page is a seed of one refresh and not of another, from what is kept of both.
//!
//! One question answers for both lost and gained seeds: why does one of two refreshes lack the page
//! that the other has? A gained seed asks it in the other direction, and its cause has the name of
//! the reverse. The definitions are those of [`Cause`], tried in their order.

use super::answers::Cause;
use super::side::{KeptRefresh, Side};
use crate::engine::EngineError;
use crate::engine::ask::views::Views;
use crate::engine::history::past::{Past, Standing};
use crate::engine::plan::Plan;
use crate::engine::policy::{Caps, RejectionReason};
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_store::records::{BatchId, CoreRecord, PageState, SeedEvidence};
use seedbank_store::tables::{self, PageSetKey};

/// Two lists, and what lies between them.
pub(in crate::engine) struct Pair<'a> {
    pub(super) views: &'a Views,
    pub(super) from: &'a Side,
    pub(super) to: &'a Side,
    pub(super) past: Past<'a>,
    pub(super) settings_differ: bool,
    /// The batches after `low`, up to and including `high`, lie between the two states.
    pub(super) low: BatchId,
    pub(super) high: BatchId,
    /// What these batches changed, last batch first.
    changed: Vec<(BatchId, PageSet)>,
}

/// A cause, with what it speaks of.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::engine) struct Because {
    pub(in crate::engine) cause: Cause,
    pub(in crate::engine) batch: Option<BatchId>,
    pub(in crate::engine) core: Option<u32>,
    pub(in crate::engine) by: Option<PageId>,
    pub(super) hop: Option<u32>,
    /// How many links of the core are lost, and how many it has: `(lost, all)`.
    pub(super) links: Option<(u64, u64)>,
}

impl Because {
    pub(super) fn new(cause: Cause, batch: Option<BatchId>) -> Self {
        Self {
            cause,
            batch,
            core: None,
            by: None,
            hop: None,
            links: None,
        }
    }
}

impl<'a> Pair<'a> {
    /// Reads the sets of pages that the batches between the two changed.
    pub(in crate::engine) fn new(
        views: &'a Views,
        from: &'a Side,
        to: &'a Side,
    ) -> Result<Self, EngineError> {
        let batch = |side: &Side| side.run.as_ref().map_or(0, |run| run.record.batch);
        let (low, high) = (batch(from).min(batch(to)), batch(from).max(batch(to)));
        let mut changed = Vec::new();
        // A list from outside has no date, so only changes between two states get a batch.
        if from.run.is_some() {
            for batch in (low + 1..=high).rev() {
                let pages = views
                    .reader
                    .need(&tables::PAGE_SETS, &PageSetKey::Changed(batch))?;
                changed.push((batch, pages));
            }
        }
        let settings_differ = match (&from.run, &to.run) {
            (Some(from), Some(to)) => (from.plan, from.rules.policy) != (to.plan, to.rules.policy),
            _ => false,
        };
        Ok(Self {
            views,
            from,
            to,
            past: Past::open(&views.reader, low)?,
            settings_differ,
            low,
            high,
            changed,
        })
    }

    /// Why the second list lacks a seed of the first.
    pub(in crate::engine) fn lost(&self, page: PageId) -> Result<Because, EngineError> {
        match &self.to.run {
            Some(to) => Ok(self.dated(self.absent(page, self.from, to)?)),
            None => Err(EngineError::Internal("the second list is not a refresh")),
        }
    }

    /// Why the second list has a seed that the first lacks.
    pub(in crate::engine) fn gained(&self, page: PageId) -> Result<Because, EngineError> {
        let Some(from) = &self.from.run else {
            return Ok(Because::new(Cause::NotListed, None));
        };
        let mut because = self.dated(self.absent(page, self.to, from)?);
        let before = self.past.timeline(page)?.after(from.record.batch).state;
        because.cause = match because.cause {
            Cause::Unlinked if before.is_none() => Cause::NewPage,
            Cause::Gone | Cause::Unlinked | Cause::Alias => Cause::Revived,
            Cause::Spam => Cause::SpamCleared,
            Cause::NotCrawled => Cause::BecameCrawled,
            Cause::NoLinks => Cause::BecameHub,
            Cause::AnotherHub => Cause::TookOver,
            Cause::AsAuthority => Cause::WasAuthority,
            Cause::Displaced => Cause::MovedUp,
            Cause::LinksLost => Cause::LinksGained,
            Cause::TakenApart => Cause::SetFree,
            Cause::RegionWeakened => Cause::RegionGrown,
            Cause::Covered => Cause::Uncovered,
            Cause::FewerSeats => Cause::MoreSeats,
            Cause::NoValue => Cause::GainedValue,
            Cause::Outweighed => Cause::Outweighs,
            other => other,
        };
        Ok(because)
    }

    /// Adds the batch where the parameters are the same and a single batch lies between the
    /// refreshes. It then brought every change, including one that no page of the core or site
    /// shows.
    fn dated(&self, because: Because) -> Because {
        match self.changed.as_slice() {
            [(only, _)] if !self.settings_differ => Because {
                batch: because.batch.or(Some(*only)),
                ..because
            },
            _ => because,
        }
    }

    /// Why `run` lacks a seed of `has`.
    fn absent(&self, page: PageId, has: &Side, run: &KeptRefresh) -> Result<Because, EngineError> {
        let line = self.past.timeline(page)?;
        let at = line.after(run.record.batch);
        let there = has.run.as_ref();
        let was = there.map(|there| line.after(there.record.batch));
        let part = run.part();
        let became = |holds: fn(Standing) -> bool| {
            (holds(at) && !was.is_some_and(holds)).then(|| line.flip(self.low, self.high, holds))
        };
        let spam = |page: Standing| page.spam;
        // On sites spam is selected like any page, so only a page's becoming spam means something.
        let is_of_sites = matches!(run.plan, Plan::Cover(_));
        let spam_counts = if is_of_sites {
            was.is_some()
        } else {
            !part.spam
        };
        let gone = |page: Standing| page.state == Some(PageState::Gone);
        let unlinked = |page: Standing| matches!(page.state, None | Some(PageState::Unlinked));
        let alias = |page: Standing| page.state == Some(PageState::Alias);
        let known = |page: Standing| page.state == Some(PageState::Known);
        for (cause, counts, holds) in [
            (Cause::Gone, true, gone as fn(Standing) -> bool),
            (Cause::Unlinked, true, unlinked),
            (Cause::Alias, true, alias),
            (Cause::Spam, spam_counts, spam),
            (Cause::NotCrawled, !part.known, known),
        ] {
            if let Some(batch) = became(holds).filter(|_| counts) {
                return Ok(Because::new(cause, batch));
            }
        }
        if self.settings_differ {
            // If the page is in a core, name that core.
            let core = run.in_cores.get(&page).map(|(rank, _)| *rank);
            let by = core.map(|rank| self.core(run, rank)).transpose()?;
            return Ok(Because {
                core,
                by: by.and_then(|core| seed_of(&core)),
                ..Because::new(Cause::Settings, None)
            });
        }
        if self.is_policy(page, there, run)? {
            return Ok(Because::new(Cause::Policy, None));
        }
        match run.plan {
            Plan::Cores(_) => self.absent_from_cores(page, there, run, &line),
            Plan::Cover(_) => self.absent_from_cover(page, there, run),
            Plan::Web(choice) => self.absent_from_web(page, run, &choice),
        }
    }

    /// Whether a policy has a page on the list of `there`, or keeps it off that of `run`.
    fn is_policy(
        &self,
        page: PageId,
        there: Option<&KeptRefresh>,
        run: &KeptRefresh,
    ) -> Result<bool, EngineError> {
        let seed = there.and_then(|there| there.seeds.get(&page));
        let is_kept_on = seed.is_some_and(|seed| seed.evidence == SeedEvidence::ByPolicy);
        if is_kept_on || run.held_back.contains(&page) || self.is_refused(page, run)? {
            return Ok(true);
        }
        let core = run.in_cores.get(&page).filter(|(_, is_hub)| *is_hub);
        let core = core.map(|(rank, _)| self.core(run, *rank)).transpose()?;
        if core.as_ref().is_some_and(|core| !core.gives_seed) {
            return Ok(true);
        }
        // A cap matters to a page that the method could have come to.
        let is_cores = matches!(run.plan, Plan::Cores(_));
        if !run.rules.policy.has_caps() || (is_cores && core.is_none()) {
            return Ok(false);
        }
        let store = &self.views.reader;
        let mut caps = Caps::new(&run.rules.policy);
        for seed in run.seeds.keys() {
            caps.count(store, seed.site())?;
        }
        Ok(caps.reached(store, page.site())?.is_some())
    }

    /// Whether a page was not let be a seed of `run` for its own sake. What a list says of it does not
    /// change; its quality is known as long as no record of it came in since.
    fn is_refused(&self, page: PageId, run: &KeptRefresh) -> Result<bool, EngineError> {
        let candidates = &run.rules.candidates;
        if candidates.allows_all() {
            return Ok(false);
        }
        let record = self.views.reader.need(&tables::PAGES, &page)?;
        let site = self.views.reader.need(&tables::SITES, &page.site())?.name;
        let is_as_it_was = record.last_seen <= Some(run.record.batch);
        let refusal = candidates.rejection(&site, &record);
        Ok(
            refusal
                .is_some_and(|refusal| is_as_it_was || refusal.by != RejectionReason::MinQuality),
        )
    }

    /// The last batch between the two that changed one of these pages.
    pub(super) fn touched(&self, pages: &[PageId]) -> Option<BatchId> {
        let mut changed = self.changed.iter();
        let last = changed.find(|(_, set)| pages.iter().any(|page| set.contains(page.0)));
        last.map(|(batch, _)| *batch)
    }

    /// The last batch between the two that changed a page of this site.
    pub(super) fn touched_site(&self, site: SiteId) -> Option<BatchId> {
        let mut changed = self.changed.iter();
        let last = changed.find(|(_, set)| set.bitmaps().any(|(high, _)| high == site.0));
        last.map(|(batch, _)| *batch)
    }
}

/// The hub that a core gave as a seed; `None` where policies let it give none.
pub(super) fn seed_of(core: &CoreRecord) -> Option<PageId> {
    core.gives_seed.then_some(core.seed)
}
