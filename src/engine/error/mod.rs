//! The errors of the engine.

mod export_part;
mod forget_extent;
mod graph;
mod hint;
mod loss;
mod plan;
mod reported;
mod request;
mod undo;

// Types of requests and answers that other crates declare.
pub use seedbank_store::{
    BackupError, ReportedError, ReportedKind, StoreError, StoreHint, SystemErrorKind,
};

use std::path::PathBuf;

pub use export_part::ExportPart;
pub use forget_extent::ForgetExtent;
pub(crate) use graph::{rows_error, site_graph_error, web_graph_error, whole_graph_error};
pub use hint::{BadRecords, Hint};
pub use loss::{BatchLoss, SiteLoss};
pub use plan::{Family, PlanError};
pub use request::{ExperimentError, RequestError};
pub use undo::UndoError;

use seedbank_algorithms::cores::CoresError;
use seedbank_algorithms::watch::Interrupted;
use seedbank_formats::display::{counted, is_or_are, truncated};
use seedbank_formats::ingest::{BadPattern, InputError, Stop, UrlError};

/// The result of an operation of the engine.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// An error of the engine. Its text says what is wrong; [`EngineError::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store failed, is damaged or busy, or has an unsupported format.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An input could not be read completely, so the batch was not applied.
    #[error("the batch was rejected; the bank is unchanged")]
    Input(#[from] InputError),
    /// Too many records were bad, so the batch was not applied.
    #[error(
        "the batch was rejected; the bank is unchanged: {} of {} {} bad, expected at most {limit} %: {bad}",
        bad.count,
        counted(bad.records, "record"),
        is_or_are(&bad.count)
    )]
    TooManyRejects {
        /// The limit in percent.
        limit: f64,
        /// The bad records.
        bad: Box<BadRecords>,
    },
    /// Most records were bad, and so many that reading stopped; the batch was not applied.
    #[error(
        "the batch was rejected; the bank is unchanged: {} of the first {} {} bad, and reading stopped there: {bad}",
        bad.count,
        counted(bad.records, "record"),
        is_or_are(&bad.count)
    )]
    MostlyRejected {
        /// The bad records that were read until then.
        bad: Box<BadRecords>,
    },
    /// The snapshot has no good record, so it would make every page gone.
    #[error(
        "the batch was rejected; the bank is unchanged: a snapshot without records would make every crawled page gone"
    )]
    EmptySnapshot,
    /// The batch would remove too much of the bank, so it was not applied.
    #[error("the batch was rejected; the bank is unchanged: {0}")]
    TooMuchLost(Box<BatchLoss>),
    /// The bank was created with another public suffix list than that of this build.
    #[error("expected a bank created with public suffix list {build}, found {bank}")]
    SuffixList {
        /// The list that the bank was created with.
        bank: String,
        /// The list of this build.
        build: String,
    },
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The request is invalid for any bank.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// An experiment cannot be run.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The plan does not exist.
    #[error("the bank has no plan {:?}", truncated(.0))]
    UnknownPlan(String),
    /// A refresh names a plan that does not exist and gives no parameters to create it.
    #[error(
        "the bank has no plan {:?}{}, and no parameters are given to create it",
        truncated(plan),
        plan_names(existing)
    )]
    NoPlanParameters {
        /// The plan.
        plan: String,
        /// The existing plans.
        existing: Vec<String>,
    },
    /// The refresh does not exist.
    #[error("the bank has no refresh {0}")]
    UnknownRefresh(u32),
    /// The refresh was deleted, by a later one with a limit on stored refreshes or with the whole plan.
    #[error(
        "refresh {0} was deleted: a later refresh of its plan kept only newer ones, or the plan was deleted"
    )]
    DeletedRefresh(u32),
    /// The refresh has no core with this rank.
    #[error("refresh {refresh} has no core {rank}: {}", match cores {
        0 => "it has no cores".to_owned(),
        1 => "its only core is 1".to_owned(),
        cores => format!("its cores are 1 to {cores}"),
    })]
    UnknownCore {
        /// The refresh.
        refresh: u32,
        /// The requested rank.
        rank: u32,
        /// The number of cores of the refresh.
        cores: u32,
    },
    /// A diff needs two refreshes.
    #[error("plan {plan:?} has only refresh {only}; expected two refreshes to compare")]
    OneRefresh {
        /// The plan.
        plan: String,
        /// Its one refresh.
        only: u32,
    },
    /// A text is not the URL of a page.
    #[error("{:?} is not the URL of a page: {problem}", truncated(url))]
    InvalidUrl {
        /// The text that was given.
        url: String,
        /// Why the text is not a URL.
        problem: UrlError,
    },
    /// A text that was given as the URL of a page has no scheme, where it must have one.
    #[error("{} has no scheme", truncated(.0))]
    MissingScheme(String),
    /// The bank does not contain the page.
    #[error("the bank does not contain {}", truncated(url))]
    UnknownPage {
        /// The page; without a scheme if it was given without one and neither http nor https names a page.
        url: String,
        /// Similar pages of the bank: first the same page with another scheme, with or without a
        /// final slash, a query or `www.`, then its neighbours on both sides in URL order.
        nearest: Vec<String>,
    },
    /// A list of seeds has a line that is not a URL.
    #[error("line {line} of {list} is not the URL of a page: {problem}")]
    InvalidSeedList {
        /// The list.
        list: String,
        /// The line, from 1.
        line: u64,
        /// Why the text is not a URL.
        problem: UrlError,
    },
    /// The bank contains no page of the site.
    #[error("the bank contains no page of site {:?}", truncated(site))]
    UnknownSite {
        /// The site, by its name.
        site: String,
        /// Similar sites of the bank: those whose names begin with the text, then its neighbours in the
        /// order of names. Empty if there are none, or if none were searched for.
        nearest: Vec<String>,
    },
    /// A text that was given as the name of a site names a part of a site.
    #[error(
        "expected the name of a site, found {:?}, which is on site {site}",
        truncated(name)
    )]
    NotASite {
        /// The text that was given.
        name: String,
        /// The site.
        site: String,
    },
    /// The requested refresh does not belong to the requested plan.
    #[error("refresh {refresh} belongs to plan {found:?}, not to plan {asked:?}")]
    RefreshOfOtherPlan {
        /// The requested refresh.
        refresh: u32,
        /// The plan that the refresh belongs to.
        found: String,
        /// The requested plan.
        asked: String,
    },
    /// The last batch cannot be taken back.
    #[error(transparent)]
    CannotUndo(#[from] UndoError),
    /// A request to forget would remove more pages than it allows, so nothing was changed.
    #[error("the bank is unchanged: {0}")]
    ForgetsMore(Box<ForgetExtent>),
    /// The bank has no pages, so nothing can be selected.
    #[error("the bank is empty")]
    EmptyBank,
    /// The blocks of another bank cannot be copied, since both banks block pages with different secrets.
    #[error(
        "both banks block pages, each with its own secret, so the blocks cannot be copied from one to the other"
    )]
    ConflictingSecrets,
    /// A core could not be extracted.
    #[error(transparent)]
    Cores(CoresError),
    /// The data that the plan's previous refresh cached is damaged; the rest of the bank may be intact.
    #[error(transparent)]
    DamagedCache(StoreError),
    /// The bank's folder of bad records is a symbolic link.
    #[error(
        "cannot write {}: expected a folder of the bank, found a symbolic link",
        folder.display()
    )]
    RejectsLink {
        /// The folder.
        folder: PathBuf,
    },
    /// There are lists of bad records from too many attempts at a batch.
    #[error("cannot write {}: it contains lists of {attempts} attempts at batch {batch}", folder.display())]
    RejectsFull {
        /// The folder of the lists.
        folder: PathBuf,
        /// The number of lists, which is also the limit.
        attempts: u32,
        /// The number that the batch would get.
        batch: u32,
    },
    /// A file outside the bank could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An export could not be written to the caller's output.
    #[error("cannot write {what}")]
    Export {
        /// The part that could not be written.
        what: ExportPart,
        /// The system's error.
        source: std::io::Error,
    },
    /// The threads for a batch could not be started.
    #[error("cannot start the threads for the batch")]
    Threads(#[source] std::io::Error),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Two parts of the engine contradict each other.
    #[error("internal contradiction: {0}")]
    Internal(&'static str),
}

impl From<Stop> for EngineError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Input(error) => error.into(),
            Stop::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

/// The maximum number of plans that an error names.
const MAX_NAMED_PLANS: usize = 10;

/// Formats the plans of a bank for the middle of a sentence.
fn plan_names(plans: &[String]) -> String {
    let Some(more) = plans.len().checked_sub(MAX_NAMED_PLANS) else {
        return if plans.is_empty() {
            " (it has no plans yet)".to_owned()
        } else {
            format!(" (it has {})", plans.join(", "))
        };
    };
    let named = plans[..MAX_NAMED_PLANS].join(", ");
    if more == 0 {
        format!(" (it has {named})")
    } else {
        format!(" (it has {named} and {more} more)")
    }
}

/// The kind of an error; the command line has an exit status for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// Something other than the input failed, such as a full disk.
    Failed,
    /// The request is invalid.
    Usage,
    /// The bank does not contain what was asked about.
    NotFound,
    /// The input was rejected.
    Rejected,
    /// The bank is busy, damaged, missing, or has an unsupported format.
    Unavailable,
    /// The caller asked for the work to stop.
    Interrupted,
}

