//! What `src/guide/formats_records.md` and `src/guide/formats.md` say of a bank, as a map that is
//! worked out afresh from the whole state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use seedbank::engine::plan::Value;
use seedbank::engine::query::{AliasView, PageKind, PageView};
use seedbank::engine::{Bank, EngineError, IngestReport, IngestRequest};
use seedbank::ingest::Input;
use seedbank_store::records::{PageState, SiteDefaults};
use seedbank_store::{Reader, Verdict, tables};

use super::records::{Batch, Record, SiteLine, Uncrawled, seconds, site, url};
use super::weights::{LinksWeight, links_weight, site_weight};

/// What is known of a page of the universe.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Page {
    state: PageState,
    recorded: bool,
    /// What its own records said.
    spam_given: Option<bool>,
    quality_given: Option<u32>,
    /// What counts: that, or else what is said of its site.
    spam: bool,
    quality: Option<u32>,
    clicks: u64,
    given: Option<u32>,
    digest: Option<u8>,
    kind: PageKind,
    canonical: Option<usize>,
    /// The hour of the last fetch.
    fetched: Option<u8>,
    outlinks: BTreeSet<usize>,
}

impl Page {
    /// Shows what counts of what was said.
    fn show(&mut self, said: &Statements) {
        self.state = match said.found.1 {
            Found::Nothing => PageState::Known,
            Found::Gone => PageState::Gone,
            Found::Alias(..) => PageState::Alias,
            Found::Page if said.kind() == PageKind::Resource => PageState::Resource,
            Found::Page => PageState::Crawled,
        };
        self.kind = match self.state {
            PageState::Crawled | PageState::Resource => said.kind(),
            _ => PageKind::Page,
        };
        self.canonical = match said.fields.get("canonical") {
            Some((_, Said::Canonical(canonical))) => canonical.map(|(_, to)| to),
            _ => None,
        };
        self.spam_given = said.number("spam").map(|spam| spam == 1);
        self.quality_given = said
            .number("quality")
            .map(|steps| u32::try_from(steps).unwrap());
        self.clicks = said.number("clicks").unwrap_or(0);
        self.given = said
            .number("uncrawled")
            .map(|count| u32::try_from(count).unwrap());
        self.digest = match said.fields.get("digest") {
            Some((_, Said::Digest(_, digest))) => Some(*digest),
            _ => None,
        };
        self.fetched = said.found.0.0.checked_sub(1);
    }
}

/// An hour, from 1, and whether it is that of a batch, which counts more; hour 0 is before all.
type Time = (u8, bool);

/// The value of a field; of several at one time the greatest counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Said {
    Number(Option<u64>),
    Digest([u8; 32], u8),
    Links(LinksWeight, BTreeSet<usize>),
    Canonical(Option<(LinksWeight, usize)>),
    Kind(PageKind),
}

/// What a fetch found; of several at one time the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Found {
    #[default]
    Nothing,
    Gone,
    /// Where it redirects to.
    Alias(LinksWeight, usize),
    Page,
}

/// What records said of a page, with times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Statements {
    found: (Time, Found),
    gone: Time,
    fields: BTreeMap<&'static str, (Time, Said)>,
}

impl Statements {
    fn say(&mut self, field: &'static str, time: Time, said: Said) {
        let new = (time, said);
        let best = self.fields.entry(field).or_insert_with(|| new.clone());
        if new > *best {
            *best = new;
        }
    }

    fn found(&mut self, time: Time, found: Found) {
        self.found = self.found.max((time, found));
        if found == Found::Gone {
            self.gone = self.gone.max(time);
        }
    }

