//! Files and folders outside the database: safe access, locks, verified copies and disk space.

pub(crate) mod folder;
pub(crate) mod free_space;
pub(crate) mod lock;
#[cfg(test)]
pub(crate) mod scratch;
mod staged_create;
mod usage;
pub(crate) mod verified_copy;

pub use staged_create::create_staged;
pub use usage::disk_usage;
