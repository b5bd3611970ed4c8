//! Evidence of refreshes: it explains for any page why it is a seed, or why not, without reading links.
//!
//! ```text
//! core_members   (refresh, page)                 pages of cores: role, position, score
//! core_evidence  (refresh, core)                 a summary of a core for comparisons
//! page_evidence  (series, site, block, refresh)  pages with inter-site links: component, row sums, proximity
//! reach          (refresh, site, block)          crawled pages: the covering seed, or a score
//! ```
//!
//! Page evidence changes little between refreshes, so a block is written only if it changed. The refreshes
//! of a plan form a *series*, named by its first one: a refresh reads the latest block of its series that is
//! not later than itself. The latest keys come first, so this is one read. A block that lost its last page
//! is written as an empty value. `reach` and the covered sets in `page_sets` are stored under the refresh
//! that selected the seeds.

use serde::{Deserialize, Serialize};

use super::RefreshId;
use super::component_cache::CoreOrigin;
use super::page_blocks::{Fact, PageBlock};
use crate::tables::codec::{self, Malformed, take_byte, take_u32};
use crate::tables::table::{Key, Value, record_values};
use seedbank_algorithms::page::{PageId, SiteId};

/// A page of a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// The rank of the core.
    pub core: u32,
    /// The position among the hubs; `None` if the page is no hub.
    pub hub: Option<SidePlace>,
    /// The position among the authorities; `None` if the page is no authority.
    pub authority: Option<SidePlace>,
}

/// The position of a page on one side of a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SidePlace {
    /// The position in the order of extraction, from 1.
    pub taken: u32,
    /// The position by score, from 1; scores within a relative 1e-9 are tied, and ordered by URL.
    pub rank: u32,
    /// The score, L2-normalised over pages.
    pub score: f64,
}

/// A summary of a core, for comparisons with others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoreEvidence {
    /// The sigma of the core.
    pub sigma: f64,
    /// Links from its hubs to its authorities.
    pub edges: u64,
    /// The number of hubs.
    pub hubs: u32,
    /// The number of authorities.
    pub authorities: u32,
    /// The number of sites of its authorities.
    pub authority_sites: u32,
    /// The hub that is the seed; if the core has no seed, its best hub.
    pub seed: PageId,
    /// Whether the core has a seed.
    pub gives_seed: bool,
    /// The position of the seed among the hubs.
    pub seed_place: SidePlace,
    /// The first of the consecutive refreshes in which this page is a seed.
    pub since: RefreshId,
    /// The number of authorities of the core that the seed links to.
    pub leads_to: u32,
    /// The number of sites of these authorities.
    pub leads_to_sites: u32,
    /// The first of these authorities in the order of extraction, at most three.
    pub first: Vec<PageId>,
    /// The best hub other than the seed, with its score; `None` if the seed is the only hub.
    pub runner_up: Option<(PageId, f64)>,
    /// The hub with the lowest score (of equal ones, the last by URL), with its score.
    pub weakest_hub: (PageId, f64),
    /// The authority with the lowest score (of equal ones, the last by URL), with its score.
    pub weakest_authority: (PageId, f64),
    /// The number of links to authorities of the core that another hub would need.
    pub hub_needs: u64,
    /// The number of links from hubs of the core that another authority would need.
    pub authority_needs: u64,
}

/// Evidence for a page with inter-site links in a refresh by cores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PageEvidence {
    /// Whether the page is in the graph, and its row sums.
    pub links: LinkStatus,
    /// The first core that the pages with the same links were near; meaningless for a page of a core.
    pub near: Option<CoreProximity>,
}

/// Whether a page is in the graph of a refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkStatus {
    /// Excluded as spam.
    Spam,
    /// Excluded as gone.
    Gone,
    /// Excluded as not crawled.
    NotCrawled,
    /// Excluded by a list of the plan.
    Excluded,
    /// All pages at the other ends of its links are excluded.
    Isolated,
    /// In the graph.
    Counted {
        /// The weakly connected component of the page, named by the smallest id of its pages.
        component: PageId,
        /// The sum of the outdegrees of the hubs that link to the page; 0 if there are none.
        as_authority: u64,
        /// The sum of the indegrees of the authorities that the page links to; 0 if there are none.
        as_hub: u64,
    },
}

