//! A core: its hubs and authorities with their scores, and the links between them.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use super::matrix::picture;
use crate::engine::{CoreLinks, CoreView, RefreshView};
use crate::html::text::{Count, Measure};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::which;
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::{some_whole, whole};

/// A side's name, its pages with their scores, and how many more it has.
type Side<'a> = (&'static str, Vec<(&'a String, &'a f64)>, usize);

/// Pages of a side on one page; JSON has all.
const ROWS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    plan: Option<String>,
    #[serde(default, deserialize_with = "some_whole")]
    refresh: Option<u32>,
    #[serde(deserialize_with = "whole")]
    core: u32,
    /// Whether its links are asked for, which the page has in any case.
    #[serde(default)]
    links: bool,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "core.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    refresh: RefreshView,
    core: CoreView,
    links: CoreLinks,
    /// The picture of its links, and what it leaves out.
    picture: (String, String),
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About {
        plan,
        refresh,
        core,
        links,
        ..
    } = about;
    let refresh = state.bank.refresh_view(&which(plan, refresh))?;
    let number = refresh.refresh;
    let of_refresh = which(None, Some(number));
    if form == Form::Json && links {
        return Answer::json(&state.bank.core_links(&of_refresh, core)?);
    }
    let core = state.bank.core(&of_refresh, core)?;
    if form == Form::Json {
        return Answer::json(&core);
    }
    let links = state.bank.core_links(&of_refresh, core.rank)?;
    let here = address::core(number, core.rank);
    Answer::page(&Page {
        frame: Frame::with_json(
            state,
            [
                ("This core as JSON", here.clone()),
                ("its links and neighbours", here.with("links", true)),
            ],
        ),
        refresh,
        core,
        picture: picture(&links),
        links,
    })
}

impl Page<'_> {
    /// The cores before and after it in the order of the refresh.
    fn turns(&self) -> (Option<Address>, Option<Address>) {
        let (refresh, rank) = (self.refresh.refresh, self.core.rank);
        let before = (rank > 1).then(|| address::core(refresh, rank - 1));
        let has_next = rank < self.refresh.cores;
        (before, has_next.then(|| address::core(refresh, rank + 1)))
    }

    /// Each side: its name, its pages with their scores, and how many more it has.
    fn sides(&self) -> [Side<'_>; 2] {
        let core = &self.core;
        [
            ("Hubs", &core.hubs, &core.hub_scores),
            ("Authorities", &core.authorities, &core.authority_scores),
        ]
        .map(|(name, pages, scores)| {
            let shown = pages.iter().zip(scores).take(ROWS).collect();
            (name, shown, pages.len().saturating_sub(ROWS))
        })
    }
}
