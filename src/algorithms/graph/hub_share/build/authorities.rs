//! Authority classes: pages of all processes with equal citers are merged.

use super::super::SLICES;
use super::hubs::Hubs;
use super::places::{ClassKey, Places, TWO_ROWS, ids_of, mix, read_list, read_slice, write_list};
use crate::graph::build::equal_lists;
use crate::graph::csr::Csr;
use crate::graph::dense_index::{NONE, number};
use crate::graph::exchange::{exchange, malformed};
use crate::watch::Interrupted;

/// What a process collects of pages, by page.
#[derive(Default)]
pub(super) struct Collected {
    /// The targets of links, each with a class that links to it.
    pub(super) cited: Vec<(u32, ClassKey)>,
    /// The members of hub classes.
    pub(super) members: Vec<(u32, ClassKey)>,
}

impl Collected {
    pub(super) fn collect(places: Places<'_>, hubs: &Hubs) -> Result<Self, Interrupted> {
        let mut collected = Self::default();
        let (mut targets, mut members) = (Vec::new(), Vec::new());
        let mut next = (0..).zip(&hubs.slices);
        exchange(
            places.communicator,
            |messages| {
                let Some((hub, &slice)) = next.next() else {
                    return false;
                };
                let of_hub = hubs.members.list(hub);
                let targets = places.divide(hubs.targets.list(hub), |page| places.collector(page));
                let members = places.divide(of_hub, |page| places.collector(page));
                for (message, (targets, members)) in
                    messages.iter_mut().zip(targets.iter().zip(&members))
                {
                    if !targets.is_empty() || !members.is_empty() {
                        message.number(of_hub[0].into());
                        message.number(slice.into());
                        write_list(message, targets);
                        write_list(message, members);
                    }
                }
                true
            },
            |_, message| {
                let hub = (message.index()?, read_slice(message)?);
                read_list(message, &mut targets)?;
                read_list(message, &mut members)?;
                collected
                    .cited
                    .extend(targets.iter().map(|page| (*page, hub)));
                collected
                    .members
                    .extend(members.iter().map(|page| (*page, hub)));
                Some(())
            },
        )?;
        collected.cited.sort_unstable();
        collected.members.sort_unstable();
        let is_repeated = |pair: &[(u32, ClassKey)]| pair[0].0 == pair[1].0;
        if collected.members.windows(2).any(is_repeated) {
            return Err(places.communicator.fail(TWO_ROWS));
        }
        Ok(collected)
    }
}

/// The authority classes of a process, in the order of their smallest pages.
#[derive(Default)]
pub(super) struct Authorities {
    pub(super) members: Csr,
    /// The smallest pages of the hub classes that cite each class.
    pub(super) citers: Csr,
    /// The slice of each entry of `citers`.
    pub(super) citer_slices: Vec<u8>,
    pub(super) slices: Vec<u8>,
    /// For pages that are also in a hub class: the class here, and that hub class.
    pub(super) as_hubs: Vec<(u32, ClassKey)>,
}

/// Returns the slice of an authority class, given the hub classes that cite it.
pub(crate) fn slice_of_citers(citers: impl Iterator<Item = ClassKey>) -> u8 {
    let first = citers.min_by_key(|(hub, _)| (mix((*hub).into()), *hub));
    first.map_or(0, |(_, slice)| slice)
}

