//! The graph image: what it has is what the tables have, whatever came in since it was written, and no image that
//! is damaged or that belongs to another state is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use seedbank::engine::{Bank, RefreshRequest};
use seedbank::ingest::{Naming, host_end, push_url};
use seedbank::watch::{Unwatched, Watch};
use seedbank_store::{GraphImage, ImageLinks, ImageSource, Reader, StoreError};

use crate::support::command::record;
use crate::support::folders::copy;
use crate::support::histories::{PLENTY, for_each_history};
use crate::support::model::{assert_clean, ingest};
use crate::support::properties::repeatable;
use crate::support::records::Batch;

const KINDS: [ImageLinks; 2] = [ImageLinks::All, ImageLinks::InterSite];

/// The image file of a bank.
fn file(bank: &Bank) -> PathBuf {
    bank.path().join("image/graph")
}

/// How the sites of a bank are named.
fn naming(bank: &Bank) -> Naming {
    let status = bank.status().unwrap();
    let found = Naming::ALL
        .iter()
        .find(|naming| naming.sites == status.site_mode);
    *found.unwrap()
}

/// Calls `work` with the published state of a bank and what finds the hosts of its URLs.
fn with_state<T>(
    bank: &Bank,
    work: impl FnOnce(&Reader, seedbank_store::HostPrefix<'_>) -> T,
) -> T {
    let mode = naming(bank).sites;
    let prefix = |site: &str, local: &str, out: &mut String| {
        push_url(site, local, mode, out);
        out.truncate(host_end(out));
    };
    work(&Reader::open(bank.path()).unwrap(), &prefix)
}

fn load(bank: &Bank, links: ImageLinks) -> (GraphImage, ImageSource) {
    with_state(bank, |reader, prefix| {
        GraphImage::load(reader, links, prefix, &Unwatched).unwrap()
    })
}

fn from_tables(bank: &Bank, links: ImageLinks) -> GraphImage {
    with_state(bank, |reader, prefix| {
        GraphImage::from_tables(reader, links, prefix, &Unwatched).unwrap()
    })
}

fn from_file(bank: &Bank, links: ImageLinks) -> Result<Option<(GraphImage, u64)>, StoreError> {
    with_state(bank, |reader, prefix| {
        GraphImage::from_file(reader, links, prefix, &Unwatched)
    })
}

#[test]
fn what_changed_since_is_read_from_the_tables() {
    let patched = std::cell::Cell::new(0);
    let check = |bank: &Bank, more: &[Batch]| {
        // The image has a state that may be empty.
        load(bank, ImageLinks::All);
        for (at, batch) in more.iter().enumerate() {
            ingest(bank, batch, PLENTY);
            if at == 1 && bank.status().unwrap().undo.is_some() {
                bank.undo(false, PLENTY).unwrap();
            }
            for links in KINDS {
                if let Some((image, changed)) = from_file(bank, links).unwrap() {
                    let expected = from_tables(bank, links);
                    assert_eq!(image.difference(&expected), None, "{links:?}");
                    patched.set(patched.get() + u64::from(changed > 0));
                }
            }
            assert_clean(bank);
        }
    };
    // Some histories have fewer images than others.
    for _ in 0..4 {
        if patched.get() <= 50 {
            for_each_history(12, 4, check);
        }
    }
    assert!(
        patched.get() > 50,
        "only {} images were brought up to date",
        patched.get()
    );
}

/// A bank with a refresh by each of two plans, so that it has an image.
fn refreshed(folder: &Path) -> Bank {
    let bank = Bank::create(folder.join("bank"), Naming::default()).unwrap();
    let crawl = seedbank::synth::SynthOptions::new(300);
    let text = seedbank::synth::day_text(&crawl, 0).unwrap();
    let path = folder.join("crawl.jsonl");
    fs::write(&path, text).unwrap();
    bank.ingest(&crate::support::model::request(&path)).unwrap();
    bank.refresh(&RefreshRequest::default()).unwrap();
    assert!(matches!(
        load(&bank, ImageLinks::All).1,
        ImageSource::File(0)
    ));
    bank
}

#[test]
fn a_damaged_image_is_not_used() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    let whole = fs::read(file(&bank)).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(repeatable(500));
    let damage = (any::<prop::sample::Index>(), 0_u8..8, 0..4);
    let outcome = runner.run(&damage, |(at, bit, kind)| {
        let at = at.index(whole.len());
        let mut bytes = whole.clone();
        match kind {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, bit),
            2 => bytes.extend_from_slice(&whole[..at]),
            _ => bytes[at] ^= 1 << bit,
        }
        fs::write(file(&bank), &bytes).unwrap();
        for links in KINDS {
            // The parts after those that are read may be damaged.
            let is_read = kind != 3 || links == ImageLinks::All;
            match from_file(&bank, links) {
                Ok(Some(_)) if is_read && bytes != whole => {
                    return Err(TestCaseError::fail(format!(
                        "used with damage {kind} at {at}"
                    )));
                }
                Ok(Some((image, _))) => {
                    let expected = from_tables(&bank, links);
                    prop_assert_eq!(image.difference(&expected), None);
                }
                _ => {}
            }
        }
        Ok(())
    });
    outcome.unwrap();
    // The next command writes it again.
    assert_eq!(load(&bank, ImageLinks::All).1, ImageSource::Tables);
    assert_eq!(load(&bank, ImageLinks::All).1, ImageSource::File(0));
}

