//! The first page: what the bank holds, its plans and how their lists change.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::Response;

use super::frame::Frame;
use crate::clock::time;
use crate::engine::{BatchView, Status, Turnover};
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame as ChartFrame;
use crate::html::text::Count;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::{Asked, Nothing};
use crate::serve::desk::{Desk, State};
use crate::serve::form::Form;
use crate::shown::age;
use crate::told::kind_name;

/// How many refreshes of a plan, and how many batches, are told of.
const LAST: usize = 12;

/// How many plans are told of with their changes; a bank may have hundreds.
const CHARTS: usize = 6;

#[derive(Template)]
#[template(path = "start.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    status: Status,
    /// Plans with how their lists changed.
    turnover: Vec<(String, Vec<Turnover>)>,
    /// The last batches, the newest first.
    batches: Vec<BatchView>,
}

pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    asked: Asked<Nothing>,
) -> Response<Body> {
    desk.answer(None, asked.form, move |state| made(state, asked.form))
        .await
}

fn made(state: &State<'_>, form: Form) -> Result<Answer, Fault> {
    let mut status = state.bank.status()?;
    state.hide_place(&mut status);
    if form == Form::Json {
        return Answer::json(&status);
    }
    let mut turnover = Vec::new();
    let history = state.bank.history()?;
    for plan in status.plans.iter().take(CHARTS) {
        let of_plan = history.refreshes.iter();
        let of_plan = of_plan.filter(|refresh| refresh.plan == plan.plan);
        let numbers: Vec<u32> = of_plan.map(|refresh| refresh.refresh).collect();
        // One more, with which the first is compared.
        let first = numbers.len().saturating_sub(LAST + 1);
        let found = state.bank.turnover(&numbers[first..], state.watch)?;
        turnover.push((plan.plan.clone(), found));
    }
    let mut batches = history.batches;
    batches.reverse();
    batches.truncate(LAST);
    Answer::page(&Page {
        frame: Frame::around(state, Address::of("/")),
        status,
        turnover,
        batches,
    })
}

impl Page<'_> {
    /// How the list of a plan changed last; `None` at its first refresh.
    fn last_change(&self, plan: &str) -> Option<&Turnover> {
        let of_plan = self.turnover.iter().find(|(name, _)| name == plan);
        of_plan.and_then(|(_, found)| found.last())
    }
}

/// Seeds that came at each refresh.
fn chart(at: usize, plan: &str, found: &[Turnover]) -> String {
    let newest = found.last().map(|last| last.refresh);
    let of_refresh: Vec<Bar> = found
        .iter()
        .map(|change| Bar {
            name: format!("refresh {}", change.refresh),
            number: change.gained as f64,
            error: 0.0,
            text: format!(
                "{} of {}",
                change.gained.whole(),
                (change.gained + change.kept).whole()
            ),
            ours: Some(change.refresh) == newest,
        })
        .collect();
    let frame = ChartFrame {
        id: &format!("turnover-{at}"),
        title: &format!("New seeds at each refresh of plan {plan}"),
        description: "One bar for each refresh; the table below has the numbers.",
        x: "new seeds",
        y: "",
    };
    bars(&frame, &of_refresh, 12.0)
}
