//! The paper's procedure as this project first ran it, the baseline for the time per core: two passes over
//! the lists for each of 60 iterations, in the order of the classes. It does not change with the library.
#![allow(unreachable_pub, reason = "a module of a bench")]

use rayon::prelude::*;
use seedbank_algorithms::graph::{HubGraph, Remaining};

/// Minimum number of entries for a parallel pass.
const PARALLEL: usize = 1 << 15;

/// Concatenated lists of positions.
struct Lists {
    ends: Vec<usize>,
    entries: Vec<u32>,
}

impl Lists {
    fn list(&self, at: usize) -> &[u32] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[from..self.ends[at]]
    }

    /// Returns, for each entry, the lists that contain it.
    fn transpose(&self, count: usize) -> Self {
        let mut ends = vec![0; count];
        for &entry in &self.entries {
            ends[entry as usize] += 1;
        }
        let mut next: Vec<usize> = Vec::with_capacity(count);
        let mut sum = 0;
        for end in &mut ends {
            next.push(sum);
            sum += *end;
            *end = sum;
        }
        let mut entries = vec![0; sum];
        for list in 0..self.ends.len() {
            for &entry in self.list(list) {
                let place = &mut next[entry as usize];
                entries[*place] = u32::try_from(list).unwrap();
                *place += 1;
            }
        }
        Self { ends, entries }
    }

    /// Returns, for each list, the sum of the scores of its entries, each times its number of pages.
    fn pass(&self, scores: &[f64], pages: &[f64]) -> Vec<f64> {
        let sum = |weights: &[f64], at: usize| -> f64 {
            let entries = self.list(at).iter();
            entries.map(|&entry| weights[entry as usize]).sum()
        };
        let all = 0..self.ends.len();
        if self.entries.len() < PARALLEL {
            let weights = scores.iter().zip(pages).map(|(score, pages)| score * pages);
            let weights: Vec<f64> = weights.collect();
            all.map(|at| sum(&weights, at)).collect()
        } else {
            let weights = scores.par_iter().zip(pages).with_min_len(1 << 12);
            let weights: Vec<f64> = weights.map(|(score, pages)| score * pages).collect();
            let lists = all.into_par_iter().with_min_len(512);
            lists.map(|at| sum(&weights, at)).collect()
        }
    }
}

/// Normalises a vector to unit length over pages; returns its previous length.
fn normalise(scores: &mut [f64], pages: &[f64]) -> f64 {
    let squares = pages
        .iter()
        .zip(&*scores)
        .map(|(pages, score)| pages * score * score);
    let length = squares.sum::<f64>().sqrt();
    for score in scores {
        *score /= length;
    }
    length
}

/// Returns sigma after a number of iterations from the uniform vector, over the rest of the graph.
pub fn sigma(graph: &HubGraph, left: &Remaining, iterations: u32) -> f64 {
    let mut position = vec![u32::MAX; graph.citers().len()];
    let mut authority_pages = Vec::new();
    for (class, position) in (0..).zip(&mut position) {
        if left.authorities(class) > 0 {
            *position = u32::try_from(authority_pages.len()).unwrap();
            authority_pages.push(f64::from(left.authorities(class)));
        }
    }
    let mut rows = Lists {
        ends: Vec::new(),
        entries: Vec::new(),
    };
    let mut hub_pages = Vec::new();
    for hub in 0..u32::try_from(graph.rows().len()).unwrap() {
        if left.hubs(hub) == 0 {
            continue;
        }
        let row = graph.rows().list(hub).iter();
        let row = row.map(|class| position[*class as usize]);
        rows.entries.extend(row.filter(|at| *at != u32::MAX));
        rows.ends.push(rows.entries.len());
        hub_pages.push(f64::from(left.hubs(hub)));
    }
    let citers = rows.transpose(authority_pages.len());
    let mut hubs = vec![1.0; hub_pages.len()];
    let mut sigma = 0.0;
    for _ in 0..iterations {
        let mut authorities = citers.pass(&hubs, &hub_pages);
        normalise(&mut authorities, &authority_pages);
        hubs = rows.pass(&authorities, &authority_pages);
        sigma = normalise(&mut hubs, &hub_pages);
    }
    sigma
}
