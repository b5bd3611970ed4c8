//! Searches pages and sites by a URL, a site name, or a part of one.
//!
//! There is no index of substrings. Names are examined in order, sites by name and the pages of each
//! site by URL, until a limit is reached. The result depends only on the names, not on the order of
//! ingest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nearest;
use super::views::Views;
use crate::engine::error::RequestError;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::records::PageState;
use seedbank_store::{Key, StoreError, tables};

/// Number of names examined between two checks for interruption.
const STEP: u64 = 4096;

/// Limits on the results and on the work of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    /// Maximum number of sites returned.
    pub sites: usize,
    /// Maximum number of pages returned.
    pub pages: usize,
    /// Maximum number of names of sites and pages examined; at most half of it is spent on sites.
    pub examined: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            sites: 20,
            pages: 20,
            examined: 2_000_000,
        }
    }
}

/// Result of a search.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let found = bank.search("A.example", SearchLimits::default())?;
/// assert_eq!(found.page.map(|page| page.url).as_deref(), Some("http://a.example/"));
/// assert_eq!(found.sites[0].site, "a.example");
/// assert!(found.complete);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchResult {
    /// Search text, trimmed.
    pub query: String,
    /// Page whose URL is the text, with or without its scheme; `null` if there is none.
    pub page: Option<FoundPage>,
    /// Matching sites: first the site of the text, read as a site name or URL; then sites whose names
    /// begin with the text, then those whose names contain it, each in the order of names.
    pub sites: Vec<FoundSite>,
    /// Pages whose URLs contain the text, ignoring case: those of the site that the text begins with,
    /// then those of other sites in the order of names; per site in the order of URLs.
    pub pages: Vec<FoundPage>,
    /// Number of names of sites and pages examined.
    pub examined: u64,
    /// Whether all matching sites and pages are included. If not, a list is full, or the limit of names
    /// was reached.
    pub complete: bool,
}

/// Page found by a search.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundPage {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Known, crawled, gone, unlinked (no page links to it any more), or an alias.
    pub state: PageState,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
}

/// Site found by a search.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundSite {
    /// Name of the site.
    pub site: String,
    /// Number of its known pages.
    pub known: u32,
    /// Number of its crawled pages.
    pub crawled: u32,
}

impl Bank {
    /// Finds pages and sites by a URL, with or without its scheme, a site name, or a part of one.
    ///
    /// The search ignores case, and characters that URLs escape may be written literally, as in `café`.
    /// Forgotten pages are not found; pages without any link to them are found with the state
    /// `unlinked`.
    ///
    /// # Errors
    ///
    /// [`RequestError::NothingToFind`] if the text is empty.
    ///
    /// Cost: one scan step per examined name, at most [`SearchLimits::examined`]; a scan per site, and a
    /// few reads per result.
    pub fn search(&self, text: &str, limits: SearchLimits) -> Result<SearchResult, EngineError> {
        let watch = self.watch();
        let asked = text.trim();
        if asked.is_empty() {
            return Err(RequestError::NothingToFind.into());
        }
        let views = Views::open(self)?;
        watch.stage("names", None);
        let mut search = Search {
            own: own_site(&views, asked)?,
            parts: needles(asked, &views),
            views: &views,
            limits,
            watch,
            examined: 0,
        };
        let page = search.exact_page(asked)?;
        let (sites, all_sites) = search.sites()?;
        let (pages, all_pages) = search.pages()?;
        Ok(SearchResult {
            query: asked.to_owned(),
            page,
            sites,
            pages,
            examined: search.examined,
            complete: all_sites && all_pages,
        })
    }
}

/// Splits a text into its scheme with the slashes (may be empty), host and port, and the rest.
fn split_url(text: &str) -> (&str, &str, &str) {
    let from = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(from);
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (scheme, host, rest)
}

/// Returns the text with a scheme; `None` if it does not begin with a host.
fn with_scheme(text: &str, scheme: &str) -> Option<String> {
    let (own, host, _) = split_url(text);
    // The URL parser would read the first path segment as the host.
    if !host.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
        return None;
    }
    Some(if own.is_empty() {
        [scheme, text].concat()
    } else {
        text.to_owned()
    })
}

/// Returns the site that a text begins with, if the bank has it.
fn own_site(views: &Views, text: &str) -> Result<Option<(String, SiteId)>, StoreError> {
    let url = with_scheme(text, "http://");
    let Some(location) = url.and_then(|url| ingest::parse(&url, views.naming).ok()) else {
        return Ok(None);
    };
    let id = views.reader.get(&tables::SITE_IDS, &location.site)?;
    Ok(id.map(|id| (location.site, id)))
}

/// Returns the substrings to search for in lower-case URLs: the text with non-URL characters escaped, and
/// if it begins with a non-ASCII host, a second form with that host in Punycode.
fn needles(text: &str, views: &Views) -> Vec<String> {
    let (scheme, host, rest) = split_url(text);
    let written = |host: &str| {
        let mut part = scheme.to_owned();
        escape(host, &mut part);
        escape(rest, &mut part);
        part.make_ascii_lowercase();
        part
    };
    let mut parts = vec![written(host)];
    if !host.is_ascii()
        && let Some(url) = with_scheme(text, "http://")
        && let Ok(location) = ingest::parse(&url, views.naming)
    {
        parts.push(written(split_url(&location.url(views.naming.sites)).1));
    }
    parts
}

/// Appends a text with white space, controls and non-ASCII bytes percent-encoded.
fn escape(text: &str, out: &mut String) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            out.push(char::from(byte));
        } else {
            let digit = |of: u8| DIGITS[usize::from(of % 16)];
            out.extend(['%', digit(byte / 16), digit(byte)]);
        }
    }
}

