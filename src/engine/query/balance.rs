//! How evenly the sites of a cluster bank are divided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use seedbank_store::records::SiteRecord;
use seedbank_store::{OtherProcesses, Store};

/// The most sites of [`Balance::heavy_sites`].
const MAX_HEAVY: usize = 5;

/// How evenly the sites of a cluster bank are divided among its parts or processes.
///
/// A site belongs to one of them. Its weight is the number of its known and crawled pages and of the links from them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Balance {
    /// What the sites are divided among.
    pub among: Division,
    /// Number of these.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Weight of the heaviest of these, divided by their mean.
    #[schemars(range(min = 1))]
    pub largest_to_mean: f64,
    /// Sites that weigh more than this mean, at most 5, heaviest first.
    pub heavy_sites: Vec<HeavySite>,
}

/// What the sites of a cluster bank are divided among.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Division {
    /// The parts of the bank.
    Parts,
    /// The processes that have the parts.
    Processes,
}

/// Site that weighs more than the mean part or process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct HeavySite {
    /// Name of the site.
    pub site: String,
    /// Number of its known and crawled pages.
    pub pages: u64,
    /// Number of links from its pages.
    pub links: u64,
    /// Part of the weight of all sites.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Weight divided by the mean: its part or process weighs at least this many times the mean.
    #[schemars(range(min = 1))]
    pub to_mean: f64,
}

/// What the sites are divided among, with the owner of each part.
pub(super) struct Owners {
    among: Division,
    /// By part.
    pub(super) by_part: Vec<usize>,
    pub(super) count: usize,
}

impl Owners {
    /// Returns the processes of a cluster bank; its parts if this process has all of them. `None` if it is another bank.
    pub(super) fn of_bank(store: &Store, processes: &OtherProcesses) -> Option<Self> {
        let parts = store.part_count()?;
        let (among, by_part) = if processes.any() {
            (Division::Processes, processes.owners(parts))
        } else {
            (Division::Parts, (0..parts as usize).collect())
        };
        let last = by_part.iter().max()?;
        Some(Self {
            among,
            count: last + 1,
            by_part,
        })
    }
}

/// A site with its weight.
struct WeighedSite {
    weight: u64,
    pages: u64,
    links: u64,
    site: String,
}

/// The weights of sites that were added so far.
pub(super) struct Weights {
    among: Division,
    /// By owner.
    sums: Vec<u64>,
    /// At most [`MAX_HEAVY`], heaviest first.
    heaviest: Vec<WeighedSite>,
}

impl Weights {
    /// Starts with no site.
    pub(super) fn new(owners: &Owners) -> Self {
        Self {
            among: owners.among,
            sums: vec![0; owners.count],
            heaviest: Vec::new(),
        }
    }

    /// Adds a site of an owner.
    pub(super) fn add(&mut self, owner: usize, site: &SiteRecord) {
        let pages = u64::from(site.known) + u64::from(site.crawled);
        let links = site.intra_links.saturating_add(site.inter_links);
        let weight = pages.saturating_add(links);
        if let Some(sum) = self.sums.get_mut(owner) {
            *sum = sum.saturating_add(weight);
        }
        // Of sites with the same weight, the first in the order of ids comes first.
        let at = self.heaviest.partition_point(|of| of.weight >= weight);
        if at < MAX_HEAVY {
            let site = site.name.clone();
            let weighed = WeighedSite {
                weight,
                pages,
                links,
                site,
            };
            self.heaviest.insert(at, weighed);
            self.heaviest.truncate(MAX_HEAVY);
        }
    }

    /// Returns the balance; `None` if no site has a page.
    pub(super) fn balance(self) -> Option<Balance> {
        let sum: u128 = self.sums.iter().map(|sum| u128::from(*sum)).sum();
        let largest = self.sums.iter().max().filter(|largest| **largest > 0)?;
        let count = u32::try_from(self.sums.len()).ok()?;
        let to_mean = |weight: u64| weight as f64 * f64::from(count) / sum as f64;
        let is_heavy = |of: &WeighedSite| u128::from(of.weight) * u128::from(count) > sum;
        Some(Balance {
            among: self.among,
            count,
            largest_to_mean: to_mean(*largest),
            heavy_sites: self
                .heaviest
                .into_iter()
                .filter(is_heavy)
                .map(|of| HeavySite {
                    site: of.site,
                    pages: of.pages,
                    links: of.links,
                    share: of.weight as f64 / sum as f64,
                    to_mean: to_mean(of.weight),
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site of this many known pages, crawled pages, links within the site and links to others.
    fn site(name: &str, [known, crawled]: [u32; 2], [intra, inter]: [u64; 2]) -> SiteRecord {
        SiteRecord {
            name: name.to_owned(),
            known,
            crawled,
            gone: 100,
            intra_links: intra,
            inter_links: inter,
            ..SiteRecord::default()
        }
    }

    fn balance(owners: usize, sites: &[(usize, SiteRecord)]) -> Option<Balance> {
        let owners = Owners {
            among: Division::Parts,
            by_part: Vec::new(),
            count: owners,
        };
        let mut weights = Weights::new(&owners);
        for (owner, site) in sites {
            weights.add(*owner, site);
        }
        weights.balance()
    }

    #[test]
    fn three_sites_in_two_parts() {
        // 10, 4 and 2 of 16; the second part has 6, the mean is 8.
        let sites = [
            (1, site("b.example", [1, 1], [2, 0])),
            (0, site("a.example", [1, 2], [3, 4])),
            (1, site("c.example", [1, 0], [0, 1])),
        ];
        let two = balance(2, &sites).unwrap();
        let found = (two.among, two.count, two.largest_to_mean);
        assert_eq!(found, (Division::Parts, 2, 1.25));
        let heavy = HeavySite {
            site: "a.example".to_owned(),
            pages: 3,
            links: 7,
            share: 0.625,
            to_mean: 1.25,
        };
        assert_eq!(two.heavy_sites, [heavy]);
        // A site that weighs as much as the mean is not heavier than it.
        let four = balance(4, &sites).unwrap();
        assert_eq!((four.count, four.largest_to_mean), (4, 2.5));
        let names: Vec<&str> = four.heavy_sites.iter().map(|of| of.site.as_str()).collect();
        assert_eq!(names, ["a.example"]);
        let eight = balance(8, &sites).unwrap();
        let heavy: Vec<_> = eight
            .heavy_sites
            .iter()
            .map(|of| (of.share, of.to_mean))
            .collect();
        assert_eq!(heavy, [(0.625, 5.0), (0.25, 2.0)]);
        assert_eq!(balance(1, &sites).unwrap().heavy_sites, []);
    }

    #[test]
    fn the_five_heaviest_sites_are_listed() {
        let sites: Vec<_> = (1..=7)
            .map(|pages| (0, site(&format!("s{pages}.example"), [pages, 0], [0, 0])))
            .collect();
        let found = balance(64, &sites).unwrap();
        let pages: Vec<u64> = found.heavy_sites.iter().map(|of| of.pages).collect();
        assert_eq!(pages, [7, 6, 5, 4, 3]);
    }

    #[test]
    fn a_bank_without_pages_has_no_balance() {
        assert_eq!(balance(2, &[]), None);
        assert_eq!(balance(2, &[(0, site("a.example", [0, 0], [0, 0]))]), None);
    }
}
