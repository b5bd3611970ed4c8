//! Facts about a site compared with sums over all its pages, on banks with random histories: states,
//! links with other sites in both directions, digests, plans; of all pages and of the first ones
//! alone. Catches links lost by rows of several carriers, pages that count twice, and orders by ids.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::histories::for_each_history;
use crate::support::model::pages_of;
use crate::support::plans::exact_cores;
use seedbank::engine::error::{ErrorKind, Hint};
use seedbank::engine::plan::{CoverMethod, Method, Value};
use seedbank::engine::query::{
    LinkedSite, PageView, RepeatedDigest, SiteAttributes, SiteFacts, SiteLimits, SiteLinkCounts,
};
use seedbank::engine::{Bank, EngineError, PlanOptions, RefreshRequest, Which};
use seedbank::ingest;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Reader, tables};

const LIMITS: SiteLimits = SiteLimits {
    sites: 2,
    digests: 2,
    examples: 2,
    pages: 1000,
};

/// A bank's pages by site and URL, and its pages with their links.
struct Whole {
    records: BTreeMap<String, BTreeMap<String, PageRecord>>,
    pages: BTreeMap<String, PageView>,
}

impl Whole {
    fn of(bank: &Bank) -> Self {
        let status = bank.status().unwrap();
        let reader = Reader::open(bank.path()).unwrap();
        let mut records: BTreeMap<String, BTreeMap<String, PageRecord>> = BTreeMap::new();
        for entry in reader.scan(&tables::SITES).unwrap() {
            records.entry(entry.unwrap().1.name).or_default();
        }
        for entry in reader.scan(&tables::PAGES).unwrap() {
            let (page, record): (PageId, PageRecord) = entry.unwrap();
            let site = reader.need(&tables::SITES, &page.site()).unwrap().name;
            let url = ingest::url(&site, &record.local, status.site_mode);
            records.entry(site).or_default().insert(url, record);
        }
        Self {
            records,
            pages: pages_of(bank),
        }
    }

    /// Links between pages, of which one is among those examined and the other on another site, by the
    /// other's site.
    fn links(&self, site: &str, examined: &BTreeSet<&String>, is_from: bool) -> SiteLinkCounts {
        let mut counts: BTreeMap<&String, (u64, BTreeSet<&String>)> = BTreeMap::new();
        for (from, page) in &self.pages {
            for to in &page.outlinks {
                let (ours, theirs) = if is_from { (from, to) } else { (to, from) };
                let other = &self.pages[theirs].site;
                if examined.contains(ours) && other != site {
                    let (links, pages) = counts.entry(other).or_default();
                    *links += 1;
                    pages.insert(theirs);
                }
            }
        }
        let mut by_site: Vec<LinkedSite> = counts
            .iter()
            .map(|(site, (links, pages))| LinkedSite {
                site: (*site).clone(),
                links: *links,
                pages: pages.len() as u64,
            })
            .collect();
        by_site.sort_by(|a, b| b.links.cmp(&a.links).then(a.site.cmp(&b.site)));
        let links = by_site.iter().map(|site| site.links).sum();
        let pages = by_site.iter().map(|site| site.pages).sum();
        by_site.truncate(LIMITS.sites);
        SiteLinkCounts {
            links,
            pages,
            sites: counts.len() as u64,
            by_site,
        }
    }

