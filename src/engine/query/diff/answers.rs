//! Request and answer of `diff`. The JSON Schema is `schema/diff.schema.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::eligibility::Ineligible;
use crate::engine::history::seed_counts::SeedCounts;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::answers::SuccessorView;
use seedbank_formats::ingest::{URL_PATTERN, counts_by};
use seedbank_store::records::{BatchId, RefreshId};

/// Selects two seed lists to compare.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::query::{DiffRequest, UrlList};
///
/// // The crawler's current list, compared with the last refresh.
/// let mut list = UrlList { name: "today".to_owned(), ..UrlList::default() };
/// list.push_line(1, "http://b.example/");
/// let request = DiffRequest { list: Some(list), ..DiffRequest::default() };
/// let diff = bank.diff(&request)?;
/// assert_eq!((diff.summary.gained, diff.summary.lost), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiffRequest {
    /// Plan; `None` for `default`. Ignored if two refreshes are given.
    pub plan: Option<String>,
    /// Numbers of refreshes: none to compare the plan's last two, one to compare it with the last of its
    /// plan, or two of any plans.
    pub refreshes: Vec<RefreshId>,
    /// Plan whose last refresh is the second list.
    pub against: Option<String>,
    /// List from outside the bank as the first list; the second is the given refresh, or the plan's last.
    pub list: Option<UrlList>,
}

/// List of URLs from outside the bank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UrlList {
    /// Name of the list.
    pub name: String,
    /// URLs as written, each with its line number.
    pub urls: Vec<(u64, String)>,
}

impl UrlList {
    /// Adds a line of a seed list of any crawler; `number` is from 1. The URL is the text before the first
    /// white space. Empty lines and lines that begin with `#` are skipped.
    pub fn push_line(&mut self, number: u64, line: &str) {
        let line = match number {
            1 => line.trim_start_matches('\u{feff}').trim(),
            _ => line.trim(),
        };
        if !line.starts_with('#')
            && let Some(url) = line.split_whitespace().next()
        {
            self.urls.push((number, url.to_owned()));
        }
    }
}

/// Change of a seed between two lists.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only on the second list.
    Gained,
    /// Only on the first list.
    Lost,
    /// On both lists, at different ranks.
    Moved,
    /// On both lists, at the same rank.
    Kept,
}

/// Why a seed was gained, lost or moved. *First* and *second* are the two refreshes. A page is *eligible*
/// for a refresh if it is crawled or, for cores with `--pages all`, known; for cores without
/// `--keep-spam` and over the web it must not be spam. If several causes apply, the first is reported.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Lost: the page is gone at the second.
    Gone,
    /// Lost: no page links to it at the second, and it has no record.
    Unlinked,
    /// Lost: it redirects to another page.
    Alias,
    /// Lost: it is a resource, such as a script or an image.
    Resource,
    /// Lost: it was marked as spam (cores: and the second excludes spam).
    Spam,
    /// Lost: it is not crawled, and the second selects only crawled pages.
    NotCrawled,
    /// Lost: the bank does not contain the URL of the list.
    NotInBank,
    /// Gained: the page was first seen after the first.
    NewPage,
    /// Gained: at the first it was gone, an alias, a resource, or unlinked.
    Revived,
    /// Gained: its spam mark was removed (cores: and the first excluded spam).
    SpamCleared,
    /// Gained: it was not crawled, and the first selected only crawled pages.
    BecameCrawled,
    /// Gained: the list does not contain it.
    NotListed,
    /// Gained or lost: method or parameters differ, and no cause above applies. `by` and `hop`, or `core`, say
    /// where the refresh without the seed has the page; without them, it does not have it.
    Parameters,
    /// Gained or lost: a policy puts it on one list, or rejects it for the other.
    Policy,
    /// Lost, cores: it has no inter-site link to an eligible page at the second.
    NoLinks,
    /// Gained, cores: it had no inter-site link to an eligible page at the first.
    BecameHub,
    /// Lost, cores: it is a hub of a core of the second whose seed is another hub.
    ReplacedByHub,
    /// Gained, cores: it was a hub of a core of the first whose seed was another hub.
    ReplacesHub,
    /// Lost, cores: it is an authority of a core of the second.
    BecameAuthority,
    /// Gained, cores: it was an authority of a core of the first.
    WasAuthority,
    /// Lost, cores: all requested seeds of the second come from cores with a larger sigma than its core
    /// had, or with at least the same sigma if its core still exists completely.
    Outranked,
    /// Gained, cores: all requested seeds of the first came from cores with a larger sigma than its core
    /// has, or with at least the same sigma if its core already existed completely.
    Outranks,
    /// Lost, cores: links of its core are missing at the second.
    LinksLost,
    /// Gained, cores: links of its core were missing at the first.
    LinksGained,
    /// Lost, cores: all links of its core still exist, but other cores contain pages of it.
    PagesTaken,
    /// Gained, cores: all links of its core already existed, but other cores contained pages of it.
    PagesReleased,
    /// Lost, cores: its core still exists completely, but the region around it lost links or pages.
    RegionWeakened,
    /// Gained, cores: its core already existed completely, and the region around it gained links or pages.
    RegionStrengthened,
    /// Lost, cores: no core of the second contains it. Reported if the first is a list, which has no cores.
    NoCore,
    /// Lost, cover: another seed of its site, or over the web any other seed, covers it.
    Covered,
    /// Gained, cover: another seed of its site, or over the web any other seed, covered it.
    Uncovered,
    /// Lost, cover: its site has fewer seats than the page's position among the site's picks.
    FewerSeats,
    /// Gained, cover: its site had fewer seats than the page's position among the site's picks.
    MoreSeats,
    /// Lost, cover: its site has seats left (over the web: fewer seeds were selected than requested, the page
    /// has no links, or another page represents its content), and the page would add no value.
    NoValue,
    /// Gained, cover: its site had seats left (over the web: fewer seeds were selected than requested, the
    /// page had no links, or another page represented its content), and the page would have added no value.
    GainedValue,
    /// Lost, cover: all seats of its site, or of the web, went to pages with better scores.
    Outweighed,
    /// Gained, cover: all seats of its site, or of the web, went to pages with better scores.
    Outweighs,
    /// Moved: the kept seeds before it are the same; others were gained or lost there.
    Shifted,
    /// Moved: the kept seeds before it differ.
    Reordered,
}

