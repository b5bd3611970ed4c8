//! The published state that requests read, with the caches of its answers.

use std::sync::{Arc, Mutex, PoisonError};

use super::cache::AnswerCache;
use super::turnover_cache::TurnoverCache;
use crate::engine::{Bank, EngineError};

/// A published state with its caches.
pub(super) struct Snapshot {
    pub(super) bank: Bank,
    pub(super) cache: AnswerCache,
    pub(super) turnovers: TurnoverCache,
}

/// Keeps the published state open between requests until a newer one is published.
pub(super) struct CurrentSnapshot {
    bank: Bank,
    open: Mutex<Option<Arc<Snapshot>>>,
}

impl CurrentSnapshot {
    pub(super) fn new(bank: Bank) -> Self {
        Self {
            bank,
            open: Mutex::new(None),
        }
    }

    /// Returns the state that is published now.
    ///
    /// Cost: reads two small files; opens the state if it is not open yet.
    pub(super) fn get(&self) -> Result<Arc<Snapshot>, EngineError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = open.as_ref() {
            match snapshot.bank.is_current() {
                Ok(true) => return Ok(Arc::clone(snapshot)),
                Ok(false) => {}
                Err(e) => {
                    *open = None;
                    return Err(e);
                }
            }
        }
        // Close the old state before the new one takes memory too.
        *open = None;
        let snapshot = Arc::new(Snapshot {
            bank: self.bank.pinned()?,
            cache: AnswerCache::default(),
            turnovers: TurnoverCache::default(),
        });
        *open = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Closes an outdated state, so that its files can be removed even if no request arrives.
    pub(super) fn close_if_outdated(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.take_if(|snapshot| !snapshot.bank.is_current().unwrap_or(false));
    }
}
