//! Deletes lists that no plan or refresh references any more.

use std::collections::BTreeSet;

use crate::engine::Result;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Hash128, Store, tables};

/// Deletes the lists that are unreferenced once the refreshes in `gone` are deleted and the plan
/// `of` references exactly the lists `now`.
///
/// Cost: one scan of lists and, if there are any, one of refreshes and plans.
pub(super) fn delete_unreferenced(
    store: &Store,
    changes: &mut Changes,
    gone: &[RefreshId],
    of: &str,
    now: &[Hash128],
) -> Result<()> {
    let mut unnamed = BTreeSet::new();
    for entry in store.scan(&tables::PLAN_LISTS)? {
        unnamed.insert(entry?.0);
    }
    if unnamed.is_empty() {
        return Ok(());
    }
    for hash in now {
        unnamed.remove(hash);
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (refresh, record) = entry?;
        if !gone.contains(&refresh) {
            unnamed.retain(|hash| !record.lists.contains(hash));
        }
    }
    for entry in store.scan(&tables::PLANS)? {
        let (plan, record) = entry?;
        if plan != of {
            unnamed.retain(|hash| !record.lists.contains(hash));
        }
    }
    for hash in unnamed {
        changes.delete(&tables::PLAN_LISTS, &hash)?;
    }
    Ok(())
}
