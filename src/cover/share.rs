//! Shares a total of seeds out over the sites.

/// Seats for each site in the order given, by largest remainder (Hamilton's method): each site
/// first gets the whole part of `total * weight / sum`, and what is left goes one each to the
/// largest remainders, ties by site name.
///
/// `sites` are distinct names with their weights. If all weights are zero, the shares are equal.
/// The size of a site does not cap its share. Exact, and independent of the order of `sites`; cost:
/// one sort.
#[must_use]
pub fn share_out(total: u32, sites: &[(&str, u64)]) -> Vec<u32> {
    let all_zero = sites.iter().all(|&(_, weight)| weight == 0);
    let weight = |site: usize| u128::from(if all_zero { 1 } else { sites[site].1 });
    let sum: u128 = (0..sites.len()).map(weight).sum();
    if sum == 0 {
        return Vec::new();
    }
    let shares = (0..sites.len()).map(|site| u128::from(total) * weight(site));
    // A share is at most the total, and there are fewer remainders than sites.
    let mut seats: Vec<u32> = shares
        .clone()
        .map(|share| u32::try_from(share / sum).unwrap_or(total))
        .collect();
    let mut order: Vec<(u128, usize)> = shares.map(|share| share % sum).zip(0..).collect();
    order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| sites[a.1].0.cmp(sites[b.1].0)));
    let given: u64 = seats.iter().map(|&s| u64::from(s)).sum();
    let left = usize::try_from(u64::from(total).saturating_sub(given)).unwrap_or(usize::MAX);
    for &(_, site) in order.iter().take(left) {
        seats[site] += 1;
    }
    seats
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
        assert_eq!(share_out(6, &[("a", 2), ("b", 6), ("c", 2)]), [1, 4, 1]);
        // Quotas 0.5 each, given in another order: a and b by name.
        assert_eq!(
            share_out(2, &[("d", 3), ("b", 3), ("a", 3), ("c", 3)]),
            [0, 1, 1, 0]
        );
        assert_eq!(share_out(5, &[("b", 0), ("a", 0)]), [2, 3]);
        assert_eq!(share_out(5, &[("b", 0), ("a", 7)]), [0, 5]);
        assert_eq!(share_out(5, &[]), [0; 0]);
        let huge = share_out(u32::MAX, &[("a", u64::MAX), ("b", u64::MAX)]);
        assert_eq!(huge, [u32::MAX / 2 + 1, u32::MAX / 2]);
    }

    #[test]
    fn negative_values_and_ranks_become_weights() {
        assert_eq!((value_weight(-5), value_weight(5)), (0, 5));
        assert_eq!(pagerank_weight(0.5), 500_000_000_000);
        assert_eq!((pagerank_weight(f64::NAN), pagerank_weight(-1.0)), (0, 0));
    }
}
