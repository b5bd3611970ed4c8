//! The input formats, one entry each.
//!
//! A new format is a file or folder with a type that implements [`FileFormat`](file_source::FileFormat) (or
//! [`LineFormat`](super::LineFormat), if a record is a line), and an entry here: a variant with the
//! parameters besides the inputs, its name, a sentence for `--help`, and its sources. The command line
//! offers every format that is listed here.

mod arc;
mod archive;
mod auto;
mod browsertrix;
mod bvgraph;
mod capture_entry;
mod ccgraph;
mod cdx;
mod file_source;
mod heritrix;
mod json_array;
pub(super) mod json_lines;
mod node_graph;
mod nutch;
mod sitemap;
mod tabular;
mod text_window;
pub(super) mod tsv;
mod urls;
mod warc;
mod wat;
mod zip_archive;

use super::entries;
use super::open::Input;
use super::source::Sources;
pub use archive::Nofollow;
pub use bvgraph::bv_graph_file;
pub use json_lines::JsonLines;
#[cfg(feature = "parquet")]
pub use tabular::RecordBatchSource;
pub use tsv::{LinksTsv, PagesTsv};

/// Declares [`Format`]: `inputs` is the name of the inputs in the expressions for the sources.
macro_rules! formats {
    ($inputs:ident; $(
        $(#[$doc:meta])*
        $format:ident $({ $($(#[$field_doc:meta])* $field:ident: $kind:ty),+ $(,)? })?
            = $name:literal, $sentence:literal, $sources:expr;
    )+) => {
        /// The format of the files of a batch.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format $({ $($(#[$field_doc])* $field: $kind),+ })?,)+
        }

        impl Format {
            /// The name of every format, and what its inputs are.
            pub const NAMES: &[(&str, &str)] = &[$(($name, $sentence)),+];

            /// Returns the format of this name, with default parameters.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$format $({ $($field: Default::default()),+ })?),)+
                    _ => None,
                }
            }

            /// Returns the sources that a batch of these inputs is read from: the inputs, in order,
            /// then the accompanying files that have records of their own. Formats that read WARC read
            /// the WARC files in a ZIP archive as inputs of their own, in the order of their names.
            #[must_use]
            pub fn sources(&self, $inputs: &[Input]) -> Sources {
                match self {
                    $(Self::$format $({ $($field),+ })? => $sources,)+
                }
            }
        }
    };
}

formats! {
    inputs;

    /// One record per page, as JSON Lines.
    #[default]
    JsonLines = "jsonl", "One JSON record per line", entries::line_sources(inputs, JsonLines);

    /// Links as TSV, optionally with pages in another TSV file.
    Links {
        /// A file of `url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks`.
        pages: Option<Input>,
    } = "links",
        "One link per line: `from_url<TAB>to_url`; all pages count as crawled",
        tsv::sources(inputs, pages.as_ref());

    /// A graph in the BV format; the input is its basename.
    BvGraph {
        /// The URL of each node, one per line; without it, node n is `http://n<n>.invalid/`.
        urls: Option<Input>,
    } = "bvgraph",
        "A BV graph, as published by LAW: BASENAME.graph and BASENAME.properties; all nodes count as crawled",
        bvgraph::sources(inputs, urls.as_ref());

    /// A web graph of hosts or domains, as published by Common Crawl; the inputs are the parts of its
    /// list of edges.
    CcGraph {
        /// The parts of its list of vertices: `id<TAB>reversed.host`.
        vertices: Vec<Input>,
        /// The parts of its list of ranks, which gives each host its quality; may be empty.
        ranks: Vec<Input>,
    } = "ccgraph",
        "A host or domain graph of Common Crawl: edges `from<TAB>to`; every vertex becomes the crawled page http://host/",
        ccgraph::sources(inputs, vertices, ranks);

    /// Metadata of web archives, as published by Common Crawl.
    Wat {
        /// How links marked nofollow are handled.
        nofollow: Nofollow,
    } = "wat",
        "Metadata of a web archive (WAT), as published by Common Crawl: one record per captured page",
        file_source::sources(inputs, &wat::Wat { nofollow: *nofollow });

    /// Web archives, as crawlers write them.
    Warc {
        /// How links marked nofollow are handled.
        nofollow: Nofollow,
    } = "warc",
        "A web archive (WARC, or WARC files in WACZ): one record per captured page, with the links of its HTML",
        zip_archive::sources(inputs, &warc::Warc { nofollow: *nofollow });

    /// Records in the rows of Parquet files.
    Parquet = "parquet", "Apache Parquet with one record per row and columns named like fields, or Common Crawl's columnar index",
        file_source::sources(inputs, &tabular::Parquet);

    /// Records in the rows of files or streams of Arrow.
    Arrow = "arrow", "Apache Arrow (IPC files, Feather 2, streams) with one record per row",
        file_source::sources(inputs, &tabular::Arrow);

    /// Records in the rows of a table as text, with commas or semicolons between its cells.
    Csv = "csv", "CSV with one record per row and fields named in a header, or Common Crawl's columnar index",
        file_source::sources(inputs, &tabular::Delimited::Csv);

    /// Records in the rows of a table as text, with tabs between its cells.
    Tsv = "tsv", "TSV with one record per row and fields named in a header (for TSV files of links, use `links`)",
        file_source::sources(inputs, &tabular::Delimited::Tsv);

    /// URLs, each of which adds a known page.
    Urls = "urls",
        "One URL per line, as in lists of seeds; adds known pages and ignores comments and text after a tab",
        entries::entry_sources(inputs, urls::Urls);

    /// Sitemaps, whose pages are added as known pages.
    Sitemap = "sitemap",
        "An XML sitemap; adds known pages. Sitemaps listed in an index are not fetched; give them as files",
        file_source::sources(inputs, &sitemap::Sitemap::new(inputs.len()));

    /// The index of a web archive, with JSON in its lines.
    Cdxj = "cdxj",
        "An index of a web archive (CDXJ) with key, time and JSON: fetched URLs with time, status and digest",
        entries::entry_sources(inputs, cdx::Cdx);

    /// The index of a web archive, with columns.
    Cdx = "cdx",
        "An index of a web archive (CDX) with columns named in a header, or 9, 10 or 11 columns without one",
        entries::entry_sources(inputs, cdx::Cdx);

    /// JSON records that are not one per line.
    Json = "json",
        "A JSON array of records, or records that span several lines",
        file_source::sources(inputs, &json_array::JsonArray);

    /// Dumps of Nutch's databases of pages and of links.
    Nutch = "nutch",
        "Output of Nutch's `readdb -dump` and `readlinkdb -dump`: pages as text, CSV or JSON, and links",
        file_source::sources(inputs, &nutch::Dump);

    /// The log of a crawl by Heritrix, read for its pages.
    Heritrix = "heritrix",
        "Heritrix's crawl.log: fetched URLs with time, status and digest, and the targets of redirects",
        entries::entry_sources(inputs, heritrix::CrawlLog);

    /// The log of a crawl by Heritrix, read for the links that were followed.
    HeritrixLinks = "heritrix-links",
        "Links from Heritrix's crawl.log: for each page, only the link by which it was found",
        entries::entry_sources(inputs, heritrix::ViaLinks);

    /// The lists of pages of a crawl by Browsertrix Crawler.
    Browsertrix = "browsertrix",
        "Browsertrix's pages.jsonl, extraPages.jsonl and skippedPages.jsonl: URLs that were fetched or failed, with time and status",
        entries::entry_sources(inputs, browsertrix::PageList::default());

    /// Detected from the first bytes of each input.
    Auto {
        /// How links marked nofollow in web archives are handled.
        nofollow: Nofollow,
    } = "auto",
        "Detects the format of each file from its first bytes",
        zip_archive::sources(inputs, &auto::Auto::new(*nofollow, inputs.len()));
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
