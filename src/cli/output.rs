//! Standard output, without a panic when its reader goes away.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde::Serialize;

use super::failure::CliError;

/// Lines of text, indented below the first.
pub(super) struct Lines(pub(super) String);

impl Lines {
    pub(super) fn add(&mut self, line: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut self.0, format_args!("  {line}\n"));
    }
}

/// Buffered standard output; [`Output::finish`] writes what is left in the buffer.
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    pub(super) fn new() -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.out.write_all(bytes).map_err(CliError::Output)
    }

    /// Writes a text as it is.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())
    }

    /// Writes a text and a line end.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.text(text)?;
        self.text("\n")
    }

    /// Writes one object as one line of JSON.
    pub(super) fn json(&mut self, object: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(object).map_err(CliError::Json)?;
        self.line(&text)
    }

    pub(super) fn finish(mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::Output)
    }
}

/// Writes lines of text.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = Output::new();
    out.text(text)?;
    out.finish()
}

/// Writes one object as one line of JSON.
pub(super) fn print_json(object: &impl Serialize) -> Result<(), CliError> {
    let mut out = Output::new();
    out.json(object)?;
    out.finish()
}
