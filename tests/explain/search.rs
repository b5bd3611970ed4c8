//! Search results compared with a scan of every name in the bank, on banks with random histories, site
//! modes and spellings of URLs: which sites and pages, in which order, at which limits. Catches orders
//! by ids, pages of another host, and incomplete results reported as complete.

use std::collections::BTreeMap;

use crate::support::command::record;
use crate::support::histories::for_each_history;
use seedbank::engine::error::{ErrorKind, RequestError};
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::query::{FoundPage, SearchLimits, SearchResult};
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::{self, Naming};
use seedbank::watch::Watch;
use seedbank_store::records::PageState;
use seedbank_store::{Reader, tables};

const ALL: SearchLimits = SearchLimits {
    sites: usize::MAX,
    pages: usize::MAX,
    examined: u64::MAX,
};

/// Texts, and how URLs have them: in lower case and punycode.
const TEXTS: [(&str, &str); 21] = [
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
    ("example", "example"),
    ("/x", "/x"),
    ("?q=1", "?q=1"),
    ("c.co.uk", "c.co.uk"),
    ("news.c.co.uk/x", "news.c.co.uk/x"),
    ("8080", "8080"),
    ("nothing", "nothing"),
    ("http://", "http://"),
    (".", "."),
];

/// The names of a bank's sites, and its pages by site and URL.
struct Names {
    naming: Naming,
    sites: Vec<String>,
    pages: BTreeMap<(String, String), (PageState, bool)>,
}

impl Names {
    fn of(bank: &Bank) -> Self {
        let status = bank.status().unwrap();
        let naming = status.site_mode.with(status.url_rules);
        let reader = Reader::open(bank.path()).unwrap();
        let sites = reader.scan(&tables::SITE_IDS).unwrap();
        let sites: Vec<String> = sites.map(|entry| entry.unwrap().0).collect();
        let mut pages = BTreeMap::new();
        for entry in reader.scan(&tables::PAGES).unwrap() {
            let (page, record) = entry.unwrap();
            if record.is_nameless() {
                continue;
            }
            let site = reader.need(&tables::SITES, &page.site()).unwrap().name;
            let url = ingest::url(&site, &record.local, naming.sites);
            pages.insert((site, url), (record.state, record.spam));
        }
        Self {
            naming,
            sites,
            pages,
        }
    }

    fn host(text: &str) -> &str {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap()
    }

    /// The site that a text begins with.
    fn own(&self, text: &str) -> Option<String> {
        let host = Self::host(text);
        let begins = host.starts_with(|c: char| c.is_alphanumeric());
        let site = ingest::parse(&format!("http://{host}/"), self.naming)
            .ok()?
            .site;
        (begins && self.sites.contains(&site)).then_some(site)
    }

    fn sites(&self, text: &str, part: &str) -> Vec<String> {
        let own = self.own(text);
        let host = part.split_once("://").map_or(part, |(_, rest)| rest);
        let mut found: Vec<String> = own.iter().cloned().collect();
        if host.is_empty() || host.contains(['/', '?']) {
            return found;
        }
        let others = self.sites.iter().filter(|site| Some(*site) != own.as_ref());
        let (begin, rest): (Vec<_>, Vec<_>) = others.partition(|site| site.starts_with(host));
        found.extend(begin.into_iter().cloned());
        found.extend(rest.into_iter().filter(|site| site.contains(host)).cloned());
        found
    }

    fn pages(&self, text: &str, part: &str) -> Vec<FoundPage> {
        let own = self.own(text);
        let fits = |url: &str| url.to_lowercase().contains(part);
        let fitting = self.pages.iter().filter(|((_, url), _)| fits(url));
        let mut found: Vec<FoundPage> = fitting
            .map(|((site, url), &(state, spam))| FoundPage {
                url: url.clone(),
                site: site.clone(),
                state,
                spam,
            })
            .collect();
        found.sort_by_key(|page| Some(&page.site) != own.as_ref());
        found
    }

    fn named(&self, text: &str) -> Option<String> {
        let urls = match text.contains("://") {
            true => vec![text.to_owned()],
            false if text.starts_with('?') => Vec::new(),
            false => {
                let text = text.trim_start_matches('/');
                vec![format!("https://{text}"), format!("http://{text}")]
            }
        };
        urls.iter().find_map(|url| {
            let at = ingest::parse(url, self.naming).ok()?;
            let url = at.url(self.naming.sites);
            self.pages
                .contains_key(&(at.site, url.clone()))
                .then_some(url)
        })
    }
}

