//! Selections by cores in a cluster bank: the same tables, byte by byte, in any number of processes, and the same cores as
//! in a plain bank. All processes find cores within a tolerance and classic ones, process 0 exact ones.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use seedbank::engine::error::ErrorKind;
use seedbank::engine::plan::{Pages, Pick, Slack};
use seedbank::engine::policy::List;
use seedbank::engine::query::PageView;
use seedbank::engine::refresh::Proof;
use seedbank::engine::{Bank, EngineError, IngestRequest, Plan, PlanOptions, RefreshRequest};
use seedbank::ingest::{Input, Naming};
use seedbank_formats::synth::{SynthOptions, day_text};
use serde_json::{Value, json};

use crate::processes::{Cluster, StopAt, compare_numbers_of_processes, with_causes, with_pages};
use crate::support::records::url;
use crate::support::scratch;

/// Plans by cores.
fn cores() -> Vec<(&'static str, PlanOptions)> {
    let list = |pages: &[usize]| {
        let urls: Vec<String> = pages.iter().map(|page| url(*page)).collect();
        List::parse("list", &urls.join("\n"))
    };
    let within = || Plan::cores().within(Slack::ONE_PERCENT);
    let five = || Plan::cores().within("5".parse().unwrap());
    vec![
        ("within", within().seeds(6).into()),
        ("few", five().seeds(2).pick(Pick::Stable).into()),
        ("succeed", five().seeds(4).succeed().max_hubs(2).into()),
        (
            "spam",
            within()
                .seeds(3)
                .keep_spam(true)
                .pages(Pages::Crawled)
                .into(),
        ),
        (
            "lists",
            within()
                .seeds(5)
                .exclude(list(&[1, 7, 12, 13]))
                .exclude_from_graph(list(&[0, 6, 20]))
                .into(),
        ),
        (
            "policies",
            five()
                .seeds(5)
                .pin(list(&[27, 3, 14, 0, 21]))
                .max_per_domain(2)
                .min_hubs(1)
                .max_failures(1)
                .into(),
        ),
        ("changes", within().seeds(4).max_changes(1).into()),
        ("classic", Plan::cores().classic_hits(5).seeds(3).into()),
        (
            "classic lists",
            Plan::cores()
                .classic_hits(3)
                .seeds(5)
                .exclude(list(&[1, 7, 12, 13]))
                .into(),
        ),
        ("exact", Plan::cores().within(Slack::EXACT).seeds(3).into()),
        (
            "exact and stable",
            Plan::cores()
                .within(Slack::EXACT)
                .seeds(4)
                .pick(Pick::Stable)
                .exclude(list(&[1, 7, 12, 13]))
                .into(),
        ),
    ]
}

/// A refresh of a plan.
struct Refreshed {
    /// What the command reports, without times.
    report: String,
    /// Whether other processes took part.
    is_shared: bool,
    steps_reused: u64,
}

impl Cluster {
    /// Refreshes a plan.
    fn refresh_cores(&self, name: &str, plan: PlanOptions) -> Refreshed {
        let before = self.requests.runs.load(Ordering::Relaxed);
        let request = RefreshRequest {
            keep: Some(2),
            explain_cost: true,
            ..RefreshRequest::with(name, plan)
        };
        let mut steps_reused = 0;
        let report = match self.bank.refresh(&request) {
            Ok(report) => {
                let view = &report.view;
                steps_reused = view.steps_reused;
                let steps = (view.steps_reused, view.steps_recomputed, &report.steps);
                let work = (view.link_visits, report.products, report.pages_loaded);
                let counts = (view.seeds, view.cores, view.proof, report.components);
                let others = (&view.policy, &report.costs, &report.pruned, view.cold);
                format!("{name}: {counts:?}, {steps:?}, {work:?}, {others:?}")
            }
            Err(error) => format!("{name}: {error}"),
        };
        let runs = self.requests.runs.load(Ordering::Relaxed) - before;
        assert!(runs == 0 || runs == self.processes - 1, "{report}: {runs}");
        Refreshed {
            report,
            is_shared: runs > 0,
            steps_reused,
        }
    }
}

#[test]
fn any_number_of_processes_selects_the_same_cores() {
    let taken = std::cell::Cell::new(0);
    compare_numbers_of_processes((1, 3), |cluster| {
        let mut reports = Vec::new();
        for (name, plan) in cores() {
            let Refreshed {
                report, is_shared, ..
            } = cluster.refresh_cores(name, plan);
            taken.set(taken.get() + u32::from(is_shared));
            reports.push(report);
        }
        reports
    });
    assert!(taken.get() > 10, "{taken:?}");
}

/// Returns requests that ingest the days of a crawl.
fn days(folder: &Path) -> Vec<IngestRequest> {
    let crawl = SynthOptions {
        days: 2,
        // Few, so that regions keep steps.
        born_per_day: 0.005,
        changed_per_day: 0.005,
        gone_per_day: 0.002,
        ..SynthOptions::new(1500)
    };
    let day = |day: u32| {
        let file = folder.join(format!("{day}.jsonl"));
        fs::write(&file, day_text(&crawl, day).unwrap()).unwrap();
        IngestRequest {
            inputs: vec![Input::File(file)],
            name: Some("a day".to_owned()),
            ..IngestRequest::default()
        }
    };
    (0..=2).map(day).collect()
}

