//! A plan: its parameters and its refreshes.

use askama::Template;
use serde::Deserialize;

use super::layout::{Layout, Pager, pager};
use crate::engine::query::{PlanDetail, Turnover};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::render::PlanWithCommand;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::integer;
use seedbank_formats::clock::time;

/// Maximum number of refreshes on the page.
const ROWS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    name: String,
    /// Number of later refreshes to skip.
    #[serde(default, deserialize_with = "integer")]
    from: usize,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "plan.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    plan: PlanDetail,
    /// Refreshes, newest first, each with the change of the list; `None` for the first stored one.
    refreshes: Vec<(RefreshView, Option<Turnover>)>,
    /// Number of later refreshes that are not shown.
    from: usize,
    /// Number of stored refreshes.
    total: usize,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let Params { name, from, .. } = params;
    let plan = context.bank.plan(&name)?;
    if media_type == MediaType::Json {
        return Answer::json(&PlanWithCommand::new(&plan, context.name));
    }
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.retain(|refresh| refresh.plan == name);
    let total = refreshes.len();
    let end = total.saturating_sub(from);
    let begin = end.saturating_sub(ROWS);
    // Include the refresh before the first one shown, to compare with.
    let numbers: Vec<u32> = refreshes[begin.saturating_sub(1)..end]
        .iter()
        .map(|refresh| refresh.refresh)
        .collect();
    let turnover = context
        .turnovers
        .between(context.bank, &numbers, context.watch)?;
    let with_change = |refresh: RefreshView| {
        let change = turnover
            .iter()
            .find(|change| change.refresh == refresh.refresh);
        let change = change.copied();
        (refresh, change)
    };
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("This plan as JSON", address::plan(&name)),
                ("the refreshes of all plans", Address::new("/batches")),
            ],
        ),
        plan,
        refreshes: refreshes.drain(begin..end).rev().map(with_change).collect(),
        from,
        total,
    })
}

impl Page<'_> {
    fn pager(&self) -> Pager {
        let plan = address::plan(&self.plan.summary.plan);
        let address = |from| {
            plan.clone()
                .with_some("from", Some(from).filter(|n| *n > 0))
        };
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}