    fn judge(&self, site: &str, facts: &SiteFacts, most: usize) {
        let records = &self.records[site];
        let examined: Vec<(&String, &PageRecord)> = records.iter().take(most).collect();
        assert_eq!(facts.examined, examined.len() as u64, "{site}");
        assert_eq!(facts.complete, examined.len() == records.len(), "{site}");
        let all = |state| records.values().filter(|page| page.state == state).count() as u64;
        let some = |state| examined.iter().filter(|page| page.1.state == state).count() as u64;
        assert_eq!(facts.pages.known, all(PageState::Known));
        assert_eq!(facts.pages.crawled, all(PageState::Crawled));
        assert_eq!(facts.pages.gone, all(PageState::Gone));
        assert_eq!(facts.pages.aliases, some(PageState::Alias));
        assert_eq!(facts.pages.unlinked, some(PageState::Unlinked));
        let spam = records
            .values()
            .filter(|page| page.spam && page.state.is_live());
        assert_eq!(facts.pages.spam, spam.count() as u64);
        let urls: BTreeSet<&String> = examined.iter().map(|(url, _)| *url).collect();
        assert_eq!(facts.links_to, self.links(site, &urls, true), "{site}");
        assert_eq!(facts.linked_from, self.links(site, &urls, false), "{site}");
        let everything = self.links(site, &records.keys().collect(), true);
        assert_eq!(facts.inter_links, everything.links);
        let inside = self.pages.values().filter(|page| page.site == site);
        let inside = inside.flat_map(|page| &page.outlinks);
        let inside = inside.filter(|to| self.pages[*to].site == site);
        assert_eq!(facts.intra_links, inside.count() as u64);
        let digest =
            |record: &PageRecord| record.digest.filter(|_| record.state == PageState::Crawled);
        let with: Vec<_> = records.values().filter_map(digest).collect();
        assert_eq!(facts.digests.pages, with.len() as u64);
        assert_eq!(
            facts.digests.distinct,
            with.iter().collect::<BTreeSet<_>>().len() as u64
        );
        let mut groups: BTreeMap<_, Vec<&String>> = BTreeMap::new();
        for (url, record) in examined {
            if let Some(digest) = digest(record) {
                groups.entry(digest).or_default().push(url);
            }
        }
        let mut groups: Vec<Vec<&String>> = groups.into_values().collect();
        groups.retain(|urls| urls.len() > 1);
        groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        let repeated = groups
            .iter()
            .take(LIMITS.digests)
            .map(|urls| RepeatedDigest {
                pages: urls.len() as u64,
                examples: urls
                    .iter()
                    .take(LIMITS.examples)
                    .map(|url| (*url).clone())
                    .collect(),
            });
        assert_eq!(
            facts.digests.repeated,
            repeated.collect::<Vec<_>>(),
            "{site}"
        );
    }
}

fn refresh(bank: &Bank, plan: &str, options: PlanOptions) {
    let request = RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(options),
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap();
}

#[test]
fn what_is_told_of_a_site_is_what_its_pages_come_to() {
    for_each_history(20, 0, |bank, _| {
        let cores = PlanOptions {
            seeds: Some(4),
            ..PlanOptions::default()
        };
        let per_site = PlanOptions {
            method: Some(Method::Cover(CoverMethod::Greedy)),
            per_site: Some(1),
            ..PlanOptions::default()
        };
        refresh(bank, "a-cores", cores);
        refresh(bank, "b-cover", per_site);
        let whole = Whole::of(bank);
        let given = crate::support::model::given_of(bank);
        let bank = bank.pinned().unwrap();
        for site in whole.records.keys() {
            for most in [1000, 0, 1, 3] {
                let limits = SiteLimits {
                    pages: most as u64,
                    ..LIMITS
                };
                let facts = bank.site(site, limits).unwrap();
                assert_eq!(facts.site, *site);
                whole.judge(site, &facts, most);
                let kept = given.get(site).copied().unwrap_or_default();
                let kept = SiteAttributes {
                    quality: kept.quality.map(|quality| Value(i64::from(quality) * 100)),
                    spam: kept.spam,
                    quota: kept.quota,
                };
                assert_eq!(facts.attributes, kept);
                let plans: Vec<&str> = facts.plans.iter().map(|of| &*of.run.plan).collect();
                assert_eq!(plans, ["a-cores", "b-cover"]);
                for of in &facts.plans {
                    let which = Which {
                        plan: Some(of.run.plan.clone()),
                        refresh: None,
                    };
                    let told = bank.explain_site(site, &which).unwrap();
                    assert_eq!((&told.run, &told.why), (&of.run, &of.why));
                    assert_eq!(told.by_policy, of.by_policy);
                }
            }
        }
    });
}

#[test]
fn a_site_that_is_not_known_has_those_that_may_be_meant() {
    let bank = crate::support::banks::TestBank::new();
    let sites = [
        "news.example.org",
        "newer.example",
        "news.example.com",
        "old.example",
    ];
    let lines = sites.map(|site| format!("{{\"url\": \"http://{site}/\"}}\n"));
    bank.delta(&lines.concat());
    let near = |name: &str| {
        let error = bank.bank.site(name, LIMITS).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(matches!(error, EngineError::UnknownSite { .. }), "{error}");
        match error.hint() {
            Some(Hint::NearestSites(sites)) => sites,
            Some(Hint::NameSite) => Vec::new(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(near("news")[..2], ["news.example.com", "news.example.org"]);
    let beside = ["news.example.com", "news.example.org", "newer.example"];
    assert_eq!(near("news.example.net"), beside);
    assert_eq!(near("zebra.example"), [""; 0]);
    let error = bank.bank.site("a b", LIMITS).unwrap_err();
    assert!(matches!(error, EngineError::InvalidUrl { .. }), "{error}");
    let named = |name: &str| bank.bank.site(name, LIMITS).unwrap().site;
    assert_eq!(named("OLD.example"), "old.example");
    assert_eq!(named("https://old.example/x"), "old.example");
}
