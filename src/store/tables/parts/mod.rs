//! Databases of a bank: its only one, or those of the parts of a cluster bank, in this process or in others.

pub(crate) mod key_range;
pub(crate) mod message;
pub(crate) mod part_database;
mod read_ahead;
pub(crate) mod remote_database;
