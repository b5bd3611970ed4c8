//! Converts errors about invalid graphs to errors of the engine.
//!
//! An invalid graph is never the caller's fault: the store returns sorted and checked lists, and the
//! engine numbers their pages. If two records contradict each other about a page, the bank is damaged;
//! anything else is an internal error.

use super::EngineError;
use super::plan::PlanError;
use seedbank_algorithms::cover::SiteGraphError;
use seedbank_algorithms::graph::GraphError;
use seedbank_algorithms::page::PageId;
use seedbank_store::{StoreError, tables};

/// Converts an error about the rows of inter-site links; `pages` maps row numbers to pages.
pub(crate) fn rows_error(error: GraphError, pages: &[PageId]) -> EngineError {
    match error {
        GraphError::TwoRows(number) => match pages.get(number as usize) {
            Some(page) => EngineError::Store(StoreError::Damaged {
                table: tables::ROW_MEMBERS.name,
                key: format!("of {page}"),
                what: "the page has two rows".to_owned(),
            }),
            None => EngineError::Internal("a page with two rows has no number"),
        },
        GraphError::TooLarge => EngineError::Store(StoreError::Full("row to rank")),
        GraphError::Unsorted => EngineError::Internal("the pages of a row are out of order"),
    }
}

/// Converts an error about the links of the whole web.
pub(crate) const fn whole_graph_error(error: GraphError) -> EngineError {
    EngineError::Internal(match error {
        GraphError::TwoRows(_) => "a page of the whole graph has two rows",
        GraphError::TooLarge => "a link of the whole graph has no page",
        GraphError::Unsorted => "the pages of the whole graph are out of order",
    })
}

/// Converts an error about the pages and links of a site.
pub(crate) fn site_graph_error(error: SiteGraphError, site: &str) -> EngineError {
    match error {
        SiteGraphError::ValuesTooLarge => EngineError::Plan(PlanError::Values {
            site: site.to_owned(),
            source: error,
        }),
        SiteGraphError::TooManyPages(_) => EngineError::Store(StoreError::Full("page of a site")),
        SiteGraphError::NoSuchPage { .. } => EngineError::Internal("a link of a site has no page"),
    }
}

/// Converts an error about the pages and links of the whole web in a plan over the web.
pub(crate) fn web_graph_error(error: SiteGraphError) -> EngineError {
    match error {
        SiteGraphError::ValuesTooLarge => EngineError::Plan(PlanError::WebValues(error)),
        SiteGraphError::TooManyPages(_) => EngineError::Store(StoreError::Full("page to rank")),
        SiteGraphError::NoSuchPage { .. } => {
            EngineError::Internal("a link of the whole web has no page")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ErrorKind, Hint};
    use super::*;
    use seedbank_algorithms::page::SiteId;
    use seedbank_store::StoreHint;

    #[test]
    fn a_graph_that_is_none_is_never_wrong_usage() {
        let pages = [PageId::new(SiteId(7), 3), PageId::new(SiteId(1), 4)];
        let damaged = rows_error(GraphError::TwoRows(1), &pages);
        assert_eq!(damaged.kind(), ErrorKind::Unavailable);
        assert_eq!(damaged.hint(), Some(Hint::Store(StoreHint::CheckAndRepair)));
        assert_eq!(
            damaged.to_string(),
            "damaged bank: table row_members, key of page 1.4: the page has two rows"
        );
        let full = rows_error(GraphError::TooLarge, &pages);
        assert_eq!(full.hint(), Some(Hint::Store(StoreHint::SeveralBanks)));
        let contradictions = [
            rows_error(GraphError::TwoRows(2), &pages),
            rows_error(GraphError::Unsorted, &pages),
            whole_graph_error(GraphError::TwoRows(0)),
            whole_graph_error(GraphError::TooLarge),
            whole_graph_error(GraphError::Unsorted),
            site_graph_error(
                SiteGraphError::NoSuchPage { page: 1, pages: 1 },
                "a.example",
            ),
        ];
        for error in &contradictions {
            assert!(matches!(error, EngineError::Internal(_)), "{error}");
        }
        let full = [
            full,
            site_graph_error(SiteGraphError::TooManyPages(9), "a.example"),
        ];
        for error in contradictions.into_iter().chain(full) {
            assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
            assert!(!error.to_string().contains("sort"), "{error}");
        }
    }

    #[test]
    fn values_that_a_plan_makes_too_large_are_the_plan_s() {
        let error = site_graph_error(SiteGraphError::ValuesTooLarge, "a.example");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(error.hint(), Some(Hint::SmallerValues));
        assert_eq!(error.to_string(), "site a.example");
    }
}
