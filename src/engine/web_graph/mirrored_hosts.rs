//! Mirrored hosts: hosts of a site that have the same pages, such as `www.` twins, or http beside https.
//!
//! A host here has a scheme and a port. Two hosts of a site are mirrored if at least [`MIN_EQUAL`] different contents are on the
//! same path of both, and at most a tenth as many paths have different contents there. A redirect from one to the same path of
//! the other counts as a content of its own. A path that more than [`MAX_HOSTS`] hosts of the site have, such as `/`, is no
//! evidence. (Bharat and Broder 1999 compare hosts by the same two things, paths and contents.)
//!
//! Of the pages of mirrored hosts with one path, those that are not crawled yet are taken for the crawled one, or for the first
//! one by URL if none is crawled. So links to them are links to that page. Whether crawled pages are copies follows from their
//! digests.

use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_records;
use crate::engine::Result;
use crate::engine::bank::naming;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::Hash128;
use seedbank_store::records::aliases::AliasRecord;
use seedbank_store::{GraphImage, Run, Store, tables};

/// Hosts are mirrored if this many different contents are on the same path of both; one in unit tests, whose banks are small.
const MIN_EQUAL: u32 = if cfg!(test) { 1 } else { 10 };
/// Mirrored hosts have at least this many equal contents for each path with different ones.
const EQUAL_PER_DIFFERENT: u32 = if cfg!(test) { 1 } else { 10 };
/// A path of more hosts is no evidence.
const MAX_HOSTS: usize = 8;

/// A page, as mirrored hosts are found by.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct HostPage {
    /// The number of its host, by URL.
    pub(in crate::engine) host: u32,
    /// Hash of the path with the query.
    path: u64,
    pub(in crate::engine) digest: Option<Hash128>,
    /// The length of the URL, in bytes.
    pub(in crate::engine) url_length: u32,
}

impl HostPage {
    /// `host` is the number of its host.
    pub(in crate::engine) fn new(host: u32, url: &str, digest: Option<Hash128>) -> Self {
        let mut hasher = DefaultHasher::new();
        url[ingest::host_end(url)..].hash(&mut hasher);
        Self {
            host,
            path: hasher.finish(),
            digest,
            url_length: number(url.len()),
        }
    }
}

/// Two mirrored hosts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MirroredHosts {
    /// The first host by URL: scheme, host and port.
    pub host: String,
    /// The other host.
    pub mirror: String,
    /// Number of different contents that both have on the same path.
    #[schemars(range(min = 10))]
    pub equal: u32,
    /// Number of paths with different contents.
    pub different: u32,
    /// Number of pages of the two that are not crawled yet and are taken for a page of the other.
    pub taken: u32,
}

/// The mirrored hosts of a site, and the pages that are taken for others.
#[derive(Default)]
pub(in crate::engine) struct OfSite {
    /// Pairs of hosts, with the numbers of equal and different contents.
    hosts: Vec<([u32; 2], u32, u32)>,
    /// Positions of pages that are not crawled, each with that of the page that it is taken for.
    pub(in crate::engine) taken_for: Vec<[u32; 2]>,
    /// The number of these by pair of hosts.
    taken: BTreeMap<[u32; 2], u32>,
}

