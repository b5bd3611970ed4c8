//! Two refreshes compared, with causes.

use askama::Template;
use axum::http::StatusCode;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::frame::Frame;
use crate::engine::{Change, DiffRequest, DiffSide, RefreshView, SeedChange, SeedDiff};
use crate::html::text::Count;
use crate::render::{SummaryLine, cause_text};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, Fault, JSON_LINES, json_line};
use crate::serve::asked::which;
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::some_whole;

/// Seeds of each kind on the page; JSON has all.
const ROWS: usize = 500;

/// Refreshes that one can choose from, beside the two that are compared.
const CHOICES: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    #[serde(default, deserialize_with = "some_whole")]
    from: Option<u32>,
    #[serde(default, deserialize_with = "some_whole")]
    to: Option<u32>,
    plan: Option<String>,
    against: Option<String>,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "diff.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    diff: SeedDiff,
    /// Refreshes that one can choose from, the newest first.
    refreshes: Vec<RefreshView>,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About {
        from,
        to,
        plan,
        against,
        ..
    } = about;
    let here = Address::of("/diff")
        .with_some("from", from)
        .with_some("to", to)
        .with_some("plan", plan.as_ref())
        .with_some("against", against.as_ref());
    let from = match (from, to) {
        (None, Some(to)) => Some(before(state, plan.clone(), to)?),
        _ => from,
    };
    let request = DiffRequest {
        plan,
        refreshes: from.into_iter().chain(to).collect(),
        against,
        list: None,
    };
    let diff = state.bank.diff(&request, state.watch)?;
    if form == Form::Json {
        let mut lines = Vec::new();
        json_line(&mut lines, &SummaryLine::new(&diff))?;
        for seed in &diff.seeds {
            json_line(&mut lines, seed)?;
        }
        return Ok(Answer::of(JSON_LINES, lines));
    }
    let mut refreshes = state.bank.history()?.refreshes;
    refreshes.reverse();
    let chosen = [diff.summary.from.refresh, diff.summary.to.refresh];
    let mut place = 0;
    refreshes.retain(|refresh| {
        place += 1;
        place <= CHOICES || chosen.contains(&Some(refresh.refresh))
    });
    Answer::page(&Page {
        frame: Frame::around(state, here),
        diff,
        refreshes,
    })
}

/// The kept refresh of the same plan before this one.
fn before(state: &State<'_>, plan: Option<String>, refresh: u32) -> Result<u32, Fault> {
    let plan = state.bank.refresh_view(&which(plan, Some(refresh)))?.plan;
    let all = state.bank.history()?.refreshes.into_iter();
    let of_plan = all.filter(|other| other.plan == plan && other.refresh < refresh);
    of_plan.map(|other| other.refresh).max().ok_or_else(|| {
        let text = format!(
            "no refresh of plan {plan} before refresh {refresh} is kept; from says which other one to compare it with"
        );
        Fault::new(StatusCode::NOT_FOUND, text)
    })
}

impl Page<'_> {
    /// The seeds that came, went and moved: the first of each kind, and how many more there are.
    fn lists(&self) -> [(&'static str, Vec<&SeedChange>, usize); 3] {
        [
            ("Gained", Change::Gained),
            ("Lost", Change::Lost),
            ("Moved", Change::Moved),
        ]
        .map(|(title, change)| {
            let of_kind = || self.diff.seeds.iter().filter(|seed| seed.change == change);
            let more = of_kind().count().saturating_sub(ROWS);
            (title, of_kind().take(ROWS).collect(), more)
        })
    }

    /// What one can choose: the parameter, its name for people, and what is chosen.
    fn choices(&self) -> [(&'static str, &'static str, Option<u32>); 2] {
        let summary = &self.diff.summary;
        [
            ("from", "From", summary.from.refresh),
            ("to", "To", summary.to.refresh),
        ]
    }

    /// Causes, the most frequent first.
    fn causes(&self) -> Vec<(&'static str, u32)> {
        // Some causes are told in the same words.
        let mut by_text: BTreeMap<&'static str, u32> = BTreeMap::new();
        for (cause, count) in &self.diff.summary.causes {
            *by_text.entry(cause_text(*cause)).or_default() += count;
        }
        let mut causes: Vec<_> = by_text.into_iter().collect();
        causes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        causes
    }
}

/// A list in words.
fn side(side: &DiffSide) -> String {
    match (side.refresh, &side.plan) {
        (Some(refresh), Some(plan)) => format!("refresh {refresh} of plan {plan}"),
        _ => side.list.clone().unwrap_or_default(),
    }
}

/// Whether a refresh is the one that is chosen.
fn is_chosen(refresh: &RefreshView, chosen: Option<u32>) -> bool {
    chosen == Some(refresh.refresh)
}
