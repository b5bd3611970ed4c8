//! The graph of the whole web: loads the graph image, and numbers pages for algorithms.
//!
//! In a cluster bank, each process can load the share of its own sites; `processes` has their messages and common numbers. `contents`
//! finds pages with equal digests, `mirrored_hosts` hosts that have the same pages.

mod contents;
mod mirrored_hosts;
mod processes;

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::Result;
use super::bank::naming;
use super::error::whole_graph_error;
use seedbank_algorithms::cover::PageFacts;
use seedbank_algorithms::graph::{Csr, NONE, PageGraph, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::records::PageRecord;
use seedbank_store::{GraphImage, ImageLinks, Store, StoreError, tables};

pub(super) use contents::{Digested, SharedContents, Suitability, digests, in_links};
pub use mirrored_hosts::MirroredHosts;
pub(super) use mirrored_hosts::{HostPage, HostPages, OfSite, largest_first};
pub(super) use processes::numbers_in_web;
#[cfg(test)]
pub(super) use processes::tests::in_threads;
pub(super) use processes::{GhostLists, number_ghosts};
pub(super) use processes::{Group, malformed};
pub(super) use processes::{collect_numbers, number_names};
pub(super) use processes::{numbers_of_pages, pages_of_numbers};

/// The number of lists that one task builds.
const TASK: usize = 1 << 16;

/// The number of parts of the bank that are read in parallel.
const PARTS: u32 = 64;

/// Loads the graph of a state.
pub(super) fn load_image(
    store: &Store,
    links: ImageLinks,
    watch: &dyn Watch,
) -> Result<GraphImage> {
    let mode = naming(&store.settings()?)?.sites;
    Ok(GraphImage::load(store, links, &host_prefix(mode), watch)?.0)
}

/// Loads the graph of the sites that are in databases of this process.
pub(super) fn load_share_image(
    store: &Store,
    links: ImageLinks,
    watch: &dyn Watch,
) -> Result<GraphImage> {
    let mode = naming(&store.settings()?)?.sites;
    Ok(GraphImage::load_share(
        store,
        links,
        &host_prefix(mode),
        watch,
    )?)
}

/// Returns what finds the prefix of the host of a URL, as the graph image needs it.
fn host_prefix(mode: SiteMode) -> impl Fn(&str, &str, &mut String) + Sync {
    move |site: &str, local: &str, out: &mut String| {
        ingest::push_url(site, local, mode, out);
        out.truncate(ingest::host_end(out));
    }
}

/// Returns what `read` finds for the record of each page, by slot, given the name of the site; the default for
/// pages without a record, and for ghosts.
///
/// Cost: one scan of sites and pages, in parallel.
pub(super) fn read_records<T: Copy + Default + Send>(
    store: &Store,
    image: &GraphImage,
    watch: &dyn Watch,
    read: impl Fn(PageId, &str, &PageRecord) -> T + Sync,
) -> Result<Vec<T>> {
    let sites = store.counters()?.next_site;
    let step = sites.div_ceil(PARTS).max(1);
    let parts: Vec<Result<Vec<(u32, T)>>> = (0..sites.div_ceil(step))
        .into_par_iter()
        .map(|part| {
            let range = part * step..(part * step).saturating_add(step).min(sites);
            let mut names = store.scan_by_site(&tables::SITES)?;
            let mut of_site: Option<(SiteId, String)> = None;
            let mut found = Vec::new();
            let pages = if image.is_share() {
                store.scan_local_sites(&tables::PAGES, range)?
            } else {
                store.scan_sites(&tables::PAGES, range)?
            };
            for entry in pages {
                watch.proceed()?;
                let (page, record) = entry?;
                if of_site.as_ref().is_none_or(|of| of.0 != page.site()) {
                    let name = match names.of_site(page.site()).next() {
                        Some(entry) => entry?.1.name,
                        // Reports the missing record.
                        None => store.need(&tables::SITES, &page.site())?.name,
                    };
                    of_site = Some((page.site(), name));
                }
                let name = of_site.as_ref().map_or("", |of| of.1.as_str());
                if let Some(slot) = image.slot(page) {
                    found.push((slot, read(page, name, &record)));
                }
            }
            Ok(found)
        })
        .collect();
    let mut all = vec![T::default(); image.slots()];
    for part in parts {
        for (slot, value) in part? {
            all[slot as usize] = value;
        }
    }
    Ok(all)
}

/// Numbers for some of the pages of an image. In a share, ghosts can have numbers after those of all pages.
pub(super) struct Numbering {
    /// The slot of each number, without those of ghosts.
    pub(super) slots: Vec<u32>,
    /// The number of each slot; [`NONE`] for pages that are not included.
    numbers: Vec<u32>,
    /// By slot, the pages for which others are taken, whose numbers these have.
    taken_for: HashMap<u32, PageId>,
}

impl Numbering {
    /// Numbers pages by URL, whatever their ids.
    pub(super) fn by_url(image: &GraphImage, is_included: impl Fn(u32) -> bool) -> Result<Self> {
        let order = image.order();
        let runs = image.runs_by_url().into_iter();
        Self::new(image, runs.flat_map(|run| &order[run.range()]), is_included)
    }

    /// Numbers pages by URL, where pages that are [taken for](HostPages::taken_for) others that are included have the numbers
    /// of those. `may_be_taken` is false for pages that have numbers of their own nevertheless.
    pub(super) fn without_mirrors(
        image: &GraphImage,
        read: &HostPages,
        is_included: impl Fn(u32) -> bool,
        may_be_taken: impl Fn(u32) -> bool,
    ) -> Result<Self> {
        let taken_for = |slot: u32| {
            let twin = read.taken_for(slot)?;
            (is_included(twin) && may_be_taken(slot)).then_some(twin)
        };
        let mut numbers =
            Self::by_url(image, |slot| is_included(slot) && taken_for(slot).is_none())?;
        for slot in read.all_taken() {
            if let Some(twin) = taken_for(slot).filter(|_| is_included(slot)) {
                numbers.numbers[slot as usize] = numbers.numbers[twin as usize];
                numbers.taken_for.insert(slot, image.page(twin));
            }
        }
        Ok(numbers)
    }

    /// Numbers pages by the name of the site and then by URL, whatever their ids.
    fn by_site(image: &GraphImage, is_included: impl Fn(u32) -> bool) -> Result<Self> {
        Self::new(image, image.order().iter(), is_included)
    }

    fn new<'a>(
        image: &GraphImage,
        order: impl Iterator<Item = &'a u32>,
        is_included: impl Fn(u32) -> bool,
    ) -> Result<Self> {
        let mut numbers = vec![NONE; image.slots()];
        let slots: Vec<u32> = order.copied().filter(|slot| is_included(*slot)).collect();
        if slots.len() >= NONE as usize {
            return Err(StoreError::Full("page to rank").into());
        }
        for (number, &slot) in (0..).zip(&slots) {
            numbers[slot as usize] = number;
        }
        Ok(Self {
            slots,
            numbers,
            taken_for: HashMap::new(),
        })
    }

    /// Returns the number of a slot; `None` if the page is not included, or taken for another one.
    pub(super) fn own_number(&self, slot: u32) -> Option<u32> {
        self.number(slot)
            .filter(|_| !self.taken_for.contains_key(&slot))
    }

    /// Returns the page whose number a slot has: another one if the page is taken for that.
    pub(super) fn page(&self, image: &GraphImage, slot: u32) -> PageId {
        let twin = self.taken_for.get(&slot).copied();
        twin.unwrap_or_else(|| image.page(slot))
    }

    /// Returns the number of a slot; `None` if the page is not included.
    pub(super) fn number(&self, slot: u32) -> Option<u32> {
        Some(self.numbers[slot as usize]).filter(|number| *number != NONE)
    }

    /// Returns the pages in the order of their numbers.
    pub(super) fn pages(&self, image: &GraphImage) -> Vec<PageId> {
        self.slots
            .par_iter()
            .map(|&slot| image.page(slot))
            .collect()
    }

    /// Returns the numbers of included pages, ascending.
    pub(super) fn numbers_of(&self, slots: &[u32]) -> Vec<u32> {
        let mut numbers: Vec<u32> = slots.iter().filter_map(|&slot| self.number(slot)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns for each number below `count` the list that `list` appends, in parallel.
    fn lists(count: usize, list: impl Fn(usize, &mut Vec<u32>) + Sync) -> Csr {
        let parts: Vec<Csr> = (0..count.div_ceil(TASK))
            .into_par_iter()
            .map(|part| {
                let mut lists = Csr::default();
                let mut of_one = Vec::new();
                for at in part * TASK..count.min((part + 1) * TASK) {
                    of_one.clear();
                    list(at, &mut of_one);
                    lists.push(of_one.iter().copied());
                }
                lists
            })
            .collect();
        let entries = parts.iter().map(|part| part.entries().len()).sum();
        let mut all = Csr::with_capacity(count, entries);
        for part in parts {
            all.append(&part);
        }
        all
    }

    /// Returns for each page the pages that it links to, ascending.
    pub(super) fn successors(&self, image: &GraphImage) -> Csr {
        Self::lists(self.slots.len(), |page, list| {
            let slot = self.slots[page];
            let row = image.row_of(slot).map_or(&[][..], |row| image.row(row));
            let targets = image.intra(slot).iter().chain(row);
            list.extend(targets.filter_map(|&target| self.number(target)));
            list.sort_unstable();
            // Several targets can have one number, also that of the page itself.
            list.dedup();
            list.retain(|&target| target as usize != page);
        })
    }

    /// Returns the rows of included pages in the order of their first pages: the number of each row in the image,
    /// and its pages.
    pub(super) fn rows(&self, image: &GraphImage) -> (Vec<u32>, Csr) {
        let mut place = vec![NONE; image.row_count()];
        let mut rows = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        for &slot in &self.slots {
            if let Some(row) = image.row_of(slot) {
                let at = &mut place[row as usize];
                if *at == NONE {
                    *at = number(rows.len());
                    rows.push(row);
                    counts.push(0);
                }
                counts[*at as usize] += 1;
            }
        }
        // `members` by counting, so that pages ascend.
        let mut ends = Vec::with_capacity(counts.len());
        let mut next = 0;
        for &count in &counts {
            ends.push(next);
            next += count as usize;
        }
        let mut entries = vec![0; next];
        for (page, &slot) in (0..).zip(&self.slots) {
            if let Some(row) = image.row_of(slot) {
                let end = &mut ends[place[row as usize] as usize];
                entries[*end] = page;
                *end += 1;
            }
        }
        let mut members = Csr::with_capacity(rows.len(), entries.len());
        let mut rest = entries.as_slice();
        for count in counts {
            let (own, others) = rest.split_at(count as usize);
            members.push(own.iter().copied());
            rest = others;
        }
        (rows, members)
    }

    /// Returns the graph of the included pages.
    pub(super) fn page_graph(&self, image: &GraphImage) -> Result<PageGraph> {
        let intra = Self::lists(self.slots.len(), |page, list| {
            let targets = image.intra(self.slots[page]).iter();
            list.extend(targets.filter_map(|&target| self.number(target)));
        });
        let intra_in = intra.transpose(self.slots.len());
        drop(intra);
        let (rows, all_members) = self.rows(image);
        let all_targets = Self::lists(rows.len(), |row, list| {
            list.extend(
                image
                    .row(rows[row])
                    .iter()
                    .filter_map(|&slot| self.number(slot)),
            );
            list.sort_unstable();
        });
        let mut members = Csr::default();
        let mut targets = Csr::default();
        for row in 0..number(rows.len()) {
            let to = all_targets.list(row);
            if !to.is_empty() {
                members.push(all_members.list(row).iter().copied());
                targets.push(to.iter().copied());
            }
        }
        PageGraph::new(intra_in, members, &targets).map_err(whole_graph_error)
    }
}

/// Returns by slot the numbers of known, not crawled pages that pages link to. All links must be loaded.
pub(super) fn uncrawled_outlinks(image: &GraphImage) -> Vec<u32> {
    let known = |slots: &[u32]| {
        let known = slots.iter().filter(|slot| image.is_known(**slot));
        number(known.count())
    };
    let of_rows: Vec<u32> = (0..number(image.row_count()))
        .into_par_iter()
        .map(|row| known(image.row(row)))
        .collect();
    (0..number(image.slots()))
        .into_par_iter()
        .map(|slot| {
            let of_row = image.row_of(slot).map_or(0, |row| of_rows[row as usize]);
            known(image.intra(slot)).saturating_add(of_row)
        })
        .collect()
}

/// Returns the attributes that determine a page's value. `uncrawled` has what [`uncrawled_outlinks`] returns.
pub(super) fn page_facts(image: &GraphImage, slot: u32, uncrawled: &[u32]) -> PageFacts {
    let attributes = image.attributes(slot);
    let given = attributes.uncrawled_given;
    PageFacts {
        spam: image.is_spam(slot),
        clicks: attributes.clicks,
        uncrawled_outlinks: given.unwrap_or(uncrawled[slot as usize]),
        quality: attributes.quality,
    }
}

/// The whole graph. Pages are numbered by site name and then by URL, so that nothing depends on
/// ids.
pub(super) struct LoadedGraph {
    pub(super) graph: PageGraph,
    /// Sites by name, each with the numbers of its pages.
    pub(super) sites: Vec<(SiteId, Range<u32>)>,
}

impl LoadedGraph {
    /// Loads the graph of all known and crawled pages. Cost: that of [`load_image`], and passes over the links.
    /// Memory: the image, and the graph twice.
    pub(super) fn load(store: &Store, watch: &dyn Watch) -> Result<Self> {
        let image = load_image(store, ImageLinks::All, watch)?;
        Ok(Self::of_image(&image)?.0)
    }

    /// Returns the graph of all known and crawled pages of an image, and their numbers.
    pub(super) fn of_image(image: &GraphImage) -> Result<(Self, Numbering)> {
        let pages = Numbering::by_site(image, |slot| image.is_live(slot))?;
        let graph = pages.page_graph(image)?;
        let mut sites: Vec<(SiteId, Range<u32>)> = Vec::new();
        let mut next = 0;
        for run in image.runs() {
            let first = next;
            let of_run = image.order()[run.range()].iter();
            next += number(of_run.filter(|slot| pages.number(**slot).is_some()).count());
            match sites.last_mut() {
                _ if next == first => {}
                Some((site, range)) if *site == run.site() => range.end = next,
                _ => sites.push((run.site(), first..next)),
            }
        }
        Ok((Self { graph, sites }, pages))
    }

    /// Returns the sum of the PageRanks of each site's pages, and the page visits of computing
    /// them.
    pub(super) fn pagerank_by_site(&self, watch: &dyn Watch) -> Result<(Vec<(SiteId, f64)>, u64)> {
        watch.stage("rank the whole graph", None);
        let (scores, visits) = pagerank(&self.graph, watch)?;
        let sum = |pages: &Range<u32>| -> f64 {
            scores[pages.start as usize..pages.end as usize]
                .iter()
                .sum()
        };
        let sites = self.sites.iter();
        let by_site = sites.map(|(site, pages)| (*site, sum(pages))).collect();
        Ok((by_site, visits))
    }
}

/// Returns the PageRank of the pages of a numbering, and the page visits of computing it.
pub(super) fn pagerank_of(
    image: &GraphImage,
    pages: &Numbering,
    watch: &dyn Watch,
) -> Result<(Vec<f64>, u64)> {
    watch.stage("rank the whole graph", None);
    // The order of the sums is that of sites and URLs, as for all pages.
    let by_site = Numbering::by_site(image, |slot| pages.own_number(slot).is_some())?;
    let (scores, visits) = pagerank(&by_site.page_graph(image)?, watch)?;
    let mut ranks = vec![0.0; scores.len()];
    for (&slot, score) in by_site.slots.iter().zip(scores) {
        if let Some(page) = pages.own_number(slot) {
            ranks[page as usize] = score;
        }
    }
    Ok((ranks, visits))
}

#[cfg(test)]
mod tests;
