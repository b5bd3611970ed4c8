//! Policies: which pages may be seeds, and how many of them.
//!
//! Except for `exclude-from-graph`, a policy does not change what a method measures, only which of
//! the selected pages become seeds.
//!
//! Rules about single pages are in the module `eligibility`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::{fmt, io};

use crate::engine::eligibility::{Eligibility, PageLists, PageRules, PlanScope};
pub use crate::engine::eligibility::{PagePolicy, RejectionReason};
use crate::engine::error::PlanError;
use crate::engine::{EngineError, Result, naming};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::{Interrupted, Interruptible, Watch, is_interrupted};
use seedbank_formats::display::{file_name, parse_count};
use seedbank_formats::ingest::{self, Naming, Patterns, PatternsError};
pub use seedbank_formats::ingest::{BadPattern, MEDIA};
use seedbank_store::plan_lists::ListText;
use seedbank_store::records::PageState;
use seedbank_store::{Changes, Hash128, Store, tables};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Seeds counted by site and by registrable domain.
///
/// Memory: some 100 bytes for each site looked up.
#[derive(Debug, Default)]
pub(crate) struct Caps {
    per_site: Option<u32>,
    per_domain: Option<u32>,
    of_sites: HashMap<SiteId, u32>,
    of_domains: HashMap<String, u32>,
    domains: HashMap<SiteId, String>,
}

impl Caps {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            per_site: policy.max_per_site,
            per_domain: policy.max_per_domain,
            ..Self::default()
        }
    }

    /// Returns the registrable domain of a site, cached.
    fn domain(&mut self, store: &Store, site: SiteId) -> Result<String> {
        if let Some(domain) = self.domains.get(&site) {
            return Ok(domain.clone());
        }
        let name = store.need(&tables::SITES, &site)?.name;
        let domain = ingest::registrable_domain(&name).to_owned();
        self.domains.insert(site, domain.clone());
        Ok(domain)
    }

    /// Returns which cap rejects one more seed of a site; `None` if it is allowed.
    pub(crate) fn reached(
        &mut self,
        store: &Store,
        site: SiteId,
    ) -> Result<Option<RejectionReason>> {
        if let Some(max) = self.per_site
            && self.of_sites.get(&site).is_some_and(|seeds| *seeds >= max)
        {
            return Ok(Some(RejectionReason::MaxPerSite));
        }
        if let Some(max) = self.per_domain {
            let domain = self.domain(store, site)?;
            if self
                .of_domains
                .get(&domain)
                .is_some_and(|seeds| *seeds >= max)
            {
                return Ok(Some(RejectionReason::MaxPerDomain));
            }
        }
        Ok(None)
    }

    /// Counts a seed of a site.
    pub(crate) fn count(&mut self, store: &Store, site: SiteId) -> Result<()> {
        if self.per_site.is_some() {
            *self.of_sites.entry(site).or_default() += 1;
        }
        if self.per_domain.is_some() {
            let domain = self.domain(store, site)?;
            *self.of_domains.entry(domain).or_default() += 1;
        }
        Ok(())
    }

    /// Stops counting a seed of a site.
    pub(crate) fn uncount(&mut self, store: &Store, site: SiteId) -> Result<()> {
        if let Some(seeds) = self.of_sites.get_mut(&site) {
            *seeds = seeds.saturating_sub(1);
        }
        if self.per_domain.is_some() {
            let domain = self.domain(store, site)?;
            if let Some(seeds) = self.of_domains.get_mut(&domain) {
                *seeds = seeds.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Returns the sites and domains whose number of seeds reaches a cap, each with the rank of the seed with which it does.
    /// `seeds` are the sites of the seeds, best first.
    pub(crate) fn full(
        policy: &Policy,
        store: &Store,
        seeds: impl Iterator<Item = SiteId>,
    ) -> Result<Vec<(String, u32)>> {
        let mut caps = Self::new(policy);
        let mut full = Vec::new();
        for (site, rank) in seeds.zip(1..) {
            caps.count(store, site)?;
            // Without a limit, there is no count.
            let of_site = caps.of_sites.get(&site).copied();
            if of_site.is_some() && of_site == policy.max_per_site {
                full.push((store.need(&tables::SITES, &site)?.name, rank));
            }
            if let Some(max) = policy.max_per_domain {
                let domain = caps.domain(store, site)?;
                if caps.of_domains.get(&domain) == Some(&max) {
                    full.push((name_of_domain(&domain), rank));
                }
            }
        }
        Ok(full)
    }

    /// Whether two sites share a cap that is reached: the site's, or the domain's.
    pub(crate) fn shares_cap(
        &mut self,
        store: &Store,
        cap: RejectionReason,
        a: SiteId,
        b: SiteId,
    ) -> Result<bool> {
        Ok(match cap {
            RejectionReason::MaxPerSite => a == b,
            _ => self.domain(store, a)? == self.domain(store, b)?,
        })
    }
}

/// Returns the name under which a full cap of a registrable domain is stored; that of a site is the site's name.
pub(crate) fn name_of_domain(domain: &str) -> String {
    format!("*.{domain}")
}

// Limits how many seeds of a list change per refresh.
//
// Given the plan's previous list, and the list that its method and its other policies select now
// (the *target*):
//
// 1. Seeds of the previous list that can no longer be seeds always leave: pages that are gone,
//    rejected, or above a cap. For caps, earlier seeds of the list have precedence.
// 2. Pinned pages are always added.
// 3. The best other pages of the target that are not on the list are added while fewer than the
//    maximum number were added: into a free seat, or in place of the last seed that is not in the
//    target (if the site or domain is full, of the same site or domain). The number of seeds that
//    leave is limited by the same maximum.
// 4. If the list is longer than the target, further seeds leave while the maximum allows it.
//
// The result consists of the pins, then the pages that are in the target, in its order, then the
// others in the order of the previous list.

/// Input of the limit on changes.
pub(crate) struct ChurnLimit<'a> {
    pub(crate) store: &'a Store,
    /// The plan's previous list, best first.
    pub(crate) previous: &'a [PageId],
    /// The selection of the method and the other policies, best first, with pins before others.
    pub(crate) target: &'a [PageId],
    /// Number of pins in the target.
    pub(crate) pins: usize,
    /// Maximum number of seeds.
    pub(crate) max_seeds: usize,
    pub(crate) max_changes: usize,
}

/// Result of the limit on changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LimitedSeeds {
    /// The list, best first.
    pub(crate) seeds: Vec<PageId>,
    /// Number of seeds of the previous list that had to leave.
    pub(crate) had_to_leave: usize,
    /// Number of pages of the target that were not added.
    pub(crate) held_back: usize,
}

