//! Finds pages and sites by name, and suggests similar ones for unknown names.

use super::views::Views;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, Location};
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Key, StoreError, tables};

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 5;
/// Maximum number of suggestions that differ only in the query.
const MAX_OTHER_QUERIES: usize = 2;

/// Length in bytes of the prefix that suggested sites share with an unknown site.
const COMMON_PREFIX: usize = 3;

/// Returns the page at a location.
pub(crate) fn find_page(
    views: &Views,
    location: &Location,
) -> Result<Option<(PageId, PageRecord)>, StoreError> {
    let store = &views.reader;
    let Some(site) = store.get(&tables::SITE_IDS, &location.site)? else {
        return Ok(None);
    };
    let name = (site, location.local.clone());
    let Some(index) = store.get(&tables::PAGE_IDS, &name)? else {
        return Ok(None);
    };
    let page = PageId::new(site, index);
    Ok(Some((page, store.need(&tables::PAGES, &page)?)))
}

/// Returns the page that a user names by a URL in any form that ingest accepts, or without its scheme:
/// then https is tried before http, as in a search.
pub(crate) fn resolve_page(
    views: &Views,
    url: &str,
) -> Result<(Location, PageId, PageRecord), EngineError> {
    let typed = url.trim();
    let (urls, shown) = if lacks_scheme(typed) {
        let rest = typed.trim_start_matches('/');
        (
            vec![["https://", rest].concat(), ["http://", rest].concat()],
            Some(rest),
        )
    } else {
        (vec![typed.to_owned()], None)
    };
    let mut normalised = None;
    for url in urls {
        let location =
            ingest::parse(&url, views.naming).map_err(|problem| EngineError::InvalidUrl {
                url: typed.to_owned(),
                problem,
            })?;
        if let Some((page, record)) = find_page(views, &location)? {
            return Ok((location, page, record));
        }
        normalised.get_or_insert_with(|| location.url(views.naming.sites));
    }
    let normalised = normalised.unwrap_or_default();
    Err(EngineError::UnknownPage {
        nearest: nearest(views, &normalised)?,
        url: shown.map_or(normalised, str::to_owned),
    })
}

/// Returns the site that a user names by its name or by a URL of one of its pages.
pub(crate) fn resolve_site(views: &Views, text: &str) -> Result<(String, SiteId), EngineError> {
    let url = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}/")
    };
    let location =
        ingest::parse(&url, views.naming).map_err(|problem| EngineError::InvalidUrl {
            url: text.to_owned(),
            problem,
        })?;
    let site = location.site;
    match views.reader.get(&tables::SITE_IDS, &site)? {
        Some(id) => Ok((site, id)),
        None => Err(EngineError::UnknownSite {
            nearest: nearest_sites(views, &site)?,
            site,
        }),
    }
}

/// Suggests sites for an unknown name: those that begin with it, then its neighbours in the order of
/// names that share the first bytes, nearest first.
fn nearest_sites(views: &Views, name: &str) -> Result<Vec<String>, StoreError> {
    let key = name.to_owned();
    let mut found = Vec::new();
    for entry in views
        .reader
        .scan_under(&tables::SITE_IDS, name.as_bytes())?
        .take(MAX_SUGGESTIONS)
    {
        found.push(entry?.0);
    }
    // Names that differ in the first bytes are unlikely to be meant.
    let head = name.get(..COMMON_PREFIX).unwrap_or(name);
    let begins_alike = head.as_bytes();
    let after = views
        .reader
        .scan_from(&tables::SITE_IDS, &key, begins_alike)?;
    let before = views
        .reader
        .scan_back(&tables::SITE_IDS, &key, begins_alike)?;
    let (mut after, mut before) = (after.take(MAX_SUGGESTIONS), before.take(MAX_SUGGESTIONS));
    loop {
        let sides = [before.next().transpose()?, after.next().transpose()?];
        if sides.iter().all(Option::is_none) {
            return Ok(found);
        }
        for (site, _) in sides.into_iter().flatten() {
            if found.len() < MAX_SUGGESTIONS && !found.contains(&site) {
                found.push(site);
            }
        }
    }
}

