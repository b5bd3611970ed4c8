//! Number of seats of each site, that is, the number of seeds to select on it: either the same for
//! all, or a total distributed by crawled pages, value, quality, or PageRank of the whole graph.
//!
//! A total is distributed over all sites at every refresh, so a change on one site can move seats
//! on others, which are then selected on again. By pages or quality this costs nothing. By value,
//! changed sites are read twice. By PageRank, the whole graph is read and ranked again.

use std::collections::{BTreeMap, BTreeSet};

use super::site_requests::values_of_all;
use super::sites::CoverSite;
use crate::engine::Result;
use crate::engine::eligibility::PlanScope;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::web_graph::LoadedGraph;
use seedbank_algorithms::cover::{
    Choice, Seats, Share, apportion, apportion_bounded, pagerank_weight, value_weight,
};
use seedbank_algorithms::page::SiteId;
use seedbank_formats::ingest;
use seedbank_store::records::CoverRecord;
use seedbank_store::tables;

/// Seats in the order of the sites.
pub(crate) struct SeatAllocation {
    pub(crate) of_sites: Vec<u32>,
    /// Values of the sites, in millionths; `None` if not known.
    pub(crate) values: Vec<Option<i64>>,
    /// Number of crawled pages of each site that may be seeds; `None` if all may.
    pub(crate) allowed: Vec<Option<u32>>,
    /// Page visits of ranking the whole graph.
    pub(crate) visits: u64,
}

/// Assigns each site its seats, including those of its pins. `reused` is what the previous refresh
/// stored of unchanged sites.
///
/// Under policies, the seats of a site besides those of its pins are limited by its number of pages
/// that may be seeds and by caps; the surplus goes to other sites. If domains are capped, seats are
/// distributed to domains by the sum of the weights of their sites, and then within each domain.
pub(crate) fn allocate_seats(
    context: RunContext<'_, Choice>,
    sites: &[CoverSite],
    reused: &[Option<CoverRecord>],
) -> Result<SeatAllocation> {
    let RunContext { policy, watch, .. } = context;
    let mut assigned = SeatAllocation {
        of_sites: Vec::new(),
        values: reused.iter().map(|reused| reused.as_ref()?.value).collect(),
        allowed: allowed(context, sites, reused)?,
        visits: 0,
    };
    let is_unlimited =
        policy.policy.allows_all_pages() && !policy.policy.has_caps() && policy.pins.count() == 0;
    let (total, share) = match context.plan.seats {
        Seats::PerSite(seats) => {
            assigned.of_sites = if is_unlimited {
                vec![seats; sites.len()]
            } else {
                SeatLimits::new(context, sites, &assigned.allowed)?.equal_seats(seats)
            };
            return Ok(assigned);
        }
        Seats::Shared(total, share) => (total, share),
    };
    // The weight by which each site gets its share.
    let weights: Vec<u64> = match share {
        Share::Pages => sites
            .iter()
            .zip(&assigned.allowed)
            .map(|(site, allowed)| allowed.unwrap_or(site.crawled).into())
            .collect(),
        Share::Quality => sites.iter().map(|site| site.quality).collect(),
        Share::Value => {
            read_values(context, sites, &mut assigned.values)?;
            let values = assigned.values.iter();
            values.map(|v| value_weight(v.unwrap_or(0))).collect()
        }
        Share::Pagerank => {
            let (of_sites, cost) =
                LoadedGraph::load(context.store, watch)?.pagerank_by_site(watch)?;
            assigned.visits = cost;
            let of_sites: BTreeMap<SiteId, f64> = of_sites.into_iter().collect();
            let of = |site: &CoverSite| of_sites.get(&site.id).copied().unwrap_or(0.0);
            sites.iter().map(|site| pagerank_weight(of(site))).collect()
        }
    };
    assigned.of_sites = if is_unlimited {
        let names = sites.iter().map(|site| site.name.as_str());
        let weights: Vec<(&str, u64)> = names.zip(weights).collect();
        apportion(total, &weights)
    } else {
        let left = total.saturating_sub(policy.pins.count());
        SeatLimits::new(context, sites, &assigned.allowed)?.distribute(left, &weights)
    };
    Ok(assigned)
}

/// Returns the number of crawled pages of each site that may be seeds, without pins; `None` if all
/// may.
///
/// Cost: one scan of the pages of each changed site.
fn allowed(
    context: RunContext<'_, Choice>,
    sites: &[CoverSite],
    reused: &[Option<CoverRecord>],
) -> Result<Vec<Option<u32>>> {
    let policy = context.policy;
    if policy.policy.allows_all_pages() {
        return Ok(vec![None; sites.len()]);
    }
    let eligibility = policy.eligibility(PlanScope::SITES);
    let mut allowed = Vec::with_capacity(sites.len());
    for (site, reused) in sites.iter().zip(reused) {
        context.watch.proceed()?;
        if let Some(known) = reused.as_ref().and_then(|reused| reused.allowed) {
            allowed.push(Some(known));
            continue;
        }
        let mut count = 0;
        for entry in context
            .store
            .scan_under(&tables::PAGES, &site.id.0.to_be_bytes())?
        {
            let (page, record) = entry?;
            let reason = eligibility.reason(context.store, page, &site.name, &record)?;
            let is_eligible = reason.is_none() && policy.pins.position(page).is_none();
            count += u32::from(is_eligible);
        }
        allowed.push(Some(count));
    }
    Ok(allowed)
}

/// Limits on the seats of sites by policies.
struct SeatLimits<'a> {
    /// For each site: the number of its pins, the number of those that are crawled, and the maximum
    /// number of seats besides pins.
    pins: Vec<u32>,
    crawled_pins: Vec<u32>,
    most: Vec<u32>,
    /// Sites of each domain, and its maximum number of seats besides pins; empty without a cap.
    domains: BTreeMap<&'a str, (Vec<usize>, u32)>,
}

