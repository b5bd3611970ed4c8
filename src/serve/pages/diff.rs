//! Comparison of two refreshes, with causes.

use askama::Template;
use axum::http::StatusCode;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::layout::Layout;
use crate::engine::query::{DiffRequest, DiffSide, SeedDiff};
use crate::engine::refresh::RefreshView;
use crate::html::changes::change_lists;
use crate::html::text::Count;
use crate::html::truncate::Truncate;
use crate::render::{SummaryLine, cause_text};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, JSON_LINES, RequestError, json_line};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::optional_integer;

/// Maximum number of gained, of lost and of moved seeds on the page.
const ROWS: usize = 500;

/// Maximum number of refreshes to select from, besides the two that are compared.
const OPTIONS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    #[serde(default, deserialize_with = "optional_integer")]
    from: Option<u32>,
    #[serde(default, deserialize_with = "optional_integer")]
    to: Option<u32>,
    plan: Option<String>,
    against: Option<String>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "diff.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    diff: SeedDiff,
    /// Refreshes to select from, newest first.
    refreshes: Vec<RefreshView>,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let Params {
        from,
        to,
        plan,
        against,
        ..
    } = params;
    let address = Address::new("/diff")
        .with_some("from", from)
        .with_some("to", to)
        .with_some("plan", plan.as_ref())
        .with_some("against", against.as_ref());
    let from = match (from, to) {
        (None, Some(to)) => Some(previous(context, plan.clone(), to)?),
        _ => from,
    };
    let request = DiffRequest {
        plan,
        refreshes: from.into_iter().chain(to).collect(),
        against,
        list: None,
    };
    let diff = context.bank.diff(&request, context.watch)?;
    if media_type == MediaType::Json {
        let mut lines = Vec::new();
        json_line(&mut lines, &SummaryLine::new(&diff))?;
        for seed in &diff.seeds {
            json_line(&mut lines, seed)?;
        }
        return Ok(Answer::new(JSON_LINES, lines));
    }
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.reverse();
    let compared = [diff.summary.from.refresh, diff.summary.to.refresh];
    let mut place = 0;
    refreshes.retain(|refresh| {
        place += 1;
        place <= OPTIONS || compared.contains(&Some(refresh.refresh))
    });
    Answer::page(&Page {
        layout: Layout::new(context, address),
        diff,
        refreshes,
    })
}

/// Returns the previous stored refresh of the same plan.
fn previous(
    context: &Context<'_>,
    plan: Option<String>,
    refresh: u32,
) -> Result<u32, RequestError> {
    let plan = context.bank.refresh_view(&which(plan, Some(refresh)))?.plan;
    let all = context.bank.history()?.refreshes.into_iter();
    let of_plan = all.filter(|other| other.plan == plan && other.refresh < refresh);
    of_plan.map(|other| other.refresh).max().ok_or_else(|| {
        let text = format!(
            "no refresh of plan {plan} before refresh {refresh} is stored; add `from` to compare with another one"
        );
        RequestError::new(StatusCode::NOT_FOUND, text)
    })
}

impl Page<'_> {
    /// Returns the selection fields: name, label and selected refresh.
    fn fields(&self) -> [(&'static str, &'static str, Option<u32>); 2] {
        let summary = &self.diff.summary;
        [
            ("from", "From", summary.from.refresh),
            ("to", "To", summary.to.refresh),
        ]
    }

    /// Returns the causes as text with their counts, most frequent first.
    fn causes(&self) -> Vec<(&'static str, u32)> {
        // Several causes have the same text.
        let mut by_text: BTreeMap<&'static str, u32> = BTreeMap::new();
        for (cause, count) in &self.diff.summary.causes {
            *by_text.entry(cause_text(*cause)).or_default() += count;
        }
        let mut causes: Vec<_> = by_text.into_iter().collect();
        causes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        causes
    }
}

/// Returns the title of one of the two lists.
fn side(side: &DiffSide) -> String {
    match (side.refresh, &side.plan) {
        (Some(refresh), Some(plan)) => format!("refresh {refresh} of plan {plan}"),
        _ => side.list.clone().unwrap_or_default(),
    }
}

fn is_selected(refresh: &RefreshView, selected: Option<u32>) -> bool {
    selected == Some(refresh.refresh)
}
