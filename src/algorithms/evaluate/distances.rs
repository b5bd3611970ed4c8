//! Distances between groups of pages, and the average distance of the whole graph.

use rayon::prelude::*;

use super::forward_graph::{ForwardGraph, Search};
use crate::graph::{NONE, number};
use crate::statistics::Estimate;
use crate::statistics::draw;
use crate::watch::{Interrupted, Watch};

/// Computes the length of the shortest path from any page of one group (row) to any page of another
/// (column), in links; `None` if there is no path, or a group is empty. A non-empty group has distance 0 from
/// itself.
///
/// Groups must be disjoint. Cost: one search per group, which ends when all other groups are found; in
/// parallel, each with one bit per page and row.
pub fn group_distances(
    web: &ForwardGraph,
    groups: &[Vec<u32>],
    watch: &dyn Watch,
) -> Result<Vec<Vec<Option<u32>>>, Interrupted> {
    let mut group_of = vec![NONE; web.pages() as usize];
    for (group, pages) in (0..).zip(groups) {
        for &page in pages {
            group_of[page as usize] = group;
        }
    }
    let filled = groups.iter().filter(|pages| !pages.is_empty()).count();
    groups
        .par_iter()
        .map_init(
            || Search::new(web),
            |search, pages| {
                let mut row = vec![None; groups.len()];
                let mut found = 0;
                search.start(pages);
                for depth in 0_u32.. {
                    watch.proceed()?;
                    for &page in search.level() {
                        let group = group_of[page as usize];
                        if group != NONE && row[group as usize].is_none() {
                            row[group as usize] = Some(depth);
                            found += 1;
                        }
                    }
                    if found == filled || !search.deepen() {
                        break;
                    }
                }
                watch.advance(1);
                Ok(row)
            },
        )
        .collect()
}

/// The average distance of a graph, from a sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AverageDistance {
    /// The number of pages with links.
    pub sources: u64,
    /// The number of these in the sample.
    pub samples: u64,
    /// The mean distance, in links, over the ordered pairs of distinct pages with a path; `None` without such
    /// a pair.
    pub mean: Option<Estimate>,
    /// The fraction of the other pages that a page with links reaches, from 0 to 1.
    pub reached: Option<Estimate>,
}

/// Estimates the average distance from a sample of the pages with links; paths start at no other page.
///
/// For each sampled page, the distances to all reached pages and their number are summed. The mean distance
/// is the ratio of the two sums, with its linearised error and the correction for a finite population.
/// Cost: one complete search per sampled page, in parallel.
pub fn average_distance(
    web: &ForwardGraph,
    samples: u32,
    rng_seed: u64,
    watch: &dyn Watch,
) -> Result<AverageDistance, Interrupted> {
    let sources: Vec<u32> = (0..web.pages()).filter(|&p| web.has_links(p)).collect();
    let sample = draw(
        "distances",
        rng_seed,
        0,
        number(sources.len()),
        samples as usize,
    );
    let found: Result<Vec<(f64, f64)>, Interrupted> = sample
        .par_iter()
        .map_init(
            || Search::new(web),
            |search, &at| {
                search.start(&[sources[at as usize]]);
                let (mut sum, mut reached) = (0_u64, 0_u64);
                for depth in 1_u64.. {
                    watch.proceed()?;
                    if !search.deepen() {
                        break;
                    }
                    let pages = search.level().len() as u64;
                    reached += pages;
                    sum += depth * pages;
                }
                watch.advance(1);
                Ok((sum as f64, reached as f64))
            },
        )
        .collect();
    let found = found?;
    let (samples, population) = (sample.len() as u64, sources.len() as u64);
    let others = f64::from(web.pages().saturating_sub(1));
    let shares: Vec<f64> = found.iter().map(|(_, reached)| reached / others).collect();
    let corrected = |estimate: Estimate| estimate.in_finite_population(samples, population);
    Ok(AverageDistance {
        sources: population,
        samples,
        mean: Estimate::ratio_of_means(&found).map(corrected),
        reached: Estimate::mean_of(&shares).map(corrected),
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use super::*;
    use crate::evaluate::forward_graph::tests::web;
    use crate::watch::Unwatched;

    #[test]
    fn groups_on_a_path_are_as_far_as_their_nearest_pages() {
        // 0 -> 1 -> 2 -> 3 -> 4 -> 5
        let links: &[&[u32]] = &[&[1], &[2], &[3], &[4], &[5], &[]];
        let groups = [vec![0, 1], vec![3], vec![5, 2], vec![]];
        for intra in [0, 6] {
            let found = group_distances(&web(links, intra), &groups, &Unwatched).unwrap();
            assert_eq!(found[0], [Some(0), Some(2), Some(1), None]);
            assert_eq!(found[1], [None, Some(0), Some(2), None]);
            assert_eq!(found[2], [None, Some(1), Some(0), None]);
            assert_eq!(found[3], [None; 4]);
        }
    }

    #[test]
    fn a_directed_ring_has_average_half_its_length() {
        // Distances 1 to n - 1 from every page: the mean is n / 2.
        let links: Vec<Vec<u32>> = (0..9_u32).map(|page| vec![(page + 1) % 9]).collect();
        let links: Vec<&[u32]> = links.iter().map(Vec::as_slice).collect();
        for (samples, known) in [(100, 9), (4, 4)] {
            let found = average_distance(&web(&links, 4), samples, 1, &Unwatched).unwrap();
            assert_eq!((found.sources, found.samples), (9, known));
            let mean = found.mean.unwrap();
            assert_eq!((mean.mean, mean.standard_error), (4.5, Some(0.0)));
            assert_eq!(found.reached.unwrap().mean, 1.0);
        }
    }

    #[test]
    fn pages_without_links_start_no_path_and_errors_are_estimated() {
        // 0 reaches 1 and 2 at 1 and 2, 1 reaches 2 at 1: the mean is 4 / 3.
        let links: &[&[u32]] = &[&[1], &[2], &[], &[]];
        let all = average_distance(&web(links, 0), 10, 1, &Unwatched).unwrap();
        assert_eq!((all.sources, all.samples), (2, 2));
        let mean = all.mean.unwrap();
        assert!((mean.mean - 4.0 / 3.0).abs() < 1e-15);
        assert_eq!(mean.standard_error, Some(0.0));
        assert!((all.reached.unwrap().mean - 0.5).abs() < 1e-15);
        let one = average_distance(&web(links, 0), 1, 1, &Unwatched).unwrap();
        assert_eq!(one.mean.unwrap().standard_error, None);
        let none = average_distance(&web(&[&[], &[]], 0), 10, 1, &Unwatched).unwrap();
        assert_eq!((none.sources, none.mean), (0, None));
    }
}