    /// Adds what a record says; one without a time is before all others.
    fn add(&mut self, record: &Record, by_domain: bool) {
        let time = (record.fetched.map_or(0, |hour| hour + 1), false);
        if record.gone == Some(true) {
            return self.found(time, Found::Gone);
        }
        let numbers = [
            (
                "spam",
                record.spam.map(|spam| Said::Number(Some(spam.into()))),
            ),
            (
                "clicks",
                record.clicks.map(|clicks| Said::Number(Some(clicks))),
            ),
            ("uncrawled", number(record.uncrawled)),
            ("quality", number(record.quality)),
        ];
        for (field, said) in numbers {
            if let Some(said) = said {
                self.say(field, time, said);
            }
        }
        if let Some(digest) = record.digest {
            let hash = blake3::hash(format!("digest-{digest}").as_bytes());
            self.say("digest", time, Said::Digest(hash.into(), digest));
        }
        let is_resource = record.kind == Some(Some(PageKind::Resource));
        let outlinks = record.outlinks.as_ref().filter(|_| !is_resource);
        let mut links = outlinks.map(|outlinks| {
            let others = outlinks.iter().copied().filter(|to| *to != record.page);
            others.collect::<BTreeSet<usize>>()
        });
        let weight = |to| links_weight(&BTreeSet::from([to]), by_domain);
        let mut canonical = record.canonical();
        let is_told = record.digest.is_some() || record.fetched.is_some();
        let has_kind = record.kind.is_some_and(|kind| kind.is_some());
        if let Some(to) = record.alias() {
            self.found(time, Found::Alias(weight(to), to));
            self.say("kind", time, Said::Kind(PageKind::Page));
            (links, canonical) = (Some(BTreeSet::new()), None);
        } else if links.is_some() || is_told || has_kind || canonical.is_some() && !is_resource {
            self.found(time, Found::Page);
            // Links and canonical links are those of a page.
            let kind = record.kind.unwrap_or(Some(PageKind::Page));
            let is_page = links.is_some() || canonical.flatten().is_some();
            if let Some(kind) = kind.or(is_page.then_some(PageKind::Page)) {
                self.say("kind", time, Said::Kind(kind));
            }
            if is_resource {
                (links, canonical) = (Some(BTreeSet::new()), None);
            }
        }
        // Links say that there is no canonical page.
        if links.is_some() || canonical.is_some() {
            let canonical = canonical.flatten().map(|to| (weight(to), to));
            self.say("canonical", time, Said::Canonical(canonical));
        }
        if let Some(links) = links {
            self.say(
                "links",
                time,
                Said::Links(links_weight(&links, by_domain), links),
            );
        }
    }

    /// Removes what was said before the page was gone.
    fn settle(&mut self) {
        let (is_gone, gone) = (self.found.1 == Found::Gone, self.gone);
        self.fields.retain(|_, (time, _)| !is_gone && *time >= gone);
    }

    fn number(&self, field: &str) -> Option<u64> {
        match self.fields.get(field) {
            Some((_, Said::Number(number))) => *number,
            _ => None,
        }
    }

    fn kind(&self) -> PageKind {
        match self.fields.get("kind") {
            Some((_, Said::Kind(kind))) => *kind,
            _ => PageKind::Page,
        }
    }

    fn links(&self) -> Option<&BTreeSet<usize>> {
        match self.fields.get("links") {
            Some((_, Said::Links(_, links))) => Some(links),
            _ => None,
        }
    }
}

fn number(said: Uncrawled) -> Option<Said> {
    match said {
        Uncrawled::Absent => None,
        Uncrawled::Null => Some(Said::Number(None)),
        Uncrawled::Given(number) => Some(Said::Number(Some(number.into()))),
    }
}

/// What a batch does, as far as the model says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub superseded: u64,
    pub stale: u64,
    pub new_pages: u64,
    pub became_crawled: u64,
    pub became_gone: u64,
    pub became_resources: u64,
    pub changed: u64,
    pub links_added: u64,
    pub links_removed: u64,
}

/// The totals that `status` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    pub sites: u64,
    pub known: u64,
    pub crawled: u64,
    pub gone: u64,
    pub documents: u64,
    pub resources: u64,
    pub spam: u64,
    pub intra_links: u64,
    pub inter_links: u64,
    pub rows: u64,
    pub row_links: u64,
}

