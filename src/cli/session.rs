//! What a command does besides its work: threads, logs, notes on standard error, Ctrl-C.

use std::fmt;
use std::io::{self, IsTerminal};

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use seedbank::engine::ReadCost;
use tracing_subscriber::EnvFilter;

use super::failure::CliError;
use super::last_words;
use super::log::{Level, LogFormat};
use super::progress::{Progress, catch_signals};
use super::values::human_bytes;

/// What every command knows.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(super) struct Everywhere {
    /// How many threads to use; 0 means one for each processor
    ///
    /// The output is the same with any number of threads.
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(0..=1024), env = "SEEDBANK_THREADS")]
    pub(super) threads: u16,
    /// Say more on standard error; give it twice for still more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// How standard error is written: log messages, warnings, and why the command failed
    ///
    /// There are no progress bars among lines of JSON.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        env = "SEEDBANK_LOG_FORMAT"
    )]
    pub(super) log_format: LogFormat,
    /// Show no progress bars, which are shown where standard error is a terminal
    #[arg(long, global = true, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_NO_PROGRESS")]
    pub(super) no_progress: bool,
}

/// How a command that did not fail ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// As asked.
    Done,
    /// A check found something.
    Findings,
    /// There is nothing to answer with: nothing could be selected, nothing changed, or the bank does
    /// not know what was asked about.
    Nothing,
}

/// The settings of this run that every command has.
pub(super) struct Session {
    threads: usize,
    verbose: u8,
    quiet: bool,
    log: LogFormat,
    bars: bool,
}

impl Session {
    pub(super) fn new(everywhere: &Everywhere) -> Self {
        let quiet = everywhere.quiet;
        Self {
            threads: usize::from(everywhere.threads),
            verbose: everywhere.verbose,
            quiet,
            log: everywhere.log_format,
            bars: !quiet
                && !everywhere.no_progress
                && everywhere.log_format == LogFormat::Text
                && io::stderr().is_terminal(),
        }
    }

    /// Starts logs and threads.
    pub(super) fn begin(&self) -> Result<(), CliError> {
        last_words::prepare(self.log == LogFormat::Json).map_err(CliError::Signals)?;
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
        self.log.begin(filter);
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build_global()?;
        Ok(())
    }

    /// A watch for long work: bars on a terminal, and Ctrl-C stops it.
    pub(super) fn watch(&self) -> Result<Progress, CliError> {
        catch_signals().map_err(CliError::Signals)?;
        Ok(Progress::new(self.bars))
    }

    /// Whether more should be said.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Warns the user of something to know that was not asked for.
    pub(super) fn warn(&self, text: impl fmt::Display) {
        if !self.quiet {
            self.log.say(Level::Warn, &text.to_string());
        }
    }

    /// Says how it went where there is no result to print.
    pub(super) fn note(&self, text: impl fmt::Display) {
        if !self.quiet {
            self.log.say(Level::Info, &text.to_string());
        }
    }

    /// Says what an answer cost to read, where more is to be said.
    pub(super) fn note_cost(&self, cost: ReadCost) {
        if self.is_verbose() {
            self.note(format_args!(
                "{} point reads, {} read",
                cost.reads,
                human_bytes(cost.bytes)
            ));
        }
    }

    /// Reports an error and what to do about it. Quiet does not hide it.
    pub(super) fn fail(&self, error: &CliError) {
        self.log.fail(error);
    }
}
