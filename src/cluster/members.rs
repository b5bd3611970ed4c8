//! The members file: the processes of a cluster, their banks, the secret and the time limits.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seedbank_algorithms::watch::WaitingInput;
use serde::Deserialize;

use crate::bank_ranges;
use crate::error::{ClusterError, MembersError};

/// The longest members file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The shortest secret, in bytes.
const MIN_SECRET: usize = 16;
/// The longest secret, in bytes.
const MAX_SECRET: usize = 1 << 16;
/// The longest deadline and patience, in seconds.
const MAX_SECONDS: u64 = 86_400;
/// Separates keys derived from the secret here from any other use of it.
const KEY_CONTEXT: &str = "seedbank-cluster 2026-11-27 proof of the secret in a greeting";

/// A members file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MembersFile {
    secret: PathBuf,
    #[serde(default = "default_seconds")]
    deadline: u64,
    #[serde(default = "default_seconds")]
    patience: u64,
    #[serde(default)]
    process: Vec<ProcessEntry>,
}

const fn default_seconds() -> u64 {
    30
}

/// A `[[process]]` of a members file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessEntry {
    address: String,
    banks: String,
}

/// A process of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    address: String,
    banks: Vec<u32>,
    /// The banks as in the file, for comparison and messages.
    pub(crate) banks_text: String,
}

impl Process {
    /// The address, `host:port`. A coordinator listens on it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The numbers of the banks that the process opens, in ascending order.
    #[must_use]
    pub fn banks(&self) -> &[u32] {
        &self.banks
    }
}

/// A key derived from the secret.
#[derive(Clone)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The contents of a members file. All processes of a command read the same one.
#[derive(Clone, Debug)]
pub struct Members {
    processes: Vec<Process>,
    deadline: Duration,
    patience: Duration,
    pub(crate) key: Key,
}

impl Members {
    /// Reads a members file and the secret that it names.
    pub fn read(path: &Path) -> Result<Self, ClusterError> {
        Self::try_read(path).map_err(|source| ClusterError::Members {
            path: path.to_owned(),
            source,
        })
    }

    fn try_read(path: &Path) -> Result<Self, MembersError> {
        let text = read_text(path).map_err(MembersError::Read)?;
        let file: MembersFile =
            toml::from_str(&text).map_err(|error| MembersError::syntax(error, &text))?;
        let processes = processes(&file.process)?;
        let deadline = seconds("deadline", file.deadline)?;
        let patience = seconds("patience", file.patience)?;
        let secret = path.parent().unwrap_or(Path::new("")).join(&file.secret);
        Ok(Self {
            processes,
            deadline,
            patience,
            key: read_secret(&secret)?,
        })
    }

    /// The processes, in the order of their numbers; at least one.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The number of the process that opens a bank. `None` means that no process does.
    #[must_use]
    pub fn process_of(&self, bank: u32) -> Option<usize> {
        (self.processes.iter()).position(|process| process.banks.binary_search(&bank).is_ok())
    }

    /// The time within which all processes have to be connected.
    #[must_use]
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The silence after which a process counts as lost.
    #[must_use]
    pub const fn patience(&self) -> Duration {
        self.patience
    }
}

fn seconds(name: &'static str, found: u64) -> Result<Duration, MembersError> {
    if (1..=MAX_SECONDS).contains(&found) {
        return Ok(Duration::from_secs(found));
    }
    Err(MembersError::Seconds {
        name,
        max: MAX_SECONDS,
        found,
    })
}

/// Checks the processes one by one, then that no address and no bank belongs to two of them.
fn processes(entries: &[ProcessEntry]) -> Result<Vec<Process>, MembersError> {
    let mut owners = HashMap::new();
    let mut processes = Vec::with_capacity(entries.len());
    for (process, entry) in entries.iter().enumerate() {
        if !is_address(&entry.address) {
            return Err(MembersError::Address {
                process,
                address: entry.address.clone(),
            });
        }
        let mut before = entries.iter().take(process);
        if let Some(first) = before.position(|other| other.address == entry.address) {
            return Err(MembersError::SharedAddress {
                address: entry.address.clone(),
                first,
                second: process,
            });
        }
        let banks = bank_ranges::parse(&entry.banks)
            .map_err(|source| MembersError::Banks { process, source })?;
        for &bank in &banks {
            if let Some(first) = owners.insert(bank, process) {
                return Err(MembersError::SharedBank {
                    bank,
                    first,
                    second: process,
                });
            }
        }
        processes.push(Process {
            address: entry.address.clone(),
            banks,
            banks_text: entry.banks.clone(),
        });
    }
    let first = processes.first().ok_or(MembersError::NoProcess)?;
    if first.banks.first() != Some(&0) {
        return Err(MembersError::NoBankZero {
            found: first.banks_text.clone(),
        });
    }
    Ok(processes)
}

/// Returns whether a text is `host:port`, with brackets around an IPv6 address.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_host = match host.strip_prefix('[') {
        Some(host) => host.ends_with(']'),
        None => !host.is_empty() && !host.contains([':', '/', ' ']),
    };
    is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Reads the members file.
fn read_text(path: &Path) -> io::Result<String> {
    let bytes = WaitingInput::file(path)?.read_small(MAX_FILE)?;
    let too_long = || io::Error::other(format!("expected at most {MAX_FILE} bytes"));
    String::from_utf8(bytes.ok_or_else(too_long)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads the secret and derives the key from it.
fn read_secret(path: &Path) -> Result<Key, MembersError> {
    let failed = |source: io::Error| MembersError::Secret {
        path: path.to_owned(),
        source,
    };
    let input = WaitingInput::file(path).map_err(failed)?;
    // The mode of the open file: the path could name another one by now.
    let mode = input.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(MembersError::SecretMode {
            path: path.to_owned(),
            mode,
        });
    }
    let wrong_length = |found| MembersError::SecretLength {
        path: path.to_owned(),
        min: MIN_SECRET,
        max: MAX_SECRET,
        found,
    };
    let secret = input.read_small(MAX_SECRET as u64).map_err(failed)?;
    // How long a longer one is does not matter.
    let secret = secret.ok_or_else(|| wrong_length(MAX_SECRET + 1))?;
    let secret = secret.trim_ascii();
    if !(MIN_SECRET..=MAX_SECRET).contains(&secret.len()) {
        return Err(wrong_length(secret.len()));
    }
    Ok(Key(blake3::derive_key(KEY_CONTEXT, secret)))
}
