//! What seeds cover of their sites, compared with random seeds.

use super::estimate::Estimate;
use crate::cover::{Pick, SiteCover, SiteGraph};

/// The share of a site that is covered, in per cent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Covered {
    /// The share of its crawled pages.
    pub pages: f64,
    /// The share of its positive value: below zero where spam outweighs the rest; `None` where no
    /// page has positive value.
    pub value: Option<f64>,
}

/// What the first `seeds` picks cover of their site.
#[must_use]
pub fn covered(graph: &SiteGraph, cover: &SiteCover, seeds: u32) -> Covered {
    let picks = || cover.picks.iter().take(seeds as usize);
    let pages: u64 = picks().map(Pick::covered_pages).sum();
    let value: i64 = picks().map(Pick::covered_value).sum();
    let positive: i64 = graph.values().iter().map(|v| v.max(&0)).sum();
    Covered {
        pages: 100.0 * pages as f64 / f64::from(graph.pages().max(1)),
        value: (positive > 0).then(|| 100.0 * value as f64 / positive as f64),
    }
}

/// The mean of what several draws of random seeds cover of one site.
#[must_use]
pub fn mean(draws: &[Covered]) -> Covered {
    let count = draws.len().max(1) as f64;
    let value: Option<f64> = draws.iter().map(|d| d.value).sum();
    Covered {
        pages: draws.iter().map(|d| d.pages).sum::<f64>() / count,
        value: value.map(|sum| sum / count),
    }
}

/// Means over sites.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// What is covered, in per cent.
    pub percent: Estimate,
    /// How much more than random that is, in percentage points: the mean of the differences, site
    /// by site.
    pub above_random: Estimate,
    /// How much more than random that is, in per cent of what random covers: the ratio of the means
    /// minus 1, since a ratio site by site would fail where random covers nothing; `None` where the
    /// mean of random is not positive.
    pub improvement: Option<Estimate>,
}

/// The gain of a method over random, from what each covers of each site; `None` without a site.
#[must_use]
pub fn gain(pairs: &[(f64, f64)]) -> Option<Gain> {
    let found: Vec<f64> = pairs.iter().map(|(found, _)| *found).collect();
    let differences: Vec<f64> = pairs.iter().map(|(found, random)| found - random).collect();
    Some(Gain {
        percent: Estimate::mean_of(&found)?,
        above_random: Estimate::mean_of(&differences)?,
        improvement: Estimate::ratio_of_means(pairs).map(|ratio| Estimate {
            mean: 100.0 * (ratio.mean - 1.0),
            standard_error: ratio.standard_error.map(|error| 100.0 * error),
        }),
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use super::*;
    use crate::cover::{CoverParams, Method, Site, select};
    use crate::page::SiteId;
    use crate::watch::Unwatched;

    #[test]
    fn shares_are_of_pages_and_of_positive_value() {
        // 0 -> 1 -> 2, and 3 alone; 2 is spam.
        let values = vec![1_000_000, 1_000_000, -4_000_000, 2_000_000];
        let graph = SiteGraph::new(values, [(0, 1), (1, 2)]).unwrap();
        let site = Site {
            id: SiteId(0),
            name: "a.example",
            graph: &graph,
        };
        let params = CoverParams {
            method: Method::OutDegree,
            hops: 2,
            ..CoverParams::default()
        };
        let cover = select(site, 4, &params, &Unwatched).unwrap();
        // The first pick is 0 (ties by URL) and covers 0, 1 and 2.
        let one = covered(&graph, &cover, 1);
        assert_eq!((one.pages, one.value), (75.0, Some(-50.0)));
        let all = covered(&graph, &cover, 9);
        assert_eq!((all.pages, all.value), (100.0, Some(0.0)));
        let spam = SiteGraph::new(vec![-1], []).unwrap();
        let site = Site {
            graph: &spam,
            ..site
        };
        let cover = select(site, 1, &params, &Unwatched).unwrap();
        assert_eq!(covered(&spam, &cover, 1).value, None);
    }

    #[test]
    fn gains_are_paired_by_site() {
        let gain = gain(&[(60.0, 40.0), (90.0, 60.0)]).unwrap();
        assert_eq!(gain.percent.mean, 75.0);
        assert_eq!(gain.above_random.mean, 25.0);
        assert_eq!(gain.above_random.standard_error, Some(5.0));
        let improvement = gain.improvement.unwrap();
        assert!((improvement.mean - 50.0).abs() < 1e-12, "{improvement:?}");
        assert!(improvement.standard_error.unwrap() < 1e-12);
        assert_eq!(super::gain(&[]), None);
        assert_eq!(super::gain(&[(1.0, 0.0)]).unwrap().improvement, None);
    }

    #[test]
    fn draws_are_averaged() {
        let draws = [(10.0, 4.0), (20.0, 8.0)].map(|(pages, value)| Covered {
            pages,
            value: Some(value),
        });
        let of = mean(&draws);
        assert_eq!((of.pages, of.value), (15.0, Some(6.0)));
    }
}
