//! Aliases: pages that redirect to another page.
//!
//! All other tables contain resolved links: a link to an alias is stored as a link to the end of its
//! chain, and no link starts or ends at an alias. This module stores the difference to the reported links,
//! so that links can be resolved again when an alias changes:
//!
//! ```text
//! reported = (links - reached) + aliases
//! links    = (reported - aliases) + ends of the chains of aliases - the page itself
//! ```

use serde::{Deserialize, Serialize};

use crate::tables::codec::Malformed;
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::page::PageId;

/// The maximum length of a chain of aliases. A longer chain or a loop has no end, and links to it are
/// ignored.
pub const MAX_CHAIN: usize = 20;

/// The alias record of a page; most pages have none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AliasRecord {
    /// The page redirects to this page: perhaps another alias, never itself. It has no links, and no links lead to it.
    Alias(PageId),
    /// The page links to aliases.
    Links(AliasLinks),
}

impl AliasRecord {
    /// Iterates over the pages that the record refers to, with the kind of reference.
    pub fn references(&self) -> impl Iterator<Item = (PageId, AliasReference)> + '_ {
        let (one, several) = match self {
            Self::Alias(to) => (Some((*to, AliasReference::Alias)), [].as_slice()),
            Self::Links(links) => (None, links.aliases.as_slice()),
        };
        let several = several.iter().map(|alias| (*alias, AliasReference::Link));
        one.into_iter().chain(several)
    }
}

/// The difference between the reported and the resolved links of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AliasLinks {
    /// The aliases among the reported links, ascending; at least one.
    pub aliases: Vec<PageId>,
    /// The resolved links that were not reported, ascending: ends of chains of aliases.
    pub reached: Vec<PageId>,
}

/// The kind of reference from another page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AliasReference {
    /// The other page is an alias with this target.
    Alias,
    /// The other page links to this one, which is an alias.
    Link,
}

impl Value for AliasReference {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        u32::from(*self == Self::Link).encode(out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        match u32::decode(bytes)? {
            0 => Ok(Self::Alias),
            1 => Ok(Self::Link),
            other => Err(Malformed(format!("unknown kind of alias {other}"))),
        }
    }
}

/// Follows a chain of aliases and returns its end, the page itself if it is no alias; `None` if the chain
/// is too long or a loop. `next` returns the target of an alias, `None` for other pages.
pub fn resolve_alias<E>(
    page: PageId,
    mut next: impl FnMut(PageId) -> Result<Option<PageId>, E>,
) -> Result<Option<PageId>, E> {
    let mut at = page;
    let mut chain = vec![page];
    while chain.len() <= MAX_CHAIN + 1 {
        match next(at)? {
            None => return Ok(Some(at)),
            // A loop ends where it begins again.
            Some(to) if chain.contains(&to) => return Ok(None),
            Some(to) => at = to,
        }
        chain.push(at);
    }
    Ok(None)
}

record_values!(AliasRecord);
