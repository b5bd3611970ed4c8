//! Pages by location, and what may have been meant where there is none.

use super::views::Views;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, Location, UrlProblem};
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Key, StoreError, tables};

/// How many pages are proposed at most.
const MAX_SUGGESTIONS: usize = 5;
/// How many pages of the same path with another query are proposed at most.
const MAX_OTHER_QUERIES: usize = 2;

/// How many bytes of a site's name those that may have been meant begin with too.
const COMMON_PREFIX: usize = 3;

/// The page at a location.
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

/// The page that a user names by its URL, written in any way that ingest accepts.
pub(crate) fn resolve_page(
    views: &Views,
    url: &str,
) -> Result<(Location, PageId, PageRecord), EngineError> {
    let location = match ingest::parse(url, views.naming) {
        Ok(location) => location,
        Err(problem) => return Err(no_url(views, url, problem)?),
    };
    if let Some((page, record)) = find_page(views, &location)? {
        return Ok((location, page, record));
    }
    let url = location.url(views.naming.sites);
    let nearest = nearest(views, &url)?;
    Err(EngineError::NotKnown { url, nearest })
}

/// The site that a user names: by its name, written in any way, or by a URL of one of its pages.
pub(crate) fn resolve_site(views: &Views, text: &str) -> Result<(String, SiteId), EngineError> {
    let url = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}/")
    };
    let location = ingest::parse(&url, views.naming).map_err(|problem| EngineError::NoUrl {
        url: text.to_owned(),
        problem,
    })?;
    let site = location.site;
    match views.reader.get(&tables::SITE_IDS, &site)? {
        Some(id) => Ok((site, id)),
        None => Err(EngineError::NoSite {
            nearest: nearest_sites(views, &site)?,
            site,
        }),
    }
}

/// The sites that a user may have meant by a name: those that begin with it, then its neighbours in the
/// order of names, nearest to it first, if they begin alike.
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
    // What differs at once was hardly meant.
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

/// The error for a text that is no URL; where it only lacks its scheme, with the page that it names
/// with one.
fn no_url(views: &Views, text: &str, problem: UrlProblem) -> Result<EngineError, StoreError> {
    let text = text.trim();
    if !lacks_scheme(text) {
        return Ok(EngineError::NoUrl {
            url: text.to_owned(),
            problem,
        });
    }
    let rest = text.trim_start_matches('/');
    let mut meant = None;
    for scheme in ["https://", "http://"] {
        let url = [scheme, rest].concat();
        if meant.is_none()
            && let Some(location) = existing_url(views, &url)?
        {
            meant = Some(location);
        }
    }
    if meant.is_none() {
        meant = same_pages(views, &["https://", rest].concat())?
            .into_iter()
            .next();
    }
    Ok(EngineError::NoScheme {
        url: text.to_owned(),
        meant,
    })
}

/// Whether a text begins with a host as if a scheme stood before it: `example.org/x`,
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

/// The normal form of a URL, if the bank has its page.
fn existing_url(views: &Views, url: &str) -> Result<Option<String>, StoreError> {
    let Ok(location) = ingest::parse(url, views.naming) else {
        return Ok(None);
    };
    let found = find_page(views, &location)?;
    let found = found.filter(|(_, record)| record.state != PageState::Unlinked);
    Ok(found.map(|_| location.url(views.naming.sites)))
}

/// The pages that a user may have meant by a normal URL: the same page written otherwise, then its
/// neighbours on both sides, in the order of URLs.
fn nearest(views: &Views, url: &str) -> Result<Vec<String>, StoreError> {
    let mut found = same_pages(views, url)?;
    found.truncate(MAX_SUGGESTIONS);
    for other in neighbourhoods(url) {
        let room = MAX_SUGGESTIONS.saturating_sub(found.len());
        if room == 0 {
            break;
        }
        let beside = neighbours(views, &other, room)?;
        let new: Vec<String> = beside
            .into_iter()
            .filter(|url| !found.contains(url))
            .collect();
        found.extend(new);
    }
    Ok(found)
}