/// Applies the limit. `may_stay` tests whether rules about single pages allow a seed of the
/// previous list. `caps` must not count any seeds yet.
pub(crate) fn limit_churn(
    limit: &ChurnLimit<'_>,
    mut caps: Caps,
    mut may_stay: impl FnMut(PageId) -> Result<bool>,
) -> Result<LimitedSeeds> {
    let (store, target) = (limit.store, limit.target);
    let places: HashMap<PageId, usize> = target.iter().copied().zip(0..).collect();
    let mut listed: HashSet<PageId> = HashSet::new();
    for &pin in &target[..limit.pins] {
        listed.insert(pin);
        caps.count(store, pin.site())?;
    }
    let mut stay: Vec<PageId> = Vec::new();
    let mut had_to_leave = 0;
    // Step 1: keep what may stay, in the order of the previous list.
    for &page in limit.previous {
        if listed.contains(&page) {
            continue;
        }
        let may = may_stay(page)? && caps.reached(store, page.site())?.is_none();
        if may && stay.len() + limit.pins < limit.max_seeds {
            caps.count(store, page.site())?;
            listed.insert(page);
            stay.push(page);
        } else {
            had_to_leave += 1;
        }
    }
    // Seeds that are not in the target. The last of them leave first.
    let mut replaceable: Vec<PageId> = stay
        .iter()
        .copied()
        .filter(|p| !places.contains_key(p))
        .collect();
    let previous: HashSet<PageId> = limit.previous.iter().copied().collect();
    let mut added = target[..limit.pins]
        .iter()
        .filter(|p| !previous.contains(p))
        .count();
    let mut may_leave = limit.max_changes.saturating_sub(had_to_leave);
    let mut held_back = 0;
    // Step 3: add the best new pages while the limit allows it.
    for &page in &target[limit.pins..] {
        if listed.contains(&page) {
            continue;
        }
        let cap = caps.reached(store, page.site())?;
        let has_seat = cap.is_none() && listed.len() < limit.max_seeds;
        let replaced = if has_seat {
            None
        } else {
            find_replaced(store, &mut caps, &replaceable, cap, page)?
        };
        if added >= limit.max_changes || (!has_seat && (replaced.is_none() || may_leave == 0)) {
            held_back += 1;
            continue;
        }
        if let Some(at) = replaced {
            let old = replaceable.remove(at);
            listed.remove(&old);
            caps.uncount(store, old.site())?;
            may_leave -= 1;
        }
        added += 1;
        caps.count(store, page.site())?;
        listed.insert(page);
    }
    // Step 4: shrink to the length of the target.
    while listed.len() > target.len() && may_leave > 0 {
        let Some(old) = replaceable.pop() else { break };
        listed.remove(&old);
        may_leave -= 1;
    }
    let mut seeds: Vec<PageId> = target
        .iter()
        .copied()
        .filter(|page| listed.contains(page))
        .collect();
    seeds.extend(
        stay.iter()
            .filter(|page| listed.contains(page) && !places.contains_key(page)),
    );
    Ok(LimitedSeeds {
        seeds,
        had_to_leave,
        held_back,
    })
}

