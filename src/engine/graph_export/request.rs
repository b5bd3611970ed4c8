//! Request and report of a graph export.

use crate::named_enum::named_enum;
use seedbank_store::records::BatchId;

named_enum! {
    /// Kind of node of a graph.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum GraphOf {
        #[default]
        Pages = "pages", "Crawled and known pages";
        Sites = "sites", "Sites, with the number of links between the pages of each pair";
    }
}

named_enum! {
    /// Output format of a graph.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum GraphFormat {
        BvGraph = "bvgraph",
            "The BV format of WebGraph, with the URL of each node, and for sites the weights of arcs";
        CcGraph = "ccgraph",
            "Vertices and edges in the format of Common Crawl's host graphs; only for sites";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A table of nodes and a table of links";
        Tsv = "tsv",
            "Tab-separated lines: links by URL or by site, and nodes with their attributes";
    }
}

/// Request to export a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphRequest {
    /// Kind of node.
    pub of: GraphOf,
    /// Output format.
    pub format: GraphFormat,
}

impl GraphRequest {
    /// Returns the names of the files that are written.
    #[must_use]
    pub const fn files(&self) -> &'static [&'static str] {
        match (self.of, self.format) {
            (GraphOf::Pages, GraphFormat::Tsv) => &["links.tsv", "pages.tsv"],
            (GraphOf::Pages, GraphFormat::Parquet) => &["links.parquet", "pages.parquet"],
            (GraphOf::Pages, GraphFormat::BvGraph) => &[
                "pages.graph",
                "pages.offsets",
                "pages.properties",
                "pages.urls.gz",
            ],
            (GraphOf::Sites, GraphFormat::Tsv) => &["site-links.tsv", "sites.tsv"],
            (GraphOf::Sites, GraphFormat::Parquet) => &["site-links.parquet", "sites.parquet"],
            (GraphOf::Sites, GraphFormat::BvGraph) => &[
                "sites.graph",
                "sites.offsets",
                "sites.properties",
                "sites.urls.gz",
                "sites.weights.gz",
            ],
            (GraphOf::Sites, GraphFormat::CcGraph) => &["edges.txt.gz", "vertices.txt.gz"],
            (GraphOf::Pages, GraphFormat::CcGraph) => &[],
        }
    }
}

/// Counts of a graph export, and the state that it read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GraphReport {
    /// Last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Number of nodes: pages or sites.
    pub nodes: u64,
    /// Number of crawled pages, or of sites with one.
    pub crawled: u64,
    /// Number of links between nodes.
    pub links: u64,
    /// Number of links between pages that these represent: equal for pages, larger for sites.
    pub page_links: u64,
    /// Number of links to gone pages, which are omitted.
    pub links_to_gone: u64,
    /// Number of sites whose name is not a valid host in `ccgraph`: IPv6 addresses, and names with an empty
    /// label.
    pub invalid_hosts: u64,
}

impl GraphReport {
    pub(super) const fn new(batch: BatchId) -> Self {
        Self {
            batch,
            nodes: 0,
            crawled: 0,
            links: 0,
            page_links: 0,
            links_to_gone: 0,
            invalid_hosts: 0,
        }
    }
}
