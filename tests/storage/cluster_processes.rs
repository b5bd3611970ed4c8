//! Commands of several processes: the same tables, byte by byte, as by one.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use seedbank::engine::cluster::{OtherProcesses, ProcessServer, RemoteProcess};
use seedbank::engine::error::{ErrorKind, StoreError};
use seedbank::engine::plan::kinds::{Greedy, MaxOut, MaxWeight};
use seedbank::engine::plan::{Budget, Share, Value};
use seedbank::engine::policy::List;
use seedbank::engine::{Bank, IngestReport, IngestRequest, Plan, PlanOptions, RefreshRequest};
use seedbank::ingest::{Input, Naming};
use seedbank::watch::{Unwatched, Watch};
use seedbank_store::RawEntry;

use crate::support::histories::{PLENTY, history, parts};
use crate::support::model::of_batch;
use crate::support::records::{Batch, batch, url};
use crate::support::{cases, scratch};

const PARTS: u32 = 3;

/// Tables with times of day and identities.
const OF_THE_RUN: [&str; 3] = ["batches", "meta", "refreshes"];

/// The start of a request that lets a process select over its share of the web, and of one that sends a message.
const RUN: [u8; 2] = [u8::MAX - 2, 1];
const MESSAGE: [u8; 2] = [u8::MAX - 2, 2];

/// The start of a request about an export.
const EXPORT: [u8; 1] = [u8::MAX - 3];

/// The requests that processes have received.
#[derive(Default)]
struct Requests {
    runs: AtomicUsize,
    messages: AtomicUsize,
    exports: AtomicUsize,
}

/// A process that is called without a network.
struct Called {
    server: Arc<ProcessServer>,
    requests: Arc<Requests>,
}

impl RemoteProcess for Called {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let Requests {
            runs,
            messages,
            exports,
        } = &*self.requests;
        let kinds = [(&RUN[..], runs), (&MESSAGE, messages), (&EXPORT, exports)];
        for (kind, count) in kinds {
            let is_of_kind = request.starts_with(kind);
            count.fetch_add(is_of_kind.into(), Ordering::Relaxed);
        }
        let answer = self.server.answer(request);
        answer.map_err(|error| StoreError::Process(error.into()))
    }
}

/// A cluster bank, each of whose parts is in the folder of its process.
struct Cluster {
    bank: Bank,
    parts: Vec<PathBuf>,
    processes: usize,
    requests: Arc<Requests>,
}

impl Cluster {
    /// A new bank; with one process, that process calls no other.
    fn new(folder: &Path, naming: Naming, processes: usize) -> Self {
        let home = |process: usize| folder.join(format!("{processes}-{process}"));
        let bank = Bank::create_cluster(home(0), naming, PARTS).unwrap();
        let owners: Vec<usize> = (0..PARTS as usize)
            .map(|part| part * processes / PARTS as usize)
            .collect();
        let mut parts = vec![home(0)];
        for (part, owner) in owners.iter().enumerate().skip(1) {
            let name = format!("{part:03}");
            let place = home(*owner).join("parts");
            fs::create_dir_all(&place).unwrap();
            if *owner > 0 {
                fs::rename(home(0).join("parts").join(&name), place.join(&name)).unwrap();
            }
            parts.push(place.join(name));
        }
        let requests = Arc::new(Requests::default());
        if processes == 1 {
            return Self {
                bank,
                parts,
                processes,
                requests,
            };
        }
        let servers: Vec<Arc<ProcessServer>> = (0..processes)
            .map(|process| {
                let own = (0..PARTS)
                    .zip(&owners)
                    .filter(|(_, owner)| **owner == process);
                let own: BTreeSet<u32> = own.map(|(part, _)| part).collect();
                Arc::new(ProcessServer::new(process, &home(process), &own, Unwatched).unwrap())
            })
            .collect();
        let called = |process: usize| -> Arc<dyn RemoteProcess> {
            Arc::new(Called {
                server: Arc::clone(&servers[process]),
                requests: Arc::clone(&requests),
            })
        };
        for (process, server) in servers.iter().enumerate() {
            let others = (0..processes).map(|other| (other != process).then(|| called(other)));
            server.connect(owners.clone(), others.collect());
        }
        let mut others = OtherProcesses::default();
        for (part, owner) in (0..).zip(&owners).filter(|(_, owner)| **owner > 0) {
            others.add(part, called(*owner));
        }
        let bank = bank.with_processes(others);
        let bank = bank.with_server(&servers[0]);
        Self {
            bank,
            parts,
            processes,
            requests,
        }
    }

