//! The links pass: updates the links of pages by their records, and of pages that a snapshot omits,
//! both in the order of pages.

use roaring::RoaringTreemap;

use super::aliases::{self, Resolved};
use super::batch_digest::PartDigests;
use super::batch_fetches::PageNews;
use super::canonical::{CanonicalRecord, CanonicalRecords, digest};
use super::failures::update_failures;
use super::fetch_times::is_stale;
use super::fields::Bytes;
use super::intra_links::IntraBlocks;
use super::link_delta::{delta, difference};
use super::page_update::PageUpdate;
use super::passes::{PageEvent, Passes, member_event, page_event};
use super::target_events::{lead_event, target_event};
use super::yields::{end_page, write_history};
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Hash128, Store, row_hash, tables};

/// Returns the row of a site with exactly these targets; `None` if the bank does not contain it.
fn find_row(
    store: &Store,
    page: PageId,
    hash: Hash128,
    targets: &[PageId],
) -> Result<Option<RowId>> {
    let site = page.site();
    for index in store
        .get(&tables::ROW_HASHES, &(site, hash))?
        .unwrap_or_default()
    {
        let row = RowId::new(site, index);
        if store.need_row(row)? == targets {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Processes the canonical records, and the pages whose links change because of aliases. In a
/// snapshot, crawled pages and aliases without a record become gone, unless they were fetched later.
/// Stale records are skipped.
///
/// `digests` get the records.
pub(super) fn links_pass(
    records: &mut CanonicalRecords,
    passes: &mut Passes<'_>,
    digests: &mut PartDigests,
) -> Result<()> {
    let mut intra = IntraBlocks::default();
    let known = records.snapshot.then(|| match passes.exchange {
        None => passes.store.scan(&tables::PAGES),
        Some(_) => passes.store.scan_local(&tables::PAGES),
    });
    let mut known = known.transpose()?.map(Iterator::peekable);
    let affected = std::mem::take(&mut passes.aliases.affected);
    let mut next_affected = affected.iter().map(PageId).peekable();
    while let Some(record) = records.next_record(passes.watch)? {
        passes.watch.advance(1);
        digest(&record, digests.of_site(record.page.site()))?;
        let CanonicalRecord {
            page,
            is_new,
            mut update,
            order,
            mut targets,
            failures,
            origins,
        } = record;
        let mut old = None;
        while let Some(entry) = known.as_mut().and_then(|known| {
            known.next_if(|entry| entry.as_ref().map_or(true, |(before, _)| *before <= page))
        }) {
            passes.watch.proceed()?;
            let (before, record) = entry?;
            if before == page {
                old = Some(record);
            } else {
                omit(before, record, &affected, &mut intra, passes)?;
            }
        }
        while let Some(before) = next_affected.next_if(|before| *before < page) {
            passes.watch.proceed()?;
            // The scan of a snapshot reads these pages anyway.
            if !records.snapshot {
                resolve_links_again(before, false, &mut intra, passes)?;
            }
        }
        // A page with a record is resolved with the record, not twice.
        let is_affected = next_affected.next_if_eq(&page).is_some();
        if !is_new && old.is_none() {
            old = Some(passes.store.need(&tables::PAGES, &page)?);
        }
        update.fetched = passes.times.of_record(order, update.is_fetch());
        if let (Some(record), Some(time)) = (&old, update.fetched)
            && is_stale(record, time)
        {
            let page_time = record.fetched.unwrap_or(0);
            passes
                .times
                .skip(passes.store, page, record, time, page_time)?;
            // Later failed fetches of the page may be new.
            update = PageUpdate::FAILED;
            targets.clear();
        }
        let answered = update
            .is_fetch()
            .then_some(update.fetched.unwrap_or(u64::MAX));
        let failed = update_failures(page, old.as_ref(), &mut update, answered, &failures, passes)?;
        let news = PageNews {
            page,
            old: old.as_ref(),
            update: &update,
            is_dated: order > 0,
            failed: failed.last,
            origins: &origins,
        };
        passes.by_seed.add(&news, &passes.times)?;
        if update.only_failed && !failed.is_news {
            if is_affected {
                resolve_links_again(page, true, &mut intra, passes)?;
            }
            continue;
        }
        let subject = Subject {
            page,
            old,
            is_named: true,
        };
        update_page(&subject, update, (targets, is_affected), &mut intra, passes)?;
    }
    if !records.snapshot {
        for before in next_affected {
            passes.watch.proceed()?;
            resolve_links_again(before, false, &mut intra, passes)?;
        }
    }
    for entry in known.into_iter().flatten() {
        passes.watch.proceed()?;
        let (page, record) = entry?;
        omit(page, record, &affected, &mut intra, passes)?;
    }
    intra.write(passes)?;
    write_history(passes)
}

struct Subject {
    page: PageId,
    /// `None` for a new page.
    old: Option<PageRecord>,
    /// Whether the batch names it.
    is_named: bool,
}

/// Marks a crawled page or an alias that a snapshot does not name as gone, unless it was fetched
/// later; then its links may still change with the aliases (`affected`).
fn omit(
    page: PageId,
    record: PageRecord,
    affected: &RoaringTreemap,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    if !matches!(record.state, PageState::Crawled | PageState::Alias) {
        return Ok(());
    }
    if passes.times.is_after_batch(&record) {
        if affected.contains(page.0) {
            resolve_links_again(page, false, intra, passes)?;
        }
        return Ok(());
    }
    let mut update = PageUpdate::GONE;
    let answered = passes.times.batch().or(Some(u64::MAX));
    update_failures(page, Some(&record), &mut update, answered, &[], passes)?;
    let subject = Subject {
        page,
        old: Some(record),
        is_named: false,
    };
    update_page(&subject, update, (Vec::new(), false), intra, passes)
}

/// Resolves the links of a page that the batch does not update. `is_named` is true if the batch names
/// it.
fn resolve_links_again(
    page: PageId,
    is_named: bool,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let subject = Subject {
        page,
        old: Some(passes.store.need(&tables::PAGES, &page)?),
        is_named,
    };
    let links = resolved_again(&subject, passes)?;
    passes.fetches.begin_page(subject.old.as_ref(), false);
    let more = set_links(&subject, links, intra, passes)?;
    passes.loss.count(page, 0, more);
    end_page(page, subject.old.as_ref(), None, 0, passes)
}

/// Resolves the links of an existing page with the aliases after the batch.
fn resolved_again(subject: &Subject, passes: &Passes<'_>) -> Result<Resolved> {
    let page = subject.page;
    let row = subject.old.as_ref().and_then(|record| record.row);
    let links = passes.store.links_of(page, row)?;
    let old = match passes.aliases.record(page, subject.is_named)? {
        Some(AliasRecord::Links(old)) => old,
        _ => AliasLinks::default(),
    };
    Ok(passes.aliases.resolve_again(page, links, &old)?)
}

/// Updates a page. `given` contains the targets of the record, and whether aliases to which the
/// page links change.
fn update_page(
    subject: &Subject,
    update: PageUpdate,
    given: (Vec<PageId>, bool),
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let (targets, is_affected) = given;
    let page = subject.page;
    let old_state = subject.old.as_ref().map(|record| record.state);
    let new_state = update.state_after(old_state);
    target_event(&mut passes.targets, page, old_state, new_state, true)?;
    // The target of an alias is no link that the page brings.
    let new_links = if update.alias.is_none() {
        passes.fetches.new_among(&targets, passes.store)?
    } else {
        0
    };
    let is_fetch = update.is_fetch() && update.fetched.is_some();
    passes.fetches.begin_page(subject.old.as_ref(), is_fetch);
    let resolved = if update.links {
        // The only target of an alias is not a link.
        let given = if update.alias.is_some() {
            Vec::new()
        } else {
            targets
        };
        Some(passes.aliases.resolve(page, given)?)
    } else if is_affected {
        Some(resolved_again(subject, passes)?)
    } else if old_state == Some(PageState::Alias) && new_state != PageState::Alias {
        Some(Resolved {
            links: Vec::new(),
            aliases: None,
        })
    } else {
        None
    };
    let more_links = match resolved {
        Some(resolved) => set_links(subject, resolved, intra, passes)?,
        None => 0,
    };
    let crawled = |state| i64::from(state == Some(PageState::Crawled));
    let more_pages = crawled(Some(new_state)) - crawled(old_state);
    passes.loss.count(page, more_pages, more_links);
    let old = subject.old.as_ref();
    end_page(page, old, Some(&update), new_links, passes)?;
    page_event(&mut passes.pages, page, &PageEvent::Update(update))
}

/// Replaces a page's links and its alias record. Returns the change of the number of links.
fn set_links(
    subject: &Subject,
    resolved: Resolved,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<i64> {
    let page = subject.page;
    let old = passes.aliases.record(page, subject.is_named)?;
    let alias = passes.aliases.alias(page).map(AliasRecord::Alias);
    let new = alias.or(resolved.aliases.map(AliasRecord::Links));
    let Passes {
        changes, targets, ..
    } = passes;
    let emit = |to, begins| lead_event(targets, to, begins);
    aliases::write(changes, page, old.as_ref(), new.as_ref(), emit)?;
    let is_here = |target: &&PageId| target.site() == page.site();
    let (here, elsewhere): (Vec<&PageId>, Vec<&PageId>) = resolved.links.iter().partition(is_here);
    let here = here.into_iter().map(|target| target.index()).collect();
    let elsewhere: Vec<PageId> = elsewhere.into_iter().copied().collect();
    let more = intra.replace(page, here, passes)?;
    let row = subject.old.as_ref().and_then(|record| record.row);
    Ok(more + inter_links(page, row, &elsewhere, passes)?)
}

/// Replaces a page's links to other sites. Returns the change of their number.
fn inter_links(
    page: PageId,
    old_row: Option<u32>,
    new: &[PageId],
    passes: &mut Passes<'_>,
) -> Result<i64> {
    let old_row = old_row.map(|index| RowId::new(page.site(), index));
    let old = match old_row {
        Some(row) => passes.store.need_row(row)?,
        None => Vec::new(),
    };
    if old == new {
        return Ok(0);
    }
    passes.counts.links_added += difference(new, &old).count() as u64;
    passes.counts.links_removed += difference(&old, new).count() as u64;
    passes
        .fetches
        .add_links(difference(new, &old), difference(&old, new));
    if let Some(row) = old_row {
        member_event(&mut passes.members, row, page.index(), false)?;
    }
    let more = delta(old.len(), new.len());
    page_event(&mut passes.pages, page, &PageEvent::Inter(more))?;
    if new.is_empty() {
        page_event(&mut passes.pages, page, &PageEvent::Row(None))?;
        return Ok(more);
    }
    // An equal row of the site is shared; otherwise the rows pass creates one.
    let hash = row_hash(new);
    if let Some(row) = find_row(passes.store, page, hash, new)? {
        member_event(&mut passes.members, row, page.index(), true)?;
        page_event(&mut passes.pages, page, &PageEvent::Row(Some(row.index())))?;
        return Ok(more);
    }
    let key = Bytes::default()
        .u32(page.site().0)
        .array(hash)
        .u32(page.index());
    let mut content = Vec::with_capacity(new.len() * 8);
    for target in new {
        content.extend_from_slice(&target.0.to_be_bytes());
    }
    passes.new_rows.push(&key, &content)?;
    Ok(more)
}
