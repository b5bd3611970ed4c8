//! What errors of the network mean, and which are worth another try.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use object_store::Error;

use crate::error::RemoteError;

/// The delay before the second try, and the longest.
const FIRST_DELAY: Duration = Duration::from_millis(if cfg!(test) { 2 } else { 100 });
const MAX_DELAY: Duration = Duration::from_secs(10);

/// How often a read may fail without bringing [`PROGRESS`] bytes in between.
const MAX_FAILURES: u32 = 10;

/// The bytes that count as progress.
pub(crate) const PROGRESS: u64 = 256 << 10;

/// A failed request.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: RemoteError,
    /// Whether another try may succeed.
    pub(crate) is_transient: bool,
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        Self {
            error,
            is_transient: false,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let error = match &error {
            Error::NotFound { .. } => RemoteError::NotFound,
            Error::AlreadyExists { .. } => RemoteError::Exists,
            Error::Precondition { .. } | Error::NotModified { .. } => RemoteError::Changed,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                RemoteError::Denied(reason(&error))
            }
            Error::NotSupported { .. } => RemoteError::NoRanges,
            Error::NotImplemented { .. } => RemoteError::ReadOnly,
            // Without credentials in the environment, those of a machine in the cloud are asked for.
            Error::Generic { .. } if asks_for_credentials(&error) => {
                RemoteError::Denied("the environment has no credentials".to_owned())
            }
            Error::InvalidPath { source } => RemoteError::Invalid(source.to_string()),
            _ => {
                let reason = reason(&error);
                // The requests of 4xx would fail again, but for those that were too many.
                let is_transient = !reason.starts_with('4')
                    || reason.starts_with("408")
                    || reason.starts_with("429");
                return Self {
                    // What was there when the file was found is no longer there.
                    error: if reason.starts_with("416") {
                        RemoteError::Changed
                    } else {
                        RemoteError::Failed(reason)
                    },
                    is_transient,
                };
            }
        };
        error.into()
    }
}

/// Returns the innermost cause. Outer ones contain the whole address, and bodies of answers parts of the
/// request; of an answer only its status and the code of S3 remain.
fn reason(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    let mut status = None;
    while let Some(source) = cause.source() {
        cause = source;
        let text = cause.to_string();
        if let Some(at) = text.strip_prefix("Server returned non-2xx status code: ") {
            status = Some(at.to_owned());
        }
    }
    match status {
        Some(text) => {
            let (status, body) = text.split_once(": ").unwrap_or((&text, ""));
            let code = body
                .split_once("<Code>")
                .and_then(|(_, rest)| rest.split_once("</Code>"));
            match code {
                Some((code, _)) if code.len() < 100 => format!("{status} ({code})"),
                _ => status.to_owned(),
            }
        }
        None => without_addresses(&cause.to_string()),
    }
}

/// Returns whether a request to the service of a cloud that knows the credentials of a machine failed.
fn asks_for_credentials(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("169.254.169.254") || text.contains("metadata.google.internal")
}

/// Removes the words of a text that are addresses.
fn without_addresses(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        if word.contains("://") {
            "(address)"
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Counts failures in a row, and waits between tries.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    failures: u32,
    /// Bytes received since the last failure.
    progress: u64,
}

impl Tries {
    /// Notes received bytes.
    pub(crate) fn received(&mut self, bytes: usize) {
        self.progress += bytes as u64;
        if self.progress >= PROGRESS {
            self.failures = 0;
        }
    }

    /// Waits before the next try; returns the error if there were too many.
    pub(crate) async fn failed(&mut self, failure: Failure) -> Result<(), RemoteError> {
        self.failures += 1;
        self.progress = 0;
        if !failure.is_transient || self.failures > MAX_FAILURES {
            return Err(failure.error);
        }
        tokio::time::sleep(delay(self.failures)).await;
        Ok(())
    }
}

/// Returns the delay after this many failures. The maximum doubles each time, and the delay is drawn from its
/// upper half, so that clients that failed together do not retry together.
fn delay(failures: u32) -> Duration {
    let longest = FIRST_DELAY
        .saturating_mul(1 << failures.min(10))
        .min(MAX_DELAY);
    // The keys of a new state are random.
    let random = RandomState::new().hash_one(failures) % 1_000;
    longest / 2 + longest.saturating_mul(u32::try_from(random).unwrap_or(0)) / 2_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_a_limit_and_differ() {
        for failures in 1..20 {
            let delay = delay(failures);
            assert!(delay >= FIRST_DELAY && delay <= MAX_DELAY, "{delay:?}");
        }
        assert!((0..20).any(|_| delay(9) != delay(9)));
    }

    #[test]
    fn texts_have_no_addresses() {
        let text = "error for https://h/a?X-Amz-Signature=1 in 3 s";
        assert_eq!(without_addresses(text), "error for (address) in 3 s");
    }
}
