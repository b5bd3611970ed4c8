//! Which of several records of one page counts, as `src/guide/formats_records.md` says, worked out
//! anew: by time, then by the bytes of the canonical form, then by its hash.

use std::collections::BTreeSet;

use seedbank::engine::query::AliasBy;
use seedbank::ingest::{Attribute, SiteAttributes, SiteMode, UncrawledOutlinks, UrlRules, parse};
use seedbank_store::pack;

use super::records::{Record, SiteLine, Uncrawled, url};

/// What records of one page compare by: the greatest counts.
pub type Weight = (Option<u8>, usize, [u8; 16]);

fn first_half(hash: &blake3::Hash) -> [u8; 16] {
    hash.as_bytes()[..16].try_into().unwrap()
}

/// The key of a page's URL: its site, a NUL byte, the rest.
fn key(page: usize, by_domain: bool) -> Vec<u8> {
    let sites = if by_domain {
        SiteMode::Domain
    } else {
        SiteMode::Host
    };
    let at = parse(&url(page), sites.with(UrlRules::Whatwg)).unwrap();
    [at.site.as_bytes(), b"\0", at.local.as_bytes()].concat()
}

/// What a record says of its page, packed, and the pages that it links or leads to.
fn said(record: &Record) -> (Vec<u8>, BTreeSet<usize>) {
    let is_gone = record.gone == Some(true);
    let nothing = UncrawledOutlinks::Absent;
    if is_gone {
        let none = (
            None::<bool>,
            None::<u64>,
            nothing,
            None::<[u8; 16]>,
            None::<AliasBy>,
        );
        let packed = pack(&(true, false, true, none.0, none.1, none.2, none.3, none.4));
        return (packed.unwrap(), BTreeSet::new());
    }
    let alias = record.alias();
    let targets: BTreeSet<usize> = match alias {
        Some((to, _)) => BTreeSet::from([to]),
        None => record.outlinks.iter().flatten().copied().collect(),
    };
    let targets = targets
        .into_iter()
        .filter(|to| *to != record.page)
        .collect();
    let has_links = record.outlinks.is_some() && alias.is_none();
    let digest = record
        .digest
        .map(|d| first_half(&blake3::hash(format!("digest-{d}").as_bytes())));
    let uncrawled = match record.uncrawled {
        Uncrawled::Absent => nothing,
        Uncrawled::Null => UncrawledOutlinks::Counted,
        Uncrawled::Given(count) => UncrawledOutlinks::Given(count),
    };
    let by = alias.map(|(_, is_canonical)| {
        if is_canonical {
            AliasBy::Canonical
        } else {
            AliasBy::Redirect
        }
    });
    let mut packed = pack(&(
        has_links || alias.is_some(),
        has_links || record.digest.is_some() || record.fetched.is_some(),
        false,
        record.spam,
        record.clicks,
        uncrawled,
        digest,
        by,
    ))
    .unwrap();
    match record.quality {
        Uncrawled::Absent => {}
        Uncrawled::Null => packed.extend(pack(&Attribute::<u16>::Removed).unwrap()),
        Uncrawled::Given(steps) => {
            let steps = u16::try_from(steps).unwrap();
            packed.extend(pack(&Attribute::Given(steps)).unwrap());
        }
    }
    (packed, targets)
}

/// The weight of a record.
pub fn weight(record: &Record, by_domain: bool) -> Weight {
    let (said, targets) = said(record);
    let mut bytes = said.len();
    let mut sum = 0_u128;
    for target in targets {
        let key = key(target, by_domain);
        bytes += key.len();
        let hash = u128::from_be_bytes(first_half(&blake3::hash(&key)));
        sum = sum.wrapping_add(hash);
    }
    let whole = blake3::hash(&[&said[..], &sum.to_be_bytes()].concat());
    (record.fetched, bytes, first_half(&whole))
}

/// What records of one site compare by: the greatest counts.
pub fn site_weight(line: &SiteLine) -> (usize, Vec<u8>) {
    fn attribute<T>(said: Uncrawled, value: impl Fn(u32) -> T) -> Attribute<T> {
        match said {
            Uncrawled::Absent => Attribute::Absent,
            Uncrawled::Null => Attribute::Removed,
            Uncrawled::Given(number) => Attribute::Given(value(number)),
        }
    }
    let packed = pack(&SiteAttributes {
        site: line.site.to_owned(),
        quality: attribute(line.quality, |steps| u16::try_from(steps).unwrap()),
        spam: attribute(line.spam, |spam| spam == 1),
        quota: attribute(line.quota, |quota| quota),
    })
    .unwrap();
    (packed.len(), packed)
}
