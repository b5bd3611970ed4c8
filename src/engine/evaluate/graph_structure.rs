//! The tables in which the papers describe their data: degrees, strongly connected components of sites, and
//! the average distance of pages.

use std::collections::BTreeMap;

use super::answers::{GraphDistance, StateView};
use super::seed_lists::state;

use crate::engine::query::views::Views;
use crate::engine::web_graph::{LoadedGraph, load_image};
use crate::engine::{Bank, EngineError};
use schemars::JsonSchema;
use seedbank_algorithms::evaluate::ForwardGraph;
use seedbank_algorithms::evaluate::distances::average_distance;
use seedbank_algorithms::graph::{Csr, NONE, StrongComponents};
use seedbank_algorithms::statistics::{PowerLaw, fit_power_law};
use seedbank_store::ImageLinks;
use serde::{Deserialize, Serialize};

/// The request of the structure of a graph.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::StructureRequest;
///
/// let found = bank.graph_structure(&StructureRequest::default())?;
/// assert_eq!(found.degrees.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StructureRequest {
    /// Number of pages from which the average distance is sampled; 0 for none.
    pub samples: u32,
    /// Seed of the sample.
    pub rng_seed: u64,
}

impl Default for StructureRequest {
    fn default() -> Self {
        Self {
            samples: 400,
            rng_seed: 0,
        }
    }
}

/// Structure of the whole graph: all crawled and known pages with all their links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GraphStructure {
    /// The described state.
    pub state: StateView,
    /// Degrees by links of all kinds, and then by those between sites; first links to pages, then links of pages.
    pub degrees: Vec<DegreeDistribution>,
    /// Strongly connected components of sites.
    pub components: SiteComponents,
    /// Seed of the sample of pages from which distances were measured.
    pub rng_seed: u64,
    /// The average distance between pages.
    pub distance: GraphDistance,
}

/// The degree that a distribution is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DegreeKind {
    /// Links to each crawled or known page.
    In,
    /// Links of each crawled page.
    Out,
    /// Links from other sites to each crawled or known page.
    InterSiteIn,
    /// Links of each crawled page to other sites.
    InterSiteOut,
}

/// Distribution of a degree over pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DegreeDistribution {
    /// The degree.
    pub kind: DegreeKind,
    /// Number of pages.
    pub pages: u64,
    /// The mean degree; `None` without pages.
    #[schemars(range(min = 0))]
    pub mean: Option<f64>,
    /// The largest degree.
    pub max: u64,
    /// Pages by degree, in classes whose bounds are powers of two.
    pub by_degree: Vec<DegreeClass>,
    /// The power law of the largest degrees, by discrete maximum likelihood, with the start of the smallest
    /// Kolmogorov-Smirnov distance (Clauset, Shalizi and Newman, 2009); `None` if no tail has 50 pages and
    /// two degrees.
    pub power_law: Option<PowerLaw>,
}

/// Pages with degrees in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DegreeClass {
    /// The smallest degree of the class.
    pub from: u64,
    /// The largest degree of the class.
    pub to: u64,
    /// Number of pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// Strongly connected components of the crawled pages of each site, by links within the site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteComponents {
    /// Sites with crawled pages, by number of crawled pages, in classes whose bounds are powers of ten.
    pub by_pages: Vec<SiteClass>,
    /// The same sites, by number of components.
    pub by_components: Vec<SiteClass>,
    /// Components of all sites, by number of pages.
    pub by_size: Vec<ComponentClass>,
}

/// Sites with a number of pages or components in a range.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteClass {
    /// The smallest number of the class.
    #[schemars(range(min = 1))]
    pub from: u64,
    /// The largest number of the class.
    #[schemars(range(min = 1))]
    pub to: u64,
    /// Number of sites.
    #[schemars(range(min = 1))]
    pub sites: u64,
    /// Their crawled pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Their components.
    #[schemars(range(min = 1))]
    pub components: u64,
    /// Share of a site's crawled pages that are in its largest component: mean over the sites.
    #[schemars(range(min = 0, max = 1))]
    pub largest: f64,
    /// Sites whose largest component has at most half of their crawled pages.
    pub without_majority: u64,
}

/// Components with a number of pages in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ComponentClass {
    /// The smallest number of pages of the class.
    #[schemars(range(min = 1))]
    pub from: u64,
    /// The largest number of pages of the class.
    #[schemars(range(min = 1))]
    pub to: u64,
    /// Number of components.
    #[schemars(range(min = 1))]
    pub components: u64,
    /// Their pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

