//! Cluster banks in several processes, which are called without a network.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use seedbank::engine::cluster::{OtherProcesses, ProcessServer, RemoteProcess};
use seedbank::engine::error::StoreError;
use seedbank::engine::{Bank, IngestReport, IngestRequest, PlanOptions, RefreshRequest};
use seedbank::ingest::{Input, Naming};
use seedbank::watch::{Unwatched, Watch};
use seedbank_store::RawEntry;

use crate::support::histories::{PLENTY, history, parts};
use crate::support::model::of_batch;
use crate::support::properties::repeatable;
use crate::support::records::{Batch, batch};
use crate::support::scratch;

const PARTS: u32 = 3;

/// Tables with times of day and identities.
const OF_THE_RUN: [&str; 3] = ["batches", "meta", "refreshes"];

/// The start of a request that lets a process select over its share of the web, and of one that sends a message.
const RUN: [u8; 2] = [u8::MAX - 2, 1];
const MESSAGE: [u8; 2] = [u8::MAX - 2, 2];

/// The start of a request that lets a process export its share.
const EXPORT: [u8; 2] = [u8::MAX - 2, 6];

/// The requests that processes have received.
#[derive(Default)]
pub struct Requests {
    pub runs: AtomicUsize,
    pub messages: AtomicUsize,
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
pub struct Cluster {
    pub bank: Bank,
    pub parts: Vec<PathBuf>,
    pub processes: usize,
    pub requests: Arc<Requests>,
}

impl Cluster {
    /// A new bank; with one process, that process calls no other.
    pub fn new(folder: &Path, naming: Naming, processes: usize) -> Self {
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
    pub fn ingest(&self, batch: &Batch, memory: usize) -> Result<IngestReport, String> {
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
    pub fn refresh(&self, plans: Vec<(&str, PlanOptions)>) -> Vec<String> {
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
    pub fn exported(&self) -> String {
        let before = self.requests.exports.load(Ordering::Relaxed);
        let (records, sites, report) = parts(&self.bank);
        let requests = self.requests.exports.load(Ordering::Relaxed) - before;
        assert_eq!(requests, self.processes - 1);
        let text = String::from_utf8([records, sites].concat()).unwrap();
        format!("{text}{report:?}")
    }

    /// All entries of all parts, by part and table.
    pub fn tables(&self) -> BTreeMap<(usize, &'static str), Vec<RawEntry>> {
        let mut all = BTreeMap::new();
        for (number, part) in self.parts.iter().enumerate() {
            let mut tables = seedbank_store::raw_tables(part).unwrap();
            tables.retain(|table, _| !OF_THE_RUN.contains(table));
            all.extend(
                tables
                    .into_iter()
                    .map(|(table, entries)| ((number, table), entries)),
            );
        }
        all
    }

    /// The lists of rejected and stale records, without the names of files.
    pub fn rejects(&self) -> Vec<String> {
        let folder = fs::read_dir(self.bank.path().join("rejects")).unwrap();
        let mut files: Vec<PathBuf> = folder.map(|file| file.unwrap().path()).collect();
        files.sort();
        let home = self.bank.path().display().to_string();
        let text = |file: &PathBuf| fs::read_to_string(file).unwrap().replace(&home, "HOME");
        files.iter().map(text).collect()
    }
}

impl Cluster {
    /// Ingests a batch of these lines.
    pub fn ingest_lines(&self, folder: &Path, lines: &[String]) {
        let file = folder.join("lines.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        self.bank.ingest(&request).unwrap();
    }

    /// Damages a page of the last part.
    pub fn damage_pages(&self, folder: &Path) {
        // The last commit publishes the damage.
        let part = self.parts.last().unwrap();
        let pages = seedbank_store::raw_entries(part, "pages").unwrap();
        let (key, _) = pages.first().unwrap().clone();
        seedbank_store::raw_write(part, "pages", &[(key, Some(vec![u8::MAX; 3]))]).unwrap();
        self.ingest_lines(folder, &[r#"{"url":"http://new.example/"}"#.to_owned()]);
    }
}

/// Returns the texts of an error and of its causes.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push(error.to_string());
        cause = error.source();
    }
    text.join(": ")
}

/// Stops a command at its stage with this name.
pub struct StopAt(&'static str, AtomicBool);

impl StopAt {
    pub const fn stage(name: &'static str) -> Self {
        Self(name, AtomicBool::new(false))
    }
}

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

/// A bank of three processes, each of which has pages.
pub fn with_pages(folder: &Path) -> Cluster {
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

/// Compares what processes report and store after each batch of random histories, and what `refresh` returns.
pub fn compare_numbers_of_processes(
    (histories, batches): (u32, usize),
    refresh: impl Fn(&Cluster) -> Vec<String>,
) {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 50,
        ..repeatable(histories)
    });
    let batches = (history(batches), batch(14));
    // With the least memory, each record is a portion of its own.
    let inputs = (batches, proptest::sample::select(&[PLENTY, 1][..]));
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
