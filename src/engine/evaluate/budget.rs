//! Results of several lists for the same budget.

use super::answers::{BudgetEvaluation, BudgetRequest, BudgetRow, Claim};
use super::seed_lists::{CurrentState, Needed, find, resolve};

use crate::engine::error::ExperimentError;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::evaluate::crawl::crawl_within_budget;
use seedbank_algorithms::watch::Watch;

/// See [`Bank::evaluate_budget`].
pub(super) fn run(
    bank: &Bank,
    request: &BudgetRequest,
    watch: &dyn Watch,
) -> Result<BudgetEvaluation, EngineError> {
    if request.lists.is_empty() || request.pages == 0 {
        return Err(ExperimentError::NoBudget.into());
    }
    let views = Views::open(bank)?;
    // Fail before the slow loading of the graph.
    for list in &request.lists {
        find(&views, list)?;
    }
    let current = CurrentState::load(views, Needed::Worth, watch)?;
    let lists: Result<Vec<_>, EngineError> = request
        .lists
        .iter()
        .map(|list| resolve(&current, list, watch))
        .collect();
    let lists = lists?;
    let pages = current.numbers.pages();
    watch.stage("crawl", Some(lists.len() as u64));
    let mut rows = Vec::with_capacity(lists.len());
    for (list, seeds) in lists {
        // The last depth may exceed the budget: its pages are taken in URL order.
        let in_url_order = |level: &[u32], count: usize| -> Result<Vec<u32>, EngineError> {
            let mut named = Vec::with_capacity(level.len());
            for (at, &page) in level.iter().enumerate() {
                if at.is_multiple_of(1 << 12) {
                    watch.proceed()?;
                }
                named.push((current.url(pages[page as usize])?, page));
            }
            named.sort_unstable();
            Ok(named.into_iter().take(count).map(|page| page.1).collect())
        };
        let (web, worth) = (&current.web, &current.worth);
        let spent = crawl_within_budget(web, worth, &seeds, request.pages, watch, in_url_order)?;
        watch.advance(1);
        rows.push(BudgetRow {
            list,
            pages: spent.tally.pages,
            crawled: spent.tally.crawled,
            depth: spent.depth,
            value: spent.tally.units(),
            clicks: spent.tally.clicks,
            clicked_pages: spent.tally.clicked_pages,
            spam: spent.tally.spam,
            pagerank: spent.tally.pagerank,
        });
    }
    Ok(BudgetEvaluation {
        state: current.state,
        budget: request.pages,
        claims: claims(&rows),
        lists: rows,
    })
}

/// Names the list with the most value and PageRank, the first of equals.
fn claims(rows: &[BudgetRow]) -> Vec<Claim> {
    let best = |of: &dyn Fn(&BudgetRow) -> f64| {
        let mut best: Option<&BudgetRow> = None;
        for row in rows {
            if best.is_none_or(|best| of(row) > of(best)) {
                best = Some(row);
            }
        }
        best
    };
    let (Some(value), Some(pagerank)) = (best(&|row| row.value), best(&|row| row.pagerank)) else {
        return Vec::new();
    };
    if rows.iter().all(|row| row.list.seeds == 0) {
        return Vec::new();
    }
    let first = rows.first().map(|row| &row.list.name);
    vec![Claim {
        claim: "first-list-is-best".to_owned(),
        holds: first == Some(&value.list.name) && first == Some(&pagerank.list.name),
        text: format!(
            "Most value comes from {} ({:.0}), most PageRank from {} ({:.2} % of the web's).",
            value.list.name,
            value.value,
            pagerank.list.name,
            100.0 * pagerank.pagerank
        ),
    }]
}
