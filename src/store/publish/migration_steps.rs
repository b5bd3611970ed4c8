//! Migration steps, each from one format to the next.

use crate::error::StoreError;
use crate::tables::changes::Changes;
use crate::tables::store::Store;

/// Reads a bank of one format and collects the changes to the next format.
type Step = fn(&Store, &mut Changes) -> Result<(), StoreError>;

/// The steps by the format that each one migrates from. A format without a step only has fewer tables than the
/// next one.
#[cfg(not(test))]
const STEPS: &[(u32, Step)] = &[];

/// Runs the step from this format. The caller commits the changes together with the number of the next format.
pub(crate) fn run_step(from: u32, store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    match STEPS.iter().find(|(format, _)| *format == from) {
        Some((_, step)) => step(store, changes),
        None => Ok(()),
    }
}

/// The step from a format 0 that exists only in unit tests.
#[cfg(test)]
const STEPS: &[(u32, Step)] = &[(0, crate::maintenance::migrate::tests::step_from_0)];
