//! Pages by location, and the nearest ones where there is none.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::views::Views;
use crate::engine::EngineError;
use crate::ingest::{self, Location};
use crate::page::{PageId, SiteId};
use crate::storage::records::{PageRecord, PageState};
use crate::storage::{Key, StoreError, tables};

/// How many pages are proposed at most.
const PROPOSED: usize = 5;
/// How many pages, in URL order, are looked at from each place on.
const LOOKED_AT: usize = 3;
/// How many shortened forms of a URL are looked up.
const PLACES: usize = 3;

/// The page at a location.
pub(crate) fn find(
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
pub(crate) fn named(
    views: &Views,
    url: &str,
) -> Result<(Location, PageId, PageRecord), EngineError> {
    let location = ingest::parse(url, views.naming).map_err(|problem| EngineError::NoUrl {
        url: url.to_owned(),
        problem,
    })?;
    match find(views, &location)? {
        Some((page, record)) => Ok((location, page, record)),
        None => Err(EngineError::NotKnown {
            url: location.url(views.naming.sites),
            nearest: to(views, &location)?,
        }),
    }
}

/// The pages that a user may have meant: with the other scheme, with or without `www.`, then those
/// of the site that share the longest beginning with the URL, ties by URL.
fn to(views: &Views, location: &Location) -> Result<Vec<String>, StoreError> {
    let mut found = BTreeSet::new();
    let bare = location.site.strip_prefix("www.");
    let twin = bare.map_or_else(|| format!("www.{}", location.site), str::to_owned);
    for name in [&location.site, &twin] {
        let Some(site) = views.reader.get(&tables::SITE_IDS, name)? else {
            continue;
        };
        for local in beginnings(&location.local) {
            neighbours(views, name, site, &local, &mut found)?;
        }
    }
    let wanted = location.url(views.naming.sites);
    let mut found: Vec<String> = found.into_iter().collect();
    found.sort_by_key(|url| Reverse(alike(url, &wanted)));
    found.truncate(PROPOSED);
    Ok(found)
}

/// The rest of a URL under both schemes, and shortened at each of its last slashes.
fn beginnings(local: &str) -> Vec<String> {
    let rest = local.get(1..).unwrap_or_default();
    let mut ends = vec![rest.len()];
    let slashes = rest.rmatch_indices('/').map(|(at, _)| at + 1);
    ends.extend(slashes.filter(|end| *end < rest.len()));
    ends.truncate(PLACES);
    let both = ends
        .iter()
        .flat_map(|end| ["0", "1"].map(|scheme| (scheme, *end)));
    both.map(|(scheme, end)| [scheme, rest.get(..end).unwrap_or_default()].concat())
        .collect()
}

fn neighbours(
    views: &Views,
    name: &str,
    site: SiteId,
    local: &str,
    found: &mut BTreeSet<String>,
) -> Result<(), StoreError> {
    let from = (site, local.to_owned());
    let of_site = site.bytes();
    let entries = views.reader.scan_from(&tables::PAGE_IDS, &from, &of_site)?;
    for entry in entries.take(LOOKED_AT) {
        let ((_, local), index) = entry?;
        let page = PageId::new(site, index);
        let state = views.reader.need(&tables::PAGES, &page)?.state;
        if state != PageState::Unlinked {
            found.insert(ingest::url(name, &local, views.naming.sites));
        }
    }
    Ok(())
}

/// How many bytes two URLs have in common at their beginnings, scheme and `www.` aside.
fn alike(one: &str, other: &str) -> usize {
    let bare = |url: &str| -> Vec<u8> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.strip_prefix("www.").unwrap_or(rest).bytes().collect()
    };
    let (one, other) = (bare(one), bare(other));
    one.iter().zip(&other).take_while(|(a, b)| a == b).count()
}