impl Authorities {
    /// Sends collected pages to the processes of their authority classes, and merges pages with equal citers.
    pub(super) fn merge(places: Places<'_>, collected: Collected) -> Result<Self, Interrupted> {
        let Collected { cited, members } = collected;
        let mut pages: Vec<u32> = Vec::new();
        let (mut lists, mut list_slices) = (Csr::default(), Vec::new());
        let mut as_hubs: Vec<(u32, ClassKey)> = Vec::new();
        let mut rest = cited.as_slice();
        let (mut citers, mut slices) = (Vec::new(), Vec::new());
        let mut received = Vec::new();
        exchange(
            places.communicator,
            |messages| {
                let Some(&(page, _)) = rest.first() else {
                    return false;
                };
                let end = rest.iter().take_while(|of| of.0 == page).count();
                let (of_page, others) = rest.split_at(end);
                rest = others;
                citers.clear();
                slices.clear();
                citers.extend(of_page.iter().map(|(_, hub)| hub.0));
                slices.extend(of_page.iter().map(|(_, hub)| hub.1));
                let slice = slice_of_citers(of_page.iter().map(|(_, hub)| *hub));
                let process = places.of_slice(slice);
                let message = &mut messages[process];
                message.number(page.into());
                let as_hub = members.binary_search_by_key(&page, |of| of.0).ok();
                match as_hub.map(|at| members[at].1) {
                    None => message.number(0),
                    Some((hub, slice)) => {
                        message.number(1 + u64::from(slice));
                        message.number(hub.into());
                    }
                }
                write_list(message, &citers);
                message.0.extend_from_slice(&slices);
                true
            },
            |_, message| {
                let page = message.index().filter(|page| *page != NONE)?;
                if let Some(slice) = message.number()?.checked_sub(1) {
                    let slice = u8::try_from(slice).ok()?;
                    let slice = (usize::from(slice) < SLICES).then_some(slice)?;
                    as_hubs.push((page, (message.index()?, slice)));
                }
                read_list(message, &mut received)?;
                let (slices, items) = message.0.split_at_checked(received.len())?;
                message.0 = items;
                let are_valid = slices.iter().all(|slice| usize::from(*slice) < SLICES);
                if received.is_empty() || !are_valid {
                    return None;
                }
                pages.push(page);
                lists.push(received.iter().copied());
                list_slices.extend_from_slice(slices);
                Some(())
            },
        )?;
        drop((cited, members));
        let numbers: Vec<u32> = (0..number(pages.len())).collect();
        let groups = equal_lists(&numbers, &lists);
        let mut classes: Vec<(Vec<u32>, u32)> = Vec::new();
        for group in groups.slices() {
            let mut members: Vec<u32> = group.iter().map(|at| pages[*at as usize]).collect();
            members.sort_unstable();
            classes.push((members, group[0]));
        }
        classes.sort_unstable();
        let mut of_process = Self::default();
        let mut class_of: Vec<(u32, u32)> = Vec::with_capacity(pages.len());
        for (class, (members, list)) in (0..).zip(classes) {
            class_of.extend(members.iter().map(|page| (*page, class)));
            of_process.members.push(members);
            let range = lists.range(list);
            let slices = &list_slices[range];
            let citers = lists.list(list);
            let keys = citers.iter().copied().zip(slices.iter().copied());
            of_process.slices.push(slice_of_citers(keys));
            of_process.citers.push(citers.iter().copied());
            of_process.citer_slices.extend_from_slice(slices);
        }
        class_of.sort_unstable();
        let is_own = |slice: &u8| places.of_slice(*slice) == places.communicator.process();
        let is_repeated = |pair: &[(u32, u32)]| pair[0].0 == pair[1].0;
        if class_of.windows(2).any(is_repeated) || !of_process.slices.iter().all(is_own) {
            return Err(malformed(places.communicator));
        }
        for (page, hub) in as_hubs {
            let at = class_of.binary_search_by_key(&page, |of| of.0);
            let at = at.map_err(|_| malformed(places.communicator))?;
            of_process.as_hubs.push((class_of[at].1, hub));
        }
        of_process.as_hubs.sort_unstable();
        of_process.as_hubs.dedup();
        Ok(of_process)
    }
}

/// The links of own hub classes: the class, and the authority class.
pub(super) type HubLinks = Vec<(u32, ClassKey)>;

/// Tells hub classes which authority classes they link to. Returns the links of the own ones, in the order of both
/// classes.
pub(super) fn link_hubs(
    places: Places<'_>,
    hubs: &Hubs,
    authorities: &Authorities,
) -> Result<HubLinks, Interrupted> {
    let mut links = HubLinks::new();
    let mut next = (0..).zip(&authorities.slices);
    let mut received = Vec::new();
    let ids = ids_of(&hubs.members);
    exchange(
        places.communicator,
        |messages| {
            let Some((class, &slice)) = next.next() else {
                return false;
            };
            let id = authorities.members.list(class)[0];
            let slices = &authorities.citer_slices[authorities.citers.range(class)];
            let mut of_process = vec![Vec::new(); places.processes];
            for (&hub, &slice) in authorities.citers.list(class).iter().zip(slices) {
                of_process[places.of_slice(slice)].push(hub);
            }
            for (message, hubs) in messages.iter_mut().zip(&of_process) {
                if !hubs.is_empty() {
                    message.number(id.into());
                    message.number(slice.into());
                    write_list(message, hubs);
                }
            }
            true
        },
        |from, message| {
            let authority = (message.index()?, read_slice(message)?);
            if places.of_slice(authority.1) != from {
                return None;
            }
            read_list(message, &mut received)?;
            for id in &received {
                let hub = ids.binary_search(id).ok()?;
                links.push((number(hub), authority));
            }
            Some(())
        },
    )?;
    links.sort_unstable();
    Ok(links)
}
