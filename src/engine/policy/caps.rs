//! Limits on the number of seeds of a site and of a domain.

use std::collections::HashMap;

use super::params::Policy;
use super::rejection_reason::RejectionReason;
use crate::engine::Result;
use seedbank_algorithms::page::SiteId;
use seedbank_formats::ingest;
use seedbank_store::{Store, tables};

/// Seeds counted by site and by registrable domain.
///
/// Memory: some 100 bytes for each site looked up.
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

    /// Returns the registrable domain of a site, cached.
    fn domain(&mut self, store: &Store, site: SiteId) -> Result<String> {
        if let Some(domain) = self.domains.get(&site) {
            return Ok(domain.clone());
        }
        let name = store.need(&tables::SITES, &site)?.name;
        let domain = ingest::registrable_domain(&name).to_owned();
        self.domains.insert(site, domain.clone());
        Ok(domain)
    }

    /// Returns which cap rejects one more seed of a site; `None` if it is allowed.
    pub(crate) fn reached(
        &mut self,
        store: &Store,
        site: SiteId,
    ) -> Result<Option<RejectionReason>> {
        if let Some(max) = self.per_site
            && self.of_sites.get(&site).is_some_and(|seeds| *seeds >= max)
        {
            return Ok(Some(RejectionReason::MaxPerSite));
        }
        if let Some(max) = self.per_domain {
            let domain = self.domain(store, site)?;
            if self
                .of_domains
                .get(&domain)
                .is_some_and(|seeds| *seeds >= max)
            {
                return Ok(Some(RejectionReason::MaxPerDomain));
            }
        }
        Ok(None)
    }

    /// Counts a seed of a site.
    pub(crate) fn count(&mut self, store: &Store, site: SiteId) -> Result<()> {
        if self.per_site.is_some() {
            *self.of_sites.entry(site).or_default() += 1;
        }
        if self.per_domain.is_some() {
            let domain = self.domain(store, site)?;
            *self.of_domains.entry(domain).or_default() += 1;
        }
        Ok(())
    }

    /// Stops counting a seed of a site.
    pub(crate) fn uncount(&mut self, store: &Store, site: SiteId) -> Result<()> {
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

    /// Whether two sites share a cap that is reached: the site's, or the domain's.
    pub(crate) fn shares_cap(
        &mut self,
        store: &Store,
        cap: RejectionReason,
        a: SiteId,
        b: SiteId,
    ) -> Result<bool> {
        Ok(match cap {
            RejectionReason::MaxPerSite => a == b,
            _ => self.domain(store, a)? == self.domain(store, b)?,
        })
    }
}
