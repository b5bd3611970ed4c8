use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::communicator::of_threads;
use crate::graph::{Csr, Remaining, Rows, WeakComponents};
use crate::page::PageId;
use crate::properties::repeatable;

/// Rows of pages below this number, each with its carriers and targets.
pub(crate) type Links = Vec<(BTreeSet<u32>, BTreeSet<u32>)>;

/// Random rows whose carriers are distinct pages.
pub(crate) fn links(pages: u32) -> impl Strategy<Value = Links> {
    let targets = prop::collection::btree_set(0..pages, 1..6);
    let row = (prop::collection::btree_set(0..pages, 1..4), targets);
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let mut seen = BTreeSet::new();
        let rows = rows.into_iter().map(|(mut carriers, targets)| {
            carriers.retain(|page| seen.insert(*page));
            (carriers, targets)
        });
        rows.filter(|(carriers, _)| !carriers.is_empty()).collect()
    })
}

/// The rows of each process: dealt out in turn.
pub(crate) fn dealt(links: &Links, processes: usize) -> Vec<Rows> {
    let mut dealt = vec![Rows::new(); processes];
    for (at, (carriers, targets)) in links.iter().enumerate() {
        let [carriers, targets] =
            [carriers, targets].map(|of| of.iter().copied().collect::<Vec<u32>>());
        dealt[at % processes].push(&carriers, &targets).unwrap();
    }
    dealt
}

