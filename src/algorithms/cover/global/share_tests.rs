//! Selections over shares of several processes, compared with those of one process on the whole web.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use proptest::prelude::*;

use super::super::params::{CoverParams, Method};
use super::super::pick::Scored;
use super::super::value::{UNIT, Value};
use super::samples::{SmallWeb, labelled, large, shared_of, webs};
use super::*;
use crate::communicator::{Communicator, of_threads};
use crate::graph::{Csr, number};
use crate::properties::repeatable;
use crate::watch::{Unwatched, Watch};

/// What a graph is made of, whatever its shares.
#[derive(Clone, Debug)]
struct Web {
    values: Vec<i64>,
    successors: Vec<Vec<u32>>,
    may_be_seed: Vec<bool>,
    known: Vec<bool>,
    values_as_known: Vec<i64>,
    pins: Vec<u32>,
    caps: Vec<Cap>,
    sites: Vec<u32>,
    contents: Vec<Option<u32>>,
}

impl Web {
    fn of(web: &SmallWeb) -> Self {
        let links = web
            .links
            .iter()
            .map(|links| links.iter().copied().collect());
        Self {
            values: web.values.clone(),
            successors: links.collect(),
            may_be_seed: web.may_be_seed.clone(),
            known: vec![false; web.values.len()],
            values_as_known: Vec::new(),
            pins: Vec::new(),
            caps: Vec::new(),
            sites: vec![0; web.values.len()],
            contents: vec![None; web.values.len()],
        }
    }

    fn whole(&self) -> WebGraph {
        let mut successors = Csr::default();
        for links in &self.successors {
            successors.push(links.iter().copied());
        }
        WebGraph::from_successors(self.values.clone(), successors, &self.may_be_seed)
            .unwrap()
            .with_constraints(self.pins.clone(), self.caps.clone())
            .unwrap()
            .with_known(self.known.clone(), self.values_as_known.clone())
            .with_sites(self.sites.clone())
            .with_contents(&shared_of(&self.contents))
            .unwrap()
    }

    /// The share of a process, given the process of each page.
    fn share(&self, owners: &[usize], communicator: &Arc<dyn Communicator>) -> WebGraph {
        let (process, processes) = (communicator.process(), communicator.processes());
        let of = |process: usize| -> Vec<u32> {
            let pages = 0..number(owners.len());
            pages
                .filter(|page| owners[*page as usize] == process)
                .collect()
        };
        // By the owner, the pages of it to which a process links.
        let ghosts = |process: usize| -> Vec<Vec<u32>> {
            let mut ghosts = vec![Vec::new(); processes];
            for page in of(process) {
                for &to in &self.successors[page as usize] {
                    if owners[to as usize] != process {
                        ghosts[owners[to as usize]].push(to);
                    }
                }
            }
            for ghosts in &mut ghosts {
                ghosts.sort_unstable();
                ghosts.dedup();
            }
            ghosts
        };
        let own = of(process);
        let local = |page: &u32| number(own.binary_search(page).unwrap());
        let own_ghosts = ghosts(process);
        let placed: BTreeMap<u32, u32> = own_ghosts.iter().flatten().copied().zip(0..).collect();
        let mut successors = Csr::default();
        for page in &own {
            let links = self.successors[*page as usize].iter();
            let mut targets: Vec<u32> = links
                .map(|to| {
                    placed
                        .get(to)
                        .map_or_else(|| local(to), |at| number(own.len()) + at)
                })
                .collect();
            targets.sort_unstable();
            successors.push(targets);
        }
        let counts: Vec<u32> = own_ghosts
            .iter()
            .map(|ghosts| number(ghosts.len()))
            .collect();
        let mirrors = (0..processes).map(|other| {
            let of_other = &ghosts(other)[process];
            of_other.iter().map(local).collect()
        });
        let communicator = Arc::clone(communicator);
        let share = WebShare::new(communicator, own.clone(), &counts, mirrors.collect()).unwrap();
        let pick = |of: &[i64]| {
            own.iter()
                .filter_map(|page| of.get(*page as usize))
                .copied()
                .collect()
        };
        let is = |of: &[bool]| {
            own.iter()
                .map(|page| of[*page as usize])
                .collect::<Vec<bool>>()
        };
        let caps = self.caps.iter().map(|cap| Cap {
            group: own.iter().map(|page| cap.group[*page as usize]).collect(),
            most: cap.most,
        });
        let shared = shared_of(&self.contents).into_iter().filter_map(|of| {
            let page = number(own.binary_search(&of.page).ok()?);
            Some(SharedContent { page, ..of })
        });
        let shared: Vec<SharedContent> = shared.collect();
        WebGraph::from_share(
            pick(&self.values),
            successors,
            &is(&self.may_be_seed),
            share,
        )
        .unwrap()
        .unwrap()
        .with_constraints(self.pins.clone(), caps.collect())
        .unwrap()
        .with_known(is(&self.known), pick(&self.values_as_known))
        .with_sites(own.iter().map(|page| self.sites[*page as usize]).collect())
        .with_contents(&shared)
        .unwrap()
    }

