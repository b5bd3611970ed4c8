//! A plan: what it asks for, and its refreshes.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::Response;
use serde::Deserialize;

use super::frame::Frame;
use crate::clock::time;
use crate::engine::{PlanDetail, RefreshView, Turnover};
use crate::html::text::{Count, Measure};
use crate::serve::address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::Asked;
use crate::serve::desk::{Desk, State};
use crate::serve::form::Form;
use crate::told::ShownPlan;

/// How many refreshes are told of.
const LAST: usize = 100;

#[derive(Deserialize)]
pub(super) struct About {
    name: String,
}

#[derive(Template)]
#[template(path = "plan.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    plan: PlanDetail,
    /// Its last refreshes, the newest first, each with how the list changed; `None` for the first that
    /// is kept.
    refreshes: Vec<(RefreshView, Option<Turnover>)>,
    /// How many more are kept.
    more: usize,
}

pub(super) async fn answer(Shared(desk): Shared<Arc<Desk>>, asked: Asked<About>) -> Response<Body> {
    desk.answer(Some(asked.address.clone()), asked.form, move |state| {
        made(state, &asked.about.name, asked.form)
    })
    .await
}

fn made(state: &State<'_>, name: &str, form: Form) -> Result<Answer, Fault> {
    let plan = state.bank.plan(name)?;
    if form == Form::Json {
        return Answer::json(&ShownPlan::of(&plan, state.name));
    }
    let mut refreshes = state.bank.history()?.refreshes;
    refreshes.retain(|refresh| refresh.plan == name);
    let more = refreshes.len().saturating_sub(LAST);
    let numbers: Vec<u32> = refreshes.iter().map(|refresh| refresh.refresh).collect();
    // One more, with which the first is compared.
    let first = more.saturating_sub(1);
    let turnover = state.bank.turnover(&numbers[first..], state.watch)?;
    let with_change = |refresh: RefreshView| {
        let change = turnover
            .iter()
            .find(|change| change.refresh == refresh.refresh);
        let change = change.copied();
        (refresh, change)
    };
    Answer::page(&Page {
        frame: Frame::around(state, address::plan(name)),
        plan,
        refreshes: refreshes
            .into_iter()
            .skip(more)
            .rev()
            .map(with_change)
            .collect(),
        more,
    })
}
