//! Resolves URLs to page ids: replaces URLs by ids in pieces of records, and groups the pieces by
//! record.
//!
//! Every URL of the input comes once, in key order, with the portions that name it. So each is
//! looked up once, together with its neighbours, and new pages get their ids site by site. Then
//! each portion's pieces get the ids of its URLs, which are held for one portion at a time.

use std::collections::BTreeMap;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::canonical::{PAGE, PIECE, by_record, split_key};
use super::events::{Fields, group, target_event};
use super::exchange::{Exchange, Shuffle, Stream};
use super::gather::{CollectedInput, HAS_RECORD};
use super::page_fields::{Found, PageFields};
use super::passes::{PageEvent, Passes, SiteDelta, page_event};
use super::pieces::{Gaps, PageInput, put_gap, put_input, take_input};
use super::same_content;
use super::site_records::{SiteRecords, SortedSiteRecords};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::SiteAttributes;
use seedbank_store::records::{PageState, SiteDefaults, SiteRecord};
use seedbank_store::{self, Sorted, Sorter, tables};

/// The page of a node without a valid URL.
const NO_PAGE: PageId = PageId(u64::MAX);

/// The site whose URLs are being resolved.
struct Current {
    id: SiteId,
    name: String,
    record: SiteRecord,
    /// The index of its first new page.
    first_new: u32,
    is_new: bool,
    /// Whether the batch changes the attributes of the site.
    is_changed: bool,
}

/// Page ids of all portions' URLs.
pub(super) struct Resolved {
    /// Page ids by portion and rank.
    numbers: Shuffle,
    /// Number of URLs that have a record.
    pub(super) records: u64,
    /// Records, by portion and rank, of URLs that have a later one in the same portion; of portions that this process
    /// has read.
    pub(super) superseded: RoaringTreemap,
    /// Number of such records that this process found.
    pub(super) superseded_count: u64,
}

/// Assigns every URL its page id, and creates a record entry for every URL that has a record.
///
/// URLs that are `unnamed` in every portion are skipped. Attributes of sites (`site_records`) are merged
/// in, since both come in the order of site names, and so do the ids of new sites.
pub(super) fn resolve(
    mut urls: Sorted,
    unnamed: &RoaringTreemap,
    site_records: &mut SortedSiteRecords,
    passes: &mut Passes<'_>,
) -> Result<Resolved> {
    let mut current: Option<Current> = None;
    let mut numbers = passes.shuffle(Stream::Numbers);
    let mut records = 0;
    let mut key = Vec::new();
    let mut superseded = RoaringTreemap::new();
    let mut places: Vec<([u8; 8], bool)> = Vec::new();
    while let Some(next) = urls.peek()? {
        passes.watch.proceed()?;
        key.clear();
        key.extend_from_slice(next);
        places.clear();
        let mut flags = 0;
        let mut named = false;
        // The key of a URL may be a prefix of another's, so only equal keys are taken.
        while urls.peek()? == Some(key.as_slice()) {
            let Some((_, value)) = urls.next_entry()? else {
                break;
            };
            let place: [u8; 8] = group(value)?;
            let of_url = Fields(&value[place.len()..]).byte()?;
            named |= of_url != 0 || !unnamed.contains(u64::from_be_bytes(place));
            flags |= of_url;
            places.push((place, of_url & HAS_RECORD != 0));
        }
        // Of several nodes of a graph with the same URL, the last record counts.
        if places.len() > 1 {
            places.sort_unstable();
            let of_records = places.iter().filter(|(_, has_record)| *has_record);
            let of_records: Vec<[u8; 8]> = of_records.map(|(place, _)| *place).collect();
            let earlier = of_records
                .windows(2)
                .filter(|two| two[0][..4] == two[1][..4]);
            superseded.extend(earlier.map(|two| u64::from_be_bytes(two[0])));
        }
        let (name, local) = split_key(&key)?;
        let mut page = PageId(0);
        if named {
            // URLs come by site, so each site is loaded once.
            if current.as_ref().is_none_or(|site| site.name != name) {
                if let Some(site) = current.take() {
                    finish_site(site, passes)?;
                }
                apply_sites_before(site_records, Some(name), passes)?;
                let mut site = start_site(name, passes)?;
                if let Some(update) = site_records.take_site(name)? {
                    apply_attributes(&mut site, &update, passes)?;
                }
                current = Some(site);
            }
            let Some(site) = current.as_mut() else {
                continue;
            };
            let is_new;
            (page, is_new) = find_or_create_page(site, local, passes)?;
            if !is_new {
                passes.aliases.name(page, flags & HAS_RECORD != 0)?;
            }
            if flags & HAS_RECORD != 0 {
                records += 1;
                let key = by_record(page).byte(PAGE);
                passes.records.push(&key, &[u8::from(is_new)])?;
            } else if is_new {
                target_event(&mut passes.targets, page, None, PageState::Known, false)?;
            }
        }
        // Also written if there is no page.
        for (place, _) in &places {
            numbers.push(place, &page.0.to_be_bytes())?;
        }
    }
    if let Some(site) = current.take() {
        finish_site(site, passes)?;
    }
    apply_sites_before(site_records, None, passes)?;
    let superseded_count = superseded.len();
    let exchange = &passes.exchange;
    let superseded = exchange.send_sets(by_reader(exchange, superseded))?;
    passes.fetches.gather_new_pages(exchange)?;
    passes.aliases.gather_named(exchange)?;
    Ok(Resolved {
        numbers,
        records,
        superseded,
        superseded_count,
    })
}

