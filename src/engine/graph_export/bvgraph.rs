//! Writes a graph in the BV format of WebGraph, with the URLs of its nodes.
//!
//! ```text
//! NAME.graph, NAME.offsets, NAME.properties     big-endian, with the library's default parameters
//! NAME.urls.gz                                  line n + 1 is node n; a site is http://site/
//! sites.weights.gz                              one line per arc, in order: its number of links
//! ```
//!
//! Nodes are compressed one after the other. Memory holds the lists in the window of the format.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dsi_bitstream::impls::{BufBitWriter, WordAdapter};
use dsi_bitstream::traits::BE;
use webgraph::graphs::bvgraph::{BvComp, CompFlags, DynCodesEncoder, OffsetsWriter};

use super::files::{Plain, Zipped, plain, zipped};
use super::pages::{self, Node};
use super::sites::{self, Site};
use super::urls::Urls;

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
pub(super) struct PageWriter {
    lists: Lists,
    urls: Zipped,
}

impl PageWriter {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "pages")?,
            urls: zipped(folder, "pages.urls.gz")?,
        })
    }
}

impl pages::Sink for PageWriter {
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
pub(super) struct SiteWriter {
    lists: Lists,
    urls: Zipped,
    weights: Zipped,
}

impl SiteWriter {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "sites")?,
            urls: zipped(folder, "sites.urls.gz")?,
            weights: zipped(folder, "sites.weights.gz")?,
        })
    }
}

impl sites::Sink for SiteWriter {
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
