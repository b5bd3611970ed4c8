//! Operations on a whole bank: check, repair and compaction.

mod bank_check;
mod compact;
#[cfg(test)]
mod format_tests;
mod repair;

pub use bank_check::{BankCheck, FileFinding, StateCheck, Verdict, check};
pub use compact::CompactReport;
pub use repair::{Lost, PartRepair, RepairReport, RepairedPart, repair};