/// The proximity of a page to a core that it is not a member of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoreProximity {
    /// The origin of the first core that the page was near. If the refresh has no core with this origin,
    /// the page was near none.
    pub core: CoreOrigin,
    /// Whether the page was near as a hub; if `false`, as an authority.
    pub hub: bool,
    /// The number of links with pages on the other side of the core.
    pub links: u32,
    /// The score of the page in that role, in the region that the core was extracted from.
    pub score: f64,
}

const NEAR: u8 = 8;
const NEAR_HUB: u8 = 16;

fn take_score(bytes: &mut &[u8]) -> Result<f64, Malformed> {
    let (score, rest) = bytes
        .split_first_chunk::<8>()
        .ok_or_else(|| Malformed("score is truncated".to_owned()))?;
    *bytes = rest;
    let score = f64::from_le_bytes(*score);
    if score.is_finite() {
        Ok(score)
    } else {
        Err(Malformed("a score is not finite".to_owned()))
    }
}

impl Fact for PageEvidence {
    fn put(&self, out: &mut Vec<u8>) {
        let kind = match self.links {
            LinkStatus::Spam => 0,
            LinkStatus::Gone => 1,
            LinkStatus::NotCrawled => 2,
            LinkStatus::Isolated => 3,
            LinkStatus::Counted { .. } => 4,
            LinkStatus::Excluded => 5,
        };
        let near = self
            .near
            .map_or(0, |near| NEAR | if near.hub { NEAR_HUB } else { 0 });
        out.push(kind | near);
        if let LinkStatus::Counted {
            component,
            as_authority,
            as_hub,
        } = self.links
        {
            codec::put_varint(u64::from(component.site().0), out);
            codec::put_varint(u64::from(component.index()), out);
            codec::put_varint(as_authority, out);
            codec::put_varint(as_hub, out);
        }
        if let Some(near) = self.near {
            codec::put_varint(u64::from(near.core.refresh), out);
            codec::put_varint(u64::from(near.core.rank), out);
            codec::put_varint(u64::from(near.links), out);
            out.extend_from_slice(&near.score.to_le_bytes());
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let tag = take_byte(bytes)?;
        let links = match tag & 7 {
            0 => LinkStatus::Spam,
            1 => LinkStatus::Gone,
            2 => LinkStatus::NotCrawled,
            3 => LinkStatus::Isolated,
            4 => LinkStatus::Counted {
                component: PageId::new(SiteId(take_u32(bytes)?), take_u32(bytes)?),
                as_authority: codec::take_varint(bytes)?,
                as_hub: codec::take_varint(bytes)?,
            },
            5 => LinkStatus::Excluded,
            _ => return Err(Malformed("unknown kind of page evidence".to_owned())),
        };
        let near = match tag & !7 {
            0 => None,
            kind if kind == NEAR || kind == NEAR | NEAR_HUB => Some(CoreProximity {
                core: CoreOrigin {
                    refresh: take_u32(bytes)?,
                    rank: take_u32(bytes)?,
                },
                hub: kind & NEAR_HUB != 0,
                links: take_u32(bytes)?,
                score: take_score(bytes)?,
            }),
            _ => return Err(Malformed("unknown kind of page evidence".to_owned())),
        };
        Ok(Self { links, near })
    }
}

/// Evidence for a page in a refresh by a cover method: for crawled pages of a site, or over the web for
/// reached pages and candidates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reach {
    /// The position among the seeds of the site, or over the web the rank; `None` if it is no seed.
    pub pick: Option<u32>,
    /// The first seed that covers the page; `None` if none does.
    pub covered: Option<Covered>,
    /// The score after the last selection, if the page is neither a seed nor covered and the method has
    /// scores.
    pub score: Option<f64>,
    /// Whether the score is exact; if `false`, it is an upper bound.
    pub exact: bool,
    /// The page that counts in place of this one, since it has the same content; `None` if the page counts itself.
    pub represented_by: Option<PageId>,
}

/// The first seed that covers a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// The position of the seed among the seeds of the site, or over the web its rank.
    pub pick: u32,
    /// The distance from the seed, in links.
    pub hop: u32,
}

