//! `--metrics`: writes the status of a bank to a file for Prometheus.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::Bank;

use super::atomic_file::{AtomicFile, Destination, persist_all};
use super::failure::CliError;

/// The flag of commands that change a bank or read its status.
#[derive(Clone, Debug, Args)]
pub(super) struct MetricsArgs {
    /// Write the bank's status to this file in Prometheus text format, after the command succeeds
    ///
    /// The file is written under another name and renamed, so that the textfile collector of node_exporter
    /// always finds a complete one. The collector reads files with names that end in .prom.
    #[arg(
        long,
        value_name = "FILE",
        env = "SEEDBANK_METRICS",
        hide_short_help = true
    )]
    metrics: Option<PathBuf>,
}

impl MetricsArgs {
    /// Reports paths that cannot be written before the work begins.
    pub(super) fn check(&self, bank: &Path) -> Result<(), CliError> {
        self.destination(bank).map(drop)
    }

    fn destination(&self, bank: &Path) -> Result<Option<Destination>, CliError> {
        let metrics = self.metrics.as_deref();
        metrics
            .map(|file| Destination::new("--metrics", file, bank))
            .transpose()
    }

    /// Writes the file for the current state of the bank, if one is requested.
    pub(super) fn write(&self, bank: &Bank) -> Result<(), CliError> {
        let Some(destination) = self.destination(bank.path())? else {
            return Ok(());
        };
        Self::put(destination, &bank.status()?.metrics())
    }

    /// Writes a text to the file, if one is requested.
    pub(super) fn write_text(&self, bank: &Path, text: &str) -> Result<(), CliError> {
        match self.destination(bank)? {
            Some(destination) => Self::put(destination, text),
            None => Ok(()),
        }
    }

    fn put(destination: Destination, text: &str) -> Result<(), CliError> {
        let mut file = AtomicFile::new(destination)?;
        file.write_all(text.as_bytes()).map_err(file.failed())?;
        persist_all([file])
    }
}
