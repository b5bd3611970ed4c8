//! Eligibility: which pages are in the graph of a plan, which of them may be seeds, and why others may not.
//!
//! All rules about single pages are here. They are tried in one order, and the first that applies is the reason:
//! [`Eligibility::reason`] for one page, and [`IneligiblePages`] for all pages of a graph image, computed before the
//! method runs. Methods, the allocation of seats, explanations, differences and comparisons read the reasons; none has a
//! rule of its own.
//!
//! To add a rule: declare its parameter in the module `plan`, add its field to [`PagePolicy`] and its reason to
//! [`RejectionReason`], and try it in [`PageRules::reason`].

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Result;
use super::web_graph::read_records;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::records::{Failures, PageRecord, PageState};
use seedbank_store::{GraphImage, Hash128, Store, StoreError, tables};

/// Why a page that a method selected is not a seed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RejectionReason {
    /// Its site has the maximum number of seeds.
    MaxPerSite,
    /// Its domain has the maximum number of seeds.
    MaxPerDomain,
    /// `exclude` contains it.
    Exclude,
    /// `only` does not contain it.
    Only,
    /// `exclude-from-graph` contains it.
    ExcludeFromGraph,
    /// Its quality is too low, or unknown.
    MinQuality,
    /// Its last fetches failed, or all those of its site.
    MaxFailures,
    /// Its core has too few hubs.
    MinHubs,
    /// Its core has too few authorities.
    MinAuthorities,
    /// The hubs of its core are on too few sites; on a single site they are pages of one template.
    MinHubSites,
    /// The limit on changes of the list was reached.
    MaxChanges,
    /// It is a document, which has no links that a crawler follows.
    Document,
}

impl RejectionReason {
    /// Returns the parameter of plans that sets the rule; of a rule of all plans its name.
    #[must_use]
    pub const fn parameter(self) -> &'static str {
        match self {
            Self::MaxPerSite => "max-per-site",
            Self::MaxPerDomain => "max-per-domain",
            Self::Exclude => "exclude",
            Self::Only => "only",
            Self::ExcludeFromGraph => "exclude-from-graph",
            Self::MinQuality => "min-quality",
            Self::MaxFailures => "max-failures",
            Self::MinHubs => "min-hubs",
            Self::MinAuthorities => "min-authorities",
            Self::MinHubSites => "min-hub-sites",
            Self::MaxChanges => "max-changes",
            Self::Document => "document",
        }
    }

    /// Whether the reason follows from the URL of a page alone, so that no batch changes it.
    pub(crate) const fn follows_from_url(self) -> bool {
        matches!(self, Self::Exclude | Self::Only | Self::ExcludeFromGraph)
    }
}

/// The policies of a plan about single pages, with every parameter resolved. The default rejects none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PagePolicy {
    /// Hash of the list of pages that are never seeds.
    pub exclude: Option<Hash128>,
    /// Hash of the list of the only pages that can be seeds.
    pub only: Option<Hash128>,
    /// Hash of the list of pages that are excluded from the graph, and from being seeds.
    pub exclude_from_graph: Option<Hash128>,
    /// Minimum quality of a seed, in ten-thousandths.
    pub min_quality: u16,
    /// Number of consecutive failed fetches that keeps a page from being a seed; 0 without a limit.
    pub max_failures: u32,
}

/// Why a page is ineligible, as a seed or for the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ineligible {
    /// It is gone.
    Gone,
    /// No page links to it any more, and it has no record; or it never existed.
    Unlinked,
    /// It redirects to another page.
    Alias,
    /// It is a resource, such as a script or an image.
    Resource,
    /// It is marked as spam.
    Spam,
    /// It is known only from links.
    NotCrawled,
    /// A policy rejects it.
    Policy(RejectionReason),
}

// `IneligiblePages` has one for each page of the web.
const _: () = assert!(size_of::<Option<Ineligible>>() == 1);

impl Ineligible {
    /// The reasons that follow from the state and the spam mark, in the order in which they are tried.
    pub(crate) const BY_STATE: [Self; 6] = [
        Self::Gone,
        Self::Unlinked,
        Self::Alias,
        Self::Resource,
        Self::Spam,
        Self::NotCrawled,
    ];

