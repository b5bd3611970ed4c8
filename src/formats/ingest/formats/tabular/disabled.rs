//! Parquet and Arrow where the program was built without them.

use super::error::TableError;
use crate::ingest::open::{Input, InputError};
use crate::ingest::progress::Progress;
use crate::ingest::source::{Pieces, Source, Sources, Stop};
use seedbank_algorithms::watch::Watch;

/// The sources of a format of this name, which cannot be read.
pub(super) fn sources(inputs: &[Input], kind: &'static str) -> Sources {
    let source = |input: &Input| {
        Box::new(Disabled {
            input: input.clone(),
            kind,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// An input that cannot be read.
struct Disabled {
    input: Input,
    kind: &'static str,
}

/// Why the input of this name is not read.
pub(in crate::ingest) fn error(file: String, kind: &'static str) -> Stop {
    InputError::from(TableError::NotBuilt { file, kind }).into()
}

impl Source for Disabled {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Err(error(self.name(), self.kind))
    }

    fn open<'a>(&'a mut self, _: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        Err(error(self.name(), self.kind))
    }
}
