//! Lists of seeds to evaluate: from refreshes, with or without successors, and from files.

use std::path::{Path, PathBuf};

use seedbank::engine::Which;
use seedbank::engine::evaluate::SeedList;
use seedbank::watch::Watch;

use crate::cli::failure::CliError;
use crate::cli::url_list;

/// Returns the seeds of a refresh as a list.
pub(super) fn refresh_list(which: Which, succeed: bool) -> SeedList {
    if succeed {
        SeedList::Succeeded(which)
    } else {
        SeedList::Refresh(which)
    }
}

/// Reads a list of URLs from a file.
pub(super) fn read(path: &Path, watch: &dyn Watch) -> Result<SeedList, CliError> {
    let list = url_list::read(path, watch)?;
    Ok(SeedList::Urls {
        name: list.name,
        urls: list.urls.into_iter().map(|(_, url)| url).collect(),
    })
}

/// Reads several lists, at most one of them from standard input.
pub(super) fn read_all(paths: &[PathBuf], watch: &dyn Watch) -> Result<Vec<SeedList>, CliError> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage(
            "standard input (-) is given more than once and can be read only once; give the other lists as files".to_owned(),
        ));
    }
    paths.iter().map(|path| read(path, watch)).collect()
}
