//! Remote files in place of local ones: wherever a request names files, it may give addresses such as
//! `s3://bucket/key`.
//!
//! ```text
//! s3://bucket/day-*.jsonl.zst --find--> Input::Remote, each of a fixed length and version
//! ```
//!
//! Without the feature `remote`, an address is an error that says so.

#[cfg(feature = "remote")]
mod bucket;
#[cfg(not(feature = "remote"))]
mod disabled;
#[cfg(feature = "remote")]
mod enabled;

use std::path::Path;
use std::sync::Arc;

use super::error::Result;
#[cfg(not(feature = "remote"))]
use disabled::{Finder, storage};
#[cfg(not(feature = "remote"))]
pub use disabled::{Upload, upload};
#[cfg(feature = "remote")]
use enabled::{Finder, storage};
#[cfg(feature = "remote")]
pub use enabled::{Upload, upload};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Input, address, path_list};
use seedbank_store::BackupPlace;

/// Replaces addresses in a list of inputs.
pub(in crate::engine) struct Inputs {
    finder: Option<Finder>,
    watch: Arc<dyn Watch + Send>,
}

impl Inputs {
    pub(in crate::engine) fn new(watch: Arc<dyn Watch + Send>) -> Self {
        Self {
            finder: None,
            watch,
        }
    }

    /// Replaces each address by the file that it leads to, and each pattern by the files that match, in the
    /// order of their names.
    pub(in crate::engine) fn replace(&mut self, inputs: &mut Vec<Input>) -> Result<()> {
        let addresses: Vec<&str> = inputs.iter().filter_map(address_of).collect();
        if addresses.is_empty() {
            return Ok(());
        }
        let finder = match &mut self.finder {
            Some(finder) => finder,
            none => none.insert(Finder::new(Arc::clone(&self.watch))?),
        };
        let mut found = finder.find(&addresses)?.into_iter();
        let mut all = Vec::new();
        for input in inputs.drain(..) {
            match address_of(&input) {
                Some(_) => all.extend(found.next().into_iter().flatten().map(Input::Remote)),
                None => all.push(input),
            }
        }
        *inputs = all;
        Ok(())
    }

    /// As [`replace`](Self::replace) for one input; of several files that match, the first.
    pub(in crate::engine) fn replace_one(&mut self, input: &mut Input) -> Result<()> {
        let mut inputs = vec![input.clone()];
        self.replace(&mut inputs)?;
        if let Some(found) = inputs.into_iter().next() {
            *input = found;
        }
        Ok(())
    }
}

/// Returns the address that an input is, instead of the path of a file.
pub(in crate::engine) fn address_of(input: &Input) -> Option<&str> {
    match input {
        Input::File(path) => address(path),
        Input::Member(_) | Input::Stdin | Input::Pipe(..) | Input::Remote(_) => None,
    }
}

/// Calls a function with the place of backups that a path or an address is.
pub(in crate::engine) fn with_backup_place<T>(
    path: &Path,
    watch: Arc<dyn Watch + Send>,
    call: impl FnOnce(BackupPlace<'_>) -> Result<T>,
) -> Result<T> {
    match address(path) {
        None => call(BackupPlace::Folder(path)),
        Some(address) => call(BackupPlace::Storage(&*storage(address, watch)?)),
    }
}

/// Returns the inputs of a list of paths, one per line, plain or compressed, as Common Crawl publishes them. The
/// list may be an address. Each path is appended to `base`, an address or a folder; `None` if the paths are
/// whole. Blank lines and those that begin with `#` are skipped.
///
/// ```
/// use std::sync::Arc;
///
/// use seedbank::engine::remote::listed_inputs;
/// use seedbank::ingest::Input;
/// use seedbank::watch::Unwatched;
///
/// let folder = tempfile::tempdir()?;
/// let list = folder.path().join("wat.paths");
/// std::fs::write(&list, "crawl-data/a.warc.wat.gz\n")?;
/// let inputs = listed_inputs(&list, Some("https://data.example/"), Arc::new(Unwatched))?;
/// assert_eq!(inputs, [Input::File("https://data.example/crawl-data/a.warc.wat.gz".into())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn listed_inputs(
    list: &Path,
    base: Option<&str>,
    watch: Arc<dyn Watch + Send>,
) -> Result<Vec<Input>> {
    let mut input = Input::named(list.to_path_buf());
    let mut inputs = Inputs::new(watch);
    inputs.replace_one(&mut input)?;
    Ok(path_list(&input, base, &inputs.watch)?)
}
