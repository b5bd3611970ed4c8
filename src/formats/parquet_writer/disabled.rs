//! Stands in for the Parquet writer in builds without the feature `parquet`.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use super::{Cell, Column};

/// A table that cannot be created.
pub struct Table<W> {
    never: Infallible,
    out: PhantomData<W>,
}

impl<W: Write + Send> Table<W> {
    /// Fails: this build has no Parquet.
    pub fn new(_out: W, _columns: &'static [Column]) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this build has no Parquet; build it with the feature `parquet`",
        ))
    }

    /// Does nothing, since there is no writer.
    pub fn row(&mut self, _cells: &[Cell<'_>]) -> io::Result<()> {
        match self.never {}
    }

    /// Does nothing, since there is no writer.
    pub fn finish(self) -> io::Result<W> {
        match self.never {}
    }
}
