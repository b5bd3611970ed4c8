//! Gives names and pages numbers that are the same in all processes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::group::{Group, malformed};
use crate::engine::Result;
use seedbank_algorithms::graph::number;
use seedbank_store::StoreError;

/// The most bytes of names in a message, and the most entries in one.
const PORTION: usize = 256 << 10;
const ENTRIES: usize = 1 << 15;

/// Some names that a process sends to another.
#[derive(Serialize, Deserialize)]
struct Names {
    names: Vec<String>,
    /// Whether the sender has more names for any process.
    has_more: bool,
}

/// Some of the numbers that a process knows, with the positions of their pages.
#[derive(Serialize, Deserialize)]
struct Numbers {
    numbers: Vec<(u32, u32)>,
    has_more: bool,
}

/// Numbers distinct names, so that a name has the same number in all processes; from 0 on, and without gaps. `owner`
/// returns the process that numbers a name, the same in all of them. All processes call it at the same time.
///
/// Cost: each name is sent once. Memory: the names that this process numbers.
pub(in crate::engine) fn number_names(
    group: Group<'_>,
    names: &[String],
    owner: impl Fn(&str) -> usize,
) -> Result<Vec<u32>> {
    let processes = group.processes();
    // The names by owner, and how many of them were sent.
    let mut by_owner: Vec<Vec<u32>> = vec![Vec::new(); processes];
    for (at, name) in (0..).zip(names) {
        let of_owner = by_owner.get_mut(owner(name)).ok_or_else(malformed)?;
        of_owner.push(at);
    }
    let mut sent = vec![0; processes];
    let mut numbered: HashMap<String, u32> = HashMap::new();
    // The owner of each name, and its number there.
    let mut found = vec![(0, 0); names.len()];
    loop {
        let mut messages = Vec::with_capacity(processes);
        let mut portions: Vec<&[u32]> = Vec::with_capacity(processes);
        for (places, sent) in by_owner.iter().zip(&mut sent) {
            let unsent = places.get(*sent..).unwrap_or_default();
            let portion = portion_of(unsent, names);
            *sent += portion.len();
            let names = portion.iter().map(|at| names[*at as usize].clone());
            messages.push(names.collect::<Vec<String>>());
            portions.push(portion);
        }
        let mut unsent = by_owner.iter().zip(&sent);
        let has_more = unsent.any(|(places, sent)| places.len() > *sent);
        let messages = messages.into_iter().map(|names| Names { names, has_more });
        let requests = group.exchange(&messages.collect::<Vec<_>>())?;
        let has_more = requests.iter().any(|request| request.has_more);
        let mut answers: Vec<Vec<u32>> = Vec::with_capacity(processes);
        for request in requests {
            let mut numbers = Vec::with_capacity(request.names.len());
            for name in request.names {
                let next = u32::try_from(numbered.len());
                let next = next.map_err(|_| StoreError::Full("domain"))?;
                numbers.push(*numbered.entry(name).or_insert(next));
            }
            answers.push(numbers);
        }
        let answers = group.exchange(&answers)?;
        for (owner, (portion, numbers)) in (0..).zip(portions.into_iter().zip(answers)) {
            if portion.len() != numbers.len() {
                return Err(malformed().into());
            }
            for (&at, number) in portion.iter().zip(numbers) {
                found[at as usize] = (owner, number);
            }
        }
        if !has_more {
            break;
        }
    }
    // Numbers of an owner follow those of the owners before it.
    let mut firsts: Vec<u32> = Vec::with_capacity(processes);
    let mut next: u32 = 0;
    for count in group.gather(&number(numbered.len()))? {
        firsts.push(next);
        let sum = next.checked_add(count);
        next = sum.ok_or(StoreError::Full("domain"))?;
    }
    let first = |owner: usize| firsts.get(owner).copied().unwrap_or(0);
    let numbers = found.into_iter();
    let numbers = numbers.map(|(owner, number): (usize, u32)| first(owner).checked_add(number));
    Ok(numbers.collect::<Option<_>>().ok_or_else(malformed)?)
}

