//! Picks by learned values: chooses the fetch cost by a crawl.
//!
//! The values of pages are the new links that their next fetch is expected to bring. Without a
//! budget a fetch costs half of the mean value. With one, the list is selected at several multiples
//! of the mean, and at a cost that leaves all places to the values of candidates; the list whose
//! crawl within the budget fetches the most value is taken, the first of equals. This takes no
//! held-out pages, since values come from past fetches.

use super::super::limits::MAX_PRICE;
use super::super::value::{UNIT, Value};
use super::crawl::Crawler;
use super::graph::WebGraph;
use super::params::WebChoice;
use super::{WebSelection, select};
use crate::watch::{Interrupted, Watch};

/// Fetch costs to try, in halves of the mean value of a page; without a budget, only the first one.
const HALVES: [i64; 4] = [1, 4, 16, 64];

/// Selects seeds by learned values.
pub(super) fn select_learned(
    graph: &mut WebGraph,
    choice: &WebChoice,
    watch: &dyn Watch,
) -> Result<WebSelection, Interrupted> {
    let mean = mean_value(graph);
    let highest = MAX_PRICE * UNIT;
    let cost = |halves: i64| (mean.saturating_mul(halves) / 2).clamp(0, highest);
    let mut at_cost = |cost: i64| {
        let choice = WebChoice {
            fetch_cost: Some(Value(cost)),
            ..*choice
        };
        select(graph, &choice, &[], watch)
    };
    let Some(budget) = choice.budget else {
        return at_cost(cost(HALVES[0]));
    };
    let first = at_cost(cost(HALVES[0]))?;
    let mut lists = vec![first];
    for cost in HALVES[1..]
        .iter()
        .map(|halves| cost(*halves))
        .chain([highest])
    {
        // Equal costs give equal lists.
        if lists.iter().all(|of| of.setting.fetch_cost.0 != cost) {
            lists.push(at_cost(cost)?);
        }
    }
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    let mut crawler = Crawler::new(graph);
    let mut page_visits = lists.iter().map(|of| of.cover.page_visits).sum();
    let (mut best, mut most) = (0, i64::MIN);
    for (at, selected) in lists.iter().enumerate() {
        let picks = &selected.cover.picks;
        let seeds: Vec<u32> = selected
            .order
            .iter()
            .map(|at| picks[*at].seed.page)
            .collect();
        let worth = crawler.crawl(&seeds, budget).worth(graph);
        if worth > most {
            (best, most) = (at, worth);
        }
    }
    page_visits += crawler.visits;
    let mut selected = lists.swap_remove(best);
    selected.cover.page_visits = page_visits;
    Ok(selected)
}

/// Returns the mean value of the pages that have a value or a link.
fn mean_value(graph: &WebGraph) -> i64 {
    let values = (0..).zip(graph.values());
    let counted = values.filter(|(page, value)| {
        let has_links = !graph.successors().list(*page).is_empty()
            || !graph.predecessors().list(*page).is_empty();
        **value != 0 || has_links
    });
    let (mut sum, mut count) = (0_i128, 0_i128);
    for (_, value) in counted {
        sum += i128::from(*value);
        count += 1;
    }
    i64::try_from(sum / count.max(1)).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "learned_tests.rs"]
mod tests;
