//! The state that is asked.

use std::sync::{Mutex, PoisonError};

use crate::engine::{Bank, EngineError};

/// Holds the published state open between requests, as long as no later one is published.
pub(super) struct Shelf {
    bank: Bank,
    held: Mutex<Option<Bank>>,
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
    pub(super) fn state(&self) -> Result<Bank, EngineError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = held.as_ref() {
            match state.is_current() {
                Ok(true) => return Ok(state.clone()),
                Ok(false) => {}
                Err(e) => {
                    *held = None;
                    return Err(e);
                }
            }
        }
        // An old state is let go before another one takes its memory.
        *held = None;
        let state = self.bank.pinned()?;
        *held = Some(state.clone());
        Ok(state)
    }

    /// Lets an old state go, so that its files can be removed, also where nobody asks any more.
    pub(super) fn let_go(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |state: &Bank| state.is_current().unwrap_or(false);
        if !held.as_ref().is_some_and(is_current) {
            *held = None;
        }
    }
}
