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
mod columns;
mod heritrix;
mod json_array;
pub(super) mod json_lines;
mod nodes;
mod nutch;
mod sitemap;
pub(super) mod tsv;
mod urls;
mod warc;
mod wat;

use std::path::PathBuf;

use crate::ingest::open::Input;
use crate::ingest::source::Sources;
pub use archive::links::Nofollow;
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
    JsonLines = "jsonl", "One record a line, as JSON", json_lines::sources;

    /// Links as TSV, with the pages in another TSV if there is one.
    Links {
        /// `url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks`
        pages: Option<PathBuf>,
    } = "links",
        "One link a line: `from_url<TAB>to_url`; every page named counts as crawled",
        tsv::sources;

    /// A graph in the BV format; the input is its basename.
    BvGraph {
        /// A URL for each node, one per line; without it node n is `http://n<n>.invalid/`.
        urls: Option<Input>,
    } = "bvgraph",
        "A graph as LAW publishes them: BASENAME.graph beside BASENAME.properties; every node counts as crawled",
        bvgraph::sources;

    /// A web graph of hosts or domains, as Common Crawl publishes it; the inputs are the parts of its
    /// edges.
    CcGraph {
        /// The parts of its list of vertices: `id<TAB>reversed.host`.
        vertices: Vec<Input>,
        /// The parts of its list of ranks, which gives each host its quality; may be none.
        ranks: Vec<Input>,
    } = "ccgraph",
        "A graph of hosts or domains as Common Crawl publishes it: edges `from<TAB>to`; every vertex is the page http://host/ and counts as crawled",
        ccgraph::sources;

    /// Metadata of web archives, as Common Crawl publishes them.
    Wat {
        /// What becomes of links that are not to be followed.
        nofollow: Nofollow,
    } = "wat",
        "Metadata of a web archive (WAT), as Common Crawl publishes it: a record for each page captured",
        wat::sources;

    /// Web archives, as crawlers write them.
    Warc {
        /// What becomes of links that are not to be followed.
        nofollow: Nofollow,
    } = "warc",
        "A web archive (WARC): a record for each page captured, with the links of its HTML",
        warc::sources;

    /// Records in the rows of Parquet files.
    Parquet = "parquet", "A record in each row, Apache Parquet with columns named as the fields; or Common Crawl's columnar index",
        columns::parquet_sources;

    /// Records in the rows of files or streams of Arrow.
    Arrow = "arrow", "A record in each row, Apache Arrow: IPC files, Feather 2, streams",
        columns::arrow_sources;

    /// Records in the rows of a table as text, with commas or semicolons between its cells.
    Csv = "csv", "A record in each row, CSV with a header that names the fields; or Common Crawl's columnar index",
        columns::csv_sources;

    /// Records in the rows of a table as text, with tabs between its cells.
    Tsv = "tsv", "A record in each row, TSV with a header that names the fields (`links` is the TSV of links)",
        columns::tsv_sources;

    /// URLs, each of a page that becomes known.
    Urls = "urls",
        "A URL a line, as lists of seeds have them: known pages; comments, and what stands after a tab, are left out",
        urls::sources;

    /// Sitemaps: the pages that a site names become known.
    Sitemap = "sitemap",
        "A sitemap as XML: known pages; of a list of sitemaps nothing is fetched, give those that it names",
        sitemap::sources;

    /// The index of a web archive, with JSON in its lines.
    Cdxj = "cdxj",
        "The index of a web archive, JSON after a key and a time: what was fetched, when, with which status and digest",
        cdx::sources;

    /// The index of a web archive, with columns.
    Cdx = "cdx",
        "The same with columns, which the header names; without one 9, 10 or 11",
        cdx::sources;

    /// Records as JSON that are not one a line.
    Json = "json",
        "One JSON array of records, or records that go over several lines",
        json_array::sources;

    /// Dumps of Nutch's databases of pages and of links.
    Nutch = "nutch",
        "What Nutch's `readdb -dump` and `readlinkdb -dump` write: pages as text, CSV or JSON, and links",
        nutch::sources;

    /// The log of a crawl by Heritrix, for what it says of pages.
    Heritrix = "heritrix",
        "Heritrix's crawl.log: what was fetched, when, with which status and digest, and what redirects led to",
        heritrix::pages;

    /// The log of a crawl by Heritrix, for the links that were followed.
    HeritrixLinks = "heritrix-links",
        "The links that Heritrix followed, from its crawl.log: to each page the one by which it was found, no others",
        heritrix::links;

    /// What the first bytes of each input say, else JSON Lines.
    Auto {
        /// What becomes of links of web archives that are not to be followed.
        nofollow: Nofollow,
    } = "auto",
        "What the first bytes of each file say: WARC, WAT, Parquet, Arrow, CSV, TSV, JSON, URLs, sitemaps, CDX and CDXJ, dumps of Nutch, crawl.log; else JSON Lines",
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
