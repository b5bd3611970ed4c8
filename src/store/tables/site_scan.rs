//! Scans of tables whose keys start with a site, one site after another.

use std::iter::from_fn;
use std::marker::PhantomData;

use super::entries::{decode_key, decode_value};
use super::merged_scan::SiteCursor;
use super::store::Store;
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use seedbank_algorithms::page::SiteId;

/// A scan of a table by site. Sites can be read in any order; reading the next site in the order of ids needs no
/// seek.
pub struct SiteScan<'a, K, V> {
    table: &'static str,
    cursor: SiteCursor<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl Store {
    /// Creates a scan of a table by site. The keys must start with the site.
    pub fn scan_by_site<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<SiteScan<'_, K, V>, StoreError> {
        Ok(SiteScan {
            table: table.name,
            cursor: self.site_cursor(table.name)?,
            _types: PhantomData,
        })
    }
}

impl<K: Key, V: Value> SiteScan<'_, K, V> {
    /// Iterates over the entries of a site, in key order. An entry that cannot be decoded is an error and
    /// does not end the iteration.
    pub fn of_site(&mut self, site: SiteId) -> impl Iterator<Item = Result<(K, V), StoreError>> {
        let (table, cursor) = (self.table, &mut self.cursor);
        cursor.move_under(&site.0.to_be_bytes());
        from_fn(move || {
            let entry =
                cursor.next_with(|key, value| decode_value(table, decode_key(table, key)?, value));
            // An error of the database ends it.
            entry.transpose().map(Result::flatten)
        })
    }
}
