//! The first pages, in URL order, of lists that are spread over all processes.

use super::{Group, WebShare};
use crate::watch::Interrupted;

/// The bits of a number that a round finds.
const BITS: u32 = 4;

/// A part of a list, whose pages are in ascending order, and the number of pages wanted of the whole list.
pub(in super::super) struct Part<'a> {
    pub(in super::super) pages: &'a [u32],
    pub(in super::super) most: u64,
}

/// Returns for each list how many pages of this process are among its first `most`.
///
/// Finds the number in the web of the last one, some bits at a time, by counting the pages of all processes for each
/// value of these bits. Cost: eight rounds, each with 16 counts for each list.
pub(in super::super) fn first_pages(
    share: &WebShare,
    lists: &[Part<'_>],
) -> Result<Vec<usize>, Interrupted> {
    let group = Group(Some(share));
    // The pages before the range that is searched, the range, the number at which it begins, and the pages wanted of it.
    let mut found: Vec<(usize, usize, u32, u64)> = lists
        .iter()
        .map(|list| {
            let pages = if list.most > 0 { list.pages.len() } else { 0 };
            (0, pages, 0, list.most)
        })
        .collect();
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    for shift in (0..u32::BITS).step_by(BITS as usize).rev() {
        let mut ends: Vec<Vec<usize>> = Vec::with_capacity(lists.len());
        let mut counts = Vec::with_capacity(lists.len() << BITS);
        for (list, &(from, to, begins, _)) in lists.iter().zip(&found) {
            let pages = &list.pages[from..to];
            let mut before = 0;
            let mut of_list = Vec::with_capacity(1 << BITS);
            for value in 0..1 << BITS {
                // The largest number with these bits.
                let last = begins | value << shift | ((1 << shift) - 1);
                let end = pages.partition_point(|page| share.number(*page) <= last);
                counts.push(i64::try_from(end - before).unwrap_or(i64::MAX));
                of_list.push(end);
                before = end;
            }
            ends.push(of_list);
        }
        let counts = group.sums(counts)?;
        for ((range, ends), counts) in found.iter_mut().zip(ends).zip(counts.chunks(1 << BITS)) {
            let (from, to, begins, most) = range;
            let mut before = 0;
            let mut is_found = false;
            for ((value, end), count) in (0..).zip(ends).zip(counts) {
                let count = count.unsigned_abs();
                if count >= *most {
                    (*from, *to) = (*from + before, *from + end);
                    *begins |= value << shift;
                    is_found = true;
                    break;
                }
                *most -= count;
                before = end;
            }
            if !is_found {
                // The list has no more pages than wanted: all later rounds find nothing either.
                *from = *to;
            }
        }
    }
    // The range of each list has the last page wanted, or no page of this process.
    Ok(found.into_iter().map(|of| of.1).collect())
}
