//! Why the pages of a list are seeds, in one sentence each.

use crate::engine::EngineError;
use crate::render::seed_reason;
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::extract::which;
use seedbank_algorithms::watch::Watch as _;

/// Returns why each page is a seed of a refresh; `None` for pages that are not seeds or were forgotten.
///
/// Cost: at most 20 point reads per page.
pub(super) fn seed_reasons<'a>(
    context: &Context<'_>,
    refresh: u32,
    urls: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<String>>, RequestError> {
    let explainer = context.bank.explainer(which(None, Some(refresh)))?;
    let reason = |url: &str| {
        if context.watch.stopped() {
            return Err(RequestError::too_long());
        }
        match explainer.page(url) {
            Ok(answer) => Ok(seed_reason(
                &answer.run,
                answer.policy.as_ref(),
                &answer.why,
            )),
            Err(EngineError::UnknownPage { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    urls.map(reason).collect()
}