impl From<Ineligible> for Cause {
    fn from(reason: Ineligible) -> Self {
        match reason {
            Ineligible::Gone => Self::Gone,
            Ineligible::Unlinked => Self::Unlinked,
            Ineligible::Alias => Self::Alias,
            Ineligible::Resource => Self::Resource,
            Ineligible::Spam => Self::Spam,
            Ineligible::NotCrawled => Self::NotCrawled,
            Ineligible::Policy(_) => Self::Policy,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DiffSide {
    /// Number of the refresh; absent for a list from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub refresh: Option<RefreshId>,
    /// Plan of the refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: Option<String>,
    /// Last batch of the state that the refresh ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// Name of a list from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Number of seeds; for a list from outside, of distinct pages.
    pub seeds: u32,
}

/// Counts of a diff.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DiffSummary {
    /// First list.
    pub from: DiffSide,
    /// Second list.
    pub to: DiffSide,
    /// Number of seeds only on the second list.
    pub gained: u32,
    /// Number of seeds only on the first list.
    pub lost: u32,
    /// Number of seeds on both lists.
    pub kept: u32,
    /// Number of kept seeds with a different rank.
    pub moved: u32,
    /// Whether method or parameters differ.
    pub parameters_differ: bool,
    /// Names of the parameters with different values, ascending; without defaults that were not given.
    pub differing_parameters: Vec<String>,
    /// Number of seeds by cause.
    #[schemars(schema_with = "counts_by::<Cause>")]
    pub causes: BTreeMap<Cause, u32>,
    /// Number of lost seeds that are dead now and have a successor.
    pub successors: u32,
    /// Number of kept seeds whose fetches between the two refreshes brought no new page.
    #[serde(default)]
    pub kept_without_new: u32,
}

/// Change of one seed with its cause.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedChange {
    /// Kind of change.
    pub change: Change,
    /// URL of the page, which a list may contain without the bank knowing it.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Rank on the first list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank_before: Option<u32>,
    /// Rank on the second list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank_after: Option<u32>,
    /// Cause of the change; absent if nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Batch that caused the change; if no single batch did, the last one that changed a page of the core or
    /// site.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Core that the cause refers to: of the second refresh for a lost seed, of the first for a gained one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub core: Option<u32>,
    /// Seed that the cause refers to; over the web for `outweighed` and `outweighs`, the seed that reaches most of the pages
    /// that the page links to. With `max-changes` it may be a selected page that is not on the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub by: Option<String>,
    /// Distance from that seed in links, for `covered` and `uncovered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<u32>,
    /// Number of links that its core lost or gained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub changed_links: Option<u64>,
    /// Total number of links of its core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub core_links: Option<u64>,
    /// Dead seed that it succeeds, with the plan parameter `succeed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<SuccessorView>,
    /// What crawlers fetched from a kept seed between the two refreshes; absent without such fetches, and if the
    /// refreshes are not of one plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetches: Option<SeedCounts>,
    /// Current successor of a lost seed that is gone, spam or no longer a hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<SuccessorView>,
}

/// Comparison of two lists.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::query::{Cause, Change, DiffRequest};
///
/// ingest(&bank, "day-1.jsonl", r#"{"url": "http://a.example/", "gone": true}"#)?;
/// bank.refresh(&RefreshRequest::default())?;
/// let diff = bank.diff(&DiffRequest::default())?;
/// let lost = diff.seeds.iter().find(|seed| seed.change == Change::Lost);
/// let lost = lost.ok_or("no seed was lost")?;
/// assert_eq!((lost.url.as_str(), lost.cause), ("http://a.example/", Some(Cause::Gone)));
/// assert_eq!(lost.batch, Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "Comparison of two lists.")]
#[non_exhaustive]
pub struct SeedDiff {
    /// The counts.
    pub summary: DiffSummary,
    /// Gained seeds by rank, then lost, moved and kept ones.
    pub seeds: Vec<SeedChange>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_crawler_are_read() {
        let text = "\u{feff}http://a.example/\r\n\n# comment\n http://b.example/ # rank 2\n\
            http://c.example/\tseed.rank=3\n";
        let mut list = UrlList::default();
        for (number, line) in (1..).zip(text.lines()) {
            list.push_line(number, line);
        }
        let read: Vec<(u64, &str)> = list
            .urls
            .iter()
            .map(|(line, url)| (*line, url.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                (1, "http://a.example/"),
                (4, "http://b.example/"),
                (5, "http://c.example/")
            ]
        );
    }
}
