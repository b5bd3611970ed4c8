//! The errors of the command line, with their exit statuses and texts.

mod hints;
#[cfg(feature = "serve")]
mod serving;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use seedbank::display::{escape_controls, truncated};
use seedbank::engine::error::{ErrorKind, PlanError, ReportedKind, SystemErrorKind, remote_advice};
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::InputError;
#[cfg(feature = "serve")]
use seedbank::serve::ServeError;
use seedbank::synth::SynthError;
use seedbank::watch::{Interrupted, is_interrupted};
use seedbank_cluster::ClusterError;

use super::time_limit::TimeLimit;
pub(super) use hints::{LIVE_DAMAGED, UNACKNOWLEDGED, UNPUBLISHED, quoted as for_shell};

/// The maximum number of plans that a hint names.
const MAX_NAMED_PLANS: usize = 20;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The engine failed or rejected the request.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The plan does not exist.
    #[error("{source}")]
    UnknownPlan {
        /// The error of the engine.
        source: EngineError,
        /// The plans of the bank, at least one.
        plans: Vec<String>,
    },
    /// The plan file cannot be read.
    #[error("cannot read the plan file {}", path.display())]
    PlanFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The plan file is not a valid plan.
    #[error("{}", path.display())]
    PlanText {
        /// The file.
        path: PathBuf,
        /// What is wrong. Its causes say where, on several lines.
        source: PlanError,
    },
    /// A list of seeds cannot be read.
    #[error("cannot read the list of seeds {}", path.display())]
    SeedsFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The work was not finished within the time limit.
    #[error("time limit of {0} exceeded; nothing was stored, the bank is unchanged")]
    OutOfTime(TimeLimit),
    /// Standard output could not be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    /// An output file could not be written.
    #[error("cannot write {}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Of several output files that belong together, one was replaced and another could not be.
    #[error("{} was replaced, but {} could not be; write both again", new.display(), old.display())]
    Halfway {
        /// The file that was replaced.
        new: PathBuf,
        /// The file that was not replaced.
        old: PathBuf,
        /// Why it was not replaced.
        source: Box<CliError>,
    },
    /// The result could not be written as JSON.
    #[error("cannot write the result as JSON")]
    Json(#[source] serde_json::Error),
    /// No crawl could be generated.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// The threads could not be started.
    #[error("cannot start the threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The bank could not be served.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(ServeError),
    /// The processes of a cluster bank are not connected.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The process that ran the command failed.
    #[error("process 0 failed: {0}")]
    Coordinator(String),
    /// The handler for Ctrl-C could not be installed.
    #[error("cannot install the handler for Ctrl-C")]
    Signals(#[source] std::io::Error),
}

#[cfg(feature = "serve")]
impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Bank(e) => Self::Engine(e),
            other => Self::Serve(other),
        }
    }
}

impl CliError {
    /// Returns the error of an input that could not be read: made by `failed`, unless the work was
    /// interrupted.
    pub(super) fn reading(source: io::Error, failed: impl FnOnce(io::Error) -> Self) -> Self {
        if is_interrupted(&source) {
            Self::Engine(Interrupted.into())
        } else {
            failed(source)
        }
    }

    /// Adds the plans of the bank to the error about an unknown plan.
    pub(super) fn with_plans(self, bank: Option<&Path>) -> Self {
        match self {
            Self::Engine(source @ EngineError::UnknownPlan(_)) => {
                let plans = bank.and_then(|bank| Bank::at(bank).plans().ok());
                let plans = plans.map(|plans| plans.plans).unwrap_or_default();
                let mut plans: Vec<String> = plans.into_iter().map(|plan| plan.plan).collect();
                if plans.is_empty() {
                    return Self::Engine(source);
                }
                if plans.len() > MAX_NAMED_PLANS {
                    plans.truncate(MAX_NAMED_PLANS);
                    plans.push("... (`seedbank plans` lists all)".to_owned());
                }
                Self::UnknownPlan { source, plans }
            }
            other => other,
        }
    }

    pub(super) fn exit_status(&self) -> u8 {
        match self {
            Self::Engine(e) => match e.kind() {
                ErrorKind::Failed => 1,
                ErrorKind::Usage => 2,
                ErrorKind::Rejected => 3,
                ErrorKind::Unavailable => 4,
                ErrorKind::NotFound => 5,
                ErrorKind::Interrupted => 130,
            },
            Self::Usage(_)
            | Self::UnknownPlan { .. }
            | Self::PlanFile { .. }
            | Self::PlanText { .. }
            | Self::SeedsFile { .. } => 2,
            Self::Synth(e) => match e {
                SynthError::Interrupted => 130,
                SynthError::Write { .. } => 1,
                _ => 2,
            },
            #[cfg(feature = "serve")]
            Self::Serve(e) => serving::exit_status(e),
            Self::Cluster(_) if self.is_interruption() => 130,
            Self::Cluster(ClusterError::Members { .. } | ClusterError::Number(_)) => 2,
            Self::Cluster(_)
            | Self::Coordinator(_)
            | Self::OutOfTime(_)
            | Self::Output(_)
            | Self::File { .. }
            | Self::Halfway { .. }
            | Self::Json(_)
            | Self::Threads(_)
            | Self::Signals(_) => 1,
        }
    }

