//! Groups linked pages by site, and orders them by site name and URL.
//!
//! There may be millions of pages, on as many sites. Memory holds a count per site and the pages of one
//! site. Names are read only for results, or scanned in order until there are enough.

use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::{Key, StoreError, tables};

/// Maximum number of names that are read and sorted. Of more, the first ones are found by a scan in name
/// order.
const MAX_SORTED: u64 = 1000;

/// Cost of a lookup, in steps of a scan.
const SCAN_STEPS_PER_LOOKUP: u64 = 20;

/// Linked pages, grouped by site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinksBySite {
    /// Number of pages.
    pub pages: u64,
    /// Number of sites.
    pub sites: u64,
    /// Sites with the most pages, ties by name.
    pub by_site: Vec<SiteLinks>,
}

/// Linked pages of one site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteLinks {
    /// Name of the site.
    pub site: String,
    /// Number of its linked pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// First of them in URL order.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

/// Returns the sites with the most pages, and the first pages of each. `limits` are the numbers of sites
/// and of pages per site. `counts` are sorted by site.
pub(super) fn by_site(
    views: &Views,
    counts: &[(SiteId, u64)],
    limits: (usize, usize),
    pages_of: impl Fn(SiteId) -> Result<RoaringBitmap, StoreError>,
) -> Result<LinksBySite, StoreError> {
    let mut by_site = Vec::new();
    for (site, name, pages) in largest(views, counts, limits.0)? {
        let first = in_url_order(views, site, &pages_of(site)?, 0, limits.1)?;
        let url = |(_, local): &(PageId, String)| ingest::url(&name, local, views.naming.sites);
        let examples = first.iter().map(url).collect();
        by_site.push(SiteLinks {
            site: name,
            pages,
            examples,
        });
    }
    Ok(LinksBySite {
        pages: counts.iter().map(|(_, pages)| pages).sum(),
        sites: counts.len() as u64,
        by_site,
    })
}

/// Returns the `limit` sites with the largest counts, ties by name. `counts` are sorted by site.
pub(super) fn largest(
    views: &Views,
    counts: &[(SiteId, u64)],
    limit: usize,
) -> Result<Vec<(SiteId, String, u64)>, StoreError> {
    let mut sizes: Vec<u64> = counts.iter().map(|(_, pages)| *pages).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let Some(&least) = sizes.get(limit.min(sizes.len()).wrapping_sub(1)) else {
        return Ok(Vec::new());
    };
    let name = |site: SiteId| Ok::<_, StoreError>(views.reader.need(&tables::SITES, &site)?.name);
    let mut found = Vec::new();
    for &(site, pages) in counts.iter().filter(|(_, pages)| *pages > least) {
        found.push((site, name(site)?, pages));
    }
    let tied = || counts.iter().filter(|(_, pages)| *pages == least);
    if tied().count() as u64 <= MAX_SORTED {
        for &(site, pages) in tied() {
            found.push((site, name(site)?, pages));
        }
    } else {
        // Too many ties to sort: scan the names in order.
        let is_tied = |site: &SiteId| {
            let place = counts.binary_search_by_key(site, |(site, _)| *site);
            place.is_ok_and(|place| counts.get(place).is_some_and(|(_, pages)| *pages == least))
        };
        for entry in views.reader.scan(&tables::SITE_IDS)? {
            let (name, site) = entry?;
            if found.len() == limit {
                break;
            }
            if is_tied(&site) {
                found.push((site, name, least));
            }
        }
    }
    found.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
    found.truncate(limit);
    Ok(found)
}

/// Passes sites to `each` in name order until it breaks. `counts` are sorted by site.
///
/// Cost: a lookup per site, or a scan of names up to the last one passed.
pub(super) fn in_name_order<E: From<StoreError>>(
    views: &Views,
    counts: &[(SiteId, u64)],
    mut each: impl FnMut((SiteId, &str, u64)) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let all = u64::from(views.reader.counters()?.next_site);
    if counts.len() as u64 <= MAX_SORTED.max(all / SCAN_STEPS_PER_LOOKUP) {
        let mut sites = Vec::with_capacity(counts.len());
        for &(site, pages) in counts {
            sites.push((
                views.reader.need(&tables::SITES, &site)?.name,
                (site, pages),
            ));
        }
        sites.sort_unstable();
        for (name, (site, pages)) in &sites {
            if each((*site, name, *pages))?.is_break() {
                break;
            }
        }
        return Ok(());
    }
    let mut left = counts.len();
    for entry in views.reader.scan(&tables::SITE_IDS)? {
        let (name, site) = entry?;
        let Ok(place) = counts.binary_search_by_key(&site, |(site, _)| *site) else {
            continue;
        };
        left -= 1;
        let pages = counts.get(place).map_or(0, |(_, pages)| *pages);
        if each((site, &name, pages))?.is_break() || left == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns at most `limit` pages of a set on one site, in URL order after the first `from`, each with its
/// URL below the site.
///
/// Cost: a lookup per page of the set, or a scan of the site's URLs up to the last one returned.
pub(super) fn in_url_order(
    views: &Views,
    site: SiteId,
    pages: &RoaringBitmap,
    from: u64,
    limit: usize,
) -> Result<Vec<(PageId, String)>, StoreError> {
    let mut found = Vec::new();
    if pages.len() <= MAX_SORTED {
        for index in pages {
            let page = PageId::new(site, index);
            let local = views.reader.need(&tables::PAGES, &page)?.local;
            found.push((local, page));
        }
        found.sort_unstable();
        let after = found
            .into_iter()
            .skip(usize::try_from(from).unwrap_or(usize::MAX));
        return Ok(after
            .take(limit)
            .map(|(local, page)| (page, local))
            .collect());
    }
    let mut entries = views.reader.scan_under(&tables::PAGE_IDS, &site.bytes())?;
    let mut passed = 0;
    while found.len() < limit && passed < pages.len() {
        let next = entries.next_with(|_, local, index| {
            if !pages.contains(index) {
                return None;
            }
            passed += 1;
            (passed > from).then(|| (local.to_owned(), PageId::new(site, index)))
        })?;
        match next {
            None => break,
            Some(of_set) => found.extend(of_set),
        }
    }
    Ok(found
        .into_iter()
        .map(|(local, page)| (page, local))
        .collect())
}
