//! How many seeds each site is to have: the same number, or a total shared out by crawled pages,
//! value, quality, or PageRank of the whole graph.
//!
//! Sharing out looks at all sites at every refresh, so a change on one site can move seats on
//! others; those are selected on again. By pages or quality that costs nothing. By value, the sites that
//! changed are read twice. By PageRank, the whole graph is read and ranked anew.

use std::collections::{BTreeMap, BTreeSet};

use super::sites::{CoverSite, in_groups};
use crate::engine::EngineError;
use crate::engine::policy::Rules;
use crate::engine::whole::Whole;
use seedbank_algorithms::cover::{
    Choice, Seats, Share, apportion, apportion_bounded, pagerank_weight, value_weight,
};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{CoverRecord, PageState};
use seedbank_store::{Store, tables};

/// Seats, in the order of the sites.
pub(crate) struct Assigned {
    pub(crate) of_sites: Vec<u32>,
    /// The values of the sites, in millionths; `None` where they are not known.
    pub(crate) values: Vec<Option<i64>>,
    /// How many crawled pages of the sites may be seeds; `None` where all may.
    pub(crate) allowed: Vec<Option<u32>>,
    /// Page visits of ranking the whole graph.
    pub(crate) visits: u64,
}

/// Gives each site its seats, those of its pins included. `kept` is what an earlier refresh knew of
/// sites that did not change.
///
/// Under policies a site has at most as many seats, beside those of its pins, as it has pages that may
/// be seeds, and as caps leave; what that keeps from a site goes to the others. Where domains are
/// capped, they get shares by the weights of their sites, and share these out among them.
pub(crate) fn seats(
    store: &Store,
    sites: &[CoverSite],
    kept: &[Option<CoverRecord>],
    (choice, rules): (&Choice, &Rules),
    watch: &dyn Watch,
) -> Result<Assigned, EngineError> {
    let mut assigned = Assigned {
        of_sites: Vec::new(),
        values: kept.iter().map(|kept| kept.as_ref()?.value).collect(),
        allowed: allowed(store, sites, kept, rules, watch)?,
        visits: 0,
    };
    let is_free = rules.policy.admits_all() && !rules.policy.has_caps() && rules.pins.count() == 0;
    let (total, share) = match choice.seats {
        Seats::PerSite(seats) => {
            assigned.of_sites = if is_free {
                vec![seats; sites.len()]
            } else {
                Room::new(store, sites, &assigned.allowed, rules)?.each(seats)
            };
            return Ok(assigned);
        }
        Seats::Shared(total, share) => (total, share),
    };
    let weights: Vec<u64> = match share {
        Share::Pages => sites
            .iter()
            .zip(&assigned.allowed)
            .map(|(site, allowed)| allowed.unwrap_or(site.crawled).into())
            .collect(),
        Share::Quality => sites.iter().map(|site| site.quality).collect(),
        Share::Value => {
            read_values(store, sites, &mut assigned.values, (choice, rules), watch)?;
            let values = assigned.values.iter();
            values.map(|v| value_weight(v.unwrap_or(0))).collect()
        }
        Share::Pagerank => {
            let (of_sites, cost) = Whole::load(store, watch)?.by_site(watch)?;
            assigned.visits = cost;
            let of_sites: BTreeMap<SiteId, f64> = of_sites.into_iter().collect();
            let of = |site: &CoverSite| of_sites.get(&site.id).copied().unwrap_or(0.0);
            sites.iter().map(|site| pagerank_weight(of(site))).collect()
        }
    };
    assigned.of_sites = if is_free {
        let names = sites.iter().map(|site| site.name.as_str());
        let weights: Vec<(&str, u64)> = names.zip(weights).collect();
        apportion(total, &weights)
    } else {
        let left = total.saturating_sub(rules.pins.count());
        Room::new(store, sites, &assigned.allowed, rules)?.share(left, &weights)
    };
    Ok(assigned)
}

/// How many crawled pages of each site may be seeds, without its pins; `None` where all may.
///
/// Cost: one scan of the pages of each site that changed.
fn allowed(
    store: &Store,
    sites: &[CoverSite],
    kept: &[Option<CoverRecord>],
    rules: &Rules,
    watch: &dyn Watch,
) -> Result<Vec<Option<u32>>, EngineError> {
    if rules.policy.admits_all() {
        return Ok(vec![None; sites.len()]);
    }
    let mut allowed = Vec::with_capacity(sites.len());
    for (site, kept) in sites.iter().zip(kept) {
        watch.proceed()?;
        if let Some(known) = kept.as_ref().and_then(|kept| kept.allowed) {
            allowed.push(Some(known));
            continue;
        }
        let mut count = 0;
        for entry in store.scan_under(&tables::PAGES, &site.id.0.to_be_bytes())? {
            let (page, record) = entry?;
            let is_open = record.state == PageState::Crawled
                && rules.candidates.admit(&site.name, &record)
                && rules.pins.place(page).is_none();
            count += u32::from(is_open);
        }
        allowed.push(Some(count));
    }
    Ok(allowed)
}

