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
mod tests {
    use super::*;
    use crate::engine::evaluate::methods::ByFetches;

    fn gathered(value: f64, crawled: f64, pagerank: f64) -> ByFetches {
        let number = |mean| Estimate {
            mean,
            standard_error: None,
        };
        let view = GatheredView {
            fetched: number(10.0),
            value: number(value),
            crawled: number(crawled),
            new_pages: number(0.0),
            pagerank: number(pagerank),
        };
        ByFetches {
            all: view,
            of_crawled: view,
        }
    }

    fn list(name: &str, kind: ListKind, budget: u64, found: ByFetches) -> ComparedList {
        let is_plan = kind == ListKind::Plan;
        ComparedList {
            list: name.to_owned(),
            kind,
            parameters: is_plan.then(Default::default),
            seeds: 2,
            listed: 2,
            budget,
            // What is held out decides, not this.
            known: gathered(99.0, 99.0, 0.9),
            held_out: Some(found),
            since: None,
            times_best_baseline: is_plan.then_some(Estimate {
                mean: found.all.value.mean / 4.0,
                standard_error: Some(0.1),
            }),
            above_baselines: is_plan.then_some(found.all.value.mean > 5.0),
        }
    }

    #[test]
    fn the_claim_names_the_best_plan_and_where_baselines_exceed_it() {
        let lists = [
            list("greedy", ListKind::Plan, 1000, gathered(6.0, 6.0, 0.2)),
            list("cores", ListKind::Plan, 1000, gathered(3.0, 3.0, 0.1)),
            list(
                "pagerank",
                ListKind::Baseline,
                1000,
                gathered(4.0, 4.0, 0.4),
            ),
            list("greedy", ListKind::Plan, 90, gathered(4.8, 5.0, 0.5)),
            list("cores", ListKind::Plan, 90, gathered(5.0, 5.0, 0.5)),
            list("pagerank", ListKind::Baseline, 90, gathered(4.0, 4.0, 0.4)),
        ];
        let claim = &claims(&lists, None)[0];
        assert!(!claim.holds);
        assert_eq!(
            claim.text,
            "Per page fetched, selected without the pages held out, greedy gathers 1.20 to 1.50 times \
             the value of the best baseline, more than every baseline by over two standard errors in \
             1 of 2 cases. It gathers less PageRank with 2 seeds at 1,000 fetches (0.50 times that \
             of pagerank)."
        );
        let plans: Vec<(u64, String)> = recommended(&lists)
            .into_iter()
            .map(|plan| (plan.budget, plan.list))
            .collect();
        assert_eq!(
            plans,
            [(90, "cores".to_owned()), (1000, "greedy".to_owned())]
        );
        let cores = &claims(&lists, Some("cores"))[0];
        assert!(
            cores.text.contains("cores gathers 0.75 to 1.25 times"),
            "{cores:?}"
        );
        assert!(
            cores
                .text
                .contains("value with 2 seeds at 1,000 fetches (0.75 times that of pagerank)")
        );
        assert!(claims(&[], None).is_empty());
    }

    #[test]
    fn nothing_is_recommended_that_gathers_nothing() {
        let lists = [
            list("greedy", ListKind::Plan, 10, gathered(-1.0, 3.0, 0.2)),
            list("pagerank", ListKind::Baseline, 10, gathered(-2.0, 3.0, 0.2)),
        ];
        assert!(recommended(&lists).is_empty());
    }
}
