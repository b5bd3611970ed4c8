//! Writes a graph as tab-separated lines without a header.
//!
//! ```text
//! links.tsv        from<TAB>to                                        URLs
//! pages.tsv        url<TAB>spam<TAB>clicks<TAB>uncrawled_outlinks     from the page's own records
//! site-links.tsv   from<TAB>to<TAB>links                              site names
//! sites.tsv        site<TAB>pages<TAB>crawled<TAB>intra_links
//! ```

use std::io::{self, Write};
use std::path::Path;

use super::files::{Plain, plain};
use super::pages::{self, Node};
use super::sites::{self, Site};
use super::urls::Urls;

/// Writer of pages and their links.
pub(super) struct PageWriter {
    links: Plain,
    pages: Plain,
}

impl PageWriter {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            links: plain(folder, "links.tsv")?,
            pages: plain(folder, "pages.tsv")?,
        })
    }
}

impl pages::Sink for PageWriter {
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
pub(super) struct SiteWriter<'a> {
    all: &'a [Site],
    links: Plain,
    sites: Plain,
}

impl<'a> SiteWriter<'a> {
    pub(super) fn new(folder: &Path, all: &'a [Site]) -> io::Result<Self> {
        Ok(Self {
            all,
            links: plain(folder, "site-links.tsv")?,
            sites: plain(folder, "sites.tsv")?,
        })
    }
}

impl sites::Sink for SiteWriter<'_> {
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
