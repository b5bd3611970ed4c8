//! All formats that a user can name, with one entry each.
//!
//! A new format is a file (or folder) with a function that turns inputs into sources, and an entry
//! here: its variant with what is given beside its inputs, its name, a sentence that says what it
//! is, and that function. The command line offers what is listed here.

mod archive;
mod auto;
mod bvgraph;
mod ccgraph;
mod cdx;
mod tabular;
mod heritrix;
mod json_array;
pub(super) mod json_lines;
mod node_graph;
mod nutch;
mod sitemap;
pub(super) mod tsv;
mod urls;
mod warc;
mod wat;

use std::path::PathBuf;

use crate::ingest::open::Input;
use crate::ingest::source::Sources;
pub use archive::page_links::Nofollow;
pub use bvgraph::bv_graph_file;
pub use json_lines::{JsonLines, RECORD_FIELDS};
pub use tsv::{LinksTsv, PagesTsv};

macro_rules! formats {
    ($(
        $(#[$about:meta])*
        $format:ident $({ $($(#[$of:meta])* $beside:ident: $kind:ty),+ $(,)? })?
            = $name:literal, $sentence:literal, $sources:path;
    )+) => {
        /// The format of the files of a batch.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$about])* $format $({ $($(#[$of])* $beside: $kind),+ })?,)+
        }

        impl Format {
            /// The name of every format, and what its inputs are.
            pub const NAMES: &[(&str, &str)] = &[$(($name, $sentence)),+];

            /// The format of this name, with nothing beside its inputs.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$format $({ $($beside: Default::default()),+ })?),)+
                    _ => None,
                }
            }

            /// The sources that a batch of these inputs is read from: first the inputs, in order,
            /// then those files beside them that have records.
            #[must_use]
            pub fn sources(&self, inputs: &[Input]) -> Sources {
                match self {
                    $(Self::$format $({ $($beside),+ })? => {
                        $sources(inputs $($(, $beside.clone())+)?)
                    })+
                }
            }
        }
    };
}

formats! {
    /// One record per page, as JSON Lines.
    #[default]
    JsonLines = "jsonl", "One JSON record per line", json_lines::sources;

    /// Links as TSV, with the pages in another TSV if there is one.
    Links {
        /// `url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks`
        pages: Option<PathBuf>,
    } = "links",
        "One link per line: `from_url<TAB>to_url`; all pages count as crawled",
        tsv::sources;

    /// A graph in the BV format; the input is its basename.
    BvGraph {
        /// A URL for each node, one per line; without it node n is `http://n<n>.invalid/`.
        urls: Option<Input>,
    } = "bvgraph",
        "A BV graph, as published by LAW: BASENAME.graph and BASENAME.properties; all nodes count as crawled",
        bvgraph::sources;

    /// A web graph of hosts or domains, as Common Crawl publishes it; the inputs are the parts of its
    /// edges.
    CcGraph {
        /// The parts of its list of vertices: `id<TAB>reversed.host`.
        vertices: Vec<Input>,
        /// The parts of its list of ranks, which gives each host its quality; may be none.
        ranks: Vec<Input>,
    } = "ccgraph",
        "A host or domain graph of Common Crawl: edges `from<TAB>to`; every vertex becomes the crawled page http://host/",
        ccgraph::sources;

    /// Metadata of web archives, as Common Crawl publishes them.
    Wat {
        /// How links marked nofollow are handled.
        nofollow: Nofollow,
    } = "wat",
        "Metadata of a web archive (WAT), as published by Common Crawl: one record per captured page",
        wat::sources;

    /// Web archives, as crawlers write them.
    Warc {
        /// How links marked nofollow are handled.
        nofollow: Nofollow,
    } = "warc",
        "A web archive (WARC): one record per captured page, with the links of its HTML",
        warc::sources;

    /// Records in the rows of Parquet files.
    Parquet = "parquet", "Apache Parquet with one record per row and tabular named like fields, or Common Crawl's columnar index",
        tabular::parquet_sources;

    /// Records in the rows of files or streams of Arrow.
    Arrow = "arrow", "Apache Arrow (IPC files, Feather 2, streams) with one record per row",
        tabular::arrow_sources;

    /// Records in the rows of a table as text, with commas or semicolons between its cells.
    Csv = "csv", "CSV with one record per row and fields named in a header, or Common Crawl's columnar index",
        tabular::csv_sources;

    /// Records in the rows of a table as text, with tabs between its cells.
    Tsv = "tsv", "TSV with one record per row and fields named in a header (for TSV files of links, use `links`)",
        tabular::tsv_sources;

    /// URLs, each of which adds a known page.
    Urls = "urls",
        "One URL per line, as in lists of seeds; adds known pages and ignores comments and text after a tab",
        urls::sources;

    /// Sitemaps, whose pages are added as known pages.
    Sitemap = "sitemap",
        "An XML sitemap; adds known pages. Sitemaps listed in an index are not fetched; give them as files",
        sitemap::sources;

    /// The index of a web archive, with JSON in its lines.
    Cdxj = "cdxj",
        "An index of a web archive (CDXJ) with key, time and JSON: fetched URLs with time, status and digest",
        cdx::sources;

    /// The index of a web archive, with tabular.
    Cdx = "cdx",
        "An index of a web archive (CDX) with tabular named in a header, or 9, 10 or 11 tabular without one",
        cdx::sources;

    /// JSON records that are not one per line.
    Json = "json",
        "A JSON array of records, or records that span several lines",
        json_array::sources;

    /// Dumps of Nutch's databases of pages and of links.
    Nutch = "nutch",
        "Output of Nutch's `readdb -dump` and `readlinkdb -dump`: pages as text, CSV or JSON, and links",
        nutch::sources;

    /// The log of a crawl by Heritrix, read for its pages.
    Heritrix = "heritrix",
        "Heritrix's crawl.log: fetched URLs with time, status and digest, and the targets of redirects",
        heritrix::pages;

    /// The log of a crawl by Heritrix, read for the links that were followed.
    HeritrixLinks = "heritrix-links",
        "Links from Heritrix's crawl.log: for each page, only the link by which it was found",
        heritrix::links;

    /// Detected from the first bytes of each input; JSON Lines if no format is recognised.
    Auto {
        /// How links marked nofollow in web archives are handled.
        nofollow: Nofollow,
    } = "auto",
        "Detects the format of each file from its first bytes; JSON Lines if none is recognised",
        auto::sources;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_format() {
        assert!(
            Format::NAMES
                .iter()
                .all(|(name, _)| Format::named(name).is_some())
        );
        assert_eq!(Format::named("jsonl"), Some(Format::default()));
        assert_eq!(Format::named("yaml"), None);
    }
}
