//! The first pages, in URL order, of a list that is spread over all processes.

use super::{Group, WebShare};
use crate::watch::Interrupted;

/// The bits of a number that a round finds.
const BITS: u32 = 4;

/// Returns how many of `numbers`, the part of a list in this process in ascending order, are among the first `most` of the
/// whole list.
///
/// Finds the last one, some bits at a time, by counting the pages of all processes for each
/// value of these bits. Cost: eight rounds, each with 16 counts.
pub(in super::super) fn first_pages(
    share: &WebShare,
    numbers: &[u32],
    mut most: u64,
) -> Result<usize, Interrupted> {
    let group = Group(Some(share));
    // The range that is searched, and the number at which it begins.
    let (mut from, mut to, mut begins) = (0, if most > 0 { numbers.len() } else { 0 }, 0);
    for shift in (0..u32::BITS).step_by(BITS as usize).rev() {
        let ends: Vec<usize> = (0..1 << BITS)
            .map(|value| {
                // The largest number with these bits.
                let last = begins | value << shift | ((1 << shift) - 1);
                from + numbers[from..to].partition_point(|number| *number <= last)
            })
            .collect();
        let starts = std::iter::once(&from).chain(&ends);
        let counts = ends.iter().zip(starts).map(|(end, start)| end - start);
        let counts = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let counts = group.sums(counts.collect())?;
        // If the list has no more pages than wanted, all later rounds find nothing either.
        let (mut found, mut start) = (None, from);
        for ((value, end), count) in (0..).zip(ends).zip(counts) {
            let count = count.unsigned_abs();
            if count >= most {
                found = Some((start, end, begins | value << shift));
                break;
            }
            most -= count;
            start = end;
        }
        (from, to, begins) = found.unwrap_or((to, to, begins));
    }
    // The range has the last page wanted, or no page of this process.
    Ok(to)
}
