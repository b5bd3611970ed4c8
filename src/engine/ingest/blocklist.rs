//! Blocklist: pages and sites that were forgotten and must not return. Batches skip them.
//!
//! The bank stores hashes instead of names, keyed by a secret of the bank. Without both the secret
//! and a guess of the name, a hash reveals nothing.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{Attribute, Event, Interner, UrlNumber};
use seedbank_store::records::{BlocklistEntry, Meta};
use seedbank_store::tables::{self, MetaKey};
use seedbank_store::{Changes, Hash128, Store, StoreError};

/// Input that a batch skipped because it names blocked pages or sites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BlockedCounts {
    /// Number of skipped records of blocked pages and sites; in lists of links, links from them.
    pub records: u64,
    /// Number of skipped links from other pages to blocked pages.
    pub links: u64,
}

impl BlockedCounts {
    /// Whether nothing was skipped.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.records == 0 && self.links == 0
    }
}

/// Key for hashing names.
#[derive(Clone, Copy)]
pub(super) struct Secret(pub(super) [u8; 32]);

/// Prefixes of hashed names, so that no page has the hash of a site.
const PAGE: &[u8] = b"page\0";
const SITE: &[u8] = b"site\0";

impl Secret {
    /// Returns the bank's secret; `None` if nothing was ever blocked.
    pub(super) fn load(store: &Store) -> Result<Option<Self>, StoreError> {
        match store.get(&tables::META, &MetaKey::Secret)? {
            None => Ok(None),
            Some(Meta::Secret(secret)) => Ok(Some(Self(secret))),
            Some(_) => Err(StoreError::Damaged {
                table: tables::META.name,
                key: "Secret".to_owned(),
                what: "expected a secret, found another record".to_owned(),
            }),
        }
    }

    /// Returns the bank's secret, and creates one if there is none.
    pub(super) fn load_or_create(store: &Store, changes: &mut Changes) -> Result<Self, StoreError> {
        if let Some(secret) = Self::load(store)? {
            return Ok(secret);
        }
        let mut secret = [0; 32];
        let source = "/dev/urandom";
        File::open(source)
            .and_then(|mut random| random.read_exact(&mut secret))
            .map_err(StoreError::io("read", source))?;
        changes.put(&tables::META, &MetaKey::Secret, &Meta::Secret(secret))?;
        Ok(Self(secret))
    }

    /// Stores a secret of another bank. Fails if this bank has a different one, since its own
    /// hashes would become useless.
    pub(super) fn put(self, store: &Store, changes: &mut Changes) -> Result<()> {
        match Self::load(store)? {
            Some(own) if own.0 != self.0 => Err(EngineError::ConflictingSecrets),
            Some(_) => Ok(()),
            None => Ok(changes.put(&tables::META, &MetaKey::Secret, &Meta::Secret(self.0))?),
        }
    }

    fn hash(&self, kind: &[u8], site: &str, local: &str) -> Hash128 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // Site names contain no NUL byte, so the concatenation is unambiguous.
        hasher.update(kind).update(site.as_bytes()).update(&[0]);
        hasher.update(local.as_bytes());
        let mut hash = Hash128::default();
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        hash
    }

    pub(super) fn of_page(&self, site: &str, local: &str) -> Hash128 {
        self.hash(PAGE, site, local)
    }

    pub(super) fn of_site(&self, site: &str) -> Hash128 {
        self.hash(SITE, site, "")
    }
}

pub(super) struct Blocklist {
    secret: Secret,
    hashes: HashSet<Hash128>,
    /// Whether any hash belongs to a site.
    sites: bool,
    pub(super) counts: BlockedCounts,
}

impl Blocklist {
    /// Loads the blocklist; `None` if it is empty.
    ///
    /// Memory: some 40 bytes for each page or site.
    pub(super) fn load(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(secret) = Secret::load(store)? else {
            return Ok(None);
        };
        let mut blocklist = Self {
            secret,
            hashes: HashSet::new(),
            sites: false,
            counts: BlockedCounts::default(),
        };
        for entry in store.scan(&tables::BLOCKLIST)? {
            let (hash, BlocklistEntry { site, .. }) = entry?;
            blocklist.hashes.insert(hash);
            blocklist.sites |= site;
        }
        Ok((!blocklist.hashes.is_empty()).then_some(blocklist))
    }

    /// Removes blocked parts of an event; `None` if nothing is left. `blocked` is indexed by URL
    /// number, and empty if no URL is blocked.
    pub(super) fn allowed(
        &mut self,
        mut event: Event<UrlNumber>,
        blocked: &[bool],
    ) -> Option<Event<UrlNumber>> {
        let is_blocked = |url: &UrlNumber| blocked.get(*url as usize) == Some(&true);
        let left_out = match &mut event {
            Event::Record(record) => {
                // The record's target is dropped, as for a redirect to an invalid URL.
                if record.redirect.as_ref().is_some_and(is_blocked) {
                    self.counts.links += 1;
                    record.redirect = None;
                }
                if matches!(&record.canonical, Attribute::Given(to) if is_blocked(to)) {
                    record.canonical = Attribute::Removed;
                }
                record.same_content = record.same_content.filter(|to| !is_blocked(to));
                if let Some(origin) = &mut record.origin {
                    origin.seed = origin.seed.filter(|seed| !is_blocked(seed));
                    origin.via = origin.via.filter(|via| !is_blocked(via));
                }
                if let Some(outlinks) = &mut record.outlinks {
                    let before = outlinks.len();
                    outlinks.retain(|to| !is_blocked(to));
                    self.counts.links += (before - outlinks.len()) as u64;
                }
                is_blocked(&record.url)
            }
            Event::Link { from, to } | Event::Outlink { from, to }
                if is_blocked(from) || is_blocked(to) =>
            {
                if is_blocked(from) {
                    self.counts.records += 1;
                } else {
                    self.counts.links += 1;
                }
                return None;
            }
            Event::Page(page) => is_blocked(&page.url),
            Event::Site(site) => self.has_site(&site.site),
            Event::Seen(page) if is_blocked(page) => return None,
            Event::Link { .. }
            | Event::Outlink { .. }
            | Event::Seen(_)
            | Event::Rejected(_)
            | Event::BadField(_) => false,
        };
        self.counts.records += u64::from(left_out);
        (!left_out).then_some(event)
    }

    pub(super) fn has_site(&self, site: &str) -> bool {
        self.sites && self.hashes.contains(&self.secret.of_site(site))
    }

    /// Returns which of these URLs are blocked, by number.
    pub(super) fn blocked_urls(&self, urls: &Interner) -> Vec<bool> {
        let numbers = (0..).take(urls.len());
        let of_url = numbers.map(|number| {
            let (site, local) = urls.parts(number);
            self.has_page(site, local)
        });
        of_url.collect()
    }

    pub(super) fn has_page(&self, site: &str, local: &str) -> bool {
        self.hashes.contains(&self.secret.of_page(site, local)) || self.has_site(site)
    }
}