const PICKED: u8 = 1;
const COVERED: u8 = 2;
const SCORED: u8 = 4;
const BOUNDED: u8 = 8;
const REPRESENTED: u8 = 16;

impl Fact for Reach {
    fn put(&self, out: &mut Vec<u8>) {
        let flag = |set, flag| if set { flag } else { 0 };
        out.push(
            flag(self.pick.is_some(), PICKED)
                | flag(self.covered.is_some(), COVERED)
                | flag(self.score.is_some(), SCORED)
                | flag(!self.exact, BOUNDED)
                | flag(self.represented_by.is_some(), REPRESENTED),
        );
        if let Some(pick) = self.pick {
            codec::put_varint(u64::from(pick), out);
        }
        if let Some(covered) = self.covered {
            codec::put_varint(u64::from(covered.pick), out);
            codec::put_varint(u64::from(covered.hop), out);
        }
        if let Some(score) = self.score {
            out.extend_from_slice(&score.to_le_bytes());
        }
        if let Some(page) = self.represented_by {
            codec::put_varint(u64::from(page.site().0), out);
            codec::put_varint(u64::from(page.index()), out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let tag = take_byte(bytes)?;
        if tag > PICKED | COVERED | SCORED | BOUNDED | REPRESENTED {
            return Err(Malformed("unknown kind of reach".to_owned()));
        }
        let mut reach = Self {
            pick: None,
            covered: None,
            score: None,
            exact: tag & BOUNDED == 0,
            represented_by: None,
        };
        if tag & PICKED != 0 {
            reach.pick = Some(take_u32(bytes)?);
        }
        if tag & COVERED != 0 {
            reach.covered = Some(Covered {
                pick: take_u32(bytes)?,
                hop: take_u32(bytes)?,
            });
        }
        if tag & SCORED != 0 {
            reach.score = Some(take_score(bytes)?);
        }
        if tag & REPRESENTED != 0 {
            let site = SiteId(take_u32(bytes)?);
            reach.represented_by = Some(PageId::new(site, take_u32(bytes)?));
        }
        Ok(reach)
    }
}

/// Keys of `page_evidence`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PageEvidenceKey {
    /// The series: the first refresh of the plan with page evidence.
    pub series: RefreshId,
    /// The site.
    pub site: SiteId,
    /// The block of page indexes.
    pub block: u32,
    /// The refresh that wrote the block.
    pub refresh: RefreshId,
}

impl PageEvidenceKey {
    /// Returns the prefix that the keys of this block share over all refreshes.
    #[must_use]
    pub fn block_prefix(&self) -> Vec<u8> {
        ((self.series, self.site), self.block).bytes()
    }
}

impl Key for PageEvidenceKey {
    fn put(&self, out: &mut Vec<u8>) {
        // The latest refresh comes first.
        (
            (self.series, self.site),
            (self.block, u32::MAX - self.refresh),
        )
            .put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let ((series, site), (block, inverted)): (_, (_, u32)) = Key::take(bytes)?;
        Some(Self {
            series,
            site,
            block,
            refresh: u32::MAX - inverted,
        })
    }
}

/// Keys of `reach`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ReachKey {
    /// The refresh that selected the seeds of the site.
    pub refresh: RefreshId,
    /// The site.
    pub site: SiteId,
    /// The block of page indexes.
    pub block: u32,
}

impl Key for ReachKey {
    fn put(&self, out: &mut Vec<u8>) {
        ((self.refresh, self.site), self.block).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let ((refresh, site), block) = Key::take(bytes)?;
        Some(Self {
            refresh,
            site,
            block,
        })
    }
}

/// A block of page evidence; `None` if none of its pages has evidence any more.
#[derive(Clone, PartialEq, Debug)]
pub struct PageEvidenceBlock(pub Option<PageBlock<PageEvidence>>);

impl Value for PageEvidenceBlock {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        match &self.0 {
            Some(block) => block.encode(out),
            None => Ok(()),
        }
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        PageBlock::decode(bytes).map(|block| Self(Some(block)))
    }
}

record_values!(Member, CoreEvidence);
