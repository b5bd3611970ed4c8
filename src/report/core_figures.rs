//! The figures of the papers on cores: their sizes by iteration, and their distances by difference of iteration.
//!
//! Each iteration extracts one core, so the iteration of a core is its rank.

use super::answers::CoreSummary;

use crate::engine::evaluate::Estimate;
use crate::html::chart::{Frame, Point, Series, lines, log_lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, WithError};

/// The most iterations that the chart of sizes shows.
const MAX_POINTS: usize = 100;

/// Whether a table shows the number: 1, 2, 5, 10, 20, 50 and so on.
const fn is_in_table(mut number: u32) -> bool {
    while number >= 10 && number.is_multiple_of(10) {
        number /= 10;
    }
    matches!(number, 1 | 2 | 5)
}

/// The sizes of hub and authority sets by iteration; `None` with fewer than two cores.
pub(super) fn sizes(cores: &[CoreSummary]) -> Option<Figure> {
    if cores.len() < 2 {
        return None;
    }
    let every = cores.len().div_ceil(MAX_POINTS);
    let series = |name: &str, look, size: fn(&CoreSummary) -> u64| Series {
        name: name.to_owned(),
        look,
        points: cores
            .iter()
            .step_by(every)
            .map(|core| Point::at(core.rank, size(core) as f64, 0.0))
            .collect(),
    };
    let series = [
        series("hubs", 0, |core| core.hubs),
        series("authorities", 1, |core| core.authorities),
    ];
    let title = "Sizes of cores by iteration";
    let frame = Frame {
        id: "sizes",
        title,
        description: "Two lines over the iterations, for hubs and for authorities; the table below has some of the numbers.",
        x: "iteration",
        y: "pages of the core (logarithmic)",
    };
    let shown = cores.iter().filter(|core| is_in_table(core.rank));
    let rows = shown.map(|core| {
        let numbers = [core.hubs, core.authorities].map(Count::whole);
        std::iter::once(core.rank.to_string())
            .chain(numbers)
            .collect()
    });
    let heads = ["Iteration", "Hubs (pages)", "Authorities (pages)"];
    let about = "Each iteration takes one core from the web.";
    let chart = log_lines(&frame, &series, 88.0);
    let mut figure = Figure::open(title, about, chart, &heads, rows.collect());
    figure.note = (every > 1).then(|| {
        let all = cores.len().whole();
        format!("One of {every} iterations of {all} is drawn.")
    });
    Some(figure)
}

/// The mean distance of two cores by the difference of their iterations, in both directions, beside that of two pages of
/// the web. `distances` has those from each core (row) to each other, in the order of iterations. `None` if paths connect
/// cores of fewer than two differences.
pub(super) fn by_difference(
    distances: &[Vec<Option<u32>>],
    of_pages: Option<Estimate>,
) -> Option<Figure> {
    let mut found: Vec<(u32, usize, Estimate)> = Vec::new();
    for (difference, at) in (1..).zip(1..distances.len()) {
        let pairs = (at..distances.len()).flat_map(|to| [(to - at, to), (to, to - at)]);
        let connected: Vec<f64> = pairs
            .filter_map(|(from, to)| distances[from].get(to).copied().flatten())
            .map(f64::from)
            .collect();
        let mean = Estimate::mean_of(&connected);
        found.extend(mean.map(|mean| (difference, connected.len(), mean)));
    }
    let (first, last) = (found.first()?.0, found.last()?.0);
    if first == last {
        return None;
    }
    let point = |(difference, _, mean): &(u32, usize, Estimate)| {
        // A mean of one pair has no error.
        Point::at(*difference, mean.mean, mean.standard_error.unwrap_or(0.0))
    };
    let mut series = vec![Series {
        name: "cores".to_owned(),
        look: 0,
        points: found.iter().map(point).collect(),
    }];
    series.extend(of_pages.map(|mean| Series {
        name: "any pages".to_owned(),
        look: 1,
        points: [first, last].map(|at| Point::at(at, mean.mean, 0.0)).into(),
    }));
    let title = "Distance of cores by difference of iteration";
    let frame = Frame {
        id: "difference",
        title,
        description: "A line over the difference of two cores' iterations, beside the mean distance of two pages; the table below has some of the numbers.",
        x: "difference of iterations",
        y: "mean distance (links)",
    };
    let shown = found
        .iter()
        .filter(|(difference, ..)| is_in_table(*difference));
    let rows = shown.map(|(difference, pairs, mean)| {
        let [difference, pairs] = [difference.to_string(), pairs.whole()];
        vec![difference, pairs, mean.with_error()]
    });
    let heads = ["Difference", "Pairs with a path", "Mean distance (links)"];
    let about = "Links on the shortest path from one core to the other: mean of the pairs with a path, ± standard error.";
    let chart = lines(&frame, &series, 76.0, None);
    Some(Figure::open(title, about, chart, &heads, rows.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_averaged_over_both_directions() {
        let distances = [
            vec![Some(0), Some(1), Some(7)],
            vec![Some(4), Some(0), None],
            vec![None, Some(4), Some(0)],
        ];
        let figure = by_difference(&distances, None).unwrap();
        // 1, 4 and 4; then 7.
        assert_eq!(figure.rows, [["1", "3", "3.0 ± 1.0"], ["2", "1", "7"]]);
        assert!(by_difference(&distances[..2], None).is_none());
        assert!(by_difference(&[], None).is_none());
    }

    #[test]
    fn tables_have_few_rows() {
        let shown: Vec<u32> = (1..=1000).filter(|number| is_in_table(*number)).collect();
        assert_eq!(shown, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
    }
}
