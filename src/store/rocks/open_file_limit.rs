//! The limit on open table files.

use std::fs;

/// The maximum, however high the limit of the system: half of the usual limit of a process, since
/// the runs of sorts need file descriptors too.
const MAX_OPEN: u64 = 512;

/// The value if the limit of the system is unknown: half of the lowest usual one.
const FALLBACK: u64 = 128;

/// Returns the maximum number of open table files: at most half of the limit of the process.
pub(crate) fn open_file_limit() -> i32 {
    let limits = fs::read_to_string("/proc/self/limits").ok();
    let open = limits.map_or(FALLBACK, |text| half_of_soft_limit(&text));
    i32::try_from(open).unwrap_or(i32::MAX)
}

/// Parses the text of `/proc/self/limits` and returns half of the soft limit, at most [`MAX_OPEN`].
fn half_of_soft_limit(limits: &str) -> u64 {
    let line = limits
        .lines()
        .find_map(|l| l.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    match soft.map(str::parse::<u64>) {
        Some(Ok(soft)) => (soft / 2).min(MAX_OPEN),
        // "unlimited"
        Some(Err(_)) => MAX_OPEN,
        None => FALLBACK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_soft_limit_is_taken() {
        let of = |soft: &str| {
            half_of_soft_limit(&format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max processes             95                   95                   processes\n\
                 Max open files            {soft}                 524288               files\n"
            ))
        };
        assert_eq!(of("128"), 64);
        assert_eq!(of("1024"), 512);
        assert_eq!(of("1048576"), 512);
        assert_eq!(of("unlimited"), 512);
        assert_eq!(half_of_soft_limit("something else"), 128);
        assert!((20..=512).contains(&open_file_limit()));
    }
}
