//! Facts about pages and sites, links and searches, compared with a scan of everything that a bank has, on banks with
//! random histories, site modes and spellings of URLs.
//!
//! Families of cases, and what they catch:
//! * facts about a page and its links by site: links that count twice or in one direction only, rows of which not every
//!   carrier counts, examples ordered by ids;
//! * links window by window, also of one site: windows that overlap or omit pages, orders by ids;
//! * facts about a site, of all its pages and of the first ones: links lost by rows of several carriers, pages that count
//!   twice;
//! * searches at every limit: orders by ids, pages of another host, incomplete results that are called complete, forgotten
//!   pages that are found.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::{TestBank, seeds_of};
use crate::support::command::record;
use crate::support::histories::for_each_history;
use crate::support::model::{given_of, pages_of};
use crate::support::plans::{exact_cores, plan};
use seedbank::engine::error::{ErrorKind, Hint, RequestError};
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::plan::Value;
use seedbank::engine::query::{
    FoundPage, LinkDirection, LinkedPage, LinkedRequest, LinkedSite, LinksBySite, PageLimits,
    PageView, RepeatedDigest, SearchLimits, SiteAttributes, SiteFacts, SiteLimits, SiteLinkCounts,
    SiteLinks,
};
use seedbank::engine::{Bank, EngineError, RefreshRequest};
use seedbank::ingest::{self, Naming};
use seedbank::watch::Watch;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Reader, tables};

const PLANS: [&str; 2] = ["a-cores", "b-cover"];

/// Everything that a bank has.
struct Whole {
    naming: Naming,
    sites: Vec<String>,
    records: BTreeMap<String, BTreeMap<String, PageRecord>>,
    pages: BTreeMap<String, PageView>,
}

impl Whole {
    fn of(bank: &Bank) -> Self {
        let status = bank.status().unwrap();
        let naming = status.site_mode.with(status.url_rules);
        let reader = Reader::open(bank.path()).unwrap();
        let sites = reader.scan(&tables::SITE_IDS).unwrap();
        let sites = sites.map(|entry| entry.unwrap().0).collect();
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
            naming,
            sites,
            records,
            pages: pages_of(bank),
        }
    }

    /// The pages that a page links to, or that link to it, by site and URL.
    fn linked(&self, url: &str, direction: LinkDirection) -> Vec<&PageView> {
        let mut linked: Vec<&PageView> = match direction {
            LinkDirection::Out => self.pages[url]
                .outlinks
                .iter()
                .map(|to| &self.pages[to])
                .collect(),
            LinkDirection::In => {
                let linking = self
                    .pages
                    .values()
                    .filter(|page| page.outlinks.iter().any(|to| to == url));
                linking.collect()
            }
        };
        linked.sort_by(|a, b| (&a.site, &a.url).cmp(&(&b.site, &b.url)));
        linked
    }
}

#[test]
fn answers_are_those_of_a_scan_of_everything() {
    for_each_history(20, 0, |bank, _| {
        for (name, options) in PLANS
            .into_iter()
            .zip([plan("seeds=4"), plan("method=greedy per-site=1")])
        {
            let request = RefreshRequest {
                plan: Some(name.to_owned()),
                options: exact_cores(options),
                ..RefreshRequest::default()
            };
            bank.refresh(&request).unwrap();
        }
        let whole = Whole::of(bank);
        let pinned = bank.pinned().unwrap();
        judge_pages(&pinned, &whole);
        judge_sites(&pinned, &whole);
        judge_searches(&pinned, &whole);
        // A forgotten page is not found.
        if let Some(url) = whole.pages.keys().next() {
            let request = ForgetRequest {
                what: vec![url.clone()],
                ..ForgetRequest::default()
            };
            bank.forget(&request).unwrap();
            let found = bank.search(url, ALL).unwrap();
            assert_eq!(found.page, None);
            assert!(found.pages.iter().all(|page| page.url != *url));
            judge_searches(bank, &Whole::of(bank));
        }
    });
}

const FACTS: PageLimits = PageLimits {
    sites: 2,
    examples: 2,
};

