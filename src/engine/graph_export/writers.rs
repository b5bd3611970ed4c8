//! Writers of graphs in each format.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dsi_bitstream::impls::{BufBitWriter, WordAdapter};
use dsi_bitstream::traits::BE;
use webgraph::graphs::bvgraph::{BvComp, CompFlags, DynCodesEncoder, OffsetsWriter};

use super::files::{Plain, Zipped, plain, zipped};
use super::pages::{self, Node, Urls};
use super::sites::{self, Sink, Site};
use seedbank_algorithms::page::MAX_QUALITY;
use seedbank_formats::parquet_writer::{Cell, Column, ColumnType, Table};

// Writes a graph in the BV format of WebGraph, with the URLs of its nodes.
//
// ```text
// NAME.graph, NAME.offsets, NAME.properties     big-endian, with the library's default parameters
// NAME.urls.gz                                  line n + 1 is node n; a site is http://site/
// sites.weights.gz                              one line per arc, in order: its number of links
// ```
//
// Nodes are compressed one after the other. Memory holds the lists in the window of the format.

type Bits = BufBitWriter<BE, WordAdapter<usize, DeferErrors<Plain>>>;

/// First error of writing the files of a graph.
type FirstError = Arc<Mutex<Option<io::Error>>>;

/// Writer that records its first error and discards all later output: the library writes when its writers
/// are dropped, and panics on an error.
struct DeferErrors<W> {
    to: W,
    fault: FirstError,
    has_failed: bool,
}

impl<W: Write> DeferErrors<W> {
    fn new(to: W, fault: &FirstError) -> Self {
        Self {
            to,
            fault: Arc::clone(fault),
            has_failed: false,
        }
    }

    fn record_error<T>(&mut self, done: io::Result<T>, otherwise: T) -> io::Result<T> {
        match done {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                self.has_failed = true;
                let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
                fault.get_or_insert(e);
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl<W: Write> Write for DeferErrors<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Ok(bytes.len());
        }
        let written = self.to.write(bytes);
        self.record_error(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let flushed = self.to.flush();
        self.record_error(flushed, ())
    }
}

/// Compressed successor lists of a graph.
struct Lists {
    compressor: BvComp<DynCodesEncoder<BE, Bits>, DeferErrors<File>>,
    fault: FirstError,
    flags: CompFlags,
    properties: PathBuf,
}

impl Lists {
    fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let flags = CompFlags::default();
        let fault = FirstError::default();
        let graph = plain(folder, &format!("{name}.graph"))?;
        let bits = BufBitWriter::new(WordAdapter::new(DeferErrors::new(graph, &fault)));
        let encoder = DynCodesEncoder::new(bits, &flags).map_err(to_io_error)?;
        let offsets = File::create_new(folder.join(format!("{name}.offsets")))?;
        let offsets = OffsetsWriter::from_write(DeferErrors::new(offsets, &fault), true)
            .map_err(to_io_error)?;
        Ok(Self {
            compressor: BvComp::new(
                encoder,
                offsets,
                flags.compression_window,
                flags.max_ref_count,
                flags.min_interval_length,
                0,
                (),
            ),
            fault,
            flags,
            properties: folder.join(format!("{name}.properties")),
        })
    }

    fn push(&mut self, to: impl Iterator<Item = u32>) -> io::Result<()> {
        let to = to.map(|node| (node as usize, ()));
        self.compressor.push(to).map_err(to_io_error)?;
        take_error(&self.fault)
    }

    fn finish(self) -> io::Result<()> {
        let stats = self.compressor.flush().map_err(to_io_error)?;
        take_error(&self.fault)?;
        let properties = self
            .flags
            .to_properties::<BE>(&stats)
            .map_err(to_io_error)?;
        File::create_new(self.properties)?.write_all(properties.as_bytes())
    }
}

/// Returns the first error of writing, if there was one.
fn take_error(fault: &FirstError) -> io::Result<()> {
    let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
    fault.take().map_or(Ok(()), Err)
}

/// Converts an error of the library. Errors of the system are recorded by [`DeferErrors`] instead.
fn to_io_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::other(error)
}

/// Writer of pages and their links.
pub(super) struct BvGraphPages {
    lists: Lists,
    urls: Zipped,
}

impl BvGraphPages {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "pages")?,
            urls: zipped(folder, "pages.urls.gz")?,
        })
    }
}

impl pages::Sink for BvGraphPages {
    fn wants_urls(&self) -> bool {
        false
    }

    fn page(&mut self, page: &Node<'_>, to: &[u32], _urls: &Urls) -> io::Result<()> {
        writeln!(self.urls, "{}", page.url)?;
        self.lists.push(to.iter().copied())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.urls.finish()?;
        self.lists.finish()
    }
}