/// Runs a task in each of several threads, on the share of each.
pub(crate) fn in_shares<T: Send>(
    links: &Links,
    processes: usize,
    run: impl Fn(&Arc<HubShare>) -> T + Sync,
) -> Vec<T> {
    let dealt = dealt(links, processes);
    let run = &run;
    std::thread::scope(|scope| {
        let start = |(communicator, rows): (Arc<dyn Communicator>, &Rows)| {
            let rows = rows.clone();
            scope.spawn(move || run(&Arc::new(HubShare::new(&communicator, &rows).unwrap())))
        };
        let threads = of_threads(processes).into_iter().zip(&dealt).map(start);
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// The members of a class, with the smallest pages of the classes that it is linked with, in order.
type Class = (Vec<u32>, Vec<u32>);

fn classes(members: &Csr, lists: &Csr, ids: &[u32], count: u32) -> Vec<Class> {
    let class = |class| {
        let linked = lists.list(class).iter().map(|&other| ids[other as usize]);
        (members.list(class).to_vec(), linked.collect())
    };
    (0..count).map(class).collect()
}

fn ids(members: &Csr) -> Vec<u32> {
    (0..number(members.len()))
        .map(|class| members.list(class)[0])
        .collect()
}

proptest! {
    #![proptest_config(repeatable(200))]

    #[test]
    fn shares_have_the_classes_of_the_whole_graph(links in links(40), processes in 1_usize..6) {
        let whole = dealt(&links, 1)[0].graph().unwrap();
        let (hub_ids, authority_ids) = (ids(whole.hub_members()), ids(whole.authority_members()));
        let found = in_shares(&links, processes, |share| {
            let graph = share.graph();
            let (hubs, authorities) = (share.side(Role::Hub), share.side(Role::Authority));
            let mut values: Vec<f64> = authorities.ids().iter().map(|id| f64::from(*id)).collect();
            values[authorities.own as usize..].fill(-1.0);
            share.pull(Role::Authority, &mut values).unwrap();
            let expected = authorities.ids().iter().map(|id| f64::from(*id).to_bits());
            assert!(values.iter().map(|value| value.to_bits()).eq(expected));
            let left = share.all();
            for class in 0..number(hubs.len()) {
                let id = hub_ids.binary_search(&hubs.ids()[class as usize]).unwrap();
                let pages = whole.hub_members().list(number(id)).len();
                assert_eq!(left.hubs(class) as usize, pages);
                let row = graph.rows().list(class);
                assert!(row.iter().all(|to| graph.citers().list(*to).contains(&class)));
            }
            let of_slices: Vec<usize> = hubs.slices().flatten().collect();
            assert_eq!(of_slices, (0..hubs.own as usize).collect::<Vec<_>>());
            (
                classes(graph.hub_members(), graph.rows(), authorities.ids(), hubs.own),
                classes(graph.authority_members(), graph.citers(), hubs.ids(), authorities.own),
            )
        });
        let (hubs, authorities): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut hubs: Vec<Class> = hubs.into_iter().flatten().collect();
        let mut authorities: Vec<Class> = authorities.into_iter().flatten().collect();
        hubs.sort();
        authorities.sort();
        let all = number(hub_ids.len());
        prop_assert_eq!(hubs, classes(whole.hub_members(), whole.rows(), &authority_ids, all));
        let all = number(authority_ids.len());
        prop_assert_eq!(authorities, classes(whole.authority_members(), whole.citers(), &hub_ids, all));
    }

    #[test]
    fn components_are_those_of_the_whole_graph(links in links(60), processes in 1_usize..6) {
        let whole = dealt(&links, 1)[0].graph().unwrap();
        let pages: Vec<PageId> = (0..60).map(PageId).collect();
        let components = WeakComponents::new(&whole, &pages);
        let found = in_shares(&links, processes, |share| {
            let components = share.components().unwrap();
            let mut of_pages: BTreeMap<u32, u32> = BTreeMap::new();
            for (members, of) in [
                (share.graph().hub_members(), components.hubs),
                (share.graph().authority_members(), components.authorities),
            ] {
                for (class, component) in (0..).zip(of) {
                    of_pages.extend(members.list(class).iter().map(|page| (*page, component)));
                }
            }
            of_pages
        });
        for page in 0..60 {
            let component = components.component_of_page(&whole, page);
            let same = |other: &u32| components.component_of_page(&whole, *other) == component;
            let smallest = component.and_then(|_| (0..60).find(same));
            let labels: BTreeSet<u32> = found.iter().filter_map(|of| of.get(&page).copied()).collect();
            prop_assert_eq!(labels.into_iter().collect::<Vec<_>>(), smallest.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_processes_learn_how_many_pages_remain(
        links in links(30),
        removed in prop::collection::vec(prop::collection::vec(0_u32..30, 0..6), 1..4),
        processes in 1_usize..5,
    ) {
        let whole = dealt(&links, 1)[0].graph().unwrap();
        let mut expected = Remaining::all(&whole);
        for pages in &removed {
            expected.remove(&whole, pages.iter().copied());
        }
        in_shares(&links, processes, |share| {
            let mut left = share.all();
            for pages in &removed {
                let before = left.clone();
                let losses = share.remove(&mut left, pages.iter().copied()).unwrap();
                for (role, losses) in [(Role::Hub, &losses.hubs), (Role::Authority, &losses.authorities)] {
                    let lost = |class: &u32| before.pages(role, *class) - left.pages(role, *class);
                    let classes = 0..number(share.side(role).len());
                    let lost = classes.filter(|class| lost(class) > 0).map(|class| (class, lost(&class)));
                    assert_eq!(&lost.collect::<Vec<_>>(), losses);
                }
            }
            for (role, members) in [(Role::Hub, whole.hub_members()), (Role::Authority, whole.authority_members())] {
                for (class, id) in (0..).zip(share.side(role).ids()) {
                    let of_whole = ids(members).binary_search(id).unwrap();
                    assert_eq!(left.pages(role, class), expected.pages(role, number(of_whole)));
                }
            }
        });
    }
}

#[test]
fn sums_do_not_depend_on_the_number_of_processes() {
    let links: Links = (0..90)
        .map(|at| {
            (
                BTreeSet::from([100 + at]),
                BTreeSet::from([at % 31, at * 7 % 40]),
            )
        })
        .collect();
    let sum = |processes| {
        let sums = in_shares(&links, processes, |share| {
            let ids = share.side(Role::Hub).ids();
            let value = |at: usize| (f64::from(ids[at]) * 0.1).sin();
            let sum = share.sum_slices(Role::Hub, |range| [range.map(value).sum()]);
            sum.unwrap()[0].to_bits()
        });
        assert!(sums.iter().all(|sum| *sum == sums[0]));
        sums[0]
    };
    let all: Vec<u64> = [1, 2, 3, 7, 64, 70].into_iter().map(sum).collect();
    assert!(all.iter().all(|sum| *sum == all[0]), "{all:?}");
}

#[test]
fn a_page_with_two_rows_is_refused() {
    let mut rows = vec![Rows::new(), Rows::new()];
    rows[0].push(&[7], &[1, 2]).unwrap();
    rows[1].push(&[7, 8], &[1]).unwrap();
    std::thread::scope(|scope| {
        for (communicator, rows) in of_threads(2).into_iter().zip(rows) {
            scope.spawn(move || assert!(HubShare::new(&communicator, &rows).is_err()));
        }
    });
}