#[test]
fn an_image_of_another_bank_or_of_a_diverged_copy_is_not_used() {
    let (one, two) = (crate::support::scratch(), crate::support::scratch());
    let (bank, other) = (refreshed(one.path()), refreshed(two.path()));
    fs::copy(file(&other), file(&bank)).unwrap();
    assert!(from_file(&bank, ImageLinks::All).unwrap().is_none());
    assert_eq!(load(&bank, ImageLinks::All).1, ImageSource::Tables);

    let copied = two.path().join("copy");
    copy(bank.path(), &copied);
    let copied = Bank::open(&copied).unwrap();
    for (bank, page) in [(&bank, "http://a.example/"), (&copied, "http://b.example/")] {
        let path = one.path().join("delta.jsonl");
        fs::write(
            &path,
            crate::support::command::record(page, &["http://c.example/"]),
        )
        .unwrap();
        bank.ingest(&crate::support::model::request(&path)).unwrap();
        load(bank, ImageLinks::All);
        fs::remove_file(file(bank)).unwrap();
        load(bank, ImageLinks::All);
    }
    assert!(from_file(&bank, ImageLinks::All).unwrap().is_some());
    fs::copy(file(&copied), file(&bank)).unwrap();
    assert!(from_file(&bank, ImageLinks::All).unwrap().is_none());
}

#[test]
fn a_reader_of_an_older_state_leaves_the_image() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    with_state(&bank, |reader, prefix| {
        let path = folder.path().join("delta.jsonl");
        fs::write(
            &path,
            crate::support::command::record("http://a.example/", &[]),
        )
        .unwrap();
        bank.ingest(&crate::support::model::request(&path)).unwrap();
        fs::remove_file(file(&bank)).unwrap();
        load(&bank, ImageLinks::All);
        let new = fs::read(file(&bank)).unwrap();
        let old = GraphImage::load(reader, ImageLinks::All, prefix, &Unwatched).unwrap();
        assert_eq!(old.1, ImageSource::Tables);
        assert!(fs::read(file(&bank)).unwrap() == new);
    });
}

/// Counts how often an operation asks whether to stop, which it does once for each record that it reads.
#[derive(Default)]
struct Counting(AtomicU64);

