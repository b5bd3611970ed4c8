//! Aliases: pages that redirect to another page, or name another one as canonical.
//!
//! Everywhere else the links of a bank are those that count: a link to an alias stands for one to
//! where it leads, and no link goes to or from an alias. What a page's record gave is kept here, as
//! far as it differs, so that the links can be made anew when an alias changes:
//!
//! ```text
//! given = (links - reached) + aliases
//! links = (given - aliases) + where the aliases lead - the page itself
//! ```

use serde::{Deserialize, Serialize};

use crate::tables::codec::Malformed;
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::page::{AliasBy, PageId};

/// The most aliases that lead from one to the next. The page after them is where they all lead;
/// where there is none, as in a loop, they lead nowhere and links to them count for nothing.
pub const MAX_CHAIN: usize = 5;

/// What aliases make of a page; absent for most pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AliasRecord {
    /// It is one. It has no links, and none go to it.
    Alias(Alias),
    /// It links to some.
    Links(AliasLinks),
}

impl AliasRecord {
    /// The pages that the page is to be found from, and why.
    pub fn ways(&self) -> impl Iterator<Item = (PageId, AliasReference)> + '_ {
        let (one, several) = match self {
            Self::Alias(alias) => (Some((alias.to, AliasReference::Alias)), [].as_slice()),
            Self::Links(links) => (None, links.aliases.as_slice()),
        };
        let several = several.iter().map(|alias| (*alias, AliasReference::Link));
        one.into_iter().chain(several)
    }
}

/// What makes a page an alias.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Alias {
    /// The page that it redirects to or names; perhaps an alias itself, never the page itself.
    pub to: PageId,
    /// What said so.
    pub by: AliasBy,
}

/// What a page's record gave for links, as far as it differs from the links that count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AliasLinks {
    /// The aliases among the links given, ascending; at least one.
    pub aliases: Vec<PageId>,
    /// The links that count and were not given, ascending: the aliases lead there.
    pub reached: Vec<PageId>,
}

/// Why a page is found from another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AliasReference {
    /// The other one is an alias that leads to it, as its next one.
    Leads,
    /// The other one links to it, and it is an alias.
    Links,
}

impl Value for AliasReference {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        u32::from(*self == Self::Links).encode(out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        match u32::decode(bytes)? {
            0 => Ok(Self::Leads),
            1 => Ok(Self::Links),
            other => Err(Malformed(format!("unknown kind of alias {other}"))),
        }
    }
}

/// Where a page leads in the end, by the next page of each alias (`None`: it is none); the page
/// itself where it is no alias. `None` where it leads nowhere.
pub fn resolve_alias<E>(
    page: PageId,
    mut next: impl FnMut(PageId) -> Result<Option<PageId>, E>,
) -> Result<Option<PageId>, E> {
    let mut at = page;
    for _ in 0..=MAX_CHAIN {
        match next(at)? {
            None => return Ok(Some(at)),
            Some(to) => at = to,
        }
    }
    Ok(None)
}

record_values!(AliasRecord);
