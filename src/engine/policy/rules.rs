//! What a refresh asks of a policy, with the lists read.

use std::collections::HashSet;

use super::candidates::Candidates;
use super::list::List;
use super::params::Policy;
use super::pins::Pins;
use crate::engine::{EngineError, PlanError, naming};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Naming, Patterns, PatternsError};
use seedbank_store::plan_lists::ListText;
use seedbank_store::{Changes, Store, tables};

/// The lists that a plan names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lists<'a> {
    pub(crate) exclude: Option<&'a List>,
    pub(crate) only: Option<&'a List>,
    pub(crate) exclude_from_graph: Option<&'a List>,
    pub(crate) pin: Option<&'a List>,
}

impl<'a> Lists<'a> {
    fn all(&self) -> impl Iterator<Item = &'a List> {
        let all = [self.exclude, self.only, self.exclude_from_graph, self.pin];
        all.into_iter().flatten()
    }

    /// Hands the lists whose lines came with the plan to `changes`.
    pub(crate) fn put(&self, store: &Store, changes: &mut Changes) -> Result<(), EngineError> {
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

/// The lines of a list.
fn text_of(store: &Store, list: &List) -> Result<String, EngineError> {
    match (list.text(), list.hash()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(hash)) => Ok(store.need(&tables::PLAN_LISTS, &hash)?.0),
        (None, None) => Ok(String::new()),
    }
}

/// Compiles the lines of a list.
fn patterns(
    store: &Store,
    list: &List,
    naming: Naming,
    watch: &dyn Watch,
) -> Result<Patterns, EngineError> {
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

/// The URLs that a plan pins, normalised.
pub(crate) fn pinned_urls(
    store: &Store,
    lists: Lists<'_>,
    naming: Naming,
) -> Result<HashSet<String>, EngineError> {
    let Some(list) = lists.pin else {
        return Ok(HashSet::new());
    };
    let text = text_of(store, list)?;
    let urls = text
        .lines()
        .filter_map(|url| ingest::parse(url, naming).ok());
    Ok(urls.map(|at| at.url(naming.sites)).collect())
}

/// What a refresh asks of a policy; by default everything may be.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) candidates: Candidates,
    pub(crate) pins: Pins,
}

impl Rules {
    /// Reads and compiles the lists of a plan. Cost: their lines, and a look for each page that is
    /// pinned.
    pub(crate) fn load(
        store: &Store,
        policy: Policy,
        lists: Lists<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let naming = naming(&store.settings()?)?;
        let read = |list: Option<&List>| {
            let list = list.filter(|list| list.hash().is_some());
            list.map(|list| patterns(store, list, naming, watch))
                .transpose()
        };
        let candidates = Candidates {
            exclude: read(lists.exclude)?,
            only: read(lists.only)?,
            from_graph: read(lists.exclude_from_graph)?,
            min_quality: policy.min_quality,
            mode: naming.sites,
        };
        let pins = match lists.pin {
            Some(list) => {
                let text = text_of(store, list)?;
                Pins::find(store, (&text, list), &candidates, naming, watch)?
            }
            None => Pins::default(),
        };
        Ok(Self {
            policy,
            candidates,
            pins,
        })
    }
}
