//! The ids of the pages that the classes of a process name.

use super::load::OwnPages;
use crate::engine::Result;
use crate::engine::web_graph::{Group, malformed};
use seedbank_algorithms::graph::HubShare;
use seedbank_algorithms::page::PageId;

/// About the bytes of a number in a message, and of a page id.
const OF_NUMBER: usize = 5;
const OF_PAGE: usize = 9;

/// The ids of the pages of the own classes of a process, and of the smallest page of each local class.
pub(super) enum PageIds<'a> {
    /// Those of all pages, which this process has.
    Own(&'a OwnPages),
    /// By number, ascending.
    Listed(Vec<(u32, PageId)>),
}

impl<'a> PageIds<'a> {
    /// Returns the ids that this process needs. All processes call it at the same time.
    ///
    /// Cost: in several processes some 30 bytes for each page of a class.
    pub(super) fn of_classes(
        group: Group<'_>,
        share: &HubShare,
        own: &'a OwnPages,
    ) -> Result<Self> {
        let processes = group.processes();
        if processes == 1 {
            return Ok(Self::Own(own));
        }
        let needed = share.named_pages();
        // The process that collects the id of a page.
        let collector = |number: u32| number as usize % processes;
        let pages = own.numbers().iter().zip(own.list());
        let mut collected: Vec<(u32, PageId)> = Vec::new();
        group.send(
            pages.map(|(number, page)| (collector(*number), (*number, *page))),
            |_| OF_NUMBER + OF_PAGE,
            |_, of_page| {
                collected.push(of_page);
                Ok(())
            },
        )?;
        collected.sort_unstable_by_key(|of| of.0);
        let mut asked: Vec<(usize, u32)> = Vec::new();
        group.send(
            needed.iter().map(|number| (collector(*number), *number)),
            |_| OF_NUMBER,
            |from, number| {
                asked.push((from, number));
                Ok(())
            },
        )?;
        let answers = asked.iter().filter_map(|(from, number)| {
            let at = collected.binary_search_by_key(number, |of| of.0).ok()?;
            Some((*from, collected[at]))
        });
        let mut found: Vec<(u32, PageId)> = Vec::new();
        group.send(
            answers,
            |_| OF_NUMBER + OF_PAGE,
            |_, of_page| {
                found.push(of_page);
                Ok(())
            },
        )?;
        found.sort_unstable_by_key(|of| of.0);
        if !found.iter().map(|of| of.0).eq(needed) {
            return Err(malformed().into());
        }
        Ok(Self::Listed(found))
    }

    /// Returns the id of a page, given its number.
    pub(super) fn id(&self, number: u32) -> u64 {
        let page = match self {
            Self::Own(own) => own.page(number),
            Self::Listed(pages) => {
                let at = pages.binary_search_by_key(&number, |of| of.0).ok();
                at.map(|at| pages[at].1)
            }
        };
        page.map_or(u64::MAX, |page| page.0)
    }
}
