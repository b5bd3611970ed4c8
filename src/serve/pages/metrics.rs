//! The status and the requests, in the text format of Prometheus.

use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::NoParams;
use crate::serve::media_type::MediaType;

pub(super) fn render(
    context: &Context<'_>,
    _: NoParams,
    _: MediaType,
) -> Result<Answer, RequestError> {
    let metrics = context.bank.status()?.metrics() + &context.requests.render();
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Answer::new(content_type, metrics))
}
