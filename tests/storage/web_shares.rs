//! Shares of the graph image: together they have what the image of one process has, and loading one reads nothing of
//! the others.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Naming, Record, host_end, push_url};
use seedbank::watch::Unwatched;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::PageState;
use seedbank_store::{
    GraphImage, ImageLinks, OtherProcesses, PartServer, PublishedParts, PublishedState, Reader,
    RemoteProcess, Store, StoreError,
};

use crate::support::histories::{PLENTY, history};
use crate::support::model::ingest;
use crate::support::properties::repeatable;
use crate::support::scratch;

const PARTS: u32 = 3;

/// Another process, and the number of requests to it and others.
struct Called {
    server: Arc<PartServer>,
    requests: Arc<AtomicU64>,
}

impl RemoteProcess for Called {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.server.answer(request, &Unwatched)
    }
}

/// A process that has some parts of a bank.
struct Process {
    store: PublishedParts,
    /// The number of requests to other processes.
    requests: Arc<AtomicU64>,
}

/// Returns the process of each part.
fn owners(processes: usize) -> Vec<usize> {
    let parts = 0..PARTS as usize;
    parts
        .map(|part| part * processes / PARTS as usize)
        .collect()
}

/// Opens the published state in each of several processes.
fn open(bank: &Path, processes: usize) -> Vec<Process> {
    let owners = owners(processes);
    let server = |process: usize| {
        let parts = (0..PARTS).zip(&owners);
        let own = parts.filter(|(_, owner)| **owner == process);
        let own: BTreeSet<u32> = own.map(|(part, _)| part).collect();
        Arc::new(PartServer::new(bank, &own).unwrap())
    };
    let servers: Vec<Arc<PartServer>> = (0..processes).map(server).collect();
    let state = PublishedState::of_store(&Reader::open(bank).unwrap()).unwrap();
    let open = |(process, server): (usize, &Arc<PartServer>)| {
        let requests = Arc::new(AtomicU64::new(0));
        let mut others = OtherProcesses::default();
        for (part, &owner) in (0..).zip(&owners).filter(|(_, owner)| **owner != process) {
            let other = Called {
                server: Arc::clone(&servers[owner]),
                requests: Arc::clone(&requests),
            };
            others.add(part, Arc::new(other));
        }
        Process {
            store: server.open_published(state, &others).unwrap(),
            requests,
        }
    };
    servers.iter().enumerate().map(open).collect()
}