/// Returns whether a text is a URL without a scheme: `example.org/x`,
/// `//example.org`, `localhost:8080`.
fn lacks_scheme(text: &str) -> bool {
    let rest = text.strip_prefix("//").unwrap_or(text);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let is_host = name == "localhost" || name.contains('.') || text.starts_with("//");
    let of_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    is_host
        && name.starts_with(|c: char| c.is_alphanumeric())
        && name.chars().all(of_host)
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the normalised URL if the bank has the page.
fn existing_url(views: &Views, url: &str) -> Result<Option<String>, StoreError> {
    let Ok(location) = ingest::parse(url, views.naming) else {
        return Ok(None);
    };
    let found = find_page(views, &location)?;
    let found = found.filter(|(_, record)| record.state != PageState::Unlinked);
    Ok(found.map(|_| location.url(views.naming.sites)))
}

/// Suggests pages for an unknown normalised URL: variants of the URL first, then its neighbours in URL
/// order.
fn nearest(views: &Views, url: &str) -> Result<Vec<String>, StoreError> {
    let mut found = url_variants(views, url)?;
    found.truncate(MAX_SUGGESTIONS);
    for other in neighbourhoods(url) {
        let room = MAX_SUGGESTIONS.saturating_sub(found.len());
        if room == 0 {
            break;
        }
        let new: Vec<String> = neighbours(views, &other, room)?
            .into_iter()
            .filter(|url| !found.contains(url))
            .collect();
        found.extend(new);
    }
    Ok(found)
}

/// Parts of a normalised URL.
#[derive(Clone, Copy)]
struct UrlParts<'a> {
    is_https: bool,
    host: &'a str,
    path: &'a str,
    /// Query with its question mark; empty if there is none.
    query: &'a str,
}

impl<'a> UrlParts<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (host, rest) = rest.split_at(rest.find('/')?);
        let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        Some(Self {
            is_https: scheme == "https",
            host,
            path,
            query,
        })
    }

    fn url(self, host: &str, path: &str, query: &str) -> String {
        let scheme = if self.is_https { "https://" } else { "http://" };
        [scheme, host, path, query].concat()
    }

    const fn other_scheme(self) -> Self {
        Self {
            is_https: !self.is_https,
            ..self
        }
    }

    /// Adds `www.` to the host, or removes it.
    fn other_host(self) -> String {
        let bare = self.host.strip_prefix("www.");
        bare.map_or_else(|| format!("www.{}", self.host), str::to_owned)
    }

    /// Adds the trailing slash of the path, or removes it.
    fn other_slash(self) -> String {
        match self.path.strip_suffix('/') {
            Some("") => self.path.to_owned(),
            Some(bare) => bare.to_owned(),
            None => format!("{}/", self.path),
        }
    }
}

/// Returns the pages of the bank whose URLs differ only in the scheme, a trailing slash, the query or
/// `www.`; those with fewer differences first.
fn url_variants(views: &Views, url: &str) -> Result<Vec<String>, StoreError> {
    let Some(parts) = UrlParts::parse(url) else {
        return Ok(Vec::new());
    };
    let (other_host, slash) = (parts.other_host(), parts.other_slash());
    // Each bit is one difference: scheme, slash, query, `www.`.
    let mut kinds: Vec<u32> = (1..16).collect();
    kinds.sort_by_key(|kind| (kind.count_ones(), *kind));
    let mut found = Vec::new();
    for kind in kinds {
        let differs = |bit: u32| kind & bit != 0;
        let scheme = if differs(1) {
            parts.other_scheme()
        } else {
            parts
        };
        let path = if differs(2) { &slash } else { parts.path };
        let query = if differs(4) { "" } else { parts.query };
        let host = if differs(8) { &*other_host } else { parts.host };
        if let Some(page) = existing_url(views, &scheme.url(host, path, query))?
            && page != url
            && !found.contains(&page)
        {
            found.push(page);
        }
    }
    for scheme in [parts, parts.other_scheme()] {
        let other = scheme.url(parts.host, parts.path, "?");
        let with_query = following(views, &other, MAX_OTHER_QUERIES, |page| {
            page.starts_with(&other)
        })?;
        found.extend(with_query.into_iter().filter(|page| page != url));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|page| seen.insert(page.clone()));
    Ok(found)
}

