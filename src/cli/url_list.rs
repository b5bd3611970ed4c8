//! Reads lists of URLs from files.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use seedbank::engine::query::UrlList;
use seedbank::ingest::MAX_URL;
use seedbank::watch::{Interruptible, Watch};

use super::failure::CliError;
use super::values::human_bytes;

/// The maximum length of a line in bytes: twice that of a URL, for the fields that crawlers add.
const MAX_LINE: u64 = 2 * MAX_URL as u64;

/// The maximum size of a list in bytes, enough for some four million URLs.
const MAX_LIST: u64 = 256 << 20;

/// Reads a list; `-` reads standard input. The input may be a pipe; the watch can end the wait for
/// its data.
pub(super) fn read(path: &Path, watch: &dyn Watch) -> Result<UrlList, CliError> {
    let failed = |source| CliError::SeedsFile {
        path: path.to_path_buf(),
        source,
    };
    let (name, input) = if path.as_os_str() == "-" {
        let name = "standard input".to_owned();
        (name, Interruptible::stdin(watch))
    } else {
        let name = path.display().to_string();
        (name, Interruptible::file(path, watch))
    };
    lines(BufReader::new(input.map_err(failed)?), name, failed)
}

/// Reads the URLs of an input that may be a device or an endless pipe.
fn lines(
    mut input: impl BufRead,
    name: String,
    failed: impl Fn(io::Error) -> CliError,
) -> Result<UrlList, CliError> {
    let mut list = UrlList {
        name,
        urls: Vec::new(),
    };
    let mut bytes = 0;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = input.by_ref().take(MAX_LINE + 1);
        let read = limited.read_until(b'\n', &mut line);
        let read = read.map_err(|source| CliError::reading(source, &failed))? as u64;
        if read == 0 {
            break;
        }
        if read > MAX_LINE {
            return Err(CliError::Usage(format!(
                "line {number} of {} is longer than {}; expected one URL per line",
                list.name,
                human_bytes(MAX_LINE)
            )));
        }
        bytes += read;
        if bytes > MAX_LIST {
            return Err(CliError::Usage(format!(
                "{} is longer than {}, at line {number}; give a shorter list of URLs",
                list.name,
                human_bytes(MAX_LIST)
            )));
        }
        list.push_line(number, &String::from_utf8_lossy(&line));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_the_maximum_length() {
        let of = |bytes: &[u8]| {
            let list = lines(bytes, "list".to_owned(), CliError::Output);
            list.map(|list| list.urls)
        };
        assert!(of(b"").unwrap().is_empty());
        // A line of exactly the maximum length is accepted.
        let most = usize::try_from(MAX_LINE).unwrap();
        let mut long = vec![b'u'; most - 1];
        long.push(b'\n');
        assert_eq!(of(&long).unwrap()[0].1.len(), most - 1);
        long.insert(0, b'u');
        assert!(of(&long).is_err());
    }

    /// A reader that repeats these bytes without end.
    struct Endless(Vec<u8>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0.rotate_left(length);
            Ok(length)
        }
    }

    #[test]
    fn a_list_without_an_end_is_rejected() {
        let mut comment = vec![b'#'; 64 << 10];
        comment.push(b'\n');
        for (repeated, words) in [
            (
                vec![0; 64 << 10],
                "line 1 of list is longer than 128.00 KiB",
            ),
            (comment, "list is longer than 256.00 MiB, at line 4096"),
        ] {
            let input = BufReader::with_capacity(1 << 20, Endless(repeated));
            let error = lines(input, "list".to_owned(), CliError::Output).unwrap_err();
            assert!(error.text().contains(words), "{}", error.text());
        }
    }
}
