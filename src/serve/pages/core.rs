//! A core: hubs and authorities with their scores, and the links between them.

use askama::Template;
use serde::Deserialize;

use super::core_picture::{Picture, draw};
use super::layout::{Layout, Pager};
use crate::engine::query::views::Views;
use crate::engine::query::{CoreLinks, CoreView};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, integer, optional_integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};
use seedbank_formats::ingest::parse;

/// The hubs or the authorities of a core.
struct Side {
    title: &'static str,
    /// The first [`ROWS`] pages with their scores.
    pages: Table,
    /// Number of pages that are not shown.
    more: usize,
}

/// Maximum number of hubs, and of authorities, on the page.
const ROWS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    #[serde(deserialize_with = "integer")]
    core: u32,
    table: Option<TableName>,
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
    /// The addresses of all pages of the core.
    csv: Address,
    json: Address,
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
    let core = context.bank.core(&of_refresh, params.core)?;
    if media_type == MediaType::Csv {
        let file = format!("core-{number}-{}", core.rank);
        return csv_answer(&[all_pages(&core)], params.table.as_ref(), &file);
    }
    let links = context.bank.core_links(&of_refresh, core.rank)?;
    let naming = Views::open(context.bank)?.naming;
    let site_of = |url: &str| match parse(url, naming) {
        Ok(location) => location.site,
        Err(_) => url.to_owned(),
    };
    let address = address::core(number, core.rank);
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("This core as JSON", address.in_api()),
                (
                    "its links and neighbours",
                    address::core_links(number, core.rank).in_api(),
                ),
            ],
        ),
        csv: address::core(number, core.rank).with("format", "csv"),
        json: address.in_api(),
        refresh,
        picture: draw(&core, &links, &site_of),
        core,
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

    fn sides(&self) -> [Side; 2] {
        let core = &self.core;
        [
            ("Hubs", "Hub score", &core.hubs, &core.hub_scores),
            (
                "Authorities",
                "Authority score",
                &core.authorities,
                &core.authority_scores,
            ),
        ]
        .map(|(title, score, pages, scores)| {
            let rows = (1..).zip(pages.iter().zip(scores)).take(ROWS);
            let rows = rows.map(|(place, (url, score))| {
                vec![
                    Cell::Count(place),
                    Cell::Page(url.clone()),
                    Cell::Number(*score),
                ]
            });
            let columns = vec![
                Column::number("place", "Added as"),
                Column::text("page", "Page"),
                Column::number("score", score),
            ];
            let caption = format!("{title} in the order of selection");
            Side {
                title,
                pages: Table::new("pages", caption, columns, rows.collect()),
                more: pages.len().saturating_sub(ROWS),
            }
        })
    }

    fn neighbours(&self) -> Table {
        let rows = self.links.neighbours.iter().map(|other| {
            vec![
                Cell::Count(other.rank.into()).linked(address::core(self.core.refresh, other.rank)),
                Cell::Count(other.links),
                Cell::Page(other.seed.clone()),
            ]
        });
        let columns = vec![
            Column::number("core", "Core"),
            Column::number("links", "Links"),
            Column::text("seed", "Its seed"),
        ];
        let caption = "Cores that its hubs link to";
        Table::new("neighbours", caption, columns, rows.collect())
    }
}

/// Returns all hubs and authorities of a core.
fn all_pages(core: &CoreView) -> Table {
    let row = |side: &'static str| {
        move |(place, (url, score)): (u64, (&String, &f64))| {
            vec![
                Cell::text(side),
                Cell::Count(place),
                Cell::Page(url.clone()),
                Cell::Number(*score),
            ]
        }
    };
    let hubs = (1..).zip(core.hubs.iter().zip(&core.hub_scores));
    let authorities = (1..).zip(core.authorities.iter().zip(&core.authority_scores));
    let rows = hubs
        .map(row("hub"))
        .chain(authorities.map(row("authority")));
    let columns = vec![
        Column::word("side", "Side"),
        Column::number("place", "Added as"),
        Column::text("page", "Page"),
        Column::number("score", "Score"),
    ];
    Table::new("pages", "", columns, rows.collect())
}
