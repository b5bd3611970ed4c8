//! The best plan, whether it exceeds every baseline, and where it does not.

use std::cmp::Ordering;
use std::fmt::Write;

use super::answers::{ComparedList, GatheredView, ListKind, Recommended};
use crate::engine::evaluate::answers::Claim;
use crate::engine::plan::{Measure, PlanOptions};
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::display::{counted, thousands};

/// Maximum number of differences named in a claim.
const NAMED: usize = 4;

/// Numbers of seeds and fetches.
type Cell = (u32, u64);

/// Returns the result that decides: with pages held out if there is one, otherwise with everything
/// known.
fn basis(list: &ComparedList) -> &GatheredView {
    &list.held_out.as_ref().unwrap_or(&list.known).all
}

fn cell(list: &ComparedList) -> Cell {
    (list.seeds, list.budget)
}

fn cells(lists: &[ComparedList]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = lists.iter().map(cell).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Returns the list with the greatest figure, the first of equals.
fn best<'a>(
    lists: impl Iterator<Item = &'a ComparedList>,
    measure: Measure,
) -> Option<&'a ComparedList> {
    let value = |list: &ComparedList| basis(list).by(measure).mean;
    lists.fold(None, |best: Option<&ComparedList>, list| match best {
        Some(best) if value(list).total_cmp(&value(best)) != Ordering::Greater => Some(best),
        _ => Some(list),
    })
}

/// Returns the plan with the highest total share of the best figure, over all numbers of seeds and
/// fetches.
fn best_plan(lists: &[ComparedList], measure: Measure) -> Option<&str> {
    let mut names: Vec<&str> = Vec::new();
    for list in lists.iter().filter(|list| list.kind != ListKind::Baseline) {
        if !names.contains(&list.list.as_str()) {
            names.push(&list.list);
        }
    }
    let cells = cells(lists);
    let share = |name: &str| -> f64 {
        let of_cell = |&at: &Cell| {
            let here = || lists.iter().filter(|list| cell(list) == at);
            let most = basis(best(here(), measure)?).by(measure).mean;
            let own = here().find(|list| list.list == name)?;
            (most > 0.0).then(|| basis(own).by(measure).mean / most)
        };
        cells.iter().filter_map(of_cell).sum()
    };
    let mut found: Option<(&str, f64)> = None;
    for name in names {
        let share = share(name);
        if found.is_none_or(|(_, best)| share > best) {
            found = Some((name, share));
        }
    }
    found.map(|(name, _)| name)
}

/// Returns the plan with the greatest figure for each number of seeds and fetches.
pub(super) fn recommended(lists: &[ComparedList], measure: Measure) -> Vec<Recommended> {
    let of_cell = |at: Cell| {
        let plans = lists
            .iter()
            .filter(|list| cell(list) == at && list.parameters.is_some());
        let best = best(plans, measure).filter(|best| basis(best).by(measure).mean > 0.0)?;
        Some(Recommended {
            seeds: best.seeds,
            budget: best.budget,
            list: best.list.clone(),
            listed: best.listed,
            // A refresh spends more on tuning than this comparison.
            parameters: PlanOptions {
                tune_visits: None,
                ..best.parameters.clone()?
            },
        })
    };
    cells(lists).into_iter().filter_map(of_cell).collect()
}

/// Claims that the evaluated list, or else the best plan, exceeds every baseline.
pub(super) fn claims(
    lists: &[ComparedList],
    measure: Measure,
    subject: Option<&str>,
) -> Vec<Claim> {
    let Some(name) = subject.or_else(|| best_plan(lists, measure)) else {
        return Vec::new();
    };
    let own: Vec<&ComparedList> = lists.iter().filter(|list| list.list == name).collect();
    let above = own.iter().filter(|list| list.above_baselines == Some(true));
    let above = above.count();
    let is_held_out = own.iter().any(|list| list.held_out.is_some());
    let text = format!(
        "{} {}",
        gains(name, &own, above, measure, is_held_out),
        losses(lists, &own)
    );
    vec![Claim {
        claim: "above-every-baseline".to_owned(),
        holds: !own.is_empty() && above == own.len(),
        text,
    }]
}

