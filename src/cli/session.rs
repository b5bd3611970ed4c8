//! The environment of a command: threads, logs, notes on standard error, and Ctrl-C.

use std::fmt;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use seedbank::engine::Bank;
use seedbank::engine::cluster::{OtherProcesses, ProcessServer};
use seedbank::engine::query::ReadCost;
use tracing_subscriber::EnvFilter;

use super::abort_handler;
use super::failure::CliError;
use super::log::{Level, LogFormat};
use super::progress::{Progress, catch_signals};
use super::values::{human_bytes, integer};

/// The options of all commands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalArgs {
    /// Number of threads; 0 means one per processor
    ///
    /// The output is the same with any number of threads.
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true,
        value_parser = integer::<u16>(0..=1024), env = "SEEDBANK_THREADS", hide_short_help = true)]
    pub(super) threads: u16,
    /// Print more to standard error; use -vv for even more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Print only errors to standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Format of log messages, warnings and errors on standard error
    ///
    /// With json, no progress bars are shown.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        env = "SEEDBANK_LOG_FORMAT",
        hide_short_help = true
    )]
    pub(super) log_format: LogFormat,
    /// Show no progress bars; by default they are shown if standard error is a terminal
    #[arg(long, global = true, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_NO_PROGRESS", hide_short_help = true)]
    pub(super) no_progress: bool,
    /// Load the graph from the tables, and neither use nor write the graph image
    ///
    /// The image is a file in the folder of the bank, from which later commands load the graph faster. The output is
    /// the same with and without it.
    #[arg(long, global = true, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_NO_IMAGE", hide_short_help = true)]
    pub(super) no_image: bool,
    /// Run as one of the processes of this members file, on a cluster bank
    ///
    /// The same command is started once for each process. Process 0 runs it; the others give it access to their parts
    /// of the bank, and take part in `ingest`, `export` and selections.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "SEEDBANK_CLUSTER",
        hide_short_help = true
    )]
    pub(super) cluster: Option<PathBuf>,
    /// With --cluster: the number of this process, from 0; by default that of Slurm or of an indexed job of
    /// Kubernetes
    #[arg(
        long,
        global = true,
        value_name = "N",
        requires = "cluster",
        env = "SEEDBANK_PROCESS",
        hide_short_help = true
    )]
    pub(super) process: Option<usize>,
}

/// The packages whose logs are never shown.
const QUIET: [&str; 6] = [
    "object_store",
    "reqwest",
    "hyper",
    "hyper_util",
    "h2",
    "rustls",
];

/// How a command ended that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The command succeeded.
    Done,
    /// A check found damage.
    Findings,
    /// The result is empty: nothing could be selected, nothing changed, or the bank does not contain what
    /// was asked about.
    Nothing,
}

/// The global options of this run.
pub(super) struct Session {
    threads: usize,
    verbose: u8,
    quiet: bool,
    log: LogFormat,
    bars: bool,
    no_image: bool,
    processes: OtherProcesses,
    server: Option<Arc<ProcessServer>>,
}

impl Session {
    pub(super) fn new(global: &GlobalArgs) -> Self {
        let quiet = global.quiet;
        Self {
            threads: usize::from(global.threads),
            verbose: global.verbose,
            quiet,
            no_image: global.no_image,
            processes: OtherProcesses::default(),
            server: None,
            log: global.log_format,
            bars: !quiet
                && !global.no_progress
                && global.log_format == LogFormat::Text
                && io::stderr().is_terminal(),
        }
    }

    /// Sets the processes that have parts of the bank.
    pub(super) fn set_processes(&mut self, processes: OtherProcesses) {
        self.processes = processes;
    }

    /// Sets this process if commands run in others too.
    pub(super) fn set_server(&mut self, server: Option<Arc<ProcessServer>>) {
        self.server = server;
    }

    /// Returns a handle to a bank that is used as the options say.
    pub(super) fn bank(&self, path: &Path) -> Bank {
        let mut bank = Bank::at(path).with_processes(self.processes.clone());
        if let Some(server) = &self.server {
            bank = bank.with_server(server);
        }
        if self.no_image {
            bank.without_image()
        } else {
            bank
        }
    }

    /// Starts logging and the threads.
    pub(super) fn begin(&self) -> Result<(), CliError> {
        abort_handler::prepare(self.log == LogFormat::Json).map_err(CliError::Signals)?;
        let level = match (self.quiet, self.verbose) {
            (true, _) => "error",
            (false, 0) => "warn",
            (false, 1) => "info",
            (false, 2) => "debug",
            (false, _) => "trace",
        };
        let filter = match std::env::var("SEEDBANK_LOG") {
            Ok(text) if !text.trim().is_empty() => EnvFilter::try_new(&text)
                .map_err(|e| CliError::Usage(format!("SEEDBANK_LOG {text:?}: {e}")))?,
            _ => EnvFilter::new(level),
        };
        // What these log may contain addresses with signatures.
        let filter =
            QUIET
                .iter()
                .fold(filter, |filter, name| match format!("{name}=off").parse() {
                    Ok(directive) => filter.add_directive(directive),
                    Err(_) => filter,
                });
        self.log.begin(filter);
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build_global()?;
        Ok(())
    }

    /// Runs long work with a watch, see [`Session::watch`]. Clears the progress bar at the end.
    pub(super) fn run<T, E: Into<CliError>>(
        &self,
        work: impl FnOnce(&Progress) -> Result<T, E>,
    ) -> Result<T, CliError> {
        work(&self.watch()?).map_err(Into::into)
    }

    /// Queries a bank with a watch, see [`Session::watch`].
    pub(super) fn with_bank<T, E: Into<CliError>>(
        &self,
        bank: &Path,
        query: impl FnOnce(&Bank) -> Result<T, E>,
    ) -> Result<T, CliError> {
        self.run(|watch| query(&self.bank(bank).watched(watch.clone())))
    }

    /// Returns a watch for long work, which shows progress on a terminal and stops the work at Ctrl-C.
    pub(super) fn watch(&self) -> Result<Progress, CliError> {
        catch_signals().map_err(CliError::Signals)?;
        Ok(Progress::new(self.bars))
    }

    /// Prints a warning.
    pub(super) fn warn(&self, text: impl fmt::Display) {
        if !self.quiet {
            self.log.say(Level::Warn, &text.to_string());
        }
    }

    /// Prints a note about the result or about progress.
    pub(super) fn note(&self, text: impl fmt::Display) {
        if !self.quiet {
            self.log.say(Level::Info, &text.to_string());
        }
    }

    /// Whether to print more to standard error.
    pub(super) const fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// With -v, prints how much an answer read.
    pub(super) fn note_cost(&self, cost: ReadCost) {
        if self.verbose > 0 {
            self.note(format_args!(
                "{} point reads, {} read",
                cost.reads,
                human_bytes(cost.bytes)
            ));
        }
    }

    /// Prints an error and its hint, even with --quiet.
    pub(super) fn fail(&self, error: &CliError) {
        self.log.fail(error);
    }
}
