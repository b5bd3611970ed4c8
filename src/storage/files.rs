//! How many files a bank has, and how many of them are open at the same time.
//!
//! A commit leaves a file in the first level of each table that it changed. RocksDB merges them in
//! threads of its own, once there are four, and drops a merge that is not done when the process
//! ends. So a bank that is fed by commands of a moment each kept nearly all of them: 550 files
//! after 620 small deltas, each of which a reader opens. A writer therefore waits for the merges
//! where a table has too many, before it adds to them.
//!
//! That bounds the files of a published state by [`MANY`] and one for each table, and what its
//! data take at 64 MiB a file. It merges nothing that RocksDB would not merge, and only earlier.

use std::fs;

use super::error::StoreError;
use super::rocks::Rocks;
use super::tables::ALL;

/// A table with more files than these in its first level is merged before more are written; twice
/// what RocksDB begins to merge at, so a process that lives long enough never waits.
const MANY: u64 = 8;

/// The most files of tables that are open; half of what a process usually may have open, since the
/// runs of sorts need the rest.
const MOST_OPEN: u64 = 512;

/// Where the system does not tell: half of the lowest usual limit.
const SAFE_OPEN: u64 = 128;

/// Files of tables that the store holds open: at most half of what the process may have.
pub(super) fn most_open() -> i32 {
    let limits = fs::read_to_string("/proc/self/limits").ok();
    let open = limits.map_or(SAFE_OPEN, |text| half_of(&text));
    i32::try_from(open).unwrap_or(i32::MAX)
}

/// Half of the soft limit in the words of Linux, within what is of use.
fn half_of(limits: &str) -> u64 {
    let line = limits
        .lines()
        .find_map(|l| l.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    match soft.map(str::parse::<u64>) {
        Some(Ok(soft)) => (soft / 2).min(MOST_OPEN),
        // Without a limit, in words.
        Some(Err(_)) => MOST_OPEN,
        None => SAFE_OPEN,
    }
}

/// Waits for the merges of tables' files where a table has too many. To be called before a write:
/// where a merge fails, nothing has changed.
pub(super) fn settle(rocks: &Rocks) -> Result<(), StoreError> {
    for table in ALL {
        if rocks.first_level_files(table.name)? > MANY {
            tracing::debug!(table = table.name, "waiting for merges");
            return rocks.finish_merges();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_soft_limit_is_taken() {
        let of = |soft: &str| {
            half_of(&format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max processes             95                   95                   processes\n\
                 Max open files            {soft}                 524288               files\n"
            ))
        };
        assert_eq!(of("128"), 64);
        assert_eq!(of("1024"), 512);
        assert_eq!(of("1048576"), 512);
        assert_eq!(of("unlimited"), 512);
        assert_eq!(half_of("something else"), 128);
        assert!((20..=512).contains(&most_open()));
    }
}