impl Bank {
    /// Describes the graph of the current state: degrees with their power laws, strongly connected components
    /// of sites, and the average distance between pages.
    ///
    /// Cost: the whole graph is loaded and passed over a few times, then searched once for each sampled page, in
    /// parallel. Memory: the graph image and the graph twice.
    pub fn graph_structure(
        &self,
        request: &StructureRequest,
    ) -> Result<GraphStructure, EngineError> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let image = load_image(&views.reader, ImageLinks::All, watch)?;
        let (LoadedGraph { graph, sites }, numbering) = LoadedGraph::of_image(&image)?;
        let slots = numbering.slots.iter();
        let is_crawled: Vec<bool> = slots.map(|&slot| image.is_crawled(slot)).collect();
        drop((image, numbering));
        watch.stage("degrees", None);
        let pages = 0..graph.pages();
        let from_other_sites: Vec<u64> = pages
            .clone()
            .map(|page| {
                let rows = graph.citers.list(page).iter();
                rows.map(|&row| graph.members.list(row).len() as u64).sum()
            })
            .collect();
        let inside = |links: &Csr, page: u32| links.list(page).len() as u64;
        let in_degrees = pages.clone().zip(&from_other_sites);
        let in_degrees = in_degrees.map(|(page, other)| inside(&graph.intra_in, page) + other);
        let in_degrees = DegreeDistribution::new(DegreeKind::In, in_degrees);
        let out_degree = graph.out_degree.clone();
        let web = ForwardGraph::new(graph);
        let crawled: Vec<u32> = pages.filter(|page| is_crawled[*page as usize]).collect();
        let out = |page: &u32| u64::from(out_degree[*page as usize]);
        let to_other_sites = |page: &u32| out(page) - inside(web.intra(), *page);
        let degrees = vec![
            in_degrees,
            DegreeDistribution::new(DegreeKind::Out, crawled.iter().map(out)),
            DegreeDistribution::new(DegreeKind::InterSiteIn, from_other_sites.into_iter()),
            DegreeDistribution::new(DegreeKind::InterSiteOut, crawled.iter().map(to_other_sites)),
        ];
        watch.proceed()?;
        watch.stage("components of sites", None);
        let found = StrongComponents::new(web.intra(), &is_crawled);
        let components = SiteComponents::new(&found, sites.into_iter().map(|(_, pages)| pages));
        watch.stage("sample distances", Some(request.samples.into()));
        let distance = average_distance(&web, request.samples, request.rng_seed, watch)?;
        Ok(GraphStructure {
            state: state(&views.reader)?,
            degrees,
            components,
            rng_seed: request.rng_seed,
            distance: distance.into(),
        })
    }
}

impl DegreeDistribution {
    fn new(kind: DegreeKind, degrees: impl Iterator<Item = u64>) -> Self {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for degree in degrees {
            *counts.entry(degree).or_default() += 1;
        }
        let pages: u64 = counts.values().sum();
        let links: u64 = counts.iter().map(|(degree, pages)| degree * pages).sum();
        let mut by_degree: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (&degree, pages) in &counts {
            *by_degree.entry(class(degree, 2)).or_default() += pages;
        }
        let max = counts.last_key_value().map_or(0, |(degree, _)| *degree);
        counts.remove(&0);
        let positive: Vec<(u64, u64)> = counts.into_iter().collect();
        Self {
            kind,
            pages,
            mean: (pages > 0).then(|| links as f64 / pages as f64),
            max,
            by_degree: by_degree
                .into_iter()
                .map(|((from, to), pages)| DegreeClass { from, to, pages })
                .collect(),
            power_law: fit_power_law(&positive),
        }
    }
}

impl SiteComponents {
    /// Counts the components of sites, given the pages of each site.
    fn new(found: &StrongComponents, sites: impl Iterator<Item = std::ops::Range<u32>>) -> Self {
        let (mut by_pages, mut by_components) = (BTreeMap::new(), BTreeMap::new());
        let mut by_size: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
        for site in sites {
            let (mut pages, mut components, mut largest) = (0, 0, 0);
            for page in site {
                let component = found.component_of[page as usize];
                if component == NONE {
                    continue;
                }
                pages += 1;
                let members = found.members(component as usize);
                // A component is counted at one of its pages. No component has pages of two sites.
                if members.first() == Some(&page) {
                    let size = members.len() as u64;
                    components += 1;
                    largest = largest.max(size);
                    let of_size = by_size.entry(class(size, 10)).or_default();
                    of_size.0 += 1;
                    of_size.1 += size;
                }
            }
            if pages > 0 {
                for (classes, number) in [(&mut by_pages, pages), (&mut by_components, components)]
                {
                    SiteClass::add(classes, number, [pages, components, largest]);
                }
            }
        }
        Self {
            by_pages: SiteClass::with_means(by_pages),
            by_components: SiteClass::with_means(by_components),
            by_size: by_size
                .into_iter()
                .map(|((from, to), (components, pages))| ComponentClass {
                    from,
                    to,
                    components,
                    pages,
                })
                .collect(),
        }
    }
}

