//! The whole web in URL order: all crawled and known pages with all links.
//!
//! [`Whole`] has the pages by site name and then by URL, which is not URL order (of `a.org:8080/`,
//! `a.org/` and `a.org2/` the last comes in the middle). But pages whose URLs agree up to the end of
//! the host are neighbours in both orders; so each such run keeps its order, and the runs are put in
//! the order of what their URLs begin with.
//!
//! Memory: [`Whole`], then that and the links once more page by page; 12 bytes per page beside them,
//! and some 100 bytes per run.

use rayon::prelude::*;

use crate::engine::whole::{TakesPart, Whole};
use crate::engine::{EngineError, naming};
use seedbank_algorithms::graph::{Csr, WholeGraph};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, SiteRecord};
use seedbank_store::{Store, tables};

/// All pages and links, and the order of the pages by URL.
pub(crate) struct InUrlOrder {
    /// The graph; pages are numbered as they were loaded, by site name and then by URL.
    pub(crate) whole: WholeGraph,
    ids: Vec<PageId>,
    /// The number of each page in `whole`, in URL order.
    order: Vec<u32>,
}

/// Pages whose URLs agree up to the end of the host, as numbers of [`Whole`].
struct Run {
    begins: String,
    pages: std::ops::Range<u32>,
}

impl InUrlOrder {
    /// Loads the whole graph; `each` gets each site that has pages, with its pages in the order in
    /// which [`InUrlOrder::sorted`] takes what was gathered of them. Of a page, by its
    /// site's name, `takes_part` says whether it is there.
    pub(crate) fn load(
        store: &Store,
        takes_part: TakesPart<'_>,
        watch: &dyn Watch,
        mut each: impl FnMut(SiteId, &SiteRecord, &[(PageId, PageRecord)]) -> Result<(), EngineError>,
    ) -> Result<Self, EngineError> {
        let mode = naming(&store.settings()?)?.sites;
        let mut runs: Vec<Run> = Vec::new();
        let mut next = 0;
        let (whole, numbers) = Whole::load_each(store, takes_part, watch, |site, pages| {
            if pages.is_empty() {
                return Ok(());
            }
            let record = store.need(&tables::SITES, &site)?;
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

    /// The pages in URL order.
    pub(crate) fn pages(&self) -> Vec<PageId> {
        let order = self.order.iter();
        order.map(|&old| self.ids[old as usize]).collect()
    }

    /// What was gathered of the pages, in URL order.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it is large, and of no use afterwards"
    )]
    pub(crate) fn sorted<T: Copy>(&self, of: Vec<T>) -> Vec<T> {
        self.order.iter().map(|&old| of[old as usize]).collect()
    }

    /// For each page in URL order the pages that link to it, in numbers of that order, ascending.
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
