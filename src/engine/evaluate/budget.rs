//! Results of several lists for the same budget.

use super::answers::{BudgetEvaluation, BudgetRequest, BudgetRow, Claim, ListView, SeedList};
use super::methods::{ListCrawl, crawl_lists};
use super::seed_lists::{find, resolve, state};

use crate::engine::error::ExperimentError;
use crate::engine::plan::Crawls;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, PlanOptions};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::statistics::{geometric_mean, mean_count};
use seedbank_algorithms::watch::Watch;

/// See [`Bank::evaluate_budget`].
pub(super) fn run(
    bank: &Bank,
    request: &BudgetRequest,
    watch: &dyn Watch,
) -> Result<BudgetEvaluation, EngineError> {
    let Some(first) = request.lists.first().filter(|_| request.pages > 0) else {
        return Err(ExperimentError::NoBudget.into());
    };
    let views = Views::open(bank)?;
    // Fail before the slow loading of the graph.
    for list in &request.lists {
        find(&views, list)?;
    }
    let crawl = match request.crawl {
        Some(crawl) => crawl,
        None => crawls_of(&views, first)?,
    };
    let lists: Result<Vec<(ListView, Vec<PageId>)>, EngineError> = request
        .lists
        .iter()
        .map(|list| resolve(&views, list, watch))
        .collect();
    let (lists, pages): (Vec<ListView>, Vec<Vec<PageId>>) = lists?.into_iter().unzip();
    let found = crawl_lists(&views, &pages, crawl, request.pages, watch)?;
    let rows = lists.into_iter().zip(found);
    let rows: Vec<BudgetRow> = rows.map(|(list, crawls)| row(list, &crawls)).collect();
    Ok(BudgetEvaluation {
        state: state(&views.reader)?,
        budget: request.pages,
        crawl,
        claims: claims(&rows),
        lists: rows,
    })
}

/// Returns the crawls of the plan of a list; breadth-first for a list without one.
fn crawls_of(views: &Views, list: &SeedList) -> Result<Crawls, EngineError> {
    match list {
        SeedList::Refresh(which) | SeedList::Succeeded(which) => {
            let (_, record) = views.find(which)?;
            let plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
            Ok(plan.crawls())
        }
        SeedList::Urls { .. } => Ok(Crawls::default()),
    }
}

/// Returns the means of several crawls from one list.
fn row(list: ListView, crawls: &[ListCrawl]) -> BudgetRow {
    let count = |number: fn(&ListCrawl) -> u64| {
        let numbers: Vec<u64> = crawls.iter().map(number).collect();
        mean_count(&numbers)
    };
    let mean = |number: fn(&ListCrawl) -> f64, one: f64| {
        if let [single] = crawls {
            return number(single);
        }
        let numbers: Vec<f64> = crawls.iter().map(|of| number(of).max(0.0)).collect();
        geometric_mean(&numbers, one)
    };
    BudgetRow {
        list,
        pages: count(|of| of.pages),
        crawled: count(|of| of.crawled),
        contents: count(|of| of.contents),
        depth: crawls.iter().filter_map(|of| of.depth).max(),
        value: mean(|of| of.value, 1.0),
        clicks: count(|of| of.clicks),
        clicked_pages: count(|of| of.clicked_pages),
        spam: count(|of| of.spam),
        pagerank: mean(|of| of.pagerank, 0.0),
    }
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
