//! Passes the sites of a bank with the links between them to a writer.

use std::collections::BTreeMap;
use std::io;

use super::error::GraphError;
use super::pages::NodeNumbers;
use super::request::GraphReport;
use crate::engine::EngineError;
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{LinkScan, Store, tables};

/// Node of the graph. Its number is its index.
pub(super) struct Site {
    pub(super) id: SiteId,
    /// Name, with its labels reversed if the sites are sorted that way.
    pub(super) name: String,
    /// Number of crawled and known pages.
    pub(super) pages: u64,
    pub(super) crawled: u64,
    /// Number of links between its own pages.
    pub(super) inside: u64,
}

/// Sites with pages, in order. Memory: their names and some 60 bytes each.
pub(super) struct Sites {
    pub(super) nodes: Vec<Site>,
    /// Numbers by site id; `NONE` for a site without pages.
    numbers: Vec<u32>,
}

/// Writer of sites and links, in the order of numbers.
pub(super) trait Sink {
    /// Writes a site and the sites that it links to, ascending, with the numbers of links between their
    /// pages.
    fn site(&mut self, number: u32, site: &Site, to: &[(u32, u64)]) -> io::Result<()>;

    /// Writes buffered output.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Reverses the labels of a name: `www.example.org` becomes `org.example.www`.
pub(super) fn reversed(name: &str) -> String {
    let labels: Vec<&str> = name.rsplit('.').collect();
    labels.join(".")
}

impl Sites {
    /// Reads the sites, sorted by name or by reversed name.
    pub(super) fn load(store: &Store, is_reversed: bool) -> Result<Self, EngineError> {
        let mut nodes = Vec::new();
        for entry in store.scan(&tables::SITES)? {
            let (id, record) = entry?;
            let pages = u64::from(record.known) + u64::from(record.crawled);
            if pages > 0 {
                nodes.push(Site {
                    id,
                    pages,
                    crawled: record.crawled.into(),
                    inside: record.intra_links,
                    name: if is_reversed {
                        reversed(&record.name)
                    } else {
                        record.name
                    },
                });
            }
        }
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut numbers = vec![NONE; store.counters()?.next_site as usize + 1];
        for (number, site) in (0..NONE).zip(&nodes) {
            if let Some(place) = numbers.get_mut(site.id.0 as usize) {
                *place = number;
            }
        }
        Ok(Self { nodes, numbers })
    }

    /// Returns the number of a site.
    fn number(&self, site: SiteId) -> Option<u32> {
        let number = self.numbers.get(site.0 as usize).copied();
        number.filter(|number| *number != NONE)
    }

    /// Passes all sites to `sink`. Memory: the links of one site.
    pub(super) fn walk(
        &self,
        store: &Store,
        pages: &NodeNumbers,
        sink: &mut dyn Sink,
        report: &mut GraphReport,
        watch: &dyn Watch,
    ) -> Result<(), GraphError> {
        watch.stage("write sites", Some(self.nodes.len() as u64));
        let mut scan = LinkScan::new(store)?;
        for (number, site) in (0..NONE).zip(&self.nodes) {
            watch.proceed()?;
            let mut links: BTreeMap<u32, u64> = BTreeMap::new();
            for row in scan.carried_rows(site.id) {
                let (row, members, targets) = row?;
                let carriers = u64::from(pages.carriers(row, &members.pages));
                if carriers == 0 {
                    continue;
                }
                for target in targets {
                    let number = pages.get(target).and_then(|_| self.number(target.site()));
                    match number {
                        Some(to) => *links.entry(to).or_default() += carriers,
                        None => report.links_to_gone += carriers,
                    }
                }
            }
            let to: Vec<(u32, u64)> = links.into_iter().collect();
            report.nodes += 1;
            report.crawled += u64::from(site.crawled > 0);
            // IPv6 addresses, and empty labels under the WHATWG rules.
            let is_invalid = site.name.contains('[') || site.name.split('.').any(str::is_empty);
            report.invalid_hosts += u64::from(is_invalid);
            report.links += to.len() as u64;
            report.page_links += to.iter().map(|(_, links)| links).sum::<u64>();
            sink.site(number, site, &to).map_err(GraphError::Write)?;
            watch.advance(1);
        }
        Ok(())
    }
}
