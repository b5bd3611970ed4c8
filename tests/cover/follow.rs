//! Following an earlier selection on a site that has changed since: links come and go, pages come,
//! go, and are worth more or less, a site's `P_uniq` rises or falls. Day after day, each selection
//! follows the one before it.
//!
//! - `random_sites`: small ones with negative values and ties, judged by full recomputation. Catches a
//!   bound that a change makes too low: a new way to a page, a lost way to a negative one, a value
//!   that rose, a page that an earlier pick covered and none of today's does.
//! - `a_menu`: larger ones of which most reach most, judged by a selection from scratch. Catches the
//!   same where bounds are worked out, groups of searches are many, and weights become exact.
//! - `threads`, `a_small_change`: the same bytes whatever the threads; what it costs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use seedbank::watch::Unwatched;
use seedbank_algorithms::cover::{
    Choice, CoverParams, Former, Method, PUniq, PageFacts, Score, Site, SiteCover, SiteGraph,
    Trail, page_value, plain, select_following,
};
use seedbank_algorithms::page::SiteId;

/// A page of a web that outlives days: whether it is there, what it is worth, where it links to.
#[derive(Clone, Debug)]
struct Page {
    there: bool,
    facts: PageFacts,
    links: BTreeSet<usize>,
}

/// A site from day to day, and its distinct digests, of 100.
#[derive(Clone, Debug)]
struct Web {
    pages: Vec<Page>,
    distinct: u64,
}

/// What a selection leaves to the next one.
struct Left {
    /// By page of the web: its value then and its links, where it was there.
    pages: Vec<Option<(i64, Vec<usize>)>>,
    cover: SiteCover,
    /// By number then: the page of the web.
    numbers: Vec<usize>,
    trail: Option<Trail>,
    p_uniq: PUniq,
}

impl Web {
    fn p_uniq(&self) -> PUniq {
        PUniq::of_digests(self.distinct, 100)
    }

    /// The pages that are there, and the site.
    fn site(&self, choice: &Choice) -> (Vec<usize>, SiteGraph) {
        let there = (0..self.pages.len()).filter(|&page| self.pages[page].there);
        let numbers: Vec<usize> = there.collect();
        let value =
            |page: &usize| page_value(self.pages[*page].facts, self.p_uniq(), &choice.weights);
        let values = numbers.iter().map(value).collect();
        let number = |page: &usize| numbers.binary_search(page).ok();
        let links = (0_u32..).zip(&numbers).flat_map(|(from, page)| {
            let to = self.pages[*page].links.iter().filter_map(number);
            to.map(move |to| (from, u32::try_from(to).unwrap()))
        });
        let graph = SiteGraph::new(values, links).unwrap();
        (numbers, graph)
    }
}

/// An earlier selection in the numbers of today's site.
fn former(left: &Left, numbers: &[usize], p_uniq: PUniq) -> Option<Former> {
    let trail = left.trail.as_ref()?;
    let gone = left.numbers.iter().filter(|page| !numbers.contains(page));
    let all: Vec<usize> = numbers.iter().chain(gone).copied().collect();
    let number = |page: usize| all.iter().position(|&other| other == page).unwrap();
    let as_number = |page: usize| u32::try_from(number(page)).unwrap();
    let mut values = vec![0; all.len()];
    let mut links = Vec::new();
    let mut marks = vec![Vec::new(); all.len()];
    let mut rounds = vec![u32::MAX; all.len()];
    for (then, &page) in left.numbers.iter().enumerate() {
        let (value, to) = left.pages[page].clone().unwrap();
        values[number(page)] = value;
        links.extend(to.into_iter().map(|to| (as_number(page), as_number(to))));
        marks[number(page)].clone_from(&trail.marks[then]);
    }
    for (round, pick) in (0..).zip(&left.cover.picks) {
        for page in &pick.covered() {
            rounds[number(left.numbers[page as usize])] = round;
        }
    }
    let weights = left.cover.picks.iter().map(|pick| match pick.seed.score {
        Score::Weight(weight) => weight,
        other => panic!("{other:?}"),
    });
    Some(Former {
        graph: SiteGraph::new(values, links).unwrap(),
        rounds,
        weights: weights.collect(),
        trail: Trail { marks },
        p_uniq: (left.p_uniq, p_uniq),
    })
}

