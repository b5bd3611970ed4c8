//! Aliases: what a batch makes one or none, and the pages whose links that changes.
//!
//! The links in the bank are those that count ([`seedbank_store::aliases`]). So where an alias
//! comes, goes or leads elsewhere, every page that links to it, or to an alias that leads there
//! through it, gets its links anew from what its record once gave. That is worked out before the
//! links pass, which then takes such pages along with those that have a record.
//!
//! Held whole, besides what the passes hold: the aliases that the batch names or changes, and the
//! pages that link to those which change.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::portions::Said;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::aliases::{
    Alias, AliasLinks, AliasRecord, AliasReference, MAX_CHAIN, resolve_alias,
};
use seedbank_store::links::LinkKey;
use seedbank_store::{Changes, Store, StoreError, tables};

/// The alias that a page was, and the one that it is now.
#[derive(Clone, Copy)]
struct Change {
    old: Option<Alias>,
    new: Option<Alias>,
}

/// What a batch says of a page that is an alias, or is to be one.
#[derive(Clone, Copy, Default)]
struct Spoken {
    /// The alias that its record makes it.
    alias: Option<Alias>,
    /// Whether it has a record, and whether that decides whether it is an alias: it makes the page one,
    /// crawled or gone.
    has_record: bool,
    is_decided: bool,
    /// Whether a list has it as a page of its own.
    is_listed: bool,
}

impl Spoken {
    /// The alias that the page is after the batch, which is decided as its state is
    /// ([`super::canonical`]): attributes alone revive nothing, a page that only lists name is crawled.
    fn after(&self, old: Option<Alias>) -> Option<Alias> {
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

/// What a batch does to aliases.
#[derive(Default)]
pub(super) struct Aliases {
    /// Whether the bank has any; without them nothing is looked up.
    pub(super) any: bool,
    /// Aliases of the bank that the batch names, as a page or as a target.
    named: BTreeMap<PageId, Alias>,
    /// Pages that the batch names, as a page or as a target, and that linked to an alias.
    linking: RoaringTreemap,
    /// What is said of aliases of the bank, and of pages that records make one.
    spoken: BTreeMap<PageId, Spoken>,
    changes: BTreeMap<PageId, Change>,
    /// Pages whose links may differ because of the changes.
    pub(super) affected: RoaringTreemap,
    /// How many pages became aliases, or none.
    pub(super) counts: AliasCounts,
}

/// What a batch did to aliases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AliasCounts {
    /// Pages that became aliases.
    pub became: u64,
    /// Aliases that are pages again, or gone.
    pub ended: u64,
    /// Aliases that now lead nowhere: in a circle, or over more than five others.
    pub cut: u64,
}

/// The links of a page after the batch.
pub(super) struct Resolved {
    /// The links that count, ascending.
    pub(super) links: Vec<PageId>,
    /// What was given, as far as it differs; `None` where it does not.
    pub(super) aliases: Option<AliasLinks>,
}

impl Aliases {
    /// Looks whether the bank has aliases.
    pub(super) fn of(store: &Store) -> Result<Self, StoreError> {
        let first = store.scan(&tables::ALIASES)?.next().transpose()?;
        Ok(Self {
            any: first.is_some(),
            ..Self::default()
        })
    }

