//! What a command does beside its work: threads, logs, notes on standard error, Ctrl-C.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use seedbank::shown::plain;
use tracing_subscriber::EnvFilter;

use super::args::Everywhere;
use super::failure::CliError;
use super::last_words;
use super::progress::{Progress, catch_signals};

/// The settings of this run that every command has.
pub(super) struct Session {
    threads: usize,
    verbose: u8,
    quiet: bool,
    bars: bool,
}

impl Session {
    pub(super) fn new(everywhere: &Everywhere) -> Self {
        let quiet = everywhere.quiet;
        Self {
            threads: usize::from(everywhere.threads),
            verbose: everywhere.verbose,
            quiet,
            bars: !quiet && !everywhere.no_progress && io::stderr().is_terminal(),
        }
    }

    /// Starts logs and threads.
    pub(super) fn begin(&self) -> Result<(), CliError> {
        last_words::prepare().map_err(CliError::Signals)?;
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
        // A log that somebody else has set up stays.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_ansi(io::stderr().is_terminal())
            .try_init();
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

    /// Whether more is to be said.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Tells what the user did not ask for but should know.
    pub(super) fn warn(&self, text: impl fmt::Display) {
        if !self.quiet {
            say("warning: ", &text.to_string());
        }
    }

    /// Tells how it went where there is no result to print.
    pub(super) fn note(&self, text: impl fmt::Display) {
        if !self.quiet {
            say("", &text.to_string());
        }
    }

    /// Tells an error and what to do about it.
    #[expect(
        clippy::unused_self,
        reason = "errors go the same way as warnings, and quiet does not hide them"
    )]
    pub(super) fn fail(&self, error: &CliError) {
        // Its text is plain already, and may have several lines.
        tell(format_args!("error: {}", error.text()));
        if let Some(hint) = error.hint() {
            say("hint: ", &hint);
        }
    }
}

/// Names and paths in it are not ours: it stays on its line.
fn say(what: &str, text: &str) {
    tell(format_args!("{what}{}", plain(text)));
}

/// Where standard error is closed nobody can be told.
fn tell(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
