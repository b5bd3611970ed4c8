//! Quotas as crawlers take them: limits of domains and of queues.
//!
//! To both of these crawlers a limit of 0 is none at all, so that a site of which nothing is to be taken
//! has no line; it has to be kept out otherwise.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::engine::{Quotas, SiteQuota};
use seedbank_formats::ingest::registrable;

/// A domain's limits.
#[derive(Default)]
struct Domain {
    /// Pages of all of its sites.
    pages: u64,
    /// Pages of the site with the most.
    most: u32,
    /// Sites.
    sites: u64,
}

/// The sites that have a limit.
fn limited(quotas: &Quotas) -> impl Iterator<Item = &SiteQuota> {
    quotas.sites.iter().filter(|site| site.quota > 0)
}

/// How many sites have no line in a list of limits, since nothing is to be taken of them.
#[must_use]
pub fn without_limit(quotas: &Quotas) -> usize {
    quotas.sites.len() - limited(quotas).count()
}

/// Writes limits of domains as the generator of Common Crawl's Nutch reads them
/// (`generate.domain.limits.file`): registrable domain, pages of it, pages of a host of it, hosts of it,
/// and partitions, with tabs between; by name.
///
/// Pages of a host are those of the domain's host with the most. Where the bank's sites are domains it
/// does not know their hosts: each may have all pages of its domain.
pub fn write_domain_limits(mut out: impl Write, quotas: &Quotas) -> io::Result<()> {
    let mut domains: BTreeMap<&str, Domain> = BTreeMap::new();
    for site in limited(quotas) {
        let name = registrable(without_port(&site.site));
        let domain = domains.entry(name).or_default();
        domain.pages += u64::from(site.quota);
        domain.most = domain.most.max(site.quota);
        // A domain in the place of a site may have any number of hosts.
        domain.sites += if name == site.site {
            u64::from(site.quota)
        } else {
            1
        };
    }
    for (name, domain) in domains {
        let limits = [domain.pages, domain.most.into(), domain.sites];
        let [pages, most, sites] = limits.map(|limit| limit.min(i32::MAX as u64));
        writeln!(out, "{name}\t{pages}\t{most}\t{sites}\t1")?;
    }
    Ok(())
}

fn without_port(site: &str) -> &str {
    match site.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => site,
    }
}

/// What URLFrontier's `SetCrawlLimit` takes.
#[derive(Serialize)]
struct QueueLimit<'a> {
    key: &'a str,
    limit: u32,
}

/// Writes limits of queues, each of which is a site, as URLFrontier's `SetCrawlLimit` takes them: one
/// JSON object a line, the largest quota first.
pub fn write_queue_limits(mut out: impl Write, quotas: &Quotas) -> io::Result<()> {
    for site in limited(quotas) {
        let limit = QueueLimit {
            key: &site.site,
            limit: site.quota,
        };
        writeln!(out, "{}", serde_json::to_string(&limit)?)?;
    }
    Ok(())
}