/// State of a search.
struct Search<'a> {
    views: &'a Views,
    /// The site that the text begins with.
    own: Option<(String, SiteId)>,
    /// Substrings of which a URL must contain one.
    parts: Vec<String>,
    limits: SearchLimits,
    watch: &'a dyn Watch,
    examined: u64,
}

impl Search<'_> {
    /// Counts one more examined name; returns `false` if `most` names were already examined.
    fn count_examined(&mut self, most: u64) -> Result<bool, EngineError> {
        if self.examined >= most {
            return Ok(false);
        }
        self.examined += 1;
        if self.examined.is_multiple_of(STEP) {
            self.watch.proceed()?;
            self.watch.advance(STEP);
        }
        Ok(true)
    }

    /// Returns the page whose URL is the text.
    fn exact_page(&self, text: &str) -> Result<Option<FoundPage>, EngineError> {
        let text = text.trim_start_matches('/');
        for scheme in ["https://", "http://"] {
            let url = with_scheme(text, scheme);
            let Some(location) = url.and_then(|url| ingest::parse(&url, self.views.naming).ok())
            else {
                continue;
            };
            if let Some((_, record)) = nearest::find_page(self.views, &location)? {
                return Ok(Some(FoundPage {
                    url: location.url(self.views.naming.sites),
                    site: location.site,
                    state: record.state,
                    spam: record.spam,
                }));
            }
        }
        Ok(None)
    }

    /// Returns the matching sites, and whether they are all.
    fn sites(&mut self) -> Result<(Vec<FoundSite>, bool), EngineError> {
        let mut found: Vec<SiteId> = self.own.iter().map(|(_, id)| *id).collect();
        let is_all = self.add_sites(&mut found)? && found.len() <= self.limits.sites;
        found.truncate(self.limits.sites);
        let mut sites = Vec::with_capacity(found.len());
        for site in found {
            let record = self.views.reader.need(&tables::SITES, &site)?;
            sites.push(FoundSite {
                site: record.name,
                known: record.known,
                crawled: record.crawled,
            });
        }
        Ok((sites, is_all))
    }

    /// Adds matching sites, up to one above the limit; returns `false` if not all names were examined.
    fn add_sites(&mut self, found: &mut Vec<SiteId>) -> Result<bool, EngineError> {
        // Site names contain no slash, so a text with a path matches no further site.
        let (_, host, rest) = split_url(self.parts.last().map_or("", String::as_str));
        if host.is_empty() || !rest.is_empty() {
            return Ok(true);
        }
        let part = host.to_owned();
        let store = &self.views.reader;
        let most = self.limits.examined.div_ceil(2);
        let own = self.own.as_ref().map(|(_, id)| *id);
        for is_prefix in [true, false] {
            let prefix = if is_prefix { part.as_bytes() } else { &[] };
            for entry in store.scan_under(&tables::SITE_IDS, prefix)? {
                let (name, site) = entry?;
                if !is_prefix && name.starts_with(&part) {
                    continue;
                }
                if found.len() > self.limits.sites || !self.count_examined(most)? {
                    return Ok(false);
                }
                if (is_prefix || name.contains(&part)) && own != Some(site) {
                    found.push(site);
                }
            }
        }
        Ok(true)
    }

    /// Returns the matching pages, and whether they are all.
    fn pages(&mut self) -> Result<(Vec<FoundPage>, bool), EngineError> {
        let mut found = Vec::new();
        let own = self.own.clone();
        let mut is_all = match &own {
            Some((name, site)) => self.add_pages(name, *site, &mut found)?,
            None => true,
        };
        let store = &self.views.reader;
        let mut sites = store.scan(&tables::SITE_IDS)?;
        while is_all && let Some((name, site)) = sites.next().transpose()? {
            if own.as_ref().is_none_or(|(_, own)| *own != site) {
                is_all = self.add_pages(&name, site, &mut found)?;
            }
        }
        is_all &= found.len() <= self.limits.pages;
        found.truncate(self.limits.pages);
        let mut pages = Vec::with_capacity(found.len());
        for (page, site, url) in found {
            let record = store.need(&tables::PAGES, &page)?;
            pages.push(FoundPage {
                url,
                site,
                state: record.state,
                spam: record.spam,
            });
        }
        Ok((pages, is_all))
    }

    /// Adds matching pages of a site, up to one above the limit; returns `false` if not all names were
    /// examined.
    fn add_pages(
        &mut self,
        name: &str,
        site: SiteId,
        found: &mut Vec<(PageId, String, String)>,
    ) -> Result<bool, EngineError> {
        let (views, most) = (self.views, self.limits.examined);
        if !self.count_examined(most)? {
            return Ok(false);
        }
        let mut entries = views.reader.scan_under(&tables::PAGE_IDS, &site.bytes())?;
        // Reused buffer for the URL in lower case.
        let mut url = String::new();
        loop {
            if found.len() > self.limits.pages {
                return Ok(false);
            }
            let parts = &self.parts;
            let next = entries.next_with(|_, local, index| {
                url.clear();
                ingest::push_url(name, local, views.naming.sites, &mut url);
                url.make_ascii_lowercase();
                let fits = parts.iter().any(|part| url.contains(part.as_str()));
                fits.then(|| (index, ingest::url(name, local, views.naming.sites)))
            })?;
            let Some(fitting) = next else {
                return Ok(true);
            };
            // The entry does not count if the limit was reached before it.
            if !self.count_examined(most)? {
                return Ok(false);
            }
            if let Some((index, url)) = fitting {
                found.push((PageId::new(site, index), name.to_owned(), url));
            }
        }
    }
}