    /// Whether a page has the state or the mark of a reason.
    pub(crate) fn is_of(self, state: PageState, spam: bool) -> bool {
        match self {
            Self::Gone => state == PageState::Gone,
            Self::Unlinked => state == PageState::Unlinked,
            Self::Alias => state == PageState::Alias,
            Self::Resource => state == PageState::Resource,
            Self::Spam => spam,
            Self::NotCrawled => state == PageState::Known,
            Self::Policy(_) => false,
        }
    }
}

/// The pages that a plan admits besides crawled ones without a spam mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Admitted {
    /// Whether it admits pages with the spam mark.
    pub(crate) spam: bool,
    /// Whether it admits known, uncrawled pages.
    pub(crate) known: bool,
}

impl Admitted {
    /// Whether pages are ineligible for a reason that follows from their state.
    pub(crate) fn rejects(self, reason: Ineligible) -> bool {
        match reason {
            Ineligible::Spam => !self.spam,
            Ineligible::NotCrawled => !self.known,
            Ineligible::Gone | Ineligible::Unlinked | Ineligible::Alias | Ineligible::Resource => {
                true
            }
            Ineligible::Policy(_) => false,
        }
    }

    /// Returns why a page is ineligible by its state and its spam mark.
    pub(crate) fn reason(self, state: PageState, spam: bool) -> Option<Ineligible> {
        let mut reasons = Ineligible::BY_STATE.into_iter();
        reasons.find(|reason| self.rejects(*reason) && reason.is_of(state, spam))
    }

    /// Whether a page is admitted.
    pub(crate) fn includes(self, state: PageState, spam: bool) -> bool {
        self.reason(state, spam).is_none()
    }
}

/// The pages that a kind of plan admits to its graph, and as seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlanScope {
    pub(crate) graph: Admitted,
    pub(crate) seeds: Admitted,
}

impl PlanScope {
    /// Plans that cover each site: spam pages have a low value.
    pub(crate) const SITES: Self = Self::same(Admitted {
        spam: true,
        known: false,
    });

    /// Plans over the web.
    pub(crate) const WEB: Self = Self {
        graph: Admitted {
            spam: true,
            known: true,
        },
        seeds: Admitted {
            spam: false,
            known: false,
        },
    };

    /// Plans whose graph has possible seeds only.
    pub(crate) const fn same(pages: Admitted) -> Self {
        Self {
            graph: pages,
            seeds: pages,
        }
    }

    /// Whether pages that are ineligible for a reason are in the graph all the same.
    pub(crate) fn is_in_graph(self, reason: Ineligible) -> bool {
        match reason {
            Ineligible::Policy(by) => by != RejectionReason::ExcludeFromGraph,
            by_state => !self.graph.rejects(by_state),
        }
    }
}

/// The lists of a plan that concern single pages.
#[derive(Default)]
pub(crate) struct PageLists {
    pub(crate) exclude: Option<Patterns>,
    pub(crate) only: Option<Patterns>,
    pub(crate) exclude_from_graph: Option<Patterns>,
}

/// What policies depend on of a page. The URL comes from its record, all else is in graph images too.
struct PageAttributes<'a> {
    /// The site and the rest of the URL; empty if no policy depends on URLs.
    site: &'a str,
    local: &'a str,
    /// In ten-thousandths.
    quality: u16,
    is_failing: bool,
    is_document: bool,
}

/// The policies of a plan about single pages, with their lists compiled. The default rejects none.
#[derive(Default)]
pub(crate) struct PageRules {
    policy: PagePolicy,
    lists: PageLists,
    /// The number of documents of the bank, which are never seeds.
    documents: u64,
    /// The pages with too many failed fetches; `None` if each is looked up.
    failing: Option<FailingPages>,
    mode: SiteMode,
}

/// The pages that failed fetches keep from being seeds.
#[derive(Default)]
struct FailingPages {
    pages: PageSet,
    /// The unreachable sites and the number of their crawled pages. These pages are also in `pages`.
    unreachable: Vec<(SiteId, u64)>,
}