/// Writer of sites and the links between them.
pub(super) struct BvGraphSites {
    lists: Lists,
    urls: Zipped,
    weights: Zipped,
}

impl BvGraphSites {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "sites")?,
            urls: zipped(folder, "sites.urls.gz")?,
            weights: zipped(folder, "sites.weights.gz")?,
        })
    }
}

impl sites::Sink for BvGraphSites {
    fn site(&mut self, _number: u32, site: &Site, to: &[(u32, u64)]) -> io::Result<()> {
        writeln!(self.urls, "http://{}/", site.name)?;
        for (_, links) in to {
            writeln!(self.weights, "{links}")?;
        }
        self.lists.push(to.iter().map(|(to, _)| *to))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.urls.finish()?;
        self.weights.finish()?;
        self.lists.finish()
    }
}

// Writes a graph of sites in the format of Common Crawl's host graphs.
//
// ```text
// vertices.txt.gz   id<TAB>name with its labels reversed     sorted by name
// edges.txt.gz      from<TAB>to                              sorted by both numbers
// ```

/// Writer of vertices and edges.
pub(super) struct HostWriter {
    vertices: Zipped,
    edges: Zipped,
}

impl HostWriter {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            vertices: zipped(folder, "vertices.txt.gz")?,
            edges: zipped(folder, "edges.txt.gz")?,
        })
    }
}

impl Sink for HostWriter {
    fn site(&mut self, number: u32, site: &Site, to: &[(u32, u64)]) -> io::Result<()> {
        writeln!(self.vertices, "{number}\t{}", site.name)?;
        for (to, _) in to {
            writeln!(self.edges, "{number}\t{to}")?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.vertices.finish()?;
        self.edges.finish()
    }
}

// Writes a graph as two Parquet tables, of nodes and of links, that share ids.

/// Columns of links between pages.
const LINKS: &[Column] = &[
    Column::new("from_id", ColumnType::Integer),
    Column::new("to_id", ColumnType::Integer),
];

/// Columns of pages. Attributes are those from the page's own records.
const PAGES: &[Column] = &[
    Column::new("id", ColumnType::Integer),
    Column::new("url", ColumnType::Text),
    Column::new("site", ColumnType::RepeatedText),
    Column::new("state", ColumnType::RepeatedText),
    Column::new("in_links", ColumnType::Integer),
    Column::new("out_links", ColumnType::Integer),
    Column::new("spam", ColumnType::Boolean),
    Column::new("quality", ColumnType::Float),
    Column::new("clicks", ColumnType::Integer),
    Column::new("uncrawled_outlinks", ColumnType::Integer),
];

/// Columns of links between sites.
const SITE_LINKS: &[Column] = &[
    Column::new("from_id", ColumnType::Integer),
    Column::new("to_id", ColumnType::Integer),
    Column::new("links", ColumnType::Integer),
];

/// Columns of sites. `intra_links` are links between their own pages.
const SITES: &[Column] = &[
    Column::new("id", ColumnType::Integer),
    Column::new("site", ColumnType::Text),
    Column::new("pages", ColumnType::Integer),
    Column::new("crawled", ColumnType::Integer),
    Column::new("in_sites", ColumnType::Integer),
    Column::new("out_sites", ColumnType::Integer),
    Column::new("in_links", ColumnType::Integer),
    Column::new("out_links", ColumnType::Integer),
    Column::new("intra_links", ColumnType::Integer),
];

/// Writer of pages and their links.
pub(super) struct ParquetPages {
    links: Table<Plain>,
    pages: Table<Plain>,
    /// Number of linking pages, by node number.
    in_links: Vec<u32>,
}

impl ParquetPages {
    pub(super) fn new(folder: &Path, in_links: Vec<u32>) -> io::Result<Self> {
        Ok(Self {
            links: Table::new(plain(folder, "links.parquet")?, LINKS)?,
            pages: Table::new(plain(folder, "pages.parquet")?, PAGES)?,
            in_links,
        })
    }
}

impl pages::Sink for ParquetPages {
    fn wants_urls(&self) -> bool {
        false
    }