/// Returns the position in `replaceable` of the seed that a page replaces: the last one or, if a cap is
/// reached, the last one that shares the cap.
fn find_replaced(
    store: &Store,
    caps: &mut Caps,
    replaceable: &[PageId],
    cap: Option<RejectionReason>,
    page: PageId,
) -> Result<Option<usize>> {
    let Some(cap) = cap else {
        return Ok(replaceable.len().checked_sub(1));
    };
    for (at, old) in replaceable.iter().enumerate().rev() {
        if caps.shares_cap(store, cap, old.site(), page.site())? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// A limit that a plan sets: a number, or `none`, which removes the stored limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No limit.
    None,
    /// Maximum number.
    AtMost(u32),
}

impl Limit {
    /// Returns the number; `None` without a limit.
    #[must_use]
    pub const fn number(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::AtMost(number) => Some(number),
        }
    }
}

impl From<u32> for Limit {
    fn from(number: u32) -> Self {
        Self::AtMost(number)
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            number => parse_count(number)
                .and_then(|number| number.try_into().ok())
                .map(Self::AtMost)
                .ok_or("expected a whole number, or `none` to remove the limit"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::AtMost(number) => number.fmt(f),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::AtMost(number) => serializer.serialize_u32(*number),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrWord {
    Number(u32),
    Word(String),
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrWord::deserialize(deserializer)? {
            NumberOrWord::Number(number) => Ok(Self::AtMost(number)),
            NumberOrWord::Word(word) => word.parse().map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A number, or `none`.",
            "anyOf": [
                {"type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX},
                {"const": "none"}
            ]
        })
    }
}

// A list that a plan references: its lines, or their hash if they are stored in the bank.

/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The name that removes a list from a plan.
const NONE: &str = "none";

/// A list of pages that a plan references. In a plan file it is the path of a file, `@media`, or
/// `none`, which removes the stored list. When stored, and in JSON, it is represented by a hash of
/// its lines, so that equal lists are the same whatever their file names.
///
/// ```
/// use seedbank::engine::policy::List;
///
/// let list = List::parse("no-documents", "# these\n*.pdf\n\n  *.doc\n*.pdf\n");
/// assert_eq!(list.lines(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct List {
    name: String,
    lines: u64,
    /// `None` if only the name is known.
    hash: Option<Hash128>,
    /// `None` if the lines are in the bank.
    text: Option<Arc<str>>,
}

/// The stored and JSON form of a list.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StoredList<'a> {
    /// Its name as given: a path, or `@media`.
    name: Cow<'a, str>,
    /// Number of lines.
    lines: u64,
    /// A 128-bit hash of the lines in hexadecimal; 32 zeros for a removed list.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    hash: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ListOrName<'a> {
    Name(String),
    StoredList(StoredList<'a>),
}

impl List {
    /// Parses a list. White space around a line, empty lines, lines that begin with `#` and
    /// repeated lines are skipped.
    #[must_use]
    pub fn parse(name: &str, text: &str) -> Self {
        let Ok(list) = Self::parse_lines(name, text, || Ok::<_, Infallible>(()));
        list
    }

