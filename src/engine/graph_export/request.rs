//! What is asked for as a graph, and what was written.

use crate::named::named;
use seedbank_store::records::BatchId;

named! {
    /// What the nodes of a graph are.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum GraphOf {
        #[default]
        Pages = "pages", "Crawled and known pages";
        Sites = "sites", "Sites, with how many links there are between the pages of two of them";
    }
}

named! {
    /// How a graph is written.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum GraphFormat {
        BvGraph = "bvgraph",
            "The BV format of WebGraph, with the URL of each node; of sites with the weights of arcs beside it";
        CcGraph = "ccgraph",
            "Vertices and edges of hosts, as Common Crawl publishes them; of sites alone";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A table of nodes and one of links";
        Tsv = "tsv",
            "Lines with tabs between columns: links by URL or by site, and nodes with their attributes";
    }
}

/// A graph to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphRequest {
    /// What its nodes are.
    pub of: GraphOf,
    /// How it is written.
    pub format: GraphFormat,
}

impl GraphRequest {
    /// The names of the files that are written.
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

/// What was written of a graph, and of which state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GraphReport {
    /// The last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Nodes: pages or sites.
    pub nodes: u64,
    /// Those of them that are crawled pages, or have one.
    pub crawled: u64,
    /// Links between nodes.
    pub links: u64,
    /// The links between pages that they stand for: as many for pages, more for sites.
    pub page_links: u64,
    /// Links of pages to pages that are gone, which are in no graph.
    pub links_to_gone: u64,
    /// How many nodes can be read back by no list of hosts: sites whose name is an IPv6 address.
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
