//! Sorted files of a bulk load, written for RocksDB to ingest.

use rocksdb::SstFileWriter;

use crate::error::StoreError;

/// A sorted file that is being written; keys must ascend.
pub(crate) struct SortedFile<'a> {
    writer: SstFileWriter<'a>,
}

impl<'a> SortedFile<'a> {
    pub(crate) const fn new(writer: SstFileWriter<'a>) -> Self {
        Self { writer }
    }

    /// Appends a value; `None` deletes the key.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        match value {
            Some(value) => self.writer.put(key, value),
            None => self.writer.delete(key),
        }
        .map_err(StoreError::rocks("writing a sorted file"))
    }

    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.writer
            .finish()
            .map_err(StoreError::rocks("finishing a sorted file"))
    }
}
