//! What a killed writer can leave, made step by step, and what the next open makes of it.
//!
//! Every state between two steps of a commit, of publishing and of making a bank is built by hand;
//! a reader must see the state before, and the next open must end in the state before or after the
//! commit, entry by entry, with nothing left over. The kills are in `tests/storage/crash.rs`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::disk::folder::{WRITER_LOCK, lock_file};
use crate::disk::lock::LOCK_GRACE;
use crate::disk::scratch::scratch;
use crate::rocks::database::Database;
use crate::tables::records::Settings;
use crate::tables::{ALL, DIGESTS, PAGE_IDS, SITE_IDS};
use crate::{Reader, Store, create};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Unwatched;

impl CommitMeta<'static> {
    /// A commit that keeps the record for undoing the last batch.
    pub(crate) fn preserving(writer: &Writer, counters: Counters) -> Self {
        Self {
            counters,
            lineage: writer.next_lineage().unwrap(),
            undo_policy: UndoPolicy::Preserve,
            capture: None,
        }
    }
}

/// Every entry of every table, but for the identities, which are random.
pub(crate) type Dump = Vec<(&'static str, Vec<u8>, Vec<u8>)>;

pub(crate) fn dump(store: &Store) -> Dump {
    let mut all = Vec::new();
    for table in ALL {
        let mut scan = store.rocks.scan(table.name, &[], None).unwrap();
        while let Some(entry) = scan
            .next_with(|key, value| (table.name, key.to_vec(), value.to_vec()))
            .unwrap()
        {
            all.push(entry);
        }
    }
    all.retain(|(table, key, _)| (*table, &**key) != (META.name, &*MetaKey::Lineage.bytes()));
    all
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Copies a folder. Hard links of the same file stay hard links: `copied` has the copies by inode.
fn copy(from: &Path, to: &Path, copied: &mut HashMap<u64, PathBuf>) {
    fs::create_dir(to).unwrap();
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to, copied);
            continue;
        }
        match copied.entry(fs::metadata(&from).unwrap().ino()) {
            Entry::Occupied(first) => fs::hard_link(first.get(), &to).unwrap(),
            Entry::Vacant(entry) => {
                fs::copy(&from, &to).unwrap();
                entry.insert(to);
            }
        }
    }
}

/// A bank with one commit, and what it held then.
pub(crate) struct TestBank {
    pub(crate) folder: TempDir,
    pub(crate) before: Dump,
}

pub(crate) fn settings() -> Settings {
    Settings {
        site_mode: "host".to_owned(),
        url_rules: "whatwg".to_owned(),
        suffix_list: String::new(),
    }
}

impl TestBank {
    pub(crate) fn new() -> Self {
        let folder = scratch();
        let path = folder.path().join("bank");
        create(&path, &settings()).unwrap();
        let writer = Writer::open(&path, false, &Unwatched).unwrap();
        let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
        for index in 0..3000_u32 {
            let key = (SiteId(index % 7), format!("/old/{index}"));
            changes.put(&PAGE_IDS, &key, &index).unwrap();
        }
        let counters = writer.counters().unwrap();
        writer.commit(changes, counters).unwrap();
        let before = dump(&writer);
        Self { folder, before }
    }

    /// A copy of this bank, which nobody has open.
    pub(crate) fn copy(&self) -> Self {
        let folder = scratch();
        copy(
            &self.path(),
            &folder.path().join("bank"),
            &mut HashMap::new(),
        );
        let before = self.before.clone();
        Self { folder, before }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("bank")
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer::open(&self.path(), false, &Unwatched).unwrap()
    }

    /// Three tables, with new, altered and deleted keys.
    pub(crate) fn changes(writer: &Writer, budget: usize) -> (Changes, Counters) {
        let mut changes = Changes::new(&writer.spill_folder(), budget);
        for index in 0..3000_u32 {
            let site = SiteId(index % 7);
            let old = (site, format!("/old/{index}"));
            match index % 3 {
                0 => changes.delete(&PAGE_IDS, &old).unwrap(),
                1 => changes.put(&PAGE_IDS, &old, &(index + 1)).unwrap(),
                _ => (),
            }
            let new = (site, format!("/new/{index}"));
            changes.put(&PAGE_IDS, &new, &index).unwrap();
            let hash = (site, u128::from(index).to_be_bytes());
            changes.put(&DIGESTS, &hash, &1).unwrap();
            let name = format!("{index}.example");
            changes.put(&SITE_IDS, &name, &site).unwrap();
        }
        assert_eq!(changes.is_large(), budget == 0);
        let mut counters = writer.counters().unwrap();
        counters.epoch += 1;
        counters.batch += 1;
        (changes, counters)
    }

    /// The contents of such a bank after the whole commit.
    pub(crate) fn after() -> Dump {
        let place = Self::new();
        let writer = place.writer();
        let (changes, counters) = Self::changes(&writer, 64 << 20);
        writer.commit(changes, counters).unwrap();
        dump(&writer)
    }