fn by_site(pages: &[&PageView]) -> LinksBySite {
    let mut sites: Vec<SiteLinks> = pages
        .chunk_by(|a, b| a.site == b.site)
        .map(|pages| SiteLinks {
            site: pages[0].site.clone(),
            pages: pages.len() as u64,
            examples: pages
                .iter()
                .take(FACTS.examples)
                .map(|page| page.url.clone())
                .collect(),
        })
        .collect();
    let all = sites.len() as u64;
    sites.sort_by(|a, b| b.pages.cmp(&a.pages).then(a.site.cmp(&b.site)));
    sites.truncate(FACTS.sites);
    LinksBySite {
        pages: pages.len() as u64,
        sites: all,
        by_site: sites,
    }
}

/// The answer about the links of a page, put together from windows.
fn windows(bank: &Bank, url: &str, request: &LinkedRequest) -> (u64, Vec<LinkedPage>) {
    let mut all = Vec::new();
    loop {
        let offset = all.len() as u64;
        let request = LinkedRequest {
            offset,
            ..request.clone()
        };
        let answer = bank.linked(url, &request).unwrap();
        assert_eq!((&*answer.url, answer.offset), (url, offset));
        assert!(answer.linked.len() <= request.limit);
        if answer.linked.is_empty() {
            return (answer.pages, all);
        }
        all.extend(answer.linked);
    }
}

fn judge_pages(bank: &Bank, whole: &Whole) {
    let mut seeds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for plan in PLANS {
        for seed in seeds_of(bank, plan) {
            seeds.entry(seed.url).or_default().push(plan.to_owned());
        }
    }
    let explainer = bank.explainer(PLANS[0]).unwrap();
    for (url, page) in &whole.pages {
        let facts = bank.page(url, FACTS).unwrap();
        assert_eq!((facts.state, facts.spam), (page.state, page.spam), "{url}");
        assert_eq!(facts.uncrawled_outlinks, page.uncrawled_outlinks, "{url}");
        assert_eq!(
            facts.plans[0].why,
            explainer.page(url).unwrap().why,
            "{url}"
        );
        for (direction, links) in [
            (LinkDirection::In, &facts.inlinks),
            (LinkDirection::Out, &facts.outlinks),
        ] {
            let linked = whole.linked(url, direction);
            assert_eq!(*links, by_site(&linked), "{url}");
            let linked = linked.into_iter().map(|page| LinkedPage {
                url: page.url.clone(),
                site: page.site.clone(),
                state: page.state,
                spam: page.spam,
                seed_of: seeds.get(&page.url).cloned().unwrap_or_default(),
            });
            let linked: Vec<LinkedPage> = linked.collect();
            let request = LinkedRequest {
                direction,
                limit: 2,
                ..LinkedRequest::default()
            };
            let all = (linked.len() as u64, linked.clone());
            assert_eq!(windows(bank, url, &request), all);
            let sites: BTreeSet<&String> = whole.pages.values().map(|page| &page.site).collect();
            for site in sites {
                let mut of_site = linked.clone();
                of_site.retain(|page| page.site == *site);
                let request = LinkedRequest {
                    site: Some(site.clone()),
                    ..request.clone()
                };
                let all = (of_site.len() as u64, of_site);
                assert_eq!(windows(bank, url, &request), all);
            }
        }
    }
}

const SITE_LIMITS: SiteLimits = SiteLimits {
    sites: 2,
    digests: 2,
    examples: 2,
    pages: 1000,
};

