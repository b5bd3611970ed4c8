//! Which of several statements of one time counts, as `src/guide/formats_records.md` says, worked out
//! anew: links by the bytes of their URLs, then by a hash.

use std::collections::BTreeSet;

use seedbank::ingest::{Attribute, SiteAttributes, SiteMode, UrlRules, parse};
use seedbank_store::pack;

use super::records::{SiteLine, Uncrawled, url};

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

/// What lists of links compare by: the greatest counts.
pub type LinksWeight = (usize, [u8; 16]);

/// The weight of a list of links.
pub fn links_weight(targets: &BTreeSet<usize>, by_domain: bool) -> LinksWeight {
    let mut bytes = 0;
    let mut sum = 0_u128;
    for target in targets {
        let key = key(*target, by_domain);
        bytes += key.len();
        let hash = u128::from_be_bytes(first_half(&blake3::hash(&key)));
        sum = sum.wrapping_add(hash);
    }
    if targets.is_empty() {
        return LinksWeight::default();
    }
    (bytes, first_half(&blake3::hash(&sum.to_be_bytes())))
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
