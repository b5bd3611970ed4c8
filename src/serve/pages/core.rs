//! A core: hubs and authorities with their scores, and the links between them.

use askama::Template;
use serde::Deserialize;

use super::core_picture::{Picture, draw};
use super::layout::{Layout, Pager};
use crate::engine::query::{CoreLinks, CoreView};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::serve::address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{integer, optional_integer};

/// The hubs or the authorities of a core.
struct Side<'a> {
    title: &'static str,
    /// The first [`ROWS`] pages with their scores.
    pages: Vec<(&'a String, &'a f64)>,
    /// Number of pages that are not shown.
    more: usize,
}

/// Maximum number of hubs, and of authorities, on the page.
const ROWS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    #[serde(deserialize_with = "integer")]
    core: u32,
    /// Whether JSON has the links of the core instead of its pages.
    #[serde(default)]
    links: bool,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "core.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    core: CoreView,
    links: CoreLinks,
    picture: Picture,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let refresh = context
        .bank
        .refresh_view(&which(params.plan, params.refresh))?;
    let number = refresh.refresh;
    let of_refresh = which(None, Some(number));
    if media_type == MediaType::Json && params.links {
        return Answer::json(&context.bank.core_links(&of_refresh, params.core)?);
    }
    let core = context.bank.core(&of_refresh, params.core)?;
    if media_type == MediaType::Json {
        return Answer::json(&core);
    }
    let links = context.bank.core_links(&of_refresh, core.rank)?;
    let address = address::core(number, core.rank);
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("This core as JSON", address.clone()),
                ("its links and neighbours", address.with("links", true)),
            ],
        ),
        refresh,
        core,
        picture: draw(&links),
        links,
    })
}

impl Page<'_> {
    /// Returns the addresses of the previous and the next core.
    fn pager(&self) -> Pager {
        let (refresh, rank) = (self.refresh.refresh, self.core.rank);
        let previous = (rank > 1).then(|| address::core(refresh, rank - 1));
        let has_next = rank < self.refresh.cores;
        (previous, has_next.then(|| address::core(refresh, rank + 1)))
    }

    fn sides(&self) -> [Side<'_>; 2] {
        let core = &self.core;
        [
            ("Hubs", &core.hubs, &core.hub_scores),
            ("Authorities", &core.authorities, &core.authority_scores),
        ]
        .map(|(title, pages, scores)| Side {
            title,
            pages: pages.iter().zip(scores).take(ROWS).collect(),
            more: pages.len().saturating_sub(ROWS),
        })
    }
}