    /// A reader now sees this state.
    #[track_caller]
    pub(crate) fn reads(&self, expected: &Dump) {
        assert!(dump(&Reader::open(&self.path()).unwrap()) == *expected);
    }

    /// The next open ends in this state, publishes it, and leaves nothing else behind.
    #[track_caller]
    pub(crate) fn opens_as(&self, expected: &Dump) {
        let writer = self.writer();
        assert!(dump(&writer) == *expected);
        assert_eq!(writer.get(&META, &MetaKey::Intent).unwrap(), None);
        self.reads(expected);
        let epoch = writer.counters().unwrap().epoch;
        let published = names(&self.path().join("published"));
        let lock = format!("{epoch}.lock");
        assert_eq!(published, [epoch.to_string(), lock, "CURRENT".to_owned()]);
        for folder in ["loads", "spill"] {
            assert!(names(&self.path().join(folder)).is_empty(), "{folder}");
        }
        drop(writer);
        // And opening it once more changes nothing.
        assert!(dump(&self.writer()) == *expected);
    }
}

/// A bank with a commit that is durable and not published.
fn unpublished(budget: usize) -> (TestBank, Dump, u64) {
    let place = TestBank::new();
    let writer = place.writer();
    let (changes, counters) = TestBank::changes(&writer, budget);
    // Publishing fails, since a file is where the state's folder has to be.
    let obstacle = place.path().join(format!("published/{}", counters.epoch));
    fs::write(&obstacle, "").unwrap();
    assert!(writer.commit(changes, counters).is_err());
    fs::remove_file(&obstacle).unwrap();
    let after = dump(&writer);
    (place, after, counters.epoch)
}

#[test]
fn a_commit_is_published_at_the_next_open() {
    let expected = TestBank::after();
    for budget in [0, 64 << 20] {
        let (place, after, _) = unpublished(budget);
        assert!(after == expected);
        place.reads(&place.before);
        place.opens_as(&after);
    }
}

#[test]
fn what_publishing_left_is_overwritten() {
    type Step = fn(&Path, &Path, u64);
    let steps: [Step; 3] = [
        // The checkpoint is being made: RocksDB renames it when it is whole.
        |published, _, epoch| {
            let half = published.join(format!("{epoch}.tmp"));
            fs::create_dir(&half).unwrap();
            fs::write(half.join("000001.sst"), "half").unwrap();
        },
        // Another state is in its place.
        |published, bank, epoch| {
            let store = Store::new(Database::open_reader(&bank.join("live"), ALL).unwrap());
            assert!(store.counters().unwrap().epoch == epoch);
            fs::create_dir(published.join(epoch.to_string())).unwrap();
            fs::write(published.join(format!("{epoch}/CURRENT")), "junk").unwrap();
        },
        // The pointer is being replaced.
        |published, _, _| fs::write(published.join("CURRENT.new"), "").unwrap(),
    ];
    for step in steps {
        let (place, after, epoch) = unpublished(64 << 20);
        step(&place.path().join("published"), &place.path(), epoch);
        place.opens_as(&after);
    }
}

#[test]
fn old_states_and_half_removed_ones_go() {
    let place = TestBank::new();
    let published = place.path().join("published");
    // Removals before, during and after which the writer was killed.
    let writer = place.writer();
    let (changes, mut counters) = TestBank::changes(&writer, 64 << 20);
    counters.epoch += 8;
    let meta = CommitMeta::preserving(&writer, counters);
    writer.write_batch(changes, meta).unwrap();
    writer.publish(&counters).unwrap();
    let after = dump(&writer);
    drop(writer);
    for epoch in 5..8 {
        fs::write(published.join(format!("{epoch}.lock")), "").unwrap();
    }
    fs::create_dir(published.join("5")).unwrap();
    fs::write(published.join("5/000009.sst"), "").unwrap();
    fs::create_dir(published.join("6")).unwrap();
    place.reads(&after);
    place.opens_as(&after);
}

/// A state later than the opened one is somebody's data, whatever it is.
#[test]
fn a_later_state_is_not_removed() {
    let place = TestBank::new();
    let published = place.path().join("published");
    fs::write(published.join("9.lock"), "").unwrap();
    fs::create_dir(published.join("9")).unwrap();
    fs::write(published.join("9/000009.sst"), "later").unwrap();
    drop(place.writer());
    assert!(published.join("9/000009.sst").exists());
}

#[test]
fn a_state_stays_while_it_is_read() {
    let place = TestBank::new();
    let reader = Reader::open(&place.path()).unwrap();
    let writer = place.writer();
    let (changes, counters) = TestBank::changes(&writer, 0);
    writer.commit(changes, counters).unwrap();
    let after = dump(&writer);
    drop(writer);
    drop(place.writer());
    assert!(dump(&reader) == place.before);
    place.reads(&after);
    drop(reader);
    place.opens_as(&after);
}

