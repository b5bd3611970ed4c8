//! Pages that link to a page or that it links to, window by window, compared with the links of all
//! pages: which, in which order, and of one site alone; on banks with random histories, and for a page
//! with links from more sites and pages than are sorted. Catches windows that overlap or omit pages,
//! and orders by ids.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::command::record;
use crate::support::histories::for_each_history;
use crate::support::model::pages_of;
use crate::support::plans::exact_cores;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{LinkDirection, LinkedPage, LinkedRequest, PageView};
use seedbank::engine::{Bank, EngineError, PlanOptions, RefreshRequest};

const WAYS: [LinkDirection; 2] = [LinkDirection::In, LinkDirection::Out];

/// All that is told, a few at a time.
fn told(bank: &Bank, url: &str, request: &LinkedRequest) -> (u64, Vec<LinkedPage>) {
    let mut all = Vec::new();
    loop {
        let from = all.len() as u64;
        let request = LinkedRequest {
            offset: from,
            ..request.clone()
        };
        let answer = bank.linked(url, &request).unwrap();
        assert_eq!((&*answer.url, answer.offset), (url, from));
        assert!(answer.linked.len() <= request.limit);
        if answer.linked.is_empty() {
            assert_eq!(answer.pages, from);
            return (answer.pages, all);
        }
        all.extend(answer.linked);
    }
}

/// The names of the plans in whose last refresh each page is a seed.
fn seeds_by_plan(bank: &Bank, plans: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut seeds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for plan in plans {
        for seed in seeds_of(bank, *plan) {
            seeds.entry(seed.url).or_default().push((*plan).to_owned());
        }
    }
    seeds
}

fn refresh(bank: &Bank, plan: &str, options: PlanOptions) {
    let request = RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(options),
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap();
}

fn judged(bank: &Bank) {
    let cores = PlanOptions {
        seeds: Some(4),
        ..PlanOptions::default()
    };
    let per_site = PlanOptions {
        method: Some(Method::Cover(CoverMethod::Greedy)),
        per_site: Some(1),
        ..PlanOptions::default()
    };
    refresh(bank, "a-cores", cores);
    refresh(bank, "b-cover", per_site);
    let seeds = seeds_by_plan(bank, &["a-cores", "b-cover"]);
    let pages = pages_of(bank);
    let bank = bank.pinned().unwrap();
    let view = |page: &PageView| LinkedPage {
        url: page.url.clone(),
        site: page.site.clone(),
        state: page.state,
        spam: page.spam,
        seed_of: seeds.get(&page.url).cloned().unwrap_or_default(),
    };
    let sites: BTreeSet<&String> = pages.values().map(|page| &page.site).collect();
    for (url, page) in &pages {
        for direction in WAYS {
            let mut linked: Vec<LinkedPage> = match direction {
                LinkDirection::In => {
                    let linking = pages.values().filter(|other| other.outlinks.contains(url));
                    linking.map(view).collect()
                }
                LinkDirection::Out => page.outlinks.iter().map(|to| view(&pages[to])).collect(),
            };
            linked.sort_by(|a, b| (&a.site, &a.url).cmp(&(&b.site, &b.url)));
            let request = LinkedRequest {
                direction,
                limit: 2,
                ..LinkedRequest::default()
            };
            assert_eq!(
                told(&bank, url, &request),
                (linked.len() as u64, linked.clone())
            );
            for site in &sites {
                let mut of_site = linked.clone();
                of_site.retain(|page| page.site == **site);
                let request = LinkedRequest {
                    site: Some((*site).clone()),
                    ..request.clone()
                };
                assert_eq!(told(&bank, url, &request), (of_site.len() as u64, of_site));
            }
        }
    }
}

#[test]
fn pages_are_linked_with_those_of_all_links() {
    for_each_history(15, 0, |bank, _| judged(bank));
}

#[test]
fn of_very_many_the_asked_ones_are_told() {
    let bank = TestBank::new();
    let mut lines = String::new();
    let mut urls = Vec::new();
    // The order of ids is not that of names.
    for number in (0..1100).rev() {
        for url in [
            format!("http://s{number:04}.example/"),
            format!("http://big.example/{number:04}"),
        ] {
            lines += &record(&url, &["http://hot.example/"]);
            urls.push(url);
        }
    }
    bank.delta(&lines);
    urls.sort();
    let hot = "http://hot.example/";
    let asked = |request: LinkedRequest| {
        let answer = bank.bank.linked(hot, &request).unwrap();
        let told: Vec<String> = answer.linked.into_iter().map(|page| page.url).collect();
        (answer.pages, told)
    };
    for (from, limit) in [
        (0, 3),
        (1098, 5),
        (1100, 1),
        (2199, 9),
        (2200, 1),
        (u64::MAX, 1),
        (5, 0),
    ] {
        let after = urls.iter().skip(usize::try_from(from).unwrap());
        let request = LinkedRequest {
            offset: from,
            limit,
            ..LinkedRequest::default()
        };
        assert_eq!(
            asked(request),
            (2200, after.take(limit).cloned().collect()),
            "{from}"
        );
    }
    let request = LinkedRequest {
        site: Some("BIG.example".to_owned()),
        offset: 1099,
        ..LinkedRequest::default()
    };
    assert_eq!(
        asked(request),
        (1100, vec!["http://big.example/1099".to_owned()])
    );
    let request = LinkedRequest {
        site: Some("hat.example".to_owned()),
        ..LinkedRequest::default()
    };
    let error = bank.bank.linked(hot, &request).unwrap_err();
    assert!(matches!(error, EngineError::UnknownSite { .. }), "{error}");
}