/// The numbers of crawled pages with a digest and of distinct digests, for each site that has any.
pub type Digests = BTreeMap<String, (u32, u32)>;

/// A bank as a map.
#[derive(Clone, Debug)]
pub struct Model {
    by_domain: bool,
    /// Pages with the links that count.
    pages: BTreeMap<usize, Page>,
    /// Links as records gave them.
    given: BTreeMap<usize, BTreeSet<usize>>,
    /// The page that an alias leads to.
    aliases: BTreeMap<usize, usize>,
    /// What records said.
    said: BTreeMap<usize, Statements>,
    /// Quality, spam mark (0 or 1) and quota of sites, as records of sites gave them.
    sites: BTreeMap<&'static str, [Option<u32>; 3]>,
}

impl Model {
    pub fn new(by_domain: bool) -> Self {
        Self {
            by_domain,
            pages: BTreeMap::new(),
            given: BTreeMap::new(),
            aliases: BTreeMap::new(),
            said: BTreeMap::new(),
            sites: BTreeMap::new(),
        }
    }

    fn page(&mut self, page: usize) -> &mut Page {
        self.pages.entry(page).or_insert_with(|| Page {
            state: PageState::Unlinked,
            recorded: false,
            spam_given: None,
            quality_given: None,
            spam: false,
            quality: None,
            clicks: 0,
            given: None,
            digest: None,
            kind: PageKind::Page,
            canonical: None,
            fetched: None,
            outlinks: BTreeSet::new(),
        })
    }

    /// Applies a batch.
    pub fn apply(&mut self, batch: &Batch) -> Counts {
        let before = self.pages.clone();
        let mut said: BTreeMap<usize, Statements> = BTreeMap::new();
        for record in &batch.records {
            said.entry(record.page)
                .or_default()
                .add(record, self.by_domain);
        }
        // All canonical pages get ids, also those that do not count.
        for record in &batch.records {
            let is_page = record.gone != Some(true)
                && record.alias().is_none()
                && record.kind != Some(Some(PageKind::Resource));
            if let Some(Some(to)) = record.canonical().filter(|_| is_page) {
                self.page(to);
            }
        }
        let mut stale = 0;
        let named: BTreeSet<usize> = said.keys().copied().collect();
        for (page, said) in said {
            stale += u64::from(!self.add(page, said, batch.as_of));
        }
        if batch.snapshot {
            for (number, page) in &mut self.pages {
                let counted = matches!(
                    page.state,
                    PageState::Crawled | PageState::Alias | PageState::Resource
                ) && page.fetched <= Some(batch.as_of);
                if counted && !named.contains(number) {
                    let said = self.said.entry(*number).or_default();
                    said.found.1 = Found::Gone;
                    said.gone = said.found.0;
                    said.settle();
                    self.given.remove(number);
                    self.aliases.remove(number);
                    page.show(said);
                }
            }
        }
        for (number, page) in &mut self.pages {
            let given = self.given.get(number).into_iter().flatten();
            let ends = given.filter_map(|to| end(&self.aliases, *to));
            page.outlinks = ends.filter(|to| to != number).collect();
        }
        let links = self.pages.values().flat_map(|page| &page.outlinks);
        let leads = self.aliases.values();
        let linked: BTreeSet<usize> = links.chain(leads).copied().collect();
        for (number, page) in &mut self.pages {
            if !page.recorded {
                page.state = if linked.contains(number) {
                    PageState::Known
                } else {
                    PageState::Unlinked
                };
            }
        }
        let sites = self.inherit(&batch.sites);
        let mut counts = self.compare(&before);
        let all = batch.records.len() + batch.sites.len();
        counts.stale = stale;
        counts.superseded = (all - named.len() - sites) as u64;
        counts
    }

