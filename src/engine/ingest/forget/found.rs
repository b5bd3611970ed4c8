//! What is to be forgotten: the pages and sites of given names, and what has to be said of the pages
//! that link to them.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use crate::engine::EngineError;
use crate::engine::ingest::barred::{Bars, Secret};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Location, Naming, Record, SiteMode};
use seedbank_store::aliases::{AliasRecord, AliasReference};
use seedbank_store::records::{BlocklistEntry, PageState};
use seedbank_store::{Changes, Hash128, Store, StoreError, tables};

/// Names of pages and sites, normalised.
#[derive(Default)]
pub(super) struct Names {
    /// Sites and the rest of the URLs.
    pub(super) pages: BTreeSet<(String, String)>,
    pub(super) sites: BTreeSet<String>,
    /// What another bank bars, and its secret; `None` where the names were given.
    theirs: Option<(Secret, Vec<(Hash128, bool)>)>,
}

impl Names {
    /// Reads URLs, and names of sites: what has no scheme and no path is a site.
    pub(super) fn parse(what: &[String], naming: Naming) -> Result<Self, EngineError> {
        let mut names = Self::default();
        let located = |url: &str, text: &String| {
            ingest::parse(url, naming).map_err(|problem| EngineError::NoUrl {
                url: text.clone(),
                problem,
            })
        };
        for text in what {
            if text.contains("://") {
                let Location { site, local } = located(text, text)?;
                names.pages.insert((site, local));
            } else if text.contains(['/', '?']) {
                return Err(EngineError::NoScheme {
                    url: text.clone(),
                    meant: None,
                });
            } else {
                let location = located(&format!("http://{text}/"), text)?;
                if !is_site(text, &location.site, naming) {
                    return Err(EngineError::OtherSite {
                        name: text.clone(),
                        site: location.site,
                    });
                }
                names.sites.insert(location.site);
            }
        }
        Ok(names)
    }

    /// What a bank has of what another one bars.
    pub(super) fn barred(
        store: &Store,
        (theirs, secret, bars): (&Store, Secret, &Bars),
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let mut hashes = Vec::new();
        for entry in theirs.scan(&tables::BLOCKLIST)? {
            let (hash, BlocklistEntry { site, .. }) = entry?;
            hashes.push((hash, site));
        }
        let mut names = Self {
            theirs: Some((secret, hashes)),
            ..Self::default()
        };
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (site, id) = entry?;
            if bars.has_site(&site) {
                names.sites.insert(site);
                continue;
            }
            for entry in store.scan_under(&tables::PAGE_IDS, &id.0.to_be_bytes())? {
                let ((_, local), _) = entry?;
                if bars.has_page(&site, &local) {
                    names.pages.insert((site.clone(), local));
                }
            }
        }
        Ok(names)
    }

    /// The hashes under which they are barred from now on, each with whether it is a site.
    pub(super) fn bar(
        &self,
        store: &Store,
        changes: &mut Changes,
    ) -> Result<Vec<(Hash128, bool)>, EngineError> {
        if let Some((secret, hashes)) = &self.theirs {
            secret.put(store, changes)?;
            return Ok(hashes.clone());
        }
        let secret = Secret::made(store, changes)?;
        let pages = self.pages.iter();
        let pages = pages.map(|(site, local)| (secret.of_page(site, local), false));
        let sites = self.sites.iter().map(|site| (secret.of_site(site), true));
        Ok(pages.chain(sites).collect())
    }
}

/// Whether a text is the name of a site, and not of a host on it, say, or of a page.
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

/// What the bank has of the names.
pub(super) struct Found {
    /// The pages, those of the sites included.
    pub(super) pages: RoaringTreemap,
    /// The sites, with their names.
    pub(super) sites: BTreeMap<SiteId, String>,
    /// The site and the rest of the URL of each page.
    locations: BTreeMap<PageId, (String, String)>,
}

/// Records that take the links to forgotten pages away.
pub(super) struct Without {
    pub(super) records: Vec<Record>,
    /// How many aliases led to a forgotten page.
    pub(super) aliases: u64,
}

impl Found {
    /// Looks the names up; what is not known is an error, unless it `may_lack` some.
    pub(super) fn find(
        store: &Store,
        names: &Names,
        mode: SiteMode,
        may_lack: bool,
    ) -> Result<Self, EngineError> {
        let mut found = Self {
            pages: RoaringTreemap::new(),
            sites: BTreeMap::new(),
            locations: BTreeMap::new(),
        };
        for name in &names.sites {
            let Some(site) = store.get(&tables::SITE_IDS, name)? else {
                if may_lack {
                    continue;
                }
                return Err(EngineError::NoSite {
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
                None if may_lack => {}
                None => {
                    return Err(EngineError::NotKnown {
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

    /// What a batch has to say so that no link goes from or to a page: of each page that it is gone,
    /// of each that links to one what it links to without it, of each alias of one that it is gone.
    pub(super) fn records(
        &self,
        store: &Store,
        mode: SiteMode,
        watch: &dyn Watch,
    ) -> Result<Without, EngineError> {
        let url = |page: PageId| -> Result<String, StoreError> {
            let site = store.need(&tables::SITES, &page.site())?.name;
            let local = store.need(&tables::PAGES, &page)?.local;
            Ok(ingest::url(&site, &local, mode))
        };
        let mut without = Without {
            records: Vec::new(),
            aliases: 0,
        };
        let mut linking = store.linking_any(&self.pages, watch)?;
        let mut leading = RoaringTreemap::new();
        for page in self.pages.iter().map(PageId) {
            watch.proceed()?;
            without.records.push(Record::new(url(page)?).gone());
            for (other, why) in store.alias_references(page)? {
                match why {
                    AliasReference::Alias => leading.insert(other.0),
                    AliasReference::Link => linking.insert(other.0),
                };
            }
        }
        for page in (&leading - &self.pages).iter().map(PageId) {
            without.aliases += 1;
            without.records.push(Record::new(url(page)?).gone());
        }
        for page in (&linking - &self.pages).iter().map(PageId) {
            watch.proceed()?;
            let record = store.need(&tables::PAGES, &page)?;
            if record.state != PageState::Crawled {
                continue;
            }
            let mut given = store.links_of(page, record.row)?;
            if let Some(AliasRecord::Links(links)) = store.get(&tables::ALIASES, &page)? {
                given.retain(|to| !links.reached.contains(to));
                given.extend(links.aliases);
            }
            let given = given.into_iter().filter(|to| !self.has(*to));
            let urls: Result<Vec<String>, StoreError> = given.map(url).collect();
            without
                .records
                .push(Record::new(url(page)?).outlinks(urls?));
        }
        Ok(without)
    }

    /// Deletes the ways from names to ids.
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
