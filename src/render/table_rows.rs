//! Quotas and cores as rows of tables.

use crate::engine::query::{CoreView, SiteQuota};
use seedbank_formats::parquet_writer::{Cell, Column, ColumnType, TableRow};

impl TableRow for SiteQuota {
    const COLUMNS: &'static [Column] = &[
        Column::new("site", ColumnType::Text),
        Column::new("quota", ColumnType::Integer),
        Column::new("pages", ColumnType::Integer),
        Column::new("crawled", ColumnType::Integer),
        Column::new("uncrawled", ColumnType::Integer),
        Column::new("share", ColumnType::Float),
        Column::new("limit", ColumnType::Integer),
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            self.site.as_str().into(),
            self.quota.into(),
            self.pages.into(),
            self.crawled.into(),
            self.uncrawled.into(),
            self.share.into(),
            self.limit.into(),
        ]
    }
}

/// A page of a core, as a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct CorePage<'a> {
    /// The core.
    pub core: &'a CoreView,
    /// `hub` or `authority`. A page that is both has two rows.
    pub side: &'static str,
    /// URL of the page.
    pub url: &'a str,
    /// Score of the page on this side.
    pub score: f64,
}

impl<'a> CorePage<'a> {
    /// Returns the pages of a core: its hubs, and then its authorities.
    pub fn all(core: &'a CoreView) -> impl Iterator<Item = Self> {
        let sides = [
            ("hub", &core.hubs, &core.hub_scores),
            ("authority", &core.authorities, &core.authority_scores),
        ];
        sides.into_iter().flat_map(move |(side, pages, scores)| {
            let pages = pages.iter().zip(scores);
            pages.map(move |(url, &score)| Self {
                core,
                side,
                url,
                score,
            })
        })
    }
}

impl TableRow for CorePage<'_> {
    const COLUMNS: &'static [Column] = &[
        Column::new("core", ColumnType::Integer),
        Column::new("side", ColumnType::RepeatedText),
        Column::new("url", ColumnType::Text),
        Column::new("score", ColumnType::Float),
        Column::new("sigma", ColumnType::Float),
        Column::new("density", ColumnType::Float),
        Column::new("seed", ColumnType::RepeatedText),
        Column::new("gives_seed", ColumnType::Boolean),
        Column::new("refresh", ColumnType::Integer),
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            self.core.rank.into(),
            self.side.into(),
            self.url.into(),
            self.score.into(),
            self.core.sigma.into(),
            self.core.density.into(),
            self.core.seed.as_str().into(),
            self.core.gives_seed.into(),
            self.core.refresh.into(),
        ]
    }
}