    fn page(&mut self, page: &Node<'_>, to: &[u32], _urls: &Urls) -> io::Result<()> {
        let record = page.record;
        let in_links = self.in_links.get(page.number as usize).copied();
        self.pages.row(&[
            page.number.into(),
            page.url.into(),
            page.site.into(),
            record.state.name().into(),
            in_links.into(),
            (to.len() as u64).into(),
            record.spam_given.into(),
            record.quality_given.map(quality).into(),
            Some(record.clicks).filter(|clicks| *clicks > 0).into(),
            record.uncrawled_given.into(),
        ])?;
        for to in to {
            self.links.row(&[page.number.into(), Cell::from(*to)])?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        finish(self.pages)?;
        finish(self.links)
    }
}

/// Writer of sites and the links between them.
pub(super) struct ParquetSites<'a> {
    all: &'a [Site],
    links: Table<Plain>,
    sites: Table<Plain>,
    degrees: Vec<Degrees>,
}

/// Numbers of sites and links in both directions of a site.
#[derive(Clone, Copy, Default)]
struct Degrees {
    in_sites: u64,
    out_sites: u64,
    in_links: u64,
    out_links: u64,
}

impl<'a> ParquetSites<'a> {
    pub(super) fn new(folder: &Path, all: &'a [Site]) -> io::Result<Self> {
        Ok(Self {
            all,
            links: Table::new(plain(folder, "site-links.parquet")?, SITE_LINKS)?,
            sites: Table::new(plain(folder, "sites.parquet")?, SITES)?,
            degrees: vec![Degrees::default(); all.len()],
        })
    }
}

impl sites::Sink for ParquetSites<'_> {
    fn site(&mut self, number: u32, _site: &Site, to: &[(u32, u64)]) -> io::Result<()> {
        for (to, links) in to {
            self.links
                .row(&[number.into(), Cell::from(*to), Cell::from(*links)])?;
            if let Some(degrees) = self.degrees.get_mut(*to as usize) {
                degrees.in_sites += 1;
                degrees.in_links += links;
            }
        }
        if let Some(degrees) = self.degrees.get_mut(number as usize) {
            degrees.out_sites = to.len() as u64;
            degrees.out_links = to.iter().map(|(_, links)| links).sum();
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        finish(self.links)?;
        for (number, (site, degrees)) in (0_u32..).zip(self.all.iter().zip(&self.degrees)) {
            self.sites.row(&[
                number.into(),
                site.name.as_str().into(),
                site.pages.into(),
                site.crawled.into(),
                degrees.in_sites.into(),
                degrees.out_sites.into(),
                degrees.in_links.into(),
                degrees.out_links.into(),
                site.inside.into(),
            ])?;
        }
        finish(self.sites)
    }
}

fn quality(steps: u16) -> f64 {
    f64::from(steps) / f64::from(MAX_QUALITY)
}

fn finish(table: Table<Plain>) -> io::Result<()> {
    io::Write::flush(&mut table.finish()?)
}

// Writes a graph as tab-separated lines without a header.
//
// ```text
// links.tsv        from<TAB>to                                        URLs
// pages.tsv        url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks     from the page's own records
// site-links.tsv   from<TAB>to<TAB>links                              site names
// sites.tsv        site<TAB>pages<TAB>crawled<TAB>intra_links
// ```

/// Writer of pages and their links.
pub(super) struct TsvPages {
    links: Plain,
    pages: Plain,
}

impl TsvPages {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            links: plain(folder, "links.tsv")?,
            pages: plain(folder, "pages.tsv")?,
        })
    }
}

impl pages::Sink for TsvPages {
    fn wants_urls(&self) -> bool {
        true
    }

    fn page(&mut self, page: &Node<'_>, to: &[u32], urls: &Urls) -> io::Result<()> {
        let Node { url, record, .. } = page;
        let spam = match record.spam_given {
            None => "",
            Some(false) => "0",
            Some(true) => "1",
        };
        write!(self.pages, "{url}\t{spam}\t")?;
        if record.clicks > 0 {
            write!(self.pages, "{}", record.clicks)?;
        }
        self.pages.write_all(b"\t")?;
        if let Some(uncrawled) = record.uncrawled_given {
            write!(self.pages, "{uncrawled}")?;
        }
        self.pages.write_all(b"\n")?;
        for to in to {
            let to = urls.get(*to)?;
            for part in [url, "\t", to, "\n"] {
                self.links.write_all(part.as_bytes())?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.pages.flush()?;
        self.links.flush()
    }
}

/// Writer of sites and the links between them.
pub(super) struct TsvSites<'a> {
    all: &'a [Site],
    links: Plain,
    sites: Plain,
}

impl<'a> TsvSites<'a> {
    pub(super) fn new(folder: &Path, all: &'a [Site]) -> io::Result<Self> {
        Ok(Self {
            all,
            links: plain(folder, "site-links.tsv")?,
            sites: plain(folder, "sites.tsv")?,
        })
    }
}

impl sites::Sink for TsvSites<'_> {
    fn site(&mut self, _number: u32, site: &Site, to: &[(u32, u64)]) -> io::Result<()> {
        let Site {
            name,
            pages,
            crawled,
            inside,
            ..
        } = site;
        writeln!(self.sites, "{name}\t{pages}\t{crawled}\t{inside}")?;
        for (to, links) in to {
            let to = self.all.get(*to as usize);
            let to = to.ok_or_else(|| io::Error::other("a link lost its site"))?;
            writeln!(self.links, "{name}\t{}\t{links}", to.name)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.sites.flush()?;
        self.links.flush()
    }
}