/// Groups the pieces of records, with page ids instead of ranks. `lengths` are the numbers of URLs of portions.
pub(super) fn group_by_page(
    mut pieces: Sorted,
    lengths: &BTreeMap<u32, u32>,
    resolved: Resolved,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let unknown = || EngineError::Internal("a piece of a record has no URL");
    let Resolved {
        mut numbers,
        superseded,
        ..
    } = resolved;
    let mut numbers = numbers.take()?;
    let mut found: Vec<PageId> = Vec::new();
    let mut targets: Vec<u64> = Vec::new();
    let mut bytes = Vec::new();
    while let Some(next) = numbers.peek()? {
        let portion: [u8; 4] = group(next)?;
        let length = lengths.get(&u32::from_be_bytes(portion)).copied();
        found.clear();
        // They come in the order of ranks. Nodes of a graph without a valid URL have no page, and nothing refers to them.
        while let Some((key, value)) = numbers.next_under(&portion)? {
            let rank = Fields(&key[portion.len()..]).u32()?;
            // Other processes send ranks too.
            if length.is_none_or(|length| rank >= length) {
                return Err(unknown());
            }
            found.resize(rank as usize, NO_PAGE);
            found.push(Fields(value).page()?);
        }
        while let Some((key, mut value)) = pieces.next_under(&portion)? {
            passes.watch.proceed()?;
            let mut fields = Fields(&key[portion.len()..]);
            let (url, order) = (fields.u32()?, fields.u64()?);
            let page = found.get(url as usize).ok_or_else(unknown)?;
            bytes.clear();
            let packed = take_input(&mut value)?;
            let mut input = seedbank_store::unpack(packed)?;
            let place = of_portion(u32::from_be_bytes(portion), url);
            if matches!(input, PageInput::Record(_)) && superseded.contains(place) {
                continue;
            }
            if let PageInput::Origin(origin) = &mut input {
                let id = |rank| {
                    let at = usize::try_from(rank).ok().and_then(|rank| found.get(rank));
                    Ok(at.ok_or_else(unknown)?.0)
                };
                *origin = origin.renumbered(id)?;
                put_input(&seedbank_store::pack(&input)?, &mut bytes)?;
            } else {
                put_input(packed, &mut bytes)?;
            }
            targets.clear();
            for rank in Gaps::new(value) {
                let at = usize::try_from(rank).ok().and_then(|rank| found.get(rank));
                targets.push(at.ok_or_else(unknown)?.0);
            }
            // Ranks are in URL order, ids are not.
            targets.sort_unstable();
            let first = targets.first().copied().map(PageId);
            passes.aliases.add_input(*page, &input, order, first);
            if let (PageInput::SameContent { digest }, Some(same)) = (&input, first) {
                same_content::ask(*page, order, *digest, same, passes)?;
                continue;
            }
            let mut last = 0;
            for target in &targets {
                put_gap(target - last, &mut bytes);
                last = *target;
            }
            let key = by_record(*page).byte(PIECE).u64(order);
            passes.records.push(&key, &bytes)?;
        }
    }
    Ok(())
}

