//! Forget: removes pages and sites from the bank, with every trace that could name them.
//!
//! This is a batch of its own. First it marks each page as gone and removes links to it from other
//! pages, so that everything derived from links is updated as in any batch. Then the names are
//! removed: a page's record keeps only its id, without a URL, so that evidence of older refreshes
//! stays valid. A page of the same URL that is ingested later is a new page.
//!
//! | location of a name | effect |
//! | --- | --- |
//! | `pages`, `page_ids`, `sites`, `site_ids` | the record is emptied, the entry from name to id deleted |
//! | an alias that led to a page | it becomes gone |
//! | lines of lists that plans reference | removed; plans and refreshes reference the new list |
//! | stored results of pins, as text | replaced |
//! | lists of bad records, in the bank's folder | the lines are removed |
//! | undo data of the last batch | deleted: nothing can be undone |
//! | the graph image, with names of hosts | removed |
//! | files of tables, MANIFEST, published states | remain until they are merged |

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocklist::{Blocklist, Secret};
use super::exchange::Exchange;
use super::passes::{Passes, SiteDelta, writable_naming};
use super::reading::{Inputs, Reading};
use super::reject_list::RejectList;
use super::run::{BatchOptions, Coordinator, run_passes};
use super::{IngestReport, IngestRequest, finish_batch};
use crate::engine::error::ForgetExtent;
use crate::engine::ingest::reject_list::write_error;
use crate::engine::{Bank, EngineError, Result};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{
    self, Format, Hosts, Location, Naming, Record, RecordChunks, RecordSource, SiteMode,
};
use seedbank_store::aliases::{AliasRecord, AliasReference};
use seedbank_store::plan_lists::ListText;
use seedbank_store::records::{BatchId, BatchKind, BlocklistEntry, PageState};
use seedbank_store::{Changes, Hash128, Store, StoreError, Writer, tables};

/// What to forget, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::EngineError;
/// use seedbank::engine::ingest::ForgetRequest;
///
/// let request = ForgetRequest {
///     what: vec!["http://a.example/".to_owned()],
///     ..ForgetRequest::default()
/// };
/// assert_eq!(bank.forget(&request)?.pages, 1);
/// // From now on the page is unknown.
/// let again = bank.forget(&request);
/// assert!(matches!(again, Err(EngineError::UnknownPage { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForgetRequest {
    /// URLs of pages, and names of sites with all their pages.
    pub what: Vec<String>,
    /// Whether later batches skip it. Then it need not be known.
    pub block: bool,
    /// Maximum number of pages; `None` for no limit. If there are more, nothing changes, and the
    /// error says what would be forgotten.
    pub max_pages: Option<u64>,
    /// Whether to wait while another process writes to the bank.
    pub wait: bool,
    /// Memory for sorting, in bytes, besides the store's own.
    pub memory: usize,
}

impl Default for ForgetRequest {
    fn default() -> Self {
        Self {
            what: Vec::new(),
            block: false,
            max_pages: None,
            wait: false,
            memory: 512 << 20,
        }
    }
}

/// Report of a forget. Contains no names of what was forgotten.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ForgetReport {
    /// Its number in the history, as a batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Number of forgotten pages, including those of whole sites.
    pub pages: u64,
    /// Number of forgotten sites.
    pub sites: u64,
    /// Number of removed links.
    pub links: u64,
    /// Number of aliases that led to a forgotten page and are gone.
    pub aliases: u64,
    /// Number of lines removed from lists that plans reference.
    pub list_lines: u64,
    /// Number of lines removed from lists of bad records.
    pub reject_lines: u64,
    /// Number of pages and sites added to the blocklist.
    pub blocked: u64,
    /// URLs of pages that stay and may be copies of forgotten ones: their URLs differ from that of a forgotten page only in the
    /// scheme or in `www.`, and no digests say that the contents differ. At most 100.
    pub twins: Vec<String>,
    /// Whether the bank's folder contains files that a repair replaced, which are not searched.
    pub has_damaged: bool,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

impl ForgetReport {
    /// The most URLs in `twins`.
    pub const MAX_TWINS: usize = 100;
}

