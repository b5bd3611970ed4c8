//! Typed reading of a bank's tables, from the live database or from a published state.

use std::fmt::{Display, Write};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

use super::records::lineage::StateId;
use super::records::{Counters, Lineage, Meta, Settings, UndoRecord};
use super::schema::{self as tables, MetaKey};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::format::OLDER;
use crate::rocks::database::{Database, Scan, TableSize};
use crate::table_info::TableInfo;
use seedbank_algorithms::page::SiteId;

/// The tables of a bank, for reading.
pub struct Store {
    pub(crate) rocks: Database,
}

fn unreadable(table: &'static str, key: String, what: impl Display) -> StoreError {
    StoreError::Damaged {
        table,
        key,
        what: what.to_string(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Store {
    /// Opens a database for reading; one of an older format may have fewer tables.
    pub(crate) fn read(place: &Path) -> Result<Self, StoreError> {
        let whole = Database::open_reader(place, tables::ALL).map(|rocks| Self { rocks });
        if whole.is_ok() {
            return whole;
        }
        for older in OLDER {
            if let Ok(rocks) = Database::open_reader(place, older.tables) {
                let store = Self { rocks };
                if store.format().is_ok_and(|format| format == older.number) {
                    return Ok(store);
                }
            }
        }
        whole
    }

    /// The value at a key.
    pub fn get<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        key: &K,
    ) -> Result<Option<V>, StoreError> {
        match self.rocks.get(table.name, &key.bytes(), V::decode)? {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(e)) => Err(unreadable(table.name, format!("{key:?}"), e)),
        }
    }

    /// The value at a key that another record says is there.
    pub fn need<K: Key, V: Value>(&self, table: &Table<K, V>, key: &K) -> Result<V, StoreError> {
        self.get(table, key)?
            .ok_or_else(|| unreadable(table.name, format!("{key:?}"), "the record is missing"))
    }

    /// Whether there is a value at a key.
    pub fn has<K: Key, V: Value>(&self, table: &Table<K, V>, key: &K) -> Result<bool, StoreError> {
        Ok(self.rocks.get(table.name, &key.bytes(), |_| ())?.is_some())
    }

    /// All entries of a table in key order.
    pub fn scan<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.scan_under(table, &[])
    }

    /// The entries whose key begins with `prefix`, in key order.
    pub fn scan_under<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        Ok(Entries {
            table: table.name,
            scan: self.rocks.scan(table.name, prefix, after(prefix))?,
            _types: PhantomData,
        })
    }

    /// The entries of a range of sites, in key order, of a table whose keys begin with the site.
    pub fn scan_sites<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        sites: Range<u32>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let until = sites.end.to_be_bytes().to_vec();
        let from = sites.start.to_be_bytes();
        // The last block of one site also holds the next sites, which are likely to be asked for.
        let scan = if sites.len() > 1 {
            self.rocks.scan_once(table.name, &from, Some(until))?
        } else {
            self.rocks.scan(table.name, &from, Some(until))?
        };
        Ok(Entries {
            table: table.name,
            scan,
            _types: PhantomData,
        })
    }

    /// The entries at or after `from` whose key begins with `prefix`, in key order.
    pub fn scan_from<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        Ok(Entries {
            table: table.name,
            scan: self.rocks.scan(table.name, &from.bytes(), after(prefix))?,
            _types: PhantomData,
        })
    }

    /// The entries at or before `from` whose key begins with `prefix`, from the last to the first.
    pub fn scan_back<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        Ok(Entries {
            table: table.name,
            scan: self.rocks.scan_back(table.name, &from.bytes(), prefix)?,
            _types: PhantomData,
        })
    }

    /// A record of the one table that holds the bank's format version, settings and counters.
    fn meta(&self, key: MetaKey) -> Result<Meta, StoreError> {
        self.need(&tables::META, &key)
    }

    /// What was chosen when the bank was created.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        match self.meta(MetaKey::Settings)? {
            Meta::Settings(settings) => Ok(settings),
            _ => Err(unreadable(
                "meta",
                "Settings".to_owned(),
                "it is another record",
            )),
        }
    }

    /// Totals, and the last numbers given out.
    pub fn counters(&self) -> Result<Counters, StoreError> {
        match self.meta(MetaKey::Counters)? {
            Meta::Counters(counters) => Ok(counters),
            _ => Err(unreadable(
                "meta",
                "Counters".to_owned(),
                "it is another record",
            )),
        }
    }

    /// What it takes to take the last batch back; `None` where it cannot be.
    pub fn undo_record(&self) -> Result<Option<UndoRecord>, StoreError> {
        match self.get(&tables::META, &MetaKey::Undo)? {
            None => Ok(None),
            Some(Meta::Undo(undo)) => Ok(Some(undo)),
            Some(_) => Err(unreadable(
                "meta",
                "Undo".to_owned(),
                "it is another record",
            )),
        }
    }

    /// The format version.
    pub fn format(&self) -> Result<u32, StoreError> {
        match self.meta(MetaKey::Format)? {
            Meta::Format(format) => Ok(format),
            _ => Err(unreadable(
                "meta",
                "Format".to_owned(),
                "it is another record",
            )),
        }
    }

    /// The identities of the bank and its state.
    pub(crate) fn lineage(&self) -> Result<Lineage, StoreError> {
        match self.need(&tables::META, &MetaKey::Lineage)? {
            Meta::Lineage(lineage) => Ok(lineage),
            _ => Err(StoreError::Damaged {
                table: tables::META.name,
                key: "Lineage".to_owned(),
                what: "it is another record".to_owned(),
            }),
        }
    }

    /// The identity of the state.
    pub(crate) fn state_id(&self) -> Result<StateId, StoreError> {
        Ok(self.lineage()?.id())
    }

    /// Whether nothing was ever stored: no state beyond the first, and no bulk load begun.
    pub(crate) fn is_new(&self) -> bool {
        let counters = self
            .rocks
            .get(tables::META.name, &MetaKey::Counters.bytes(), Meta::decode);
        let is_first = match counters {
            Ok(None) => true,
            Ok(Some(Ok(Meta::Counters(counters)))) => counters.epoch == 0,
            _ => false,
        };
        is_first && matches!(self.get(&tables::META, &MetaKey::Intent), Ok(None))
    }

    /// Fails where the state is older than what the bank is known to have stored.
    pub(crate) fn is_not_older(&self, known: u64) -> Result<(), StoreError> {
        let found = self.counters()?.epoch;
        if found >= known {
            return Ok(());
        }
        Err(StoreError::State {
            state: "live",
            what: format!("it is state {found}, and state {known} was acknowledged"),
        })
    }

    /// How much disk space every table takes.
    pub fn sizes(&self) -> Result<Vec<(&'static TableInfo, TableSize)>, StoreError> {
        let sizes = tables::ALL.iter();
        sizes
            .map(|table| Ok((table, self.rocks.size(table.name)?)))
            .collect()
    }

    /// The bytes of the log, which no table has in its files.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.rocks.log_bytes()
    }

    /// How many reads there were since the store was opened: gets, and entries that scans returned.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.rocks.reads()
    }

    /// How many bytes of keys and values were read since the store was opened.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.rocks.bytes_read()
    }
}