#[test]
fn leftover_runs_and_loads_go() {
    let place = TestBank::new();
    for folder in ["spill", "loads"] {
        let folder = place.path().join(folder);
        fs::write(folder.join("run"), "left").unwrap();
    }
    let (loads, spill) = (place.path().join("loads"), place.path().join("spill"));
    fs::create_dir(loads.join("7")).unwrap();
    fs::write(loads.join("7/pages-000000.sst"), "left").unwrap();
    fs::write(spill.join(".tmpAbC123"), "left").unwrap();
    drop(place.writer());
    // What the bank did not name stays.
    for folder in [loads, spill] {
        assert_eq!(names(&folder), ["run"]);
        fs::remove_file(folder.join("run")).unwrap();
    }
    place.opens_as(&place.before);
}

/// A link in place of a folder leads to somebody else's files.
#[test]
fn nothing_is_removed_through_a_link() {
    for name in ["spill", "loads", "published/0", "loads/7"] {
        let place = TestBank::new();
        let theirs = place.folder.path().join("theirs");
        fs::create_dir_all(theirs.join("7")).unwrap();
        let files = ["a", ".tmpx", "7/pages-000000.sst", "0.lock"];
        for file in files {
            fs::write(theirs.join(file), "theirs").unwrap();
        }
        let link = place.path().join(name);
        let _ = fs::remove_dir_all(&link);
        std::os::unix::fs::symlink(&theirs, &link).unwrap();
        fs::write(place.path().join("published/0.lock"), "").unwrap();
        let writer = place.writer();
        let (changes, counters) = TestBank::changes(&writer, 64 << 20);
        writer.commit(changes, counters).unwrap();
        drop(writer);
        for file in files {
            assert_eq!(
                fs::read_to_string(theirs.join(file)).unwrap(),
                "theirs",
                "{name}"
            );
        }
    }
}

#[test]
fn a_bank_half_made_is_removed_unless_it_is_being_made() {
    let folder = scratch();
    let half = |name: &str| {
        let place = folder.path().join(name);
        fs::create_dir_all(place.join("live")).unwrap();
        fs::write(place.join(WRITER_LOCK), "").unwrap();
        place
    };
    let (dead, alive, other) = (
        half(".seedbank-init-1"),
        half(".seedbank-init-2"),
        half("mine"),
    );
    let lock = File::open(alive.join(WRITER_LOCK)).unwrap();
    lock.lock().unwrap();
    create(&folder.path().join("bank"), &settings()).unwrap();
    assert!(!dead.exists() && alive.exists() && other.exists());
}

/// A bank is made in place in a folder that already exists, and the process may die at any moment.
#[test]
fn a_bank_half_made_in_place_is_made_anew_and_no_other() {
    let folder = scratch();
    let half = |name: &str, files: &[&str]| {
        let place = folder.path().join(name);
        fs::create_dir_all(place.join("live")).unwrap();
        for file in files {
            fs::write(place.join(file), "").unwrap();
        }
        place
    };
    let begun = ["SEEDBANK.new", "live/CURRENT", "live/MANIFEST-000001"];
    create(&half("begun", &begun), &settings()).unwrap();
    create(&half("early", &["SEEDBANK.new", WRITER_LOCK]), &settings()).unwrap();
    // Without the sign that a bank was begun, a database that cannot be read is somebody's data.
    let other = half("other", &[WRITER_LOCK, "live/CURRENT"]);
    let refused = create(&other, &settings()).unwrap_err();
    assert!(matches!(refused, StoreError::NoMarker(_)), "{refused}");
    let mine = half("mine", &["SEEDBANK.new", "notes"]);
    let refused = create(&mine, &settings()).unwrap_err();
    assert!(matches!(refused, StoreError::Occupied(_)), "{refused}");
    // So is a bank that lost its marker, whatever was begun in it.
    let stored = folder.path().join("stored");
    create(&stored, &settings()).unwrap();
    let writer = Writer::open(&stored, false, &Unwatched).unwrap();
    let (changes, counters) = TestBank::changes(&writer, 64 << 20);
    writer.commit(changes, counters).unwrap();
    drop(writer);
    fs::rename(stored.join("SEEDBANK"), stored.join("SEEDBANK.new")).unwrap();
    let refused = create(&stored, &settings()).unwrap_err();
    assert!(matches!(refused, StoreError::NoMarker(_)), "{refused}");
}

#[test]
fn a_lock_that_is_held_for_a_moment_is_no_writer() {
    let place = TestBank::new();
    let path = place.folder.path().join("bank");
    let lock = lock_file(&path.join(WRITER_LOCK)).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(LOCK_GRACE / 4);
            lock.unlock().unwrap();
        });
        Writer::probe(&path).unwrap();
        drop(Writer::open(&path, false, &Unwatched).unwrap());
    });
    lock.lock().unwrap();
    let busy = Writer::open(&path, false, &Unwatched).err();
    assert!(matches!(busy, Some(StoreError::Busy(_))), "{busy:?}");
}
