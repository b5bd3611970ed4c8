//! The status in the text format of Prometheus.

use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::Nothing;
use crate::serve::desk::State;
use crate::serve::form::Form;

pub(super) fn made(state: &State<'_>, _: Nothing, _: Form) -> Result<Answer, Fault> {
    let metrics = state.bank.status()?.metrics();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Answer::of(kind, metrics))
}
