//! Lists of seeds from files.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use seedbank::engine::SeedList;

use crate::cli::failure::CliError;

/// Reads a list: a URL at the beginning of each line, as `seeds` prints them for any crawler;
/// empty lines and lines that begin with `#` are passed over.
pub(super) fn read(path: &Path) -> Result<SeedList, CliError> {
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
    Ok(SeedList::Urls {
        name,
        urls: urls(&String::from_utf8_lossy(&bytes)),
    })
}

/// Several lists, of which one may be standard input.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<SeedList>, CliError> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage(
            "standard input can be one of the lists only; give the others as files".to_owned(),
        ));
    }
    paths.iter().map(|path| read(path)).collect()
}

fn urls(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_crawler_are_read() {
        let text = "\u{feff}http://a.example/\r\n\n# comment\n http://b.example/ # rank 2\n\
            http://c.example/\tseed.rank=3\n";
        assert_eq!(
            urls(text),
            [
                "http://a.example/",
                "http://b.example/",
                "http://c.example/"
            ]
        );
        assert!(urls("").is_empty());
    }
}
