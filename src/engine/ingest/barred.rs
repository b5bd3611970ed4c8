//! Pages and sites that were forgotten and are not to come back: a batch takes nothing of them.
//!
//! The bank has no names of theirs, only hashes keyed by a secret of the bank, which tell nobody who
//! has not got both what was forgotten.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use seedbank_formats::ingest::Interner;
use seedbank_store::records::{BlocklistEntry, Meta};
use seedbank_store::tables::{self, MetaKey};
use seedbank_store::{Changes, Hash128, Store, StoreError};

/// What a batch named that is not to come back, and what was therefore left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BarredCounts {
    /// Records of barred pages and sites; of a list of links, links from them.
    pub records: u64,
    /// Links of other pages to barred pages.
    pub links: u64,
}

impl BarredCounts {
    /// Whether nothing was left out.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.records == 0 && self.links == 0
    }
}

/// The secret by which names are hashed.
#[derive(Clone, Copy)]
pub(super) struct Secret(pub(super) [u8; 32]);

/// What stands before the two kinds of names, so that no page has the hash of a site.
const PAGE: &[u8] = b"page\0";
const SITE: &[u8] = b"site\0";

impl Secret {
    /// The bank's secret; `None` where nothing was ever barred.
    pub(super) fn of(store: &Store) -> Result<Option<Self>, StoreError> {
        match store.get(&tables::META, &MetaKey::Secret)? {
            None => Ok(None),
            Some(Meta::Secret(secret)) => Ok(Some(Self(secret))),
            Some(_) => Err(StoreError::Damaged {
                table: tables::META.name,
                key: "Secret".to_owned(),
                what: "it is another record".to_owned(),
            }),
        }
    }

    /// The bank's secret, which is made up where there is none.
    pub(super) fn made(store: &Store, changes: &mut Changes) -> Result<Self, StoreError> {
        if let Some(secret) = Self::of(store)? {
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

    /// Takes over a secret, unless the bank has another one: what it bars by that could not be told
    /// any more.
    pub(super) fn put(self, store: &Store, changes: &mut Changes) -> Result<(), EngineError> {
        match Self::of(store)? {
            Some(own) if own.0 != self.0 => Err(EngineError::OtherSecret),
            Some(_) => Ok(()),
            None => Ok(changes.put(&tables::META, &MetaKey::Secret, &Meta::Secret(self.0))?),
        }
    }

    fn hash(&self, kind: &[u8], site: &str, local: &str) -> Hash128 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // No name of a site contains a NUL byte.
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

/// What is barred.
pub(super) struct Bars {
    secret: Secret,
    hashes: HashSet<Hash128>,
    /// Whether any of it is a site.
    sites: bool,
    pub(super) counts: BarredCounts,
}

impl Bars {
    /// What the bank bars; `None` where that is nothing.
    ///
    /// Memory: some forty bytes for each page or site.
    pub(super) fn of(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(secret) = Secret::of(store)? else {
            return Ok(None);
        };
        let mut bars = Self {
            secret,
            hashes: HashSet::new(),
            sites: false,
            counts: BarredCounts::default(),
        };
        for entry in store.scan(&tables::BLOCKLIST)? {
            let (hash, BlocklistEntry { site, .. }) = entry?;
            bars.hashes.insert(hash);
            bars.sites |= site;
        }
        Ok((!bars.hashes.is_empty()).then_some(bars))
    }

    /// Whether a site is barred.
    pub(super) fn has_site(&self, site: &str) -> bool {
        self.sites && self.hashes.contains(&self.secret.of_site(site))
    }

    /// Which of these URLs are barred, by their numbers.
    pub(super) fn among(&self, urls: &Interner) -> Vec<bool> {
        let numbers = (0..).take(urls.len());
        let of_url = numbers.map(|number| {
            let (site, local) = urls.parts(number);
            self.has_page(site, local)
        });
        of_url.collect()
    }

    /// Whether a page is barred, or its site.
    pub(super) fn has_page(&self, site: &str, local: &str) -> bool {
        self.hashes.contains(&self.secret.of_page(site, local)) || self.has_site(site)
    }
}
