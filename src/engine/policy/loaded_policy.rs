//! The policy of a plan with its lists loaded.

use std::collections::HashSet;

use super::candidates::Candidates;
use super::list::List;
use super::params::Policy;
use super::pins::Pins;
use crate::engine::error::PlanError;
use crate::engine::{Result, naming};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Naming, Patterns, PatternsError};
use seedbank_store::plan_lists::ListText;
use seedbank_store::{Changes, Store, tables};

/// The lists that a plan references.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PolicyLists<'a> {
    pub(crate) exclude: Option<&'a List>,
    pub(crate) only: Option<&'a List>,
    pub(crate) exclude_from_graph: Option<&'a List>,
    pub(crate) pin: Option<&'a List>,
}

impl<'a> PolicyLists<'a> {
    /// Whether the plan references no list.
    pub(crate) fn are_none(&self) -> bool {
        self.all().next().is_none()
    }

    fn all(&self) -> impl Iterator<Item = &'a List> {
        let all = [self.exclude, self.only, self.exclude_from_graph, self.pin];
        all.into_iter().flatten()
    }

    /// Adds the lists whose lines came with the plan to `changes`.
    pub(crate) fn put(&self, store: &Store, changes: &mut Changes) -> Result<()> {
        for list in self.all() {
            if let (Some(hash), Some(text)) = (list.hash(), list.text())
                && !store.has(&tables::PLAN_LISTS, &hash)?
            {
                changes.put(&tables::PLAN_LISTS, &hash, &ListText(text.to_owned()))?;
            }
        }
        Ok(())
    }
}

/// Returns the lines of a list.
fn text_of(store: &Store, list: &List) -> Result<String> {
    match (list.text(), list.hash()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(hash)) => Ok(store.need(&tables::PLAN_LISTS, &hash)?.0),
        (None, None) => Ok(String::new()),
    }
}

/// Compiles the lines of a list.
fn patterns(store: &Store, list: &List, naming: Naming, watch: &dyn Watch) -> Result<Patterns> {
    let text = text_of(store, list)?;
    Patterns::new(&text, naming, watch).map_err(|error| match error {
        PatternsError::Interrupted(stop) => stop.into(),
        PatternsError::Line(at, why) => PlanError::Line {
            list: list.name().to_owned(),
            line: text.lines().nth(at).unwrap_or_default().to_owned(),
            why,
        }
        .into(),
    })
}

/// Returns the normalised URLs that a plan pins.
pub(crate) fn pinned_urls(
    store: &Store,
    lists: PolicyLists<'_>,
    naming: Naming,
) -> Result<HashSet<String>> {
    let Some(list) = lists.pin else {
        return Ok(HashSet::new());
    };
    let text = text_of(store, list)?;
    let urls = text
        .lines()
        .filter_map(|url| ingest::parse(url, naming).ok());
    Ok(urls.map(|at| at.url(naming.sites)).collect())
}

/// Returns the time that many days before the last fetch in the bank; `None` for 0 days.
fn rests_after(store: &Store, days: u32) -> Result<Option<u64>> {
    if days == 0 {
        return Ok(None);
    }
    let last = store.last_fetch()?;
    Ok(Some(last.saturating_sub(u64::from(days) * 86_400)))
}

/// A policy with its lists compiled. The default allows everything.
#[derive(Default)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) candidates: Candidates,
    pub(crate) pins: Pins,
}

impl LoadedPolicy {
    /// Loads and compiles the lists of a plan. Cost: their lines, and a lookup for each pinned
    /// page.
    pub(crate) fn load(
        store: &Store,
        policy: Policy,
        lists: PolicyLists<'_>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let naming = naming(&store.settings()?)?;
        let read = |list: Option<&List>| {
            let list = list.filter(|list| list.hash().is_some());
            list.map(|list| patterns(store, list, naming, watch))
                .transpose()
        };
        let candidates = Candidates {
            exclude: read(lists.exclude)?,
            only: read(lists.only)?,
            exclude_from_graph: read(lists.exclude_from_graph)?,
            min_quality: policy.min_quality,
            max_failures: policy.max_failures,
            failing: None,
            rests_after: rests_after(store, policy.rest)?,
            mode: naming.sites,
        };
        let pins = match lists.pin {
            Some(list) => {
                let text = text_of(store, list)?;
                Pins::find(store, &text, list, &candidates, naming, watch)?
            }
            None => Pins::default(),
        };
        Ok(Self {
            policy,
            candidates,
            pins,
        })
    }

    /// Reads the pages with too many failed fetches, for conditions on many pages.
    pub(crate) fn with_failing(mut self, store: &Store) -> Result<Self> {
        self.candidates.read_failing(store)?;
        Ok(self)
    }
}
