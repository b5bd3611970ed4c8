//! Errors that other processes of a cluster bank report.

/// The kind of an error that another process reports. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReportedKind {
    /// Something else failed, or the kind is not known.
    #[default]
    Failed = 0,
    /// The request is invalid.
    Usage = 1,
    /// The bank does not contain what was asked about.
    NotFound = 2,
    /// The input was rejected.
    Rejected = 3,
    /// The part is busy, missing, or has an unsupported format.
    Unavailable = 4,
    /// The part is damaged.
    Damaged = 5,
    /// The process was asked to stop.
    Interrupted = 6,
}

impl ReportedKind {
    const ALL: [Self; 7] = [
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Rejected,
        Self::Unavailable,
        Self::Damaged,
        Self::Interrupted,
    ];

    /// Returns the kind that is sent as this byte; [`ReportedKind::Failed`] if it is not known.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        let known = Self::ALL.into_iter().find(|kind| *kind as u8 == byte);
        known.unwrap_or_default()
    }
}

/// An error that another process of a cluster bank reports about its parts or its work.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("process {process} reports: {message}")]
pub struct ReportedError {
    /// The number of the process.
    pub process: usize,
    /// The kind of its error.
    pub kind: ReportedKind,
    /// The text of its error and of the causes.
    pub message: String,
    /// What the user can do about it, in the words of the process; `None` if there is no advice.
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_kind() {
        for byte in 0..=u8::MAX {
            let kind = ReportedKind::from_byte(byte);
            let expected = usize::from(byte) < ReportedKind::ALL.len();
            assert_eq!(kind as u8, if expected { byte } else { 0 });
        }
    }
}