    /// Returns what the user can do about it; `None` if there is no advice.
    pub(super) fn hint(&self) -> Option<String> {
        self.own_hint().or_else(|| system_hint(self))
    }

    /// Returns the advice for this kind of error.
    fn own_hint(&self) -> Option<String> {
        match self {
            Self::Engine(EngineError::Input(error @ InputError::Damaged { .. }))
                if !error.is_truncated() =>
            {
                let advice = "the file may be incomplete; compare its size with that of the original, and copy it again";
                Some(advice.to_owned())
            }
            Self::Engine(e) => hints::line(&e.hint()?),
            Self::UnknownPlan { plans, .. } => {
                Some(format!("the bank has the plans {}", plans.join(", ")))
            }
            Self::OutOfTime(_) => {
                Some("raise --time-limit; the seeds of earlier refreshes are unchanged".to_owned())
            }
            #[cfg(feature = "serve")]
            Self::Serve(e) => serving::hint(e).map(ToOwned::to_owned),
            Self::File { source, .. } => remote_advice(source).map(ToOwned::to_owned),
            Self::Cluster(ClusterError::Number(_)) => {
                Some("give the number of this process with --process".to_owned())
            }
            Self::Threads(_) => Some("use fewer threads with --threads".to_owned()),
            _ => None,
        }
    }

    /// Returns whether the command was asked to stop.
    pub(super) fn is_interruption(&self) -> bool {
        match self {
            Self::Engine(e) => e.kind() == ErrorKind::Interrupted,
            Self::Cluster(ClusterError::Remote { failure, .. }) => {
                ReportedKind::from_byte(failure.kind) == ReportedKind::Interrupted
            }
            Self::Cluster(e) => matches!(
                e,
                ClusterError::Interrupted | ClusterError::MemberInterrupted { .. }
            ),
            _ => false,
        }
    }

    /// Returns whether the reader of standard output has closed it.
    pub(super) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the error and its causes on one line; for a plan file on several lines, which show the
    /// place of the error.
    pub(super) fn text(&self) -> String {
        let text = match self {
            Self::PlanText { path, source } => {
                let text = hints::plan(source).unwrap_or_else(|| chain(source));
                let lines: Vec<_> = text.lines().map(escape_controls).collect();
                return format!(
                    "{}: {}",
                    escape_controls(&path.to_string_lossy()),
                    lines.join("\n")
                );
            }
            Self::Engine(e) => {
                let text = hints::engine(e).unwrap_or_else(|| chain(e));
                match e.hint().as_ref().and_then(hints::inline) {
                    Some(hint) => format!("{text}; {hint}"),
                    None => text,
                }
            }
            _ => chain(self),
        };
        escape_controls(&text).into_owned()
    }
}

/// Returns advice about an error of the operating system, if one of the causes is such an error.
fn system_hint(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = error;
    let system: &io::Error = loop {
        match cause.downcast_ref() {
            Some(system) => break system,
            None => cause = cause.source()?,
        }
    };
    if let Some(kind) = SystemErrorKind::of(system) {
        return hints::system(kind).map(ToOwned::to_owned);
    }
    let advice = match system.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::AlreadyExists => "use another name, or remove what has this one",
        io::ErrorKind::IsADirectory => "expected a file, found a folder; check the path",
        io::ErrorKind::NotADirectory => {
            "a part of the path is a file, not a folder; check the path"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Joins an error and its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = hints::without_number(error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = hints::without_number(cause.to_string());
        // A transparent error has the same text as its source.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// Shortens what the user typed and keeps it on one line, in an error of clap.
pub(super) fn make_plain(error: &mut clap::Error) {
    let shown = |text: &String| escape_controls(&truncated(text)).into_owned();
    let typed: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| {
            let value = match value {
                ContextValue::String(text) => ContextValue::String(shown(text)),
                ContextValue::Strings(texts) => {
                    ContextValue::Strings(texts.iter().map(shown).collect())
                }
                _ => return None,
            };
            Some((kind, value))
        })
        .collect();
    for (kind, value) in typed {
        error.insert(kind, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_appear_once() {
        let error = CliError::from(EngineError::Write {
            path: "a/b".into(),
            source: io::Error::other("no"),
        });
        assert_eq!(error.text(), "cannot write a/b: no");
        assert_eq!(error.exit_status(), 1);
        let error = CliError::from(EngineError::Write {
            path: "a/b".into(),
            source: io::Error::from_raw_os_error(13),
        });
        assert_eq!(error.text(), "cannot write a/b: Permission denied");
        assert_eq!(error.hint().as_deref(), Some(hints::PERMISSIONS));
        let error = CliError::from(EngineError::UnknownPlan("x".to_owned()));
        assert_eq!(error.text(), "the bank has no plan \"x\"");
        assert_eq!(error.exit_status(), 2);
    }
}
