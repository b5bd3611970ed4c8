//! Peak memory of the process.

/// Returns the peak resident set size of this process, in bytes; `None` if the system does not
/// report it.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_used_is_seen() {
        let before = super::peak().unwrap();
        let used = vec![1_u8; 64 << 20];
        assert!(
            super::peak().unwrap() >= before.max(64 << 20),
            "{}",
            used[7]
        );
    }
}