    /// Applies records of sites, of which the largest of each site counts, and gives pages what they
    /// come to. Returns how many sites have a record.
    fn inherit(&mut self, lines: &[SiteLine]) -> usize {
        let mut largest: BTreeMap<&str, &SiteLine> = BTreeMap::new();
        for line in lines {
            let best = largest.entry(line.site).or_insert(line);
            if site_weight(line) > site_weight(best) {
                *best = line;
            }
        }
        for line in largest.values() {
            let [quality, spam, quota] = self.sites.entry(line.site).or_default();
            *quality = line.quality.apply_to(*quality);
            *spam = line.spam.apply_to(*spam);
            *quota = line.quota.apply_to(*quota);
        }
        for (number, page) in &mut self.pages {
            let site = self.sites.get(site(*number, self.by_domain));
            let [quality, spam, _] = site.copied().unwrap_or_default();
            page.spam = page.spam_given.unwrap_or(spam == Some(1));
            page.quality = page.quality_given.or(quality);
        }
        largest.len()
    }

    /// Adds what the records of a batch say of a page; returns false if that is of an earlier fetch and changes nothing.
    fn add(&mut self, number: usize, mut new: Statements, as_of: u8) -> bool {
        new.settle();
        // Pages that it links to get ids, even if they do not exist for readers.
        let targets: Vec<usize> = match new.found.1 {
            Found::Alias(_, to) => vec![to],
            _ => new.links().into_iter().flatten().copied().collect(),
        };
        for target in targets {
            self.page(target);
        }
        let old = self.said.get(&number).cloned().unwrap_or_default();
        let is_fetch = new.found.1 != Found::Nothing;
        // Times are now those of the bank.
        let base = match new.found.0 {
            _ if !is_fetch => (old.found.0.0, true),
            (0, _) => (as_of + 1, true),
            dated => dated,
        };
        let time = |time: Time| if time.0 == 0 { base } else { time };
        let mut all = old.clone();
        for (field, (at, said)) in new.fields {
            all.say(field, time(at), said);
        }
        if new.found.1 == Found::Gone || new.gone.0 > 0 {
            all.gone = all.gone.max(time(new.gone));
        }
        let counts = is_fetch && (base, new.found.1) >= old.found;
        if counts {
            all.found = (base, new.found.1);
        } else if !is_fetch && old.found.1 == Found::Gone {
            // A page that comes back without being fetched is only known.
            all.found.1 = Found::Nothing;
        }
        all.settle();
        if is_fetch && !counts && all == old {
            return base.0 == old.found.0.0;
        }
        // Attributes of a page that was never fetched get the time of its first fetch.
        all.found.0.1 = false;
        all.gone.1 = false;
        for (time, _) in all.fields.values_mut() {
            *time = (if time.0 == 0 { all.found.0.0 } else { time.0 }, false);
        }
        let page = self.page(number);
        page.recorded = true;
        page.show(&all);
        match all.found.1 {
            Found::Alias(_, to) => {
                self.page(to);
                self.aliases.insert(number, to);
            }
            _ => {
                self.aliases.remove(&number);
            }
        }
        match all.links() {
            Some(links) => self.given.insert(number, links.clone()),
            None => self.given.remove(&number),
        };
        self.said.insert(number, all);
        true
    }

    fn compare(&self, before: &BTreeMap<usize, Page>) -> Counts {
        let mut counts = Counts::default();
        let none = BTreeSet::new();
        for (number, page) in &self.pages {
            let old = before.get(number);
            let links = old.map_or(&none, |old| &old.outlinks);
            counts.links_added += page.outlinks.difference(links).count() as u64;
            counts.links_removed += links.difference(&page.outlinks).count() as u64;
            let unlinked = |page: &Page| page.state == PageState::Unlinked;
            let is_new = old.is_none() && !unlinked(page);
            counts.new_pages += u64::from(is_new);
            counts.changed += u64::from(old.map_or(is_new, |old| {
                let same = Page {
                    recorded: old.recorded,
                    spam_given: old.spam_given,
                    quality_given: old.quality_given,
                    fetched: old.fetched,
                    ..page.clone()
                };
                *old != same && !(unlinked(old) && unlinked(page))
            }));
            if old.map(|old| old.state) != Some(page.state) {
                counts.became_crawled += u64::from(page.state == PageState::Crawled);
                counts.became_gone += u64::from(page.state == PageState::Gone);
                counts.became_resources += u64::from(page.state == PageState::Resource);
            }
        }
        counts
    }

