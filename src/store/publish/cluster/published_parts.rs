//! Published states of cluster banks: their identities in requests, and the states opened for reading.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::tables::records::lineage::StateId;
use crate::tables::store::Store;

/// A published state of a cluster bank.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedState {
    pub(super) epoch: u64,
    pub(super) id: StateId,
}

impl PublishedState {
    /// Returns the state that a store has open.
    pub fn of_store(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            epoch: store.counters()?.epoch,
            id: store.state_id()?,
        })
    }
}

/// The published state of all parts of a cluster bank.
pub struct PublishedParts {
    store: Store,
    /// Prevent the removal of the states of this process.
    _locks: Vec<Lock>,
}

impl PublishedParts {
    pub(super) const fn new(store: Store, locks: Vec<Lock>) -> Self {
        Self {
            store,
            _locks: locks,
        }
    }
}

impl Deref for PublishedParts {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
