//! Ranges of keys.

use std::ops::Range;

use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::scan::Scan;

/// A range of keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyRange {
    /// The first key: the least one, or the greatest one of a descending scan.
    pub(crate) from: Vec<u8>,
    /// The key after the last one; of a descending scan, the least key. `None` without a bound.
    pub(crate) until: Option<Vec<u8>>,
    pub(crate) is_descending: bool,
    /// Whether the range is large and not read again soon, so that it does not fill the cache.
    pub(crate) is_read_once: bool,
}

impl KeyRange {
    /// Returns the range from a key to a bound, ascending.
    pub(crate) fn ascending(from: &[u8], until: Option<Vec<u8>>) -> Self {
        Self {
            from: from.to_vec(),
            until,
            is_descending: false,
            is_read_once: false,
        }
    }

    /// Returns the range of the keys of a range of sites. The keys start with the site.
    pub(crate) fn of_sites(sites: &Range<u32>) -> Self {
        let until = sites.end.to_be_bytes().to_vec();
        Self {
            // The last block of a single site also has the next sites, which are likely to be read next.
            is_read_once: sites.len() > 1,
            ..Self::ascending(&sites.start.to_be_bytes(), Some(until))
        }
    }

    /// Opens a scan of the range.
    pub(crate) fn scan<'a>(
        &self,
        database: &'a Database,
        table: &'static str,
    ) -> Result<Scan<'a>, StoreError> {
        match &self.until {
            until if self.is_descending => {
                database.scan_back(table, &self.from, until.as_deref().unwrap_or_default())
            }
            Some(until) if self.is_read_once => {
                database.scan_once(table, &self.from, until.clone())
            }
            until => database.scan(table, &self.from, until.clone()),
        }
    }
}