    /// Looks up a page of the bank that the batch names; with `has_record` it is one of those of which
    /// the batch says something, if only that they are pages.
    pub(super) fn name(
        &mut self,
        store: &Store,
        page: PageId,
        has_record: bool,
    ) -> Result<(), StoreError> {
        if self.any {
            match store.get(&tables::ALIASES, &page)? {
                Some(AliasRecord::Alias(alias)) => {
                    self.named.insert(page, alias);
                    if has_record {
                        self.spoken.entry(page).or_default();
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

    /// Takes in a piece of what is said of a page; `target` is the first of its targets.
    pub(super) fn claim(&mut self, page: PageId, said: &Said, target: Option<PageId>) {
        let alias = match (said, target) {
            (Said::Record(claim), Some(to)) if !claim.gone => {
                claim.alias.map(|by| Alias { to, by })
            }
            _ => None,
        };
        if alias.is_none() && !self.named.contains_key(&page) {
            return;
        }
        let spoken = self.spoken.entry(page).or_default();
        match said {
            Said::Record(claim) => {
                spoken.has_record = true;
                spoken.is_decided = alias.is_some() || claim.gone || claim.crawled;
                spoken.alias = alias;
            }
            Said::Links | Said::Attributes(_) => spoken.is_listed = true,
        }
    }

    /// Works out what follows from all claims. In a snapshot an alias without a record is gone.
    pub(super) fn settle(
        &mut self,
        store: &Store,
        snapshot: bool,
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        for (page, spoken) in &self.spoken {
            let old = self.named.get(page).copied();
            let new = spoken.after(old);
            if new != old {
                self.changes.insert(*page, Change { old, new });
            }
        }
        if snapshot && self.any {
            for entry in store.scan(&tables::ALIASES)? {
                watch.proceed()?;
                if let (page, AliasRecord::Alias(alias)) = entry?
                    && !self.spoken.contains_key(&page)
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
        for page in self.led_through(store, watch)? {
            watch.proceed()?;
            let was = resolve_alias(page, |page| self.before(store, page))?;
            let is = resolve_alias(page, |page| self.after(store, page))?;
            if is.is_none() && was.is_some() {
                self.counts.cut += 1;
            }
            if was == is {
                continue;
            }
            // Those that linked to it when it was a page; where it was an alias there are none.
            self.add_linking(store, page)?;
            if self.any {
                for (other, why) in store.alias_references(page)? {
                    if why == AliasReference::Link {
                        self.affected.insert(other.0);
                    }
                }
            }
        }
        Ok(())
    }

    /// The pages that change, and the aliases that lead to them before or after.
    fn led_through(
        &self,
        store: &Store,
        watch: &dyn Watch,
    ) -> Result<BTreeSet<PageId>, EngineError> {
        let mut new_in: BTreeMap<PageId, Vec<PageId>> = BTreeMap::new();
        for (page, change) in &self.changes {
            if let Some(alias) = change.new {
                new_in.entry(alias.to).or_default().push(*page);
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
                    let before = store.alias_references(page)?.into_iter();
                    let leads = before.filter(|(_, why)| *why == AliasReference::Alias);
                    next.extend(leads.map(|(other, _)| other));
                }
            }
            next.retain(|page| found.insert(*page));
            last = next;
        }
        Ok(found)
    }

    /// Adds the pages with a link that counts to a page.
    fn add_linking(&mut self, store: &Store, page: PageId) -> Result<(), StoreError> {
        let site = page.site();
        let (key, place) = LinkKey::of_page(page);
        for &block in store.links(&tables::INTRA_IN, key)?.at(place) {
            let key = LinkKey { site, block };
            let links = store.links(&tables::INTRA, key)?;
            for place in links.places_of(page.index()) {
                self.affected.insert(PageId::new(site, key.index(place)).0);
            }
        }
        let blocks = store.links(&tables::CITERS, key)?.at(place).to_vec();
        for row in store.citing_rows(page, &blocks)? {
            let members = store.need(&tables::ROW_MEMBERS, &row)?;
            for index in members.pages {
                self.affected.insert(PageId::new(row.site(), index).0);
            }
        }
        Ok(())
    }

    /// The next page after one before the batch; `None` where it was no alias.
    fn before(&self, store: &Store, page: PageId) -> Result<Option<PageId>, StoreError> {
        let alias = match self.changes.get(&page) {
            Some(change) => change.old,
            None => return self.kept(store, page),
        };
        Ok(alias.map(|alias| alias.to))
    }

    /// The next page after one after the batch; `None` where it is no alias.
    fn after(&self, store: &Store, page: PageId) -> Result<Option<PageId>, StoreError> {
        let alias = match self.changes.get(&page) {
            Some(change) => change.new,
            None => return self.kept(store, page),
        };
        Ok(alias.map(|alias| alias.to))
    }

    /// Where a page leads whose alias does not change.
    fn kept(&self, store: &Store, page: PageId) -> Result<Option<PageId>, StoreError> {
        if !self.any {
            return Ok(None);
        }
        let alias = match self.named.get(&page) {
            Some(alias) => Some(*alias),
            None => store.alias(page)?,
        };
        Ok(alias.map(|alias| alias.to))
    }

    /// Whether a page is an alias after the batch, of which is known whether it `was` one.
    fn is_alias(&self, page: PageId, was: bool) -> bool {
        self.changes
            .get(&page)
            .map_or(was, |change| change.new.is_some())
    }

    /// What the bank has of a page, which the batch names or not.
    pub(super) fn record(
        &self,
        store: &Store,
        page: PageId,
        is_named: bool,
    ) -> Result<Option<AliasRecord>, StoreError> {
        if let Some(alias) = self.named.get(&page) {
            return Ok(Some(AliasRecord::Alias(*alias)));
        }
        if self.any && (!is_named || self.linking.contains(page.0)) {
            return store.get(&tables::ALIASES, &page);
        }
        Ok(None)
    }

    /// The alias that a page is after the batch, which is known to name it or to change it.
    pub(super) fn alias(&self, page: PageId) -> Option<Alias> {
        match self.changes.get(&page) {
            Some(change) => change.new,
            None => self.named.get(&page).copied(),
        }
    }

    /// The links of a page whose record gives these, which all are named by the batch.
    pub(super) fn of_given(
        &self,
        store: &Store,
        page: PageId,
        given: Vec<PageId>,
    ) -> Result<Resolved, StoreError> {
        if self.named.is_empty() && self.changes.is_empty() {
            return Ok(Resolved {
                links: given,
                aliases: None,
            });
        }
        let is_alias = |target: &PageId| self.is_alias(*target, self.named.contains_key(target));
        let (aliases, direct) = given.into_iter().partition(is_alias);
        self.resolved(store, page, aliases, direct)
    }

    /// The links of a page after the batch, from those before it and what its record then gave.
    pub(super) fn anew(
        &self,
        store: &Store,
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
        self.resolved(store, page, aliases, direct)
    }

    /// `aliases` and `direct` are ascending.
    fn resolved(
        &self,
        store: &Store,
        page: PageId,
        aliases: Vec<PageId>,
        direct: Vec<PageId>,
    ) -> Result<Resolved, StoreError> {
        let mut reached = BTreeSet::new();
        for alias in &aliases {
            if let Some(to) = resolve_alias(*alias, |page| self.after(store, page))?
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

/// Writes what aliases make of a page, and the way back.
///
/// `lead` is told of each page that an alias begins (true) or ceases (false) to lead to.
pub(super) fn write(
    changes: &mut Changes,
    page: PageId,
    old: Option<&AliasRecord>,
    new: Option<&AliasRecord>,
    mut lead: impl FnMut(PageId, bool) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
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
