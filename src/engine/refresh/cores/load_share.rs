//! Loads the share of the host-pruned graph that one of several processes has: the rows of its sites. Pages are numbered in
//! URL order among those of all processes.
//!
//! Memory: that of [`LoadedHubGraph`](super::load::LoadedHubGraph) for the sites of the process, with 4 more bytes for each
//! page, and 4 for each page of another process to which its pages link.

use std::sync::Arc;

use super::load::{Ineligible, Reasons, linked_pages};
use crate::engine::Result;
use crate::engine::error::rows_error;
use crate::engine::page_numbers::PageNumbers;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::site_owners::SiteOwners;
use crate::engine::web_graph::{
    GhostLists, Group, load_image, load_share_image, malformed, number_ghosts, numbers_in_web,
};
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::graph::{HubShare, Rows};
use seedbank_algorithms::page::PageId;
use seedbank_store::{GraphImage, ImageLinks};

/// About the bytes of a page id in a message, and of a number.
const OF_PAGE: usize = 9;
const OF_NUMBER: usize = 5;

/// The share of a process, and its pages.
pub(super) struct LoadedHubShare {
    pub(super) share: Arc<HubShare>,
    pub(super) pages: OwnPages,
    /// Ineligible own pages on inter-site links by id, with the reason.
    pub(super) ineligible: Ineligible,
}

/// The included pages of a process that are on inter-site links.
pub(super) struct OwnPages {
    /// The pages, in URL order.
    pages: Vec<PageId>,
    /// The number of each of them in the web, ascending.
    numbers: Vec<u32>,
    /// The positions of pages in these lists.
    positions: PageNumbers,
}

impl OwnPages {
    /// Creates the list of pages in URL order, with their numbers in the web. Site ids are below `sites`.
    pub(super) fn new(pages: Vec<PageId>, numbers: Vec<u32>, sites: u32) -> Result<Self> {
        let positions = PageNumbers::new(&pages, sites)?;
        Ok(Self {
            pages,
            numbers,
            positions,
        })
    }

    /// Returns the number of pages.
    pub(super) const fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number in the web of a page; `None` if it is not one of them.
    pub(super) fn number(&self, page: PageId) -> Option<u32> {
        let position = self.positions.number_of(page)?;
        self.numbers.get(position as usize).copied()
    }

    /// Returns the page with a number in the web; `None` if it is not one of them.
    pub(super) fn page(&self, number: u32) -> Option<PageId> {
        let position = self.numbers.binary_search(&number).ok()?;
        self.pages.get(position).copied()
    }

    /// Returns the numbers in the web, ascending.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Iterates over the pages by id, with their positions in [`numbers`](Self::numbers).
    pub(super) fn by_id(&self) -> impl Iterator<Item = (PageId, usize)> {
        let by_id = self.positions.by_id();
        by_id.map(|(page, position)| (page, position as usize))
    }
}

/// The rows of a process, and its pages.
struct LoadedRows {
    rows: Rows,
    pages: OwnPages,
    ineligible: Ineligible,
}

impl LoadedHubShare {
    /// Loads the share of this process. `owners` has the process of each part of the bank. All processes call it at the same
    /// time, with the same plan.
    ///
    /// # Errors
    ///
    /// Those of this process; if another process fails, its caller must end the others.
    pub(super) fn load(
        context: RunContext<'_, CorePlan>,
        communicator: &Arc<dyn Communicator>,
        owners: &[usize],
    ) -> Result<Self> {
        let LoadedRows {
            rows,
            pages,
            ineligible,
        } = LoadedRows::load(context, &**communicator, owners)?;
        let share = HubShare::new(communicator, &rows)?;
        Ok(Self {
            share: Arc::new(share),
            pages,
            ineligible,
        })
    }
}

