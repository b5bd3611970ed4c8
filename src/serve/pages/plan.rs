//! A plan: what it asks for, and its refreshes.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{PlanDetail, RefreshView, Turnover};
use crate::html::text::{Count, Measure};
use crate::render::PlanWithCommand;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::whole;
use seedbank_formats::clock::time;

/// Refreshes on one page.
const ROWS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    name: String,
    /// How many later refreshes stand on the pages before.
    #[serde(default, deserialize_with = "whole")]
    from: usize,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "plan.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    plan: PlanDetail,
    /// Some of its refreshes, the newest first, each with how the list changed; `None` for the first
    /// that is kept.
    refreshes: Vec<(RefreshView, Option<Turnover>)>,
    /// How many later ones there are, and how many are kept.
    from: usize,
    all: usize,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { name, from, .. } = about;
    let plan = state.bank.plan(&name)?;
    if form == Form::Json {
        return Answer::json(&PlanWithCommand::new(&plan, state.name));
    }
    let mut refreshes = state.bank.history()?.refreshes;
    refreshes.retain(|refresh| refresh.plan == name);
    let all = refreshes.len();
    let end = all.saturating_sub(from);
    let begin = end.saturating_sub(ROWS);
    // One more, with which the first is compared.
    let numbers: Vec<u32> = refreshes[begin.saturating_sub(1)..end]
        .iter()
        .map(|refresh| refresh.refresh)
        .collect();
    let turnover = state.turnovers.between(state.bank, &numbers, state.watch)?;
    let with_change = |refresh: RefreshView| {
        let change = turnover
            .iter()
            .find(|change| change.refresh == refresh.refresh);
        let change = change.copied();
        (refresh, change)
    };
    Answer::page(&Page {
        frame: Frame::with_json(
            state,
            [
                ("This plan as JSON", address::plan(&name)),
                ("the refreshes of all plans", Address::of("/batches")),
            ],
        ),
        plan,
        refreshes: refreshes.drain(begin..end).rev().map(with_change).collect(),
        from,
        all,
    })
}

impl Page<'_> {
    /// Later refreshes, and earlier ones.
    fn turns(&self) -> (Option<Address>, Option<Address>) {
        let name = &self.plan.summary.plan;
        let to = |from: usize| address::plan(name).with_some("from", Some(from).filter(|n| *n > 0));
        let later = (self.from > 0).then(|| to(self.from.min(self.all).saturating_sub(ROWS)));
        let next = self.from.saturating_add(ROWS);
        (later, (next < self.all).then(|| to(next)))
    }
}
