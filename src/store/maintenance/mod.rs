//! Operations on a whole bank: check, repair, migration and compaction.

mod bank_check;
mod compact;
pub(crate) mod migrate;
mod repair;

pub use bank_check::{BankCheck, FileFinding, StateCheck, Verdict, check};
pub use compact::CompactReport;
pub use migrate::{MigrateReport, migrate, migrate_to};
pub use repair::{Lost, RepairReport, RepairedPart, repair};