/// The number of days (UTC) after which a site that never answered is unreachable.
const UNREACHABLE_DAYS: usize = 3;

/// The failed fetches of a site.
#[derive(Clone, Copy, Default)]
struct SiteFailures {
    /// Those without an answer.
    unanswered: Option<Failures>,
    /// The time of the last one with an answer, such as an error of the server.
    answered: u64,
}

impl SiteFailures {
    fn add(&mut self, failures: Failures) {
        if failures.status.is_unanswered() {
            let all = self.unanswered.map_or(failures, |all| all.and(failures));
            self.unanswered = Some(all);
        } else {
            self.answered = self.answered.max(failures.last);
        }
    }

    /// Adds the failed fetches of a site in the store.
    fn read(store: &Store, site: SiteId) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for entry in store.scan_under(&tables::FAILURES, &site.0.to_be_bytes())? {
            found.add(entry?.1);
        }
        Ok(found)
    }

    /// Returns the crawled pages of the site if it is unreachable: if no fetch of any of its pages had an answer on the last
    /// days with a fetch, which are [`UNREACHABLE_DAYS`] or more.
    ///
    /// Cost: a scan of its pages, but only if there are as many days with failed fetches.
    fn unreachable(self, store: &Store, site: SiteId) -> Result<Option<PageSet>, StoreError> {
        let is_enough = |failures: &Failures| failures.days() >= UNREACHABLE_DAYS;
        let Some(failures) = self.unanswered.filter(is_enough) else {
            return Ok(None);
        };
        let (mut pages, mut answered) = (PageSet::new(), self.answered);
        for entry in store.scan_under(&tables::PAGES, &site.0.to_be_bytes())? {
            let (page, record) = entry?;
            answered = answered.max(record.fetched.unwrap_or(0));
            if record.state == PageState::Crawled {
                pages.insert(page.0);
            }
        }
        Ok(failures.after(answered).filter(is_enough).map(|_| pages))
    }
}

impl PageRules {
    /// Creates the rules for the current state of a bank.
    pub(crate) fn new(
        store: &Store,
        policy: PagePolicy,
        lists: PageLists,
        mode: SiteMode,
    ) -> Result<Self> {
        Ok(Self {
            policy,
            lists,
            documents: store.counters()?.documents,
            failing: None,
            mode,
        })
    }

    /// Returns why policies reject a page as a seed. All rules about single pages are tried here.
    fn reason(&self, page: &PageAttributes<'_>) -> Option<RejectionReason> {
        if self.has_lists() {
            let url = ingest::url(page.site, page.local, self.mode);
            let has = |list: &Option<Patterns>| Some(list.as_ref()?.has(page.site, &url));
            if has(&self.lists.exclude_from_graph) == Some(true) {
                return Some(RejectionReason::ExcludeFromGraph);
            }
            if has(&self.lists.exclude) == Some(true) {
                return Some(RejectionReason::Exclude);
            }
            if has(&self.lists.only) == Some(false) {
                return Some(RejectionReason::Only);
            }
        }
        if page.is_document {
            return Some(RejectionReason::Document);
        }
        if self.policy.min_quality > page.quality {
            return Some(RejectionReason::MinQuality);
        }
        if page.is_failing {
            return Some(RejectionReason::MaxFailures);
        }
        None
    }

    fn has_lists(&self) -> bool {
        let PageLists {
            exclude,
            only,
            exclude_from_graph,
        } = &self.lists;
        exclude.is_some() || only.is_some() || exclude_from_graph.is_some()
    }

    /// Whether every page may be a seed.
    pub(crate) fn allow_all(&self) -> bool {
        let none_fails = self.failing.as_ref().is_some_and(|of| of.pages.is_empty());
        self.others_allow_all() && (self.policy.max_failures == 0 || none_fails)
    }

    /// Returns the number of documents of the bank, which are never seeds.
    pub(crate) const fn documents(&self) -> u64 {
        self.documents
    }