    /// Parses a list. Calls `each` for every line; its error ends parsing.
    fn parse_lines<E>(
        name: &str,
        text: &str,
        mut each: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut kept_lines = String::with_capacity(text.len() + 1);
        let mut lines = 0;
        let mut seen = std::collections::BTreeSet::new();
        for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
            each()?;
            if !line.is_empty() && !line.starts_with('#') && seen.insert(line) {
                kept_lines.push_str(line);
                kept_lines.push('\n');
                lines += 1;
            }
        }
        let text = ListText(kept_lines);
        Ok(Self {
            name: name.to_owned(),
            lines,
            hash: Some(text.hash()),
            text: Some(text.0.into()),
        })
    }

    /// Reads a list from a file of any kind, including a pipe. `@media` is the built-in list of
    /// that name, and `none` is [`List::none`]. If there is no such file, a URL, `*.ending`, `re:expression`, or a host below a
    /// public suffix is a list of this one line.
    ///
    /// # Errors
    ///
    /// [`PlanError::List`] if the file cannot be read, is longer than 256 MiB or not UTF-8;
    /// [`EngineError::Interrupted`] if the watch stops the work, even while waiting for a pipe.
    pub fn read(path: impl AsRef<Path>, watch: &dyn Watch) -> Result<Self> {
        let path = path.as_ref();
        let name = path.to_string_lossy();
        if name.starts_with('@') {
            return Ok(Self::parse(&name, &name));
        }
        if name == NONE {
            return Ok(Self::none());
        }
        if is_line(&name) && !path.exists() {
            return Ok(Self::parse(&name, &name));
        }
        let text = read_text(path, watch).map_err(|source| {
            if is_interrupted(&source) {
                return EngineError::from(Interrupted);
            }
            let name = name.clone().into_owned();
            PlanError::List { name, source }.into()
        })?;
        Ok(Self::parse_lines(&name, &text, || watch.proceed())?)
    }

    /// Returns the value that removes the list of a plan.
    #[must_use]
    pub fn none() -> Self {
        Self {
            name: NONE.to_owned(),
            lines: 0,
            hash: Some(Hash128::default()),
            text: None,
        }
    }

    /// Returns the name as given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the list with the last part of its path as name.
    pub(crate) fn without_folder(mut self) -> Self {
        self.name = file_name(&self.name).to_owned();
        self
    }

    /// Returns the number of lines.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads the file if only its name is known. A relative path starts from `folder`.
    pub(crate) fn load_from(self, folder: &Path, watch: &dyn Watch) -> Result<Self> {
        if self.hash.is_some() {
            return Ok(self);
        }
        let file = folder.join(&self.name);
        let is_one_line = is_line(&self.name) && !file.exists();
        if is_one_line || self.name.starts_with('@') || self.name == NONE {
            return Self::read(Path::new(&self.name), watch);
        }
        let found = Self::read(file, watch)?;
        Ok(Self {
            name: self.name,
            ..found
        })
    }

    /// Returns the hash of the lines; `None` if the list is removed or was not read.
    pub(crate) fn hash(&self) -> Option<Hash128> {
        self.hash.filter(|hash| *hash != Hash128::default())
    }

    /// Whether this value removes the list of a plan.
    pub(crate) fn is_off(&self) -> bool {
        self.hash == Some(Hash128::default())
    }

