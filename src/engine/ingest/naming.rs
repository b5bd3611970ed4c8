//! How a bank delimits pages and sites.

use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{Naming, SUFFIX_LIST, SiteMode};
use seedbank_store::Store;

/// Returns how the bank delimits pages and sites. Fails if this build does so differently.
///
/// Another suffix list changes thousands of registrable domains. Of bare hosts it changes only
/// those few that are `www.` and a public suffix in only one of the lists, which is not a reason to
/// reject a bank.
pub(super) fn writable_naming(store: &Store) -> Result<Naming> {
    let settings = store.settings()?;
    let naming = crate::engine::naming(&settings)?;
    if naming.sites == SiteMode::Domain && settings.suffix_list != SUFFIX_LIST {
        return Err(EngineError::SuffixList {
            bank: settings.suffix_list,
            build: SUFFIX_LIST.to_owned(),
        });
    }
    Ok(naming)
}