impl Bank {
    /// Forgets pages and sites: their records, links to and from them, attributes, and their names
    /// in evidence, lists and lists of bad records. If it fails, nothing has changed.
    ///
    /// Overwritten data stays in the bank's files until they are merged
    /// ([`compact`](Self::compact)). Copies of the bank are not affected. Neither this nor the
    /// batch before it can be undone. Refreshes stay, and their stored lists of seeds omit the
    /// pages.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPage`] and [`EngineError::UnknownSite`] if a name is not known, unless
    /// it is to be blocked. [`EngineError::ForgetsMore`] if there are more pages than the request
    /// allows.
    ///
    /// Cost: that of a batch with a record for each page and each page that links to one, and
    /// reading each line of bad records and of lists.
    pub fn forget(&self, request: &ForgetRequest) -> Result<ForgetReport> {
        let watch = self.watch();
        let writer = self.open_writer(request.wait, watch)?;
        let naming = writable_naming(&writer)?;
        let names = NameSet::parse(&request.what, naming)?;
        self.forget_names(&writer, &names, request, watch)
    }

    /// Forgets what another bank blocks, and blocks it here too. Returns `None` if that bank blocks
    /// nothing.
    ///
    /// Cost: hashing the URL of each page.
    pub fn forget_blocked(
        &self,
        other: &Self,
        request: &ForgetRequest,
    ) -> Result<Option<ForgetReport>> {
        let watch = self.watch();
        let other_bank = seedbank_store::Reader::open(other.path())?;
        let (Some(secret), Some(blocklist)) =
            (Secret::load(&other_bank)?, Blocklist::load(&other_bank)?)
        else {
            return Ok(None);
        };
        let writer = self.open_writer(request.wait, watch)?;
        writable_naming(&writer)?;
        let names = NameSet::blocked_by(&writer, &other_bank, secret, &blocklist, watch)?;
        let request = ForgetRequest {
            block: true,
            ..request.clone()
        };
        self.forget_names(&writer, &names, &request, watch)
            .map(Some)
    }

