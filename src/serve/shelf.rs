//! The state that is asked, and answers of it that took long.

use std::sync::{Arc, Mutex, PoisonError};

use super::kept::Kept;
use super::turnovers::Turnovers;
use crate::engine::{Bank, EngineError};

/// A published state that is held open.
pub(super) struct Held {
    pub(super) bank: Bank,
    pub(super) kept: Kept,
    pub(super) turnovers: Turnovers,
}

/// Holds the published state open between requests, as long as no later one is published.
pub(super) struct Shelf {
    bank: Bank,
    held: Mutex<Option<Arc<Held>>>,
}

impl Shelf {
    pub(super) fn new(bank: Bank) -> Self {
        Self {
            bank,
            held: Mutex::new(None),
        }
    }

    /// The state that is published now; every question of a request goes to one such handle.
    ///
    /// Cost: two small files are read; where another state was published, that one is opened.
    pub(super) fn state(&self) -> Result<Arc<Held>, EngineError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = held.as_ref() {
            match state.bank.is_current() {
                Ok(true) => return Ok(Arc::clone(state)),
                Ok(false) => {}
                Err(e) => {
                    *held = None;
                    return Err(e);
                }
            }
        }
        // An old state is let go before another one takes its memory.
        *held = None;
        let state = Arc::new(Held {
            bank: self.bank.pinned()?,
            kept: Kept::default(),
            turnovers: Turnovers::default(),
        });
        *held = Some(Arc::clone(&state));
        Ok(state)
    }

    /// Lets an old state go, so that its files can be removed, also where nobody asks any more.
    pub(super) fn let_go(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |state: &Arc<Held>| state.bank.is_current().unwrap_or(false);
        if !held.as_ref().is_some_and(is_current) {
            *held = None;
        }
    }
}
