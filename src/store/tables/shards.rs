//! Where a bank stores a key: sites belong to shards by name, and parts store ranges of shards.
//!
//! The id of a site is a number within its shard times [`SHARDS`], plus the shard, so that a key alone tells the part. A
//! cluster bank has a number of parts that is fixed when it is created, a bank in one database has one. There, threads
//! divide the shards among themselves ([`SiteParts::in_ranges`]).

use twox_hash::XxHash64;

use super::schema::{ALL, SITE_IDS};
use crate::table_info::Placement;
use seedbank_algorithms::page::SiteId;

/// The number of shards, and the largest number of parts.
pub(crate) const SHARDS: u32 = 1 << 10;

/// The seed of the hash of a site's name: that of Spark's `xxhash64`.
const SEED: u64 = 42;

/// The offset of the key of the restored entry in a key of `undo`, after the batch and the table.
const RESTORED_KEY: usize = 5;

/// The parts of a bank, each a range of shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parts {
    /// Their number, from 1 to that of the shards.
    count: u32,
    is_cluster: bool,
}

impl Parts {
    /// The part of a bank in one database.
    pub(crate) const SINGLE: Self = Self {
        count: 1,
        is_cluster: false,
    };

    /// A part of a cluster bank that is open without the others.
    pub(crate) const ALONE: Self = Self {
        count: 1,
        is_cluster: true,
    };

    /// Returns the parts of a cluster bank; `None` unless their number is valid.
    pub(crate) fn new(count: u32) -> Option<Self> {
        let is_cluster = true;
        (1..=SHARDS)
            .contains(&count)
            .then_some(Self { count, is_cluster })
    }

    /// Returns whether these are the parts of a cluster bank.
    pub(crate) const fn is_cluster(self) -> bool {
        self.is_cluster
    }

    /// Returns the number of parts.
    pub(crate) const fn count(self) -> u32 {
        self.count
    }

    /// Returns the part that stores a shard.
    fn of_shard(self, shard: u32) -> usize {
        (shard * self.count / SHARDS) as usize
    }

    /// Returns the part that stores all keys of a table that start with these bytes; `None` if several may.
    pub(super) fn of_prefix(self, table: &'static str, prefix: &[u8]) -> Option<usize> {
        if table == SITE_IDS.name && self.count > 1 {
            return None;
        }
        self.of_key(table, prefix)
    }

    /// Returns the part that stores a key of a table; `None` if the key is too short to tell.
    pub(crate) fn of_key(self, table: &'static str, key: &[u8]) -> Option<usize> {
        if self.count == 1 {
            return Some(0);
        }
        let info = ALL.iter().find(|info| info.name == table)?;
        self.of_placed(info.placement, key)
    }

    fn of_placed(self, placement: Placement, key: &[u8]) -> Option<usize> {
        match placement {
            Placement::First => Some(0),
            Placement::Site(offset) => {
                let site = key.get(offset..offset + 4)?;
                let site = SiteId(u32::from_be_bytes(site.try_into().ok()?));
                Some(self.of_shard(shard_of_site(site)))
            }
            Placement::SiteName => Some(self.of_shard(shard_of_name(key))),
            Placement::Restored => {
                let table = ALL.get(usize::from(*key.get(RESTORED_KEY - 1)?))?;
                self.of_placed(table.placement, &key[RESTORED_KEY..])
            }
        }
    }
}

/// Returns the shard of the site with this name: `pmod(xxhash64(name), 1024)` in Spark.
pub(super) fn shard_of_name(name: &[u8]) -> u32 {
    let hash = XxHash64::oneshot(SEED, name);
    // The remainder of a power of two is the same for signed and unsigned numbers.
    u32::try_from(hash % u64::from(SHARDS)).unwrap_or(0)
}

/// Returns the shard of a site.
pub(super) const fn shard_of_site(site: SiteId) -> u32 {
    site.0 % SHARDS
}

/// The parts of a cluster bank that store its sites, or ranges of sites in a bank in one database.
#[derive(Clone, Copy, Debug)]
pub struct SiteParts(pub(super) Parts);

impl SiteParts {
    /// The number of ranges of sites in a bank in one database, and so the largest number of threads that divide them.
    pub const RANGES: u32 = 64;

    /// Returns the ranges of sites in a bank in one database.
    #[must_use]
    pub const fn in_ranges() -> Self {
        Self(Parts {
            count: Self::RANGES,
            is_cluster: false,
        })
    }

    /// Returns the number of the part that stores a site.
    #[must_use]
    pub fn of_site(self, site: SiteId) -> usize {
        self.0.of_shard(shard_of_site(site))
    }

    /// Returns the number of the part that stores the site with this name.
    #[must_use]
    pub fn of_name(self, name: &[u8]) -> usize {
        self.0.of_shard(shard_of_name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::records::undo::UndoKey;
    use crate::tables::table::Key;
    use crate::tables::{META, PAGE_HISTORY, PAGES, UNDO};
    use seedbank_algorithms::page::PageId;

    #[test]
    fn a_shard_is_what_spark_computes() {
        // `SELECT pmod(xxhash64(site), 1024)`.
        for (name, shard) in [
            ("example.org", 71),
            ("a.example.net", 849),
            ("xn--bcher-kva.example", 838),
            ("192.0.2.7", 529),
            ("[2001:db8::1]", 202),
        ] {
            assert_eq!(shard_of_name(name.as_bytes()), shard, "{name}");
        }
    }

    #[test]
    fn parts_are_equal_ranges_of_shards() {
        for count in [1, 2, 3, 4, 64, 1000, SHARDS] {
            let parts = Parts::new(count).unwrap();
            let mut sizes = vec![0; count as usize];
            let mut last = 0;
            for shard in 0..SHARDS {
                let part = parts.of_shard(shard);
                assert!(part == last || part == last + 1);
                sizes[part] += 1;
                last = part;
            }
            let (fewest, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - fewest <= 1, "{count}");
        }
        assert_eq!(Parts::new(0), None);
        assert_eq!(Parts::new(SHARDS + 1), None);
    }

    #[test]
    fn a_key_tells_its_part() {
        let parts = Parts::new(4).unwrap();
        // The shards 700 and 300.
        let page = PageId::new(SiteId(3 * SHARDS + 700), 5);
        assert_eq!(parts.of_key(PAGES.name, &page.bytes()), Some(2));
        let history = (7_u32, PageId::new(SiteId(300), 5)).bytes();
        assert_eq!(parts.of_key(PAGE_HISTORY.name, &history), Some(1));
        assert_eq!(parts.of_prefix(PAGE_HISTORY.name, &7_u32.bytes()), None);
        assert_eq!(parts.of_key(META.name, &[2]), Some(0));
        let table = ALL.iter().position(|info| info.name == PAGES.name);
        let undo = UndoKey {
            batch: 7,
            table: u8::try_from(table.unwrap()).unwrap(),
            key: page.bytes(),
        };
        assert_eq!(parts.of_key(UNDO.name, &undo.bytes()), Some(2));
        assert_eq!(parts.of_prefix(UNDO.name, &7_u32.bytes()), None);
        let by_name = parts.of_shard(shard_of_name(b"example.com"));
        assert_eq!(parts.of_key(SITE_IDS.name, b"example.com"), Some(by_name));
        assert_eq!(parts.of_prefix(SITE_IDS.name, b"example.com"), None);
        for table in [SITE_IDS.name, PAGES.name, UNDO.name] {
            assert_eq!(Parts::SINGLE.of_prefix(table, &[]), Some(0));
        }
    }
}
