//! Ghosts: the pages of other processes to which the pages of a share link.
//!
//! Each process asks the owner of each ghost what the page is, and gets its local number there. So the owner learns
//! which of its pages are ghosts elsewhere, its *mirrors*. Both number them in the order of the owner's pages.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::Numbering;
use super::group::{Group, malformed};
use crate::engine::Result;
use crate::engine::site_owners::SiteOwners;
use seedbank_algorithms::graph::{NONE, number};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::PageState;
use seedbank_store::{GraphImage, StoreError};

/// The most ghosts that a message to a process asks for; few in unit tests, so that these need several messages.
const PORTION: usize = if cfg!(test) { 3 } else { 1 << 15 };

/// The ghosts and the mirrors of a share, in the form of `WebShare`.
#[derive(Debug, Default)]
pub(in crate::engine) struct GhostLists {
    /// The number of ghosts of each process.
    pub(in crate::engine) counts: Vec<u32>,
    /// By process: the pages of this process that are ghosts there, ascending.
    pub(in crate::engine) mirrors: Vec<Vec<u32>>,
}

/// A request for some ghosts of a process.
#[derive(Serialize, Deserialize)]
struct Request {
    /// For each page id, by how much it is above the least that can follow the one before, over all requests.
    gaps: Vec<u64>,
    /// Whether the sender has more requests for any process.
    has_more: bool,
}

/// What a page is in the process that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Found {
    /// There is no such page.
    Missing,
    /// It is neither known nor crawled, or it is crawled and not in the web.
    Absent,
    /// It is known, but not in the web.
    Excluded,
    /// It is known and in the web, with this number.
    Known(u32),
    /// It is crawled and in the web, with this number.
    Crawled(u32),
}

impl Found {
    fn of_page(image: &GraphImage, numbers: &Numbering, page: PageId) -> Self {
        let Some(slot) = image.slot(page) else {
            return Self::Missing;
        };
        match numbers.number(slot) {
            Some(number) if image.is_crawled(slot) => Self::Crawled(number),
            Some(number) => Self::Known(number),
            None if image.is_known(slot) => Self::Excluded,
            None => Self::Absent,
        }
    }
}

/// Sets the states of the ghosts of a share, and gives numbers after those of all pages to those that are in the web: by
/// process, and then in the order of the numbers there.
///
/// All processes call it at the same time, with numbers for the own pages that are in the web.
///
/// # Errors
///
/// If a page links to one that does not exist, and if there are too many pages and ghosts.
///
/// Cost: two messages to each process for every 32,768 ghosts there. Memory: 12 bytes for each ghost, and 4 for each
/// mirror.
pub(in crate::engine) fn number_ghosts(
    group: Group<'_>,
    owners: SiteOwners<'_>,
    image: &mut GraphImage,
    numbers: &mut Numbering,
) -> Result<GhostLists> {
    let processes = group.processes();
    // The slots of ghosts by process, in the order of their ids.
    let mut ghosts: Vec<Vec<u32>> = vec![Vec::new(); processes];
    for slot in image.ghosts() {
        let owner = owners.of_site(image.page(slot).site());
        let of_owner = ghosts.get_mut(owner).ok_or_else(malformed)?;
        of_owner.push(slot);
    }
    let mut found: Vec<Vec<(u32, u32)>> = vec![Vec::new(); processes];
    let mut mirrors: Vec<Vec<u32>> = vec![Vec::new(); processes];
    // The least page id that can follow, in requests to and from each process.
    let (mut to, mut from) = (vec![0_u64; processes], vec![0_u64; processes]);
    let mut portions: Vec<_> = ghosts.iter().map(|slots| slots.chunks(PORTION)).collect();
    loop {
        let asked: Vec<&[u32]> = portions
            .iter_mut()
            .map(|of| of.next().unwrap_or_default())
            .collect();
        let has_more = portions.iter().any(|portions| portions.len() > 0);
        let mut requests = Vec::with_capacity(processes);
        for (slots, next) in asked.iter().zip(&mut to) {
            let mut gaps = Vec::with_capacity(slots.len());
            for &slot in *slots {
                let page = image.page(slot).0;
                gaps.push(page.saturating_sub(*next));
                *next = page.saturating_add(1);
            }
            requests.push(Request { gaps, has_more });
        }
        let requests = group.exchange(&requests)?;
        let mut answers: Vec<Vec<Found>> = Vec::with_capacity(processes);
        for ((request, next), mirrors) in requests.iter().zip(&mut from).zip(&mut mirrors) {
            let mut of_request = Vec::with_capacity(request.gaps.len());
            for gap in &request.gaps {
                let page = next.checked_add(*gap).ok_or_else(malformed)?;
                *next = page.checked_add(1).ok_or_else(malformed)?;
                let found = Found::of_page(image, numbers, PageId(page));
                if let Found::Known(number) | Found::Crawled(number) = found {
                    mirrors.push(number);
                }
                of_request.push(found);
            }
            answers.push(of_request);
        }
        let answers = group.exchange(&answers)?;
        for ((slots, answers), found) in asked.iter().zip(answers).zip(&mut found) {
            if slots.len() != answers.len() {
                return Err(malformed().into());
            }
            for (&slot, answer) in slots.iter().zip(answers) {
                match answer {
                    Found::Missing => return Err(image.missing_ghost(slot).into()),
                    Found::Absent => {}
                    Found::Excluded => image.set_ghost(slot, PageState::Known),
                    Found::Known(number) => {
                        image.set_ghost(slot, PageState::Known);
                        found.push((number, slot));
                    }
                    Found::Crawled(number) => {
                        image.set_ghost(slot, PageState::Crawled);
                        found.push((number, slot));
                    }
                }
            }
        }
        if !requests.iter().any(|request| request.has_more) {
            break;
        }
    }
    let mut lists = GhostLists {
        counts: Vec::with_capacity(processes),
        mirrors,
    };
    let mut next = number(numbers.slots.len());
    for mut ghosts in found {
        ghosts.sort_unstable();
        let is_ascending = ghosts.is_sorted_by(|a, b| a.0.cmp(&b.0) == Ordering::Less);
        if !is_ascending {
            return Err(malformed().into());
        }
        for &(_, slot) in &ghosts {
            numbers.numbers[slot as usize] = next;
            // The largest number means "none".
            let following = next.checked_add(1).filter(|next| *next < NONE);
            next = following.ok_or(StoreError::Full("page to rank"))?;
        }
        lists.counts.push(number(ghosts.len()));
    }
    for mirrors in &mut lists.mirrors {
        mirrors.sort_unstable();
    }
    Ok(lists)
}
