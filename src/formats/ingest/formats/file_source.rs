//! Formats whose inputs are files that are read independently of each other.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use crate::ingest::columns::ColumnNames;
use crate::ingest::open::{DetectedInput, Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{DEFAULT_HELD_BYTES, Pieces, Source, Sources, Stop, max_held_bytes};
use seedbank_algorithms::watch::Watch;

/// A format in which every input is a file of its own, plain or compressed.
pub(super) trait FileFormat: Clone + Send + Sync + 'static {
    /// Checks, before any input of the batch is opened, whether this one can be read.
    fn check(&self, _input: &Input) -> Result<(), Stop> {
        Ok(())
    }

    /// Cuts an open file into pieces. Returns an error if the file is in another format.
    fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop>;
}

/// An open file and what its format needs to read it.
pub(super) struct OpenFile<'a> {
    /// The file as the caller named it.
    pub(super) input: Input,
    pub(super) opened: Opened<'a>,
    /// Limit for the memory that is held besides pieces, in bytes.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only tables read it")
    )]
    pub(super) max_held_bytes: usize,
    /// Receives the format that the first bytes show, if the file is read line by line.
    pub(super) seen: Arc<OnceLock<DetectedInput>>,
    pub(super) progress: Progress<'a>,
    /// The columns of a table that the user names.
    pub(super) columns: ColumnNames,
}

impl OpenFile<'_> {
    /// The name of the file, for messages.
    pub(super) fn name(&self) -> String {
        self.input.to_string()
    }

    /// Returns the error of a file whose first bytes show another format.
    pub(super) fn other_format(&self, format: DetectedFormat) -> Stop {
        InputError::NotRecords(DetectedInput {
            file: self.name(),
            format,
            compression: self.opened.compression(),
        })
        .into()
    }
}

/// Returns a source for each input.
pub(super) fn sources<F: FileFormat>(inputs: &[Input], format: &F) -> Sources {
    let source = |input: &Input| {
        Box::new(FileSource {
            input: input.clone(),
            format: format.clone(),
            max_held_bytes: DEFAULT_HELD_BYTES,
            seen: Arc::default(),
            columns: ColumnNames::default(),
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

struct FileSource<F> {
    input: Input,
    format: F,
    max_held_bytes: usize,
    seen: Arc<OnceLock<DetectedInput>>,
    columns: ColumnNames,
}

impl<F: FileFormat> Source for FileSource<F> {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn name_columns(&mut self, columns: &ColumnNames) {
        self.columns = columns.clone();
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        self.format.check(&self.input)?;
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        self.format.pieces(OpenFile {
            input: self.input.clone(),
            opened: self.input.open(progress)?,
            max_held_bytes: self.max_held_bytes,
            seen: Arc::clone(&self.seen),
            progress: progress.clone(),
            columns: self.columns.clone(),
        })
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.seen.get().cloned()
    }
}

// Errors of formats, for which a whole input is refused.

/// An error of a format, for which a whole input is refused.
pub(super) trait FormatError: Error + Send + Sync + 'static {
    /// Returns whether the input ends within a record, and those before it can be read.
    fn is_truncated(&self) -> bool {
        false
    }

    /// Returns whether the columns of a table are not those of records.
    fn is_of_columns(&self) -> bool {
        false
    }
}

impl<E: FormatError> From<E> for InputError {
    fn from(error: E) -> Self {
        if error.is_truncated() {
            Self::Truncated(Box::new(error))
        } else if error.is_of_columns() {
            Self::Columns(Box::new(error))
        } else {
            Self::Format(Box::new(error))
        }
    }
}

impl<E: FormatError> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Input(error.into())
    }
}
