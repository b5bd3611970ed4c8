//! What can be wrong with a remote file.

use std::io;

/// The most bytes of an address. A request has three for each byte that is not ASCII, and HTTP allows 65,534.
pub(crate) const MAX_ADDRESS: usize = 16 << 10;

/// Why a remote file cannot be read or written. Texts contain neither passwords nor queries of addresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address has an unknown scheme.
    #[error("{0}:// is not supported")]
    Scheme(String),
    /// The address names no file.
    #[error("it names no file")]
    NoFile,
    /// The address is not valid.
    #[error("it is not a valid address: {0}")]
    Invalid(String),
    /// The address is longer than any server accepts.
    #[error("it has {0} bytes, and an address has at most {max}", max = MAX_ADDRESS)]
    TooLong(usize),
    /// The address contains a user name or a password.
    #[error("it contains a user name or a password")]
    Password,
    /// The settings of the environment do not make a client.
    #[error("the settings for this storage are not valid: {0}")]
    Settings(String),
    /// No file matches the pattern.
    #[error("no file matches")]
    NoMatch,
    /// HTTP cannot list files.
    #[error("a pattern needs a listing, which HTTP servers do not have")]
    NoListing,
    /// HTTP cannot be written to.
    #[error("files cannot be written by HTTP")]
    ReadOnly,
    /// The file does not exist.
    #[error("it does not exist")]
    NotFound,
    /// The file exists already, or another process has replaced it.
    #[error("it exists already")]
    Exists,
    /// Another process has the lock.
    #[error("another process has taken over the lock")]
    LockLost,
    /// The server denies access.
    #[error("access denied: {0}")]
    Denied(String),
    /// The file is not the one that was found at the beginning.
    #[error("it was changed while it was read")]
    Changed,
    /// The server promised another length than it delivers.
    #[error("the server delivers more or less than the {0} bytes that it promised")]
    Length(u64),
    /// The server does not deliver parts of a file, or not of a certain version.
    #[error("the server does not support ranges of one version of the file")]
    NoRanges,
    /// The server failed, or cannot be reached.
    #[error("{0}")]
    Failed(String),
}

impl RemoteError {
    /// Returns what to do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Scheme(_) => "use s3://, gs://, az://, https:// or http://",
            Self::NoFile => "add the name of a file; `*` in it matches several",
            Self::Password => {
                "remove it, since other processes can read it; signed addresses have their signature in the query"
            }
            Self::Settings(_) | Self::Denied(_) => {
                "check the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL for s3://, GOOGLE_SERVICE_ACCOUNT for gs://, AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY for az://"
            }
            Self::NoMatch => {
                "check the address; `*` matches everything but `/`, and `**` also that"
            }
            Self::NoListing => "name the files, or give a list of their paths",
            Self::ReadOnly => "use s3://, gs:// or az://",
            Self::NotFound | Self::Invalid(_) | Self::TooLong(_) => "check the address",
            Self::LockLost => "run the same command again; what was stored so far is used",
            Self::Changed => "run the same command again once nothing writes to the file",
            Self::Length(_) => "read the file another way, for example by downloading it first",
            Self::NoRanges => "download the file first",
            Self::Failed(_) => "check the address and the network, and run the same command again",
            Self::Exists => "use another name",
        }
    }

    /// Returns the remote error that caused an error of input or output.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        Self::other(error)
    }
}
