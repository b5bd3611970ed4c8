//! What can go wrong in the engine.

mod exported;
mod graph;
mod hint;
mod plan;
mod request;
mod undo;

use std::path::PathBuf;

pub use exported::Exported;
pub(crate) use graph::{no_rows, no_site, no_web, no_whole};
pub use hint::{BadRecords, Hint};
pub use plan::{Family, PlanError};
pub use request::{ExperimentError, RequestError};
pub use undo::NoUndo;

use seedbank_algorithms::cores::CoresError;
use seedbank_algorithms::watch::Interrupted;
use seedbank_formats::ingest::{InputError, UrlProblem};
use seedbank_formats::shown::{are, counted, shortened};
use seedbank_store::{BackupError, StoreError};

/// An error of the engine; its text says what is wrong, [`EngineError::hint`] what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store failed, is damaged, busy, or of another version.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An input could not be read to its end, so nothing of the batch was taken.
    #[error("the batch was refused, the bank is as it was")]
    Input(#[from] InputError),
    /// Too many records were bad, so nothing of the batch was taken.
    #[error(
        "the batch was refused, the bank is as it was: {} of {} {} bad, and at most {limit} % may be: {bad}",
        bad.count,
        counted(bad.records, "record"),
        are(&bad.count)
    )]
    TooManyRejects {
        /// The limit in per cent.
        limit: f64,
        /// The bad records.
        bad: Box<BadRecords>,
    },
    /// Most records were bad, and so many that reading stopped; nothing of the batch was taken.
    #[error(
        "the batch was refused, the bank is as it was: {} of the first {} {} bad, and reading stopped there: {bad}",
        bad.count,
        counted(bad.records, "record"),
        are(&bad.count)
    )]
    MostAreBad {
        /// The bad records up to there.
        bad: Box<BadRecords>,
    },
    /// A snapshot without a single good record would make every page gone.
    #[error(
        "the batch was refused, the bank is as it was: a snapshot without records would make every crawled page gone"
    )]
    EmptySnapshot,
    /// The batch would take away too much of what the bank has, so nothing of it was taken.
    #[error(
        "the batch was refused, the bank is as it was: crawled pages would go from {pages_before} to {pages_after}, links of the pages that it names and that stay crawled from {links_before} to {links_after}, and at most {limit} % may be lost"
    )]
    TooMuchLost {
        /// Crawled pages before the batch.
        pages_before: u64,
        /// Crawled pages after it.
        pages_after: u64,
        /// Links, before the batch, of the pages that have a record in it and stay crawled.
        links_before: u64,
        /// Links of the same pages after it.
        links_after: u64,
        /// The limit in per cent.
        limit: f64,
        /// Whether the batch is a snapshot.
        snapshot: bool,
    },
    /// The bank's sites were told apart with another public suffix list.
    #[error("the bank's sites were cut with public suffix list {bank}, this build has {build}")]
    SuffixList {
        /// The list that the bank was made with.
        bank: String,
        /// The list of this build.
        build: String,
    },
    /// A plan makes no sense.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// What was asked for makes no sense, whatever the bank holds.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// An experiment cannot be made.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// There is no such plan.
    #[error("the bank has no plan {:?}", shortened(.0))]
    NoPlan(String),
    /// A refresh of a plan that there is not, and nothing says what it should be.
    #[error(
        "the bank has no plan {:?}{}, and nothing is said of what it should be",
        shortened(plan),
        listed(there)
    )]
    NewPlan {
        /// The plan.
        plan: String,
        /// The plans that there are.
        there: Vec<String>,
    },
    /// There is no such refresh.
    #[error("the bank has no refresh {0}")]
    NoRefresh(u32),
    /// The refresh was deleted: a later one of its plan was to keep fewer, or the plan was deleted.
    #[error(
        "refresh {0} was forgotten: a later refresh of its plan kept fewer, or the plan was deleted"
    )]
    Forgotten(u32),
    /// The refresh has no core of this rank.
    #[error("refresh {refresh} has no core {rank}: {}", match cores {
        0 => "it has none".to_owned(),
        1 => "its only one is 1".to_owned(),
        cores => format!("its cores are 1 to {cores}"),
    })]
    NoCore {
        /// The refresh.
        refresh: u32,
        /// The rank asked for.
        rank: u32,
        /// How many cores there are.
        cores: u32,
    },
    /// A diff needs two refreshes.
    #[error("plan {plan:?} has no refresh but {only}, and a diff compares two")]
    OneRefresh {
        /// The plan.
        plan: String,
        /// Its one refresh.
        only: u32,
    },
    /// What was given is not the URL of a page.
    #[error("{:?} is no URL of a page: {problem}", shortened(url))]
    NoUrl {
        /// The text that was given.
        url: String,
        /// What is wrong.
        problem: UrlProblem,
    },
    /// What was given as the URL of a page has no scheme.
    #[error("{} has no scheme", shortened(url))]
    NoScheme {
        /// The text that was given.
        url: String,
        /// The page of the bank that it names with a scheme; `None` where there is none.
        meant: Option<String>,
    },
    /// The bank does not know the page.
    #[error("the bank does not know {}", shortened(url))]
    NotKnown {
        /// The page.
        url: String,
        /// The pages of the bank that may have been meant: first the same page under another
        /// scheme, with or without a slash at its end, a query or `www.`, then its neighbours on
        /// both sides in the order of URLs.
        nearest: Vec<String>,
    },
    /// A list of seeds has a line that is not a URL.
    #[error("line {line} of {list} is no URL of a page: {problem}")]
    SeedList {
        /// The list.
        list: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        problem: UrlProblem,
    },
    /// The bank does not know the site.
    #[error("the bank knows no page of site {:?}", shortened(site))]
    NoSite {
        /// The site, by its name.
        site: String,
        /// The sites of the bank that may have been meant: those whose names begin with it, then its
        /// neighbours in the order of names. Empty where there are none, or none were looked for.
        nearest: Vec<String>,
    },
    /// What was given as the name of a site is something on a site.
    #[error(
        "{:?} is not the name of a site: what it names is on site {site}",
        shortened(name)
    )]
    OtherSite {
        /// The text that was given.
        name: String,
        /// The site.
        site: String,
    },
    /// The refresh asked for belongs to another plan than the one asked for.
    #[error("refresh {refresh} is one of plan {found:?}, not of {asked:?}")]
    OtherPlan {
        /// The refresh asked for.
        refresh: u32,
        /// The plan that the refresh belongs to.
        found: String,
        /// The plan asked for.
        asked: String,
    },
    /// The last batch cannot be taken back.
    #[error(transparent)]
    NoUndo(#[from] NoUndo),
    /// What another bank bars cannot be taken over, since this one bars something by another secret.
    #[error(
        "both banks bar pages, each by a secret of its own, so that neither can take over what the other bars"
    )]
    OtherSecret,
    /// A core could not be extracted.
    #[error(transparent)]
    Cores(CoresError),
    /// What the plan's earlier refresh left for reuse is damaged; the rest of the bank may be good.
    #[error(transparent)]
    Ledger(StoreError),
    /// The bank's folder of bad records leads out of the bank.
    #[error(
        "cannot write {}: it is a symbolic link, and a bank writes only in its own folders",
        folder.display()
    )]
    RejectsLink {
        /// The folder.
        folder: PathBuf,
    },
    /// Too many attempts at a batch have left lists of bad records.
    #[error("cannot write {}: {attempts} attempts at batch {batch} are listed there", folder.display())]
    RejectsFull {
        /// The folder of the lists.
        folder: PathBuf,
        /// How many there are, which is also the limit.
        attempts: u32,
        /// The number that the batch would have.
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
    /// What is exported could not be written to where the caller wants it.
    #[error("cannot write {what}")]
    Export {
        /// The part that could not be written.
        what: Exported,
        /// The system's error.
        source: std::io::Error,
    },
    /// The threads of a batch could not be started.
    #[error("cannot start the threads of a batch")]
    Threads(#[source] std::io::Error),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Two parts of the engine contradict each other.
    #[error("internal contradiction: {0}")]
    Internal(&'static str),
}

/// How many plans an error names.
const NAMED_PLANS: usize = 10;

/// The plans of a bank, in the middle of a sentence.
fn listed(plans: &[String]) -> String {
    let Some(more) = plans.len().checked_sub(NAMED_PLANS) else {
        return if plans.is_empty() {
            " (it has none yet)".to_owned()
        } else {
            format!(" (it has {})", plans.join(", "))
        };
    };
    let named = plans[..NAMED_PLANS].join(", ");
    if more == 0 {
        format!(" (it has {named})")
    } else {
        format!(" (it has {named} and {more} more)")
    }
}

/// What kind of failure an error is; the command line has an exit status for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something failed that is not the fault of any input: a full disk, say.
    Failed,
    /// What was asked for makes no sense.
    Usage,
    /// The bank does not know what was asked about.
    Unknown,
    /// The input was refused.
    Refused,
    /// The bank is busy, damaged, missing, or of another version.
    Unavailable,
    /// The caller asked for the work to stop.
    Interrupted,
}

impl EngineError {
    /// The kind of failure that this error is.
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self {
            Self::Store(e) => match e {
                StoreError::Occupied(_) => Failure::Usage,
                StoreError::NoBank(_) | StoreError::OtherFormat { .. } | StoreError::Busy(_) => {
                    Failure::Unavailable
                }
                StoreError::Backup(e) => of_backup(e),
                e if e.is_damage() => Failure::Unavailable,
                StoreError::Interrupted(_) => Failure::Interrupted,
                _ => Failure::Failed,
            },
            Self::Input(_)
            | Self::TooManyRejects { .. }
            | Self::MostAreBad { .. }
            | Self::EmptySnapshot
            | Self::TooMuchLost { .. }
            | Self::SeedList { .. } => Failure::Refused,
            Self::SuffixList { .. } | Self::Ledger(_) => Failure::Unavailable,
            Self::Plan(_)
            | Self::Request(_)
            | Self::Experiment(_)
            | Self::NoPlan(_)
            | Self::NewPlan { .. }
            | Self::NoRefresh(_)
            | Self::Forgotten(_)
            | Self::NoCore { .. }
            | Self::OneRefresh { .. }
            | Self::NoUrl { .. }
            | Self::NoScheme { .. }
            | Self::OtherSite { .. }
            | Self::NoUndo(_)
            | Self::OtherSecret
            | Self::OtherPlan { .. } => Failure::Usage,
            Self::NotKnown { .. } | Self::NoSite { .. } => Failure::Unknown,
            Self::Cores(_)
            | Self::RejectsLink { .. }
            | Self::RejectsFull { .. }
            | Self::Write { .. }
            | Self::Export { .. }
            | Self::Threads(_)
            | Self::Internal(_) => Failure::Failed,
            Self::Interrupted(_) => Failure::Interrupted,
        }
    }

    /// What the caller can do about it; `None` where there is nothing to do but read the error.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Self::Store(e) => Hint::Store(e.hint()?),
            Self::Input(InputError::Foreign(seen)) => Hint::MakeRecords(seen.clone()),
            Self::Input(InputError::Held { .. }) => Hint::RaiseMemory,
            Self::Input(InputError::Expansion { .. }) => Hint::Expand,
            Self::TooManyRejects { bad, .. } => Hint::MendRecords(bad.clone()),
            Self::MostAreBad { bad } => Hint::MendOrNameFormat(bad.clone()),
            Self::EmptySnapshot => Hint::CheckExport,
            Self::TooMuchLost {
                pages_before,
                pages_after,
                snapshot,
                ..
            } => {
                if *snapshot && pages_after < pages_before {
                    Hint::DeltaOrAllowLoss
                } else {
                    Hint::CheckExportOrAllowLoss
                }
            }
            Self::RejectsLink { .. } => Hint::NameRejectsFile,
            Self::RejectsFull { .. } => Hint::RemoveOrNameRejectsFile,
            Self::SuffixList { .. } => Hint::SameBuild,
            Self::NoScheme { meant, .. } => Hint::WriteScheme(meant.clone()),
            Self::NotKnown { nearest, .. } if nearest.is_empty() => Hint::UnknownSite,
            Self::NotKnown { nearest, .. } => Hint::NearestPages(nearest.clone()),
            Self::NoSite { nearest, .. } if nearest.is_empty() => Hint::NameSite,
            Self::NoSite { nearest, .. } => Hint::NearestSites(nearest.clone()),
            Self::OtherSite { site, .. } => Hint::SiteOrUrl(site.clone()),
            Self::OtherSecret => Hint::ForgetWithoutBlocks,
            Self::NoPlan(_) => Hint::ListPlans,
            Self::NewPlan { .. } => Hint::SayWhatPlan,
            Self::NoRefresh(_) | Self::Forgotten(_) => Hint::ListRefreshes,
            Self::OneRefresh { .. } => Hint::RefreshAgain,
            Self::SeedList { .. } => Hint::OneUrlALine,
            Self::Ledger(_) => Hint::RefreshCold,
            Self::Cores(CoresError::NoHub { .. }) => Hint::Check,
            Self::Plan(PlanError::Values { .. } | PlanError::WebValues(_)) => Hint::SmallerValues,
            Self::Plan(PlanError::Line { why, .. }) if why.is_too_large() => Hint::SmallerList,
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

/// The kind of failure that an error of a folder of backups is.
const fn of_backup(error: &BackupError) -> Failure {
    match error {
        BackupError::Foreign(_)
        | BackupError::Nested { .. }
        | BackupError::OtherBank(_)
        | BackupError::NoSuch { .. } => Failure::Usage,
        // The folder is not what it should be: nothing there, busy, of another layout, or damaged.
        _ => Failure::Unavailable,
    }
}