fn searched(bank: &Bank, text: &str, limits: SearchLimits) -> SearchResult {
    bank.search(text, limits).unwrap()
}

fn sites(found: &SearchResult) -> Vec<&String> {
    found.sites.iter().map(|site| &site.site).collect()
}

fn judged(bank: &Bank) {
    let names = Names::of(bank);
    let pinned = bank.pinned().unwrap();
    for (text, part) in TEXTS {
        let found = searched(&pinned, text, ALL);
        let (text, all) = (text.trim(), names.pages(text.trim(), part));
        assert_eq!(found.query, text);
        assert_eq!(found.page.map(|page| page.url), names.named(text), "{text}");
        assert_eq!(found.pages, all, "{text}");
        let all_sites = names.sites(text, part);
        assert_eq!(
            sites(&searched(&pinned, text, ALL)),
            all_sites.iter().collect::<Vec<_>>(),
            "{text}"
        );
        assert!(found.complete, "{text}");
        for most in [0, 1, 2, all.len()] {
            let limits = SearchLimits {
                sites: most,
                pages: most,
                examined: u64::MAX,
            };
            let some = searched(&pinned, text, limits);
            assert_eq!(some.pages, all[..most.min(all.len())], "{text}");
            assert_eq!(
                sites(&some),
                all_sites[..most.min(all_sites.len())]
                    .iter()
                    .collect::<Vec<_>>()
            );
            let are_all = all.len() <= most && all_sites.len() <= most;
            assert_eq!(some.complete, are_all, "{text} {most}");
        }
        for examined in [
            0,
            1,
            3,
            9,
            found.examined.saturating_sub(1),
            found.examined,
            2 * found.examined,
        ] {
            let some = searched(&pinned, text, SearchLimits { examined, ..ALL });
            assert!(some.examined <= examined, "{text}");
            assert!(all.starts_with(&some.pages), "{text}");
            assert!(
                all_sites
                    .iter()
                    .collect::<Vec<_>>()
                    .starts_with(&sites(&some)),
                "{text}"
            );
            assert!(
                !some.complete || (some.pages == all && some.sites == found.sites),
                "{text}"
            );
            assert!(examined < 2 * found.examined || some.complete, "{text}");
        }
    }
}

#[test]
fn what_is_found_is_what_a_look_at_every_name_finds() {
    for_each_history(30, 0, |bank, _| judged(bank));
}

#[test]
fn what_was_forgotten_is_not_found() {
    for_each_history(6, 0, |bank, _| {
        let names = Names::of(bank);
        let Some((_, url)) = names.pages.keys().next() else {
            return;
        };
        let request = ForgetRequest {
            what: vec![url.clone()],
            ..ForgetRequest::default()
        };
        bank.forget(&request).unwrap();
        let found = searched(bank, url, ALL);
        assert_eq!(found.page, None);
        assert!(found.pages.iter().all(|page| page.url != *url));
        judged(bank);
    });
}

/// Stops at once.
struct Stopped;

impl Watch for Stopped {
    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn nothing_is_no_text_and_a_search_can_be_stopped() {
    let bank = crate::support::banks::TestBank::new();
    for text in ["", " \t\n"] {
        let error = bank.bank.search(text, ALL).unwrap_err();
        assert!(matches!(
            error,
            EngineError::Request(RequestError::NothingToFind)
        ));
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    assert!(searched(&bank.bank, "a", ALL).complete);
    let lines: Vec<String> = (0..5000)
        .map(|page| record(&format!("http://a.example/{page}"), &[]))
        .collect();
    bank.delta(&lines.concat());
    let stopped = bank.bank.watched(Stopped).search("none", ALL);
    assert!(matches!(stopped, Err(EngineError::Interrupted(_))));
    // What URLs escape may be written out.
    bank.delta("{\"url\": \"http://a.example/caf%C3%A9/a%20b\"}\n");
    for text in ["café", "CAF%c3%a9/a b", "http://a.example/café"] {
        assert_eq!(searched(&bank.bank, text, ALL).pages.len(), 1, "{text}");
    }
    let far = ["long".repeat(50_000), "\u{202e}".to_owned(), "%".to_owned()];
    for text in far {
        searched(&bank.bank, &text, ALL);
    }
}