    /// Whether no rule but that on failed fetches rejects pages.
    fn others_allow_all(&self) -> bool {
        let others = PagePolicy {
            max_failures: 0,
            ..self.policy
        };
        others == PagePolicy::default() && self.documents == 0
    }

    /// Reads the pages with too many failed fetches, for rules about many pages. Cost: one scan of all failed fetches,
    /// and none without a limit.
    pub(crate) fn read_failing(&mut self, store: &Store) -> Result<(), StoreError> {
        self.failing = Some(self.scan_failing(store, false)?);
        Ok(())
    }

    fn scan_failing(&self, store: &Store, is_local: bool) -> Result<FailingPages, StoreError> {
        let mut found = FailingPages::default();
        if self.policy.max_failures == 0 {
            return Ok(found);
        }
        let all = if is_local {
            store.scan_local(&tables::FAILURES)?
        } else {
            store.scan(&tables::FAILURES)?
        };
        let mut sites: BTreeMap<SiteId, SiteFailures> = BTreeMap::new();
        for entry in all {
            let (page, failures) = entry?;
            if failures.count() >= self.policy.max_failures {
                found.pages.insert(page.0);
            }
            sites.entry(page.site()).or_default().add(failures);
        }
        for (site, failures) in sites {
            if let Some(pages) = failures.unreachable(store, site)? {
                found.unreachable.push((site, pages.len()));
                found.pages |= pages;
            }
        }
        Ok(found)
    }

    /// Returns the number of pages that failed fetches keep from being seeds, if they were read.
    pub(crate) fn failing_pages(&self) -> u64 {
        self.failing
            .as_ref()
            .map_or(0, |failing| failing.pages.len())
    }

    /// Returns the unreachable sites with the number of their crawled pages, if they were read.
    pub(crate) fn unreachable_sites(&self) -> &[(SiteId, u64)] {
        self.failing
            .as_ref()
            .map_or(&[], |failing| &failing.unreachable)
    }

    fn is_failing(&self, store: &Store, page: PageId) -> Result<bool, StoreError> {
        if let Some(failing) = &self.failing {
            return Ok(failing.pages.contains(page.0));
        }
        if self.policy.max_failures == 0 {
            return Ok(false);
        }
        let failures = store.get(&tables::FAILURES, &page)?;
        if failures.is_some_and(|failures| failures.count() >= self.policy.max_failures) {
            return Ok(true);
        }
        let of_site = SiteFailures::read(store, page.site())?;
        let pages = of_site.unreachable(store, page.site())?;
        Ok(pages.is_some_and(|pages| pages.contains(page.0)))
    }

    /// Returns why policies reject a page as a seed, whatever its state. Cost: none if the failing pages were read, else a
    /// lookup, a scan of the failed fetches of its site, and one of the pages of the site if it may be unreachable.
    pub(crate) fn reason_of(
        &self,
        store: &Store,
        page: PageId,
        site: &str,
        record: &PageRecord,
    ) -> Result<Option<RejectionReason>, StoreError> {
        if self.allow_all() {
            return Ok(None);
        }
        Ok(self.reason(&PageAttributes {
            site,
            local: &record.local,
            quality: record.quality(),
            is_failing: self.is_failing(store, page)?,
            is_document: record.is_document(),
        }))
    }

    /// Returns why policies reject a page as a seed, whatever its state. `site` is the name of its site, if it is known.
    ///
    /// Cost: lookups of its record and its site if a policy depends on them.
    pub(crate) fn reason_of_page(
        &self,
        store: &Store,
        page: PageId,
        site: Option<&str>,
    ) -> Result<Option<RejectionReason>, StoreError> {
        if self.others_allow_all() {
            let is_failing = self.is_failing(store, page)?;
            return Ok(is_failing.then_some(RejectionReason::MaxFailures));
        }
        let record = store.need(&tables::PAGES, &page)?;
        if let Some(site) = site {
            return self.reason_of(store, page, site, &record);
        }
        let site = store.need(&tables::SITES, &page.site())?.name;
        self.reason_of(store, page, &site, &record)
    }