/// The first key after all that begin with `prefix`; `None` where there is none.
fn after(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut until = prefix[..=end].to_vec();
    until[end] += 1;
    Some(until)
}

/// Entries of a table in key order, or backwards; an unreadable one is an error and does not end the iteration.
pub struct Entries<'a, K, V> {
    table: &'static str,
    scan: Scan<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl<K: Key, V: Value> Entries<'_, K, V> {
    /// The next entry whose key is wanted; the values of the others are not read.
    pub fn next_where(
        &mut self,
        is_wanted: impl Fn(&K) -> bool,
    ) -> Option<Result<(K, V), StoreError>> {
        let table = self.table;
        let read = |key: &[u8], value: &[u8]| {
            let Some(decoded) = K::take(key) else {
                let key = hexadecimal(key);
                return Some(Err(unreadable(table, key, "the key cannot be read")));
            };
            is_wanted(&decoded).then(|| match V::decode(value) {
                Ok(value) => Ok((decoded, value)),
                Err(e) => Err(unreadable(table, format!("{decoded:?}"), e)),
            })
        };
        loop {
            match self.scan.next_with(read).transpose()? {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(entry),
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

impl Entries<'_, (SiteId, String), u32> {
    /// Hands the next entry to `read`, the text of its key as it lies in the table; `None` at the end.
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
                return Err(unreadable(table, key, "the key cannot be read"));
            };
            match u32::decode(value) {
                Ok(value) => Ok(read(site, text, value)),
                Err(e) => Err(unreadable(table, format!("{:?}", (site, text)), e)),
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
