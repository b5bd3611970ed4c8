//! The policies of a plan, as constraints on its seeds over the web.

use std::collections::HashMap;

use super::bank_web::BankWeb;
use super::held_out::HeldOutWeb;
use crate::engine::EngineError;
use crate::engine::error::web_graph_error;
use crate::engine::policy::LoadedPolicy;
use seedbank_algorithms::cover::global::{Cap, WebGraph};
use seedbank_algorithms::graph::{NONE, number};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::{Store, tables};

/// The pages that a plan's policies allow as seeds, its pins and its caps, by the numbers of a
/// [`BankWeb`].
///
/// Pages that a plan excludes from the graph are excluded from being seeds only.
pub(super) struct Constraints {
    /// By page: whether it may be a seed.
    pub(super) allowed: Vec<bool>,
    pins: Vec<u32>,
    max_per_site: Option<u32>,
    max_per_domain: Option<u32>,
    /// By site.
    domains: Vec<u32>,
}

impl Constraints {
    /// Returns the constraints of a plan; `None` if it has none. Cost: the record of every crawled page, if
    /// the plan has rules about pages.
    pub(super) fn new(
        store: &Store,
        web: &BankWeb,
        rules: &LoadedPolicy,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, EngineError> {
        let policy = &rules.policy;
        let allows_all = rules.candidates.allows_all();
        if allows_all && !policy.has_caps() && rules.pins.pages.is_empty() {
            return Ok(None);
        }
        let mut allowed = vec![true; web.of.len()];
        for page in web.crawled().into_iter().filter(|_| !allows_all) {
            watch.proceed()?;
            let id = web.ids[page as usize];
            let is_failing = rules.candidates.is_failing(store, id)?;
            allowed[page as usize] = !is_failing;
            if !is_failing && rules.candidates.depends_on_records() {
                let record = store.need(&tables::PAGES, &id)?;
                let site = &web.sites[web.of[page as usize].site as usize].name;
                allowed[page as usize] = rules.candidates.allows(site, &record, false);
            }
        }
        let mut numbers = HashMap::new();
        let domain = |name: &str| {
            let next = number(numbers.len());
            *numbers
                .entry(ingest::registrable_domain(name).to_owned())
                .or_insert(next)
        };
        Ok(Some(Self {
            allowed,
            pins: web.numbers(&rules.pins.pages)?,
            max_per_site: policy.max_per_site,
            max_per_domain: policy.max_per_domain,
            domains: web
                .sites
                .iter()
                .map(|site| &*site.name)
                .map(domain)
                .collect(),
        }))
    }

    /// Adds pins and caps to a graph of the remaining pages. Pins that are held out are left out.
    pub(super) fn apply(
        &self,
        graph: WebGraph,
        held_out: &HeldOutWeb<'_>,
    ) -> Result<WebGraph, EngineError> {
        let mut remaining = vec![NONE; self.allowed.len()];
        for (at, &page) in (0..).zip(&held_out.pages) {
            remaining[page as usize] = at;
        }
        let pins = self.pins.iter().map(|&pin| remaining[pin as usize]);
        let is_crawled = |at: &u32| *at != NONE && held_out.crawled[*at as usize];
        let pages = || 0..number(held_out.pages.len());
        let per_site = self.max_per_site.map(|most| Cap {
            group: pages().map(|page| held_out.site_of(page)).collect(),
            most,
        });
        let domain = |page: u32| self.domains[held_out.site_of(page) as usize];
        let per_domain = self.max_per_domain.map(|most| Cap {
            group: pages().map(domain).collect(),
            most,
        });
        let caps = per_site.into_iter().chain(per_domain).collect();
        graph
            .with_constraints(pins.filter(is_crawled).collect(), caps)
            .map_err(web_graph_error)
    }
}
