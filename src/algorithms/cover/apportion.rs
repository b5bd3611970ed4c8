//! Apportionment of a total number of seeds to sites.

/// Apportions seats to sites by largest remainder (Hamilton's method): each site first gets the integer
/// part of `total * weight / sum`, and the seats left go one each to the largest remainders, ties by site
/// name.
///
/// `sites` are distinct names with their weights; the result is in the same order. If all weights are zero,
/// the shares are equal. The size of a site does not limit its share. The result is exact and does not
/// depend on the order of `sites`. Cost: two sorts.
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

/// Apportions a total by weight, with an upper bound for each site.
///
/// `weights` and `bounds` have an entry for each site, in the order of names, which breaks ties. Let L be
/// the level at which the sum of `min(bound, L * weight)` over all sites is the total. A site gets its bound
/// if `L * weight` reaches it; the others share the remainder by largest remainder, each within one of its
/// `L * weight`. So seats above a bound go to the other sites in proportion to their weights. Sites of
/// weight zero get seats only if all others are at their bounds, then in equal shares within their bounds.
///
/// The shares add up to the total, or to the sum of the bounds if that is less. The result is exact. Cost:
/// two sorts.
#[must_use]
pub fn apportion_bounded(total: u64, weights: &[u64], bounds: &[u32]) -> Vec<u32> {
    let mut shares = vec![0; weights.len().min(bounds.len())];
    let (weighted, unweighted): (Vec<usize>, Vec<usize>) =
        (0..shares.len()).partition(|&site| weights[site] > 0);
    let left = fill(total, weighted, |site| weights[site], bounds, &mut shares);
    fill(left, unweighted, |_| 1, bounds, &mut shares);
    shares
}

/// Apportions `total` to sites with positive weights. Returns the seats that their bounds leave over.
fn fill(
    mut total: u64,
    mut sites: Vec<usize>,
    weight: impl Fn(usize) -> u64,
    bounds: &[u32],
    shares: &mut [u32],
) -> u64 {
    let wide = |number: u32| u128::from(number);
    // The last site is the first to reach its bound as the level rises.
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
        // The bound is at most the share, hence at most the total.
        shares[site] = bounds[site];
        total -= u64::from(bounds[site]);
        sum -= u128::from(weight(site));
        sites.pop();
    }
    if sites.is_empty() {
        return total;
    }
    // Every share is below its bound here, so one more seat does not exceed it.
    let mut remainders: Vec<(u128, usize)> = Vec::with_capacity(sites.len());
    let mut assigned = 0;
    for &site in &sites {
        let share = u128::from(total) * u128::from(weight(site));
        shares[site] = u32::try_from(share / sum).unwrap_or(bounds[site]);
        assigned += u64::from(shares[site]);
        remainders.push((share % sum, site));
    }
    remainders.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let left = usize::try_from(total.saturating_sub(assigned)).unwrap_or(usize::MAX);
    for &(_, site) in remainders.iter().take(left) {
        shares[site] += 1;
    }
    0
}

/// Converts a value in millionths to a weight; a negative value counts as 0.
#[must_use]
pub fn value_weight(value: i64) -> u64 {
    value.max(0).unsigned_abs()
}

/// Converts a PageRank, or a sum of several, to a weight in units of 1e-12. So the rounding errors of
/// sums do not distinguish equal sites.
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
    fn seats_left_go_to_the_largest_remainders_and_ties_by_name() {
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
    fn seats_above_a_bound_go_to_the_others_by_weight() {
        // By weight alone 5, 3, 2: the first is limited to 1, and the others share 9 as 3 to 2.
        assert_eq!(apportion_bounded(10, &[5, 3, 2], &[1, 9, 9]), [1, 5, 4]);
        // Sites without weight get seats only when the others are at their bounds.
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
