//! What a request asks for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::answer::{Answer, Fault};
use super::form::{Form, accepted};
use super::given::{Given, Parameters};
use crate::engine::Which;

/// Parameters of a request, and how its answer is to be written.
pub(super) struct Asked<T> {
    pub(super) about: T,
    pub(super) form: Form,
    /// The address, by which an answer can be kept.
    pub(super) address: String,
}

/// Parameters of a request that has none.
pub(super) struct Nothing {}

impl Parameters for Nothing {
    fn of(_: &mut Given) -> Result<Self, Fault> {
        Ok(Self {})
    }
}

/// Which refresh is asked for: by its number, or the last one of a plan.
pub(super) fn which(plan: Option<String>, refresh: Option<u32>) -> Which {
    Which { plan, refresh }
}

impl<S: Sync, T: Parameters> FromRequestParts<S> for Asked<T> {
    type Rejection = axum::response::Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let refuse = |fault: &Fault, form| Self::Rejection::from(Answer::fault(fault, form));
        let accepted = accepted(&parts.headers);
        let mut given = Given::of(&parts.uri);
        let form = given.form(&parts.headers);
        let form = form.map_err(|fault| refuse(&fault, accepted))?;
        let about = T::of(&mut given).and_then(|about| given.all_known().map(|()| about));
        Ok(Self {
            about: about.map_err(|fault| refuse(&fault, form))?,
            form,
            address: parts.uri.to_string(),
        })
    }
}
