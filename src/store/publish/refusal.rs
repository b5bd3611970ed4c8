//! The last refused batch, recorded outside the database.
//!
//! ```text
//! BANK/REFUSED   one line: a text of the caller and its checksum
//! ```
//!
//! It records an event, not a part of any state: a refusal commits nothing. A file that is missing or damaged
//! counts as no refusal. Backups and copies by `migrate` do not contain it.

use std::fs;
use std::io;
use std::path::Path;

use super::acknowledged::{checksum, strip_checksum};
use super::writer::Writer;
use crate::disk::folder::{REFUSED, read_text, replace_file, sync_folder, temporary_name};
use crate::error::StoreError;

/// Returns the text of the last [`Writer::record_refusal`]; `None` if it was removed or is damaged.
#[must_use]
pub fn read_refusal(bank: &Path) -> Option<String> {
    let line = read_text(&bank.join(REFUSED)).ok()?;
    strip_checksum(line.strip_suffix('\n')?).map(str::to_owned)
}

impl Writer {
    /// Records a refused batch in place of the last one, durably. The text is one line of at most 4,000 bytes.
    pub fn record_refusal(&self, text: &str) -> Result<(), StoreError> {
        let path = self.bank.join(REFUSED);
        replace_file(&path, format!("{text} {}\n", checksum(text))).inspect_err(|_| {
            // Best effort: on a full disk every file counts.
            let _ = fs::remove_file(temporary_name(&path));
        })
    }

    /// Removes the record of the last refused batch, durably.
    pub fn remove_refusal(&self) -> Result<(), StoreError> {
        let path = self.bank.join(REFUSED);
        match fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed
                .and_then(|()| sync_folder(&self.bank))
                .map_err(StoreError::io("remove", &path)),
        }
    }
}
