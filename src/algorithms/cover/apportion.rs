//! Shares a total of seeds out over the sites.

/// Seats for each site in the order given, by largest remainder (Hamilton's method): each site
/// first gets the whole part of `total * weight / sum`, and what is left goes one each to the
/// largest remainders, ties by site name.
///
/// `sites` are distinct names with their weights. If all weights are zero, the shares are equal.
/// The size of a site does not cap its share. Exact, and independent of the order of `sites`; cost:
/// two sorts.
#[must_use]
pub fn apportion(total: u32, sites: &[(&str, u64)]) -> Vec<u32> {
    let mut by_name: Vec<usize> = (0..sites.len()).collect();
    by_name.sort_unstable_by_key(|&site| sites[site].0);
    let weights: Vec<u64> = by_name.iter().map(|&site| sites[site].1).collect();
    let shares = apportion_bounded(total.into(), &weights, &vec![u32::MAX; sites.len()]);
    let mut seats = vec![0; sites.len()];
    for (site, share) in by_name.into_iter().zip(shares) {
        seats[site] = share;
    }
    seats
}

/// Shares of a total by weight, none above its bound, exact and deterministic.
///
/// `weights` and `bounds` are in the order of the sites' names, which breaks ties, and equally
/// many. With the level L at which the sums of `min(bound, L * weight)` make up the total, a site
/// gets its bound where `L * weight` reaches it; the others share what is left by largest
/// remainder, each within one of its `L * weight`. So what a bound keeps from one site goes to the
/// others in proportion to their weights. Only when all sites with a weight are at their bounds, the
/// rest is shared equally among those of weight zero, within their bounds.
///
/// The shares sum up to the total, or to the sum of the bounds where that is less. Cost: two sorts.
#[must_use]
pub fn apportion_bounded(total: u64, weights: &[u64], bounds: &[u32]) -> Vec<u32> {
    let mut shares = vec![0; weights.len().min(bounds.len())];
    let (weighted, others): (Vec<usize>, Vec<usize>) =
        (0..shares.len()).partition(|&site| weights[site] > 0);
    let left = fill(total, weighted, |site| weights[site], bounds, &mut shares);
    fill(left, others, |_| 1, bounds, &mut shares);
    shares
}

/// Gives the sites, which all have a positive weight, their shares of `total`. Returns what their
/// bounds leave over.
fn fill(
    mut total: u64,
    mut sites: Vec<usize>,
    weight: impl Fn(usize) -> u64,
    bounds: &[u32],
    shares: &mut [u32],
) -> u64 {
    let wide = |number: u32| u128::from(number);
    // The last one is the first to reach its bound as the level rises.
    sites.sort_unstable_by(|&a, &b| {
        let (of_a, of_b) = (wide(bounds[a]), wide(bounds[b]));
        (of_b * u128::from(weight(a))).cmp(&(of_a * u128::from(weight(b))))
    });
    // Sums of 2^32 weights of 64 bits, times 32 bits of a bound, fit into 128 bits.
    let mut sum: u128 = sites.iter().map(|&site| u128::from(weight(site))).sum();
    while let Some(&site) = sites.last() {
        let share = u128::from(total) * u128::from(weight(site));
        if share < wide(bounds[site]) * sum {
            break;
        }
        // A bound is at most the share, and so at most the total.
        shares[site] = bounds[site];
        total -= u64::from(bounds[site]);
        sum -= u128::from(weight(site));
        sites.pop();
    }
    if sites.is_empty() {
        return total;
    }
    // Every share is below a bound here, so one more does not exceed it.
    let mut remainders: Vec<(u128, usize)> = Vec::with_capacity(sites.len());
    let mut given = 0;
    for &site in &sites {
        let share = u128::from(total) * u128::from(weight(site));
        shares[site] = u32::try_from(share / sum).unwrap_or(bounds[site]);
        given += u64::from(shares[site]);
        remainders.push((share % sum, site));
    }
    remainders.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let left = usize::try_from(total.saturating_sub(given)).unwrap_or(usize::MAX);
    for &(_, site) in remainders.iter().take(left) {
        shares[site] += 1;
    }
    0
}

/// A value in millionths as a weight: a negative one counts as 0.
#[must_use]
pub fn value_weight(value: i64) -> u64 {
    value.max(0).unsigned_abs()
}

/// A PageRank (or a sum of them) as a weight, in units of 1e-12, so that rounding, which depends on
/// the order of summation, makes no difference between equal sites.
#[must_use]
pub fn pagerank_weight(score: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what a u64 holds; NaN becomes 0"
    )]
    let weight = (score * 1e12).round().clamp(0.0, 1e18) as u64;
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_remainders_get_the_rest_and_ties_go_by_name() {
        // Quotas 1.2, 3.6, 1.2: one seat is left and goes to 3.6.
        assert_eq!(apportion(6, &[("a", 2), ("b", 6), ("c", 2)]), [1, 4, 1]);
        // Quotas 0.5 each, given in another order: a and b by name.
        assert_eq!(
            apportion(2, &[("d", 3), ("b", 3), ("a", 3), ("c", 3)]),
            [0, 1, 1, 0]
        );
        assert_eq!(apportion(5, &[("b", 0), ("a", 0)]), [2, 3]);
        assert_eq!(apportion(5, &[("b", 0), ("a", 7)]), [0, 5]);
        assert_eq!(apportion(5, &[]), [0; 0]);
        let huge = apportion(u32::MAX, &[("a", u64::MAX), ("b", u64::MAX)]);
        assert_eq!(huge, [u32::MAX / 2 + 1, u32::MAX / 2]);
    }

    #[test]
    fn what_a_bound_keeps_from_one_goes_to_the_others_by_weight() {
        // By weight alone 5, 3, 2: the first has room for 1, and 3 to 2 is how the rest is shared.
        assert_eq!(apportion_bounded(10, &[5, 3, 2], &[1, 9, 9]), [1, 5, 4]);
        // Those without weight get something only when the others are full.
        assert_eq!(apportion_bounded(10, &[5, 0, 0], &[7, 9, 9]), [7, 2, 1]);
        assert_eq!(apportion_bounded(10, &[5, 0, 3], &[1, 0, 2]), [1, 0, 2]);
        assert_eq!(apportion_bounded(0, &[5, 0], &[1, 1]), [0, 0]);
        let all = [u32::MAX, u32::MAX];
        assert_eq!(apportion_bounded(u64::MAX, &[u64::MAX, 1], &all), all);
    }

    #[test]
    fn negative_values_and_ranks_become_weights() {
        assert_eq!((value_weight(-5), value_weight(5)), (0, 5));
        assert_eq!(pagerank_weight(0.5), 500_000_000_000);
        assert_eq!((pagerank_weight(f64::NAN), pagerank_weight(-1.0)), (0, 0));
    }
}