    /// Returns the line of the list of a reason that names a page; `None` if the reason is not a line of a list.
    pub(crate) fn line(
        &self,
        reason: RejectionReason,
        site: &str,
        record: &PageRecord,
    ) -> Option<String> {
        let list = match reason {
            RejectionReason::Exclude => &self.lists.exclude,
            RejectionReason::ExcludeFromGraph => &self.lists.exclude_from_graph,
            _ => return None,
        };
        let url = ingest::url(site, &record.local, self.mode);
        Some(list.as_ref()?.find(site, &url)?.to_owned())
    }

    /// Whether some pages may be excluded from the graph by their URLs.
    pub(crate) const fn exclude_from_graph(&self) -> bool {
        self.lists.exclude_from_graph.is_some()
    }

    /// Whether a page is excluded from the graph by its URL.
    pub(crate) fn is_excluded(&self, site: &str, record: &PageRecord) -> bool {
        let list = self.lists.exclude_from_graph.as_ref();
        list.is_some_and(|list| list.has(site, &ingest::url(site, &record.local, self.mode)))
    }
}

/// The rules of a plan about single pages.
#[derive(Clone, Copy)]
pub(crate) struct Eligibility<'a> {
    pub(crate) scope: PlanScope,
    pub(crate) rules: &'a PageRules,
}

impl Eligibility<'_> {
    /// Returns why a page is ineligible; first a reason to be excluded from the graph, if there is one. `is_excluded` tells
    /// whether its URL is, and `rejected` why policies reject it as a seed.
    fn first_reason<E>(
        self,
        state: PageState,
        spam: bool,
        is_excluded: impl FnOnce() -> Result<bool, E>,
        rejected: impl FnOnce() -> Result<Option<RejectionReason>, E>,
    ) -> Result<Option<Ineligible>, E> {
        if let Some(reason) = self.scope.graph.reason(state, spam) {
            return Ok(Some(reason));
        }
        if is_excluded()? {
            return Ok(Some(Ineligible::Policy(RejectionReason::ExcludeFromGraph)));
        }
        if let Some(reason) = self.scope.seeds.reason(state, spam) {
            return Ok(Some(reason));
        }
        Ok(rejected()?.map(Ineligible::Policy))
    }

    /// Returns why a page is ineligible; first a reason to be excluded from the graph, if there is one.
    pub(crate) fn reason(
        self,
        store: &Store,
        page: PageId,
        site: &str,
        record: &PageRecord,
    ) -> Result<Option<Ineligible>, StoreError> {
        let rules = self.rules;
        self.first_reason(
            record.state,
            record.spam,
            || Ok(rules.is_excluded(site, record)),
            || rules.reason_of(store, page, site, record),
        )
    }
}

/// What is needed of the rules about the pages of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JudgedFor {
    /// Which pages are in the graph.
    Graph,
    /// Also which of them may be seeds. The image must have the attributes of pages.
    Seeds,
}

/// The ineligible pages of a graph image, with the reasons.
///
/// Memory: 1 byte for each slot.
pub(crate) struct IneligiblePages {
    scope: PlanScope,
    by_slot: Vec<Option<Ineligible>>,
}

