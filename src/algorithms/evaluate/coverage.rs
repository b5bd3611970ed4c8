//! The coverage of seeds on their sites, compared with random seeds.

use crate::cover::{Pick, SiteCover, SiteGraph};
use crate::statistics::Estimate;

/// The covered part of a site, in per cent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Coverage {
    /// Of the crawled pages.
    pub pages: f64,
    /// Covered value in per cent of all positive value; negative if covered spam outweighs it. `None` if no
    /// page has positive value.
    pub value: Option<f64>,
}

/// Computes the coverage of the first `seeds` picks of a site.
#[must_use]
pub fn coverage(graph: &SiteGraph, cover: &SiteCover, seeds: u32) -> Coverage {
    let picks = || cover.picks.iter().take(seeds as usize);
    let pages: u64 = picks().map(Pick::covered_pages).sum();
    let value: i64 = picks().map(Pick::covered_value).sum();
    let positive: i64 = graph.values().iter().map(|v| v.max(&0)).sum();
    Coverage {
        pages: 100.0 * pages as f64 / f64::from(graph.pages().max(1)),
        value: (positive > 0).then(|| 100.0 * value as f64 / positive as f64),
    }
}

/// The mean coverage of several draws of random seeds on one site.
#[must_use]
pub fn mean(draws: &[Coverage]) -> Coverage {
    let count = draws.len().max(1) as f64;
    let value: Option<f64> = draws.iter().map(|d| d.value).sum();
    Coverage {
        pages: draws.iter().map(|d| d.pages).sum::<f64>() / count,
        value: value.map(|sum| sum / count),
    }
}

/// The coverage of a method compared with random seeds: means over sites.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// The coverage, in per cent.
    pub percent: Estimate,
    /// The mean over sites of the difference from random, in percentage points.
    pub above_random: Estimate,
    /// The improvement over random, in per cent, as the papers have it: the mean over sites of the ratio minus 1, without
    /// the sites on which random covers nothing positive. `None` if those are all.
    pub mean_improvement: Option<Estimate>,
    /// The improvement of the means over random, in per cent: the ratio of the means over sites minus 1. `None` if the
    /// mean of random is not positive.
    pub improvement_of_means: Option<Estimate>,
}

/// Computes the gain of a method over random from the coverage of both on each site; `None` without sites.
#[must_use]
pub fn gain(pairs: &[(f64, f64)]) -> Option<Gain> {
    let found: Vec<f64> = pairs.iter().map(|(found, _)| *found).collect();
    let differences: Vec<f64> = pairs.iter().map(|(found, random)| found - random).collect();
    let positive = pairs.iter().filter(|(_, random)| *random > 0.0);
    let ratios: Vec<f64> = positive.map(|(found, random)| found / random).collect();
    let improvement = |ratio: Estimate| Estimate {
        mean: 100.0 * (ratio.mean - 1.0),
        standard_error: ratio.standard_error.map(|error| 100.0 * error),
    };
    Some(Gain {
        percent: Estimate::mean_of(&found)?,
        above_random: Estimate::mean_of(&differences)?,
        mean_improvement: Estimate::mean_of(&ratios).map(improvement),
        improvement_of_means: Estimate::ratio_of_means(pairs).map(improvement),
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
        let one = coverage(&graph, &cover, 1);
        assert_eq!((one.pages, one.value), (75.0, Some(-50.0)));
        let all = coverage(&graph, &cover, 9);
        assert_eq!((all.pages, all.value), (100.0, Some(0.0)));
        let spam = SiteGraph::new(vec![-1], []).unwrap();
        let site = Site {
            graph: &spam,
            ..site
        };
        let cover = select(site, 1, &params, &Unwatched).unwrap();
        assert_eq!(coverage(&spam, &cover, 1).value, None);
    }

    #[test]
    fn gains_are_paired_by_site() {
        let gain = gain(&[(60.0, 40.0), (90.0, 60.0)]).unwrap();
        assert_eq!(gain.percent.mean, 75.0);
        assert_eq!(gain.above_random.mean, 25.0);
        assert_eq!(gain.above_random.standard_error, Some(5.0));
        for improvement in [gain.mean_improvement, gain.improvement_of_means] {
            let improvement = improvement.unwrap();
            assert!((improvement.mean - 50.0).abs() < 1e-12, "{improvement:?}");
            assert!(improvement.standard_error.unwrap() < 1e-12);
        }
        // On sites that random covers by 10 and 90 %: 4 times and as much, and 130 instead of 100 % in all.
        let gain = super::gain(&[(40.0, 10.0), (90.0, 90.0), (5.0, 0.0)]).unwrap();
        assert_eq!(gain.mean_improvement.unwrap().mean, 150.0);
        let of_means = gain.improvement_of_means.unwrap().mean;
        assert!((of_means - 35.0).abs() < 1e-12, "{of_means}");
        assert_eq!(super::gain(&[]), None);
        let nothing = super::gain(&[(1.0, 0.0)]).unwrap();
        assert_eq!(nothing.mean_improvement, None);
        assert_eq!(nothing.improvement_of_means, None);
    }

    #[test]
    fn draws_are_averaged() {
        let draws = [(10.0, 4.0), (20.0, 8.0)].map(|(pages, value)| Coverage {
            pages,
            value: Some(value),
        });
        let of = mean(&draws);
        assert_eq!((of.pages, of.value), (15.0, Some(6.0)));
    }
}
