//! The best plan, whether it exceeds every baseline, and where it does not.

use std::cmp::Ordering;
use std::fmt::Write;

use super::answers::{ComparedList, GatheredView, ListKind, Recommended};
use crate::engine::evaluate::answers::Claim;
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

/// Returns the list of most value, the first of equals.
fn best<'a>(lists: impl Iterator<Item = &'a ComparedList>) -> Option<&'a ComparedList> {
    let value = |list: &ComparedList| basis(list).value.mean;
    lists.fold(None, |best: Option<&ComparedList>, list| match best {
        Some(best) if value(list).total_cmp(&value(best)) != Ordering::Greater => Some(best),
        _ => Some(list),
    })
}

/// Returns the plan with the highest total share of the best value, over all numbers of seeds and
/// fetches.
fn best_plan(lists: &[ComparedList]) -> Option<&str> {
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
            let most = basis(best(here())?).value.mean;
            let own = here().find(|list| list.list == name)?;
            (most > 0.0).then(|| basis(own).value.mean / most)
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

/// Returns the plan of most value for each number of seeds and fetches.
pub(super) fn recommended(lists: &[ComparedList]) -> Vec<Recommended> {
    let of_cell = |at: Cell| {
        let plans = lists
            .iter()
            .filter(|list| cell(list) == at && list.parameters.is_some());
        let best = best(plans).filter(|best| basis(best).value.mean > 0.0)?;
        Some(Recommended {
            seeds: best.seeds,
            budget: best.budget,
            list: best.list.clone(),
            parameters: best.parameters.clone()?,
        })
    };
    cells(lists).into_iter().filter_map(of_cell).collect()
}

/// Claims that the evaluated list, or else the best plan, gathers more value than every baseline.
pub(super) fn claims(lists: &[ComparedList], subject: Option<&str>) -> Vec<Claim> {
    let Some(name) = subject.or_else(|| best_plan(lists)) else {
        return Vec::new();
    };
    let own: Vec<&ComparedList> = lists.iter().filter(|list| list.list == name).collect();
    let above = own.iter().filter(|list| list.above_baselines == Some(true));
    let above = above.count();
    let is_held_out = own.iter().any(|list| list.held_out.is_some());
    let text = format!(
        "{} {}",
        gains(name, &own, above, is_held_out),
        losses(lists, &own)
    );
    vec![Claim {
        claim: "above-every-baseline".to_owned(),
        holds: !own.is_empty() && above == own.len(),
        text,
    }]
}

fn gains(name: &str, own: &[&ComparedList], above: usize, is_held_out: bool) -> String {
    let times: Vec<f64> = own
        .iter()
        .filter_map(|list| Some(list.times_best_baseline?.mean))
        .collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let how = if is_held_out {
        "selected without the pages held out"
    } else {
        "selected with everything known"
    };
    let range = if times.is_empty() {
        "no value that can be compared with that of the baselines".to_owned()
    } else if (most - least).abs() < 0.005 {
        format!("{least:.2} times the value of the best baseline")
    } else {
        format!("{least:.2} to {most:.2} times the value of the best baseline")
    };
    let certain = if own.iter().any(|list| list.above_baselines.is_some()) {
        format!(
            ", more than every baseline by over two standard errors in {above} of {} cases",
            own.len()
        )
    } else {
        String::new()
    };
    format!("Per page fetched, {how}, {name} gathers {range}{certain}.")
}

/// Lists the figures in which baselines exceed the plan, the largest differences first.
fn losses(lists: &[ComparedList], own: &[&ComparedList]) -> String {
    type Figure = (&'static str, fn(&GatheredView) -> Estimate);
    let figures: [Figure; 4] = [
        ("value", |found| found.value),
        ("crawled pages", |found| found.crawled),
        ("newly found pages", |found| found.new_pages),
        ("PageRank", |found| found.pagerank),
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
        return "No baseline gathers more value, crawled pages, newly found pages or PageRank."
            .to_owned();
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let named: Vec<&str> = found
        .iter()
        .take(NAMED)
        .map(|loss| loss.1.as_str())
        .collect();
    let mut text = format!("It gathers less {}", named.join("; less "));
    if found.len() > NAMED {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "; and less in {} more comparisons",
            found.len() - NAMED
        );
    }
    text.push('.');
    text
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