/// Returns the first of these places whose names fit in a message.
fn portion_of<'a>(places: &'a [u32], names: &[String]) -> &'a [u32] {
    let mut bytes = 0;
    let fits = |at: &&u32| {
        let has_room = bytes < PORTION;
        bytes += names[**at as usize].len();
        has_room
    };
    let count = places.iter().take(ENTRIES).take_while(fits).count();
    &places[..count]
}

/// Returns numbers in the order of their positions, given those that this process knows. No two processes have the same
/// position. All processes call it at the same time, and get the same list.
pub(in crate::engine) fn collect_numbers(group: Group<'_>, own: &[(u32, u32)]) -> Result<Vec<u32>> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    let mut portions = own.chunks(ENTRIES);
    loop {
        let numbers = portions.next().unwrap_or_default().to_vec();
        let has_more = portions.len() > 0;
        let received = group.gather(&Numbers { numbers, has_more })?;
        let is_last = !received.iter().any(|of| of.has_more);
        all.extend(received.into_iter().flat_map(|of| of.numbers));
        if is_last {
            break;
        }
    }
    all.sort_unstable();
    if !all.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(malformed().into());
    }
    Ok(all.into_iter().map(|(_, number)| number).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::super::group::tests::{Scripted, in_threads};
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    proptest! {
        #[test]
        fn a_name_has_one_number_in_all_processes(
            names in prop::collection::vec(prop::collection::btree_set("[abc]{1,3}", 0..20), 1..4),
        ) {
            let processes = names.len();
            let names: Vec<Vec<String>> =
                names.into_iter().map(|of| of.into_iter().collect()).collect();
            let numbers = in_threads(processes, |group, process| {
                number_names(group, &names[process], |name| name.len() % processes).unwrap()
            });
            let mut by_name: BTreeMap<&String, u32> = BTreeMap::new();
            for (names, numbers) in names.iter().zip(&numbers) {
                prop_assert_eq!(names.len(), numbers.len());
                for (name, &number) in names.iter().zip(numbers) {
                    prop_assert_eq!(*by_name.entry(name).or_insert(number), number);
                }
            }
            let distinct: BTreeSet<u32> = by_name.values().copied().collect();
            let count = u32::try_from(by_name.len()).unwrap();
            prop_assert!(distinct.into_iter().eq(0..count));
        }

        #[test]
        fn any_messages_are_numbers_or_refused(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..6),
        ) {
            let communicator = Scripted(Mutex::new(messages.clone()));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let names = ["a".to_owned(), "b".to_owned()];
            if let Ok(numbers) = number_names(group, &names, str::len) {
                prop_assert_eq!(numbers.len(), 2);
            }
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            if let Ok(numbers) = collect_numbers(group, &[(4, 7)]) {
                prop_assert!(numbers.contains(&7));
            }
        }
    }

    #[test]
    fn long_lists_are_sent_in_portions() {
        let count = 3 * u32::try_from(ENTRIES).unwrap();
        let found = in_threads(2, |group, process| {
            // The second process has a third of the positions.
            let own = (0..count).filter(|at| usize::from(at % 3 == 1) == process);
            let own: Vec<(u32, u32)> = own.map(|at| (at, count - at)).collect();
            collect_numbers(group, &own).unwrap()
        });
        let expected: Vec<u32> = (1..=count).rev().collect();
        assert_eq!(found, [expected.clone(), expected]);
        let names: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        let numbers = in_threads(2, |group, _| {
            number_names(group, &names, |name| usize::from(name.ends_with('7'))).unwrap()
        });
        assert_eq!(numbers[0], numbers[1]);
        let distinct: BTreeSet<u32> = numbers[0].iter().copied().collect();
        assert!(distinct.into_iter().eq(0..count));
    }

    #[test]
    fn a_position_of_two_processes_is_refused() {
        let found = in_threads(2, |group, _| collect_numbers(group, &[(1, 5)]).is_err());
        assert_eq!(found, [true, true]);
    }
}
