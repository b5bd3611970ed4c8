//! Loads the host-pruned graph for ranking: rows with the pages that carry them, numbered in URL
//! order. Each process loads the rows of its sites and has a share of the graph; its pages are numbered among those of all
//! processes.
//!
//! A page is included unless it is gone, or spam and the plan does not keep spam.
//!
//! Memory: the graph image without intra-site links; per included page 24 bytes; and the graph, twice while it
//! is built. In several processes, those of the sites of each, and 4 bytes for each page of another process to which its
//! pages link.

use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::Result;
use crate::engine::eligibility::{self, IneligiblePages, JudgedFor};
use crate::engine::error::rows_error;
use crate::engine::page_numbers::PageNumbers;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::site_owners::SiteOwners;
use crate::engine::web_graph::{
    GhostLists, Group, Numbering, load_image, load_share_image, malformed, number_ghosts,
    numbers_in_web,
};
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::cores::whole_graph;
use seedbank_algorithms::graph::{HubGraph, HubShare, Rows, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::evidence::LinkStatus;
use seedbank_store::{GraphImage, ImageLinks};

/// About the bytes of a page id in a message, and of a number.
const OF_PAGE: usize = 9;
const OF_NUMBER: usize = 5;

/// The graph, or the share of it that a process has, and its pages.
pub(crate) struct LoadedHubs {
    pub(crate) share: Arc<HubShare>,
    /// Own pages.
    pub(crate) pages: OwnPages,
    /// Ineligible own pages on inter-site links by id, with the reason.
    pub(crate) ineligible: Ineligible,
}

/// Ineligible pages by id, with the reason.
pub(super) type Ineligible = Vec<(PageId, LinkStatus)>;

/// The included pages of a process that are on inter-site links.
pub(crate) struct OwnPages {
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

    /// Creates the list of all pages of the web in URL order.
    fn whole(pages: Vec<PageId>, sites: u32) -> Result<Self> {
        let numbers = (0..number(pages.len())).collect();
        Self::new(pages, numbers, sites)
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

    /// Returns the pages, in URL order: by number if this process has all of them.
    pub(crate) fn list(&self) -> &[PageId] {
        &self.pages
    }

    /// Returns the page with a number in the web; `None` if it is not one of them.
    pub(super) fn page(&self, number: u32) -> Option<PageId> {
        let position = match self.numbers.get(number as usize) {
            Some(same) if *same == number => number as usize,
            _ => self.numbers.binary_search(&number).ok()?,
        };
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

impl LoadedHubs {
    /// Loads the share of this process. `owners` has the process of each part of a cluster bank. All processes call it at the
    /// same time, with the same plan.
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
        let share = if communicator.processes() == 1 {
            let graph = rows.graph().map_err(|e| rows_error(e, pages.list()))?;
            drop(rows);
            whole_graph(graph, &context.plan.params)
        } else {
            Arc::new(HubShare::new(communicator, &rows)?)
        };
        Ok(Self {
            share,
            pages,
            ineligible,
        })
    }

    /// Returns the links of the classes of this process.
    pub(crate) fn graph(&self) -> &HubGraph {
        self.share.graph()
    }

    /// Returns the number of a page; `None` if it is not an included own page.
    pub(crate) fn number(&self, page: PageId) -> Option<u32> {
        self.pages.number(page)
    }
}

/// The rows of a process, and its pages.
struct LoadedRows {
    rows: Rows,
    pages: OwnPages,
    ineligible: Ineligible,
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
        let is_alone = group.processes() == 1;
        // A process alone may have no databases of its own.
        let mut image = if is_alone {
            load_image(store, ImageLinks::InterSite, watch)?
        } else {
            load_share_image(store, ImageLinks::InterSite, watch)?
        };
        let eligibility = policy.eligibility(plan.page_scope());
        let reasons =
            IneligiblePages::of_image(store, &image, eligibility, JudgedFor::Graph, watch)?;
        watch.stage("load links", None);
        let mut linked = linked_pages(&image);
        let sites = store.counters()?.next_site;
        if is_alone {
            let numbering = number_included(&image, &reasons, &linked)?;
            return Ok(Self {
                rows: rows_of(&numbering, &image, watch, Some)?,
                pages: OwnPages::whole(numbering.pages(&image), sites)?,
                ineligible: ineligible(&image, &reasons, &linked),
            });
        }
        let owners = SiteOwners::new(store, owners, group.processes())?;
        mark_linked_elsewhere(group, owners, &image, &mut linked)?;
        let mut local = number_included(&image, &reasons, &linked)?;
        let ineligible = ineligible(&image, &reasons, &linked);
        drop((linked, reasons));
        let ghosts = number_ghosts(group, owners, &mut image, &mut local)?;
        let numbers = numbers_in_web(group, &image, &local)?;
        let of_ghosts = ghost_numbers(group, &ghosts, &numbers)?;
        let in_web = |local: u32| {
            let own = numbers.get(local as usize);
            own.or_else(|| of_ghosts.get(local as usize - numbers.len()))
                .copied()
        };
        Ok(Self {
            rows: rows_of(&local, &image, watch, in_web)?,
            pages: OwnPages::new(local.pages(&image), numbers, sites)?,
            ineligible,
        })
    }
}

/// Returns the rows of an image. `in_web` returns the number in the web of a number in the image.
fn rows_of(
    numbering: &Numbering,
    image: &GraphImage,
    watch: &dyn Watch,
    in_web: impl Fn(u32) -> Option<u32>,
) -> Result<Rows> {
    let (of_image, members) = numbering.rows(image);
    let mut rows = Rows::new();
    let (mut carriers, mut targets) = (Vec::new(), Vec::new());
    for (row, of_row) in (0..).zip(of_image) {
        watch.proceed()?;
        carriers.clear();
        targets.clear();
        for &page in members.list(row) {
            carriers.push(in_web(page).ok_or_else(malformed)?);
        }
        for page in numbering.numbers_of(image.row(of_row)) {
            targets.push(in_web(page).ok_or_else(malformed)?);
        }
        targets.sort_unstable();
        rows.push(&carriers, &targets)
            .map_err(|e| rows_error(e, &numbering.pages(image)))?;
    }
    Ok(rows)
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

/// Numbers the included pages of an image, without ghosts, that are on inter-site links. `linked` has by slot whether they
/// are.
fn number_included(
    image: &GraphImage,
    reasons: &IneligiblePages,
    linked: &[bool],
) -> Result<Numbering> {
    Numbering::by_url(image, |slot| {
        linked[slot as usize] && reasons.graph_reason(slot).is_none()
    })
}

/// Returns the ineligible pages of an image, without ghosts, that are on inter-site links.
fn ineligible(image: &GraphImage, reasons: &IneligiblePages, linked: &[bool]) -> Ineligible {
    let ineligible = image.order().iter().copied();
    let mut ineligible: Ineligible = ineligible
        .filter(|slot| linked[*slot as usize])
        .filter_map(|slot| Some((image.page(slot), link_status(reasons.graph_reason(slot)?))))
        .collect();
    ineligible.par_sort_unstable_by_key(|of| of.0);
    ineligible
}

/// Returns what is stored of the links of a page that is excluded from the graph.
const fn link_status(reason: eligibility::Ineligible) -> LinkStatus {
    match reason {
        eligibility::Ineligible::Gone
        | eligibility::Ineligible::Unlinked
        | eligibility::Ineligible::Alias
        | eligibility::Ineligible::Resource => LinkStatus::Gone,
        eligibility::Ineligible::Spam => LinkStatus::Spam,
        eligibility::Ineligible::NotCrawled => LinkStatus::NotCrawled,
        eligibility::Ineligible::Policy(_) => LinkStatus::Excluded,
    }
}

/// Returns by slot whether pages are on inter-site links.
fn linked_pages(image: &GraphImage) -> Vec<bool> {
    let mut linked = vec![false; image.slots()];
    let mut is_read = vec![false; image.row_count()];
    for slot in 0..number(image.slots()) {
        let Some(row) = image.row_of(slot) else {
            continue;
        };
        linked[slot as usize] = true;
        if !std::mem::replace(&mut is_read[row as usize], true) {
            for &target in image.row(row) {
                linked[target as usize] = true;
            }
        }
    }
    linked
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
