//! The pages that link to a page or that it links to, a hundred at a time.

use askama::Template;
use serde::Deserialize;

use super::layout::{Layout, Pager, pager};
use crate::engine::query::{LinkDirection, LinkedPages, LinkedRequest};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};
use seedbank_formats::display::readable;

/// Maximum number of pages in a CSV file.
const FILE_ROWS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    of: LinkDirection,
    site: Option<String>,
    #[serde(default, deserialize_with = "integer")]
    from: u64,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "links.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    linked: LinkedPages,
    pages: Table,
    /// Maximum number of rows on the page.
    rows: u64,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let mut request = LinkedRequest {
        direction: params.of,
        site: params.site,
        offset: params.from,
        ..LinkedRequest::default()
    };
    let rows = request.limit as u64;
    if media_type == MediaType::Csv {
        request.limit = FILE_ROWS;
    }
    let linked = context.bank.linked(&params.url, &request)?;
    let direction = linked.direction.name();
    if media_type == MediaType::Csv {
        let file = format!("links-{direction}");
        return csv_answer(&[table_of(&linked)], params.table.as_ref(), &file);
    }
    let address = |from| address::links(&linked.url, direction, linked.site.as_deref(), from);
    let json = address::links_in_api(
        &linked.url,
        direction,
        linked.site.as_deref(),
        linked.offset,
    );
    let pages = table_of(&linked).with_files(&address(0), &json);
    Answer::page(&Page {
        layout: Layout::new(context, json),
        linked,
        pages,
        rows,
    })
}

fn table_of(linked: &LinkedPages) -> Table {
    let rows = linked.linked.iter().map(|page| {
        vec![
            Cell::Page(page.url.clone()),
            Cell::Site(page.site.clone()),
            Cell::text(state_name(page.state)).tagged("lost", page.spam.then_some("spam")),
            Cell::Plans(page.seed_of.clone()),
        ]
    });
    let columns = vec![
        Column::text("page", "Page"),
        Column::text("site", "Site"),
        Column::text("state", "State"),
        Column::text("seed_of", "Seed of plan"),
    ];
    Table::new("pages", "Linked pages", columns, rows.collect())
}

impl Page<'_> {
    fn title(&self) -> &'static str {
        match self.linked.direction {
            LinkDirection::In => "Links to",
            LinkDirection::Out => "Links from",
        }
    }

    /// Returns the first and the last shown number; `None` if all pages are shown.
    fn range(&self) -> Option<String> {
        let linked = &self.linked;
        let shown = linked.linked.len() as u64;
        let first = linked.offset.saturating_add(1).whole();
        let last = linked.offset.saturating_add(shown).whole();
        (shown > 0 && shown < linked.pages).then(|| format!("{first} to {last}"))
    }

    /// Returns the address of the list without the first `from` pages.
    fn address(&self, from: u64) -> Address {
        let linked = &self.linked;
        let site = linked.site.as_deref();
        address::links(&linked.url, linked.direction.name(), site, from)
    }

    fn pager(&self) -> Pager {
        let linked = &self.linked;
        pager(linked.offset, self.rows, linked.pages, |from| {
            self.address(from)
        })
    }
}