    /// Whether only the name is known.
    pub(crate) const fn is_unread(&self) -> bool {
        self.hash.is_none()
    }

    /// Returns the lines, unless they are only in the bank.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// Returns whether a text is a line of a list rather than the name of a file.
fn is_line(text: &str) -> bool {
    let is_pattern = text.contains("://") || text.starts_with("*.") || text.starts_with("re:");
    is_pattern || ingest::is_public_host(text.strip_prefix('.').unwrap_or(text))
}

/// Reads a file that may be an endless pipe.
fn read_text(path: &Path, watch: &dyn Watch) -> io::Result<String> {
    let Some(bytes) = Interruptible::file(path, watch)?.read_at_most(MAX_BYTES)? else {
        let most = MAX_BYTES >> 20;
        return Err(io::Error::other(format!("expected at most {most} MiB")));
    };
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

impl Serialize for List {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hash = u128::from_be_bytes(self.hash.unwrap_or_default());
        let kept = StoredList {
            name: Cow::Borrowed(&self.name),
            lines: self.lines,
            hash: format!("{hash:032x}"),
        };
        kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match ListOrName::deserialize(deserializer)? {
            ListOrName::Name(name) => Ok(Self {
                name,
                lines: 0,
                hash: None,
                text: None,
            }),
            ListOrName::StoredList(kept) => {
                let hash = u128::from_str_radix(&kept.hash, 16);
                Ok(Self {
                    name: kept.name.into_owned(),
                    lines: kept.lines,
                    hash: Some(hash.map_err(serde::de::Error::custom)?.to_be_bytes()),
                    text: None,
                })
            }
        }
    }
}

impl JsonSchema for List {
    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StoredList::json_schema(generator)
    }
}

// The policy of a plan with its lists loaded.

/// The lists that a plan references.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PolicyLists<'a> {
    pub(crate) exclude: Option<&'a List>,
    pub(crate) only: Option<&'a List>,
    pub(crate) exclude_from_graph: Option<&'a List>,
    pub(crate) pin: Option<&'a List>,
}

impl<'a> PolicyLists<'a> {
    /// Whether the plan references no list.
    pub(crate) fn are_none(&self) -> bool {
        self.all().next().is_none()
    }

    fn all(&self) -> impl Iterator<Item = &'a List> {
        let all = [self.exclude, self.only, self.exclude_from_graph, self.pin];
        all.into_iter().flatten()
    }

    /// Adds the lists whose lines came with the plan to `changes`.
    pub(crate) fn put(&self, store: &Store, changes: &mut Changes) -> Result<()> {
        for list in self.all() {
            if let (Some(hash), Some(text)) = (list.hash(), list.text())
                && !store.has(&tables::PLAN_LISTS, &hash)?
            {
                changes.put(&tables::PLAN_LISTS, &hash, &ListText(text.to_owned()))?;
            }
        }
        Ok(())
    }
}

/// Returns the lines of a list.
fn text_of(store: &Store, list: &List) -> Result<String> {
    match (list.text(), list.hash()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(hash)) => Ok(store.need(&tables::PLAN_LISTS, &hash)?.0),
        (None, None) => Ok(String::new()),
    }
}

/// Compiles the lines of a list.
fn patterns(store: &Store, list: &List, naming: Naming, watch: &dyn Watch) -> Result<Patterns> {
    let text = text_of(store, list)?;
    Patterns::new(&text, naming, watch).map_err(|error| match error {
        PatternsError::Interrupted(stop) => stop.into(),
        PatternsError::Line(at, why) => PlanError::Line {
            list: list.name().to_owned(),
            line: text.lines().nth(at).unwrap_or_default().to_owned(),
            why,
        }
        .into(),
    })
}

/// Returns the normalised URLs that a plan pins.
pub(crate) fn pinned_urls(
    store: &Store,
    lists: PolicyLists<'_>,
    naming: Naming,
) -> Result<HashSet<String>> {
    let Some(list) = lists.pin else {
        return Ok(HashSet::new());
    };
    let text = text_of(store, list)?;
    let urls = text
        .lines()
        .filter_map(|url| ingest::parse(url, naming).ok());
    Ok(urls.map(|at| at.url(naming.sites)).collect())
}

