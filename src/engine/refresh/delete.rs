//! Deletes a plan with its refreshes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cores::page_evidence;
use super::list_gc::delete_unreferenced;
use super::prune::{PickedBy, prune};
use crate::engine::history::timeline;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError, Result};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, tables};

/// Report of a deleted plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DeletedPlan {
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub deleted: String,
    /// Its refreshes, which were deleted with it. Their numbers are not used again.
    #[schemars(inner(range(min = 1)))]
    pub refreshes: Vec<RefreshId>,
}

impl Bank {
    /// Deletes a plan, its refreshes and all data stored for them. Other plans are not affected.
    ///
    /// Also deletes history of batches that no remaining refresh needs. A refresh of the plan that
    /// is running meanwhile starts again. If `wait` is set, waits for another writer to finish.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::EngineError;
    ///
    /// assert_eq!(bank.delete_plan("default", false)?.refreshes, [1]);
    /// let gone = bank.seeds(1);
    /// assert!(matches!(gone, Err(EngineError::DeletedRefresh(1))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: the stored data of the refreshes, and one scan of the history.
    pub fn delete_plan(&self, plan: &str, wait: bool) -> Result<DeletedPlan> {
        let watch = self.watch();
        let writer = self.open_writer(wait, watch)?;
        let name = plan.to_owned();
        if writer.get(&tables::PLANS, &name)?.is_none() {
            return Err(EngineError::UnknownPlan(name));
        }
        watch.stage("delete", None);
        let counters = writer.counters()?;
        let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
        changes.delete(&tables::PLANS, &name)?;
        let refreshes = prune(&writer, &mut changes, plan, 0, PickedBy::default())?;
        timeline::prune(&writer, &mut changes, &refreshes, counters.batch)?;
        // No refresh is being stored, so its number is 0, which is never assigned.
        page_evidence::delete_unseen(&writer, &mut changes, &refreshes, 0, None)?;
        delete_unreferenced(&writer, &mut changes, &refreshes, plan, &[])?;
        watch.proceed()?;
        writer.commit(changes, counters)?;
        Ok(DeletedPlan {
            deleted: name,
            refreshes,
        })
    }
}
