//! Picks by learned values: chooses the fetch cost by a crawl.
//!
//! The values of pages are the new links that their next fetch is expected to bring. Without a
//! budget a fetch costs half of the mean value. With one, the list is selected at several multiples
//! of the mean, and at a cost that leaves all places to the values of candidates; the list whose
//! crawl within the budget fetches the most value is taken, the first of equals. This takes no
//! held-out pages, since values come from past fetches.

use super::super::limits::MAX_PRICE;
use super::super::value::{UNIT, Value};
use super::crawl::{Crawler, result_of_all};
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
    let mean = mean_value(graph)?;
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
    let mut crawler = Crawler::new(graph);
    let mut page_visits = lists.iter().map(|of| of.cover.page_visits).sum();
    let (mut best, mut most) = (0, i64::MIN);
    for (at, selected) in lists.iter().enumerate() {
        let picks = &selected.cover.picks;
        let seeds: Vec<u32> = picks.iter().map(|pick| pick.seed.page).collect();
        let mut worths = Vec::new();
        for limits in choice.crawl.limits() {
            let worth = crawler.crawl(limits, &seeds, budget)?.worth(graph)?;
            worths.extend(graph.group().sum([worth])?);
        }
        let worth = result_of_all(&worths);
        if worth > most {
            (best, most) = (at, worth);
        }
    }
    page_visits += graph.group().total([crawler.visits])?[0];
    let mut selected = lists.swap_remove(best);
    selected.cover.page_visits = page_visits;
    Ok(selected)
}

/// Returns the mean value of the pages that have a value or a link.
fn mean_value(graph: &WebGraph) -> Result<i64, Interrupted> {
    let has_source = |page: u32| !graph.predecessors().list(page).is_empty();
    let mut is_counted: Vec<bool> = (0..)
        .zip(graph.values())
        .map(|(page, value)| {
            *value != 0 || !graph.successors().list(page).is_empty() || has_source(page)
        })
        .collect();
    if let Some(share) = graph.share() {
        let ghosts = (0..share.ghosts()).filter(|ghost| has_source(graph.pages() + ghost));
        for page in share.tell_owners(ghosts)? {
            is_counted[page as usize] = true;
        }
    }
    let counted = graph.values().iter().zip(is_counted).filter(|of| of.1);
    let (mut sum, mut count) = (0_i64, 0);
    for (value, _) in counted {
        sum += value;
        count += 1;
    }
    // No sum of values overflows.
    let [sum, count] = graph.group().sum([sum, count])?;
    Ok(sum / count.max(1))
}

#[cfg(test)]
#[path = "learned_tests.rs"]
mod tests;
