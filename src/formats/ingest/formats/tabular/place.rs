//! Inputs that can be read at any position, as Parquet needs it.

use std::fs::File;
use std::sync::Arc;

use super::error::TableError;
use super::random_access::{ReadAt, Windows};
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::source::Stop;

/// Returns the error of a read over the network, at this position.
pub(super) fn read_error(file: &str, (offset, source): (u64, std::io::Error)) -> Stop {
    let file = file.to_owned();
    InputError::Read {
        file,
        offset,
        source,
    }
    .into()
}

/// An input that can be read at any position.
pub(super) struct Place {
    pub(super) file: Arc<dyn ReadAt>,
    pub(super) length: u64,
    /// Whether it is a temporary copy.
    pub(super) is_copy: bool,
}

/// Returns the input, or a temporary copy of one that cannot be read at any position.
pub(super) fn random_access(
    input: &Input,
    opened: Opened,
    progress: &Progress<'_>,
) -> Result<Place, Stop> {
    let local = |file: File, is_copy| {
        let length = file
            .metadata()
            .map_err(|source| open_error(input, source))?
            .len();
        Ok::<_, Stop>(Place {
            file: Arc::new(file),
            length,
            is_copy,
        })
    };
    match input {
        Input::Remote(remote) => {
            // The first bytes are read; the connection for the others is not needed.
            drop(opened);
            let length = remote.length();
            let windows = Windows::new(Arc::clone(remote));
            let windows = windows.map_err(|source| open_error(input, source))?;
            Ok(Place {
                file: Arc::new(windows),
                length,
                is_copy: false,
            })
        }
        // A pipe is open already, and is not opened again.
        Input::File(path) if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) => {
            local(
                File::open(path).map_err(|source| open_error(input, source))?,
                false,
            )
        }
        Input::File(_) | Input::Member(_) | Input::Stdin => local(copied(opened, progress)?, true),
    }
}

/// Copies an input to a temporary file.
fn copied(mut opened: Opened, progress: &Progress<'_>) -> Result<File, Stop> {
    let spool_error = |error| Stop::from(TableError::Spool(error));
    let mut spool = tempfile::tempfile().map_err(spool_error)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        progress.proceed()?;
        let (length, failed) = opened.fill(&mut buffer);
        if let Some(error) = failed {
            return Err(opened.error(error, 0).into());
        }
        let read = buffer.get(..length).unwrap_or_default();
        std::io::Write::write_all(&mut spool, read).map_err(spool_error)?;
        if length < buffer.len() {
            break;
        }
    }
    Ok(spool)
}

fn open_error(input: &Input, source: std::io::Error) -> InputError {
    InputError::Open {
        file: input.to_string(),
        source,
    }
}
