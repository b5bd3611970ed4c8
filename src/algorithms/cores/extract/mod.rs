//! Extraction of one core, starting from the best authority of a region.
//!
//! Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), figures 1 and 2, with a misprint corrected
//! (`src/guide/cores.md`, *Extraction*): each round adds the best hub, then the best authority. The
//! computation is on classes, but pages are added: the pages of a class have equal scores, so the tie rule
//! takes them in URL order.
//!
//! | module | contents |
//! | --- | --- |
//! | `growth` | the rules |
//! | `side` | the hubs, or the authorities, of a region while a core grows |
//! | `region` | growth in a region |
//! | `share` | growth in a graph that processes share |

mod growth;
mod region;
mod share;
#[cfg(test)]
mod share_tests;
mod side;

use std::collections::BTreeMap;

use crate::graph::{HubShare, Remaining, Role};
use crate::rank::Principal;
use crate::watch::Interrupted;

use super::params::CoreParams;
pub(super) use growth::Grown;
use growth::{grow, is_complete};
use region::RegionField;
use share::ShareField;

/// An extracted core, with what this process knows of it.
pub(super) struct Extracted {
    pub(super) grown: Grown,
    /// The number of pages of the core in each local class, by role: hubs, authorities.
    pub(super) pages: PagesOfClasses,
}

/// Numbers of pages by class: of hubs, of authorities.
pub(super) type PagesOfClasses = [BTreeMap<u32, u32>; 2];

const fn index(role: Role) -> usize {
    match role {
        Role::Hub => 0,
        Role::Authority => 1,
    }
}

/// Extracts the core of a region. It has no hub only if the region has no link left. All processes call it at the same time.
///
/// Of scores that are not exact, links and symmetry can decide a tie if the region is that of one process. In a region that
/// processes share they do not; there the core is in doubt if the errors leave open whether the first page that may be tied
/// with the best score is tied with it. That depends on the candidates alone, so doubt and error are the same for any number
/// of processes.
pub(super) fn extract(
    share: &HubShare,
    left: &Remaining,
    principal: &Principal,
    params: &CoreParams,
) -> Result<Extracted, Interrupted> {
    let is_complete = is_complete(params);
    let (grown, pages) = if principal.region.is_shared() {
        let mut field = ShareField::new(share, left, principal, is_complete);
        let grown = grow(&mut field, params)?;
        (grown, field.into_pages())
    } else {
        let mut field = RegionField::new(share.graph(), left, principal, is_complete);
        let grown = grow(&mut field, params)?;
        (grown, field.into_pages())
    };
    Ok(Extracted { grown, pages })
}
