//! A place: scores with what they lead to, and the parts of them that no link connects.

use crate::graph::{HubGraph, NONE, Remaining, number};

use super::principal::TIED;
use super::region::Region;

/// Scores with what they lead to.
pub(super) struct Place {
    /// On the grid, by authority position.
    pub(super) x: Vec<f64>,
    /// `A x`, by hub position.
    pub(super) hubs: Vec<f64>,
    /// `|A x|^2 / |x|^2`, from below.
    pub(super) lambda: f64,
}

/// Puts all scores to 0 that are not in the part with the largest quotient; of equal ones that whose
/// best authority has the smallest URL.
pub(super) fn densest_part(
    (graph, left, region): (&HubGraph, &Remaining, &Region),
    x: &mut [f64],
    hubs: &mut [f64],
    visits: &mut u64,
) {
    let mut of_authority = vec![NONE; x.len()];
    let mut of_hub = vec![NONE; hubs.len()];
    let mut parts: Vec<(f64, f64, f64, u32)> = Vec::new();
    let mut next = Vec::new();
    for first in 0..number(x.len()) {
        if x[first as usize] == 0.0 || of_authority[first as usize] != NONE {
            continue;
        }
        let part = number(parts.len());
        let (mut above, mut below, mut best, mut page) = (0.0, 0.0, 0.0, NONE);
        of_authority[first as usize] = part;
        next.push(first);
        while let Some(at) = next.pop() {
            let score = x[at as usize];
            below += region.authority_pages()[at as usize] * score * score;
            if score >= best {
                let class = region.authorities()[at as usize];
                let own = left.next_authority_page(graph, class, None).unwrap_or(NONE);
                page = if score > best { own } else { page.min(own) };
                best = score;
            }
            let citers = region.citers().list(at);
            *visits += citers.len() as u64;
            for &hub in citers {
                let pages = region.hub_pages()[hub as usize];
                if pages == 0.0 || of_hub[hub as usize] != NONE {
                    continue;
                }
                of_hub[hub as usize] = part;
                above += pages * hubs[hub as usize] * hubs[hub as usize];
                let row = region.rows().list(hub);
                *visits += row.len() as u64;
                for &other in row {
                    let is_new = of_authority[other as usize] == NONE;
                    if is_new && x[other as usize] > 0.0 {
                        of_authority[other as usize] = part;
                        next.push(other);
                    }
                }
            }
        }
        parts.push((above, below, best, page));
    }
    let quotient = |part: &(f64, f64, f64, u32)| part.0 / part.1;
    let top = parts.iter().map(quotient).fold(0.0, f64::max);
    let tied = parts.iter().zip(0..);
    let tied = tied.filter(|(part, _)| quotient(part) >= top * (1.0 - TIED));
    let Some((_, chosen)) = tied.min_by_key(|(part, _)| part.3) else {
        return;
    };
    for (score, part) in x.iter_mut().zip(of_authority) {
        if part != chosen {
            *score = 0.0;
        }
    }
    for (score, part) in hubs.iter_mut().zip(of_hub) {
        if part != chosen {
            *score = 0.0;
        }
    }
}
