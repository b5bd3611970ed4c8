//! Exports in several processes, compared with those of one database.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::chunk::UrlRequest;
use super::processes::export_share;
use super::tests::{Patience, Room};
use super::*;
use crate::engine::cluster::ProcessServer;
use crate::engine::properties::repeatable;
use crate::engine::request_topic::RequestTopic;
use crate::engine::rounds::request::{JobRequest, Kind};
use crate::engine::scratch::scratch;
use crate::engine::{IngestRequest, Result};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Input, Naming, Record};
use seedbank_store::{OtherProcesses, RemoteProcess, StoreError};

const PARTS: u32 = 6;

const HOSTS: [&str; 8] = [
    "a.example",
    "www.a.example",
    "b.example",
    "c.example",
    "news.d.co.uk",
    "shop.d.co.uk",
    "e.example",
    "f.example",
];

const PAGES: u8 = 48;

fn url(page: u8) -> String {
    let host = HOSTS[usize::from(page) % HOSTS.len()];
    let scheme = if page.is_multiple_of(5) {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://{host}/{}", page / 8)
}

#[derive(Clone, Debug)]
enum Action {
    /// A fetch of a page on a day, with its targets and its attributes in one number.
    Fetch(u8, u8, Vec<u8>, u8),
    Fail(u8),
    Gone(u8),
    Redirect(u8, u8),
    Canonical(u8, u8),
    /// A record of a page that was not fetched.
    Known(u8, u8),
}

fn action() -> impl Strategy<Value = Action> {
    let targets = prop::collection::vec(0..PAGES, 0..9);
    prop_oneof![
        8 => (0..PAGES, 1..9_u8, targets, any::<u8>())
            .prop_map(|(page, day, to, of)| Action::Fetch(page, day, to, of)),
        1 => (0..PAGES).prop_map(Action::Fail),
        1 => (0..PAGES).prop_map(Action::Gone),
        1 => (0..PAGES, 0..PAGES).prop_map(|(page, to)| Action::Redirect(page, to)),
        1 => (0..PAGES, 0..PAGES).prop_map(|(page, to)| Action::Canonical(page, to)),
        1 => (0..PAGES, any::<u8>()).prop_map(|(page, of)| Action::Known(page, of)),
    ]
}

fn record(action: &Action) -> Record {
    match action {
        Action::Fetch(page, day, to, of) => Record::new(url(*page))
            .fetched(format!("2026-11-{day:02}T00:00:00Z"))
            .outlinks(to.iter().map(|to| url(*to)))
            .spam(of % 5 == 0)
            .clicks(u64::from(of % 3))
            .digest(format!("{}", of % 4)),
        Action::Fail(page) => Record::new(url(*page)).status(FetchStatus::Timeout),
        Action::Gone(page) => Record::new(url(*page)).gone(),
        Action::Redirect(page, to) => Record::new(url(*page)).redirect(url(*to)),
        Action::Canonical(page, to) => Record::new(url(*page)).canonical(url(*to)),
        Action::Known(page, of) => Record::new(url(*page)).quality(f64::from(of % 7) / 10.0),
    }
}

/// Ingests a batch, with attributes of a site.
fn ingest(bank: &Bank, (site, actions): &(usize, Vec<Action>)) {
    let sites = bank.path().with_extension("sites.jsonl");
    let site = HOSTS.get(*site).unwrap_or(&"nothing.example");
    fs::write(&sites, format!(r#"{{"site":"{site}","quality":0.3}}"#)).unwrap();
    let records = bank.path().with_extension("jsonl");
    let lines: Vec<String> = actions.iter().map(|of| record(of).to_json()).collect();
    fs::write(&records, lines.join("\n")).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(records)],
        sites: Some(Input::File(sites)),
        // Naming by domain rejects some names of sites.
        max_rejects: 100.0,
        max_loss: 100.0,
        as_of: Some(1_795_132_800),
        again: true,
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
}

/// What goes wrong with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// The process is lost.
    Lost,
    /// Half of its answer is missing.
    Cut,
}

/// The requests about exports.
#[derive(Default)]
struct Requests {
    messages: AtomicUsize,
    urls: AtomicUsize,
    /// The number of the message or the request about URLs that fails, and how.
    fault: Mutex<Option<(usize, Fault)>>,
}

impl Requests {
    /// Counts a request. Returns what goes wrong with it.
    fn add(&self, request: &[u8]) -> Option<Fault> {
        let is_message = JobRequest::parse(request).unwrap();
        let is_message = is_message.is_some_and(|request| request.kind == Kind::Message);
        if is_message {
            self.messages.fetch_add(1, Ordering::Relaxed);
        } else if UrlRequest::parse(request).unwrap().is_some() {
            self.urls.fetch_add(1, Ordering::Relaxed);
        } else {
            return None;
        }
        let mut fault = self.fault.lock().unwrap();
        let (left, kind) = (*fault)?;
        *fault = left.checked_sub(1).map(|left| (left, kind));
        (left == 0).then_some(kind)
    }
}

/// A process that is called without a network.
struct Called {
    server: Arc<ProcessServer>,
    requests: Arc<Requests>,
}

impl RemoteProcess for Called {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let fault = self.requests.add(request);
        let mut request = request;
        let is_urls = UrlRequest::parse(request).unwrap().is_some();
        match fault {
            Some(Fault::Lost) => return Err(StoreError::Process("lost".into())),
            Some(Fault::Cut) if !is_urls => request = &request[..request.len() / 2],
            _ => {}
        }
        let answer = self.server.answer(request);
        let mut answer = answer.map_err(|error| StoreError::Process(error.into()))?;
        if fault == Some(Fault::Cut) {
            answer.truncate(answer.len() / 2);
        }
        Ok(answer)
    }
}

