//! What can go wrong between the processes of a cluster.

use std::io;
use std::path::PathBuf;

use crate::agreement::Difference;
use crate::bank_ranges::BankRangesError;
use crate::failure::Failure;
use crate::frame::MAX_PAYLOAD;

/// Why a command cannot run, or cannot continue, on a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The members file, or the file with the secret, is invalid.
    #[error("the members file {} is invalid", path.display())]
    Members {
        /// The members file.
        path: PathBuf,
        /// What is wrong with it.
        source: MembersError,
    },
    /// The number of this process is unknown or invalid.
    #[error("the process number is missing or invalid")]
    Number(#[from] NumberError),
    /// A coordinator cannot listen on its address.
    #[error("process {process} cannot listen on {address}")]
    Listen {
        /// The number of this process.
        process: usize,
        /// Its address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Members did not connect by the deadline.
    #[error(
        "not connected within {seconds} s: {}{}",
        missing.iter().map(|(process, address)| format!("process {process} ({address})")).collect::<Vec<_>>().join(", "),
        refused.as_ref().map(|why| format!("; the last refused caller: {why}")).unwrap_or_default()
    )]
    Missing {
        /// The deadline.
        seconds: u64,
        /// Numbers and addresses of the processes that did not connect.
        missing: Vec<(usize, String)>,
        /// Address of the last caller that was refused, and the reason.
        refused: Option<String>,
    },
    /// The coordinator did not accept this process by the deadline.
    #[error("process {process} ({address}) did not accept a connection within {seconds} s: {why}")]
    Unreachable {
        /// The number of the coordinator.
        process: usize,
        /// Its address.
        address: String,
        /// The deadline.
        seconds: u64,
        /// Why the last attempt failed.
        why: String,
    },
    /// The coordinator has another secret.
    #[error("process {process} ({address}) does not accept the secret of this process")]
    SecretRefused {
        /// The number of the coordinator.
        process: usize,
        /// Its address.
        address: String,
    },
    /// Whoever listens on the address of the coordinator does not know the secret.
    #[error("the process that listens on {address} does not know the secret")]
    NotCoordinator {
        /// The address of the coordinator.
        address: String,
    },
    /// Another process of the cluster listens on the address of the coordinator.
    #[error("expected process {expected} to listen on {address}, found process {found}")]
    WrongProcess {
        /// The address of the coordinator.
        address: String,
        /// The number of the coordinator.
        expected: usize,
        /// The number of the process that listens.
        found: usize,
    },
    /// The processes were started with different values.
    #[error(transparent)]
    Disagreement(#[from] Difference),
    /// Another process has the same number.
    #[error("another process is connected as process {process}")]
    Duplicate {
        /// The number of this process.
        process: usize,
    },
    /// The connection to a process ended before the command.
    #[error("the connection to process {process} ({address}) is lost: {why}")]
    Lost {
        /// The number of the lost process.
        process: usize,
        /// Its address.
        address: String,
        /// How the loss was detected.
        why: String,
    },
    /// A member was interrupted, and said so before it closed the connection.
    #[error("process {process} was interrupted")]
    MemberInterrupted {
        /// The number of the member.
        process: usize,
    },
    /// The handler of a member returned an error.
    #[error("process {process} reports: {}", failure.message)]
    Remote {
        /// The number of the member.
        process: usize,
        /// The error of the handler.
        failure: Failure,
    },
    /// The handler of this member panicked.
    #[error("the handler of a request panicked: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
    /// A request is too large.
    #[error("expected a request of at most {MAX_PAYLOAD} bytes, found {bytes}")]
    TooLarge {
        /// The size of the request.
        bytes: usize,
    },
    /// A socket or thread of this process cannot be set up.
    #[error("a connection cannot be set up")]
    Setup(#[source] io::Error),
    /// `stop` returned true.
    #[error("the command was interrupted")]
    Interrupted,
}

/// What is wrong with a members file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MembersError {
    /// The file cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// The file is not valid TOML, or has an unknown field or a value of another type.
    #[error("{}{}", line.map(|line| format!("line {line}: ")).unwrap_or_default(), error.message().replace('\n', "; "))]
    Syntax {
        /// The line of the error, from 1. `None` means that the error concerns the whole file.
        line: Option<usize>,
        /// The error of the parser, whose own text has several lines.
        error: Box<toml::de::Error>,
    },
    /// The file has no `[[process]]`.
    #[error("expected at least one [[process]], found none")]
    NoProcess,
    /// A time limit is out of range.
    #[error("{name}: expected 1 to {max} seconds, found {found}")]
    Seconds {
        /// The name of the field.
        name: &'static str,
        /// The largest value.
        max: u64,
        /// The value in the file.
        found: u64,
    },
    /// An address has no host or no port.
    #[error("process {process}: expected an address such as 10.0.0.1:7101, found {address:?}")]
    Address {
        /// The number of the process.
        process: usize,
        /// The value in the file.
        address: String,
    },
    /// A list of banks is invalid.
    #[error("the banks of process {process} are invalid")]
    Banks {
        /// The number of the process.
        process: usize,
        /// What is wrong with the list.
        source: BankRangesError,
    },
    /// Two processes have the same address, on which each of them listens.
    #[error("{address} is the address of process {first} and of process {second}")]
    SharedAddress {
        /// The address.
        address: String,
        /// The first process that has it.
        first: usize,
        /// The second process that has it.
        second: usize,
    },
    /// Two processes open the same bank.
    #[error("bank {bank} belongs to process {first} and to process {second}")]
    SharedBank {
        /// The bank.
        bank: u32,
        /// The first process that lists it.
        first: usize,
        /// The second process that lists it.
        second: usize,
    },
    /// Process 0 does not open bank 0.
    #[error("process 0: expected bank 0 among its banks, found {found:?}")]
    NoBankZero {
        /// The banks of process 0 in the file.
        found: String,
    },
    /// The file with the secret cannot be read.
    #[error("the secret file {} cannot be read", path.display())]
    Secret {
        /// The file with the secret.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Other users can access the file with the secret.
    #[error(
        "the secret file {} is accessible to other users: expected mode 600 or 400, found {mode:o}",
        path.display()
    )]
    SecretMode {
        /// The file with the secret.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The secret has the wrong length.
    #[error(
        "the secret file {}: expected {min} to {max} bytes without surrounding white space, found {found}",
        path.display()
    )]
    SecretLength {
        /// The file with the secret.
        path: PathBuf,
        /// The shortest length.
        min: usize,
        /// The longest length.
        max: usize,
        /// The length of the secret, at most `max` + 1.
        found: usize,
    },
}