/// Selects on each day's site, following the day before; returns what each day took by following and
/// from scratch.
fn follow(days: &[Web], params: &CoverParams, seats: u32, by_plain: bool) -> Vec<(u64, u64)> {
    let choice = params.choose().unwrap();
    let mut left: Option<Left> = None;
    let mut costs = Vec::new();
    for web in days {
        let (numbers, graph) = web.site(&choice);
        let site = Site {
            id: SiteId(7),
            name: "a.example",
            graph: &graph,
        };
        let select = |former: Option<&Former>| {
            let found = select_following(&[(site, seats, former)], &choice, &Unwatched);
            found.unwrap().remove(0)
        };
        let former = left
            .as_ref()
            .and_then(|left| former(left, &numbers, web.p_uniq()));
        let (cover, trail) = select(former.as_ref());
        let (cold, _) = select(None);
        let wanted = if by_plain {
            plain::select(site, seats, params, &Unwatched).unwrap()
        } else {
            cold.clone()
        };
        assert_eq!(cover.stop, wanted.stop);
        assert_eq!(cover.picks.len(), wanted.picks.len());
        for (found, wanted) in cover.picks.iter().zip(&wanted.picks) {
            assert_eq!((found.seed, &found.hops), (wanted.seed, &wanted.hops));
            if found.runner_up.is_some() && wanted.runner_up.is_some() {
                assert_eq!(found.runner_up, wanted.runner_up);
            }
        }
        costs.push((cover.page_visits, cold.page_visits));
        let mut pages = vec![None; web.pages.len()];
        for (number, &page) in (0_u32..).zip(&numbers) {
            let links = graph.successors(number).iter();
            let links = links.map(|&to| numbers[to as usize]).collect();
            pages[page] = Some((graph.values()[number as usize], links));
        }
        left = Some(Left {
            pages,
            cover,
            numbers,
            trail,
            p_uniq: web.p_uniq(),
        });
    }
    costs
}

/// What happens to a page.
#[derive(Clone, Debug)]
enum Event {
    Links(usize, Vec<usize>),
    Link(usize, usize),
    Facts(usize, PageFacts),
    There(usize, bool),
    Digests(u64),
}

fn facts() -> impl Strategy<Value = PageFacts> {
    let uncrawled = prop_oneof![3 => Just(0), 2 => 1_u32..4, 1 => 5_u32..40];
    (prop::bool::weighted(0.2), 0_u64..3, uncrawled).prop_map(|(spam, clicks, uncrawled)| {
        PageFacts {
            spam,
            clicks: clicks / 2,
            uncrawled_outlinks: uncrawled,
            quality: 0,
        }
    })
}

fn event(pages: usize) -> impl Strategy<Value = Event> {
    let page = move || 0..pages;
    prop_oneof![
        3 => (page(), page()).prop_map(|(from, to)| Event::Link(from, to)),
        1 => (page(), prop::collection::vec(page(), 0..4)).prop_map(|(from, to)| Event::Links(from, to)),
        2 => (page(), facts()).prop_map(|(page, facts)| Event::Facts(page, facts)),
        1 => (page(), any::<bool>()).prop_map(|(page, there)| Event::There(page, there)),
        1 => (40_u64..100).prop_map(Event::Digests),
    ]
}

fn apply(web: &mut Web, event: &Event) {
    match event {
        Event::Links(page, to) => web.pages[*page].links = to.iter().copied().collect(),
        Event::Link(from, to) => {
            let links = &mut web.pages[*from].links;
            if !links.remove(to) {
                links.insert(*to);
            }
        }
        Event::Facts(page, facts) => web.pages[*page].facts = *facts,
        Event::There(page, there) => web.pages[*page].there = *there,
        Event::Digests(distinct) => web.distinct = *distinct,
    }
}

fn days(pages: usize, links: usize) -> impl Strategy<Value = Vec<Web>> {
    let first = (
        prop::collection::vec((facts(), prop::bool::weighted(0.9)), pages),
        prop::collection::vec((0..pages, 0..pages), links),
    );
    let events = prop::collection::vec(prop::collection::vec(event(pages), 0..6), 1..4);
    (first, events).prop_map(|((pages, links), events)| {
        let pages = pages.into_iter().map(|(facts, there)| Page {
            there,
            facts,
            links: BTreeSet::new(),
        });
        let mut web = Web {
            pages: pages.collect(),
            distinct: 80,
        };
        for (from, to) in links {
            web.pages[from].links.insert(to);
        }
        let mut days = vec![web.clone()];
        for events in events {
            for event in &events {
                apply(&mut web, event);
            }
            days.push(web.clone());
        }
        days
    })
}

