//! Writes a graph as two Parquet tables, of nodes and of links, that share ids.

use std::io;
use std::path::Path;

use super::files::{Plain, plain};
use super::pages::{self, Node};
use super::sites::{self, Site};
use super::urls::Urls;
use seedbank_algorithms::page::MAX_QUALITY;
use seedbank_formats::parquet_writer::{Cell, Column, ColumnType, Table};

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
pub(super) struct PageWriter {
    links: Table<Plain>,
    pages: Table<Plain>,
    /// Number of linking pages, by node number.
    in_links: Vec<u32>,
}

impl PageWriter {
    pub(super) fn new(folder: &Path, in_links: Vec<u32>) -> io::Result<Self> {
        Ok(Self {
            links: Table::new(plain(folder, "links.parquet")?, LINKS)?,
            pages: Table::new(plain(folder, "pages.parquet")?, PAGES)?,
            in_links,
        })
    }
}

impl pages::Sink for PageWriter {
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
pub(super) struct SiteWriter<'a> {
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

impl<'a> SiteWriter<'a> {
    pub(super) fn new(folder: &Path, all: &'a [Site]) -> io::Result<Self> {
        Ok(Self {
            all,
            links: Table::new(plain(folder, "site-links.parquet")?, SITE_LINKS)?,
            sites: Table::new(plain(folder, "sites.parquet")?, SITES)?,
            degrees: vec![Degrees::default(); all.len()],
        })
    }
}

impl sites::Sink for SiteWriter<'_> {
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
