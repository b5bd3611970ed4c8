//! The web before the last batch, as far as it differs from today's: links and values that pages had.
//!
//! A bank keeps what its last batch overwrote, so that it can be taken back. Where a plan's last
//! refresh ran just before that batch, this is the state that it ran on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roaring::RoaringTreemap;

use super::load::{LoadedWeb, may_be_seed, value_of};
use super::numbers::{Earlier, Numbers};
use crate::engine::EngineError;
use crate::engine::ingest::undo::typed;
use crate::engine::policy::Rules;
use crate::engine::refresh::cover::sites::facts;
use seedbank_algorithms::cover::web::{Changes, WebChoice};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::links::{LinkBlock, LinkKey, NEIGHBOURS};
use seedbank_store::records::{PageRecord, RowMembers, SiteRecord};
use seedbank_store::{Store, StoreError, tables};

/// The most entries that a batch may have overwritten for each page of the web.
const ENTRIES: u64 = 2;

/// What the last batch overwrote: `None` for what there was not.
///
/// Memory: the former records of the pages, rows, blocks of links and sites that the batch wrote.
#[derive(Default)]
struct Overwritten {
    sites: BTreeMap<SiteId, Option<SiteRecord>>,
    pages: BTreeMap<PageId, Option<PageRecord>>,
    intra: BTreeMap<LinkKey, Option<LinkBlock<u32>>>,
    rows: BTreeMap<LinkKey, Option<LinkBlock<PageId>>>,
    members: BTreeMap<RowId, Option<RowMembers>>,
}

/// The web before the last batch.
pub(super) struct Then<'a> {
    store: &'a Store,
    web: &'a LoadedWeb,
    numbers: &'a Numbers,
    choice: &'a WebChoice,
    rules: &'a Rules,
    overwritten: Overwritten,
    /// The pages that there are no more, ascending.
    lost: Vec<PageId>,
}