/// Applies the attributes of sites without a page in the batch: those before `name`, or all
/// remaining ones.
fn apply_sites_before(
    site_records: &mut SortedSiteRecords,
    name: Option<&str>,
    passes: &mut Passes<'_>,
) -> Result<()> {
    while let Some(update) = site_records.take_before(name)? {
        passes.watch.proceed()?;
        let mut site = start_site(&update.site, passes)?;
        apply_attributes(&mut site, &update, passes)?;
        finish_site(site, passes)?;
    }
    Ok(())
}

/// Applies the attributes of a site. If they changed, all its pages inherit them again.
fn apply_attributes(
    site: &mut Current,
    update: &SiteAttributes,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let before = site.record.defaults;
    let given = SiteDefaults {
        quality: update.quality.apply_to(before.quality),
        spam: update.spam.apply_to(before.spam),
        quota: update.quota.apply_to(before.quota),
    };
    passes.of_sites.named += 1;
    if given == before {
        return Ok(());
    }
    passes.of_sites.changed += 1;
    site.record.defaults = given;
    site.is_changed = true;
    if (given.quality, given.spam) == (before.quality, before.spam) {
        return Ok(());
    }
    for entry in passes
        .store
        .scan_under(&tables::PAGES, &site.id.0.to_be_bytes())?
    {
        passes.watch.proceed()?;
        let (page, _) = entry?;
        page_event(&mut passes.pages, page, &PageEvent::Inherit(given))?;
    }
    Ok(())
}

fn start_site(name: &str, passes: &mut Passes<'_>) -> Result<Current> {
    let known = passes.store.get(&tables::SITE_IDS, &name.to_owned())?;
    let (id, record) = if let Some(id) = known {
        (id, passes.store.need(&tables::SITES, &id)?)
    } else {
        let id = passes.site_ids.assign(name, &mut passes.counters)?;
        passes
            .changes
            .put(&tables::SITE_IDS, &name.to_owned(), &id)?;
        (id, SiteRecord::default())
    };
    Ok(Current {
        first_new: record.next_page,
        id,
        name: name.to_owned(),
        record,
        is_new: known.is_none(),
        is_changed: false,
    })
}

fn finish_site(site: Current, passes: &mut Passes<'_>) -> Result<()> {
    if site.record.next_page > site.first_new {
        passes.fetches.add_site(site.id, site.first_new);
    }
    let delta = SiteDelta {
        name: site.is_new.then_some(site.name),
        next_page: site.record.next_page,
        given: site.is_changed.then_some(site.record.defaults),
        ..SiteDelta::default()
    };
    passes.site(site.id, &delta)
}

fn find_or_create_page(
    site: &mut Current,
    local: &str,
    passes: &mut Passes<'_>,
) -> Result<(PageId, bool)> {
    let key = (site.id, local.to_owned());
    if !site.is_new
        && let Some(index) = passes.store.get(&tables::PAGE_IDS, &key)?
    {
        return Ok((PageId::new(site.id, index), false));
    }
    let index = site.record.next_page;
    site.record.next_page = index
        .checked_add(1)
        .ok_or(seedbank_store::StoreError::Full("page of a site"))?;
    let page = PageId::new(site.id, index);
    passes.changes.put(&tables::PAGE_IDS, &key, &index)?;
    page_event(&mut passes.pages, page, &PageEvent::New(local))?;
    if site.record.defaults != SiteDefaults::default() {
        page_event(
            &mut passes.pages,
            page,
            &PageEvent::Inherit(site.record.defaults),
        )?;
    }
    Ok((page, true))
}

// Of records of one URL in several portions, one has what a fetch found and one has the links; both can be the same. URLs
// that are targets only of other links do not count as named.

