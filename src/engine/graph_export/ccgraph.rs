//! Writes a graph of sites in the format of Common Crawl's host graphs.
//!
//! ```text
//! vertices.txt.gz   id<TAB>name with its labels reversed     sorted by name
//! edges.txt.gz      from<TAB>to                              sorted by both numbers
//! ```

use std::io::{self, Write};
use std::path::Path;

use super::files::{Zipped, zipped};
use super::sites::{Sink, Site};

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