impl<'a> Then<'a> {
    /// The web before the last batch, if that is the one that an earlier refresh ran on; `None` where
    /// it is not, or what the batch overwrote is not kept or too much.
    pub(super) fn of(
        store: &'a Store,
        (web, numbers): (&'a LoadedWeb, &'a Numbers),
        (choice, rules): (&'a WebChoice, &'a Rules),
        earlier: Earlier,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, EngineError> {
        let undo = store.undo_record()?;
        let is_last = earlier.batch.checked_add(1) == Some(earlier.today);
        let undo = undo.filter(|undo| is_last && undo.batch == earlier.today && !undo.is_first());
        // A batch that changed much of the web is not followed.
        let undo = undo.filter(|undo| undo.entries / ENTRIES <= web.pages.len() as u64);
        let Some(undo) = undo else {
            return Ok(None);
        };
        let mut overwritten = Overwritten::default();
        store.overwritten(&undo, |table, key, former| {
            watch.proceed()?;
            overwritten.put(table, key, former)
        })?;
        let mut then = Self {
            store,
            web,
            numbers,
            choice,
            rules,
            overwritten,
            lost: Vec::new(),
        };
        let pages = then.overwritten.pages.keys();
        let pages: Vec<PageId> = pages.copied().collect();
        for page in pages {
            if then.was_there(page)? && numbers.of(page).is_none() {
                then.lost.push(page);
            }
        }
        Ok(Some(then))
    }

    /// The pages that there are no more, ascending.
    pub(super) fn lost(&self) -> &[PageId] {
        &self.lost
    }

    /// The number of a page: for those that there are no more, numbers after all others.
    pub(super) fn number(&self, page: PageId) -> Option<u32> {
        if let Some(number) = self.numbers.of(page) {
            return Some(number);
        }
        let at = self.lost.binary_search(&page).ok()?;
        let at = u32::try_from(at).ok()?;
        self.web.graph.pages().checked_add(at)
    }

    /// What differs.
    pub(super) fn changes(&self, watch: &dyn Watch) -> Result<Changes, EngineError> {
        let mut links = Vec::new();
        let mut may_be_new: BTreeSet<PageId> = self.overwritten.pages.keys().copied().collect();
        for page in self.perhaps_relinked(watch)? {
            watch.proceed()?;
            let Some(number) = self.number(page) else {
                continue;
            };
            let then = self.links(page)?;
            let is_there = number < self.web.graph.pages();
            let now = if is_there {
                self.web.graph.successors().list(number)
            } else {
                &[]
            };
            if then != now {
                links.push((number, then));
                may_be_new.insert(page);
            }
        }
        links.sort_unstable();
        let mut new = Vec::new();
        for page in may_be_new {
            watch.proceed()?;
            if let Some(number) = self.numbers.of(page)
                && self.web.marks[number as usize].may_be_seed
                && !self.was_candidate(page)?
            {
                new.push(number);
            }
        }
        let mut values = Vec::new();
        for page in self.perhaps_revalued()? {
            watch.proceed()?;
            let (Some(number), true) = (self.number(page), self.was_there(page)?) else {
                continue;
            };
            let then = self.value(page)?;
            let now = self.web.graph.values().get(number as usize);
            if now != Some(&then) {
                values.push((number, then));
            }
        }
        values.sort_unstable();
        Ok(Changes::Known { values, links, new })
    }

    /// The pages whose links may be others.
    fn perhaps_relinked(&self, watch: &dyn Watch) -> Result<BTreeSet<PageId>, EngineError> {
        let mut pages = BTreeSet::new();
        for (&key, then) in &self.overwritten.intra {
            watch.proceed()?;
            let now = self.store.links(&tables::INTRA, key)?;
            for place in 0..NEIGHBOURS {
                let then = then.as_ref().map_or(&[][..], |then| then.at(place));
                if then != now.at(place) {
                    pages.insert(PageId::new(key.site, key.index(place)));
                }
            }
        }
        for (&page, then) in &self.overwritten.pages {
            let row = |record: &Option<PageRecord>| record.as_ref().and_then(|record| record.row);
            let now = self.numbers.of(page);
            let is_same = self.was_there(page)? == now.is_some();
            if !is_same || row(then) != row(&self.store.get(&tables::PAGES, &page)?) {
                pages.insert(page);
            }
            // Those that link to it have a link more.
            if let (Some(number), false) = (now, is_same) {
                let sources = self.web.graph.predecessors().list(number).iter();
                pages.extend(sources.map(|&source| self.web.pages[source as usize]));
            }
        }
        let lost: RoaringTreemap = self.lost.iter().map(|page| page.0).collect();
        // And those that linked to one that is no page any more, one less.
        pages.extend(self.store.linking_any(&lost, watch)?.iter().map(PageId));
        Ok(pages)
    }

    /// The pages whose value may be another.
    fn perhaps_revalued(&self) -> Result<BTreeSet<PageId>, EngineError> {
        let mut pages: BTreeSet<PageId> = self.overwritten.pages.keys().copied().collect();
        if self.choice.p_uniq.is_none_or(|share| share.0 != 0) {
            for (&row, then) in &self.overwritten.members {
                let Some(now) = self.store.get(&tables::ROW_MEMBERS, &row)? else {
                    continue;
                };
                if then.as_ref().map(|then| then.uncrawled) != Some(now.uncrawled) {
                    let carriers = now.pages.iter();
                    pages.extend(carriers.map(|index| PageId::new(row.site(), index)));
                }
            }
        }
        if self.choice.p_uniq.is_none() {
            let digests = |record: &SiteRecord| (record.distinct_digests, record.with_digest);
            let mut sites = BTreeSet::new();
            for (&site, then) in &self.overwritten.sites {
                let now = self.store.need(&tables::SITES, &site)?;
                if then.as_ref().map(digests) != Some(digests(&now)) {
                    sites.insert(site);
                }
            }
            let of_web = self.web.pages.iter();
            pages.extend(of_web.filter(|page| sites.contains(&page.site())));
        }
        Ok(pages)
    }

    /// The record that a page had; `None` where it had none.
    fn record(&self, page: PageId) -> Result<Option<PageRecord>, StoreError> {
        match self.overwritten.pages.get(&page) {
            Some(then) => Ok(then.clone()),
            None => self.store.get(&tables::PAGES, &page),
        }
    }

    /// The name of a site; sites keep their names.
    fn name(&self, site: SiteId) -> Result<String, StoreError> {
        Ok(self.store.need(&tables::SITES, &site)?.name)
    }

    /// Whether a page was one of the web.
    fn was_there(&self, page: PageId) -> Result<bool, StoreError> {
        let Some(then) = self.overwritten.pages.get(&page) else {
            // Nothing that decides it has changed.
            return Ok(self.numbers.of(page).is_some());
        };
        let Some(then) = then.as_ref().filter(|then| then.state.is_live()) else {
            return Ok(false);
        };
        let candidates = &self.rules.candidates;
        Ok(candidates.leave_out().is_none()
            || !candidates.is_left_out(&self.name(page.site())?, then))
    }

    /// Whether a page could be a seed.
    fn was_candidate(&self, page: PageId) -> Result<bool, EngineError> {
        if !self.was_there(page)? {
            return Ok(false);
        }
        let Some(then) = self.record(page)? else {
            return Ok(false);
        };
        let name = self.name(page.site())?;
        Ok(may_be_seed(&then, self.rules, &name) && !self.links(page)?.is_empty())
    }

    /// The numbers of the pages that a page linked to, ascending.
    fn links(&self, page: PageId) -> Result<Vec<u32>, EngineError> {
        let mut links = Vec::new();
        if !self.was_there(page)? {
            return Ok(links);
        }
        let mut add = |target: PageId| -> Result<(), EngineError> {
            if self.was_there(target)? {
                links.extend(self.number(target));
            }
            Ok(())
        };
        let (key, place) = LinkKey::of_page(page);
        let inside = match self.overwritten.intra.get(&key) {
            Some(then) => then.as_ref().map(|then| then.at(place).to_vec()),
            None => Some(self.store.intra(page)?),
        };
        for index in inside.into_iter().flatten() {
            add(PageId::new(page.site(), index))?;
        }
        if let Some(row) = self.record(page)?.and_then(|record| record.row) {
            for target in self.row(RowId::new(page.site(), row))? {
                add(target)?;
            }
        }
        links.sort_unstable();
        Ok(links)
    }

    /// The targets of a row that there was.
    fn row(&self, row: RowId) -> Result<Vec<PageId>, StoreError> {
        let (key, place) = LinkKey::of_row(row);
        match self.overwritten.rows.get(&key) {
            Some(then) => Ok(then
                .as_ref()
                .map_or(&[][..], |then| then.at(place))
                .to_vec()),
            None => self.store.need_row(row),
        }
    }

    /// What a page of the web was worth, in millionths.
    fn value(&self, page: PageId) -> Result<i64, EngineError> {
        let Some(record) = self.record(page)? else {
            return Ok(0);
        };
        let mut of_rows = HashMap::new();
        if let Some(index) = record.row {
            let row = RowId::new(page.site(), index);
            let members = match self.overwritten.members.get(&row) {
                Some(then) => then.clone(),
                None => self.store.get(&tables::ROW_MEMBERS, &row)?,
            };
            of_rows.extend(members.map(|members| (index, members.uncrawled)));
        }
        let site = match self.overwritten.sites.get(&page.site()) {
            Some(then) => then.clone().unwrap_or_default(),
            None => self.store.need(&tables::SITES, &page.site())?,
        };
        let (distinct, with_digest) = (site.distinct_digests, site.with_digest);
        let p_uniq = self.choice.p_uniq_of(distinct.into(), with_digest.into());
        Ok(value_of(
            &record,
            facts(&record, &of_rows),
            p_uniq,
            self.choice,
        ))
    }
}

impl Overwritten {
    fn put(
        &mut self,
        table: &'static str,
        key: &[u8],
        former: Option<&[u8]>,
    ) -> Result<(), EngineError> {
        if table == tables::SITES.name {
            self.sites.extend([typed(table, key, former)?]);
        } else if table == tables::PAGES.name {
            self.pages.extend([typed(table, key, former)?]);
        } else if table == tables::INTRA.name {
            self.intra.extend([typed(table, key, former)?]);
        } else if table == tables::ROWS.name {
            self.rows.extend([typed(table, key, former)?]);
        } else if table == tables::ROW_MEMBERS.name {
            self.members.extend([typed(table, key, former)?]);
        }
        Ok(())
    }
}