/// Calls `load` with what finds the hosts of URLs.
fn with_prefix<T>(naming: Naming, load: impl FnOnce(seedbank_store::HostPrefix<'_>) -> T) -> T {
    load(&|site: &str, local: &str, out: &mut String| {
        push_url(site, local, naming.sites, out);
        out.truncate(host_end(out));
    })
}

fn whole(store: &Store, naming: Naming, links: ImageLinks) -> GraphImage {
    with_prefix(naming, |prefix| {
        GraphImage::from_tables(store, links, prefix, &Unwatched).unwrap()
    })
}

fn share(store: &Store, naming: Naming, links: ImageLinks) -> GraphImage {
    with_prefix(naming, |prefix| {
        GraphImage::load_share(store, links, prefix, &Unwatched).unwrap()
    })
}

/// The pages of slots.
fn pages(image: &GraphImage, slots: &[u32]) -> BTreeSet<PageId> {
    let pages: BTreeSet<PageId> = slots.iter().map(|slot| image.page(*slot)).collect();
    assert_eq!(pages.len(), slots.len());
    assert!(slots.is_sorted());
    pages
}

/// The hosts of an image in the order of their URLs, with their pages in that order.
fn hosts(image: &GraphImage) -> Vec<(String, Vec<PageId>)> {
    let runs = image.runs_by_url().into_iter();
    runs.map(|run| {
        let slots = image.order()[run.range()].iter();
        let pages = slots.map(|slot| image.page(*slot)).collect();
        (run.prefix().to_owned(), pages)
    })
    .collect()
}

/// Compares a page of a share with that of the whole image.
fn compare_page(share: &GraphImage, whole: &GraphImage, own: u32) {
    let page = share.page(own);
    let there = whole.slot(page).unwrap();
    assert_eq!(share.slot(page), Some(own));
    assert_eq!(share.is_live(own), whole.is_live(there), "{page}");
    assert_eq!(share.is_crawled(own), whole.is_crawled(there), "{page}");
    assert_eq!(share.is_spam(own), whole.is_spam(there), "{page}");
    assert_eq!(share.attributes(own), whole.attributes(there), "{page}");
    assert_eq!(share.digests(page.site()), whole.digests(page.site()));
    let intra = (share.intra(own), whole.intra(there));
    assert_eq!(pages(share, intra.0), pages(whole, intra.1), "{page}");
    let row = |image: &GraphImage, slot| image.row_of(slot).map(|row| pages(image, image.row(row)));
    assert_eq!(row(share, own), row(whole, there), "{page}");
}

/// Compares the share of each process with the whole image. Returns the number of ghosts.
fn compare(whole: &GraphImage, naming: Naming, links: ImageLinks, all: &[Process]) -> usize {
    let mut of_all: Vec<(String, Vec<PageId>)> = Vec::new();
    let (mut slots, mut ghosts) = (0, 0);
    for (process, of) in all.iter().enumerate() {
        let before = of.requests.load(Ordering::Relaxed);
        let mut share = share(&of.store, naming, links);
        // The counters of the bank are in its first part.
        let requests = of.requests.load(Ordering::Relaxed) - before;
        assert_eq!(requests, u64::from(process > 0));
        assert!(share.is_share() && !whole.is_share());
        let own = 0..share.ghosts().start;
        assert_eq!(share.ghosts().end as usize, share.slots());
        slots += own.len();
        for slot in own.clone() {
            compare_page(&share, whole, slot);
        }
        // Ghosts are the pages of other processes to which rows link.
        let rows = 0..u32::try_from(share.row_count()).unwrap();
        let mut linked: Vec<u32> = rows.flat_map(|row| share.row(row).to_vec()).collect();
        linked.retain(|slot| !own.contains(slot));
        linked.sort_unstable();
        linked.dedup();
        assert!(share.ghosts().eq(linked.iter().copied()));
        assert!(linked.is_sorted_by_key(|ghost| share.page(*ghost)));
        for &ghost in &linked {
            let page = share.page(ghost);
            assert_eq!(share.slot(page), None);
            assert!(!share.is_live(ghost) && share.intra(ghost).is_empty());
            assert_eq!(share.row_of(ghost), None);
            assert!(whole.slot(page).is_some());
            share.set_ghost(ghost, PageState::Known);
            assert!(share.is_known(ghost));
            share.set_ghost(ghost, PageState::Crawled);
            assert!(share.is_crawled(ghost));
        }
        // The states of own pages are not changed.
        for slot in own {
            share.set_ghost(slot, PageState::Gone);
            compare_page(&share, whole, slot);
        }
        ghosts += linked.len();
        let of_share = hosts(&share);
        assert!(of_share.is_sorted());
        of_all.extend(of_share);
    }
    assert_eq!(slots, whole.slots());
    of_all.sort_unstable();
    assert_eq!(of_all, hosts(whole));
    ghosts
}

#[test]
fn the_shares_of_all_processes_are_the_whole_image() {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 50,
        ..repeatable(6)
    });
    let ghosts = AtomicU64::new(0);
    let outcome = runner.run(&history(4), |(naming, batches)| {
        let folder = scratch();
        let bank = Bank::create_cluster(folder.path().join("bank"), naming, PARTS).unwrap();
        for batch in &batches {
            ingest(&bank, batch, PLENTY);
        }
        // In every case there are links to other processes.
        let sites = ["a.example", "b.example", "c.example", "d.example"];
        let records = sites.map(|site| {
            let outlinks = sites.map(|to| format!("http://{to}/of/{site}"));
            Record::new(format!("http://{site}/")).outlinks(outlinks)
        });
        bank.ingest_records(&IngestRequest::default(), records)
            .unwrap();
        let reader = Reader::open(bank.path()).unwrap();
        for links in [ImageLinks::All, ImageLinks::InterSite] {
            let whole = whole(&reader, naming, links);
            for processes in [1, 2, 3] {
                let found = compare(&whole, naming, links, &open(bank.path(), processes));
                assert!(processes > 1 || found == 0);
                ghosts.fetch_add(found as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let ghosts = ghosts.into_inner();
    assert!(ghosts > 50, "{ghosts} ghosts");
}

#[test]
fn a_bank_in_one_database_is_one_share() {
    let folder = scratch();
    let naming = Naming::default();
    let bank = Bank::create(folder.path().join("bank"), naming).unwrap();
    let records = ["http://a.example/", "http://b.example/"]
        .map(|url| Record::new(url).outlinks(["http://c.example/", "http://a.example/x"]));
    bank.ingest_records(&IngestRequest::default(), records)
        .unwrap();
    let reader = Reader::open(bank.path()).unwrap();
    let share = share(&reader, naming, ImageLinks::All);
    assert_eq!(share.slots(), 4);
    assert!(share.is_share() && share.ghosts().is_empty());
    let expected = whole(&reader, naming, ImageLinks::All);
    assert_eq!(share.difference(&expected), None);
}