/// How many seats each site may have, by the policies.
struct Room<'a> {
    /// By site: how many pins it has, how many of them are crawled, and how many seats it may have
    /// beside them.
    pins: Vec<u32>,
    on_graph: Vec<u32>,
    most: Vec<u32>,
    /// Sites of each domain, and how many seats they may have together beside pins; empty without a
    /// cap.
    domains: BTreeMap<&'a str, (Vec<usize>, u32)>,
}

impl<'a> Room<'a> {
    fn new(
        store: &Store,
        sites: &'a [CoverSite],
        allowed: &[Option<u32>],
        rules: &Rules,
    ) -> Result<Self, EngineError> {
        let policy = &rules.policy;
        let mut of_sites: BTreeMap<SiteId, u32> = BTreeMap::new();
        for pin in &rules.pins.pages {
            *of_sites.entry(pin.site()).or_default() += 1;
        }
        let all_pins = |site: &CoverSite| of_sites.get(&site.id).copied().unwrap_or(0);
        let most = sites.iter().zip(allowed).map(|(site, allowed)| {
            let left = policy
                .max_per_site
                .map(|most| most.saturating_sub(all_pins(site)));
            left.unwrap_or(u32::MAX).min(allowed.unwrap_or(u32::MAX))
        });
        let most: Vec<u32> = most.collect();
        let mut domains: BTreeMap<&str, (Vec<usize>, u32)> = BTreeMap::new();
        if let Some(most) = policy.max_per_domain {
            for (at, site) in sites.iter().enumerate() {
                let domain = domains.entry(ingest::registrable(&site.name));
                let (places, left) = domain.or_insert_with(|| (Vec::new(), most));
                places.push(at);
                *left = left.saturating_sub(all_pins(site));
            }
            // A site whose pages were only linked to is none of these, and counts for its domain.
            let on_list: BTreeSet<SiteId> = sites.iter().map(|site| site.id).collect();
            for (site, pins) in of_sites.iter().filter(|(site, _)| !on_list.contains(site)) {
                let name = store.need(&tables::SITES, site)?.name;
                if let Some((_, left)) = domains.get_mut(ingest::registrable(&name)) {
                    *left = left.saturating_sub(*pins);
                }
            }
        }
        let pins: Vec<u32> = sites.iter().map(all_pins).collect();
        let mut on_graph: BTreeMap<SiteId, u32> = BTreeMap::new();
        for (pin, _) in rules
            .pins
            .pages
            .iter()
            .zip(&rules.pins.crawled)
            .filter(|pin| *pin.1)
        {
            *on_graph.entry(pin.site()).or_default() += 1;
        }
        let on_graph = sites.iter().map(|site| on_graph.get(&site.id).copied());
        Ok(Self {
            on_graph: on_graph.map(Option::unwrap_or_default).collect(),
            pins,
            most,
            domains,
        })
    }

    /// So many seats for each site, pins included.
    fn each(&self, seats: u32) -> Vec<u32> {
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

    /// A total shared out by weight, pins beside it.
    fn share(&self, total: u32, weights: &[u64]) -> Vec<u32> {
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
        let both = beside.into_iter().zip(&self.on_graph);
        both.map(|(beside, pins)| beside.saturating_add(*pins))
            .collect()
    }
}

/// Fills in the values that are not known, which are those of sites that changed.
fn read_values(
    store: &Store,
    sites: &[CoverSite],
    values: &mut [Option<i64>],
    of_plan: (&Choice, &Rules),
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let unknown: Vec<usize> = (0..sites.len())
        .filter(|&at| values[at].is_none())
        .collect();
    let to_read: Vec<&CoverSite> = unknown.iter().map(|&at| &sites[at]).collect();
    watch.stage("value sites", Some(to_read.len() as u64));
    in_groups(store, &to_read, of_plan, watch, |group, loaded| {
        for (at, site) in group.iter().zip(loaded) {
            values[unknown[*at]] = Some(site.graph.value());
            watch.advance(1);
        }
        Ok(())
    })
}
