//! Raw bytes of a bank that nobody has open: for tests that damage banks, and for repair tools.

use std::path::Path;

use super::acknowledged::Acknowledged;
use super::published::Pointer;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::manifest::structure_error;
use crate::rocks::options::AutoCompaction;
use crate::tables::ALL;

/// What the small files of a bank say, and whether its live database looks sound.
#[derive(Debug)]
pub struct RawState {
    /// What was acknowledged last; `None` where nothing was.
    pub acknowledged: Result<Option<String>, StoreError>,
    /// Where readers are pointed to: the pointer's line of text.
    pub pointer: Result<String, StoreError>,
    /// What is wrong with the live database, as far as its structure tells.
    pub live: Result<(), String>,
}

/// Reads the small files of a bank, whatever else of it is there.
#[must_use]
pub fn raw_state(bank: &Path) -> RawState {
    RawState {
        acknowledged: Acknowledged::read(bank).map(|said| said.map(|said| said.to_string())),
        pointer: Pointer::read(bank).map(|pointer| pointer.line()),
        live: structure_error(&bank.join("live")),
    }
}

/// A key and its value, as they are stored.
pub type RawEntry = (Vec<u8>, Vec<u8>);

fn open(bank: &Path, table: &str) -> Result<(Database, &'static str), StoreError> {
    let found = ALL.iter().find(|info| info.name == table);
    let table = found.ok_or(StoreError::NoBank(bank.join("live").join(table)))?;
    Ok((
        Database::open_writer(&bank.join("live"), ALL, AutoCompaction::Enabled, false)?,
        table.name,
    ))
}

/// All entries of a table in key order, held in memory.
pub fn raw_entries(bank: &Path, table: &str) -> Result<Vec<RawEntry>, StoreError> {
    let (rocks, table) = open(bank, table)?;
    let mut entries = Vec::new();
    let mut scan = rocks.scan(table, &[], None)?;
    while let Some(entry) = scan.next_with(|key, value| (key.to_vec(), value.to_vec()))? {
        entries.push(entry);
    }
    Ok(entries)
}

/// Sets or deletes keys of a table, whatever damage that does to the bank. Nothing is published.
pub fn raw_write(
    bank: &Path,
    table: &str,
    changes: &[(Vec<u8>, Option<Vec<u8>>)],
) -> Result<(), StoreError> {
    let (rocks, table) = open(bank, table)?;
    rocks.write(
        changes
            .iter()
            .map(|(key, value)| (table, (key.as_slice(), value.as_deref()))),
        None,
    )
}
