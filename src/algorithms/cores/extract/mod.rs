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
//! | `share` | growth in a graph that several processes share |

mod growth;
mod region;
mod share;
#[cfg(test)]
mod share_tests;
mod side;

use crate::graph::{HubGraph, Remaining};
use crate::rank::Principal;
use crate::watch::Interrupted;

use super::params::CoreParams;
pub(super) use growth::Grown;
use growth::{grow, is_complete};
use region::RegionField;
pub(super) use share::extract_shared;

/// Extracts the core of a region. It has no hub only if the region has no link left.
pub(super) fn extract(
    graph: &HubGraph,
    left: &Remaining,
    principal: &Principal,
    params: &CoreParams,
) -> Result<Grown, Interrupted> {
    grow(
        RegionField::new(graph, left, principal, is_complete(params)),
        params,
    )
}
