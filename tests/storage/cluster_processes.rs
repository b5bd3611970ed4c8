//! Commands of several processes: the same tables, byte by byte, as by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use seedbank::engine::cluster::{OtherProcesses, ProcessServer, RemoteProcess};
use seedbank::engine::error::StoreError;
use seedbank::engine::plan::Share;
use seedbank::engine::{Bank, IngestReport, IngestRequest, Plan, RefreshRequest};
use seedbank::ingest::{Input, Naming};
use seedbank::watch::Unwatched;
use seedbank_store::RawEntry;

use crate::support::histories::{PLENTY, history};
use crate::support::model::of_batch;
use crate::support::records::{Batch, batch};
use crate::support::{cases, scratch};

const PARTS: u32 = 3;

/// Tables with times of day and identities.
const OF_THE_RUN: [&str; 3] = ["batches", "meta", "refreshes"];

/// A process that is called without a network.
struct Called(Arc<ProcessServer>);

impl RemoteProcess for Called {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let answer = self.0.answer(request);
        answer.map_err(|error| StoreError::Process(error.into()))
    }
}

/// A cluster bank, each of whose parts is in the folder of its process.
struct Cluster {
    bank: Bank,
    parts: Vec<PathBuf>,
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
        if processes == 1 {
            return Self { bank, parts };
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
            Arc::new(Called(Arc::clone(&servers[process])))
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
        Self { bank, parts }
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

    /// Selects seeds on each site by several plans. Returns what the commands report, without times and costs.
    fn refresh(&self) -> Vec<String> {
        let plans = [
            ("same", Plan::sites().per_site(2)),
            ("value", Plan::sites().seeds_in_total(7, Share::Value)),
            (
                "limited",
                Plan::sites()
                    .seeds_in_total(5, Share::Pages)
                    .max_per_site(1),
            ),
        ];
        let refresh = |(name, plan)| match self.bank.refresh(&RefreshRequest::with(name, plan)) {
            Ok(report) => {
                let view = report.view;
                let steps = (view.steps_reused, view.steps_recomputed, view.page_visits);
                format!("{name}: {} seeds, {steps:?}", view.seeds)
            }
            Err(error) => format!("{name}: {error}"),
        };
        plans.map(refresh).into()
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

#[test]
fn any_number_of_processes_writes_the_same_tables() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: cases(2),
        max_shrink_iters: 50,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let batches = (history(4), batch(14));
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
                reports.push((other.ingest(batch, memory), other.refresh()));
            }
            if processes == 2 {
                for (batch, report) in batches.iter().zip(&reports) {
                    let expected = (one.ingest(batch, memory), one.refresh());
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
