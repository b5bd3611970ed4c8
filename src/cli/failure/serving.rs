//! The exit statuses and hints of errors of the server.

use seedbank::serve::ServeError;

pub(super) const fn exit_status(error: &ServeError) -> u8 {
    match error {
        ServeError::Open(_) => 2,
        _ => 1,
    }
}

/// Returns what the user can do about it; `None` if there is no advice.
pub(super) const fn hint(error: &ServeError) -> Option<&'static str> {
    match error {
        ServeError::Open(_) => Some("use --token-file to require a secret token"),
        ServeError::Listen { .. } => {
            Some("another server may use the address; use another port with --listen")
        }
        _ => None,
    }
}
