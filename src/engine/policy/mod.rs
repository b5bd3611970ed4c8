//! Policies: which pages may be seeds, and how many of them.
//!
//! Except for `exclude-from-graph`, a policy does not change what a method measures, only which of
//! the selected pages become seeds.
//!
//! ```text
//! params            the policies of a plan, resolved
//! loaded_policy     policies with their lists loaded
//! rejection_reason  why a page is not a seed
//! list              a list that a plan references, by the hash of its lines
//! limit             a number, or none
//! candidates        rules about single pages
//! caps              limits on the number of seeds of a site and of a domain
//! pins              pages that are always seeds
//! churn_limit       a limit on the changes of a list per refresh
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

// Types of requests and answers that other crates declare.
pub use seedbank_formats::ingest::{BadPattern, MEDIA};

pub use limit::Limit;
pub use list::List;
pub use params::Policy;
pub use pins::{PinRejection, RejectedPin};
pub use rejection_reason::RejectionReason;

pub(crate) use caps::Caps;
pub(crate) use churn_limit::{ChurnLimit, limit_churn};
pub(crate) use loaded_policy::{LoadedPolicy, PolicyLists, pinned_urls};