impl Watch for Counting {
    fn stopped(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// Each new site once searched all new sites after it for one that the image has.
#[test]
fn many_new_sites_are_each_read_once() {
    const SITES: u64 = 1_000;
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    load(&bank, ImageLinks::All);
    let path = folder.path().join("sites.jsonl");
    let records = (0..SITES).map(|site| record(&format!("http://new{site}.example/"), &[]));
    fs::write(&path, records.collect::<String>()).unwrap();
    bank.ingest(&crate::support::model::request(&path)).unwrap();
    let counting = Counting::default();
    let (image, patched) = with_state(&bank, |reader, prefix| {
        GraphImage::from_file(reader, ImageLinks::All, prefix, &counting)
    })
    .unwrap()
    .unwrap();
    assert_eq!(patched, SITES);
    assert_eq!(image.difference(&from_tables(&bank, ImageLinks::All)), None);
    let asked = counting.0.into_inner();
    assert!(asked < 10 * SITES, "{asked}");
}

#[test]
fn loading_for_cores_keeps_the_links_inside_sites() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    // More pages than one reads by key.
    let crawl = seedbank::synth::SynthOptions {
        rng_seed: 7,
        ..seedbank::synth::SynthOptions::new(300)
    };
    let path = folder.path().join("other.jsonl");
    fs::write(&path, seedbank::synth::day_text(&crawl, 0).unwrap()).unwrap();
    bank.ingest(&crate::support::model::request(&path)).unwrap();
    assert_eq!(load(&bank, ImageLinks::InterSite).1, ImageSource::Tables);
    assert_eq!(load(&bank, ImageLinks::All).1, ImageSource::File(0));
}

#[test]
fn many_readers_write_one_image() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    let expected = from_tables(&bank, ImageLinks::All);
    for _ in 0..20 {
        fs::remove_file(file(&bank)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (bank, expected) = (&bank, &expected);
                scope.spawn(move || {
                    let found = load(bank, ImageLinks::All).0;
                    assert_eq!(found.difference(expected), None);
                });
            }
        });
        assert!(matches!(
            load(&bank, ImageLinks::All).1,
            ImageSource::File(0)
        ));
        let names = crate::support::command::names(&bank.path().join("image"));
        assert_eq!(names, ["graph", "lock"]);
    }
}

#[test]
fn without_an_image_nothing_is_read_or_written() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    let seeds = |bank: &Bank| -> Vec<String> {
        let seeds = crate::support::banks::seeds_of(bank, "default").into_iter();
        seeds.map(|seed| seed.url).collect()
    };
    let expected = seeds(&bank);
    fs::remove_dir_all(bank.path().join("image")).unwrap();
    let cold = RefreshRequest {
        cold: true,
        ..RefreshRequest::default()
    };
    bank.clone().without_image().refresh(&cold).unwrap();
    assert_eq!(seeds(&bank), expected);
    assert!(!bank.path().join("image").exists());
    // Nothing is written through a link.
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, bank.path().join("image")).unwrap();
    bank.refresh(&cold).unwrap();
    assert_eq!(seeds(&bank), expected);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(bank.path().join("image")).unwrap();
    // A file in place of the folder prevents writing only.
    fs::write(bank.path().join("image"), "").unwrap();
    bank.refresh(&cold).unwrap();
    assert_eq!(seeds(&bank), expected);
}

#[test]
fn check_compares_the_image() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    let compared = |bank: &Bank| {
        assert_clean(bank);
        bank.check().unwrap().image.pages
    };
    assert!(compared(&bank) > 100);
    fs::remove_dir_all(bank.path().join("image")).unwrap();
    assert_eq!(compared(&bank), 0);
}

#[test]
fn check_finds_an_image_that_differs() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    // Every page gets the record of another one.
    let pages = seedbank_store::raw_entries(bank.path(), "pages").unwrap();
    let shifted = pages.iter().zip(pages.iter().cycle().skip(1));
    let shifted: Vec<_> = shifted
        .map(|(page, other)| (page.0.clone(), Some(other.1.clone())))
        .collect();
    seedbank_store::raw_write(bank.path(), "pages", &shifted).unwrap();
    // Publishes the live state.
    bank.compact(true).unwrap();
    let check = bank.check().unwrap();
    assert!(check.image.what.is_some() && !check.is_clean());
}

#[test]
fn forgetting_removes_the_image() {
    let folder = crate::support::scratch();
    let bank = refreshed(folder.path());
    let url = crate::support::banks::seeds_of(&bank, "default")[0]
        .url
        .clone();
    bank.forget(&seedbank::engine::ingest::ForgetRequest {
        what: vec![url],
        ..Default::default()
    })
    .unwrap();
    assert!(!file(&bank).exists());
}