impl Whole {
    /// Links between pages of which one is examined and the other is on another site, by the other's site.
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
        let by_site = counts.iter().map(|(site, (links, pages))| LinkedSite {
            site: (*site).clone(),
            links: *links,
            pages: pages.len() as u64,
        });
        let mut by_site: Vec<LinkedSite> = by_site.collect();
        by_site.sort_by(|a, b| b.links.cmp(&a.links).then(a.site.cmp(&b.site)));
        let links = by_site.iter().map(|site| site.links).sum();
        let pages = by_site.iter().map(|site| site.pages).sum();
        by_site.truncate(SITE_LIMITS.sites);
        SiteLinkCounts {
            links,
            pages,
            sites: counts.len() as u64,
            by_site,
        }
    }

    fn judge_site(&self, site: &str, facts: &SiteFacts, most: usize) {
        let records = &self.records[site];
        let examined: Vec<(&String, &PageRecord)> = records.iter().take(most).collect();
        assert_eq!(facts.examined, examined.len() as u64, "{site}");
        assert_eq!(facts.complete, examined.len() == records.len(), "{site}");
        let all = |state| records.values().filter(|page| page.state == state).count() as u64;
        let some = |state| examined.iter().filter(|page| page.1.state == state).count() as u64;
        let spam = records
            .values()
            .filter(|page| page.spam && page.state.is_live());
        let pages = facts.pages;
        let found = [
            pages.known,
            pages.crawled,
            pages.gone,
            pages.aliases,
            pages.unlinked,
            pages.spam,
        ];
        let expected = [
            all(PageState::Known),
            all(PageState::Crawled),
            all(PageState::Gone),
            some(PageState::Alias),
            some(PageState::Unlinked),
            spam.count() as u64,
        ];
        assert_eq!(found, expected, "{site}");
        let urls: BTreeSet<&String> = examined.iter().map(|(url, _)| *url).collect();
        assert_eq!(facts.links_to, self.links(site, &urls, true), "{site}");
        assert_eq!(facts.linked_from, self.links(site, &urls, false), "{site}");
        let everything = self.links(site, &records.keys().collect(), true);
        assert_eq!(facts.inter_links, everything.links);
        let inside = self.pages.values().filter(|page| page.site == site);
        let inside = inside.flat_map(|page| &page.outlinks);
        let inside = inside.filter(|to| self.pages[*to].site == site);
        assert_eq!(facts.intra_links, inside.count() as u64);
        let digest = |page: &PageRecord| page.digest.filter(|_| page.state == PageState::Crawled);
        let digests: Vec<_> = records.values().filter_map(digest).collect();
        let distinct: BTreeSet<_> = digests.iter().collect();
        let counts = (facts.digests.pages, facts.digests.distinct);
        assert_eq!(counts, (digests.len() as u64, distinct.len() as u64));
        let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for (url, record) in examined {
            if let Some(digest) = digest(record) {
                groups.entry(digest).or_default().push(url.clone());
            }
        }
        let mut groups: Vec<Vec<String>> =
            groups.into_values().filter(|urls| urls.len() > 1).collect();
        groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        let repeated = groups
            .into_iter()
            .take(SITE_LIMITS.digests)
            .map(|mut urls| {
                let pages = urls.len() as u64;
                urls.truncate(SITE_LIMITS.examples);
                RepeatedDigest {
                    pages,
                    examples: urls,
                }
            });
        assert_eq!(
            facts.digests.repeated,
            repeated.collect::<Vec<_>>(),
            "{site}"
        );
    }
}

fn judge_sites(bank: &Bank, whole: &Whole) {
    let attributes = given_of(bank);
    for site in whole.records.keys() {
        for most in [1000, 0, 1, 3] {
            let limits = SiteLimits {
                pages: most as u64,
                ..SITE_LIMITS
            };
            let facts = bank.site(site, limits).unwrap();
            assert_eq!(facts.site, *site);
            whole.judge_site(site, &facts, most);
            let of_site = attributes.get(site).copied().unwrap_or_default();
            let of_site = SiteAttributes {
                quality: of_site
                    .quality
                    .map(|quality| Value(i64::from(quality) * 100)),
                spam: of_site.spam,
                quota: of_site.quota,
            };
            assert_eq!(facts.attributes, of_site);
            let plans: Vec<&str> = facts.plans.iter().map(|plan| &*plan.run.plan).collect();
            assert_eq!(plans, PLANS);
            for plan in &facts.plans {
                let explained = bank.explain_site(site, &*plan.run.plan).unwrap();
                assert_eq!((&explained.run, &explained.why), (&plan.run, &plan.why));
                assert_eq!(explained.by_policy, plan.by_policy);
            }
        }
    }
}

const ALL: SearchLimits = SearchLimits {
    sites: usize::MAX,
    pages: usize::MAX,
    examined: u64::MAX,
};

/// Texts, and how URLs have them: in lower case and punycode.
const TEXTS: [(&str, &str); 19] = [
    ("a.example", "a.example"),
    (" A.Example/X ", "a.example/x"),
    ("www.a.example", "www.a.example"),
    ("http://a.example/", "http://a.example/"),
    (
        "https://www.a.example:8443/x",
        "https://www.a.example:8443/x",
    ),
    ("b.example/x?q=1", "b.example/x?q=1"),
    ("B.example:8080", "b.example:8080"),
    ("x", "x"),
    ("xn--", "xn--"),
    ("bücher.example", "xn--bcher-kva.example"),
    ("http://Bücher.example/x", "http://xn--bcher-kva.example/x"),
    ("bücher", "xn--bcher-kva"),
    ("/x", "/x"),
    ("?q=1", "?q=1"),
    ("c.co.uk", "c.co.uk"),
    ("news.c.co.uk/x", "news.c.co.uk/x"),
    ("nothing", "nothing"),
    ("http://", "http://"),
    (".", "."),
];

