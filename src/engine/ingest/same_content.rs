//! Links of a page whose fetch found the content of another page, as `revisit` records of web archives say it.
//!
//! ```text
//! record of A: content of B   -- by B -->   B's links, from the batch or the bank   -- by A -->   a record of A
//! ```
//!
//! The answer is a record of A with the time of its fetch, which is merged with all others. B's content may have changed
//! since, so there is an answer only if the digests are equal, or if one of them is unknown. A page whose own content is
//! unchanged keeps its links, since those of B are relative to B.

use super::canonical::{PIECE, by_record, merged};
use super::events::{Bytes, Fields, group};
use super::page_fields::given_links;
use super::passes::Passes;
use super::pieces::{Gaps, LinkOrder, PageInput, PageUpdate, put_gap, put_input, take_input};
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, PageKind};
use seedbank_store::records::{PageField, PageState};
use seedbank_store::{Hash128, StoreError, tables};

/// A content: its digest, its kind and its links if they are known.
struct Content {
    digest: Option<Hash128>,
    kind: PageKind,
    links: Option<Vec<PageId>>,
}

/// Asks for the links of `same`, whose content a fetch of a page found. `order` is the time of the fetch.
///
/// Cost: a read of the page.
pub(super) fn ask(
    page: PageId,
    order: u64,
    digest: Option<Hash128>,
    same: PageId,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let stored = passes.store.get(&tables::PAGES, &page)?;
    let is_unchanged = stored.is_some_and(|stored| {
        stored.time_of(PageField::Outlinks).is_some() && digest.is_some() && stored.digest == digest
    });
    if is_unchanged {
        return Ok(());
    }
    let key = Bytes::default().u64(same.0).u64(page.0).u64(order);
    Ok(passes
        .same_content
        .push(&key, &seedbank_store::pack(&digest)?)?)
}

/// Answers all processes: adds the contents of pages of this process to the records. All records of the batch are known.
///
/// Cost: if a page of any process was asked for, a copy of the records.
pub(super) fn answer(passes: &mut Passes<'_>) -> Result<()> {
    let mut asked = passes.same_content.take()?;
    let is_any = asked.peek()?.is_some();
    if !passes.exchange.gather(is_any)?.contains(&true) {
        return Ok(());
    }
    let mut records = passes.records.take()?;
    let mut all = passes.shuffle(super::exchange::Stream::Records);
    while let Some(next) = asked.peek()? {
        passes.watch.proceed()?;
        let of_page: [u8; 8] = group(next)?;
        let page = PageId(u64::from_be_bytes(of_page));
        let mut of_batch = Vec::new();
        while records.peek()?.is_some_and(|key| key[..8] <= of_page[..]) {
            let Some((key, value)) = records.next_entry()? else {
                break;
            };
            all.push(key, value)?;
            if key[..8] == of_page[..] && key.get(8) == Some(&PIECE) {
                let mut targets = value;
                let input = seedbank_store::unpack(take_input(&mut targets)?)?;
                if let PageInput::Record(update) = input {
                    let order = Fields(&key[9..]).u64()?;
                    of_batch.push((update, order, Gaps::new(targets).map(PageId).collect()));
                }
            }
        }
        let content = content(page, of_batch, passes)?;
        while let Some((key, value)) = asked.next_under(&of_page)? {
            let mut fields = Fields(&key[of_page.len()..]);
            let (page, order) = (fields.page()?, fields.u64()?);
            let digest: Option<Hash128> = seedbank_store::unpack(value)?;
            let is_same = |content: &&Content| {
                digest.is_none() || content.digest.is_none() || content.digest == digest
            };
            if let Some(content) = content.as_ref().filter(is_same) {
                let key = by_record(page).byte(PIECE).u64(order);
                all.push(&key, &record(content, digest, page)?)?;
            }
        }
    }
    while let Some((key, value)) = records.next_entry()? {
        passes.watch.proceed()?;
        all.push(key, value)?;
    }
    passes.records = all;
    Ok(())
}

/// Returns the content of a page, from its records in the batch or from the bank; `None` if none is known.
fn content(
    page: PageId,
    of_batch: Vec<(PageUpdate, u64, Vec<PageId>)>,
    passes: &Passes<'_>,
) -> Result<Option<Content>, StoreError> {
    let (update, _, links) = merged(of_batch);
    if let Some(update) = update.filter(|update| update.crawled && update.links) {
        return Ok(Some(Content {
            digest: update.digest,
            kind: update.kind.unwrap_or(PageKind::Page),
            links: Some(links),
        }));
    }
    let stored = passes.store.get(&tables::PAGES, &page)?;
    let is_content = |state| matches!(state, PageState::Crawled | PageState::Resource);
    let Some(stored) = stored.filter(|stored| is_content(stored.state)) else {
        return Ok(None);
    };
    let links = if stored.has_no_outlinks() {
        None
    } else {
        Some(given_links(passes.store, page, &stored)?)
    };
    Ok(Some(Content {
        digest: stored.digest,
        kind: stored.kind,
        links,
    }))
}

/// Returns the record of a page with a content, as a piece. Of records of the same time, others count.
fn record(content: &Content, digest: Option<Hash128>, page: PageId) -> Result<Vec<u8>> {
    let update = PageUpdate {
        links: content.links.is_some(),
        kind: Some(content.kind),
        digest: content.digest.filter(|_| digest.is_none()),
        order: Some(LinkOrder::default()),
        ..PageUpdate::NAMED
    };
    let mut bytes = Vec::new();
    put_input(
        &seedbank_store::pack(&PageInput::Record(update))?,
        &mut bytes,
    )?;
    let mut targets: Vec<PageId> = content.links.iter().flatten().copied().collect();
    targets.retain(|to| *to != page);
    targets.sort_unstable();
    let mut last = 0;
    for target in targets {
        put_gap(target.0 - last, &mut bytes);
        last = target.0;
    }
    Ok(bytes)
}
