//! Access to raw bytes of a bank that nobody has open, for tests.

use std::collections::BTreeMap;
use std::path::Path;

use super::acknowledged::Acknowledged;
use super::published::Pointer;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::manifest::check_structure;
use crate::rocks::options::AutoCompaction;
use crate::table_info::TableInfo;
use crate::tables::ALL;

/// The contents of the small files of a bank, and the structure of its live database.
#[derive(Debug)]
pub struct RawState {
    /// The last acknowledged state as text; `None` if there is none.
    pub acknowledged: Result<Option<String>, StoreError>,
    /// The pointer to the published state as text.
    pub pointer: Result<String, StoreError>,
    /// What is wrong with the structure of the live database.
    pub live: Result<(), StoreError>,
}

/// Reads the small files of a bank.
#[must_use]
pub fn raw_state(bank: &Path) -> RawState {
    RawState {
        acknowledged: Acknowledged::read(bank).map(|state| state.map(|state| state.to_string())),
        pointer: Pointer::read(bank).map(|pointer| pointer.line()),
        live: check_structure("live", &bank.join("live")),
    }
}

/// A stored key and its value.
pub type RawEntry = (Vec<u8>, Vec<u8>);

fn table_info(bank: &Path, table: &str) -> Result<&'static TableInfo, StoreError> {
    let found = ALL.iter().find(|info| info.name == table);
    found.ok_or(StoreError::NoBank(bank.join("live").join(table)))
}

/// Opens the live database. Opening it for writing takes several times as long.
fn open_to_read(bank: &Path) -> Result<Database, StoreError> {
    Database::open_reader(&bank.join("live"), ALL)
}

fn open_to_write(bank: &Path) -> Result<Database, StoreError> {
    Database::open_writer(&bank.join("live"), ALL, AutoCompaction::Enabled)
}

fn all_entries(rocks: &Database, table: &'static str) -> Result<Vec<RawEntry>, StoreError> {
    let mut entries = Vec::new();
    let mut scan = rocks.scan(table)?;
    while let Some(entry) = scan.next_with(|key, value| (key.to_vec(), value.to_vec()))? {
        entries.push(entry);
    }
    Ok(entries)
}

/// Returns all entries of a table in key order.
pub fn raw_entries(bank: &Path, table: &str) -> Result<Vec<RawEntry>, StoreError> {
    let table = table_info(bank, table)?;
    all_entries(&open_to_read(bank)?, table.name)
}

/// Returns all entries of each table in key order.
pub fn raw_tables(bank: &Path) -> Result<BTreeMap<&'static str, Vec<RawEntry>>, StoreError> {
    let rocks = open_to_read(bank)?;
    let tables = ALL.iter();
    tables
        .map(|table| Ok((table.name, all_entries(&rocks, table.name)?)))
        .collect()
}

/// Flushes the family of a table of the live database, as a process does that is killed before it flushes the others.
pub fn raw_flush(bank: &Path, table: &str) -> Result<(), StoreError> {
    let family = table_info(bank, table)?.family;
    open_to_write(bank)?.flush_family(family)
}

/// Sets or deletes keys of a table without any checks, and publishes nothing.
pub fn raw_write(
    bank: &Path,
    table: &str,
    changes: &[(Vec<u8>, Option<Vec<u8>>)],
) -> Result<(), StoreError> {
    let table = table_info(bank, table)?.name;
    open_to_write(bank)?.write(
        changes
            .iter()
            .map(|(key, value)| (table, (key.as_slice(), value.as_deref()))),
        None,
    )
}