/// A policy with its lists compiled. The default allows everything.
#[derive(Default)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) pages: PageRules,
    pub(crate) pins: Pins,
}

impl LoadedPolicy {
    /// Loads and compiles the lists of a plan. Cost: their lines, and a lookup for each pinned
    /// page.
    pub(crate) fn load(
        store: &Store,
        policy: Policy,
        lists: PolicyLists<'_>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let naming = naming(&store.settings()?)?;
        let mut loaded = Self::load_without_pins(store, naming, policy, lists, watch)?;
        if let Some(list) = lists.pin {
            let text = text_of(store, list)?;
            loaded.pins = Pins::find(store, &text, list, &loaded.pages, naming, watch)?;
        }
        Ok(loaded)
    }

    /// Loads and compiles the lists of a plan but that of pinned pages. Cost: their lines.
    pub(crate) fn load_without_pins(
        store: &Store,
        naming: Naming,
        policy: Policy,
        lists: PolicyLists<'_>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let read = |list: Option<&List>| {
            let list = list.filter(|list| list.hash().is_some());
            list.map(|list| patterns(store, list, naming, watch))
                .transpose()
        };
        let of_pages = PageLists {
            exclude: read(lists.exclude)?,
            only: read(lists.only)?,
            exclude_from_graph: read(lists.exclude_from_graph)?,
        };
        Ok(Self {
            policy,
            pages: PageRules::new(store, policy.pages, of_pages, naming.sites)?,
            pins: Pins::default(),
        })
    }

    /// Reads the pages with too many failed fetches, for conditions on many pages.
    pub(crate) fn with_failing(mut self, store: &Store) -> Result<Self> {
        self.pages.read_failing(store)?;
        Ok(self)
    }

    /// Returns the rules about single pages for a kind of plan.
    pub(crate) const fn eligibility(&self, scope: PlanScope) -> Eligibility<'_> {
        Eligibility {
            scope,
            rules: &self.pages,
        }
    }
}

/// The policies of a plan, with every parameter resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// Maximum number of seeds of a site; `None` without a limit.
    pub max_per_site: Option<u32>,
    /// Maximum number of seeds of a registrable domain; `None` without a limit.
    pub max_per_domain: Option<u32>,
    /// Rules about single pages.
    pub pages: PagePolicy,
    /// Hash of the list of pages that are always seeds.
    pub pin: Option<Hash128>,
    /// Minimum number of hubs of a core that gives a seed.
    pub min_hubs: u32,
    /// Minimum number of authorities of a core that gives a seed.
    pub min_authorities: u32,
    /// Minimum number of sites of the hubs of a core that gives a seed.
    pub min_hub_sites: u32,
    /// Maximum number of seeds that differ from the plan's previous list; `None` without a limit.
    pub max_changes: Option<u32>,
}

impl Policy {
    /// Returns the keys of the referenced lists, ascending.
    #[must_use]
    pub fn lists(&self) -> Vec<Hash128> {
        let pages = &self.pages;
        let lists = [
            pages.exclude,
            pages.only,
            pages.exclude_from_graph,
            self.pin,
        ];
        let mut lists: Vec<Hash128> = lists.into_iter().flatten().collect();
        lists.sort_unstable();
        lists.dedup();
        lists
    }

    /// Whether no rule about single pages rejects any page.
    pub(crate) fn allows_all_pages(&self) -> bool {
        self.pages == PagePolicy::default()
    }

    /// Returns the policy that rejects a core of these numbers of hubs and authorities, or of this number of
    /// sites of the hubs; `None` if the core may give a seed.
    pub(crate) fn rejects_core(
        &self,
        hubs: usize,
        authorities: usize,
        hub_sites: usize,
    ) -> Option<RejectionReason> {
        let limits = [
            (RejectionReason::MinHubs, hubs, self.min_hubs),
            (
                RejectionReason::MinAuthorities,
                authorities,
                self.min_authorities,
            ),
            (RejectionReason::MinHubSites, hub_sites, self.min_hub_sites),
        ];
        let rejecting = limits
            .into_iter()
            .find(|(_, found, least)| *found < *least as usize);
        rejecting.map(|(by, ..)| by)
    }

