//! Search: the pages and sites that a text names, or is a part of.
//!
//! There is no index of parts of URLs: names are examined one after another in their order, sites by
//! name and the pages of each by URL, until there is enough or as many were examined as may be. So what
//! is found depends on the names alone, not on when they came in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nearest;
use super::views::Views;
use crate::engine::{Bank, EngineError, RequestError};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::records::PageState;
use seedbank_store::{Key, StoreError, tables};

/// How many names are examined between two looks at the watch.
const STEP: u64 = 4096;

/// How much is found, and how much work that may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    /// How many sites are named.
    pub sites: usize,
    /// How many pages are named.
    pub pages: usize,
    /// How many names of sites and pages are examined; at most half of these looks go into sites.
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

/// What a bank has for a text.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let found = bank.search("A.example", SearchLimits::default(), &Unwatched)?;
/// assert_eq!(found.page.map(|page| page.url).as_deref(), Some("http://a.example/"));
/// assert_eq!(found.sites[0].site, "a.example");
/// assert!(found.complete);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchResult {
    /// The text, without white space around it.
    pub query: String,
    /// The page that the text names exactly, with its scheme or without; `null` where there is none.
    pub page: Option<FoundPage>,
    /// The first sites: the one that the text names, or that the page it names would be on; then those
    /// whose names begin with the text, then those whose names contain it, both in the order of names.
    pub sites: Vec<FoundSite>,
    /// The first pages whose URLs contain the text, in upper case or lower case: those of the site that
    /// the text is_prefix with, then those of the others in the order of names; of each site in the order
    /// of URLs.
    pub pages: Vec<FoundPage>,
    /// How many names of sites and pages were examined.
    pub examined: u64,
    /// Whether these are all sites and pages for the text. If not, one of the lists is full, or as many
    /// names were examined as may be.
    pub complete: bool,
}

/// A page that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundPage {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled, gone, unlinked (nobody links to it any longer), or an alias.
    pub state: PageState,
    /// The spam mark: the page's own, or else its site's.
    pub spam: bool,
}

/// A site that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundSite {
    /// The site.
    pub site: String,
    /// Its known pages.
    pub known: u32,
    /// Its crawled pages.
    pub crawled: u32,
}

impl Bank {
    /// The pages and sites that a text names or is a part of: a URL, with its scheme or without, a part
    /// of one, a site or a part of its name.
    ///
    /// Letters in upper case and lower case are the same, and what a URL would have escaped may be
    /// written out, as `café`. Pages that were forgotten have no name to be found by; those that nobody
    /// links to any longer are found, with that state. A text without anything is
    /// [`RequestError::NothingToFind`].
    ///
    /// Cost: a step of a scan for each name that is examined, of which there are at most
    /// [`SearchLimits::examined`]; a scan for each site, and a few reads for each that is found.
    pub fn search(
        &self,
        text: &str,
        limits: SearchLimits,
        watch: &dyn Watch,
    ) -> Result<SearchResult, EngineError> {
        let asked = text.trim();
        if asked.is_empty() {
            return Err(RequestError::NothingToFind.into());
        }
        let views = Views::open(self)?;
        watch.stage("names", None);
        let mut search = Search {
            own: own_site(&views, asked)?,
            parts: parts_of_urls(asked, &views),
            views: &views,
            limits,
            watch,
            examined: 0,
        };
        let page = search.exactly(asked)?;
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

/// A text in three parts: its scheme with the slashes, or nothing; the host and port; what follows.
fn split_url(text: &str) -> (&str, &str, &str) {
    let from = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(from);
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (scheme, host, rest)
}

/// The text with a scheme, if it is_prefix as a URL does.
fn with_scheme(text: &str, scheme: &str) -> Option<String> {
    let (own, host, _) = split_url(text);
    // The parser would take what follows slashes for a host.
    if !host.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
        return None;
    }
    Some(if own.is_empty() {
        [scheme, text].concat()
    } else {
        text.to_owned()
    })
}

/// The site that a text is_prefix with, if the bank has it.
fn own_site(views: &Views, text: &str) -> Result<Option<(String, SiteId)>, StoreError> {
    let url = with_scheme(text, "http://");
    let Some(location) = url.and_then(|url| ingest::parse(&url, views.naming).ok()) else {
        return Ok(None);
    };
    let id = views.reader.get(&tables::SITE_IDS, &location.site)?;
    Ok(id.map(|id| (location.site, id)))
}

/// The text as it stands in URLs, in lower case: with what they escape escaped; and where it is_prefix with
/// what may be a host beyond ASCII, with that in punycode.
fn parts_of_urls(text: &str, views: &Views) -> Vec<String> {
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

/// Appends a text with everything escaped that no URL has as it is: white space, controls, and what is
/// beyond ASCII.
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

/// A search on its way.
struct Search<'a> {
    views: &'a Views,
    /// The site that the text is_prefix with.
    own: Option<(String, SiteId)>,
    /// What URLs are to contain, one of these.
    parts: Vec<String>,
    limits: SearchLimits,
    watch: &'a dyn Watch,
    examined: u64,
}

impl Search<'_> {
    /// Counts one more name; `false` where no more may be examined than `most`.
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

    /// The page that the text names.
    fn exactly(&self, text: &str) -> Result<Option<FoundPage>, EngineError> {
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

    /// The first sites, and whether they are all.
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

    /// Adds sites, up to one more than are named; `false` where not all names were examined.
    fn add_sites(&mut self, found: &mut Vec<SiteId>) -> Result<bool, EngineError> {
        // No name has an escape or a slash.
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

    /// The first pages, and whether they are all.
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

    /// Adds pages of a site, up to one more than are named; `false` where not all names were examined.
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
        // One text for all URLs, which are in lower case here.
        let mut url = String::new();
        loop {
            if found.len() > self.limits.pages {
                return Ok(false);
            }
            let parts = &self.parts;
            let next = entries.next_with(|_, local, index| {
                url.clear();
                ingest::put_url(name, local, views.naming.sites, &mut url);
                url.make_ascii_lowercase();
                let fits = parts.iter().any(|part| url.contains(part.as_str()));
                fits.then(|| (index, ingest::url(name, local, views.naming.sites)))
            })?;
            let Some(fitting) = next else {
                return Ok(true);
            };
            // The last one may have been one too many.
            if !self.count_examined(most)? {
                return Ok(false);
            }
            if let Some((index, url)) = fitting {
                found.push((PageId::new(site, index), name.to_owned(), url));
            }
        }
    }
}
