//! Deletes a plan with all that is kept of its refreshes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cores::standings;
use super::lists::delete_unnamed;
use super::prune::{PickedBy, prune};
use crate::engine::history::timeline;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Writer, tables};

/// A plan that was deleted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DeletedPlan {
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub deleted: String,
    /// Its refreshes, which went with it. Their numbers are not given out again.
    #[schemars(inner(range(min = 1)))]
    pub refreshes: Vec<RefreshId>,
}

impl Bank {
    /// Deletes a plan, its refreshes and all that is kept of them; other plans stay as they are.
    ///
    /// What batches overwrote goes too, as far as no refresh that is left can ask for it. A refresh
    /// of the plan that runs meanwhile begins again. With `wait` it waits for another writer to
    /// finish.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::{EngineError, Which};
    ///
    /// assert_eq!(bank.delete_plan("default", false, &Unwatched)?.refreshes, [1]);
    /// let gone = bank.seeds(&Which { refresh: Some(1), ..Which::default() });
    /// assert!(matches!(gone, Err(EngineError::Forgotten(1))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: what is kept of the refreshes, and one scan of what batches overwrote.
    pub fn delete_plan(
        &self,
        plan: &str,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<DeletedPlan, EngineError> {
        let writer = Writer::open(self.path(), wait, watch)?;
        let name = plan.to_owned();
        if writer.get(&tables::PLANS, &name)?.is_none() {
            return Err(EngineError::NoPlan(name));
        }
        watch.stage("delete", None);
        let counters = writer.counters()?;
        let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
        changes.delete(&tables::PLANS, &name)?;
        let refreshes = prune(&writer, &mut changes, plan, 0, PickedBy::default())?;
        timeline::prune(&writer, &mut changes, &refreshes, counters.batch)?;
        // No refresh is being stored, so none has a number.
        standings::delete_unseen(&writer, &mut changes, &refreshes, (0, None))?;
        delete_unnamed(&writer, &mut changes, &refreshes, (plan, &[]))?;
        watch.proceed()?;
        writer.commit(changes, counters)?;
        Ok(DeletedPlan {
            deleted: name,
            refreshes,
        })
    }
}