    /// The pages as a bank shows them.
    pub fn pages(&self) -> BTreeMap<String, PageView> {
        let shown = self
            .pages
            .iter()
            .filter(|(_, page)| page.state != PageState::Unlinked);
        shown
            .map(|(&number, page)| {
                let known = |target: &&usize| self.pages[*target].state == PageState::Known;
                let counted = page.outlinks.iter().filter(known).count() as u64;
                let mut outlinks: Vec<String> = page.outlinks.iter().map(|&t| url(t)).collect();
                outlinks.sort();
                let view = PageView {
                    url: url(number),
                    site: site(number, self.by_domain).to_owned(),
                    state: page.state,
                    kind: page.kind,
                    canonical: page.canonical.map(url),
                    alias: self.aliases.get(&number).map(|&to| AliasView {
                        to: url(to),
                        resolves_to: end(&self.aliases, number).map(url),
                    }),
                    spam: page.spam,
                    quality: page.quality.map(|steps| Value(i64::from(steps) * 100)),
                    clicks: page.clicks,
                    uncrawled_outlinks: page.given.map_or(counted, u64::from),
                    uncrawled_given: page.given.is_some(),
                    fetched: page.fetched.map(seconds),
                    outlinks,
                };
                (view.url.clone(), view)
            })
            .collect()
    }

    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let mut sites = BTreeSet::new();
        let mut rows = BTreeSet::new();
        for (&number, page) in &self.pages {
            let own = site(number, self.by_domain);
            match page.state {
                PageState::Known => totals.known += 1,
                PageState::Crawled => totals.crawled += 1,
                PageState::Gone => totals.gone += 1,
                PageState::Resource => {
                    totals.resources += 1;
                    continue;
                }
                PageState::Unlinked | PageState::Alias => continue,
            }
            sites.insert(own);
            totals.documents += u64::from(page.kind == PageKind::Document);
            totals.spam += u64::from(page.spam && page.state.is_live());
            let (intra, inter): (Vec<usize>, Vec<usize>) = page
                .outlinks
                .iter()
                .partition(|&&target| site(target, self.by_domain) == own);
            totals.intra_links += intra.len() as u64;
            totals.inter_links += inter.len() as u64;
            if !inter.is_empty() {
                rows.insert((own, inter));
            }
        }
        totals.sites = sites.len() as u64;
        totals.rows = rows.len() as u64;
        totals.row_links = rows.iter().map(|(_, targets)| targets.len() as u64).sum();
        totals
    }

    /// What is given of sites.
    pub fn given(&self) -> BTreeMap<String, SiteDefaults> {
        let sites = self.sites.iter().map(|(site, [quality, spam, quota])| {
            let given = SiteDefaults {
                quality: quality.map(|steps| u16::try_from(steps).unwrap()),
                spam: spam.map(|spam| spam == 1),
                quota: *quota,
            };
            ((*site).to_owned(), given)
        });
        sites
            .filter(|(_, given)| *given != SiteDefaults::default())
            .collect()
    }

    pub fn digests(&self) -> Digests {
        let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (&number, page) in &self.pages {
            if let (PageState::Crawled, Some(digest)) = (page.state, page.digest) {
                let own = site(number, self.by_domain).to_owned();
                found.entry(own).or_default().push(digest);
            }
        }
        let counts = found.into_iter().map(|(site, digests)| {
            let distinct: BTreeSet<u8> = digests.iter().copied().collect();
            let count = |n: usize| u32::try_from(n).unwrap();
            (site, (count(digests.len()), count(distinct.len())))
        });
        counts.collect()
    }
}

