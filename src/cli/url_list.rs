//! Lists of URLs from files.

use std::io::{self, Read};
use std::path::Path;

use seedbank::engine::UrlList;

use super::failure::CliError;

/// Reads a list, `-` from standard input: a URL at the beginning of each line, as `seeds` prints
/// them for any crawler; empty lines and lines that begin with `#` are passed over.
pub(super) fn read(path: &Path) -> Result<UrlList, CliError> {
    let stdin = path.as_os_str() == "-";
    let failed = |source| CliError::SeedsFile {
        path: path.to_path_buf(),
        source,
    };
    let mut bytes = Vec::new();
    if stdin {
        io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    let name = if stdin {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    Ok(UrlList {
        name,
        urls: urls(&String::from_utf8_lossy(&bytes)),
    })
}

/// URLs with the numbers of their lines, from 1.
fn urls(text: &str) -> Vec<(u64, String)> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    lines
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(number, line)| Some((number, line.split_whitespace().next()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_crawler_are_read() {
        let text = "\u{feff}http://a.example/\r\n\n# comment\n http://b.example/ # rank 2\n\
            http://c.example/\tseed.rank=3\n";
        let read = urls(text);
        let read: Vec<(u64, &str)> = read
            .iter()
            .map(|(line, url)| (*line, url.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                (1, "http://a.example/"),
                (4, "http://b.example/"),
                (5, "http://c.example/")
            ]
        );
        assert!(urls("").is_empty());
    }
}