pub(super) struct Deduplicated {
    pub(super) urls: Shuffle,
    pub(super) pieces: Sorted,
    /// Number of URLs of each portion that this process has read.
    pub(super) lengths: BTreeMap<u32, u32>,
    /// Attributes of sites.
    pub(super) sites: SiteRecords,
    /// URLs, by [`of_portion`], that are targets only of removed records.
    pub(super) unnamed: RoaringTreemap,
    pub(super) superseded: u64,
}

/// Encodes a portion and a rank in it as one number.
pub(super) fn of_portion(portion: u32, rank: u32) -> u64 {
    u64::from(portion) << 32 | u64::from(rank)
}

/// Divides numbers of [`of_portion`] by the processes that have read the portions.
pub(super) fn by_reader(exchange: &Exchange, set: RoaringTreemap) -> Vec<RoaringTreemap> {
    let processes = exchange.processes() as u64;
    let reader = |number: u64| usize::try_from((number >> 32) % processes).unwrap_or(0);
    exchange.by_owner(set, reader)
}

/// Removes from records what others of the same URL supersede: each process finds this for its sites, and removes it from
/// the records that it has read. All of them learn the URLs that are not named any more.
pub(super) fn deduplicate(
    mut gathered: CollectedInput,
    passes: &Passes<'_>,
) -> Result<Deduplicated> {
    let exchange = &passes.exchange;
    // Records of one portion were merged when it was collected.
    let is_merged = gathered.lengths.len() < 2 || !gathered.unrecorded.is_empty();
    let mut losers = if exchange.is_alone() && is_merged {
        Losers::default()
    } else {
        losers(gathered.sources.take()?, passes.watch)?
    };
    losers.found = exchange.send_sets(by_reader(exchange, losers.found))?;
    losers.links = exchange.send_sets(by_reader(exchange, losers.links))?;
    let mut input = Deduplicated {
        urls: gathered.urls,
        pieces: gathered.pieces,
        lengths: gathered.lengths,
        sites: gathered.sites,
        unnamed: RoaringTreemap::new(),
        superseded: gathered.superseded + losers.records,
    };
    if !gathered.unrecorded.is_empty() {
        let mut nodes = gathered.unrecorded;
        input.pieces = remove_linked(
            &mut nodes,
            input.pieces,
            passes.large_sorter(),
            passes.watch,
        )?;
        input.unnamed = nodes.into_iter().map(|node| of_portion(0, node)).collect();
    } else if !(losers.found.is_empty() && losers.links.is_empty()) {
        remove(&losers, &mut input, passes)?;
    }
    input.unnamed = exchange.gather_sets(input.unnamed)?;
    Ok(input)
}

/// Records that others of the same URL, in other portions, supersede in part.
#[derive(Default)]
struct Losers {
    /// Those with a fetch that does not count.
    found: RoaringTreemap,
    /// Those with links that do not count.
    links: RoaringTreemap,
    /// Number of records, without one of each URL.
    records: u64,
}

/// Removes what does not count from records, and finds the URLs that only it names.
fn remove(losers: &Losers, input: &mut Deduplicated, passes: &Passes<'_>) -> Result<()> {
    let mut left = passes.large_sorter();
    let mut bytes = Vec::new();
    while let Some(next) = input.pieces.peek()? {
        let portion: [u8; 4] = group(next)?;
        let number = u32::from_be_bytes(portion);
        let mut named = RoaringBitmap::new();
        let mut maybe_unnamed = RoaringBitmap::new();
        while let Some((key, value)) = input.pieces.next_under(&portion)? {
            passes.watch.proceed()?;
            let url = Fields(&key[portion.len()..]).u32()?;
            let mut targets = value;
            let packed = take_input(&mut targets)?;
            let place = of_portion(number, url);
            let is_superseded = [&losers.found, &losers.links].map(|set| set.contains(place));
            // Input from lists stays, since it can complete the record that counts, and so do failures.
            let record = match is_superseded {
                [false, false] => None,
                _ => match seedbank_store::unpack(packed)? {
                    PageInput::Record(update) => Some(update),
                    _ => None,
                },
            };
            let has_targets = if let Some(mut update) = record {
                let order: [u8; 8] = group(&key[portion.len() + 4..])?;
                let has_targets = update.lose(is_superseded, u64::from_be_bytes(order));
                bytes.clear();
                put_input(
                    &seedbank_store::pack(&PageInput::Record(update))?,
                    &mut bytes,
                )?;
                if has_targets {
                    bytes.extend_from_slice(targets);
                }
                left.push(key, &bytes)?;
                has_targets
            } else {
                left.push(key, value)?;
                true
            };
            let of_piece = if has_targets {
                &mut named
            } else {
                &mut maybe_unnamed
            };
            of_piece.extend(Gaps::new(targets).filter_map(|rank| u32::try_from(rank).ok()));
        }
        // A URL is unnamed only if no remaining piece of the portion names it.
        let unnamed = (maybe_unnamed - named).into_iter();
        input
            .unnamed
            .extend(unnamed.map(|rank| of_portion(number, rank)));
    }
    input.pieces = left.finish()?;
    Ok(())
}

