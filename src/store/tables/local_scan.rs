//! Scans of the part of a table that is in databases of this process.

use std::ops::Range;

use super::entries::Entries;
use super::merged_scan::{MergedScan, TableScan};
use super::parts::key_range::KeyRange;
use super::parts::part_database::PartScan;
use super::store::{Store, prefix_end};
use super::table::{Key, Table, Value};
use crate::error::StoreError;

impl Store {
    /// Iterates over the entries of a table that are in databases of this process, in key order.
    pub fn scan_local<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        if self.part_count().is_none() {
            return self.scan(table);
        }
        self.merge_local(table, &KeyRange::ascending(&[], None))
    }

    /// Iterates over the entries at or after `from` that are in databases of this process, in key order.
    pub fn scan_local_from<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        if self.part_count().is_none() {
            return self.scan_from(table, from, &[]);
        }
        self.merge_local(table, &KeyRange::ascending(&from.bytes(), None))
    }

    /// Iterates over the entries whose keys start with `prefix` that are in databases of this process, in key order.
    pub fn scan_local_under<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        if self.part_count().is_none() {
            return self.scan_under(table, prefix);
        }
        self.merge_local(table, &KeyRange::ascending(prefix, prefix_end(prefix)))
    }

    /// Iterates over the entries of a range of sites that are in databases of this process, in key order. The keys must
    /// start with the site.
    pub fn scan_local_sites<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        sites: Range<u32>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        if self.part_count().is_none() {
            return self.scan_sites(table, sites);
        }
        self.merge_local(table, &KeyRange::of_sites(&sites))
    }

    fn merge_local<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        range: &KeyRange,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let scans = self.local_databases();
        let scans =
            scans.map(|(_, database)| Ok(PartScan::Local(range.scan(database, table.name)?)));
        let scans = scans.collect::<Result<_, StoreError>>()?;
        let merged = MergedScan::new(scans, range.is_descending);
        Ok(Entries::new(table, TableScan::Merged(merged)))
    }
}
