//! Folders for the banks of unit tests.

/// Returns a folder, in memory if the system has such a place, since every commit waits for the disk.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}