    fn forget_names(
        &self,
        writer: &Writer,
        names: &NameSet,
        request: &ForgetRequest,
        watch: &dyn Watch,
    ) -> Result<ForgetReport> {
        let begun = Instant::now();
        let naming = writable_naming(writer)?;
        let redactor = Redactor::new(names, naming);
        let found = match Matches::find(writer, names, naming.sites, request.block) {
            // A name can also be known only from a list of bad records.
            Err(EngineError::UnknownPage { .. } | EngineError::UnknownSite { .. })
                if is_in_reject_lists(self.path(), &redactor, watch)? =>
            {
                Matches::find(writer, names, naming.sites, true)?
            }
            found => found?,
        };
        watch.stage("forget", None);
        let removal = found.records(writer, naming.sites, watch)?;
        let twins = found.twins(writer, naming)?;
        let folder = writer.spill_folder();
        // Process 0 alone finds what to forget, and removes it.
        let exchange = Exchange::alone();
        let mut passes = Passes::new(writer, folder, request.memory, watch, exchange)?;
        let batch = passes.batch;
        passes.forgotten.pages.clone_from(&found.pages);
        passes.forgotten.sites = found.sites.keys().copied().collect();
        let mut report =
            self.apply_removal(writer, &found, removal.records, request.memory, &mut passes)?;
        if let Some(limit) = request.max_pages.filter(|limit| found.pages.len() > *limit) {
            let extent = found.extent(limit, report.counts.links_removed);
            return Err(EngineError::ForgetsMore(Box::new(extent)));
        }
        found.delete_names(&mut passes.changes)?;
        let list_lines = redact_lists(writer, &mut passes.changes, &redactor, watch)?;
        let blocked = if request.block {
            names.block(writer, &mut passes.changes)?
        } else {
            Vec::new()
        };
        for (hash, site) in &blocked {
            let site = *site;
            let record = BlocklistEntry { site, batch };
            passes.changes.put(&tables::BLOCKLIST, hash, &record)?;
        }
        // Before the names are deleted: if this fails, the same command can be repeated.
        let reject_lines = redact_reject_lists(self.path(), &redactor, watch)?;
        report.counts.records = 0;
        report.seconds = begun.elapsed().as_secs_f64();
        let links = report.counts.links_removed;
        let (changes, counters) = finish_batch(passes, &report, [0; 32], Vec::new())?;
        // Its hosts may be those of forgotten pages. The next command writes another one. A command that has read the
        // state before must not write it again, so the lock is held until the new state is published.
        let image = writer.remove_image(watch)?;
        watch.stage("commit", None);
        watch.proceed()?;
        writer.commit_irreversible(changes, counters)?;
        drop(image);
        Ok(ForgetReport {
            batch,
            pages: found.pages.len(),
            sites: found.sites.len() as u64,
            links,
            aliases: removal.aliases,
            list_lines,
            reject_lines,
            blocked: blocked.len() as u64,
            twins,
            has_damaged: self.path().join("damaged").is_dir(),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Runs the passes with the records that remove what was found.
    fn apply_removal(
        &self,
        writer: &Writer,
        found: &Matches,
        records: Vec<Record>,
        memory: usize,
        passes: &mut Passes<'_>,
    ) -> Result<IngestReport> {
        let naming = writable_naming(writer)?;
        // The removal must be applied whatever it loses.
        let batch_request = IngestRequest {
            format: Format::JsonLines,
            max_loss: 100.0,
            max_rejects: 0.0,
            again: true,
            memory,
            ..IngestRequest::default()
        };
        let source =
            RecordSource::from_bank("records".to_owned(), RecordChunks(records.into_iter()));
        let mut inputs = Inputs {
            sources: &mut [Box::new(source)],
            are_of_request: false,
            of_links: 1,
            of_pages: 1,
            names: Vec::new(),
            name: "forgotten".to_owned(),
        };
        let rejects = RejectList::new(None, self.path(), passes.batch)?;
        let collector = passes.collector(None, false);
        let mut options = BatchOptions::new(&batch_request);
        options.hosts = Hosts::Any;
        let reading = Reading {
            request: &batch_request,
            inputs: &mut inputs,
            options: options.reading(naming),
            rejects,
        };
        let (found_in, collected, _) = reading.run(collector, passes, Vec::new())?;
        let mut report = IngestReport::begun(inputs.name, BatchKind::Forget);
        report.read = found_in.read;
        // Sites without pages have to be rewritten too, without their names.
        for site in found.sites.keys() {
            let touched = SiteDelta {
                changed: true,
                ..SiteDelta::default()
            };
            passes.site(*site, &touched)?;
        }
        let coordinator = Coordinator {
            writer,
            request: &batch_request,
            report: &mut report,
        };
        let any_seed = found_in.any_seed;
        run_passes(passes, collected, options, any_seed, Some(coordinator))?;
        Ok(report)
    }
}

// What to forget: the pages and sites that match given names, and the updates of the pages that
// link to them.

/// Maximum number of sites that an error names.
const MAX_SITES: usize = 5;

/// Normalised names of pages and sites.
#[derive(Default)]
struct NameSet {
    /// Sites and the rest of the URLs.
    pages: BTreeSet<(String, String)>,
    sites: BTreeSet<String>,
    /// Blocklist and secret of another bank; `None` if the names were given.
    other_bank: Option<(Secret, Vec<(Hash128, bool)>)>,
}

impl NameSet {
    /// Parses URLs and site names. A text without a scheme and a path is a site name.
    fn parse(what: &[String], naming: Naming) -> Result<Self> {
        let mut names = Self::default();
        let located = |url: &str, text: &String| {
            ingest::parse(url, naming).map_err(|problem| EngineError::InvalidUrl {
                url: text.clone(),
                problem,
            })
        };
        for text in what {
            if text.contains("://") {
                let Location { site, local } = located(text, text)?;
                names.pages.insert((site, local));
            } else if text.contains(['/', '?']) {
                return Err(EngineError::MissingScheme(text.clone()));
            } else {
                let location = located(&format!("http://{text}/"), text)?;
                if !is_site(text, &location.site, naming) {
                    return Err(EngineError::NotASite {
                        name: text.clone(),
                        site: location.site,
                    });
                }
                names.sites.insert(location.site);
            }
        }
        Ok(names)
    }

    /// Finds the pages and sites of a bank that another bank blocks.
    fn blocked_by(
        store: &Store,
        other_bank: &Store,
        secret: Secret,
        blocklist: &Blocklist,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut hashes = Vec::new();
        for entry in other_bank.scan(&tables::BLOCKLIST)? {
            let (hash, BlocklistEntry { site, .. }) = entry?;
            hashes.push((hash, site));
        }
        let mut names = Self {
            other_bank: Some((secret, hashes)),
            ..Self::default()
        };
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (site, id) = entry?;
            if blocklist.has_site(&site) {
                names.sites.insert(site);
                continue;
            }
            for entry in store.scan_under(&tables::PAGE_IDS, &id.0.to_be_bytes())? {
                let ((_, local), _) = entry?;
                if blocklist.has_page(&site, &local) {
                    names.pages.insert((site.clone(), local));
                }
            }
        }
        Ok(names)
    }

    /// Returns the hashes to block, each with whether it belongs to a site. Stores the secret if
    /// necessary.
    fn block(&self, store: &Store, changes: &mut Changes) -> Result<Vec<(Hash128, bool)>> {
        if let Some((secret, hashes)) = &self.other_bank {
            secret.put(store, changes)?;
            return Ok(hashes.clone());
        }
        let secret = Secret::load_or_create(store, changes)?;
        let pages = self.pages.iter();
        let pages = pages.map(|(site, local)| (secret.of_page(site, local), false));
        let sites = self.sites.iter().map(|site| (secret.of_site(site), true));
        Ok(pages.chain(sites).collect())
    }
}

/// Whether a text is the name of a site, and not of a page or of a host that is only part of a
/// site.
fn is_site(text: &str, site: &str, naming: Naming) -> bool {
    let hosts = SiteMode::Host.with(naming.urls);
    let is_plain = !text.contains(['\\', '#', '@', ':']) || text == site;
    let host = ingest::parse(&format!("http://{text}/"), hosts).map(|location| location.site);
    is_plain
        && host.is_ok_and(|host| {
            let bare = host.strip_prefix("www.").unwrap_or(&host);
            host == site || naming.sites == SiteMode::BareHost && bare == site
        })
}

/// Returns the URLs that differ from a URL only in the scheme or in `www.`.
fn twins_of(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Vec::new();
    };
    let other = match scheme {
        "http" => "https",
        _ => "http",
    };
    let with_other_host = match rest.strip_prefix("www.") {
        Some(bare) => bare.to_owned(),
        None => format!("www.{rest}"),
    };
    vec![
        format!("{other}://{rest}"),
        format!("{scheme}://{with_other_host}"),
        format!("{other}://{with_other_host}"),
    ]
}

struct Matches {
    /// The pages, including those of the sites.
    pages: RoaringTreemap,
    /// The sites, with their names.
    sites: BTreeMap<SiteId, String>,
    /// The site and the rest of the URL of each page.
    locations: BTreeMap<PageId, (String, String)>,
}

/// Records that remove all links to forgotten pages.
struct Removal {
    records: Vec<Record>,
    /// Number of aliases that led to a forgotten page.
    aliases: u64,
}

impl Matches {
    /// Looks up the names. An unknown name is an error, unless `may_be_unknown` is set.
    fn find(store: &Store, names: &NameSet, mode: SiteMode, may_be_unknown: bool) -> Result<Self> {
        let mut found = Self {
            pages: RoaringTreemap::new(),
            sites: BTreeMap::new(),
            locations: BTreeMap::new(),
        };
        for name in &names.sites {
            let Some(site) = store.get(&tables::SITE_IDS, name)? else {
                if may_be_unknown {
                    continue;
                }
                return Err(EngineError::UnknownSite {
                    site: name.clone(),
                    nearest: Vec::new(),
                });
            };
            found.sites.insert(site, name.clone());
            for entry in store.scan_under(&tables::PAGE_IDS, &site.0.to_be_bytes())? {
                let ((_, local), index) = entry?;
                found.add(PageId::new(site, index), name, local);
            }
        }
        for (name, local) in &names.pages {
            let site = store.get(&tables::SITE_IDS, name)?;
            let index = match site {
                Some(site) => store.get(&tables::PAGE_IDS, &(site, local.clone()))?,
                None => None,
            };
            match site.zip(index) {
                Some((site, index)) => found.add(PageId::new(site, index), name, local.clone()),
                None if may_be_unknown => {}
                None => {
                    return Err(EngineError::UnknownPage {
                        url: ingest::url(name, local, mode),
                        nearest: Vec::new(),
                    });
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, page: PageId, site: &str, local: String) {
        self.pages.insert(page.0);
        self.locations.insert(page, (site.to_owned(), local));
    }

    fn has(&self, page: PageId) -> bool {
        self.pages.contains(page.0)
    }

    /// Returns the URLs of pages that are not among these, and may be copies of those whose sites stay.
    fn twins(&self, store: &Store, naming: Naming) -> Result<Vec<String>> {
        let mut twins = Vec::new();
        for (page, (site, local)) in &self.locations {
            if self.sites.contains_key(&page.site()) {
                continue;
            }
            let digest = store.need(&tables::PAGES, page)?.digest;
            for url in twins_of(&ingest::url(site, local, naming.sites)) {
                let Ok(location) = ingest::parse(&url, naming) else {
                    continue;
                };
                let Some(site) = store.get(&tables::SITE_IDS, &location.site)? else {
                    continue;
                };
                let key = (site, location.local.clone());
                let Some(index) = store.get(&tables::PAGE_IDS, &key)? else {
                    continue;
                };
                let twin = PageId::new(site, index);
                let record = store.need(&tables::PAGES, &twin)?;
                let differs = digest.zip(record.digest).is_some_and(|(a, b)| a != b);
                if record.state.is_live() && !differs && !self.has(twin) {
                    twins.push(location.url(naming.sites));
                }
                if twins.len() == ForgetReport::MAX_TWINS {
                    return Ok(twins);
                }
            }
        }
        Ok(twins)
    }

    /// Returns the records of a batch that removes all links from and to the pages: each page
    /// becomes gone, each page that links to one gets its other links, each page that names one as canonical loses that,
    /// and each alias of one becomes gone.
    fn records(&self, store: &Store, mode: SiteMode, watch: &dyn Watch) -> Result<Removal> {
        let url = |page: PageId| -> Result<String, StoreError> {
            let site = store.need(&tables::SITES, &page.site())?.name;
            let local = store.need(&tables::PAGES, &page)?.local;
            Ok(ingest::url(&site, &local, mode))
        };
        let mut removal = Removal {
            records: Vec::new(),
            aliases: 0,
        };
        // Pages with links to the pages, directly or through an alias.
        let mut linking = store.linking_any(&self.pages, watch)?;
        let (mut leading, mut naming) = (RoaringTreemap::new(), RoaringTreemap::new());
        for page in self.pages.iter().map(PageId) {
            watch.proceed()?;
            removal.records.push(Record::new(url(page)?).gone());
            for (other, why) in store.alias_references(page)? {
                match why {
                    AliasReference::Alias => leading.insert(other.0),
                    AliasReference::Link => linking.insert(other.0),
                };
            }
            let of_page = store.canonical_references(page, usize::MAX)?;
            naming.extend(of_page.into_iter().map(|other| other.0));
        }
        // An alias cannot exist without its target.
        for page in (&leading - &self.pages).iter().map(PageId) {
            removal.aliases += 1;
            removal.records.push(Record::new(url(page)?).gone());
        }
        for page in (&(&linking | &naming) - &self.pages).iter().map(PageId) {
            watch.proceed()?;
            let record = store.need(&tables::PAGES, &page)?;
            if record.state != PageState::Crawled {
                continue;
            }
            let mut removing = Record::new(url(page)?);
            if naming.contains(page.0) {
                removing = removing.no_canonical();
            }
            if !linking.contains(page.0) {
                removal.records.push(removing);
                continue;
            }
            let mut targets = store.links_of(page, record.row)?;
            // The record must contain the links as given, not as resolved through aliases.
            if let Some(AliasRecord::Links(links)) = store.get(&tables::ALIASES, &page)? {
                targets.retain(|to| !links.reached.contains(to));
                targets.extend(links.aliases);
            }
            let targets = targets.into_iter().filter(|to| !self.has(*to));
            let urls: Result<Vec<String>, StoreError> = targets.map(url).collect();
            removal.records.push(removing.outlinks(urls?));
        }
        Ok(removal)
    }

    /// Describes what would be forgotten.
    fn extent(&self, limit: u64, links: u64) -> ForgetExtent {
        let mut by_site: BTreeMap<&str, u64> = BTreeMap::new();
        for (site, _) in self.locations.values() {
            *by_site.entry(site).or_default() += 1;
        }
        let mut sites: Vec<(String, u64)> = by_site
            .into_iter()
            .map(|(site, pages)| (site.to_owned(), pages))
            .collect();
        sites.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let more_sites = sites.len().saturating_sub(MAX_SITES) as u64;
        sites.truncate(MAX_SITES);
        ForgetExtent {
            pages: self.pages.len(),
            links,
            limit,
            sites,
            more_sites,
        }
    }

    /// Deletes the entries from names to ids.
    fn delete_names(&self, changes: &mut Changes) -> Result<(), StoreError> {
        for (page, (_, local)) in &self.locations {
            changes.delete(&tables::PAGE_IDS, &(page.site(), local.clone()))?;
        }
        for name in self.sites.values() {
            changes.delete(&tables::SITE_IDS, name)?;
        }
        Ok(())
    }
}

// Finds and removes names of forgotten pages in texts: lists that plans reference, stored results
// of pins, and lists of bad records.

/// Replaces a host in stored texts.
const FORGOTTEN: &str = "forgotten.invalid";

/// Finds names in texts, in any spelling: everything that looks like a URL or a host is parsed like
/// the URLs of an input.
struct Redactor<'a> {
    pages: HashSet<(&'a str, &'a str)>,
    sites: HashSet<&'a str>,
    naming: Naming,
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`')
}

/// Whether a character can be part of a host.
fn is_host_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Characters after a URL in a sentence.
const PUNCTUATION: [char; 7] = ['.', ',', ';', ':', '!', ')', '\''];

impl<'a> Redactor<'a> {
    fn new(names: &'a NameSet, naming: Naming) -> Self {
        let pages = names.pages.iter();
        Self {
            pages: pages.map(|(site, local)| (&**site, &**local)).collect(),
            sites: names.sites.iter().map(String::as_str).collect(),
            naming,
        }
    }

    fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.sites.is_empty()
    }

    /// Whether a text contains a name. A longer name with it as a prefix does not count, nor
    /// another host with it as a suffix: `a.example` is contained neither in `a.example.net` nor in
    /// `b.a.example`, unless sites are domains.
    ///
    /// Cost: one parse per maximal run of host characters, whatever the number of names.
    fn is_in(&self, text: &str) -> bool {
        let mut at = 0;
        while let Some(from) = text[at..].find(is_host_char) {
            let from = at + from;
            let run = text[from..].split(|c| !is_host_char(c)).next();
            let run = run.unwrap_or_default();
            at = from + run.len();
            if self.matches_at(text, from, run) {
                return true;
            }
        }
        false
    }

    /// Whether a name equals, or begins with, the run of a text at this position.
    fn matches_at(&self, text: &str, from: usize, run: &str) -> bool {
        let (before, rest) = text.split_at(from);
        let rest = rest.split(ends_url).next().unwrap_or_default();
        if let Some(before) = before.strip_suffix("://") {
            let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next();
            return self.is_match(&[scheme.unwrap_or_default(), "://", rest].concat());
        }
        // `.a.example` and `a.example.` in a list of hosts name the host too.
        let host = run.trim_matches('.');
        let rest = rest.trim_start_matches('.');
        let of_site = self.is_site(host);
        of_site
            || host.contains('.')
                && ["http://", "https://"]
                    .iter()
                    .any(|scheme| self.is_match(&[scheme, rest].concat()))
    }

    fn is_site(&self, host: &str) -> bool {
        !self.sites.is_empty()
            && ingest::parse(&["http://", host, "/"].concat(), self.naming)
                .is_ok_and(|found| self.sites.contains(&*found.site))
    }

    /// Whether a URL, with or without punctuation at its end, is one of the pages or on one of the
    /// sites.
    fn is_match(&self, url: &str) -> bool {
        let has = |url: &str| {
            ingest::parse(url, self.naming).is_ok_and(|found| {
                self.sites.contains(&*found.site)
                    || self.pages.contains(&(&*found.site, &*found.local))
            })
        };
        has(url) || url.ends_with(PUNCTUATION) && has(url.trim_end_matches(PUNCTUATION))
    }

    /// Whether a string in a JSON text contains a name. Invalid JSON is searched as plain text.
    fn is_in_json(&self, json: &str) -> bool {
        fn any(value: &serde_json::Value, has: &dyn Fn(&str) -> bool) -> bool {
            match value {
                serde_json::Value::String(text) => has(text),
                serde_json::Value::Array(values) => values.iter().any(|value| any(value, has)),
                serde_json::Value::Object(fields) => fields.values().any(|value| any(value, has)),
                _ => false,
            }
        }
        // A string may itself be the beginning of a record, with slashes escaped as in JSON.
        let has = |text: &str| {
            self.is_in(text) || text.contains("\\/") && self.is_in(&text.replace("\\/", "/"))
        };
        match serde_json::from_str(json) {
            Ok(value) => any(&value, &has),
            Err(_) => has(json),
        }
    }
}

/// Removes lines with names from lists that plans reference, and names from stored results. Returns
/// the number of removed lines.
///
/// Cost: reading each line of the lists, and one scan of plans and refreshes.
fn redact_lists(
    store: &Store,
    changes: &mut Changes,
    redactor: &Redactor<'_>,
    watch: &dyn Watch,
) -> Result<u64> {
    let mut removed = 0;
    let mut replacements: BTreeMap<Hash128, RedactedList> = BTreeMap::new();
    for entry in store.scan(&tables::PLAN_LISTS)? {
        let (hash, ListText(text)) = entry?;
        let mut kept = String::with_capacity(text.len());
        for line in text.lines() {
            watch.proceed()?;
            if redactor.is_in(line) {
                removed += 1;
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        // A shorter list has another hash, so everything that references it must be updated.
        if kept.len() < text.len() {
            let lines = (text.lines().count(), kept.lines().count());
            let list = ListText(kept);
            let redacted = RedactedList {
                hash: list.hash(),
                lines,
            };
            replacements.insert(hash, redacted);
            changes.delete(&tables::PLAN_LISTS, &hash)?;
            changes.put(&tables::PLAN_LISTS, &list.hash(), &list)?;
        }
    }
    for entry in store.scan(&tables::PLANS)? {
        let (name, mut plan) = entry?;
        let before = plan.clone();
        plan.settings = replace_lists(&plan.settings, &replacements);
        plan.lists = replace_hashes(&plan.lists, &replacements);
        if plan != before {
            changes.put(&tables::PLANS, &name, &plan)?;
        }
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, mut refresh) = entry?;
        let before = refresh.clone();
        refresh.settings = replace_lists(&refresh.settings, &replacements);
        refresh.lists = replace_hashes(&refresh.lists, &replacements);
        refresh.policy = refresh.policy.map(|policy| redact_json(&policy, redactor));
        if refresh != before {
            changes.put(&tables::REFRESHES, &number, &refresh)?;
        }
    }
    Ok(removed)
}

struct RedactedList {
    hash: Hash128,
    /// Numbers of lines before and after.
    lines: (usize, usize),
}

/// Replaces hashes and numbers of lines in settings (JSON).
fn replace_lists(settings: &str, replacements: &BTreeMap<Hash128, RedactedList>) -> String {
    let mut settings = settings.to_owned();
    for (old, new) in replacements {
        let hex = |hash: &Hash128| format!("{:032x}", u128::from_be_bytes(*hash));
        let (old, hash) = (hex(old), hex(&new.hash));
        let of = |lines: usize, hash: &str| format!("\"lines\":{lines},\"hash\":\"{hash}\"");
        settings = settings.replace(&of(new.lines.0, &old), &of(new.lines.1, &hash));
        settings = settings.replace(&old, &hash);
    }
    settings
}

fn replace_hashes(
    lists: &[Hash128],
    replacements: &BTreeMap<Hash128, RedactedList>,
) -> Vec<Hash128> {
    let new = lists
        .iter()
        .map(|list| replacements.get(list).map_or(*list, |new| new.hash));
    let mut new: Vec<Hash128> = new.collect();
    new.sort_unstable();
    new.dedup();
    new
}

/// Replaces names in all strings of a JSON text.
fn redact_json(json: &str, redactor: &Redactor<'_>) -> String {
    fn clean(value: &mut serde_json::Value, redactor: &Redactor<'_>) {
        match value {
            serde_json::Value::String(text) if redactor.is_in(text) => {
                *text = format!("http://{FORGOTTEN}/");
            }
            serde_json::Value::Array(values) => {
                for value in values {
                    clean(value, redactor);
                }
            }
            serde_json::Value::Object(fields) => {
                for value in fields.values_mut() {
                    clean(value, redactor);
                }
            }
            _ => {}
        }
    }
    if !redactor.is_in_json(json) {
        return json.to_owned();
    }
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(mut value) => {
            clean(&mut value, redactor);
            value.to_string()
        }
        Err(_) => json.to_owned(),
    }
}

fn is_in_reject_lists(bank: &Path, redactor: &Redactor<'_>, watch: &dyn Watch) -> Result<bool> {
    for path in reject_lists(bank)? {
        let is_there = read_lines(&path, |_, text| {
            watch.proceed()?;
            Ok(redactor.is_in_json(text))
        })?;
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes lines with names from the lists of bad records in the bank's folder. Returns their
/// number. Each file is replaced atomically.
fn redact_reject_lists(bank: &Path, redactor: &Redactor<'_>, watch: &dyn Watch) -> Result<u64> {
    let mut removed = 0;
    if redactor.is_empty() {
        return Ok(0);
    }
    for path in reject_lists(bank)? {
        removed += redact_file(&path, redactor, watch)?;
    }
    Ok(removed)
}

fn reject_lists(bank: &Path) -> Result<Vec<PathBuf>> {
    let folder = bank.join("rejects");
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(write_error(&folder))?,
    };
    let mut lists = Vec::new();
    for entry in entries {
        let path = entry.map_err(write_error(&folder))?.path();
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && path.extension().is_some_and(|end| end == "jsonl") {
            lists.push(path);
        }
    }
    Ok(lists)
}

/// Calls `each` with the lines of a file, as bytes and as text, until it returns true. Returns
/// whether it did.
fn read_lines(path: &Path, mut each: impl FnMut(&[u8], &str) -> Result<bool>) -> Result<bool> {
    let mut lines = BufReader::new(fs::File::open(path).map_err(write_error(path))?);
    let mut line = Vec::new();
    while lines
        .read_until(b'\n', &mut line)
        .map_err(write_error(path))?
        > 0
    {
        if each(&line, &String::from_utf8_lossy(&line))? {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

/// Creates a temporary file. Removes a file that a killed command left under this name, without
/// following a link.
fn create_temporary(temporary: &Path) -> io::Result<fs::File> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(temporary),
    }
}

fn redact_file(path: &Path, redactor: &Redactor<'_>, watch: &dyn Watch) -> Result<u64> {
    let temporary = path.with_extension("new");
    let mut out = BufWriter::new(create_temporary(&temporary).map_err(write_error(&temporary))?);
    let mut removed = 0;
    let written = read_lines(path, |line, text| {
        watch.proceed()?;
        if redactor.is_in_json(text) {
            removed += 1;
        } else {
            out.write_all(line).map_err(write_error(&temporary))?;
        }
        Ok(false)
    });
    if removed == 0 || written.is_err() {
        drop(out);
        fs::remove_file(&temporary).map_err(write_error(&temporary))?;
        return written.map(|_| 0);
    }
    let replace = || {
        let file = out.into_inner()?;
        file.set_permissions(fs::metadata(path)?.permissions())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    replace().map_err(write_error(path))?;
    Ok(removed)
}

#[cfg(test)]
#[path = "forget_tests.rs"]
mod tests;