impl OfSite {
    /// Finds the mirrored hosts among the pages of a site, in any order. `redirects` has pairs of positions: a page, and the page
    /// to which it redirects. `is_crawled` is `None` for pages that are neither crawled nor known.
    pub(in crate::engine) fn find(
        pages: &[HostPage],
        is_crawled: impl Fn(u32) -> Option<bool>,
        redirects: &[[u32; 2]],
    ) -> Self {
        let host = |place: u32| pages[place as usize].host;
        let mut by_path: Vec<u32> = (0..number(pages.len())).collect();
        by_path.sort_by_key(|&place| pages[place as usize].path);
        let same_path = |a: &u32, b: &u32| pages[*a as usize].path == pages[*b as usize].path;
        let mut equal: BTreeMap<[u32; 2], BTreeSet<Hash128>> = BTreeMap::new();
        let mut different: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for of_path in by_path.chunk_by(same_path) {
            let crawled = of_path.iter().filter_map(|&place| {
                let digest = pages[place as usize].digest?;
                (is_crawled(place) == Some(true)).then_some((host(place), digest))
            });
            let crawled: Vec<(u32, Hash128)> = crawled.take(MAX_HOSTS + 1).collect();
            if crawled.len() > MAX_HOSTS {
                continue;
            }
            for (at, &(one, digest)) in crawled.iter().enumerate() {
                for &(other, of_other) in &crawled[at + 1..] {
                    let pair = [one.min(other), one.max(other)];
                    if digest == of_other {
                        equal.entry(pair).or_default().insert(digest);
                    } else {
                        *different.entry(pair).or_default() += 1;
                    }
                }
            }
        }
        let mut counts: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for (pair, digests) in equal {
            counts.insert(pair, number(digests.len()));
        }
        for [from, to] in redirects {
            let (one, other) = (host(*from), host(*to));
            if one != other && same_path(from, to) {
                *counts.entry([one.min(other), one.max(other)]).or_default() += 1;
            }
        }
        let hosts = counts.into_iter().filter_map(|(pair, equal)| {
            let different = different.get(&pair).copied().unwrap_or(0);
            let is_mirrored =
                equal >= MIN_EQUAL && different.saturating_mul(EQUAL_PER_DIFFERENT) <= equal;
            is_mirrored.then_some((pair, equal, different))
        });
        let hosts: Vec<([u32; 2], u32, u32)> = hosts.collect();
        // The first host of those that are mirrored, directly or by way of others.
        let mut first_of: BTreeMap<u32, u32> = BTreeMap::new();
        for ([one, other], ..) in &hosts {
            let lead = |host: &u32| first_of.get(host).copied().unwrap_or(*host);
            let (one, other) = (lead(one), lead(other));
            let (lead, replaced) = (one.min(other), one.max(other));
            for of in first_of.values_mut().filter(|of| **of == replaced) {
                *of = lead;
            }
            first_of.insert(replaced, lead);
            first_of.insert(lead, lead);
        }
        let mut taken_for = Vec::new();
        for of_path in by_path.chunk_by(same_path).filter(|of| of.len() > 1) {
            let mut of_hosts: BTreeMap<u32, Vec<(bool, u32, u32)>> = BTreeMap::new();
            for &place in of_path {
                let host = host(place);
                if let (Some(lead), Some(crawled)) = (first_of.get(&host), is_crawled(place)) {
                    let twins = of_hosts.entry(*lead).or_default();
                    twins.push((!crawled, host, place));
                }
            }
            for mut twins in of_hosts.into_values() {
                twins.sort_unstable();
                let known = twins.iter().skip(1).filter(|(is_known, ..)| *is_known);
                taken_for.extend(known.map(|(.., place)| [*place, twins[0].2]));
            }
        }
        let mut taken = BTreeMap::new();
        for [page, twin] in &taken_for {
            let (one, other) = (host(*page), host(*twin));
            *taken.entry([one.min(other), one.max(other)]).or_default() += 1;
        }
        Self {
            hosts,
            taken_for,
            taken,
        }
    }

    /// Returns the mirrored hosts by name, given what begins the URLs of each host.
    pub(in crate::engine) fn named<'a>(
        &self,
        begins: impl Fn(u32) -> &'a str,
    ) -> Vec<MirroredHosts> {
        let hosts = self.hosts.iter();
        let named = hosts.map(|&(pair, equal, different)| MirroredHosts {
            host: begins(pair[0]).to_owned(),
            mirror: begins(pair[1]).to_owned(),
            equal,
            different,
            taken: self.taken.get(&pair).copied().unwrap_or(0),
        });
        named.collect()
    }
}