impl LoadedRows {
    fn load(
        context: RunContext<'_, CorePlan>,
        communicator: &dyn Communicator,
        owners: &[usize],
    ) -> Result<Self> {
        let RunContext {
            store,
            plan,
            policy,
            watch,
            ..
        } = context;
        let group = Group {
            communicator,
            watch,
        };
        let owners = SiteOwners::new(store, owners, group.processes())?;
        // A process alone may have no databases of its own.
        let mut image = if group.processes() == 1 {
            load_image(store, ImageLinks::InterSite, watch)?
        } else {
            load_share_image(store, ImageLinks::InterSite, watch)?
        };
        let excluded = policy.candidates.graph_exclusions();
        let reasons = Reasons::read(store, plan, excluded, &image, watch)?;
        watch.stage("load links", None);
        let mut linked = linked_pages(&image);
        mark_linked_elsewhere(group, owners, &image, &mut linked)?;
        let mut local = reasons.number_included(&image, &linked)?;
        let ineligible = reasons.ineligible(&image, &linked);
        drop(linked);
        let ghosts = number_ghosts(group, owners, &mut image, &mut local)?;
        let numbers = numbers_in_web(group, &image, &local)?;
        let of_ghosts = ghost_numbers(group, &ghosts, &numbers)?;
        let pages = local.pages(&image);
        let (of_image, members) = local.rows(&image);
        let in_web = |local: u32| {
            let own = numbers.get(local as usize);
            own.or_else(|| of_ghosts.get(local as usize - numbers.len()))
                .copied()
        };
        let mut rows = Rows::new();
        for (row, of_row) in (0..).zip(of_image) {
            watch.proceed()?;
            let carriers = members.list(row).iter().map(|page| in_web(*page));
            let targets = local.numbers_of(image.row(of_row)).into_iter();
            let targets = targets.map(in_web);
            let carriers: Option<Vec<u32>> = carriers.collect();
            let targets: Option<Vec<u32>> = targets.collect();
            let (carriers, mut targets) = carriers.zip(targets).ok_or_else(malformed)?;
            targets.sort_unstable();
            rows.push(&carriers, &targets)
                .map_err(|e| rows_error(e, &pages))?;
        }
        Ok(Self {
            rows,
            pages: OwnPages::new(pages, numbers, store.counters()?.next_site)?,
            ineligible,
        })
    }
}

/// Marks the own pages to which pages of other processes link. `linked` is by slot, and complete for the links of this
/// process. All processes call it at the same time.
///
/// Cost: a page id for each ghost.
fn mark_linked_elsewhere(
    group: Group<'_>,
    owners: SiteOwners<'_>,
    image: &GraphImage,
    linked: &mut [bool],
) -> Result<()> {
    let ghosts = image.ghosts().map(|slot| image.page(slot));
    let ghosts = ghosts.map(|page| (owners.of_site(page.site()), page));
    group.send(
        ghosts,
        |_| OF_PAGE,
        |_, page| {
            // That a page does not exist is reported once ghosts are numbered.
            let slot = image.slot(page);
            if let Some(linked) = slot.and_then(|slot| linked.get_mut(slot as usize)) {
                *linked = true;
            }
            Ok(())
        },
    )
}

/// Returns the number in the web of each ghost, by process and then ascending. `numbers` are those of the own pages. All
/// processes call it at the same time.
fn ghost_numbers(group: Group<'_>, ghosts: &GhostLists, numbers: &[u32]) -> Result<Vec<u32>> {
    let mirrors = ghosts.mirrors.iter().enumerate();
    let mirrors = mirrors.flat_map(|(process, own)| {
        let own = own.iter().filter_map(|local| numbers.get(*local as usize));
        own.map(move |number| (process, *number))
    });
    let mut by_process: Vec<Vec<u32>> = vec![Vec::new(); group.processes()];
    group.send(
        mirrors,
        |_| OF_NUMBER,
        |from, number| {
            by_process.get_mut(from).ok_or_else(malformed)?.push(number);
            Ok(())
        },
    )?;
    let mut of_processes = by_process.iter().zip(&ghosts.counts);
    let are_valid = of_processes.all(|(numbers, count)| {
        numbers.len() == *count as usize && numbers.is_sorted_by(|a, b| a < b)
    });
    if are_valid {
        Ok(by_process.concat())
    } else {
        Err(malformed().into())
    }
}

#[cfg(test)]
#[path = "load_share_tests.rs"]
mod tests;
