//! What `diff` answers with. As JSON it has a schema, `schema/diff.schema.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::answers::SuccessorView;
use seedbank_formats::ingest::{URL_PATTERN, counts_by};
use seedbank_store::records::{BatchId, RefreshId};

/// Which seed lists are compared.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{DiffRequest, UrlList};
///
/// // What the crawler starts from today, beside the last refresh.
/// let mut list = UrlList { name: "today".to_owned(), ..UrlList::default() };
/// list.push_line(1, "http://b.example/");
/// let request = DiffRequest { list: Some(list), ..DiffRequest::default() };
/// let diff = bank.diff(&request, &Unwatched)?;
/// assert_eq!((diff.summary.gained, diff.summary.lost), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiffRequest {
    /// The plan; the default plan where `None`. Ignored where two refreshes are named.
    pub plan: Option<String>,
    /// Refreshes by number: none, to compare the plan's last two; one, to compare it with the last
    /// of its plan; or two, of the same plan or of different ones.
    pub refreshes: Vec<RefreshId>,
    /// Compare the plan's last refresh with this plan's last one.
    pub against: Option<String>,
    /// Compare this list with the plan's last refresh, or with the given one.
    pub list: Option<UrlList>,
}

/// A list of seeds from outside the bank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UrlList {
    /// What it is called.
    pub name: String,
    /// Its URLs as they are written, each with its place in the list.
    pub urls: Vec<(u64, String)>,
}

impl UrlList {
    /// Takes a line of a text, by its number from 1: a URL at its beginning, as seed lists for any
    /// crawler have them. An empty line, or one that begins with `#`, is skipped.
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

/// What happened to a seed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the second list has it.
    Gained,
    /// Only the first list has it.
    Lost,
    /// Both have it, at different ranks.
    Moved,
    /// Both have it, at the same rank.
    Kept,
}

/// Why a seed came, went or moved. *First* and *second* are the two refreshes; a page *takes part*
/// in a refresh that may select it: it is crawled or, for cores with `--pages all`, known, and for
/// cores without `--keep-spam` and over the web it is no spam. Of several the first that holds is told.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Lost: the page is reported as gone at the second.
    Gone,
    /// Lost: it is no longer a page at the second: nobody links to it, and it has no record.
    Unlinked,
    /// Lost: it redirects to another page, or names another one as canonical.
    Alias,
    /// Lost: it got the spam mark (cores: and the second leaves spam out).
    Spam,
    /// Lost: it is not crawled, and the second selects crawled pages only.
    NotCrawled,
    /// Lost: the bank does not have the URL of the list.
    NotInBank,
    /// Gained: the page was first seen after the first.
    NewPage,
    /// Gained: at the first it was gone, an alias, or not a page.
    Revived,
    /// Gained: it lost the spam mark (cores: and the first left spam out).
    SpamCleared,
    /// Gained: it was not crawled, and the first selected crawled pages only.
    BecameCrawled,
    /// Gained: the list does not have it.
    NotListed,
    /// Gained or lost: method or parameters differ, and none of the above holds.
    Parameters,
    /// Gained or lost: a policy has it on the one list, or keeps it off the other.
    Policy,
    /// Lost, cores: it has no inter-site link to a page that takes part in the second.
    NoLinks,
    /// Gained, cores: it had no inter-site link to a page that took part in the first.
    BecameHub,
    /// Lost, cores: it is a hub of a core of the second whose seed is another hub.
    ReplacedByHub,
    /// Gained, cores: it was a hub of a core of the first whose seed was another hub.
    ReplacesHub,
    /// Lost, cores: it left the graph as an authority of a core of the second.
    BecameAuthority,
    /// Gained, cores: it left the graph as an authority of a core of the first.
    WasAuthority,
    /// Lost, cores: the second has all its seeds from cores with a larger sigma than its core had,
    /// or with one no smaller where its core is still whole.
    Outranked,
    /// Gained, cores: the first had all its seeds from cores with a larger sigma than its core has,
    /// or with one no smaller where its core was already whole.
    Outranks,
    /// Lost, cores: links of its core are missing at the second.
    LinksLost,
    /// Gained, cores: links of its core were missing at the first.
    LinksGained,
    /// Lost, cores: all links of its core are still there, but other cores took pages of it.
    PagesTaken,
    /// Gained, cores: all links of its core were already there, but other cores had pages of it.
    PagesReleased,
    /// Lost, cores: its core is still whole, but the region around it lost links or pages.
    RegionWeakened,
    /// Gained, cores: its core was already whole, and the region around it gained links or pages.
    RegionStrengthened,
    /// Lost, cores: no core of the second has it. Given where the first is a list, which has no
    /// cores.
    NoCore,
    /// Lost, cover: another seed of its site, or over the web any other seed, covers it.
    Covered,
    /// Gained, cover: another seed of its site, or over the web any other seed, covered it.
    Uncovered,
    /// Lost, cover: its site has fewer seats than the page's place among the site's picks.
    FewerSeats,
    /// Gained, cover: its site had fewer seats than the page's place among the site's picks.
    MoreSeats,
    /// Lost, cover: its site has seats left (over the web: fewer seeds were selected than asked
    /// for, or the page has no links), and the page would add no value.
    NoValue,
    /// Gained, cover: its site had seats left (over the web: fewer seeds were selected than asked
    /// for, or the page had no links), and the page would have added no value.
    GainedValue,
    /// Lost, cover: all seats of its site, or of the web, went to pages of a better score.
    Outweighed,
    /// Gained, cover: all seats of its site, or of the web, went to pages of a better score.
    Outweighs,
    /// Moved: the kept seeds before it are the same; only others came or went there.
    Shifted,
    /// Moved: the kept seeds before it are not the same.
    Reordered,
}

