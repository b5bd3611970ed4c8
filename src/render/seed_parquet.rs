//! Writes seed lists as Parquet files with the columns of CSV.

use std::io;

use crate::engine::query::{ByPolicy, Evidence, Seed};
use seedbank_formats::columns::{Cell, Column, Table};

const COLUMNS: &[Column] = &[
    Column::whole("rank"),
    Column::text("url"),
    Column::name("site"),
    Column::name("method"),
    Column::name("plan"),
    Column::whole("refresh"),
    Column::whole("core"),
    Column::real("sigma"),
    Column::real("hub_score"),
    Column::real("gain"),
    Column::whole("covered_pages"),
    Column::real("covered_value"),
    Column::whole("pick"),
    Column::whole("since"),
    Column::whole("seats"),
    Column::name("by_policy"),
];

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
    let mut table = Table::new(Vec::new(), COLUMNS)?;
    for seed in seeds {
        let mut cells = vec![
            seed.rank.into(),
            seed.url.as_str().into(),
            seed.site.as_str().into(),
            seed.method.name().into(),
            seed.plan.as_str().into(),
            seed.refresh.into(),
        ];
        cells.extend(evidence(&seed.evidence));
        cells.push(by_policy(seed).into());
        table.row(&cells)?;
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