/// The cores and the seeds of the last refresh of a plan, and explanations of some pages.
fn answers(bank: &Bank, plan: &str) -> Value {
    let cores = bank.cores(plan).unwrap().map(Result::unwrap);
    let seeds = bank.seeds(plan).unwrap().map(Result::unwrap);
    let mut urls = Vec::new();
    let add = |page: PageView| {
        urls.push(page.url);
        Ok::<_, EngineError>(())
    };
    bank.pages(add).unwrap();
    urls.sort();
    let explainer = bank.explainer(plan).unwrap();
    let explanations = urls.iter().step_by(17).map(|url| {
        let mut of_page = serde_json::to_value(explainer.page(url).unwrap()).unwrap();
        of_page["cost"] = Value::Null;
        of_page
    });
    let explanations: Vec<Value> = explanations.collect();
    assert!(explanations.len() > 50);
    let (cores, seeds): (Vec<_>, Vec<_>) = (cores.collect(), seeds.collect());
    json!({"cores": cores, "seeds": seeds, "explanations": explanations})
}

/// Compares all tables of banks byte by byte.
fn assert_same_tables(clusters: &[Cluster; 3]) {
    let tables = clusters.each_ref().map(Cluster::tables);
    for (at, entries) in &tables[0] {
        for other in &tables[1..] {
            assert_eq!(entries, &other[at], "{at:?}");
        }
    }
}

/// An empty bank in one database, and empty cluster banks in one to three processes.
fn plain_and_clusters(folder: &Path) -> (Bank, [Cluster; 3]) {
    let plain = Bank::create(folder.join("plain"), Naming::default()).unwrap();
    let clusters = [1, 2, 3].map(|processes| {
        let folder = folder.join(processes.to_string());
        Cluster::new(&folder, Naming::default(), processes)
    });
    (plain, clusters)
}

#[test]
fn a_crawl_has_the_same_cores_in_any_bank() {
    let folder = scratch();
    let days = days(folder.path());
    let (plain, clusters) = plain_and_clusters(folder.path());
    let plans: [(&str, PlanOptions); 2] = [
        (
            "within",
            Plan::cores().within(Slack::ONE_PERCENT).seeds(20).into(),
        ),
        ("classic", Plan::cores().classic_hits(20).seeds(10).into()),
    ];
    let mut reused = 0;
    for (day, number) in days.iter().zip(0..) {
        plain.ingest(day).unwrap();
        for cluster in &clusters {
            cluster.bank.ingest(day).unwrap();
        }
        // Classic cores reuse nothing, so one day tells all.
        let plans = plans.iter().take(if number == 0 { 2 } else { 1 });
        for (name, plan) in plans {
            let request = RefreshRequest::with(name, plan.clone());
            let expected = plain.refresh(&request).unwrap();
            let expected_answers = answers(&plain, name);
            let mut reports = Vec::new();
            for cluster in &clusters {
                let Refreshed {
                    report,
                    is_shared,
                    steps_reused,
                } = cluster.refresh_cores(name, plan.clone());
                assert_eq!(is_shared, cluster.processes > 1);
                reports.push(report);
                assert_eq!(expected_answers, answers(&cluster.bank, name));
                assert_eq!(steps_reused, expected.view.steps_reused);
                reused += steps_reused;
            }
            let of_plain = (
                expected.view.seeds,
                expected.view.cores,
                expected.view.proof,
                expected.components,
            );
            assert!(
                reports[0].starts_with(&format!("{name}: {of_plain:?}")),
                "{reports:?}"
            );
            assert_eq!(reports[0], reports[1]);
            assert_eq!(reports[0], reports[2]);
        }
        assert_same_tables(&clusters);
    }
    assert!(reused > 0);
    for cluster in &clusters {
        let check = cluster.bank.check().unwrap();
        assert!(check.is_clean(), "{check:?}");
    }
}

#[test]
fn process_0_finds_exact_cores_as_in_a_plain_bank() {
    let folder = scratch();
    let days = days(folder.path());
    let (plain, clusters) = plain_and_clusters(folder.path());
    let exact = || PlanOptions::from(Plan::cores().within(Slack::EXACT).seeds(20));
    for day in &days {
        plain.ingest(day).unwrap();
        let request = RefreshRequest::with("exact", exact());
        let expected = plain.refresh(&request).unwrap().view;
        assert_eq!((expected.proof, expected.cores), (Proof::Exact, 20));
        let expected_answers = answers(&plain, "exact");
        let mut reports = Vec::new();
        for cluster in &clusters {
            cluster.bank.ingest(day).unwrap();
            let refreshed = cluster.refresh_cores("exact", exact());
            assert!(!refreshed.is_shared, "{}", refreshed.report);
            reports.push(refreshed.report);
            assert_eq!(expected_answers, answers(&cluster.bank, "exact"));
        }
        assert_eq!(reports[0], reports[1]);
        assert_eq!(reports[0], reports[2]);
        assert_same_tables(&clusters);
    }
    for cluster in &clusters {
        let check = cluster.bank.check().unwrap();
        assert!(check.is_clean(), "{check:?}");
    }
}

#[test]
fn a_process_that_fails_or_is_interrupted_ends_the_selection_in_all() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    let plan = Plan::cores().within(Slack::ONE_PERCENT).seeds(4);
    let request = RefreshRequest::with("within", plan);
    for stage in ["load links", "cores", "evidence", "commit"] {
        let bank = cluster.bank.watched(StopAt::stage(stage));
        let error = bank.refresh(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{stage}: {error}");
    }
    let report = cluster.bank.refresh(&request).unwrap();
    assert_eq!((report.view.seeds, report.view.refresh), (4, 1));
    assert!(cluster.bank.check().unwrap().is_clean());
    cluster.damage_pages(folder.path());
    for _ in 0..2 {
        let begun = Instant::now();
        let text = with_causes(&cluster.bank.refresh(&request).unwrap_err());
        assert!(text.contains("pages"), "{text}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{text}");
    }
    assert_eq!(cluster.bank.status().unwrap().counters.refreshes, 1);
}