impl Whole {
    /// The site that a text begins with.
    fn own(&self, text: &str) -> Option<String> {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap();
        let site = ingest::parse(&format!("http://{host}/"), self.naming)
            .ok()?
            .site;
        let begins = host.starts_with(|c: char| c.is_alphanumeric());
        (begins && self.sites.contains(&site)).then_some(site)
    }

    fn sites_with(&self, text: &str, part: &str) -> Vec<&str> {
        let own = self.own(text);
        let host = part.split_once("://").map_or(part, |(_, rest)| rest);
        let sites = || self.sites.iter().map(String::as_str);
        let mut found: Vec<&str> = sites()
            .filter(|site| Some(*site) == own.as_deref())
            .collect();
        if host.is_empty() || host.contains(['/', '?']) {
            return found;
        }
        let others = sites().filter(|site| Some(*site) != own.as_deref());
        let (begin, rest): (Vec<_>, Vec<_>) = others.partition(|site| site.starts_with(host));
        found.extend(begin);
        found.extend(rest.into_iter().filter(|site| site.contains(host)));
        found
    }

    fn pages_with(&self, text: &str, part: &str) -> Vec<FoundPage> {
        let own = self.own(text);
        let mut found = Vec::new();
        for (site, pages) in &self.records {
            for (url, record) in pages.iter().filter(|(_, record)| !record.is_nameless()) {
                if url.to_lowercase().contains(part) {
                    found.push(FoundPage {
                        url: url.clone(),
                        site: site.clone(),
                        state: record.state,
                        spam: record.spam,
                    });
                }
            }
        }
        found.sort_by_key(|page| Some(&page.site) != own.as_ref());
        found
    }

    /// The page that a text names.
    fn named(&self, text: &str) -> Option<String> {
        let rest = text.trim_start_matches('/');
        let urls = match text {
            _ if text.contains("://") => vec![text.to_owned()],
            _ if text.starts_with('?') => Vec::new(),
            _ => vec![format!("https://{rest}"), format!("http://{rest}")],
        };
        urls.iter().find_map(|url| {
            let at = ingest::parse(url, self.naming).ok()?;
            let url = at.url(self.naming.sites);
            let page = self.records.get(&at.site)?.get(&url)?;
            (!page.is_nameless()).then_some(url)
        })
    }
}

fn judge_searches(bank: &Bank, whole: &Whole) {
    for (text, part) in TEXTS {
        let search = |limits| {
            let found = bank.search(text, limits).unwrap();
            let sites = found.sites.iter().map(|site| site.site.clone());
            (sites.collect::<Vec<String>>(), found)
        };
        let (sites, found) = search(ALL);
        let text = text.trim();
        let (all, all_sites) = (whole.pages_with(text, part), whole.sites_with(text, part));
        assert_eq!(found.query, text);
        assert_eq!(found.page.map(|page| page.url), whole.named(text), "{text}");
        assert_eq!((&found.pages, found.complete), (&all, true), "{text}");
        assert_eq!(sites, all_sites, "{text}");
        for most in [0, 1, 2, all.len()] {
            let (some_sites, some) = search(SearchLimits {
                sites: most,
                pages: most,
                examined: u64::MAX,
            });
            assert_eq!(some.pages, all[..most.min(all.len())], "{text}");
            assert_eq!(some_sites, all_sites[..most.min(all_sites.len())]);
            let are_all = all.len() <= most && all_sites.len() <= most;
            assert_eq!(some.complete, are_all, "{text} {most}");
        }
        let needed = found.examined;
        for examined in [0, 1, 3, 9, needed.saturating_sub(1), needed, 2 * needed] {
            let (some_sites, some) = search(SearchLimits { examined, ..ALL });
            assert!(some.examined <= examined, "{text}");
            assert!(
                all.starts_with(&some.pages) && sites.starts_with(&some_sites),
                "{text}"
            );
            let has_all = some.pages == all && some_sites == sites;
            assert!(!some.complete || has_all, "{text}");
            assert!(examined < 2 * needed || some.complete, "{text}");
        }
    }
}

