//! A graph in the BV format, as its own library compresses it, with the URLs of its nodes.
//!
//! ```text
//! NAME.graph, NAME.offsets, NAME.properties     big-endian, with the library's default parameters
//! NAME.urls.gz                                  line n + 1 is node n; a site is http://site/
//! sites.weights.gz                              a line for each arc, in their order: how many links it is
//! ```
//!
//! Nodes are compressed one after the other; what is held are the lists in the format's window.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dsi_bitstream::impls::{BufBitWriter, WordAdapter};
use dsi_bitstream::traits::BE;
use webgraph::graphs::bvgraph::{BvComp, CompFlags, DynCodesEncoder, OffsetsWriter};

use super::files::{Plain, Zipped, plain, zipped};
use super::pages::{self, Node};
use super::sites::{self, Site};
use super::urls::Urls;

type Bits = BufBitWriter<BE, WordAdapter<usize, Plain>>;

/// The lists of a graph.
struct Lists {
    compressor: BvComp<DynCodesEncoder<BE, Bits>, File>,
    flags: CompFlags,
    properties: PathBuf,
}

impl Lists {
    fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let flags = CompFlags::default();
        let graph = plain(folder, &format!("{name}.graph"))?;
        let bits = BufBitWriter::new(WordAdapter::new(graph));
        let encoder = DynCodesEncoder::new(bits, &flags).map_err(other)?;
        let offsets = File::create_new(folder.join(format!("{name}.offsets")))?;
        let offsets = OffsetsWriter::from_write(offsets, true).map_err(other)?;
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
            flags,
            properties: folder.join(format!("{name}.properties")),
        })
    }

    fn push(&mut self, to: impl Iterator<Item = u32>) -> io::Result<()> {
        let to = to.map(|node| (node as usize, ()));
        self.compressor.push(to).map_err(other)
    }

    fn finish(self) -> io::Result<()> {
        let stats = self.compressor.flush().map_err(other)?;
        let properties = self.flags.to_properties::<BE>(&stats).map_err(other)?;
        fs::write(self.properties, properties)
    }
}

/// The system's error where there is one behind that of the library.
fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    let error = error.into();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&*error);
    while let Some(at) = cause {
        if let Some(system) = at.downcast_ref::<io::Error>() {
            return match system.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(system.kind(), system.to_string()),
            };
        }
        cause = at.source();
    }
    io::Error::other(error)
}

/// Pages and their links.
pub(super) struct OfPages {
    lists: Lists,
    urls: Zipped,
}

impl OfPages {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "pages")?,
            urls: zipped(folder, "pages.urls.gz")?,
        })
    }
}

impl pages::Sink for OfPages {
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

/// Sites and the links between them.
pub(super) struct OfSites {
    lists: Lists,
    urls: Zipped,
    weights: Zipped,
}

impl OfSites {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            lists: Lists::new(folder, "sites")?,
            urls: zipped(folder, "sites.urls.gz")?,
            weights: zipped(folder, "sites.weights.gz")?,
        })
    }
}

impl sites::Sink for OfSites {
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