/// A list that is compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DiffSide {
    /// The refresh; none for a list from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub refresh: Option<RefreshId>,
    /// The plan of the refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: Option<String>,
    /// The last batch of the state that the refresh ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// The name of a list from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// How many seeds it has; for a list from outside, distinct pages.
    pub seeds: u32,
}

/// The counts of a diff.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DiffSummary {
    /// The first list.
    pub from: DiffSide,
    /// The second list.
    pub to: DiffSide,
    /// Seeds that only the second list has.
    pub gained: u32,
    /// Seeds that only the first list has.
    pub lost: u32,
    /// Seeds that both have.
    pub kept: u32,
    /// How many of the kept seeds have another rank.
    pub moved: u32,
    /// Whether method or parameters differ.
    pub parameters_differ: bool,
    /// How often each cause is given.
    #[schemars(schema_with = "counts_by::<Cause>")]
    pub causes: BTreeMap<Cause, u32>,
    /// Lost seeds that are dead today and have a successor.
    pub successors: u32,
}

/// What happened to one seed, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedChange {
    /// What happened to the seed.
    pub change: Change,
    /// The page; a list may name one that the bank does not have.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its rank in the first list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank_before: Option<u32>,
    /// Its rank in the second list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank_after: Option<u32>,
    /// Why it happened; none where nothing happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The batch that brought the change; where no single one did, the last one that changed a page
    /// of the core or site.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// The core that the cause speaks of: for a lost seed one of the second refresh, for a gained
    /// one of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub core: Option<u32>,
    /// The seed that the cause speaks of; under a limit on changes it may be one that the method came to
    /// and that is not on the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub by: Option<String>,
    /// How far away that seed is, in links, for `covered` and `uncovered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<u32>,
    /// How many links of its core went or came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub changed_links: Option<u64>,
    /// How many links its core has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub core_links: Option<u64>,
    /// The old seed that it succeeds, where the plan says `succeed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<SuccessorView>,
    /// Who may follow the seed as things stand today, where it is gone, spam or no longer a hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<SuccessorView>,
}

/// Two lists compared.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Cause, Change, DiffRequest};
///
/// ingest(&bank, "day-1.jsonl", r#"{"url": "http://a.example/", "gone": true}"#)?;
/// bank.refresh(&RefreshRequest::default(), &Unwatched)?;
/// let diff = bank.diff(&DiffRequest::default(), &Unwatched)?;
/// let lost = diff.seeds.iter().find(|seed| seed.change == Change::Lost);
/// let lost = lost.ok_or("no seed was lost")?;
/// assert_eq!((lost.url.as_str(), lost.cause), ("http://a.example/", Some(Cause::Gone)));
/// assert_eq!(lost.batch, Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "Two lists compared.")]
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
