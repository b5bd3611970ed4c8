//! What to forget: the pages and sites that match given names, and the updates of the pages that
//! link to them.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use crate::engine::error::ForgetExtent;
use crate::engine::ingest::blocklist::{Blocklist, Secret};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Location, Naming, Record, SiteMode};
use seedbank_store::aliases::{AliasRecord, AliasReference};
use seedbank_store::records::{BlocklistEntry, PageState};
use seedbank_store::{Changes, Hash128, Store, StoreError, tables};

/// Maximum number of sites that an error names.
const MAX_SITES: usize = 5;

/// Normalised names of pages and sites.
#[derive(Default)]
pub(super) struct NameSet {
    /// Sites and the rest of the URLs.
    pub(super) pages: BTreeSet<(String, String)>,
    pub(super) sites: BTreeSet<String>,
    /// Blocklist and secret of another bank; `None` if the names were given.
    other_bank: Option<(Secret, Vec<(Hash128, bool)>)>,
}

impl NameSet {
    /// Parses URLs and site names. A text without a scheme and a path is a site name.
    pub(super) fn parse(what: &[String], naming: Naming) -> Result<Self> {
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
    pub(super) fn blocked_by(
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
    pub(super) fn block(
        &self,
        store: &Store,
        changes: &mut Changes,
    ) -> Result<Vec<(Hash128, bool)>> {
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

pub(super) struct Matches {
    /// The pages, including those of the sites.
    pub(super) pages: RoaringTreemap,
    /// The sites, with their names.
    pub(super) sites: BTreeMap<SiteId, String>,
    /// The site and the rest of the URL of each page.
    locations: BTreeMap<PageId, (String, String)>,
}

/// Records that remove all links to forgotten pages.
pub(super) struct Removal {
    pub(super) records: Vec<Record>,
    /// Number of aliases that led to a forgotten page.
    pub(super) aliases: u64,
}

impl Matches {
    /// Looks up the names. An unknown name is an error, unless `may_be_unknown` is set.
    pub(super) fn find(
        store: &Store,
        names: &NameSet,
        mode: SiteMode,
        may_be_unknown: bool,
    ) -> Result<Self> {
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

    /// Returns the records of a batch that removes all links from and to the pages: each page
    /// becomes gone, each page that links to one gets its other links, and each alias of one
    /// becomes gone.
    pub(super) fn records(
        &self,
        store: &Store,
        mode: SiteMode,
        watch: &dyn Watch,
    ) -> Result<Removal> {
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
        let mut leading = RoaringTreemap::new();
        for page in self.pages.iter().map(PageId) {
            watch.proceed()?;
            removal.records.push(Record::new(url(page)?).gone());
            for (other, why) in store.alias_references(page)? {
                match why {
                    AliasReference::Alias => leading.insert(other.0),
                    AliasReference::Link => linking.insert(other.0),
                };
            }
        }
        // An alias cannot exist without its target.
        for page in (&leading - &self.pages).iter().map(PageId) {
            removal.aliases += 1;
            removal.records.push(Record::new(url(page)?).gone());
        }
        for page in (&linking - &self.pages).iter().map(PageId) {
            watch.proceed()?;
            let record = store.need(&tables::PAGES, &page)?;
            if record.state != PageState::Crawled {
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
            removal
                .records
                .push(Record::new(url(page)?).outlinks(urls?));
        }
        Ok(removal)
    }

    /// Describes what would be forgotten.
    pub(super) fn extent(&self, limit: u64, links: u64) -> ForgetExtent {
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
    pub(super) fn delete_names(&self, changes: &mut Changes) -> Result<(), StoreError> {
        for (page, (_, local)) in &self.locations {
            changes.delete(&tables::PAGE_IDS, &(page.site(), local.clone()))?;
        }
        for name in self.sites.values() {
            changes.delete(&tables::SITE_IDS, name)?;
        }
        Ok(())
    }
}
