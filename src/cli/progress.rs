//! Progress bars on standard error, handling of Ctrl-C, and time limits.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{
    HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use seedbank::engine::error::ErrorKind;
use seedbank::watch::Watch;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::failure::CliError;
use super::time_limit::TimeLimit;

/// Whether the user has asked the command to stop.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether the signal handlers are installed.
static CATCHING: AtomicBool = AtomicBool::new(false);

/// Installs signal handlers once: Ctrl-C or a termination signal asks the command to stop, and the second
/// one ends the process.
///
/// A bank survives the end of the process at any moment. The handler for SIGXFSZ does nothing, so that
/// exceeding the file size limit is reported as a write error instead of killing the process silently.
pub(super) fn catch_signals() -> io::Result<()> {
    // Two handlers would each see the first signal, and the second would end the process.
    if CATCHING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let wait = move || {
        for _ in signals.forever() {
            if STOPPED.swap(true, Ordering::SeqCst) {
                // Destructors of C++ would run beside RocksDB's threads, which use what they destroy.
                signal_hook::low_level::exit(130);
            }
            if io::stderr().is_terminal() {
                let text = "\nstopping; press Ctrl-C again to stop at once, which does not damage the bank\n";
                let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
            }
        }
    };
    thread::Builder::new().spawn(wait).map(drop)
}

/// Asks the command to stop, as Ctrl-C does. Returns whether it was not asked before.
pub(super) fn stop() -> bool {
    !STOPPED.swap(true, Ordering::SeqCst)
}

/// Returns whether the command was asked to stop.
pub(super) fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// Shows stages as progress bars if they are enabled, and stops the work at its time limit. Clones share
/// the bar, and dropping one of them clears it.
#[derive(Clone)]
pub(super) struct Progress {
    shown: bool,
    bar: Arc<Mutex<Option<ProgressBar>>>,
    /// The deadline of the work and the limit that it results from; `None` if there is no limit.
    limit: Option<(Instant, TimeLimit)>,
}

impl Progress {
    pub(super) fn new(shown: bool) -> Self {
        Self {
            shown,
            bar: Arc::default(),
            limit: None,
        }
    }

    /// Starts the time limit now.
    pub(super) fn within(mut self, limit: Option<TimeLimit>) -> Self {
        let end = |limit: TimeLimit| Some((Instant::now().checked_add(limit.duration())?, limit));
        self.limit = limit.and_then(end);
        self
    }

    /// Converts the error of work that was stopped at its time limit; other results are returned
    /// unchanged.
    pub(super) fn ended<T>(&self, work: Result<T, impl Into<CliError>>) -> Result<T, CliError> {
        match (work.map_err(Into::into), self.limit) {
            // Another process of a cluster bank may have been interrupted.
            (Err(CliError::Engine(e)), Some((end, limit)))
                if e.kind() == ErrorKind::Interrupted && !is_stopped() && Instant::now() >= end =>
            {
                Err(CliError::OutOfTime(limit))
            }
            (work, _) => work,
        }
    }

    /// Clears the bar until the next stage, so that text can be printed.
    pub(super) fn clear(&self) {
        self.with_bar(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        });
    }

    fn with_bar(&self, change: impl FnOnce(&mut Option<ProgressBar>)) {
        change(&mut self.bar.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Watch for Progress {
    fn stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed) || self.limit.is_some_and(|(end, _)| Instant::now() >= end)
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        tracing::debug!(name, "stage");
        if !self.shown {
            return;
        }
        // The units of these stages are bytes; of all others, items.
        let in_bytes = name == "copy" || name.starts_with("read");
        let amount = move |amount: u64| {
            if in_bytes {
                HumanBytes(amount).to_string()
            } else {
                HumanCount(amount).to_string()
            }
        };
        let template = match total {
            Some(_) => "{prefix:<12} [{bar:30}] {done} of {all}, {eta} left",
            None => "{prefix:<12} {spinner} {elapsed} {done}",
        };
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("done", move |state: &ProgressState, out: &mut dyn Write| {
                // A stage without a count shows only the elapsed time.
                if state.len().is_some() || state.pos() > 0 {
                    let _ = out.write_str(&amount(state.pos()));
                }
            })
            .with_key("all", move |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&amount(state.len().unwrap_or(0)));
            });
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
            .with_style(style)
            .with_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        self.with_bar(|shown| {
            if let Some(before) = shown.replace(bar) {
                before.finish_and_clear();
            }
        });
    }

    fn advance(&self, units: u64) {
        if self.shown {
            self.with_bar(|bar| {
                if let Some(bar) = bar {
                    bar.inc(units);
                }
            });
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
