//! Writes quotas in the formats of crawlers: limits of domains and of queues.
//!
//! Both crawlers read a limit of 0 as *unlimited*. A site with a quota of 0 therefore has no line, and
//! must be excluded by other means.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::engine::query::{Quotas, SiteQuota};
use seedbank_formats::ingest::registrable_domain;

/// Limits of a domain.
#[derive(Default)]
struct Domain {
    /// Pages of all its sites.
    pages: u64,
    /// Pages of the site with the largest quota.
    most: u32,
    /// Number of sites.
    sites: u64,
}

/// Returns the sites with a positive quota.
fn limited(quotas: &Quotas) -> impl Iterator<Item = &SiteQuota> {
    quotas.sites.iter().filter(|site| site.quota > 0)
}

/// Returns the number of sites with a quota of 0, which have no line in a list of limits.
#[must_use]
pub fn without_limit(quotas: &Quotas) -> usize {
    quotas.sites.len() - limited(quotas).count()
}

/// Writes limits of domains in the format of the generator of Common Crawl's Nutch
/// (`generate.domain.limits.file`): registrable domain, its pages, pages per host, hosts, and
/// partitions, separated by tabs and ordered by name.
///
/// Pages per host is the largest quota of a host of the domain. If the bank's sites are domains, their
/// hosts are unknown, and each may have all pages of its domain.
pub fn write_domain_limits(mut out: impl Write, quotas: &Quotas) -> io::Result<()> {
    let mut domains: BTreeMap<&str, Domain> = BTreeMap::new();
    for site in limited(quotas) {
        let name = registrable_domain(without_port(&site.site));
        let domain = domains.entry(name).or_default();
        domain.pages += u64::from(site.quota);
        domain.most = domain.most.max(site.quota);
        // A site that is a whole domain may have any number of hosts.
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

/// Argument of URLFrontier's `SetCrawlLimit`.
#[derive(Serialize)]
struct QueueLimit<'a> {
    key: &'a str,
    limit: u32,
}

/// Writes limits of queues, one per site, as arguments of URLFrontier's `SetCrawlLimit`: one JSON
/// object per line, the largest quota first.
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
