//! Comparison of a list from outside the bank with the seeds of a plan.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::{Operation, schema_of};
use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::{CompareRequest, ListComparison, UrlList};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::query_params::query;

/// Maximum number of URLs in a list; comparing them takes a second or two.
const MAX_URLS: usize = 2000;

/// Selects the plan to compare a list with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareQuery {
    /// Plan; `default` without it.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
}

/// The operation, which reads the list from the body of the request.
pub(super) const COMPARE: Operation = Operation {
    name: "compare",
    about: "A list of URLs compared with the seeds of a plan: alive, covered, and what crawls from it find",
    parameters: schema_of::<CompareQuery>(),
    answer: schema_of::<ListComparison>(),
    takes_list: true,
    is_cached: false,
    is_limited: true,
    compute: |context, uri, list| {
        let CompareQuery { plan } = query(uri)?;
        Answer::json(&compare(context, list, plan)?)
    },
};

/// Compares a list, one URL per line, with the last refresh of a plan.
pub(in crate::serve) fn compare(
    context: &Context<'_>,
    text: &str,
    plan: Option<String>,
) -> Result<ListComparison, RequestError> {
    let mut list = UrlList {
        name: "the list".to_owned(),
        ..UrlList::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        list.push_line(number, line);
        if list.urls.len() > MAX_URLS {
            let text = format!(
                "a list has at most {MAX_URLS} URLs here; compare longer ones on the command line"
            );
            return Err(RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
    }
    let request = CompareRequest {
        most: MAX_URLS,
        ..CompareRequest::new(which(plan, None))
    };
    Ok(context.bank.compare(&list, &request)?)
}
