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
pub(crate) fn no_rows(error: GraphError, pages: &[PageId]) -> EngineError {
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
pub(crate) const fn no_whole(error: GraphError) -> EngineError {
    EngineError::Internal(match error {
        GraphError::TwoRows(_) => "a page of the whole graph has two rows",
        GraphError::TooLarge => "a link of the whole graph has no page",
        GraphError::Unsorted => "the pages of the whole graph are out of order",
    })
}

/// Converts an error about the pages and links of a site.
pub(crate) fn no_site(error: SiteGraphError, site: &str) -> EngineError {
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
pub(crate) fn no_web(error: SiteGraphError) -> EngineError {
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
    use super::super::{Failure, Hint};
    use super::*;
    use seedbank_algorithms::page::SiteId;
    use seedbank_store::StoreHint;

    #[test]
    fn a_graph_that_is_none_is_never_wrong_usage() {
        let pages = [PageId::new(SiteId(7), 3), PageId::new(SiteId(1), 4)];
        let damaged = no_rows(GraphError::TwoRows(1), &pages);
        assert_eq!(damaged.failure(), Failure::Unavailable);
        assert_eq!(damaged.hint(), Some(Hint::Store(StoreHint::CheckAndRepair)));
        assert_eq!(
            damaged.to_string(),
            "damaged bank: table row_members, key of page 1.4: the page has two rows"
        );
        let full = no_rows(GraphError::TooLarge, &pages);
        assert_eq!(full.hint(), Some(Hint::Store(StoreHint::SeveralBanks)));
        let contradictions = [
            no_rows(GraphError::TwoRows(2), &pages),
            no_rows(GraphError::Unsorted, &pages),
            no_whole(GraphError::TwoRows(0)),
            no_whole(GraphError::TooLarge),
            no_whole(GraphError::Unsorted),
            no_site(
                SiteGraphError::NoSuchPage { page: 1, pages: 1 },
                "a.example",
            ),
        ];
        for error in &contradictions {
            assert!(matches!(error, EngineError::Internal(_)), "{error}");
        }
        let full = [full, no_site(SiteGraphError::TooManyPages(9), "a.example")];
        for error in contradictions.into_iter().chain(full) {
            assert_eq!(error.failure(), Failure::Failed, "{error}");
            assert!(!error.to_string().contains("sort"), "{error}");
        }
    }

    #[test]
    fn values_that_a_plan_makes_too_large_are_the_plan_s() {
        let error = no_site(SiteGraphError::ValuesTooLarge, "a.example");
        assert_eq!(error.failure(), Failure::Usage);
        assert_eq!(error.hint(), Some(Hint::SmallerValues));
        assert_eq!(error.to_string(), "site a.example");
    }
}
