//! How many table files the store holds open.

use std::fs;

/// The most table files that are open at a time, however high the system's limit. Half of what a
/// process may usually have open, since the runs of sorts need the rest.
const MOST_OPEN: u64 = 512;

/// Where the system does not give its limit: half of the lowest usual one.
const SAFE_OPEN: u64 = 128;

/// How many table files the store may hold open: at most half of what the process may have.
pub(crate) fn most_open() -> i32 {
    let limits = fs::read_to_string("/proc/self/limits").ok();
    let open = limits.map_or(SAFE_OPEN, |text| half_of(&text));
    i32::try_from(open).unwrap_or(i32::MAX)
}

/// Half of the soft limit in the text that Linux gives, kept within useful bounds.
fn half_of(limits: &str) -> u64 {
    let line = limits
        .lines()
        .find_map(|l| l.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    match soft.map(str::parse::<u64>) {
        Some(Ok(soft)) => (soft / 2).min(MOST_OPEN),
        // "unlimited" is a word, not a number.
        Some(Err(_)) => MOST_OPEN,
        None => SAFE_OPEN,
    }
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