/// A handle to a cluster bank whose parts several processes have.
struct Cluster {
    bank: Bank,
    all: Vec<Arc<ProcessServer>>,
    requests: Arc<Requests>,
}

impl Cluster {
    fn connect(path: &Path, processes: usize) -> Self {
        let parts = 0..PARTS as usize;
        let owners: Vec<usize> = parts
            .map(|part| part * processes / PARTS as usize)
            .collect();
        let requests = Arc::new(Requests::default());
        let server = |process: usize| {
            let own = (0..PARTS).zip(&owners).filter(|(_, of)| **of == process);
            let own: BTreeSet<u32> = own.map(|(part, _)| part).collect();
            Arc::new(ProcessServer::new(process, path, &own, Unwatched).unwrap())
        };
        let all: Vec<Arc<ProcessServer>> = (0..processes).map(server).collect();
        let called = |server: &Arc<ProcessServer>| -> Arc<dyn RemoteProcess> {
            Arc::new(Called {
                server: Arc::clone(server),
                requests: Arc::clone(&requests),
            })
        };
        let called: Vec<Arc<dyn RemoteProcess>> = all.iter().map(called).collect();
        for (this, server) in all.iter().enumerate() {
            let others = called.iter().enumerate();
            let others = others.map(|(other, of)| (other != this).then(|| Arc::clone(of)));
            server.connect(owners.clone(), others.collect());
        }
        let mut others = OtherProcesses::default();
        for (part, owner) in (0..).zip(&owners).filter(|(_, owner)| **owner > 0) {
            others.add(part, Arc::clone(&called[*owner]));
        }
        let bank = Bank::at(path).with_processes(others);
        Self {
            bank: bank.with_server(&all[0]),
            all,
            requests,
        }
    }

    /// Whether a process has a published state open.
    fn has_open_state(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|server| server.processes().has_open_state())
    }
}

type Exported = (String, String, ExportReport);

fn exported(bank: &Bank, limits: Limits) -> Exported {
    let (mut records, mut sites) = (Vec::new(), Vec::new());
    let report = export(bank, &mut records, Some(&mut sites), limits, &Unwatched).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(records), text(sites), report)
}

const fn limits(pages: usize, links: usize, bytes: usize) -> Limits {
    Limits {
        pages,
        links,
        bytes,
    }
}

