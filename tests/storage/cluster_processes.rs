//! Commands of several processes: the same tables, byte by byte, as by one.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use seedbank::engine::error::ErrorKind;
use seedbank::engine::plan::kinds::{Greedy, MaxOut, MaxWeight, Oldest};
use seedbank::engine::plan::{Budget, Revisit, Share, Value};
use seedbank::engine::policy::List;
use seedbank::engine::{Plan, PlanOptions, RefreshRequest};

use crate::processes::{Cluster, StopAt, compare_numbers_of_processes, with_causes, with_pages};
use crate::support::records::url;
use crate::support::scratch;

/// Plans that select seeds on each site.
fn sites() -> Vec<(&'static str, PlanOptions)> {
    vec![
        ("same", Plan::sites().per_site(2).into()),
        (
            "value",
            Plan::sites().seeds_in_total(7, Share::Value).into(),
        ),
        (
            "limited",
            Plan::sites()
                .seeds_in_total(5, Share::Pages)
                .max_per_site(1)
                .into(),
        ),
    ]
}

/// Plans over the web that run in all processes.
fn webs() -> Vec<(&'static str, PlanOptions)> {
    let greedy = || Plan::over_web(Greedy).seeds(6).hops(2);
    let tuned = || Budget::pages(12).holdouts(2);
    let list = |pages: &[usize]| {
        let urls: Vec<String> = pages.iter().map(|page| url(*page)).collect();
        List::parse("list", &urls.join("\n"))
    };
    let uncrawled = Value(250_000);
    vec![
        ("greedy", greedy().fetch_cost(uncrawled).into()),
        (
            "weights",
            greedy()
                .value_known(uncrawled)
                .value_quality(Value(2_000_000))
                .p_uniq(Value(500_000))
                .into(),
        ),
        ("all", greedy().seeds(100).positive_only(false).into()),
        ("budget", Plan::coverage().seeds(4).budget(tuned()).into()),
        (
            "hops",
            Plan::coverage().seeds(3).hops(1).budget(tuned()).into(),
        ),
        (
            "discovery",
            Plan::discovery().seeds(4).budget(tuned()).into(),
        ),
        (
            "known",
            Plan::coverage()
                .seeds(2)
                .budget(Budget::pages(9).holdouts(0))
                .into(),
        ),
        (
            "revisit",
            Plan::coverage()
                .seeds(4)
                .revisit(Revisit::Auto)
                .budget(tuned())
                .into(),
        ),
        ("learned", Plan::learned().seeds(4).budget(12).into()),
        (
            "depth",
            Plan::over_web(MaxWeight).seeds(5).hops(3).depth(1).into(),
        ),
        ("per-site", greedy().max_per_site(1).max_failures(1).into()),
        (
            "per-domain",
            greedy().max_per_domain(2).revisit(Revisit::Days(1)).into(),
        ),
        (
            "changes",
            greedy().max_changes(1).min_quality(Value(300_000)).into(),
        ),
        (
            "pins",
            greedy()
                .pin(list(&[27, 3, 14, 0, 21]))
                .max_per_domain(2)
                .into(),
        ),
        (
            "lists",
            greedy()
                .exclude(list(&[1, 7, 12, 13]))
                .exclude_from_graph(list(&[0, 6, 20]))
                .into(),
        ),
    ]
}

/// Plans over the web that run in process 0.
fn webs_of_one_process() -> Vec<(&'static str, PlanOptions)> {
    vec![
        ("importance", Plan::importance().seeds(4).budget(12).into()),
        ("max-out", Plan::over_web(MaxOut).seeds(4).into()),
        ("oldest", Plan::over_web(Oldest).seeds(4).into()),
    ]
}

impl Cluster {
    /// Refreshes the plans over the web that run in all processes, and checks that they do, and those that do not.
    fn refresh_webs(&self) -> Vec<String> {
        let mut reports = Vec::new();
        for (is_shared, plans) in [(true, webs()), (false, webs_of_one_process())] {
            for plan in plans {
                let before = self.requests.runs.load(Ordering::Relaxed);
                let report = self.refresh(vec![plan]).pop().unwrap();
                let runs = self.requests.runs.load(Ordering::Relaxed) - before;
                // Seeds are reused if no batch came in between.
                let expected = if is_shared && report.contains(", (0, ") {
                    self.processes - 1
                } else {
                    0
                };
                assert_eq!(runs, expected, "{report}");
                reports.push(report);
            }
        }
        reports
    }
}

#[test]
fn any_number_of_processes_writes_the_same_tables() {
    compare_numbers_of_processes((2, 4), |cluster| {
        let mut results = cluster.refresh(sites());
        results.push(cluster.exported());
        results
    });
}

#[test]
fn any_number_of_processes_selects_the_same_over_the_web() {
    compare_numbers_of_processes((1, 2), Cluster::refresh_webs);
}

/// A plan over the web that runs in all processes.
fn web() -> RefreshRequest {
    RefreshRequest::with("web", Plan::over_web(Greedy).seeds(3).hops(2))
}

#[test]
fn a_process_that_fails_ends_the_selection_in_all() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    assert_eq!(cluster.bank.refresh(&web()).unwrap().view.seeds, 3);
    let messages = cluster.requests.messages.load(Ordering::Relaxed);
    assert!(messages > 0);
    cluster.damage_pages(folder.path());
    // The next selection does not wait for the last one.
    for _ in 0..2 {
        let begun = Instant::now();
        let error = cluster.bank.refresh(&web()).unwrap_err();
        let text = with_causes(&error);
        assert!(text.contains("pages"), "{text}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{text}");
    }
    assert_eq!(cluster.bank.status().unwrap().counters.refreshes, 1);
}

#[test]
fn an_interrupted_selection_ends_in_all_processes() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    for stage in ["search", "select", "commit"] {
        let watch = StopAt::stage(stage);
        let error = cluster.bank.watched(watch).refresh(&web()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{stage}: {error}");
    }
    assert_eq!(cluster.bank.refresh(&web()).unwrap().view.seeds, 3);
    assert!(cluster.bank.check().unwrap().is_clean());
}