/// Where a page leads in the end: the page itself where it is no alias; `None` after more than twenty
/// aliases.
fn end(aliases: &BTreeMap<usize, usize>, page: usize) -> Option<usize> {
    let chain = std::iter::successors(Some(page), |at| aliases.get(at).copied());
    let mut few = chain.take(21);
    few.find(|at| !aliases.contains_key(at))
}

/// All pages of a bank by URL.
pub fn pages_of(bank: &Bank) -> BTreeMap<String, PageView> {
    let mut pages = BTreeMap::new();
    bank.pages::<EngineError>(|page| {
        assert!(
            pages.insert(page.url.clone(), page).is_none(),
            "a URL twice"
        );
        Ok(())
    })
    .unwrap();
    pages
}

/// The totals of a bank's status.
pub fn totals_of(bank: &Bank) -> Totals {
    let status = bank.status().unwrap();
    Totals {
        sites: status.sites,
        known: status.counters.known,
        crawled: status.counters.crawled,
        gone: status.counters.gone,
        documents: status.counters.documents,
        resources: status.counters.resources,
        spam: status.counters.spam,
        intra_links: status.counters.intra_links,
        inter_links: status.counters.inter_links,
        rows: status.counters.rows,
        row_links: status.counters.row_links,
    }
}

/// What P_uniq is computed from, according to the bank's site records.
pub fn digests_of(bank: &Bank) -> Digests {
    let reader = Reader::open(bank.path()).unwrap();
    let sites = reader.scan(&tables::SITES).unwrap();
    sites
        .map(|entry| entry.unwrap().1)
        .filter(|site| site.with_digest > 0)
        .map(|site| (site.name, (site.with_digest, site.distinct_digests)))
        .collect()
}

/// Runs `check`, and fails with its findings if there are any.
pub fn assert_clean(bank: &Bank) {
    let check = bank.check().unwrap();
    assert_ne!(check.live.verdict, Verdict::Unseen);
    assert!(check.is_clean(), "{check:#?}");
}

/// A request to ingest one file, whatever it contains.
pub fn request(file: &Path) -> IngestRequest {
    IngestRequest {
        inputs: vec![Input::File(file.to_path_buf())],
        max_rejects: 100.0,
        max_loss: 100.0,
        ..IngestRequest::default()
    }
}

/// The request to ingest a batch, whose files it writes.
pub fn of_batch(bank: &Bank, batch: &Batch) -> IngestRequest {
    let file = bank.path().with_extension("jsonl");
    std::fs::write(&file, batch.text()).unwrap();
    let sites = bank.path().with_extension("sites");
    std::fs::write(&sites, batch.site_list()).unwrap();
    IngestRequest {
        snapshot: batch.snapshot,
        as_of: Some(seconds(batch.as_of)),
        sites: (!batch.sites.is_empty()).then_some(Input::File(sites)),
        ..request(&file)
    }
}

/// Ingests a batch; one that was there before is applied again.
pub fn ingest(bank: &Bank, batch: &Batch, memory: usize) -> IngestReport {
    let request = IngestRequest {
        again: true,
        memory,
        ..of_batch(bank, batch)
    };
    bank.ingest(&request).unwrap()
}

/// What is given of each site, according to the bank's site records.
pub fn given_of(bank: &Bank) -> BTreeMap<String, SiteDefaults> {
    let reader = Reader::open(bank.path()).unwrap();
    let sites = reader.scan(&tables::SITES).unwrap();
    let sites = sites.map(|entry| entry.unwrap().1);
    sites
        .map(|site| (site.name, site.defaults))
        .filter(|(_, given)| *given != SiteDefaults::default())
        .collect()
}

/// Whether the bank's last commit was a bulk load: its folder stays until the next open.
pub fn was_bulk(bank: &Bank) -> bool {
    std::fs::read_dir(bank.path().join("loads"))
        .unwrap()
        .next()
        .is_some()
}