#[test]
fn any_number_of_processes_exports_the_same() {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 100,
        ..repeatable(8)
    });
    let batch = (0..=HOSTS.len(), prop::collection::vec(action(), 1..40));
    let histories = (select(&Naming::ALL[..]), prop::collection::vec(batch, 1..4));
    let (all, all_requests) = (RefCell::new([0; 9]), RefCell::new([0; 2]));
    let outcome = runner.run(&histories, |(naming, batches)| {
        let folder = scratch();
        let one = Bank::create(folder.path().join("one"), naming).unwrap();
        let path = folder.path().join("cluster");
        let cluster = Bank::create_cluster(&path, naming, PARTS).unwrap();
        for batch in &batches {
            ingest(&one, batch);
            ingest(&cluster, batch);
        }
        let expected = exported(&one, DEFAULT_LIMITS);
        prop_assert_eq!(&exported(&cluster, limits(2, 5, 30)), &expected);
        let report = &expected.2;
        for (sum, count) in all.borrow_mut().iter_mut().zip([
            report.crawled,
            report.known,
            report.gone,
            report.aliases,
            report.sites,
            report.links,
            expected.0.matches("\"failures\"").count() as u64,
            expected.0.matches("\"new_links\"").count() as u64,
            report.without_record,
        ]) {
            *sum += count;
        }
        for processes in [1, 2, 3] {
            let cluster = Cluster::connect(&path, processes);
            for limits in [
                DEFAULT_LIMITS,
                limits(1, 1, 1),
                limits(2, 9, 100),
                limits(20, 500, 300),
            ] {
                let requests = &cluster.requests;
                requests.messages.store(0, Ordering::Relaxed);
                requests.urls.store(0, Ordering::Relaxed);
                prop_assert_eq!(&exported(&cluster.bank, limits), &expected);
                let messages = requests.messages.load(Ordering::Relaxed);
                let urls = requests.urls.load(Ordering::Relaxed);
                if processes == 1 {
                    prop_assert_eq!(messages + urls, 0);
                } else {
                    // At least one round for text, and one for the end.
                    prop_assert!(messages >= 2 * processes * (processes - 1));
                    all_requests.borrow_mut()[0] += messages;
                    all_requests.borrow_mut()[1] += urls;
                }
                prop_assert!(!cluster.has_open_state());
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(all.borrow().iter().all(|sum| *sum > 0), "{all:?}");
    // With the least limits, an answer has one byte of text, or one URL.
    let all_requests = all_requests.borrow();
    assert!(
        all_requests[0] > 1000 && all_requests[1] > 50,
        "{all_requests:?}"
    );
}

/// A bank in several processes. Each has pages that link to pages of other processes.
fn with_pages(folder: &Path) -> Cluster {
    let path = folder.join("bank");
    let bank = Bank::create_cluster(&path, Naming::default(), PARTS).unwrap();
    let pages = 0..PAGES;
    let fetch = |page| Action::Fetch(page, 1, vec![(page + 1) % PAGES, (page * 5) % PAGES], 1);
    ingest(&bank, &(0, pages.map(fetch).collect()));
    Cluster::connect(&path, 3)
}

#[test]
fn a_process_that_fails_ends_the_export() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    let limits = limits(3, 20, 200);
    let expected = exported(&cluster.bank, limits);
    let Requests {
        messages,
        urls,
        fault,
    } = &*cluster.requests;
    assert!(messages.load(Ordering::Relaxed) > 60 && urls.load(Ordering::Relaxed) > 10);
    for kind in [Fault::Lost, Fault::Cut] {
        for number in 0..20 {
            *fault.lock().unwrap() = Some((number, kind));
            let mut records = Vec::new();
            let ended = export(&cluster.bank, &mut records, None, limits, &Unwatched);
            let Err(EngineError::Store(error)) = ended else {
                panic!("{kind:?} {number}: {ended:?}");
            };
            // A process that requests URLs reports what fails.
            assert!(
                matches!(error, StoreError::Process(_) | StoreError::Protocol(_)),
                "{kind:?} {number}: {error:?}"
            );
            assert!(expected.0.as_bytes().starts_with(&records));
            assert!(records.len() < expected.0.len());
            assert!(fault.lock().unwrap().is_none());
        }
    }
    assert_eq!(exported(&cluster.bank, limits), expected);
}

#[test]
fn a_full_disk_and_an_interruption_end_the_export() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    let limits = limits(3, 20, 200);
    let expected = exported(&cluster.bank, limits);
    for questions in 0..20 {
        let watch = Patience::new(questions);
        let mut records = Vec::new();
        let ended = export(&cluster.bank, &mut records, None, limits, &watch);
        assert!(
            matches!(ended, Err(EngineError::Interrupted(_))),
            "{ended:?}"
        );
        assert!(expected.0.as_bytes().starts_with(&records));
    }
    for room in [0, 1, expected.0.len() - 1] {
        let ended = export(&cluster.bank, &mut Room(room), None, limits, &Unwatched);
        let Err(EngineError::Export { source, .. }) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        assert!(!cluster.has_open_state());
    }
    assert_eq!(exported(&cluster.bank, limits), expected);
}

#[test]
fn requests_that_make_no_sense_are_errors() {
    let folder = scratch();
    let cluster = with_pages(folder.path());
    let this = cluster.all[1].processes();
    let reader = cluster.bank.reader().unwrap();
    let job = this.begin_job(1).unwrap();
    for none in [limits(0, 1, 1), limits(1, 0, 1), limits(1, 1, 0)] {
        let mode = seedbank_formats::ingest::SiteMode::Host;
        let export = SharedExport::new(&reader, mode, none).unwrap();
        let request = seedbank_store::pack(&export).unwrap();
        assert!(export_share(this, &job, &request).is_err());
    }
    assert!(export_share(this, &job, &[]).is_err());
    let topic = RequestTopic::Export as u8;
    assert!(UrlRequest::parse(&[topic]).is_err());
    assert!(UrlRequest::parse(&[&[topic][..], &[u8::MAX; 40]].concat()).is_err());
    // A page of another process.
    let state = seedbank_store::PublishedState::of_store(&reader).unwrap();
    let sites = cluster.all[0].processes().open_published(state).unwrap();
    let page = sites.scan_local(&seedbank_store::tables::PAGES).unwrap();
    let (page, _) = { page }.next().unwrap().unwrap();
    assert!(UrlRequest::new(state, 9, &[page]).answer(this).is_err());
}
