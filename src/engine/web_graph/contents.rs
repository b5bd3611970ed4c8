//! Contents that several crawled pages have, by their digests, and the page that represents each of them.

use std::cmp::Reverse;

use super::{GhostLists, Group, HostPages, Numbering, malformed};
use crate::engine::Result;
use seedbank_algorithms::cover::global::SharedContent;
use seedbank_algorithms::graph::Csr;
use seedbank_algorithms::page::PageId;
use seedbank_store::GraphImage;
use seedbank_store::records::Hash128;
use serde::{Deserialize, Serialize};

/// How suitable a page is to represent its content, the smallest first: pinned pages, those with most in-links, then the
/// shortest URL, then the smallest one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(in crate::engine) struct Suitability {
    pub(in crate::engine) is_not_pinned: bool,
    pub(in crate::engine) in_links: Reverse<u32>,
    pub(in crate::engine) url_length: u32,
    /// The number of the page in the web, in URL order.
    pub(in crate::engine) number: u32,
}

/// A page with the digest `D` of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(in crate::engine) struct Digested<D> {
    pub(in crate::engine) digest: D,
    pub(in crate::engine) suitability: Suitability,
    /// The local number of the page.
    pub(in crate::engine) page: u32,
    pub(in crate::engine) id: PageId,
}

/// A page that shares its content, and the page that represents it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Found {
    page: u32,
    content: u32,
    rank: u32,
    by: PageId,
}

/// Returns those of some pages that share their contents, each with the process that asks about it.
fn shared<D: Ord>(mut pages: Vec<(usize, Digested<D>)>) -> Vec<(usize, Found)> {
    pages.sort_unstable_by(|(_, a), (_, b)| {
        (&a.digest, a.suitability).cmp(&(&b.digest, b.suitability))
    });
    let mut found = Vec::new();
    for of_content in pages.chunk_by(|a, b| a.1.digest == b.1.digest) {
        let [(_, first), _, ..] = of_content else {
            continue;
        };
        for (rank, (process, of)) in (0..).zip(of_content) {
            let of_page = Found {
                page: of.page,
                content: first.suitability.number,
                rank,
                by: first.id,
            };
            found.push((*process, of_page));
        }
    }
    found
}

/// The pages of a process that share contents.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::engine) struct SharedContents {
    /// As `WebGraph::with_contents` takes them.
    pub(in crate::engine) pages: Vec<SharedContent>,
    /// Those that do not represent their contents, ascending, each with the page that does.
    pub(in crate::engine) copies: Vec<(u32, PageId)>,
}

impl SharedContents {
    /// Finds the pages that share contents among those of all processes. All processes call it at the same time.
    ///
    /// Cost: each page with a digest is sent once. Memory: 48 bytes for each of them.
    pub(in crate::engine) fn new<D>(group: Group<'_>, own: Vec<Digested<D>>) -> Result<Self>
    where
        D: Ord + AsRef<[u8]> + Serialize + for<'a> Deserialize<'a>,
    {
        // Equal digests meet in one process.
        let owner = |of: &Digested<D>| {
            let first = of.digest.as_ref().iter().take(4);
            let hash = first.fold(0, |hash: usize, byte| (hash << 8) | usize::from(*byte));
            hash % group.processes()
        };
        let mut received: Vec<(usize, Digested<D>)> = Vec::new();
        let own = own.into_iter().map(|of| (owner(&of), of));
        group.send(
            own,
            |of| of.digest.as_ref().len() + 24,
            |from, of| {
                received.push((from, of));
                Ok(())
            },
        )?;
        let mut all = Vec::new();
        group.send(
            shared(received).into_iter(),
            |_| 24,
            |_, found| {
                all.push(found);
                Ok(())
            },
        )?;
        all.sort_unstable_by_key(|found: &Found| found.page);
        let pages = all.iter().map(|found| SharedContent {
            page: found.page,
            content: found.content,
            rank: found.rank,
        });
        let copies = all.iter().filter(|found| found.rank > 0);
        Ok(Self {
            pages: pages.collect(),
            copies: copies.map(|found| (found.page, found.by)).collect(),
        })
    }

    /// Returns the page that represents the content of a page; `None` if it represents itself.
    pub(in crate::engine) fn represented_by(&self, page: u32) -> Option<PageId> {
        let place = self.copies.binary_search_by_key(&page, |of| of.0).ok()?;
        self.copies.get(place).map(|of| of.1)
    }
}

/// Returns the digests of the crawled pages of a numbering, with the lengths of their URLs, in the order of their numbers.
pub(in crate::engine) fn digests(
    image: &GraphImage,
    numbers: &Numbering,
    read: &HostPages,
) -> Vec<(u32, Hash128, u32)> {
    if read.pages.is_empty() {
        return Vec::new();
    }
    let crawled = (0..)
        .zip(&numbers.slots)
        .filter(|(_, slot)| image.is_crawled(**slot));
    let digests = crawled.filter_map(|(page, &slot)| {
        let of = read.pages[slot as usize];
        Some((page, of.digest?, of.url_length))
    });
    digests.collect()
}

/// Returns the number of pages that link to each page, those of other processes included. All processes call it at the
/// same time, with links to ghosts as `WebShare` numbers them.
pub(in crate::engine) fn in_links(
    group: Group<'_>,
    successors: &Csr,
    ghosts: &GhostLists,
) -> Result<Vec<u32>> {
    let of_ghosts: u32 = ghosts.counts.iter().sum();
    let mut counts = vec![0_u32; successors.len() + of_ghosts as usize];
    for &target in successors.entries() {
        counts[target as usize] += 1;
    }
    let to_others = counts.split_off(successors.len());
    let places = ghosts.counts.iter().enumerate();
    let places = places.flat_map(|(process, count)| (0..*count).map(move |place| (process, place)));
    let messages = places.zip(to_others);
    let messages = messages.map(|((process, place), links)| (process, (place, links)));
    group.send(
        messages,
        |_| 8,
        |from, (place, links)| {
            let mirrors = ghosts.mirrors.get(from);
            let page = mirrors.and_then(|pages| pages.get(place as usize));
            counts[*page.ok_or_else(malformed)? as usize] += links;
            Ok(())
        },
    )?;
    Ok(counts)
}
