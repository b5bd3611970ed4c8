//! Aliases: which pages a batch makes aliases or ends as aliases, and the pages whose links change
//! as a result.
//!
//! The bank stores resolved links ([`seedbank_store::aliases`]). So if an alias is added, removed
//! or redirected, the links of every page that links to it, or to an alias that leads there through
//! it, are resolved again from the targets in its record. These pages are determined before the
//! links pass, which processes them together with the pages that have a record.
//!
//! Held in memory, besides what the passes hold: the aliases that the batch names or changes, and
//! the pages that link to changed ones.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exchange::Exchange;
use super::fetch_times::FetchTimes;
use super::page_fields::{Found, PageFields, is_latest};
use super::pieces::PageInput;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::aliases::{AliasLinks, AliasRecord, AliasReference, MAX_CHAIN, resolve_alias};
use seedbank_store::links::LinkKey;
use seedbank_store::{Changes, Store, StoreError, tables};

/// Old and new alias of a page.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Change {
    old: Option<PageId>,
    new: Option<PageId>,
}

/// What a batch contains about a page that is an alias or becomes one.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct AliasInput {
    /// The alias that its record makes it.
    alias: Option<PageId>,
    /// Whether it has a record, and whether the record decides if the page is an alias: it makes
    /// the page an alias, crawled or gone.
    has_record: bool,
    is_decided: bool,
    /// Whether a list contains it as a page.
    is_listed: bool,
    /// What the record found, after its time as an ascending number, which is 0 without one.
    found: (u64, Found),
}

impl AliasInput {
    /// Adds other input about the same page, which has at most one record that decides.
    fn add(&mut self, other: Self) {
        self.alias = self.alias.or(other.alias);
        self.has_record |= other.has_record;
        self.is_decided |= other.is_decided;
        self.is_listed |= other.is_listed;
        self.found = self.found.max(other.found);
    }

    /// Returns the alias that the page is after the batch, by the same rules as its state
    /// ([`super::canonical`]): attributes alone do not end an alias, but a page that only lists
    /// contain is crawled.
    fn after(&self, old: Option<PageId>) -> Option<PageId> {
        match self {
            Self {
                is_decided: true,
                alias,
                ..
            } => *alias,
            Self {
                has_record: true,
                is_listed: false,
                ..
            } => old,
            _ => None,
        }
    }
}

/// Changes of aliases by a batch.
pub(super) struct Aliases<'a> {
    store: &'a Store,
    /// Whether the bank has any aliases. If not, nothing is looked up.
    pub(super) any: bool,
    /// Aliases of the bank that the batch names, as a page or as a target.
    named: BTreeMap<PageId, PageId>,
    /// Pages that the batch names, as a page or as a target, and that linked to an alias.
    linking: RoaringTreemap,
    /// Input about aliases of the bank, and about pages that records make aliases.
    inputs: BTreeMap<PageId, AliasInput>,
    changes: BTreeMap<PageId, Change>,
    /// Pages whose links may change as a result.
    pub(super) affected: RoaringTreemap,
    pub(super) counts: AliasCounts,
}

/// Changes of aliases by a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AliasCounts {
    /// Pages that became aliases.
    pub became: u64,
    /// Aliases that became pages or gone.
    pub ended: u64,
    /// Aliases that now lead nowhere: in a circle, or over more than twenty others.
    pub cut: u64,
}

pub(super) struct Resolved {
    /// Resolved links, ascending.
    pub(super) links: Vec<PageId>,
    /// The targets in the record, if they differ from the resolved links.
    pub(super) aliases: Option<AliasLinks>,
}

impl<'a> Aliases<'a> {
    pub(super) fn load(store: &'a Store) -> Result<Self, StoreError> {
        let first = store.scan(&tables::ALIASES)?.next().transpose()?;
        Ok(Self {
            store,
            any: first.is_some(),
            named: BTreeMap::new(),
            linking: RoaringTreemap::new(),
            inputs: BTreeMap::new(),
            changes: BTreeMap::new(),
            affected: RoaringTreemap::new(),
            counts: AliasCounts::default(),
        })
    }

