//! Kinds of errors that travel between processes.

use super::{EngineError, ErrorKind};
use seedbank_store::ReportedKind;

impl From<&EngineError> for ReportedKind {
    /// Returns the kind of an error of this process for another one.
    fn from(error: &EngineError) -> Self {
        match (error.kind(), error) {
            (_, EngineError::DamagedCache(_)) => Self::Damaged,
            (_, EngineError::Store(e)) if e.is_damage() => Self::Damaged,
            (ErrorKind::Failed, _) => Self::Failed,
            (ErrorKind::Usage, _) => Self::Usage,
            (ErrorKind::NotFound, _) => Self::NotFound,
            (ErrorKind::Rejected, _) => Self::Rejected,
            (ErrorKind::Unavailable, _) => Self::Unavailable,
            (ErrorKind::Interrupted, _) => Self::Interrupted,
        }
    }
}

impl From<ReportedKind> for ErrorKind {
    fn from(kind: ReportedKind) -> Self {
        match kind {
            ReportedKind::Failed => Self::Failed,
            ReportedKind::Usage => Self::Usage,
            ReportedKind::NotFound => Self::NotFound,
            ReportedKind::Rejected => Self::Rejected,
            ReportedKind::Unavailable | ReportedKind::Damaged => Self::Unavailable,
            ReportedKind::Interrupted => Self::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::engine::error::Hint;
    use seedbank_algorithms::watch::Interrupted;
    use seedbank_store::{ReportedError, StoreError, StoreHint};

    fn damage() -> StoreError {
        StoreError::Damaged {
            table: "pages",
            key: "1".to_owned(),
            what: "it is short".to_owned(),
        }
    }

    /// Returns an error as the process that requested the work sees it.
    fn reported(error: &EngineError) -> EngineError {
        let kind = ReportedKind::from_byte(ReportedKind::from(error) as u8);
        StoreError::Reported(ReportedError {
            process: 1,
            kind,
            message: error.to_string(),
            hint: Some("do this".to_owned()),
        })
        .into()
    }

    #[test]
    fn a_reported_error_has_the_kind_of_the_error() {
        let errors: [EngineError; 8] = [
            damage().into(),
            StoreError::Busy(PathBuf::from("bank")).into(),
            StoreError::Full("batch").into(),
            StoreError::Interrupted(Interrupted).into(),
            EngineError::DamagedCache(damage()),
            EngineError::EmptyBank,
            EngineError::EmptySnapshot,
            EngineError::UnknownRefresh(3),
        ];
        let mut kinds = Vec::new();
        for error in errors {
            let there = reported(&error);
            assert_eq!(there.kind(), error.kind(), "{error}");
            assert_eq!(there.to_string(), format!("process 1 reports: {error}"));
            assert_eq!(there.hint(), Some(Hint::Reported("do this".to_owned())));
            // Also over several processes.
            assert_eq!(reported(&there).kind(), error.kind(), "{error}");
            let EngineError::Store(store) = there else {
                panic!("{error}");
            };
            let is_damage = matches!(error, EngineError::DamagedCache(_))
                || matches!(&error, EngineError::Store(e) if e.is_damage());
            assert_eq!(store.is_damage(), is_damage, "{error}");
            kinds.push(error.kind());
        }
        kinds.dedup();
        assert_eq!(kinds.len(), 7);
    }

    #[test]
    fn damage_without_advice_has_the_advice_about_damage() {
        let error = StoreError::Reported(ReportedError {
            process: 1,
            kind: ReportedKind::Damaged,
            message: "damaged".to_owned(),
            hint: None,
        });
        let hint = EngineError::from(error).hint();
        assert_eq!(hint, Some(Hint::Store(StoreHint::CheckAndRepair)));
    }
}