/// Formats the range of some ratios, such as `0.98 to 1.32 times`; `None` without any.
fn range(times: impl Iterator<Item = Option<Estimate>>) -> Option<String> {
    let times: Vec<f64> = times.flatten().map(|times| times.mean).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if times.is_empty() {
        None
    } else if (most - least).abs() < 0.005 {
        Some(format!("{least:.2} times"))
    } else {
        Some(format!("{least:.2} to {most:.2} times"))
    }
}

fn gains(
    name: &str,
    own: &[&ComparedList],
    above: usize,
    measure: Measure,
    is_held_out: bool,
) -> String {
    let how = if is_held_out {
        "selected without the pages held out"
    } else {
        "selected with everything known"
    };
    let what = match measure {
        Measure::Crawled => "the crawled pages",
        Measure::Discovered => "the pages seen for the first time",
        Measure::Pagerank => "the PageRank",
    };
    let figure = match range(own.iter().map(|list| list.times_best_baseline)) {
        Some(times) => format!("{times} {what} of the best baseline"),
        None => format!("{what} of the best baseline in no measurable ratio"),
    };
    let value = range(own.iter().map(|list| list.times_best_value));
    let value = value.map_or_else(String::new, |times| format!(", and {times} the best value"));
    let certain = if own.iter().any(|list| list.above_baselines.is_some()) {
        format!(
            "; more than every baseline by over two standard errors in {above} of {} cases",
            own.len()
        )
    } else {
        String::new()
    };
    format!("Per page fetched, {how}, {name} gathers {figure}{value}{certain}.")
}

/// Lists the figures in which baselines exceed the plan, the largest differences first.
fn losses(lists: &[ComparedList], own: &[&ComparedList]) -> String {
    type Figure = (&'static str, fn(&GatheredView) -> Estimate);
    // With "fewer" or "less".
    let figures: [Figure; 5] = [
        ("fewer crawled pages", |found| found.crawled),
        ("fewer newly found pages", |found| found.new_pages),
        ("fewer pages seen for the first time", |found| {
            found.discovered
        }),
        ("less PageRank", |found| found.pagerank),
        ("less value", |found| found.value),
    ];
    let mut found: Vec<(f64, String)> = Vec::new();
    for list in own {
        for (what, figure) in figures {
            let own = figure(basis(list)).mean;
            let baselines = lists
                .iter()
                .filter(|other| other.kind == ListKind::Baseline && cell(other) == cell(list));
            let best = baselines.max_by(|a, b| {
                let (a, b) = (figure(basis(a)).mean, figure(basis(b)).mean);
                a.total_cmp(&b)
            });
            let Some(best) = best else { continue };
            let most = figure(basis(best)).mean;
            if most > own && most > 0.0 {
                let fetches = if list.budget == 1 { "fetch" } else { "fetches" };
                let text = format!(
                    "{what} with {} at {} {fetches} ({:.2} times that of {})",
                    counted(list.seeds, "seed"),
                    thousands(list.budget),
                    own / most,
                    best.list
                );
                found.push((own / most, text));
            }
        }
    }
    if found.is_empty() {
        return "No baseline gathers more crawled pages, newly found pages, pages seen for the first time, PageRank or value."
            .to_owned();
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let named: Vec<&str> = found
        .iter()
        .take(NAMED)
        .map(|loss| loss.1.as_str())
        .collect();
    let mut text = format!("It gathers {}", named.join("; "));
    if found.len() > NAMED {
        // Writing to a String cannot fail.
        let _ = write!(text, "; and {} more", found.len() - NAMED);
    }
    text.push('.');
    text
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
