//! Files on other machines. How they are read is left to the crate that knows their services.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// A file on another machine, of a length and a version that were determined when it was found. Reads of
/// another version fail.
pub trait RemoteFile: fmt::Debug + Send + Sync {
    /// Returns the address without passwords and query, for messages and the history.
    fn name(&self) -> &str;

    /// Returns the length in bytes.
    fn length(&self) -> u64;

    /// Opens the file at its beginning.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Reads a range of bytes, which must be within the file.
    fn read_range(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// Returns the address that a path is: a scheme such as `s3`, `://`, and the rest. `None` for the path of a file.
#[must_use]
pub fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|other| other.is_ascii_alphanumeric() || "+-.".contains(other));
    is_scheme.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_begins_with_a_scheme() {
        for text in ["s3://bucket/key", "https://a.example/x", "ftp://a"] {
            assert_eq!(address(Path::new(text)), Some(text));
        }
        for text in ["a/b", "s3:/a", "-", "a/b://c", "://a", "1s://a"] {
            assert_eq!(address(Path::new(text)), None, "{text}");
        }
    }
}
