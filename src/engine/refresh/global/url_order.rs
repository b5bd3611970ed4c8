//! The whole web in URL order: all crawled and known pages with all links.
//!
//! [`LoadedGraph`] orders pages by site name and then by URL, which is not URL order (of
//! `a.org:8080/`, `a.org/` and `a.org2/` the last is in the middle). But pages whose URLs agree up
//! to the end of the host are contiguous in both orders. So each such run keeps its order, and the
//! runs are sorted by the common prefix of their URLs.
//!
//! Memory: [`LoadedGraph`], then the links once more page by page; in addition 12 bytes per page
//! and some 100 bytes per run.

use rayon::prelude::*;

use crate::engine::web_graph::{LoadedGraph, PageFilter};
use crate::engine::{Result, naming};
use seedbank_algorithms::graph::{Csr, PageGraph};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, SiteRecord};
use seedbank_store::{Store, tables};

/// All pages and links, and the order of the pages by URL.
pub(crate) struct UrlOrderedGraph {
    /// The graph, with pages numbered by site name and then by URL.
    pub(crate) whole: PageGraph,
    ids: Vec<PageId>,
    /// The number of each page in `whole`, in URL order.
    order: Vec<u32>,
}

/// Pages whose URLs agree up to the end of the host, as a range of numbers.
struct Run {
    begins: String,
    pages: std::ops::Range<u32>,
}

impl UrlOrderedGraph {
    /// Loads the whole graph without the pages that `is_included` rejects. Calls `each` with every
    /// site that has pages; data that it collects in the order of these pages can be passed to
    /// [`UrlOrderedGraph::sorted`].
    pub(crate) fn load(
        store: &Store,
        is_included: PageFilter<'_>,
        watch: &dyn Watch,
        mut each: impl FnMut(SiteId, &SiteRecord, &[(PageId, PageRecord)]) -> Result<()>,
    ) -> Result<Self> {
        let mode = naming(&store.settings()?)?.sites;
        let mut runs: Vec<Run> = Vec::new();
        let mut next = 0;
        let mut sites = store.scan_by_site(&tables::SITES)?;
        let (whole, numbers) = LoadedGraph::load_each(store, is_included, watch, |site, pages| {
            if pages.is_empty() {
                return Ok(());
            }
            let record = match sites.of_site(site).next() {
                Some(entry) => entry?.1,
                // Reports the missing record.
                None => store.need(&tables::SITES, &site)?,
            };
            let first_run = runs.len();
            for (_, page) in pages {
                let url = ingest::url(&record.name, &page.local, mode);
                let begins = &url[..ingest::host_end(&url)];
                match runs[first_run..].last_mut() {
                    Some(run) if run.begins == begins => run.pages.end += 1,
                    _ => runs.push(Run {
                        begins: begins.to_owned(),
                        pages: next..next + 1,
                    }),
                }
                next += 1;
            }
            each(site, &record, pages)
        })?;
        let ids = numbers.pages();
        drop(numbers);
        runs.par_sort_unstable_by(|a, b| a.begins.cmp(&b.begins));
        Ok(Self {
            whole: whole.graph,
            ids,
            order: runs.into_iter().flat_map(|run| run.pages).collect(),
        })
    }

    pub(crate) fn pages(&self) -> Vec<PageId> {
        let order = self.order.iter();
        order.map(|&old| self.ids[old as usize]).collect()
    }

    /// Reorders data about pages from loading order to URL order. Empty data stays empty.
    pub(crate) fn sorted<T: Copy>(&self, data: Vec<T>) -> Vec<T> {
        if data.is_empty() {
            return data;
        }
        self.order.iter().map(|&old| data[old as usize]).collect()
    }

    /// Returns for each page in URL order the ascending numbers, in URL order, of the pages that
    /// link to it.
    pub(crate) fn predecessors(&self) -> Csr {
        let Self { whole, order, .. } = self;
        let mut new = vec![0_u32; order.len()];
        for (number, &old) in (0..).zip(order) {
            new[old as usize] = number;
        }
        let links: usize = whole.out_degree.iter().map(|&degree| degree as usize).sum();
        let mut predecessors = Csr::with_capacity(order.len(), links);
        for &old in order {
            let of_rows = whole.citers.list(old).iter();
            let of_rows = of_rows.flat_map(|&row| whole.members.list(row));
            let sources = whole.intra_in.list(old).iter().chain(of_rows);
            let mut sources: Vec<u32> = sources.map(|&source| new[source as usize]).collect();
            sources.sort_unstable();
            predecessors.push(sources);
        }
        predecessors
    }
}