    /// Looks up a page of the bank that the batch names. `has_record` is true if the input contains
    /// the page itself, not only links to it.
    pub(super) fn name(&mut self, page: PageId, has_record: bool) -> Result<(), StoreError> {
        if self.any {
            match self.store.get(&tables::ALIASES, &page)? {
                Some(AliasRecord::Alias(alias)) => {
                    self.named.insert(page, alias);
                    if has_record {
                        self.inputs.entry(page).or_default();
                    }
                }
                Some(AliasRecord::Links(_)) => {
                    self.linking.insert(page.0);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds a piece of input about a page with its fetch time. `target` is the first of its targets.
    pub(super) fn add_input(
        &mut self,
        page: PageId,
        piece: &PageInput,
        order: u64,
        target: Option<PageId>,
    ) {
        let alias = match (piece, target) {
            (PageInput::Record(update), Some(to)) if !update.gone => update.alias.then_some(to),
            _ => None,
        };
        if alias.is_none() && !self.named.contains_key(&page) {
            return;
        }
        let input = self.inputs.entry(page).or_default();
        match piece {
            // They decide nothing, and their time is not that of the record.
            PageInput::Failures(_)
            | PageInput::Origin(_)
            | PageInput::Canonical(_)
            | PageInput::SameContent { .. } => {
                input.has_record = true;
            }
            PageInput::Record(update) => {
                input.has_record = true;
                // Of several records at most one does.
                if alias.is_some() || update.gone || update.crawled {
                    input.is_decided = true;
                    input.alias = alias;
                    input.found = PageFields::of_update(update, order).found;
                }
            }
            PageInput::Links | PageInput::Attributes(_) => input.is_listed = true,
        }
    }

    /// Adds the named aliases of other processes.
    pub(super) fn gather_named(&mut self, exchange: &Exchange) -> Result<()> {
        self.named = exchange.gather_maps(std::mem::take(&mut self.named))?;
        Ok(())
    }

    /// Determines the changes after all input was added: process 0 does, and all processes learn them, each with the
    /// affected pages of its sites.
    pub(super) fn determine_changes(
        &mut self,
        snapshot: bool,
        times: &FetchTimes,
        watch: &dyn Watch,
        exchange: &Exchange,
    ) -> Result<()> {
        for inputs in exchange.collect(std::mem::take(&mut self.inputs))? {
            for (page, input) in inputs {
                self.inputs.entry(page).or_default().add(input);
            }
        }
        self.changes = exchange.decide(|| {
            self.resolve_changes(snapshot, times, watch)?;
            Ok(std::mem::take(&mut self.changes))
        })?;
        let affected = std::mem::take(&mut self.affected);
        let owner = |page| exchange.owner_of_site(PageId(page).site());
        self.affected = exchange.send_sets(exchange.by_owner(affected, owner))?;
        Ok(())
    }

    /// Determines the changes from the input of all processes. In a snapshot, an alias without a record
    /// is gone, unless it was fetched later. Stale records change nothing.
    fn resolve_changes(
        &mut self,
        snapshot: bool,
        times: &FetchTimes,
        watch: &dyn Watch,
    ) -> Result<()> {
        for (page, input) in &self.inputs {
            let old = self.named.get(page).copied();
            let new = input.after(old);
            if new != old {
                let is_fetch = input.is_decided || input.is_listed;
                let record = self.store.get(&tables::PAGES, page)?;
                if is_fetch && !is_latest(self.store, *page, record.as_ref(), input.found, times)? {
                    continue;
                }
                self.changes.insert(*page, Change { old, new });
            }
        }
        // A snapshot ends every alias that it does not name.
        if snapshot && self.any {
            for entry in self.store.scan(&tables::ALIASES)? {
                watch.proceed()?;
                if let (page, AliasRecord::Alias(alias)) = entry?
                    && !self.inputs.contains_key(&page)
                    && !times.is_after_batch(&self.store.need(&tables::PAGES, &page)?)
                {
                    let change = Change {
                        old: Some(alias),
                        new: None,
                    };
                    self.changes.insert(page, change);
                }
            }
        }
        for change in self.changes.values() {
            match (change.old, change.new) {
                (None, Some(_)) => self.counts.became += 1,
                (Some(_), None) => self.counts.ended += 1,
                _ => {}
            }
        }
        // Only pages whose final target changed need their links resolved again.
        for page in self.affected_aliases(watch)? {
            watch.proceed()?;
            let was = resolve_alias(page, |page| self.before(page))?;
            let is = resolve_alias(page, |page| self.after(page))?;
            if is.is_none() && was.is_some() {
                self.counts.cut += 1;
            }
            if was == is {
                continue;
            }
            // Adds the pages that linked to it as a page. If it was an alias, there are none.
            self.add_linking(page)?;
            if self.any {
                for (other, why) in self.store.alias_references(page)? {
                    if why == AliasReference::Link {
                        self.affected.insert(other.0);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the changed pages, and the aliases that lead to them before or after the batch.
    fn affected_aliases(&self, watch: &dyn Watch) -> Result<BTreeSet<PageId>> {
        let mut new_in: BTreeMap<PageId, Vec<PageId>> = BTreeMap::new();
        for (page, change) in &self.changes {
            if let Some(alias) = change.new {
                new_in.entry(alias).or_default().push(*page);
            }
        }
        let mut found: BTreeSet<PageId> = self.changes.keys().copied().collect();
        let mut last: Vec<PageId> = found.iter().copied().collect();
        for _ in 0..=MAX_CHAIN {
            let mut next = Vec::new();
            for page in last {
                watch.proceed()?;
                next.extend(new_in.get(&page).into_iter().flatten());
                if self.any {
                    let before = self.store.alias_references(page)?.into_iter();
                    let leads = before.filter(|(_, why)| *why == AliasReference::Alias);
                    next.extend(leads.map(|(other, _)| other));
                }
            }
            next.retain(|page| found.insert(*page));
            last = next;
        }
        Ok(found)
    }

    /// Adds the pages with a resolved link to a page.
    fn add_linking(&mut self, page: PageId) -> Result<(), StoreError> {
        let site = page.site();
        let (key, place) = LinkKey::of_page(page);
        for &block in self.store.links(&tables::INTRA_IN, key)?.at(place) {
            let key = LinkKey { site, block };
            let links = self.store.links(&tables::INTRA, key)?;
            for place in links.places_of(page.index()) {
                self.affected.insert(PageId::new(site, key.index(place)).0);
            }
        }
        let blocks = self.store.links(&tables::CITERS, key)?.at(place).to_vec();
        for row in self.store.citing_rows(page, &blocks)? {
            let members = self.store.need(&tables::ROW_MEMBERS, &row)?;
            for index in members.pages {
                self.affected.insert(PageId::new(row.site(), index).0);
            }
        }
        Ok(())
    }

    /// Returns the page to which a page led before the batch; `None` if it was not an alias.
    fn before(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        match self.changes.get(&page) {
            Some(change) => Ok(change.old),
            None => self.unchanged(page),
        }
    }

    /// Returns the page to which a page leads after the batch; `None` if it is not an alias.
    fn after(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        match self.changes.get(&page) {
            Some(change) => Ok(change.new),
            None => self.unchanged(page),
        }
    }

    /// Returns the page to which an unchanged alias leads.
    fn unchanged(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        if !self.any {
            return Ok(None);
        }
        match self.named.get(&page) {
            Some(to) => Ok(Some(*to)),
            None => self.store.alias(page),
        }
    }

    /// Whether a page is an alias after the batch. `was` tells whether it was one before.
    fn is_alias(&self, page: PageId, was: bool) -> bool {
        self.changes
            .get(&page)
            .map_or(was, |change| change.new.is_some())
    }

    /// Returns the stored record of a page. `is_named` is true if the batch names the page.
    pub(super) fn record(
        &self,
        page: PageId,
        is_named: bool,
    ) -> Result<Option<AliasRecord>, StoreError> {
        if let Some(alias) = self.named.get(&page) {
            return Ok(Some(AliasRecord::Alias(*alias)));
        }
        if self.any && (!is_named || self.linking.contains(page.0)) {
            return self.store.get(&tables::ALIASES, &page);
        }
        Ok(None)
    }

    /// Returns the page to which a page redirects after the batch, for pages that the batch names or changes.
    pub(super) fn alias(&self, page: PageId) -> Option<PageId> {
        match self.changes.get(&page) {
            Some(change) => change.new,
            None => self.named.get(&page).copied(),
        }
    }

    /// Resolves the targets of a page's record, all of which the batch names.
    pub(super) fn resolve(
        &self,
        page: PageId,
        targets: Vec<PageId>,
    ) -> Result<Resolved, StoreError> {
        if self.named.is_empty() && self.changes.is_empty() {
            return Ok(Resolved {
                links: targets,
                aliases: None,
            });
        }
        let is_alias = |target: &PageId| self.is_alias(*target, self.named.contains_key(target));
        let (aliases, direct) = targets.into_iter().partition(is_alias);
        self.resolve_links(page, aliases, direct)
    }

    /// Resolves a page's links again, given those before the batch and the stored alias links.
    pub(super) fn resolve_again(
        &self,
        page: PageId,
        mut links: Vec<PageId>,
        old: &AliasLinks,
    ) -> Result<Resolved, StoreError> {
        links.retain(|target| old.reached.binary_search(target).is_err());
        let of_aliases = old.aliases.iter().map(|target| (*target, true));
        let of_links = links.into_iter().map(|target| (target, false));
        let (mut aliases, mut direct) = (Vec::new(), Vec::new());
        for (target, was) in of_aliases.chain(of_links) {
            if self.is_alias(target, was) {
                aliases.push(target);
            } else {
                direct.push(target);
            }
        }
        aliases.sort_unstable();
        direct.sort_unstable();
        self.resolve_links(page, aliases, direct)
    }

    /// Resolves links; `aliases` and `direct` are ascending.
    fn resolve_links(
        &self,
        page: PageId,
        aliases: Vec<PageId>,
        direct: Vec<PageId>,
    ) -> Result<Resolved, StoreError> {
        let mut reached = BTreeSet::new();
        for alias in &aliases {
            if let Some(to) = resolve_alias(*alias, |page| self.after(page))?
                && to != page
                && direct.binary_search(&to).is_err()
            {
                reached.insert(to);
            }
        }
        let reached: Vec<PageId> = reached.into_iter().collect();
        let mut links = direct;
        links.extend(&reached);
        links.sort_unstable();
        Ok(Resolved {
            links,
            aliases: (!aliases.is_empty()).then_some(AliasLinks { aliases, reached }),
        })
    }
}

/// Writes the alias record of a page and its reverse entries.
///
/// Calls `lead` for each page to which an alias begins (true) or ceases (false) to lead.
pub(super) fn write(
    changes: &mut Changes,
    page: PageId,
    old: Option<&AliasRecord>,
    new: Option<&AliasRecord>,
    mut lead: impl FnMut(PageId, bool) -> Result<()>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    match new {
        Some(new) => changes.put(&tables::ALIASES, &page, new)?,
        None => changes.delete(&tables::ALIASES, &page)?,
    }
    let ways = |record: Option<&AliasRecord>| -> BTreeMap<PageId, AliasReference> {
        record
            .into_iter()
            .flat_map(AliasRecord::references)
            .collect()
    };
    let (before, after) = (ways(old), ways(new));
    for (other, why) in &before {
        match after.get(other) {
            None => changes.delete(&tables::ALIAS_REFERENCES, &(*other, page))?,
            Some(now) if now != why => {}
            Some(_) => continue,
        }
        if *why == AliasReference::Alias {
            lead(*other, false)?;
        }
    }
    for (other, why) in &after {
        if before.get(other) != Some(why) {
            changes.put(&tables::ALIAS_REFERENCES, &(*other, page), why)?;
            if *why == AliasReference::Alias {
                lead(*other, true)?;
            }
        }
    }
    Ok(())
}
