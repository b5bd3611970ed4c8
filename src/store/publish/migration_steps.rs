//! The steps of a migration, each from one format to the next.

use crate::error::StoreError;
use crate::tables::changes::Changes;
use crate::tables::store::Store;

/// Reads a bank of one format, and puts into the changes what the next format adds or writes
/// differently.
type Step = fn(&Store, &mut Changes) -> Result<(), StoreError>;

/// The steps by the format that each starts from. A format that has none differs from the next one
/// only in its tables.
#[cfg(not(test))]
const STEPS: &[(u32, Step)] = &[];

/// Runs the step from this format. Its changes are to be committed together with the number of the
/// next format.
pub(crate) fn run_step(from: u32, store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    match STEPS.iter().find(|(format, _)| *format == from) {
        Some((_, step)) => step(store, changes),
        None => Ok(()),
    }
}

/// The step from a format 0 that exists in unit tests alone.
#[cfg(test)]
const STEPS: &[(u32, Step)] = &[(0, crate::maintenance::migrate::tests::step_from_0)];
