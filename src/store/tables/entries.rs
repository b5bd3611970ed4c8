//! Iterators over decoded entries of a table.

use std::fmt::Write;
use std::marker::PhantomData;

use super::merged_scan::TableScan;
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use seedbank_algorithms::page::SiteId;

/// Returns the bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An iterator over entries of a table. An entry that cannot be decoded is an error and does not end
/// the iteration.
pub struct Entries<'a, K, V> {
    table: &'static str,
    scan: TableScan<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Value> Entries<'a, K, V> {
    pub(super) const fn new(table: &Table<K, V>, scan: TableScan<'a>) -> Self {
        Self {
            table: table.name,
            scan,
            _types: PhantomData,
        }
    }

    /// Returns the next entry whose key is wanted, without decoding the values of other entries.
    pub fn next_where(
        &mut self,
        is_wanted: impl Fn(&K) -> bool,
    ) -> Option<Result<(K, V), StoreError>> {
        let table = self.table;
        let read = |key: &[u8], value: &[u8]| match decode_key(table, key) {
            Ok(key) => is_wanted(&key).then(|| decode_value(table, key, value)),
            Err(e) => Some(Err(e)),
        };
        loop {
            match self.scan.next_with(read).transpose()? {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(entry),
                Err(e) => return Some(Err(e)),
            }
        }
    }

    /// Returns the next entries: at most `most`, and none after `bytes` bytes of keys and values. Empty at the end.
    pub(crate) fn next_part(
        &mut self,
        most: usize,
        bytes: usize,
    ) -> Vec<Result<(K, V), StoreError>> {
        let table = self.table;
        let mut part = Vec::new();
        let mut taken = 0;
        while part.len() < most && taken < bytes {
            let entry = self.scan.next_with(|key, value| {
                taken += key.len() + value.len();
                decode_value(table, decode_key(table, key)?, value)
            });
            match entry {
                Ok(None) => break,
                Ok(Some(entry)) => part.push(entry),
                Err(e) => {
                    part.push(Err(e));
                    break;
                }
            }
        }
        part
    }
}

pub(super) fn decode_key<K: Key>(table: &'static str, key: &[u8]) -> Result<K, StoreError> {
    let what = "the key cannot be decoded";
    K::take(key).ok_or_else(|| StoreError::damaged(table, hexadecimal(key), what))
}

pub(super) fn decode_value<K: Key, V: Value>(
    table: &'static str,
    key: K,
    value: &[u8],
) -> Result<(K, V), StoreError> {
    match V::decode(value) {
        Ok(value) => Ok((key, value)),
        Err(e) => Err(StoreError::damaged(table, format!("{key:?}"), e)),
    }
}

impl Entries<'_, (SiteId, String), u32> {
    /// Calls `read` with the next entry, without copying its key; `None` at the end.
    pub fn next_with<T>(
        &mut self,
        read: impl FnOnce(SiteId, &str, u32) -> T,
    ) -> Result<Option<T>, StoreError> {
        let table = self.table;
        let read = |key: &[u8], value: &[u8]| {
            let parts = key.split_first_chunk::<4>();
            let parts = parts.and_then(|(site, text)| {
                let site = SiteId(u32::from_be_bytes(*site));
                Some((site, std::str::from_utf8(text).ok()?))
            });
            let Some((site, text)) = parts else {
                let key = hexadecimal(key);
                return Err(StoreError::damaged(table, key, "the key cannot be decoded"));
            };
            match u32::decode(value) {
                Ok(value) => Ok(read(site, text, value)),
                Err(e) => Err(StoreError::damaged(table, format!("{:?}", (site, text)), e)),
            }
        };
        self.scan.next_with(read)?.transpose()
    }
}

impl<K: Key, V: Value> Iterator for Entries<'_, K, V> {
    type Item = Result<(K, V), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_where(|_| true)
    }
}