/// Returns the URLs whose neighbours are suggested: with and without `www.`, with either scheme.
fn neighbourhoods(url: &str) -> Vec<String> {
    let Some(parts) = UrlParts::parse(url) else {
        return Vec::new();
    };
    let other_host = parts.other_host();
    let hosts = [parts.host, &*other_host];
    let both = |host| {
        let schemes = [parts, parts.other_scheme()];
        schemes.map(|scheme| scheme.url(host, parts.path, parts.query))
    };
    hosts.into_iter().flat_map(both).collect()
}

/// Returns at most `most` neighbours of a URL among the pages of its host and scheme, in URL order, half
/// of them on each side if possible.
fn neighbours(views: &Views, url: &str, most: usize) -> Result<Vec<String>, StoreError> {
    let Some(begin) = host_end(url).and_then(|end| url.get(..end)) else {
        return Ok(Vec::new());
    };
    let is_neighbour = |page: &str| {
        let rest = page.strip_prefix(begin);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    // One more, because the page itself may be among them.
    let mut before = preceding(views, url, most + 1, is_neighbour)?;
    let mut after = following(views, url, most + 1, is_neighbour)?;
    before.retain(|page| page != url);
    after.retain(|page| page != url);
    let on_left = most.div_ceil(2).max(most.saturating_sub(after.len()));
    before.truncate(on_left);
    after.truncate(most.saturating_sub(before.len()));
    let mut neighbours = [before, after].concat();
    neighbours.sort_unstable();
    Ok(neighbours)
}

/// Returns the byte offset of the end of host and port.
fn host_end(url: &str) -> Option<usize> {
    let begin = url.find("://")? + 3;
    Some(begin + url.get(begin..)?.find('/')?)
}

/// Returns the site and the position of a URL in the order of the site's pages.
fn position(views: &Views, url: &str) -> Result<Option<(String, SiteId, String)>, StoreError> {
    let Ok(location) = ingest::parse(url, views.naming) else {
        return Ok(None);
    };
    let site = views.reader.get(&tables::SITE_IDS, &location.site)?;
    Ok(site.map(|site| (location.site, site, location.local)))
}

/// Returns the first pages of a site from a URL on, up to the first that does not satisfy `fits`.
fn following(
    views: &Views,
    url: &str,
    most: usize,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<String>, StoreError> {
    let Some((name, site, local)) = position(views, url)? else {
        return Ok(Vec::new());
    };
    let of_site = site.bytes();
    let entries = views
        .reader
        .scan_from(&tables::PAGE_IDS, &(site, local), &of_site)?;
    linked_pages(views, &name, entries, most, fits)
}

/// Returns the last pages of a site before a URL, nearest first, up to the first that does not satisfy
/// `fits`.
fn preceding(
    views: &Views,
    url: &str,
    most: usize,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<String>, StoreError> {
    let Some((name, site, local)) = position(views, url)? else {
        return Ok(Vec::new());
    };
    let of_site = site.bytes();
    let entries = views
        .reader
        .scan_back(&tables::PAGE_IDS, &(site, local), &of_site)?;
    linked_pages(views, &name, entries, most, fits)
}

/// Returns the first pages of a scan that are not `unlinked`, as long as `fits` holds.
fn linked_pages(
    views: &Views,
    name: &str,
    entries: impl Iterator<Item = Result<((SiteId, String), u32), StoreError>>,
    most: usize,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    for entry in entries.take(MAX_SCANNED) {
        let ((site, local), index) = entry?;
        let page = ingest::url(name, &local, views.naming.sites);
        if found.len() == most || !fits(&page) {
            break;
        }
        let record = views
            .reader
            .need(&tables::PAGES, &PageId::new(site, index))?;
        if record.state != PageState::Unlinked {
            found.push(page);
        }
    }
    Ok(found)
}

/// Maximum number of entries scanned on each side, because many consecutive ones may be `unlinked`.
const MAX_SCANNED: usize = 100;