impl EngineError {
    /// Returns the kind of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(e) => match e {
                StoreError::Occupied(_) => ErrorKind::Usage,
                StoreError::NoBank(_)
                | StoreError::IsPart(_)
                | StoreError::OtherFormat { .. }
                | StoreError::Busy(_) => ErrorKind::Unavailable,
                StoreError::Backup(e) => backup_error_kind(e),
                StoreError::Reported(e) => e.kind.into(),
                e if e.is_damage() => ErrorKind::Unavailable,
                StoreError::Interrupted(_) => ErrorKind::Interrupted,
                _ => ErrorKind::Failed,
            },
            Self::Input(_)
            | Self::TooManyRejects { .. }
            | Self::MostlyRejected { .. }
            | Self::EmptySnapshot
            | Self::TooMuchLost(_)
            | Self::InvalidSeedList { .. } => ErrorKind::Rejected,
            Self::SuffixList { .. } | Self::DamagedCache(_) => ErrorKind::Unavailable,
            Self::Plan(_)
            | Self::Request(_)
            | Self::Experiment(_)
            | Self::UnknownPlan(_)
            | Self::NoPlanParameters { .. }
            | Self::UnknownRefresh(_)
            | Self::DeletedRefresh(_)
            | Self::UnknownCore { .. }
            | Self::OneRefresh { .. }
            | Self::InvalidUrl { .. }
            | Self::MissingScheme(_)
            | Self::NotASite { .. }
            | Self::CannotUndo(_)
            | Self::ConflictingSecrets
            | Self::ForgetsMore(_)
            | Self::RefreshOfOtherPlan { .. } => ErrorKind::Usage,
            Self::UnknownPage { .. } | Self::UnknownSite { .. } | Self::EmptyBank => {
                ErrorKind::NotFound
            }
            Self::Cores(_)
            | Self::RejectsLink { .. }
            | Self::RejectsFull { .. }
            | Self::Write { .. }
            | Self::Export { .. }
            | Self::Threads(_)
            | Self::Internal(_) => ErrorKind::Failed,
            Self::Interrupted(_) => ErrorKind::Interrupted,
        }
    }

    /// Returns what the caller can do about the error; `None` if there is no advice.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        if let Some(advice) = remote_advice(self) {
            return Some(Hint::Remote(advice));
        }
        Some(match self {
            Self::Store(StoreError::Reported(ReportedError {
                hint: Some(hint), ..
            })) => Hint::Reported(hint.clone()),
            Self::Store(e) => Hint::Store(e.hint()?),
            Self::Input(InputError::NotRecords(seen)) => Hint::ConvertToRecords(seen.clone()),
            Self::Input(InputError::Columns(_)) => Hint::NameColumns,
            Self::Input(InputError::TooMuchMemory { .. }) => Hint::RaiseMemory,
            Self::Input(InputError::Expansion { .. }) => Hint::Expand,
            Self::Input(error) if error.is_truncated() => Hint::KeepTruncated,
            Self::Input(InputError::LongPath { .. }) => Hint::OnePathPerLine,
            // If most records are bad, the format is wrong, and a higher limit does not help.
            Self::TooManyRejects { bad, .. } if bad.count <= bad.records / 2 => {
                Hint::FixRecords(bad.clone())
            }
            Self::TooManyRejects { bad, .. } | Self::MostlyRejected { bad } => {
                Hint::FixOrSetFormat(bad.clone())
            }
            Self::EmptySnapshot => Hint::CheckExport,
            Self::TooMuchLost(loss) => {
                let least = loss.least_limit.to_string();
                if loss.snapshot && loss.pages_after < loss.pages_before {
                    Hint::DeltaOrAllowLoss(least)
                } else {
                    Hint::CheckExportOrAllowLoss(least)
                }
            }
            Self::RejectsLink { .. } => Hint::NameRejectsFile,
            Self::RejectsFull { .. } => Hint::RemoveOrNameRejectsFile,
            Self::SuffixList { .. } => Hint::SameBuild,
            Self::MissingScheme(_) => Hint::WriteScheme,
            Self::UnknownPage { nearest, .. } if nearest.is_empty() => Hint::UnknownSite,
            Self::UnknownPage { nearest, .. } => Hint::NearestPages(nearest.clone()),
            Self::UnknownSite { nearest, .. } if nearest.is_empty() => Hint::NameSite,
            Self::UnknownSite { nearest, .. } => Hint::NearestSites(nearest.clone()),
            Self::NotASite { site, .. } => Hint::SiteOrUrl(site.clone()),
            Self::ConflictingSecrets => Hint::ForgetWithoutBlocks,
            Self::ForgetsMore(_) => Hint::ConfirmForget,
            Self::EmptyBank => Hint::IngestFirst,
            Self::UnknownPlan(_) => Hint::ListPlans,
            Self::NoPlanParameters { .. } => Hint::GiveParameters,
            Self::UnknownRefresh(_) | Self::DeletedRefresh(_) => Hint::ListRefreshes,
            Self::OneRefresh { .. } => Hint::RefreshAgain,
            Self::InvalidSeedList { .. } => Hint::OneUrlPerLine,
            Self::DamagedCache(_) => Hint::RefreshCold,
            Self::Cores(CoresError::NoHub { .. }) => Hint::Check,
            Self::Plan(PlanError::Values { .. } | PlanError::WebValues(_)) => Hint::SmallerValues,
            Self::Plan(PlanError::Line { why, .. }) if why.is_too_large() => Hint::SmallerList,
            Self::Plan(PlanError::Line {
                why: BadPattern::TooSlow { .. },
                ..
            }) => Hint::FewerRepetitions,
            Self::Experiment(e) => match e {
                ExperimentError::SmallSites { .. } => Hint::LowerMinPages,
                ExperimentError::NoCores { .. } => Hint::PlanByCores,
                ExperimentError::NoLiveSeeds { .. } => Hint::OtherSeeds,
                _ => return None,
            },
            Self::Internal(_) => Hint::Report,
            _ => return None,
        })
    }
}

/// Returns the advice about a remote file, if one of the causes of an error is about one.
#[must_use]
pub fn remote_advice(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    #[cfg(feature = "remote")]
    {
        let mut cause = Some(error);
        while let Some(error) = cause {
            let io: Option<&std::io::Error> = error.downcast_ref();
            if let Some(remote) = io.and_then(seedbank_remote::RemoteError::of) {
                return Some(remote.hint());
            }
            cause = error.source();
        }
    }
    #[cfg(not(feature = "remote"))]
    let _ = error;
    None
}

const fn backup_error_kind(error: &BackupError) -> ErrorKind {
    match error {
        BackupError::Foreign(_)
        | BackupError::Nested { .. }
        | BackupError::OtherBank(_)
        | BackupError::NoSuch { .. } => ErrorKind::Usage,
        // The folder is not what it should be: nothing there, busy, of another layout, or damaged.
        _ => ErrorKind::Unavailable,
    }
}
