//! What the canonical links of pages say of their contents.
//!
//! A page that names another one as canonical stays a page, with its links. Its canonical link is evidence that both
//! have the same content, unless the facts speak against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::aliases::MAX_CHAIN;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Store, StoreError, tables};

/// The maximum number of pages that can name the same canonical page and have its content.
const MAX_NAMING: usize = 10;

/// What a canonical link says of the contents of two pages. If several reasons speak against it, the first counts.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CanonicalEvidence {
    /// Both have the same content.
    SameContent,
    /// Nothing: the redirects and canonical links of the canonical page lead back to the page.
    LeadsBack,
    /// Nothing: the canonical page was not fetched.
    NotFetched,
    /// Nothing: the canonical page is on another site.
    OtherSite,
    /// Nothing: more than 10 pages name the same canonical page.
    NamedByMany,
}

/// Canonical page of a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CanonicalView {
    /// Page that it names as canonical.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub to: String,
    /// What this says of the contents of both pages.
    pub evidence: CanonicalEvidence,
}

/// Number of pages with a canonical link, by what it says of the contents of both pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CanonicalCounts {
    /// Both have the same content.
    pub same_content: u64,
    /// The canonical page leads back to the page.
    pub leads_back: u64,
    /// The canonical page was not fetched.
    pub not_fetched: u64,
    /// The canonical page is on another site.
    pub other_site: u64,
    /// More than 10 pages name the same canonical page.
    pub named_by_many: u64,
}

/// A canonical page, as all pages that name it see it.
struct CanonicalTarget {
    page: PageId,
    is_fetched: bool,
    /// The pages to which its redirects and canonical links lead.
    leads_to: Vec<PageId>,
}

impl CanonicalTarget {
    /// Cost: a read of the page, and two of each page to which it leads.
    fn read(store: &Store, page: PageId) -> Result<Self, StoreError> {
        let mut record = store.need(&tables::PAGES, &page)?;
        let is_fetched = record.state == PageState::Crawled;
        let mut leads_to = Vec::new();
        let mut at = page;
        while leads_to.len() < MAX_CHAIN {
            let next = match record.state {
                PageState::Alias => store.alias(at)?,
                _ => record.canonical,
            };
            let Some(next) = next.filter(|next| !leads_to.contains(next)) else {
                break;
            };
            leads_to.push(next);
            at = next;
            record = store.need(&tables::PAGES, &at)?;
        }
        Ok(Self {
            page,
            is_fetched,
            leads_to,
        })
    }

    /// Returns what the canonical link of a page to this one says of the contents of both; `naming` pages have such a link.
    fn evidence(&self, page: PageId, naming: usize) -> CanonicalEvidence {
        if self.leads_to.contains(&page) {
            CanonicalEvidence::LeadsBack
        } else if !self.is_fetched {
            CanonicalEvidence::NotFetched
        } else if self.page.site() != page.site() {
            CanonicalEvidence::OtherSite
        } else if naming > MAX_NAMING {
            CanonicalEvidence::NamedByMany
        } else {
            CanonicalEvidence::SameContent
        }
    }
}

/// Returns the canonical page of a page, and what it says; `None` if the page names none.
pub(super) fn canonical_view(
    views: &Views,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<CanonicalView>, StoreError> {
    let Some(to) = record.canonical else {
        return Ok(None);
    };
    let store = &views.reader;
    let naming = store.canonical_references(to, MAX_NAMING + 1)?.len();
    Ok(Some(CanonicalView {
        to: views.name(to)?.1,
        evidence: CanonicalTarget::read(store, to)?.evidence(page, naming),
    }))
}

/// Counts the canonical links of pages by what they say of the contents of both pages.
pub(super) fn canonical_counts(
    store: &Store,
    watch: &dyn Watch,
) -> Result<CanonicalCounts, EngineError> {
    let mut counts = CanonicalCounts::default();
    let mut target: Option<(CanonicalTarget, usize)> = None;
    for entry in store.scan(&tables::CANONICAL_REFERENCES)? {
        watch.proceed()?;
        let ((to, page), ()) = entry?;
        let of_target = match target.take() {
            Some(of_target) if of_target.0.page == to => of_target,
            _ => {
                let naming = store.canonical_references(to, MAX_NAMING + 1)?.len();
                (CanonicalTarget::read(store, to)?, naming)
            }
        };
        let (canonical, naming) = target.insert(of_target);
        *match canonical.evidence(page, *naming) {
            CanonicalEvidence::SameContent => &mut counts.same_content,
            CanonicalEvidence::LeadsBack => &mut counts.leads_back,
            CanonicalEvidence::NotFetched => &mut counts.not_fetched,
            CanonicalEvidence::OtherSite => &mut counts.other_site,
            CanonicalEvidence::NamedByMany => &mut counts.named_by_many,
        } += 1;
    }
    Ok(counts)
}
