//! How many seeds of a site and of a domain there are, and may be.

use std::collections::HashMap;

use super::held::HeldBy;
use super::params::Policy;
use crate::engine::EngineError;
use seedbank_algorithms::page::SiteId;
use seedbank_formats::ingest;
use seedbank_store::{Store, tables};

/// Seeds counted by site and by registrable domain.
///
/// Memory: some 100 bytes for each site that was asked about.
#[derive(Debug, Default)]
pub(crate) struct Caps {
    per_site: Option<u32>,
    per_domain: Option<u32>,
    of_sites: HashMap<SiteId, u32>,
    of_domains: HashMap<String, u32>,
    domains: HashMap<SiteId, String>,
}

impl Caps {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            per_site: policy.max_per_site,
            per_domain: policy.max_per_domain,
            ..Self::default()
        }
    }

    /// The registrable domain of a site; it is read once.
    fn domain(&mut self, store: &Store, site: SiteId) -> Result<String, EngineError> {
        if let Some(domain) = self.domains.get(&site) {
            return Ok(domain.clone());
        }
        let name = store.need(&tables::SITES, &site)?.name;
        let domain = ingest::registrable_domain(&name).to_owned();
        self.domains.insert(site, domain.clone());
        Ok(domain)
    }

    /// Why one more seed of a site may not be; `None` if it may.
    pub(crate) fn full(
        &mut self,
        store: &Store,
        site: SiteId,
    ) -> Result<Option<HeldBy>, EngineError> {
        if let Some(most) = self.per_site
            && self.of_sites.get(&site).is_some_and(|seeds| *seeds >= most)
        {
            return Ok(Some(HeldBy::MaxPerSite));
        }
        if let Some(most) = self.per_domain {
            let domain = self.domain(store, site)?;
            if self
                .of_domains
                .get(&domain)
                .is_some_and(|seeds| *seeds >= most)
            {
                return Ok(Some(HeldBy::MaxPerDomain));
            }
        }
        Ok(None)
    }

    /// Counts a seed of a site.
    pub(crate) fn take(&mut self, store: &Store, site: SiteId) -> Result<(), EngineError> {
        if self.per_site.is_some() {
            *self.of_sites.entry(site).or_default() += 1;
        }
        if self.per_domain.is_some() {
            let domain = self.domain(store, site)?;
            *self.of_domains.entry(domain).or_default() += 1;
        }
        Ok(())
    }

    /// Counts a seed of a site less.
    pub(crate) fn give_back(&mut self, store: &Store, site: SiteId) -> Result<(), EngineError> {
        if let Some(seeds) = self.of_sites.get_mut(&site) {
            *seeds = seeds.saturating_sub(1);
        }
        if self.per_domain.is_some() {
            let domain = self.domain(store, site)?;
            if let Some(seeds) = self.of_domains.get_mut(&domain) {
                *seeds = seeds.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Whether two sites share what is full: the site, or the domain.
    pub(crate) fn share(
        &mut self,
        store: &Store,
        full: HeldBy,
        (a, b): (SiteId, SiteId),
    ) -> Result<bool, EngineError> {
        Ok(match full {
            HeldBy::MaxPerSite => a == b,
            _ => self.domain(store, a)? == self.domain(store, b)?,
        })
    }
}
