//! Parquet and Arrow in a build without the feature `parquet`.

use super::row::TableError;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::open::Input;
use crate::ingest::source::{Pieces, Stop};

/// Declares a format that refuses every input.
macro_rules! disabled {
    ($format:ident) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $format;

        impl FileFormat for $format {
            fn check(&self, input: &Input) -> Result<(), Stop> {
                Err(TableError::NotBuilt {
                    file: input.to_string(),
                    kind: stringify!($format),
                }
                .into())
            }

            fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
                self.check(&file.input)?;
                Ok(Box::new(std::iter::empty()))
            }
        }
    };
}

disabled!(Parquet);
disabled!(Arrow);