    /// Whether seeds are counted by site or domain.
    pub(crate) const fn has_caps(&self) -> bool {
        self.max_per_site.is_some() || self.max_per_domain.is_some()
    }
}

/// Pages of the bank that a plan pins.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    /// In the order of the list.
    pub(crate) pages: Vec<PageId>,
    /// Whether each of them is crawled.
    pub(crate) crawled: Vec<bool>,
    positions: HashMap<PageId, u32>,
    /// Pins that cannot be seeds, in the order of the list.
    pub(crate) rejected: Vec<RejectedPin>,
}

/// A pinned page that is not a seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RejectedPin {
    /// The URL as in the list.
    pub url: String,
    /// Why it is not a seed.
    pub why: PinRejection,
}

/// Why a pinned page is not a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinRejection {
    /// The bank does not contain the page.
    Unknown,
    /// The page is gone.
    Gone,
    /// The page redirects to another.
    Alias,
    /// It is a resource, such as a script or an image.
    Resource,
    /// The page is a document.
    Document,
    /// The plan excludes the page.
    Excluded,
}

impl Pins {
    /// Finds the pages of a list of URLs, one per line.
    fn find(
        store: &Store,
        text: &str,
        list: &List,
        rules: &PageRules,
        naming: Naming,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut pins = Self::default();
        for url in text.lines() {
            watch.proceed()?;
            let bad = |_| PlanError::Line {
                list: list.name().to_owned(),
                line: url.to_owned(),
                why: BadPattern::NoPage,
            };
            let at = ingest::parse(url, naming).map_err(bad)?;
            match find_pin(store, &at, rules)? {
                Ok((page, is_crawled)) => {
                    let position = u32::try_from(pins.pages.len()).unwrap_or(u32::MAX);
                    if let std::collections::hash_map::Entry::Vacant(entry) =
                        pins.positions.entry(page)
                    {
                        entry.insert(position);
                        pins.pages.push(page);
                        pins.crawled.push(is_crawled);
                    }
                }
                Err(why) => pins.rejected.push(RejectedPin {
                    url: url.to_owned(),
                    why,
                }),
            }
        }
        Ok(pins)
    }

    /// Returns a page's position among the pins, from 0; `None` if it is not pinned.
    pub(crate) fn position(&self, page: PageId) -> Option<u32> {
        self.positions.get(&page).copied()
    }

    /// Returns the number of pinned pages that can be seeds.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.pages.len()).unwrap_or(u32::MAX)
    }
}

/// Returns a pinned page, with whether it is crawled, or why it cannot be a seed.
pub(crate) fn find_pin(
    store: &Store,
    at: &ingest::Location,
    rules: &PageRules,
) -> Result<Result<(PageId, bool), PinRejection>> {
    let Some(site) = store.get(&tables::SITE_IDS, &at.site)? else {
        return Ok(Err(PinRejection::Unknown));
    };
    let Some(index) = store.get(&tables::PAGE_IDS, &(site, at.local.clone()))? else {
        return Ok(Err(PinRejection::Unknown));
    };
    let page = PageId::new(site, index);
    let record = store.need(&tables::PAGES, &page)?;
    let rejected_by = rules.reason_of(store, page, &at.site, &record)?;
    Ok(match (record.state, rejected_by) {
        (PageState::Unlinked, _) => Err(PinRejection::Unknown),
        (PageState::Gone, _) => Err(PinRejection::Gone),
        (PageState::Alias, _) => Err(PinRejection::Alias),
        (PageState::Resource, _) => Err(PinRejection::Resource),
        // Pins override `only`, the minimum quality and failed fetches.
        (_, Some(RejectionReason::Exclude | RejectionReason::ExcludeFromGraph)) => {
            Err(PinRejection::Excluded)
        }
        _ if record.is_document() => Err(PinRejection::Document),
        (state, _) => Ok((page, state == PageState::Crawled)),
    })
}
