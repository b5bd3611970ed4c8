//! Orders of pages that no pick changes, for the baselines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::graph::SiteGraph;
use crate::rank::TIED;
use crate::statistics::draw_below;

/// Draws `wanted` pages without replacement; all of them, in a random order, if there are fewer.
///
/// The stream is the same in all versions and on all machines: PCG XSL 128/64 (`Pcg64`), whose 32-byte
/// seed is the BLAKE3 hash of `rng_seed` (8 bytes, little-endian) followed by the site's name. Pages in URL
/// order are shuffled from the front (Fisher and Yates): with `n` pages left, the page `draw_below(n)`
/// positions further on comes next.
#[must_use]
pub fn random_order(name: &str, rng_seed: u64, pages: u32, wanted: usize) -> Vec<u32> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&rng_seed.to_le_bytes());
    hasher.update(name.as_bytes());
    let mut stream = Pcg64::from_seed(*hasher.finalize().as_bytes());
    let mut order: Vec<u32> = (0..pages).collect();
    let wanted = wanted.min(order.len());
    for (place, left) in (0..wanted).zip((1..=pages).rev()) {
        let further = draw_below(&mut stream, left);
        order.swap(place, place + further as usize);
    }
    order.truncate(wanted);
    order
}

/// Orders the pages by out-degree, highest first, ties by smallest URL.
pub(super) fn order_by_out_degree(graph: &SiteGraph) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.pages()).collect();
    order.sort_by_key(|&page| Reverse(graph.out_degree(page)));
    order
}

/// Returns the first `wanted` pages by score, highest first. Scores within a relative 1e-9 of the best
/// remaining score are tied, and the smallest URL among the tied pages comes next.
#[must_use]
pub fn order_by_score(scores: &[f64], wanted: usize) -> Vec<u32> {
    let mut sorted: Vec<(f64, u32)> = scores.iter().copied().zip(0..).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut taken = vec![false; scores.len()];
    let mut order = Vec::with_capacity(wanted.min(scores.len()));
    // The best remaining score only falls, so a page that is tied with it stays tied.
    let mut tied = BinaryHeap::new();
    let (mut best, mut end) = (0, 0);
    while order.len() < wanted {
        while sorted
            .get(best)
            .is_some_and(|&(_, page)| taken[page as usize])
        {
            best += 1;
        }
        let Some(&(top, _)) = sorted.get(best) else {
            break;
        };
        while let Some(&(score, page)) = sorted.get(end)
            && score >= top * (1.0 - TIED)
        {
            tied.push(Reverse(page));
            end += 1;
        }
        if let Some(Reverse(page)) = tied.pop() {
            taken[page as usize] = true;
            order.push(page);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_documented_one() {
        // Pinned, since a change of the stream would change every existing random plan.
        assert_eq!(random_order("a.example", 0, 1000, 5), PINNED);
        assert_ne!(random_order("b.example", 0, 1000, 5), PINNED);
        assert_ne!(random_order("a.example", 1, 1000, 5), PINNED);
        let mut all = random_order("a.example", 0, 20, 100);
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        assert!(random_order("a.example", 0, 0, 5).is_empty());
    }

    const PINNED: [u32; 5] = [962, 397, 741, 602, 572];

    #[test]
    fn every_page_is_drawn_about_equally_often() {
        let mut drawn = [0_u32; 10];
        for rng_seed in 0..10_000 {
            drawn[random_order("a.example", rng_seed, 10, 1)[0] as usize] += 1;
        }
        assert!(drawn.iter().all(|n| (850..1150).contains(n)), "{drawn:?}");
    }

    #[test]
    fn scores_within_a_billionth_of_the_best_left_are_tied() {
        let near = 1.0 - 0.7e-9;
        let far = 1.0 - 1.4e-9;
        // Only `near` is tied with 1.0; after both are taken, `far` is the best. With `near` alone, `far`
        // would be tied.
        assert_eq!(order_by_score(&[far, near, 1.0, 0.5], 4), [1, 2, 0, 3]);
        assert_eq!(order_by_score(&[far, 1.0, near, 0.5], 4), [1, 0, 2, 3]);
        assert_eq!(order_by_score(&[0.5, 0.5], 1), [0]);
    }
}
