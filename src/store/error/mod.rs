//! Errors of the store, and what a caller can do about them.

mod backup_error;
mod hint;
mod reported_error;
mod store_error;

pub use backup_error::BackupError;
pub use hint::StoreHint;
pub use reported_error::{ReportedError, ReportedKind};
pub use store_error::StoreError;
