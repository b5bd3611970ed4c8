//! A refresh at the cost of what changed gives what one from scratch gives, whatever happened in
//! between: seeds, cores, their order, the evidence of every page. And it leaves a sound bank
//! behind.
//!
//! Random webs of some communities, in a bank, are changed again and again: links come and go,
//! pages come, go, become spam or stop being spam, alone or by their site, communities merge and split, batches are undone.
//! All this is done through a bank, since the point is what a refresh leaves to the next one.
//!
//! Some by default; `make test-long` runs more.
//!
//! Catches: a component that changed and was taken over; steps and bounds of the others that no longer
//! fit, or were forgotten; changed standings of pages; keys that stay behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;
use crate::support::properties::repeatable;
use crate::support::refreshes::came_to_the_same;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use seedbank::engine::plan::Pages;
use seedbank::engine::{PlanOptions, RefreshRequest};
use seedbank_algorithms::cores::{Growth, Pick};

/// A page of the web: its community, whether it is a hub or an authority, and its number there.
type Page = (u8, bool, u8);

fn url(page: Page) -> String {
    let (community, hub, number) = page;
    let role = if hub { "h" } else { "a" };
    // Some communities share a site; in others, pages of both roles are on the same site.
    match community % 3 {
        0 => format!(
            "http://both{}.test/{role}{community}-{number}",
            community / 6
        ),
        _ => format!("http://{role}{community}.test:{}/{number}", 80 + number % 2),
    }
}

/// What happens to a page.
#[derive(Clone, Debug)]
enum Event {
    /// It links to these.
    Links(Page, Vec<Page>),
    /// It is gone.
    Gone(Page),
    /// It becomes spam, or stops being spam.
    Spam(Page, bool),
    /// The pages of its site whose records do not say become spam, or stop being spam; with `None`
    /// nothing is said of the site any more.
    SiteSpam(Page, Option<bool>),
    /// Nothing that matters to cores.
    Clicks(Page, u32),
    /// What the previous batch did to pages is undone, as far as links go.
    Undo,
}

const COMMUNITIES: u8 = 14;

fn page(hub: bool) -> impl Strategy<Value = Page> {
    (0..COMMUNITIES, 0_u8..6).prop_map(move |(community, number)| (community, hub, number))
}

fn event() -> impl Strategy<Value = Event> {
    let own = (page(true), prop::collection::btree_set(0_u8..6, 0..6)).prop_map(|(hub, to)| {
        let to = to.into_iter().map(|number| (hub.0, false, number));
        Event::Links(hub, to.collect())
    });
    let beyond = (
        page(true),
        prop::collection::vec(page(false), 1..3),
        any::<bool>(),
    )
        .prop_map(|(hub, mut to, back)| {
            to.push((hub.0, false, hub.2));
            if back {
                // A page in both roles.
                return Event::Links((hub.0, false, hub.2), to[..1].to_vec());
            }
            Event::Links(hub, to)
        });
    let any_page = || any::<bool>().prop_flat_map(page);
    prop_oneof![
        5 => own,
        1 => beyond,
        1 => any_page().prop_map(Event::Gone),
        1 => (any_page(), any::<bool>()).prop_map(|(page, spam)| Event::Spam(page, spam)),
        1 => (any_page(), any::<Option<bool>>()).prop_map(|(page, spam)| Event::SiteSpam(page, spam)),
        2 => (any_page(), 0_u32..9).prop_map(|(page, clicks)| Event::Clicks(page, clicks)),
        1 => Just(Event::Undo),
    ]
}

/// The web as it is known to the test: who links where.
type Links = BTreeMap<Page, Vec<Page>>;