/// Compares mirrored hosts: those with most equal contents first, then by URL.
pub(in crate::engine) fn largest_first(a: &MirroredHosts, b: &MirroredHosts) -> Ordering {
    b.equal.cmp(&a.equal).then_with(|| a.cmp(b))
}

/// What is read of all pages for contents and mirrored hosts.
#[derive(Default)]
pub(in crate::engine) struct HostPages {
    /// By slot; empty if no site has a page with a digest.
    pub(in crate::engine) pages: Vec<HostPage>,
    /// By slot, the slot of the page that a page is taken for.
    taken_for: HashMap<u32, u32>,
    /// Mirrored hosts, in the order of their URLs.
    pub(in crate::engine) hosts: Vec<MirroredHosts>,
}

impl HostPages {
    /// Reads the pages of an image.
    ///
    /// Cost: that of [`read_records`] and of a scan of aliases, if a site has a page with a digest. Memory: 40 bytes for each page.
    pub(in crate::engine) fn read(
        store: &Store,
        image: &GraphImage,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let has_digests = |run: &Run| image.digests(run.site()).1 > 0;
        if !image.runs().iter().any(has_digests) {
            return Ok(Self::default());
        }
        let mode = naming(&store.settings()?)?.sites;
        let mut pages = read_records(store, image, watch, |_, site, page| {
            HostPage::new(0, &ingest::url(site, &page.local, mode), page.digest)
        })?;
        let aliases = if image.is_share() {
            store.scan_local(&tables::ALIASES)?
        } else {
            store.scan(&tables::ALIASES)?
        };
        let mut redirects: HashMap<u32, u32> = HashMap::new();
        for entry in aliases {
            watch.proceed()?;
            if let (page, AliasRecord::Alias(to)) = entry?
                && page.site() == to.site()
                && let (Some(from), Some(to)) = (image.slot(page), image.slot(to))
            {
                redirects.insert(from, to);
            }
        }
        let mut all = Self::default();
        // The runs of a site follow each other.
        for runs in image.runs().chunk_by(|a, b| a.site() == b.site()) {
            if runs.len() < 2 || !has_digests(&runs[0]) {
                continue;
            }
            let mut slots = Vec::new();
            for (host, run) in (0..).zip(runs) {
                for &slot in &image.order()[run.range()] {
                    pages[slot as usize].host = host;
                    slots.push(slot);
                }
            }
            let of_site: Vec<HostPage> = slots.iter().map(|&slot| pages[slot as usize]).collect();
            let places: HashMap<u32, u32> = slots.iter().copied().zip(0..).collect();
            let of_aliases = slots.iter().zip(0..).filter_map(|(slot, place)| {
                let to = redirects.get(slot)?;
                Some([place, *places.get(to)?])
            });
            let is_crawled = |place: u32| {
                let slot = slots[place as usize];
                image.is_live(slot).then(|| image.is_crawled(slot))
            };
            let found = OfSite::find(&of_site, is_crawled, &of_aliases.collect::<Vec<_>>());
            for &[page, twin] in &found.taken_for {
                all.taken_for
                    .insert(slots[page as usize], slots[twin as usize]);
            }
            let prefix = |host: u32| runs[host as usize].prefix();
            all.hosts.extend(found.named(prefix));
        }
        all.hosts.sort_unstable_by(largest_first);
        all.pages = pages;
        Ok(all)
    }

    /// Returns the page that a page is taken for, by slots.
    pub(in crate::engine) fn taken_for(&self, slot: u32) -> Option<u32> {
        self.taken_for.get(&slot).copied()
    }

    /// Iterates over the slots of the pages that are taken for others, in any order.
    pub(in crate::engine) fn all_taken(&self) -> impl Iterator<Item = u32> + '_ {
        self.taken_for.keys().copied()
    }
}

#[cfg(test)]
#[path = "mirrored_hosts_tests.rs"]
mod tests;
