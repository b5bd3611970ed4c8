//! Search for pages and sites by URL, name, or part of one.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{FoundPage, FoundSite, SearchResult};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::api::{Query as _, SearchQuery, StateFilter};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of sites, and of pages, on the page; JSON has 20 by default.
const ROWS: u32 = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    #[serde(default)]
    q: String,
    /// Shows only pages in this state.
    #[serde(default)]
    state: StateFilter,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "search.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    state: StateFilter,
    /// The result; `None` if there was no text to search for.
    found: Option<SearchResult>,
    pages: Table,
    sites: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let (text, state) = (params.q, params.state);
    let found = if text.trim().is_empty() {
        None
    } else {
        let query = SearchQuery {
            q: text.clone(),
            state,
            limit: ROWS,
        };
        Some(query.answer(context)?)
    };
    let only = Some(state.name()).filter(|_| state != StateFilter::Any);
    let address = Address::new("/search")
        .with("q", &text)
        .with_some("state", only);
    let pages = page_table(found.as_ref()).with_files(&address, &address.in_api());
    let sites = site_table(found.as_ref()).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[pages, sites], params.table.as_ref(), "search");
    }
    let json = found
        .as_ref()
        .map(|_| ("The first results as JSON", address.in_api()));
    let mut layout = Layout::with_json(context, json);
    layout.query = text;
    Answer::page(&Page {
        layout,
        state,
        found,
        pages,
        sites,
    })
}

impl Page<'_> {
    /// Returns the address of the same search for pages in a state.
    fn in_state(&self, state: StateFilter) -> Address {
        let only = Some(state.name()).filter(|_| state != StateFilter::Any);
        Address::new("/search")
            .with("q", &self.layout.query)
            .with_some("state", only)
    }
}

fn page_table(found: Option<&SearchResult>) -> Table {
    let pages = found.map_or(&[][..], |found| &found.pages);
    let row = |page: &FoundPage| {
        vec![
            Cell::Page(page.url.clone()),
            Cell::text(state_name(page.state)).tagged("lost", page.spam.then_some("spam")),
        ]
    };
    let columns = vec![Column::text("page", "Page"), Column::text("state", "State")];
    Table::new("pages", "Pages", columns, pages.iter().map(row).collect())
}

fn site_table(found: Option<&SearchResult>) -> Table {
    let sites = found.map_or(&[][..], |found| &found.sites);
    let row = |site: &FoundSite| {
        vec![
            Cell::Site(site.site.clone()),
            Cell::Count(site.crawled.into()),
            Cell::Count(site.known.into()),
        ]
    };
    let columns = vec![
        Column::text("site", "Site"),
        Column::number("crawled", "Crawled pages"),
        Column::number("known", "Known pages"),
    ];
    Table::new("sites", "Sites", columns, sites.iter().map(row).collect())
}