/// A normal URL in parts.
#[derive(Clone, Copy)]
struct UrlParts<'a> {
    is_https: bool,
    host: &'a str,
    path: &'a str,
    /// With its question mark; empty where there is none.
    query: &'a str,
}

impl<'a> UrlParts<'a> {
    fn of(url: &'a str) -> Option<Self> {
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

    /// The host with `www.`, or without where it has it.
    fn other_host(self) -> String {
        let bare = self.host.strip_prefix("www.");
        bare.map_or_else(|| format!("www.{}", self.host), str::to_owned)
    }

    /// The path with a slash at its end, or without where it has one.
    fn other_slash(self) -> String {
        match self.path.strip_suffix('/') {
            Some("") => self.path.to_owned(),
            Some(bare) => bare.to_owned(),
            None => format!("{}/", self.path),
        }
    }
}

/// The pages of the bank that are the same but for the scheme, a slash at the end, the query or
/// `www.`; those that differ in fewer of them come first.
fn same_pages(views: &Views, url: &str) -> Result<Vec<String>, StoreError> {
    let Some(parts) = UrlParts::of(url) else {
        return Ok(Vec::new());
    };
    let (other_host, slash) = (parts.other_host(), parts.other_slash());
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
        let with_query = following(views, &other, MAX_OTHER_QUERIES, |page| page.starts_with(&other))?;
        found.extend(with_query.into_iter().filter(|page| page != url));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|page| seen.insert(page.clone()));
    Ok(found)
}

/// The URLs whose neighbours are looked for, in order: with the host as it is and its other_host, with
/// the scheme as it is and the other.
fn neighbourhoods(url: &str) -> Vec<String> {
    let Some(parts) = UrlParts::of(url) else {
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

/// The neighbours of a URL among the pages of its host and scheme, at most so many, in the order of
/// URLs: as many on one side as on the other where there are enough.
fn neighbours(views: &Views, url: &str, most: usize) -> Result<Vec<String>, StoreError> {
    let Some(begin) = host_end(url).and_then(|end| url.get(..end)) else {
        return Ok(Vec::new());
    };
    let is_beside = |page: &str| {
        let rest = page.strip_prefix(begin);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    // One more, since the page itself may be among them.
    let mut before = preceding(views, url, most + 1, is_beside)?;
    let mut after = following(views, url, most + 1, is_beside)?;
    before.retain(|page| page != url);
    after.retain(|page| page != url);
    let on_left = most.div_ceil(2).max(most.saturating_sub(after.len()));
    before.truncate(on_left);
    after.truncate(most.saturating_sub(before.len()));
    let mut beside = [before, after].concat();
    beside.sort_unstable();
    Ok(beside)
}

/// Where the host of a URL ends, with its port.
fn host_end(url: &str) -> Option<usize> {
    let begin = url.find("://")? + 3;
    Some(begin + url.get(begin..)?.find('/')?)
}

/// A place in the order of the pages of a site.
fn position(views: &Views, url: &str) -> Result<Option<(String, SiteId, String)>, StoreError> {
    let Ok(location) = ingest::parse(url, views.naming) else {
        return Ok(None);
    };
    let site = views.reader.get(&tables::SITE_IDS, &location.site)?;
    Ok(site.map(|site| (location.site, site, location.local)))
}

/// The first pages of a site from a URL on for which `fits` holds; the first for which it does not
/// ends the search.
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
    live(views, &name, entries, most, fits)
}

/// The last pages of a site before a URL for which `fits` holds, the nearest first; the first for
/// which it does not ends the search.
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
    live(views, &name, entries, most, fits)
}

/// The first pages of a scan that are pages today, as long as `fits` holds.
fn live(
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

/// How many pages are looked at on one side: many in a row may be linked to by nobody any more.
const MAX_SCANNED: usize = 100;