impl IneligiblePages {
    /// Computes the set. Those of ghosts are not known.
    ///
    /// Cost: a scan of all pages of the image if a policy depends on records, and one of failed fetches if there is a limit.
    pub(crate) fn of_image(
        store: &Store,
        image: &GraphImage,
        eligibility: Eligibility<'_>,
        judged_for: JudgedFor,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let Eligibility { scope, rules } = eligibility;
        let with_seeds = judged_for == JudgedFor::Seeds;
        let scanned = match &rules.failing {
            None if with_seeds => Some(rules.scan_failing(store, image.is_share())?),
            _ => None,
        };
        let failing = scanned.as_ref().or(rules.failing.as_ref());
        let is_failing =
            |page: PageId| failing.is_some_and(|failing| failing.pages.contains(page.0));
        let needs_records = rules.exclude_from_graph() || with_seeds && rules.has_lists();
        let from_records = if needs_records {
            read_records(store, image, watch, |page, site, record| {
                if with_seeds {
                    return rules.reason(&PageAttributes {
                        site,
                        local: &record.local,
                        quality: record.quality(),
                        is_failing: is_failing(page),
                        is_document: record.is_document(),
                    });
                }
                let excluded = rules.is_excluded(site, record);
                excluded.then_some(RejectionReason::ExcludeFromGraph)
            })?
        } else {
            Vec::new()
        };
        let rejection = |slot: u32| {
            if needs_records {
                return from_records[slot as usize];
            }
            let attributes = PageAttributes {
                site: "",
                local: "",
                quality: image.attributes(slot).quality,
                is_failing: is_failing(image.page(slot)),
                is_document: image.is_document(slot),
            };
            with_seeds.then(|| rules.reason(&attributes)).flatten()
        };
        let reason = |slot: u32| {
            let state = match (image.is_live(slot), image.is_crawled(slot)) {
                (true, true) => PageState::Crawled,
                (true, false) => PageState::Known,
                // An image does not know why a page is no page.
                (false, _) => return Some(Ineligible::Gone),
            };
            let rejection = rejection(slot);
            let is_excluded = rejection == Some(RejectionReason::ExcludeFromGraph);
            let is_excluded = || Ok::<_, std::convert::Infallible>(is_excluded);
            let spam = image.is_spam(slot);
            let Ok(reason) = eligibility.first_reason(state, spam, is_excluded, || Ok(rejection));
            reason
        };
        let slots = 0..number(image.slots());
        Ok(Self {
            scope,
            by_slot: slots.into_par_iter().map(reason).collect(),
        })
    }

    /// Returns why a page is ineligible; `None` if it may be a seed.
    pub(crate) fn reason(&self, slot: u32) -> Option<Ineligible> {
        self.by_slot[slot as usize]
    }

    /// Returns why a page is excluded from the graph; `None` if it is in the graph.
    pub(crate) fn graph_reason(&self, slot: u32) -> Option<Ineligible> {
        let reason = self.reason(slot);
        reason.filter(|reason| !self.scope.is_in_graph(*reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_of_a_state_counts() {
        let all = Admitted {
            spam: true,
            known: true,
        };
        let PlanScope { graph, seeds } = PlanScope::WEB;
        assert_eq!(graph, all);
        for (state, spam, reason) in [
            (PageState::Crawled, false, None),
            (PageState::Crawled, true, Some(Ineligible::Spam)),
            (PageState::Known, true, Some(Ineligible::Spam)),
            (PageState::Known, false, Some(Ineligible::NotCrawled)),
            (PageState::Gone, true, Some(Ineligible::Gone)),
            (PageState::Alias, false, Some(Ineligible::Alias)),
            (PageState::Unlinked, false, Some(Ineligible::Unlinked)),
        ] {
            assert_eq!(seeds.reason(state, spam), reason);
            let is_dead = reason.filter(|reason| !PlanScope::WEB.is_in_graph(*reason));
            assert_eq!(all.reason(state, spam), is_dead);
        }
    }

    #[test]
    fn a_reason_against_the_graph_comes_before_one_against_seeds() {
        let rules = PageRules::default();
        let eligibility = Eligibility {
            scope: PlanScope::WEB,
            rules: &rules,
        };
        let reason = |state, spam, excluded, rejected| {
            let (excluded, rejected) = (|| Ok::<_, ()>(excluded), || Ok(rejected));
            eligibility
                .first_reason(state, spam, excluded, rejected)
                .unwrap()
        };
        let excluded = Some(Ineligible::Policy(RejectionReason::ExcludeFromGraph));
        let quality = Some(RejectionReason::MinQuality);
        assert_eq!(reason(PageState::Known, true, true, quality), excluded);
        let spam = Some(Ineligible::Spam);
        assert_eq!(reason(PageState::Known, true, false, quality), spam);
        let rejected = quality.map(Ineligible::Policy);
        assert_eq!(reason(PageState::Crawled, false, false, quality), rejected);
        assert_eq!(reason(PageState::Crawled, false, false, None), None);
    }
}
