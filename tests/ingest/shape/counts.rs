//! Counts of a crawl.

use std::fmt;

/// Mean and percentiles of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountStats {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u32,
    /// Nine tenths are at most this.
    pub p90: u32,
    /// 99 of a hundred are at most this.
    pub p99: u32,
    /// The largest.
    pub max: u32,
}

impl CountStats {
    pub(super) fn new(mut counts: Vec<u32>) -> Self {
        counts.sort_unstable();
        let at = |percent: usize| {
            let index = (counts.len() * percent / 100).min(counts.len().saturating_sub(1));
            counts.get(index).copied().unwrap_or(0)
        };
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        Self {
            mean: sum as f64 / counts.len().max(1) as f64,
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: counts.last().copied().unwrap_or(0),
        }
    }
}

impl fmt::Display for CountStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mean,
            p50,
            p90,
            p99,
            max,
        } = self;
        write!(f, "{mean:.1}; {p50}, {p90}, {p99}, {max}")
    }
}

/// The numbers that matter to rank and cover.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// The number of crawled and known pages.
    pub pages: usize,
    /// Pages with a record that is not `gone`.
    pub crawled: usize,
    /// The number of hosts of all pages.
    pub sites: usize,
    /// The number of hosts of crawled pages.
    pub crawled_sites: usize,
    /// Distinct links without self-links.
    pub links: usize,
    /// The number of those between sites.
    pub inter_site_links: usize,
    /// Outdegrees of crawled pages.
    pub out: CountStats,
    /// Indegrees of crawled pages, counting links from all pages.
    pub indegree: CountStats,
    /// Inter-site outdegrees of hubs.
    pub hub_out: CountStats,
    /// Inter-site indegrees of authorities.
    pub authority_in: CountStats,
    /// Crawled pages per crawled site.
    pub site_pages: CountStats,
    /// Pages with an inter-site link.
    pub hubs: usize,
    /// Targets of inter-site links.
    pub authorities: usize,
    /// Distinct sets of inter-site targets per site.
    pub rows: usize,
    /// Links that remain once the pages of a row, and authorities with the same rows, are merged.
    pub merged_links: usize,
    /// Regions with at least one link.
    pub regions: usize,
    /// Share of the inter-site links in the largest region.
    pub largest_region: f64,
    /// The ten largest singular values of the inter-site links, largest first (fewer on small
    /// graphs), measured on the merged links.
    pub sigmas: Vec<f64>,
    /// Crawled pages with a digest that another page of their site has too.
    pub repeated_digests: usize,
}

impl Shape {
    /// Inter-site links as a share of all links.
    #[must_use]
    pub fn inter_site_share(&self) -> f64 {
        self.inter_site_links as f64 / self.links.max(1) as f64
    }

    /// Merged links as a share of the inter-site links.
    #[must_use]
    pub fn merged_share(&self) -> f64 {
        self.merged_links as f64 / self.inter_site_links.max(1) as f64
    }

    /// The mean of sigma(i+1) / sigma(i) over those measured; near 1 the gaps are small.
    #[must_use]
    pub fn sigma_ratio(&self) -> f64 {
        let ratios = self.sigmas.windows(2).map(|pair| pair[1] / pair[0]);
        ratios.sum::<f64>() / self.sigmas.len().saturating_sub(1).max(1) as f64
    }

    /// Name and value of every line of the table.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let sigmas: Vec<String> = self.sigmas.iter().map(|s| format!("{s:.1}")).collect();
        vec![
            (
                "pages, crawled",
                format!("{}, {}", self.pages, self.crawled),
            ),
            (
                "sites, crawled",
                format!("{}, {}", self.sites, self.crawled_sites),
            ),
            ("pages of a crawled site", self.site_pages.to_string()),
            ("links", self.links.to_string()),
            (
                "inter-site links, share",
                format!("{}, {:.3}", self.inter_site_links, self.inter_site_share()),
            ),
            ("outdegree", self.out.to_string()),
            ("indegree of crawled pages", self.indegree.to_string()),
            (
                "hubs, authorities",
                format!("{}, {}", self.hubs, self.authorities),
            ),
            ("inter-site outdegree of hubs", self.hub_out.to_string()),
            ("indegree of authorities", self.authority_in.to_string()),
            ("rows", self.rows.to_string()),
            (
                "merged links, share",
                format!("{}, {:.3}", self.merged_links, self.merged_share()),
            ),
            (
                "regions, links in the largest",
                format!("{}, {:.3}", self.regions, self.largest_region),
            ),
            ("sigmas", sigmas.join(", ")),
            (
                "mean sigma(i+1) / sigma(i)",
                format!("{:.3}", self.sigma_ratio()),
            ),
            (
                "pages with a repeated digest",
                self.repeated_digests.to_string(),
            ),
        ]
    }
}
