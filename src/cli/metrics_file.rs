//! `--metrics`: the status of a bank in a file that Prometheus collects.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::Bank;

use super::failure::CliError;
use super::out_file::{OutFile, Spot, complete};

/// The flag of commands after which a bank is another one, or is looked at.
#[derive(Clone, Debug, Args)]
pub(super) struct MetricsArgs {
    /// Also write the bank's status to a file in Prometheus's text format, once all is done
    ///
    /// The file is written beside its place and renamed, so that node_exporter's textfile collector
    /// finds the old one or the new one. It collects names that end in .prom.
    #[arg(long, value_name = "FILE", env = "SEEDBANK_METRICS")]
    metrics: Option<PathBuf>,
}

impl MetricsArgs {
    /// Tells what cannot work, before the work begins.
    pub(super) fn check(&self, bank: &Path) -> Result<(), CliError> {
        self.spot(bank).map(drop)
    }

    fn spot(&self, bank: &Path) -> Result<Option<Spot>, CliError> {
        let metrics = self.metrics.as_deref();
        metrics
            .map(|file| Spot::new("--metrics", file, bank))
            .transpose()
    }

    /// Writes the file, where one is asked for, of the bank as it is now.
    pub(super) fn write(&self, bank: &Bank) -> Result<(), CliError> {
        let Some(spot) = self.spot(bank.path())? else {
            return Ok(());
        };
        Self::put(spot, &bank.status()?.metrics())
    }

    /// Writes the file, where one is asked for.
    pub(super) fn write_text(&self, bank: &Path, text: &str) -> Result<(), CliError> {
        match self.spot(bank)? {
            Some(spot) => Self::put(spot, text),
            None => Ok(()),
        }
    }

    fn put(spot: Spot, text: &str) -> Result<(), CliError> {
        let mut file = OutFile::new(spot)?;
        file.write_all(text.as_bytes()).map_err(file.failed())?;
        complete([file])
    }
}