fn line(page: Page, to: &[Page]) -> String {
    let to: BTreeSet<String> = to.iter().map(|to| format!("\"{}\"", url(*to))).collect();
    let to: Vec<String> = to.into_iter().collect();
    let (url, to) = (url(page), to.join(","));
    format!(r#"{{"url":"{url}","outlinks":[{to}]}}"#)
}

/// The lines of a batch, of pages and of sites; `before` is the web as it was before the last one.
fn batch(events: &[Event], links: &mut Links, before: &mut Links) -> (String, String) {
    let last = std::mem::replace(before, links.clone());
    let mut records: BTreeMap<Page, String> = BTreeMap::new();
    let mut sites = String::new();
    for event in events {
        match event {
            Event::Links(page, to) => {
                links.insert(*page, to.clone());
                records.insert(*page, line(*page, to));
            }
            Event::Gone(page) => {
                links.remove(page);
                let url = url(*page);
                records.insert(*page, format!(r#"{{"url":"{url}","gone":true}}"#));
            }
            Event::Spam(page, spam) => {
                let url = url(*page);
                records.insert(*page, format!(r#"{{"url":"{url}","spam":{spam}}}"#));
            }
            Event::SiteSpam(page, spam) => {
                let url = url(*page);
                let host = url.split(['/', ':']).nth(3).unwrap();
                let spam = spam.map_or("null", |spam| if spam { "true" } else { "false" });
                writeln!(sites, r#"{{"site":"{host}","spam":{spam}}}"#).unwrap();
            }
            Event::Clicks(page, clicks) => {
                let url = url(*page);
                records.insert(*page, format!(r#"{{"url":"{url}","clicks":{clicks}}}"#));
            }
            Event::Undo => {
                let pages: BTreeSet<Page> = links.keys().chain(last.keys()).copied().collect();
                for page in pages {
                    let to = last.get(&page).cloned().unwrap_or_default();
                    if links.get(&page) != Some(&to) {
                        records.insert(page, line(page, &to));
                        links.insert(page, to);
                    }
                }
            }
        }
    }
    let mut text = String::new();
    for line in records.values() {
        writeln!(text, "{line}").unwrap();
    }
    (text, sites)
}

/// How a plan is run.
#[derive(Clone, Debug)]
struct Run {
    seeds: [u32; 3],
    options: PlanOptions,
    keep: Option<u32>,
}

fn run() -> impl Strategy<Value = Run> {
    let rule = prop_oneof![
        Just((None, None)),
        (2_u32..6).prop_map(|size| (None, Some(size))),
        prop::sample::select(&["60", "80", "100"][..])
            .prop_map(|density| (Some(density.parse().unwrap()), None)),
    ];
    (
        rule,
        prop::array::uniform3(2_u32..20),
        any::<(bool, bool, bool, bool)>(),
        prop::option::of(1_u32..4),
    )
        .prop_map(
            |((density, core_size), seeds, (literal, spam, stable, crawled), keep)| Run {
                seeds,
                options: PlanOptions {
                    density,
                    core_size,
                    growth: (literal && core_size.is_none()).then_some(Growth::Literal),
                    keep_spam: Some(spam),
                    pick: stable.then_some(Pick::Stable),
                    pages: Some(if crawled { Pages::Crawled } else { Pages::All }),
                    ..PlanOptions::default()
                },
                keep,
            },
        )
}

/// Counts of refreshes, and of steps that were taken over.
type Counts = (u32, u64);

fn live(run: &Run, batches: &[Vec<Event>], counts: &mut Counts) {
    let bank = TestBank::new();
    let mut links = Links::new();
    for community in 0..COMMUNITIES {
        for hub in 0..2 + community % 5 {
            let to = (0..2 + community % 4).map(|number| (community, false, number));
            links.insert((community, true, hub), to.collect());
        }
    }
    let first: Vec<String> = links.iter().map(|(page, to)| line(*page, to)).collect();
    bank.delta(&first.join("\n"));
    let mut before = links.clone();
    let refresh = |plan: &str, at: usize, cold| {
        let request = RefreshRequest {
            plan: Some(plan.to_owned()),
            options: exact_cores(PlanOptions {
                seeds: Some(run.seeds[at / 3 % 3]),
                ..run.options.clone()
            }),
            cold,
            keep: run.keep.filter(|_| !cold),
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request).unwrap()
    };
    for at in 0..=batches.len() {
        if at > 0 {
            let (pages, sites) = batch(&batches[at - 1], &mut links, &mut before);
            bank.delta_with_sites(&pages, &sites);
        }
        let ours = refresh("again", at, false);
        let cold = refresh("cold", at, true);
        assert_eq!(ours.components, cold.components);
        assert_eq!(ours.view.proof, cold.view.proof);
        came_to_the_same(&bank.bank, ours.view.refresh, cold.view.refresh);
        counts.0 += 1;
        counts.1 += ours.view.steps_reused;
        if at % 4 == 0 {
            bank.is_sound();
        }
    }
}

#[test]
fn sequences_of_changes() {
    let mut runner = TestRunner::new(Config {
        max_shrink_iters: 30,
        ..repeatable(10)
    });
    let mut counts = Counts::default();
    let batches = prop::collection::vec(prop::collection::vec(event(), 1..5), 8);
    let counted = std::cell::RefCell::new(&mut counts);
    runner
        .run(&(run(), batches), |(run, batches)| {
            live(&run, &batches, &mut counted.borrow_mut());
            Ok(())
        })
        .unwrap();
    // Otherwise the test has not tried what it is about.
    let (refreshes, reused) = counts;
    assert!(2 * reused > u64::from(refreshes), "{counts:?}");
}