fn params() -> impl Strategy<Value = CoverParams> {
    (any::<bool>(), 0_u32..6, 0_u32..4, any::<bool>()).prop_map(
        |(greedy, hops, depth, positive_only)| CoverParams {
            method: if greedy {
                Method::Greedy
            } else {
                Method::MaxWeight
            },
            hops,
            depth: (!greedy).then_some(depth.min(hops)),
            positive_only,
            ..CoverParams::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_sites(days in days(40, 90), params in params(), seats in 0_u32..12) {
        follow(&days, &params, seats, true);
    }

    #[test]
    fn random_sites_of_more_pages_than_are_searched_at_once(
        days in days(320, 700),
        params in params(),
        seats in 1_u32..12,
    ) {
        follow(&days, &params, seats, false);
    }
}

/// A site whose pages link to a menu, to their section and to a few others.
fn menu(pages: usize, rng_seed: u32) -> (Web, impl FnMut(usize) -> usize) {
    let mut state = rng_seed;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut web = Web {
        pages: Vec::new(),
        distinct: 80,
    };
    for page in 0..pages {
        let mut links: BTreeSet<usize> = (0..4).map(|menu| menu * 7).collect();
        links.extend((0..draw(4)).map(|_| page / 20 * 20 + draw(20)));
        if draw(4) == 0 {
            links.insert(draw(pages));
        }
        links.retain(|&to| to < pages && (page % 9 != 3 || to % 7 != 0));
        let facts = PageFacts {
            spam: page % 31 == 3,
            clicks: u64::from(page % 13 == 1),
            uncrawled_outlinks: u32::try_from(draw(12)).unwrap(),
            quality: 0,
        };
        web.pages.push(Page {
            there: page % 50 != 49,
            facts,
            links,
        });
    }
    (web, draw)
}

#[test]
fn a_menu() {
    for (hops, method) in [
        (1, Method::Greedy),
        (2, Method::Greedy),
        (3, Method::Greedy),
        (5, Method::Greedy),
        (5, Method::MaxWeight),
    ] {
        let (mut web, mut draw) = menu(1500, 3 + hops);
        let mut days = vec![web.clone()];
        for day in 0..4 {
            for _ in 0..=10 * (day % 2) {
                let (page, to) = (draw(1500), draw(1500));
                apply(&mut web, &Event::Link(page, to));
                let page = draw(1500);
                let there = !web.pages[page].there || draw(2) == 0;
                apply(&mut web, &Event::There(page, there));
                web.pages[draw(1500)].facts.clicks ^= 1;
            }
            web.distinct = [80, 81, 81, 78][day];
            days.push(web.clone());
        }
        let params = CoverParams {
            method,
            hops,
            ..CoverParams::default()
        };
        follow(&days, &params, 8, false);
    }
}

/// A page of a section gets another link: nothing else has changed.
#[test]
fn a_small_change_costs_a_part() {
    for (hops, most) in [(1, 20), (2, 10), (3, 4)] {
        let (mut web, _) = menu(3000, 1);
        let mut days = vec![web.clone()];
        apply(&mut web, &Event::Link(1042, 1055));
        days.push(web);
        let params = CoverParams {
            method: Method::Greedy,
            hops,
            ..CoverParams::default()
        };
        let costs = follow(&days, &params, 8, false);
        let (follow, cold) = costs[1];
        eprintln!("{hops} hops: {follow} of {cold}");
        assert!(most * follow < cold, "{hops} hops: {follow} of {cold}");
        assert_eq!(costs[0].0, costs[0].1);
    }
}

#[test]
fn threads_make_no_difference() {
    let (mut web, mut draw) = menu(2000, 5);
    let mut days = vec![web.clone()];
    for _ in 0..30 {
        apply(&mut web, &Event::Link(draw(2000), draw(2000)));
    }
    days.push(web);
    let params = CoverParams {
        method: Method::Greedy,
        hops: 2,
        ..CoverParams::default()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new();
        let pool = pool.num_threads(threads).build().unwrap();
        pool.install(|| follow(&days, &params, 8, false))
    };
    assert_eq!(with(1), with(8));
}
