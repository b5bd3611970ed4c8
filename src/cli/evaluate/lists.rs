//! Lists of seeds: refreshes, with successors or without, and files.

use std::path::{Path, PathBuf};

use seedbank::engine::{SeedList, Which};
use seedbank::watch::Watch;

use crate::cli::failure::CliError;
use crate::cli::url_list;

/// The seeds of a refresh.
pub(super) fn of_refresh(which: Which, succeed: bool) -> SeedList {
    if succeed {
        SeedList::Succeeded(which)
    } else {
        SeedList::Refresh(which)
    }
}

/// Reads a list of URLs.
pub(super) fn read(path: &Path, watch: &dyn Watch) -> Result<SeedList, CliError> {
    let list = url_list::read(path, watch)?;
    Ok(SeedList::Urls {
        name: list.name,
        urls: list.urls.into_iter().map(|(_, url)| url).collect(),
    })
}

/// Reads several lists, one of which may be standard input.
pub(super) fn read_all(paths: &[PathBuf], watch: &dyn Watch) -> Result<Vec<SeedList>, CliError> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage(
            "standard input can be one of the lists only; give the others as files".to_owned(),
        ));
    }
    paths.iter().map(|path| read(path, watch)).collect()
}