    /// Selects in one process. Returns the graph too.
    fn select(&self, choice: &WebChoice, previous: Previous) -> (WebGraph, WebSelection) {
        let mut graph = self.whole();
        let mut selected = select_after(&mut graph, choice, &[], previous, &Unwatched).unwrap();
        for page in 0..graph.pages() {
            if graph.candidates().binary_search(&page).is_err() {
                selected.gains[page as usize] = 0;
            }
        }
        (graph, selected)
    }

    /// Selects in several processes, and returns what one process returns.
    fn select_in(
        &self,
        owners: &[usize],
        processes: usize,
        choice: &WebChoice,
        previous: &Previous,
    ) -> WebSelection {
        let communicators = of_threads(processes);
        let selected: Vec<(WebGraph, WebSelection)> = thread::scope(|scope| {
            let threads: Vec<_> = communicators
                .iter()
                .map(|communicator| {
                    scope.spawn(|| {
                        let mut graph = self.share(owners, communicator);
                        let own = of_share(previous, &graph);
                        let selected = select_after(&mut graph, choice, &[], own, &Unwatched);
                        (graph, selected.unwrap())
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let mut gains = vec![0; owners.len()];
        for (graph, selected) in &selected {
            for &page in graph.candidates() {
                gains[graph.number(page) as usize] = selected.gains[page as usize];
            }
        }
        let mut shares = selected.into_iter().map(|(graph, mut selected)| {
            for hop in selected
                .cover
                .picks
                .iter_mut()
                .flat_map(|pick| &mut pick.hops)
            {
                hop.pages = hop.pages.iter().map(|page| graph.number(page)).collect();
            }
            for scored in &mut selected.cover.uncovered {
                scored.page = graph.number(scored.page);
            }
            selected
        });
        let mut all = shares.next().unwrap();
        for share in shares {
            for (all, pick) in all.cover.picks.iter_mut().zip(&share.cover.picks) {
                assert_eq!((all.seed, all.runner_up), (pick.seed, pick.runner_up));
                assert_eq!(all.hops.len(), pick.hops.len());
                for (all, hop) in all.hops.iter_mut().zip(&pick.hops) {
                    assert!(all.pages.is_disjoint(&hop.pages));
                    all.pages |= &hop.pages;
                    all.value += hop.value;
                }
            }
            all.cover.uncovered.extend(&share.cover.uncovered);
            assert_eq!(all.cover.picks.len(), share.cover.picks.len());
            assert_eq!(all.cover.stop, share.cover.stop);
            assert_eq!(all.cover.page_visits, share.cover.page_visits);
            assert_eq!((all.setting, &all.tuning), (share.setting, &share.tuning));
            assert_eq!(all.pass_visits, share.pass_visits);
            assert_eq!((all.searched, all.kept), (share.searched, share.kept));
        }
        all.gains = gains;
        all.cover
            .uncovered
            .sort_unstable_by_key(|scored: &Scored| scored.page);
        all
    }
}

/// Returns what an earlier selection has left for the pages of a share.
fn of_share(previous: &Previous, graph: &WebGraph) -> Previous {
    let own = (0..graph.pages()).map(|page| graph.number(page) as usize);
    let gains = previous.gains.as_ref().map(|cached| CachedGains {
        gains: own.clone().map(|page| cached.gains[page]).collect(),
        has_gain: own.clone().map(|page| cached.has_gain[page]).collect(),
        values: own.clone().map(|page| cached.values[page]).collect(),
        other_links: (0..)
            .zip(own)
            .filter(|(_, page)| cached.other_links.binary_search(&number(*page)).is_ok())
            .map(|(local, _)| local)
            .collect(),
    });
    let list = previous.list.iter();
    Previous {
        gains,
        list: list
            .map(|page| page.and_then(|page| graph.local(page)))
            .collect(),
    }
}

/// A web in which some pages are known only from links, with pins and caps.
fn complete_webs() -> impl Strategy<Value = Web> {
    let pages = prop_oneof![3 => 2..30_u32, 1 => 60..90_u32];
    pages
        .prop_flat_map(|pages| webs(pages..pages + 1))
        .prop_flat_map(|web| {
            let pages = web.values.len();
            let bools = |share| proptest::collection::vec(proptest::bool::weighted(share), pages);
            let groups = proptest::collection::vec(0_u32..5, pages);
            let pins = proptest::collection::btree_set(0..number(pages), 0..3);
            let caps = proptest::collection::vec((groups, 1_u32..4), 0..3);
            let as_known = proptest::collection::vec(-3_i64..9, pages);
            (
                Just(web),
                bools(0.2),
                pins,
                caps,
                proptest::option::of(as_known),
                labelled(pages),
            )
        })
        .prop_map(|(web, known, pins, caps, as_known, contents)| {
            let mut all = Web::of(&web);
            all.contents = contents;
            for (page, _) in known.iter().enumerate().filter(|of| *of.1) {
                all.contents[page] = None;
                all.successors[page] = Vec::new();
            }
            all.known = known;
            all.pins = pins.into_iter().rev().collect();
            let cap = |(group, most)| Cap { group, most };
            all.caps = caps.into_iter().map(cap).collect();
            all.values_as_known = as_known.unwrap_or_default();
            all
        })
}

/// The kinds of plans that can be selected for in several processes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The hops, the fetch cost and the value of known pages.
    Given(u32, i64, Option<i64>),
    /// The budget, the objective, the number of draws, the limit of visits, and the hops.
    Tuned(u64, bool, u32, Option<u64>, Option<u32>),
    /// The budget.
    Learned(Option<u64>),
}

fn kinds() -> impl Strategy<Value = Kind> {
    let price = prop_oneof![Just(0), Just(UNIT / 3), 0..2 * UNIT];
    let given = (0_u32..5, price, proptest::option::of(0..UNIT));
    let visits = proptest::option::of(0_u64..3000);
    let hops = proptest::option::of(0_u32..4);
    let tuned = (1_u64..40, any::<bool>(), 0_u32..4, visits, hops);
    let learned = proptest::option::of(1_u64..40);
    prop_oneof![
        2 => given.prop_map(|(hops, price, known)| Kind::Given(hops, price, known)),
        2 => tuned.prop_map(|(budget, discovery, draws, visits, hops)| {
            Kind::Tuned(budget, discovery, draws, visits, hops)
        }),
        1 => learned.prop_map(Kind::Learned),
    ]
}

/// Plans of these kinds.
fn plans() -> impl Strategy<Value = WebChoice> {
    let seeds = prop_oneof![1_u32..9, Just(40)];
    let limits = prop_oneof![
        Just("none"),
        Just("per-site=2,depth=2"),
        Just("per-site=15%"),
        Just("panel"),
        Just("rounds=20%,sites-at-once=2"),
        Just("round=3,per-site-round=2,per-site=20%,fail=20%,enter=seeds"),
        Just("depth=2,enter=crawled")
    ];
    let max_per_site = proptest::option::of(1_u32..4);
    (seeds, kinds(), any::<[bool; 2]>(), limits, max_per_site).prop_map(
        |(seeds, kind, [by_depth, positive_only], limits, max_per_site)| {
            let mut params = WebParams {
                max_per_site,
                tunes_max_per_site: max_per_site.is_none(),
                cover: CoverParams {
                    method: Method::Greedy,
                    seeds: Some(seeds),
                    positive_only,
                    ..CoverParams::default()
                },
                ..WebParams::default()
            };
            match kind {
                Kind::Learned(budget) => {
                    params.value_by = ValueBy::Learned;
                    params.budget = budget;
                }
                Kind::Given(hops, price, known) => {
                    if by_depth {
                        params.cover.method = Method::MaxWeight;
                        params.cover.depth = Some(hops / 2);
                    }
                    params.hops = Some(hops);
                    params.fetch_cost = Some(Value(price));
                    params.value_known = known.map(Value);
                }
                Kind::Tuned(budget, discovery, holdouts, visits, hops) => {
                    params.budget = Some(budget);
                    (params.holdouts, params.tune_visits) = (Some(holdouts), visits);
                    params.hops = hops;
                    params.objective = if discovery {
                        Objective::Discovery
                    } else {
                        Objective::Value
                    };
                }
            }
            if params.budget.is_some() {
                params.crawl = limits.parse().unwrap();
            }
            params.choose().unwrap()
        },
    )
}

proptest! {
    #![proptest_config(repeatable(400))]

    #[test]
    fn any_number_of_processes_selects_the_same(
        mut web in complete_webs(),
        choice in plans(),
        processes in 1_usize..5,
        owners in proptest::collection::vec(0_usize..4, 90),
    ) {
        let owners: Vec<usize> =
            owners[..web.values.len()].iter().map(|owner| owner % processes).collect();
        // A site is in one process.
        web.sites = (0..).zip(&owners).map(|(page, &owner)| 3 * number(owner) + page % 3).collect();
        let whole = web.select(&choice, Previous::default()).1;
        let shared = web.select_in(&owners, processes, &choice, &Previous::default());
        prop_assert_eq!(shared, whole);
    }

    #[test]
    fn an_earlier_selection_changes_nothing_but_the_work(
        mut web in complete_webs(),
        mut choice in plans(),
        changes in proptest::collection::vec((0_u32..90, 0_u32..90, 0_u32..4), 0..5),
        slack in prop_oneof![Just("0"), Just("1"), Just("20")],
        processes in 1_usize..4,
        owners in proptest::collection::vec(0_usize..3, 90),
    ) {
        let pages = number(web.values.len());
        let owners: Vec<usize> = owners[..web.values.len()].iter().map(|of| of % processes).collect();
        // A site is in one process.
        web.sites = owners.iter().map(|owner| number(*owner)).collect();
        let mut before = web.clone();
        let mut is_new = vec![false; pages as usize];
        for (page, to, kind) in changes {
            let (page, to) = (page % pages, to % pages);
            let links = &mut before.successors[page as usize];
            match kind {
                0 if page != to => match links.binary_search(&to) {
                    Ok(at) => drop(links.remove(at)),
                    Err(at) => links.insert(at, to),
                },
                1 => before.values[page as usize] = i64::from(to) - 20,
                2 => before.may_be_seed[page as usize] ^= true,
                3 => before.contents[page as usize] = Some(to % 6),
                _ => is_new[page as usize] = true,
            }
        }
        // The web before did not have some pages.
        for (page, links) in before.successors.iter_mut().enumerate() {
            links.retain(|to| !is_new[page] && !is_new[*to as usize]);
        }
        before.contents.iter_mut().zip(&is_new).filter(|of| *of.1).for_each(|of| *of.0 = None);
        if choice.method == Method::Greedy && choice.value_by == ValueBy::Weights {
            choice.keep_seeds = slack.parse().unwrap();
        }
        let (graph, selected) = before.select(&choice, Previous::default());
        let picks = selected.cover.picks.iter().map(|pick| Some(pick.seed.page));
        let list: Vec<Option<u32>> = picks.collect();
        let mut cached = CachedGains {
            gains: selected.gains,
            has_gain: vec![false; pages as usize],
            values: graph.values().to_vec(),
            other_links: Vec::new(),
        };
        for page in 0..pages {
            let at = page as usize;
            cached.has_gain[at] = graph.candidates().binary_search(&page).is_ok();
            if is_new[at] {
                cached.values[at] = 7;
            }
            if before.successors[at] != web.successors[at] {
                cached.other_links.push(page);
            }
        }
        let after = |gains| Previous { gains, list: list.clone() };
        let scratch = web.select(&choice, after(None)).1;
        let reused = web.select(&choice, after(Some(cached.clone()))).1;
        prop_assert_eq!(&reused.gains, &scratch.gains);
        let without_work = |mut selected: WebSelection| {
            (selected.pass_visits, selected.searched, selected.cover.page_visits) = (0, (0, 0), 0);
            selected
        };
        prop_assert!(reused.searched.0 <= scratch.searched.0);
        prop_assert_eq!(without_work(reused.clone()), without_work(scratch));
        let shared = web.select_in(&owners, processes, &choice, &after(Some(cached)));
        prop_assert_eq!(shared, reused);
    }
}

#[test]
fn thousands_of_pages_are_searched_from_in_several_waves() {
    let graph = large();
    let pages = graph.pages();
    let lists = (0..pages).map(|page| graph.successors().list(page).to_vec());
    let is_candidate = |page: u32| graph.candidates().binary_search(&page).is_ok();
    let web = Web {
        values: graph.values().to_vec(),
        successors: lists.collect(),
        may_be_seed: (0..pages).map(is_candidate).collect(),
        known: (0..pages).map(|page| !is_candidate(page)).collect(),
        values_as_known: Vec::new(),
        pins: Vec::new(),
        caps: Vec::new(),
        sites: (0..pages).map(|page| page / 50).collect(),
        contents: vec![None; pages as usize],
    };
    // Hosts of 50 pages.
    let owners: Vec<usize> = (0..pages as usize).map(|page| page / 50 * 7 % 3).collect();
    let mut params = WebParams {
        cover: CoverParams {
            method: Method::Greedy,
            seeds: Some(30),
            ..CoverParams::default()
        },
        ..WebParams::default()
    };
    for (hops, budget) in [(Some(0), None), (Some(3), None), (Some(2), Some(500))] {
        (params.hops, params.budget) = (hops, budget);
        params.fetch_cost = hops.filter(|_| budget.is_none()).map(|_| Value(UNIT / 4));
        params.holdouts = budget.map(|_| 2);
        if budget.is_some() {
            params.crawl = "per-site=5%".parse().unwrap();
        }
        let choice = params.choose().unwrap();
        let (graph, whole) = web.select(&choice, Previous::default());
        let shared = web.select_in(&owners, 3, &choice, &Previous::default());
        assert_eq!(shared, whole);
        if budget.is_none() {
            // What lost a link, or its value, is searched again by the pages that lead to it.
            let values = graph.values().to_vec();
            let mut cached = CachedGains {
                gains: whole.gains.clone(),
                has_gain: web.may_be_seed.clone(),
                values,
                other_links: vec![500],
            };
            cached.other_links.retain(|_| hops == Some(3));
            let previous = Previous {
                gains: Some(cached),
                list: Vec::new(),
            };
            let again = web.select_in(&owners, 3, &choice, &previous);
            assert_eq!(again.cover.picks, whole.cover.picks);
            let searched = if hops == Some(3) { 1..3000 } else { 0..1 };
            assert!(searched.contains(&again.searched.0), "{:?}", again.searched);
        }
    }
}

#[test]
fn what_needs_the_whole_web_is_refused() {
    let web = Web {
        values: vec![UNIT; 2],
        successors: vec![vec![1], vec![0]],
        may_be_seed: vec![true; 2],
        known: vec![false; 2],
        values_as_known: Vec::new(),
        pins: Vec::new(),
        caps: Vec::new(),
        sites: vec![0; 2],
        contents: vec![None; 2],
    };
    let communicators = of_threads(1);
    let mut graph = web.share(&[0, 0], &communicators[0]);
    for method in [Method::MaxOut, Method::Random, Method::Pagerank] {
        let params = WebParams {
            cover: CoverParams {
                method,
                ..CoverParams::default()
            },
            ..WebParams::default()
        };
        let refused = select(&mut graph, &params.choose().unwrap(), &[], &Unwatched);
        assert!(refused.is_err(), "{method:?}");
    }
    let params = WebParams {
        value_by: ValueBy::Pagerank,
        ..WebParams::default()
    };
    let refused = select(&mut graph, &params.choose().unwrap(), &[], &Unwatched);
    assert!(refused.is_err());
}

/// Stops after a number of questions.
struct StopsAfter(std::sync::atomic::AtomicU32);

impl Watch for StopsAfter {
    fn stopped(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_sub(1, Relaxed) == 0 || self.0.load(Relaxed) > u32::MAX / 2
    }
}

#[test]
fn if_one_process_stops_all_stop() {
    let web = Web::of(&super::samples::ring(60));
    let owners: Vec<usize> = (0..60).map(|page| page % 3).collect();
    let mut params = WebParams::default();
    (params.budget, params.cover.seeds) = (Some(20), Some(5));
    params.cover.method = Method::Greedy;
    let choice = params.choose().unwrap();
    for after in [0, 1, 5, 50, 500] {
        let communicators = of_threads(3);
        let stopped = thread::scope(|scope| {
            let threads: Vec<_> = communicators
                .into_iter()
                .map(|communicator| {
                    let (web, owners, choice) = (&web, &owners, &choice);
                    scope.spawn(move || {
                        let mut graph = web.share(owners, &communicator);
                        let is_first = communicator.process() == 0;
                        let stops = StopsAfter(if is_first { after } else { u32::MAX / 2 }.into());
                        drop(communicator);
                        select(&mut graph, choice, &[], &stops).is_err()
                    })
                })
                .collect();
            threads.into_iter().all(|thread| thread.join().unwrap())
        });
        assert!(stopped, "{after}");
    }
}

#[test]
fn a_share_has_the_pages_and_ghosts_that_it_refers_to() {
    let communicator = &of_threads(1)[0];
    let share = |ghosts: &[u32], mirrors| {
        WebShare::new(Arc::clone(communicator), vec![0, 1], ghosts, mirrors)
    };
    let graph = |share, values: usize, targets: &[u32]| {
        let mut successors = Csr::default();
        for page in 0..values {
            successors.push(targets.iter().copied().filter(|_| page == 0));
        }
        WebGraph::from_share(vec![1; values], successors, &vec![true; values], share).unwrap()
    };
    assert!(share(&[], vec![vec![2]]).is_err());
    assert!(graph(share(&[], Vec::new()).unwrap(), 2, &[1]).is_ok());
    assert!(graph(share(&[], Vec::new()).unwrap(), 2, &[2]).is_err());
    assert!(graph(share(&[], Vec::new()).unwrap(), 3, &[1]).is_err());
    // What belongs to processes that do not exist is dropped.
    assert!(graph(share(&[0, 5], vec![Vec::new(), vec![1]]).unwrap(), 2, &[2]).is_err());
}
