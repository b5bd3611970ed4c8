//! A remote file that is read: as a stream, or by ranges.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::RemoteFile;

use crate::error::RemoteError;
use crate::failure::Tries;
use crate::runtime::wait;
use crate::stream::Stream;
use crate::version::{Version, cut, early_end};

/// A remote file that is read.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) version: Version,
    pub(crate) watch: Arc<dyn Watch + Send>,
}

impl File {
    /// Opens the file at an offset.
    pub(crate) fn stream(&self) -> io::Result<Stream> {
        Stream::open(self.version.clone(), Arc::clone(&self.watch))
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.name).finish()
    }
}

impl RemoteFile for File {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.version.length()
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.stream()?))
    }

    fn has_ranges(&self) -> bool {
        self.version.has_ranges()
    }

    fn read_range(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let version = self.version.clone();
        Ok(wait(
            async move { read_range(&version, range).await },
            &self.watch,
        )??)
    }
}

/// Reads a range, with as many requests as it takes.
async fn read_range(version: &Version, range: Range<u64>) -> Result<Vec<u8>, RemoteError> {
    let length = usize::try_from(range.end - range.start)
        .map_err(|_| RemoteError::Length(version.length()))?;
    let mut bytes = Vec::with_capacity(length);
    let mut tries = Tries::default();
    while bytes.len() < length {
        let from = range.start + bytes.len() as u64;
        let failure = match version.request(from..range.end).await {
            Err(failure) => failure,
            Ok(mut body) => loop {
                match body.next().await {
                    Some(Ok(more)) if bytes.len() + more.len() > length => {
                        return Err(RemoteError::Length(version.length()));
                    }
                    Some(Ok(more)) => {
                        tries.received(more.len());
                        bytes.extend_from_slice(&more);
                    }
                    Some(Err(error)) => break cut(error),
                    None => break early_end(),
                }
                if bytes.len() == length {
                    return Ok(bytes);
                }
            },
        };
        tries.failed(failure).await?;
    }
    Ok(bytes)
}