    /// Ingests a batch whose records are in three files.
    fn ingest(&self, batch: &Batch, memory: usize) -> Result<IngestReport, String> {
        let request = of_batch(&self.bank, batch);
        let Some(Input::File(whole)) = request.inputs.first() else {
            panic!("{:?}", request.inputs);
        };
        let mut files = [const { String::new() }; 3];
        for (number, line) in batch.text().lines().enumerate() {
            files[number % 3].push_str(line);
            files[number % 3].push('\n');
        }
        let mut inputs = Vec::new();
        for (number, text) in files.iter().enumerate() {
            let path = whole.with_extension(format!("{number}.jsonl"));
            fs::write(&path, text).unwrap();
            inputs.push(Input::File(path));
        }
        let request = IngestRequest {
            inputs,
            memory,
            name: Some("a batch".to_owned()),
            ..request
        };
        let report = self.bank.ingest(&request);
        let mut report = report.map_err(|error| error.to_string())?;
        report.seconds = 0.0;
        report.rejects_file = None;
        Ok(report)
    }

    /// Refreshes plans. Returns what the commands report, without times and costs.
    fn refresh(&self, plans: Vec<(&str, PlanOptions)>) -> Vec<String> {
        let refresh = |(name, plan)| match self.bank.refresh(&RefreshRequest::with(name, plan)) {
            Ok(report) => {
                let view = report.view;
                let steps = (view.steps_reused, view.steps_recomputed, view.page_visits);
                let (tuned, judged) = (&view.parameters.tuned, &view.parameters.judged);
                let ended = report.shortage;
                format!(
                    "{name}: {} seeds, {steps:?}, {tuned:?}, {judged:?}, {ended:?}",
                    view.seeds
                )
            }
            Err(error) => format!("{name}: {error}"),
        };
        plans.into_iter().map(refresh).collect()
    }

    /// What an export writes and reports. Checks that each process has made its part.
    fn exported(&self) -> String {
        let before = self.requests.exports.load(Ordering::Relaxed);
        let (records, sites, report) = parts(&self.bank);
        let requests = self.requests.exports.load(Ordering::Relaxed) - before;
        // At least one for text, and one for the end.
        let least = 2 * (self.processes - 1);
        assert!(requests >= least && (least > 0 || requests == 0));
        let text = String::from_utf8([records, sites].concat()).unwrap();
        format!("{text}{report:?}")
    }

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

    /// All entries of all parts, by part and table.
    fn tables(&self) -> BTreeMap<(usize, &'static str), Vec<RawEntry>> {
        let mut all = BTreeMap::new();
        for (number, part) in self.parts.iter().enumerate() {
            for table in seedbank_store::tables::ALL {
                if !OF_THE_RUN.contains(&table.name) {
                    let entries = seedbank_store::raw_entries(part, table.name).unwrap();
                    all.insert((number, table.name), entries);
                }
            }
        }
        all
    }

    /// The lists of rejected and stale records, without the names of files.
    fn rejects(&self) -> Vec<String> {
        let folder = fs::read_dir(self.bank.path().join("rejects")).unwrap();
        let mut files: Vec<PathBuf> = folder.map(|file| file.unwrap().path()).collect();
        files.sort();
        let home = self.bank.path().display().to_string();
        let text = |file: &PathBuf| fs::read_to_string(file).unwrap().replace(&home, "HOME");
        files.iter().map(text).collect()
    }
}

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
        ("learned", Plan::learned().seeds(4).budget(12).into()),
        (
            "depth",
            Plan::over_web(MaxWeight).seeds(5).hops(3).depth(1).into(),
        ),
        ("per-site", greedy().max_per_site(1).max_failures(1).into()),
        ("per-domain", greedy().max_per_domain(2).rest(1).into()),
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
    ]
}

