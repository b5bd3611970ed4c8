//! Policies: which pages may be seeds, and how many of them.
//!
//! Except for `exclude-from-graph`, a policy does not change what a method measures, only which of
//! the selected pages become seeds.
//!
//! ```text
//! params     the policies of a plan, decided; rules: with their lists read
//! held       why a page is held back
//! list       a list that a plan names, by the hash of its lines
//! limit      a number, or none
//! candidates whether a page may be a seed: its own sake, not that of others
//! caps       how many seeds of a site and of a domain there are, and may be
//! pins       the pages that are always seeds
//! steady     a list that changes by no more than so many seeds
//! ```

mod candidates;
mod caps;
mod churn_limit;
mod limit;
mod list;
mod loaded_policy;
mod params;
mod pins;
mod rejection_reason;

pub use limit::Limit;
pub use list::List;
pub use params::Policy;
pub use pins::{PinRejection, RejectedPin};
pub use rejection_reason::RejectionReason;

pub(crate) use caps::Caps;
pub(crate) use churn_limit::{ChurnLimit, limit_churn};
pub(crate) use loaded_policy::{LoadedPolicy, PolicyLists, pinned_urls};
