//! The cores of a refresh, fifty at a time.

use askama::Template;
use serde::Deserialize;

use super::layout::{Layout, Pager, pager};
use super::reasons::seed_reasons;
use crate::engine::query::CoreView;
use crate::engine::refresh::RefreshView;
use crate::html::text::Count;
use crate::serve::address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::api::cores_of;
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, integer, optional_integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of cores on the page. All pages of each are read.
const ROWS: u32 = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    /// Number of cores to skip.
    #[serde(default, deserialize_with = "integer")]
    from: u32,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "cores.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    cores: Table,
    from: u32,
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
    // A file has all cores.
    let (from, rows) = match media_type {
        MediaType::Csv => (0, refresh.cores),
        _ => (params.from, ROWS),
    };
    let cores = cores_of(context, &refresh, from, rows)?;
    let mut table = table_of(&cores);
    if media_type == MediaType::Csv {
        return csv_answer(
            &[table],
            params.table.as_ref(),
            &format!("refresh-{number}"),
        );
    }
    let reasons = seed_reasons(context, number, cores.iter().map(|core| core.seed.as_str()))?;
    for ((row, reason), core) in table.rows.iter_mut().zip(reasons).zip(&cores) {
        let no_seed = || "It gives no seed; this is its best hub.".to_owned();
        row.push(if core.gives_seed {
            reason.map_or(Cell::None, Cell::Text)
        } else {
            Cell::Text(no_seed())
        });
    }
    table.columns.push(Column::text("why", "Why"));
    let address = address::cores(number);
    Answer::page(&Page {
        layout: Layout::with_json(context, [("The first cores as JSON", address.in_api())]),
        refresh,
        cores: table.with_files(&address, &address.in_api()),
        from: params.from,
    })
}

fn table_of(cores: &[CoreView]) -> Table {
    let columns = vec![
        Column::number("core", "Core"),
        Column::text("seed", "Seed, or best hub"),
        Column::number("sigma", "Sigma"),
        Column::number("hubs", "Hubs"),
        Column::number("hub_sites", "Sites of hubs"),
        Column::number("authorities", "Authorities"),
        Column::number("links", "Links"),
        Column::number("density", "Of all possible links, %"),
    ];
    let row = |core: &CoreView| {
        vec![
            Cell::Count(core.rank.into()).linked(address::core(core.refresh, core.rank)),
            Cell::Page(core.seed.clone()),
            Cell::Number(core.sigma),
            Cell::Count(core.hubs.len() as u64),
            Cell::Count(core.hub_sites.into()),
            Cell::Count(core.authorities.len() as u64),
            Cell::Count(core.edges),
            Cell::Number(core.density),
        ]
    };
    let caption = "Cores, the densest first";
    Table::new("cores", caption, columns, cores.iter().map(row).collect())
}

impl Page<'_> {
    fn pager(&self) -> Pager {
        let address = |from| {
            address::cores(self.refresh.refresh).with_some("from", Some(from).filter(|n| *n > 0))
        };
        let total = self.refresh.cores.into();
        pager(self.from.into(), ROWS.into(), total, address)
    }
}