/// Removes the ranks to which a piece of the only portion links. Returns the same pieces.
fn remove_linked(
    ranks: &mut RoaringBitmap,
    mut pieces: Sorted,
    mut same: Sorter,
    watch: &dyn Watch,
) -> Result<Sorted> {
    while let Some((key, value)) = pieces.next_entry()? {
        watch.proceed()?;
        same.push(key, value)?;
        let mut targets = value;
        take_input(&mut targets)?;
        for rank in Gaps::new(targets).filter_map(|rank| u32::try_from(rank).ok()) {
            ranks.remove(rank);
        }
    }
    Ok(same.finish()?)
}

/// Returns the records that records in other portions supersede in part.
fn losers(mut sources: Sorted, watch: &dyn Watch) -> Result<Losers> {
    let mut losers = Losers::default();
    let mut url = Vec::new();
    let mut records: Vec<(u64, PageFields)> = Vec::new();
    while let Some(key) = sources.peek()? {
        watch.proceed()?;
        url.clear();
        url.extend_from_slice(key);
        records.clear();
        // The key of a URL may be a prefix of another's, so only equal keys are taken.
        while sources.peek()? == Some(url.as_slice()) {
            let Some((_, value)) = sources.next_entry()? else {
                break;
            };
            let place: [u8; 8] = group(value)?;
            let fields = seedbank_store::unpack(&value[place.len()..])?;
            records.push((u64::from_be_bytes(place), fields));
        }
        if records.len() < 2 {
            continue;
        }
        losers.records += records.len() as u64 - 1;
        let merge = |all: PageFields, (_, fields): &(u64, PageFields)| all.merge(fields);
        let all = records.iter().fold(PageFields::default(), merge);
        let links = all.settled().links;
        let (mut has_found, mut has_links) = (false, false);
        for (record, fields) in &records {
            // Records that state the same have the same content, so it does not matter which of them counts.
            if fields.found.1 != Found::Nothing {
                let counts = fields.found == all.found && !has_found;
                has_found |= counts;
                if !counts {
                    losers.found.insert(*record);
                }
            }
            if fields.links.is_some() {
                let counts = fields.links == links && !has_links;
                has_links |= counts;
                if !counts {
                    losers.links.insert(*record);
                }
            }
        }
    }
    Ok(losers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ingest::pieces::push_piece;
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn nodes_that_no_piece_links_to_remain() {
        let folder = tempfile::tempdir().unwrap();
        let sorter = || Sorter::new(folder.path(), 1 << 20);
        let pieces = || {
            let (mut pieces, mut bytes) = (sorter(), Vec::new());
            for (node, targets) in [(0, [1, 5]), (2, [2, 9])] {
                let input = super::super::pieces::PageInput::Links;
                push_piece(&mut pieces, 0, node, 0, &input, &targets, &mut bytes).unwrap();
            }
            pieces.finish().unwrap()
        };
        let mut nodes = RoaringBitmap::from_iter([1, 3, 5, 7]);
        let mut same = remove_linked(&mut nodes, pieces(), sorter(), &Unwatched).unwrap();
        assert!(nodes.iter().eq([3, 7]));
        let mut expected = pieces();
        while let Some(entry) = expected.next_entry().unwrap() {
            assert_eq!(same.next_entry().unwrap(), Some(entry));
        }
        assert_eq!(same.next_entry().unwrap(), None);
    }
}