/// Compares what processes report and store after each batch of random histories, and what `refresh` returns.
fn compare_numbers_of_processes(
    (histories, batches): (u32, usize),
    refresh: impl Fn(&Cluster) -> Vec<String>,
) {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: cases(histories),
        max_shrink_iters: 50,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let batches = (history(batches), batch(14));
    // With the least memory, each record is a portion of its own.
    let inputs = (batches, select(&[PLENTY, 1][..]));
    let outcome = runner.run(&inputs, |(((naming, mut batches), last), memory)| {
        batches.push(last);
        // The same batch again changes nothing.
        batches.extend(batches.last().cloned());
        let folder = scratch();
        let one = Cluster::new(folder.path(), naming, 1);
        for processes in [2, 3] {
            let other = Cluster::new(folder.path(), naming, processes);
            let mut reports = Vec::new();
            for batch in &batches {
                reports.push((other.ingest(batch, memory), refresh(&other)));
            }
            if processes == 2 {
                for (batch, report) in batches.iter().zip(&reports) {
                    let expected = (one.ingest(batch, memory), refresh(&one));
                    prop_assert_eq!(&expected, report);
                }
            }
            prop_assert_eq!(one.rejects(), other.rejects());
            let (expected, found) = (one.tables(), other.tables());
            for (at, entries) in &expected {
                prop_assert_eq!(entries, &found[at], "{:?} of {} processes", at, processes);
            }
            let check = other.bank.check().unwrap();
            prop_assert!(check.is_clean(), "{check:?}");
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
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

/// A bank of three processes, each of which has pages.
fn with_pages(folder: &Path) -> Cluster {
    let cluster = Cluster::new(folder, Naming::default(), 3);
    let record = |site: u32| {
        let (next, other) = ((site + 1) % 30, (site * 7) % 30);
        format!(
            r#"{{"url":"http://h{site}.example/","outlinks":["http://h{next}.example/","http://h{other}.example/x"]}}"#
        )
    };
    cluster.ingest_lines(folder, &(0..30).map(record).collect::<Vec<_>>());
    cluster
}

impl Cluster {
    fn ingest_lines(&self, folder: &Path, lines: &[String]) {
        let file = folder.join("lines.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap();
    }
}

#[test]
fn a_process_that_fails_ends_the_selection_in_all() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    assert_eq!(cluster.bank.refresh(&web()).unwrap().view.seeds, 3);
    let messages = cluster.requests.messages.load(Ordering::Relaxed);
    assert!(messages > 0);
    // The last commit publishes the damage.
    let part = cluster.parts.last().unwrap();
    let pages = seedbank_store::raw_entries(part, "pages").unwrap();
    let (key, _) = pages.first().unwrap().clone();
    seedbank_store::raw_write(part, "pages", &[(key, Some(vec![u8::MAX; 3]))]).unwrap();
    cluster.ingest_lines(
        folder.path(),
        &[r#"{"url":"http://new.example/"}"#.to_owned()],
    );
    // The next selection does not wait for the last one.
    for _ in 0..2 {
        let begun = Instant::now();
        let error = cluster.bank.refresh(&web()).unwrap_err();
        let mut text = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push(error.to_string());
            cause = error.source();
        }
        let text = text.join(": ");
        assert!(text.contains("pages"), "{text}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{text}");
    }
    assert_eq!(cluster.bank.status().unwrap().counters.refreshes, 1);
}

/// Stops a command at its stage with this name.
struct StopAt(&'static str, AtomicBool);

impl Watch for StopAt {
    fn stopped(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }

    fn stage(&self, name: &str, _total: Option<u64>) {
        if name == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interrupted_selection_ends_in_all_processes() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    for stage in ["search", "select", "commit"] {
        let watch = StopAt(stage, AtomicBool::new(false));
        let error = cluster.bank.watched(watch).refresh(&web()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{stage}: {error}");
    }
    assert_eq!(cluster.bank.refresh(&web()).unwrap().view.seeds, 3);
    assert!(cluster.bank.check().unwrap().is_clean());
}
