//! Finds the numbers in the web of pages that process 0 names, and the reverse. Each page is known to one process.

use super::group::{Group, malformed};
use crate::engine::Result;
use seedbank_algorithms::page::PageId;

/// About the bytes of an item in a message: of a number, and of a page id.
const OF_NUMBER: usize = 5;
const OF_PAGE: usize = 9;

/// Returns in all processes the numbers of the pages that process 0 names, by their positions there, ascending. Pages without
/// a number are left out. `number` returns the number of an own page. All processes call it at the same time.
///
/// Cost: every process gets all page ids and numbers. Memory: 8 bytes for each page that is found.
pub(in crate::engine) fn numbers_of_pages(
    group: Group<'_>,
    pages: &[PageId],
    number: impl Fn(PageId) -> Option<u32>,
) -> Result<Vec<(u32, u32)>> {
    let mut own: Vec<(u32, u32)> = Vec::new();
    let mut position: u32 = 0;
    group.send_from_first(
        pages.iter().copied(),
        |_| OF_PAGE,
        |page| {
            own.extend(number(page).map(|number| (position, number)));
            position = position.checked_add(1).ok_or_else(malformed)?;
            Ok(())
        },
    )?;
    let mut all: Vec<(u32, u32)> = Vec::new();
    group.send_to_all(
        own.into_iter(),
        |_| 2 * OF_NUMBER,
        |_, found| {
            all.push(found);
            Ok(())
        },
    )?;
    all.sort_unstable();
    let are_valid = all.is_sorted_by(|a, b| a.0 < b.0);
    let are_valid = are_valid && all.last().is_none_or(|last| last.0 < position);
    are_valid.then_some(all).ok_or_else(|| malformed().into())
}

/// Returns in process 0 the pages with the numbers that it names; in other processes, nothing. `page` returns the page with
/// a number, if it is an own one. All processes call it at the same time.
///
/// Fails if no process, or more than one, has a page.
///
/// Cost: every process gets all numbers, and process 0 the page ids. Memory: in process 0, 16 bytes for each page.
pub(in crate::engine) fn pages_of_numbers(
    group: Group<'_>,
    numbers: &[u32],
    page: impl Fn(u32) -> Option<PageId>,
) -> Result<Vec<PageId>> {
    let mut own: Vec<(u32, PageId)> = Vec::new();
    let mut position: u32 = 0;
    group.send_from_first(
        numbers.iter().copied(),
        |_| OF_NUMBER,
        |number| {
            own.extend(page(number).map(|page| (position, page)));
            position = position.checked_add(1).ok_or_else(malformed)?;
            Ok(())
        },
    )?;
    let mut all: Vec<Option<PageId>> = Vec::new();
    if group.is_first() {
        all.resize(numbers.len(), None);
    }
    group.send_to_first(
        own.into_iter(),
        |_| OF_NUMBER + OF_PAGE,
        |_, (position, page)| {
            let place = all.get_mut(position as usize).ok_or_else(malformed)?;
            match place.replace(page) {
                None => Ok(()),
                Some(_) => Err(malformed().into()),
            }
        },
    )?;
    let all = all.into_iter().collect::<Option<_>>();
    Ok(all.ok_or_else(malformed)?)
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::in_threads;
    use super::*;
    use seedbank_algorithms::page::SiteId;

    fn page(number: u32) -> PageId {
        PageId::new(SiteId(number % 5), 100 - number)
    }

    #[test]
    fn pages_have_the_numbers_of_their_processes() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                let own: Vec<u32> = (0..60)
                    .filter(|number| *number as usize % processes == process)
                    .collect();
                let of_page = |of: PageId| own.iter().copied().find(|number| page(*number) == of);
                let of_number = |number: u32| own.contains(&number).then(|| page(number));
                let named: Vec<u32> = if process == 0 {
                    (0..90).rev().collect()
                } else {
                    vec![1]
                };
                let pages: Vec<PageId> = named.iter().map(|number| page(*number)).collect();
                let numbers = numbers_of_pages(group, &pages, of_page).unwrap();
                let named: Vec<u32> = (0..60).map(|number| number * 7 % 60).collect();
                let pages = pages_of_numbers(group, &named, of_number).unwrap();
                let unknown = pages_of_numbers(group, &[3, 99], of_number);
                (numbers, pages, unknown.is_err())
            });
            for (process, (numbers, pages, is_refused)) in found.into_iter().enumerate() {
                // Numbers from 60 on belong to no process.
                let expected: Vec<(u32, u32)> = (30..90).map(|at| (at, 89 - at)).collect();
                assert_eq!(numbers, expected);
                let expected = (0..60).map(|number| page(number * 7 % 60));
                let expected: Vec<PageId> = if process == 0 {
                    expected.collect()
                } else {
                    Vec::new()
                };
                assert_eq!(pages, expected);
                assert_eq!(is_refused, process == 0);
            }
        }
    }

    #[test]
    fn a_page_of_two_processes_is_refused() {
        let found = in_threads(2, |group, _| {
            let numbers = numbers_of_pages(group, &[page(1)], |_| Some(1));
            let pages = pages_of_numbers(group, &[1], |number| Some(page(number)));
            (numbers.is_err(), pages.is_err())
        });
        assert_eq!(found, [(true, true), (true, false)]);
    }
}
