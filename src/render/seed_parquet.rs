//! Seed lists as tables with the columns of CSV, and as Parquet files.

use std::io;

use crate::engine::query::{ByPolicy, Evidence, Seed};
use seedbank_formats::parquet_writer::{Cell, Column, ColumnType, Table, TableRow};

impl TableRow for Seed {
    const COLUMNS: &'static [Column] = &[
        Column::new("rank", ColumnType::Integer),
        Column::new("url", ColumnType::Text),
        Column::new("site", ColumnType::RepeatedText),
        Column::new("method", ColumnType::RepeatedText),
        Column::new("plan", ColumnType::RepeatedText),
        Column::new("refresh", ColumnType::Integer),
        Column::new("core", ColumnType::Integer),
        Column::new("sigma", ColumnType::Float),
        Column::new("hub_score", ColumnType::Float),
        Column::new("gain", ColumnType::Float),
        Column::new("covered_pages", ColumnType::Integer),
        Column::new("covered_value", ColumnType::Float),
        Column::new("pick", ColumnType::Integer),
        Column::new("since", ColumnType::Integer),
        Column::new("seats", ColumnType::Integer),
        Column::new("by_policy", ColumnType::RepeatedText),
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = vec![
            self.rank.into(),
            self.url.as_str().into(),
            self.site.as_str().into(),
            self.method.name().into(),
            self.plan.as_str().into(),
            self.refresh.into(),
        ];
        cells.extend(evidence(&self.evidence));
        cells.push(by_policy(self).into());
        cells
    }
}

/// Returns the policy that put a seed on the list; `None` if the method selected it.
pub(super) const fn by_policy(seed: &Seed) -> Option<&'static str> {
    match seed.by_policy {
        Some(ByPolicy::Pin) => Some("pin"),
        Some(ByPolicy::MaxChanges) => Some("max-changes"),
        None => None,
    }
}

/// Builds the Parquet file in memory.
pub(super) fn to_bytes(seeds: &[Seed]) -> io::Result<Vec<u8>> {
    let mut table = Table::new(Vec::new(), Seed::COLUMNS)?;
    for seed in seeds {
        table.row(&seed.cells())?;
    }
    table.finish()
}

/// Returns the cells of the columns with evidence.
fn evidence(of: &Evidence) -> [Cell<'static>; 9] {
    let mut cells = [Cell::None; 9];
    let [
        core,
        sigma,
        hub_score,
        gain,
        pages,
        value,
        pick,
        since,
        seats,
    ] = &mut cells;
    match of {
        Evidence::Core {
            core: rank,
            sigma: of_core,
            hub_score: score,
        } => {
            *core = (*rank).into();
            *sigma = (*of_core).into();
            *hub_score = (*score).into();
        }
        Evidence::Cover {
            gain: by,
            covered_pages,
            covered_value,
            pick: place,
            since: refresh,
            seats: given,
        } => {
            *gain = (*by).into();
            *pages = (*covered_pages).into();
            *value = (*covered_value).into();
            *pick = (*place).into();
            *since = (*refresh).into();
            *seats = (*given).into();
        }
        Evidence::ByPolicy {} => {}
    }
    cells
}