impl SiteClass {
    /// Adds a site to the class of a number, given its pages, its components, and the pages of the largest one.
    fn add(classes: &mut BTreeMap<u64, Self>, number: u64, [pages, components, largest]: [u64; 3]) {
        let (from, to) = class(number, 10);
        let of_number = classes.entry(from).or_insert(Self {
            from,
            to,
            sites: 0,
            pages: 0,
            components: 0,
            largest: 0.0,
            without_majority: 0,
        });
        of_number.sites += 1;
        of_number.pages += pages;
        of_number.components += components;
        of_number.largest += largest as f64 / pages as f64;
        of_number.without_majority += u64::from(2 * largest <= pages);
    }

    /// Returns the classes in order, with means over sites in place of the sums.
    fn with_means(classes: BTreeMap<u64, Self>) -> Vec<Self> {
        let mean = |class: Self| Self {
            largest: class.largest / class.sites as f64,
            ..class
        };
        classes.into_values().map(mean).collect()
    }
}

/// Returns the bounds of the class of a number: 0, 1, and then from each power of `base`, or from 2, to the
/// next power.
fn class(number: u64, base: u64) -> (u64, u64) {
    if number < 2 {
        return (number, number);
    }
    let from = base.pow(number.ilog(base));
    (from.max(2), from.saturating_mul(base) - 1)
}

#[cfg(test)]
mod tests {
    use std::iter::{empty, repeat_n};

    use super::*;

    #[test]
    fn classes_contain_their_numbers_and_follow_each_other() {
        for base in [2, 10] {
            let mut next = 0;
            for number in 0..5000 {
                let (from, to) = class(number, base);
                assert!(from <= number && number <= to, "{number}: {from} {to}");
                assert!(from == next || number > from, "{number}: {from} {to}");
                next = if number == to { to + 1 } else { next };
            }
        }
        assert_eq!([class(9, 10), class(10, 10)], [(2, 9), (10, 99)]);
        assert_eq!([class(7, 2), class(8, 2)], [(4, 7), (8, 15)]);
    }

    #[test]
    fn degrees_are_counted_and_zeros_are_outside_the_power_law() {
        // Pages by degree 1 to 9 as 10^6 / degree^2, and 500 pages without links.
        let degrees = (1..10_usize).flat_map(|d| repeat_n(d as u64, 1_000_000 / (d * d)));
        let with_zeros = degrees.clone().chain(repeat_n(0, 500));
        let found = DegreeDistribution::new(DegreeKind::In, with_zeros);
        let pages = degrees.clone().count() as u64;
        assert_eq!((found.pages, found.max), (pages + 500, 9));
        let links: u64 = degrees.clone().sum();
        assert_eq!(found.mean, Some(links as f64 / found.pages as f64));
        let classes: Vec<_> = found.by_degree.iter().map(|c| (c.from, c.to)).collect();
        assert_eq!(classes, [(0, 0), (1, 1), (2, 3), (4, 7), (8, 15)]);
        let counts: Vec<u64> = found.by_degree.iter().map(|class| class.pages).collect();
        assert_eq!(counts[..3], [500, 1_000_000, 361_111]);
        let without = DegreeDistribution::new(DegreeKind::In, degrees);
        assert!(found.power_law.is_some());
        assert_eq!(found.power_law, without.power_law);
        let none = DegreeDistribution::new(DegreeKind::Out, empty());
        assert_eq!((none.pages, none.mean, none.max), (0, None, 0));
    }

    #[test]
    fn components_are_counted_by_site() {
        // A ring of three and a page of it that was not crawled; twelve pages without links; nothing crawled.
        let mut links = Csr::default();
        for to in [1, 2, 0] {
            links.push([to, 3]);
        }
        for _ in 3..18 {
            links.push([]);
        }
        let is_crawled: Vec<bool> = (0..18).map(|page| page != 3 && page < 16).collect();
        let found = StrongComponents::new(&links, &is_crawled);
        let found = SiteComponents::new(&found, [0..4, 4..16, 16..18].into_iter());
        let class = |(from, to), pages, components, largest, without_majority| SiteClass {
            from,
            to,
            sites: 1,
            pages,
            components,
            largest,
            without_majority,
        };
        let ring = |bounds| class(bounds, 3, 1, 1.0, 0);
        let loose = |bounds| class(bounds, 12, 12, 1.0 / 12.0, 1);
        assert_eq!(found.by_pages, [ring((2, 9)), loose((10, 99))]);
        assert_eq!(found.by_components, [ring((1, 1)), loose((10, 99))]);
        let sizes = found.by_size.iter();
        let sizes: Vec<_> = sizes
            .map(|c| (c.from, c.to, c.components, c.pages))
            .collect();
        assert_eq!(sizes, [(1, 1, 12, 12), (2, 9, 1, 3)]);
    }
}