/// Windows of the links to a page with links from more sites and pages than are sorted in memory.
#[test]
fn windows_of_very_many_links() {
    let bank = TestBank::new();
    let mut lines = String::new();
    let mut urls = Vec::new();
    // The order of ids is not that of names.
    for number in (0..1100).rev() {
        for url in [
            format!("http://s{number:04}.example/"),
            format!("http://big.example/{number:04}"),
        ] {
            lines += &record(&url, &["http://hot.example/"]);
            urls.push(url);
        }
    }
    bank.delta(&lines);
    urls.sort();
    let linked = |site: Option<&str>, offset, limit| {
        let request = LinkedRequest {
            site: site.map(str::to_owned),
            offset,
            limit,
            ..LinkedRequest::default()
        };
        let answer = bank.bank.linked("http://hot.example/", &request)?;
        let urls = answer.linked.into_iter().map(|page| page.url);
        Ok::<_, EngineError>((answer.pages, urls.collect::<Vec<String>>()))
    };
    for (from, limit) in [
        (0, 3),
        (1098, 5),
        (1100, 1),
        (2199, 9),
        (2200, 1),
        (u64::MAX, 1),
        (5, 0),
    ] {
        let after = urls.iter().skip(usize::try_from(from).unwrap());
        let expected = (2200, after.take(limit).cloned().collect());
        assert_eq!(linked(None, from, limit).unwrap(), expected, "{from}");
    }
    let last = (1100, vec!["http://big.example/1099".to_owned()]);
    assert_eq!(linked(Some("BIG.example"), 1099, 9).unwrap(), last);
    let error = linked(Some("hat.example"), 0, 9).unwrap_err();
    assert!(matches!(error, EngineError::UnknownSite { .. }), "{error}");
}

#[test]
fn an_unknown_site_has_hints() {
    let bank = TestBank::new();
    let sites = [
        "news.example.org",
        "newer.example",
        "news.example.com",
        "old.example",
    ];
    let lines = sites.map(|site| format!("{{\"url\": \"http://{site}/\"}}\n"));
    bank.delta(&lines.concat());
    let site = |name: &str| bank.bank.site(name, SITE_LIMITS);
    let hints = |name: &str| {
        let error = site(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        match error.hint() {
            Some(Hint::NearestSites(sites)) => sites,
            Some(Hint::NameSite) => Vec::new(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(hints("news")[..2], ["news.example.com", "news.example.org"]);
    let near = ["news.example.com", "news.example.org", "newer.example"];
    assert_eq!(hints("news.example.net"), near);
    assert_eq!(hints("zebra.example"), [""; 0]);
    assert!(matches!(site("a b"), Err(EngineError::InvalidUrl { .. })));
    for name in ["OLD.example", "https://old.example/x"] {
        assert_eq!(site(name).unwrap().site, "old.example");
    }
}

/// Stops at once.
pub struct Stopped;

impl Watch for Stopped {
    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn searches_for_odd_texts_and_stopped_searches() {
    let bank = TestBank::new();
    for text in ["", " \t\n"] {
        let error = bank.bank.search(text, ALL).unwrap_err();
        assert!(matches!(
            error,
            EngineError::Request(RequestError::NothingToFind)
        ));
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    assert!(bank.bank.search("a", ALL).unwrap().complete);
    let lines = (0..5000).map(|page| record(&format!("http://a.example/{page}"), &[]));
    bank.delta(&lines.collect::<String>());
    let stopped = bank.bank.watched(Stopped).search("none", ALL);
    assert!(matches!(stopped, Err(EngineError::Interrupted(_))));
    // Escaped characters of URLs can be typed as they are.
    bank.delta("{\"url\": \"http://a.example/caf%C3%A9/a%20b\"}\n");
    for text in ["café", "CAF%c3%a9/a b", "http://a.example/café"] {
        assert_eq!(
            bank.bank.search(text, ALL).unwrap().pages.len(),
            1,
            "{text}"
        );
    }
    for text in [&*"long".repeat(50_000), "\u{202e}", "%"] {
        bank.bank.search(text, ALL).unwrap();
    }
}