impl MembersError {
    /// Creates the error of a file with this text.
    pub(crate) fn syntax(error: toml::de::Error, text: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        Self::Syntax {
            line: before
                .filter(|before| !before.is_empty())
                .map(|before| before.matches('\n').count() + 1),
            error: Box::new(error),
        }
    }
}

/// Why the number of a process is unknown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// No number is given, and no known variable is set.
    #[error("it is not given, and neither SLURM_PROCID nor JOB_COMPLETION_INDEX is set")]
    Unset,
    /// The number is not that of a process in the members file.
    #[error("{origin}: expected a number below {processes}, found {found:?}")]
    Range {
        /// The option or variable with the number.
        origin: &'static str,
        /// The number of processes in the members file.
        processes: usize,
        /// The value.
        found: String,
    },
    /// A process cannot connect to itself, nor to or from a process that is not in the members file.
    #[error("expected a process number below {processes} other than {except}, found {found}")]
    Other {
        /// The number of processes in the members file.
        processes: usize,
        /// The number of the process on the other side.
        except: usize,
        /// The number.
        found: usize,
    },
    /// Slurm runs another number of processes.
    #[error(
        "SLURM_NTASKS: expected {processes}, the number of processes in the members file, found {}",
        found.as_ref().map_or("no value".to_owned(), |found| format!("{found:?}"))
    )]
    Tasks {
        /// The number of processes in the members file.
        processes: usize,
        /// The value of the variable. `None` means that it is not set.
        found: Option<String>,
    },
}