impl<'a> SeatLimits<'a> {
    fn new(
        context: RunContext<'_, Choice>,
        sites: &'a [CoverSite],
        allowed: &[Option<u32>],
    ) -> Result<Self> {
        let pins = &context.policy.pins;
        let policy = &context.policy.policy;
        let mut of_sites: BTreeMap<SiteId, u32> = BTreeMap::new();
        for pin in &pins.pages {
            *of_sites.entry(pin.site()).or_default() += 1;
        }
        let pins_of = |site: &CoverSite| of_sites.get(&site.id).copied().unwrap_or(0);
        let most = sites.iter().zip(allowed).map(|(site, allowed)| {
            let left = policy
                .max_per_site
                .map(|most| most.saturating_sub(pins_of(site)));
            left.unwrap_or(u32::MAX).min(allowed.unwrap_or(u32::MAX))
        });
        let most: Vec<u32> = most.collect();
        let mut domains: BTreeMap<&str, (Vec<usize>, u32)> = BTreeMap::new();
        // Sites of a domain share its cap.
        if let Some(most) = policy.max_per_domain {
            for (at, site) in sites.iter().enumerate() {
                let domain = domains.entry(ingest::registrable_domain(&site.name));
                let (places, left) = domain.or_insert_with(|| (Vec::new(), most));
                places.push(at);
                *left = left.saturating_sub(pins_of(site));
            }
            // A pinned site without crawled pages is not in `sites`, but counts for its domain.
            let on_list: BTreeSet<SiteId> = sites.iter().map(|site| site.id).collect();
            for (site, pins) in of_sites.iter().filter(|(site, _)| !on_list.contains(site)) {
                let name = context.store.need(&tables::SITES, site)?.name;
                if let Some((_, left)) = domains.get_mut(ingest::registrable_domain(&name)) {
                    *left = left.saturating_sub(*pins);
                }
            }
        }
        let of_each: Vec<u32> = sites.iter().map(pins_of).collect();
        let mut crawled_pins: BTreeMap<SiteId, u32> = BTreeMap::new();
        let crawled = pins.pages.iter().zip(&pins.crawled);
        for (pin, _) in crawled.filter(|(_, is_crawled)| **is_crawled) {
            *crawled_pins.entry(pin.site()).or_default() += 1;
        }
        let crawled_pins = sites.iter().map(|site| crawled_pins.get(&site.id).copied());
        Ok(Self {
            crawled_pins: crawled_pins.map(Option::unwrap_or_default).collect(),
            pins: of_each,
            most,
            domains,
        })
    }

    /// Assigns each site the same number of seats, including pins, within the limits.
    fn equal_seats(&self, seats: u32) -> Vec<u32> {
        let pins = self.pins.iter().zip(&self.most);
        let mut beside: Vec<u32> = pins
            .map(|(pins, most)| seats.saturating_sub(*pins).min(*most))
            .collect();
        for (places, left) in self.domains.values() {
            let bounds: Vec<u32> = places.iter().map(|&at| beside[at]).collect();
            let equal = vec![1; places.len()];
            let of_sites = apportion_bounded((*left).into(), &equal, &bounds);
            for (&at, seats) in places.iter().zip(of_sites) {
                beside[at] = seats;
            }
        }
        self.with_pins(beside)
    }

    /// Distributes a total by weight, in addition to pins, within the limits.
    fn distribute(&self, total: u32, weights: &[u64]) -> Vec<u32> {
        if self.domains.is_empty() {
            return self.with_pins(apportion_bounded(total.into(), weights, &self.most));
        }
        let of_domain = |(places, left): &(Vec<usize>, u32)| {
            let weight = places
                .iter()
                .fold(0_u64, |sum, &at| sum.saturating_add(weights[at]));
            let most = places
                .iter()
                .fold(0_u32, |sum, &at| sum.saturating_add(self.most[at]));
            (weight, most.min(*left))
        };
        let (of_domains, bounds): (Vec<u64>, Vec<u32>) =
            self.domains.values().map(of_domain).unzip();
        let shares = apportion_bounded(total.into(), &of_domains, &bounds);
        let mut beside = vec![0; weights.len()];
        for ((places, _), share) in self.domains.values().zip(shares) {
            let of_sites: Vec<u64> = places.iter().map(|&at| weights[at]).collect();
            let bounds: Vec<u32> = places.iter().map(|&at| self.most[at]).collect();
            let of_sites = apportion_bounded(share.into(), &of_sites, &bounds);
            for (&at, seats) in places.iter().zip(of_sites) {
                beside[at] = seats;
            }
        }
        self.with_pins(beside)
    }

    fn with_pins(&self, beside: Vec<u32>) -> Vec<u32> {
        let both = beside.into_iter().zip(&self.crawled_pins);
        both.map(|(beside, pins)| beside.saturating_add(*pins))
            .collect()
    }
}

/// Fills in the unknown values, which are those of changed sites.
fn read_values(
    context: RunContext<'_, Choice>,
    sites: &[CoverSite],
    values: &mut [Option<i64>],
) -> Result<()> {
    let watch = context.watch;
    let unknown: Vec<usize> = (0..sites.len())
        .filter(|&at| values[at].is_none())
        .collect();
    let to_read: Vec<&CoverSite> = unknown.iter().map(|&at| &sites[at]).collect();
    watch.stage("value sites", Some(to_read.len() as u64));
    for (at, value) in unknown.iter().zip(values_of_all(context, &to_read)?) {
        values[*at] = Some(value);
    }
    Ok(())
}
