//! Backups in storage other than a folder, as in a bucket, killed at each of its operations.
//!
//! What it catches: an inventory that is written before its files, a file that is removed although a backup
//! names it, backups that stop working after one was killed, and a lost lock that is not noticed.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use crate::support;
use crate::support::histories::exported;
use seedbank::engine::maintenance::BackupRequest;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Naming, Record};
use seedbank::watch::Unwatched;
use seedbank_store::{
    BackupLock, BackupPlace, BackupStorage, BackupWriter, backup, backups, restore,
};

/// Files in memory, of which so many operations succeed, until the process is killed.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<State>>);

#[derive(Clone, Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// The operations that still succeed; `None` for all.
    left: Option<u32>,
    /// Whether another process takes over the lock.
    is_lock_lost: bool,
}

impl Memory {
    /// Counts an operation, and returns what it works on.
    fn operate<T>(&self, operation: impl FnOnce(&mut State) -> T) -> io::Result<T> {
        let mut state = self.0.lock().unwrap();
        match &mut state.left {
            Some(0) => return Err(io::Error::other("killed")),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(operation(&mut state))
    }

    /// Returns a copy that is killed after so many operations.
    fn killed_after(&self, operations: u32) -> Self {
        let state = State {
            left: Some(operations),
            ..self.0.lock().unwrap().clone()
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns what a killed process has left.
    fn revived(&self) -> Self {
        let state = State {
            left: None,
            ..self.0.lock().unwrap().clone()
        };
        Self(Arc::new(Mutex::new(state)))
    }
}

impl BackupStorage for Memory {
    fn name(&self) -> &'static str {
        "memory://backups"
    }

    fn files(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        self.operate(|state| {
            let files = state.files.iter();
            let below = files.filter_map(|(name, text)| {
                Some((name.strip_prefix(&prefix)?.to_owned(), text.len() as u64))
            });
            below.collect()
        })
    }

    fn open(&self, file: &str) -> io::Result<Option<Box<dyn Read + Send>>> {
        self.operate(|state| {
            let text = state.files.get(file)?.clone();
            Some(Box::new(Cursor::new(text)) as Box<dyn Read + Send>)
        })
    }

    fn create(&self, file: &str, text: Vec<u8>) -> io::Result<bool> {
        self.operate(|state| {
            let is_new = !state.files.contains_key(file);
            state.files.entry(file.to_owned()).or_insert(text);
            is_new
        })
    }

    fn writer(&self, file: &str) -> io::Result<Box<dyn BackupWriter>> {
        Ok(Box::new(Unfinished {
            memory: self.clone(),
            file: file.to_owned(),
            text: Vec::new(),
        }))
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        self.operate(|state| drop(state.files.remove(file)))
    }

    fn lock(&self, _: &str, _: bool) -> io::Result<Option<Box<dyn BackupLock>>> {
        self.operate(|_| Some(Box::new(Held(self.clone())) as Box<dyn BackupLock>))
    }
}

struct Unfinished {
    memory: Memory,
    file: String,
    text: Vec<u8>,
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BackupWriter for Unfinished {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self { memory, file, text } = *self;
        memory.operate(|state| drop(state.files.insert(file, text)))
    }
}

struct Held(Memory);

impl BackupLock for Held {
    fn check(&self) -> io::Result<()> {
        if self.0.operate(|state| state.is_lock_lost)? {
            return Err(io::Error::other("taken over"));
        }
        Ok(())
    }
}

fn ingest(bank: &Bank, url: &str) {
    let page = Record::new(url).outlinks(["https://example.org/"]);
    bank.ingest_records(&IngestRequest::default(), [page])
        .unwrap();
}

/// Backs up, and returns the number of the backup.
fn back_up(bank: &Bank, memory: &Memory, keep: Option<u32>) -> Option<u32> {
    let request = BackupRequest {
        keep: keep.and_then(NonZeroU32::new),
        ..BackupRequest::default()
    };
    let place = BackupPlace::Storage(memory);
    let made = backup(bank.path(), place, &request, 1, &Unwatched);
    made.ok().map(|made| made.made.backup)
}

/// Asserts that all backups are intact, and returns their numbers.
fn intact(memory: &Memory) -> Vec<u32> {
    let found = backups(BackupPlace::Storage(memory), true, &Unwatched).unwrap();
    assert!(found.is_clean(), "{found:?}");
    found
        .backups
        .iter()
        .map(|found| found.made.backup)
        .collect()
}

#[test]
fn a_backup_killed_at_any_operation_leaves_the_others_whole() {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    ingest(&bank, "https://a.example/");
    let memory = Memory::default();
    assert_eq!(back_up(&bank, &memory, None), Some(1));
    let first = exported(&bank);
    ingest(&bank, "https://b.example/");
    let mut kills = 0;
    // Also while older backups are deleted.
    for keep in [None, Some(1)] {
        for operations in 0.. {
            let killed = memory.killed_after(operations);
            let is_made = back_up(&bank, &killed, keep).is_some();
            let left = killed.revived();
            let numbers = intact(&left);
            assert!(keep.is_some() || numbers.contains(&1), "{numbers:?}");
            assert!(!numbers.is_empty());
            if is_made {
                break;
            }
            kills += 1;
            // The next backup works.
            let next = back_up(&bank, &left, keep).unwrap();
            assert!(intact(&left).contains(&next));
        }
    }
    assert!(kills > 20, "{kills} kills say little");
    let restored = Bank::at(folder.path().join("restored"));
    let place = BackupPlace::Storage(&memory);
    restore(place, restored.path(), Some(1), &Unwatched).unwrap();
    assert_eq!(exported(&restored), first);
}

/// The files of all parts are in the storage under their hashes.
#[test]
fn a_cluster_bank_is_backed_up_to_storage() {
    let folder = support::scratch();
    let at = |name: &str| folder.path().join(name);
    let bank = Bank::create_cluster(at("bank"), Naming::default(), 3).unwrap();
    let memory = Memory::default();
    let mut states = Vec::new();
    for site in 0..6 {
        ingest(&bank, &format!("https://site{site}.example/"));
        back_up(&bank, &memory, Some(2)).unwrap();
        states.push(exported(&bank));
    }
    assert_eq!(intact(&memory), [5, 6]);
    let place = || BackupPlace::Storage(&memory);
    for number in [5, 6] {
        let restored = Bank::at(at(&number.to_string()));
        let report = restore(place(), restored.path(), Some(number), &Unwatched).unwrap();
        assert_eq!(report.made.parts, Some(3));
        assert_eq!(exported(&restored), states[number as usize - 1]);
        assert!(restored.check().unwrap().is_clean());
    }
    // Without one of the files of backup 6 alone, or with other bytes.
    let files: Vec<String> = memory.0.lock().unwrap().files.keys().cloned().collect();
    let inventory = |number: u32| {
        let state = memory.0.lock().unwrap();
        String::from_utf8(state.files[&format!("backups/{number}")].clone()).unwrap()
    };
    let (before, last) = (inventory(5), inventory(6));
    let is_own = |hash: &str| last.contains(hash) && !before.contains(hash);
    let own = files.iter().filter(|name| {
        let hash = name.strip_prefix("files/");
        hash.is_some_and(is_own)
    });
    let mut found = 0;
    for (turn, name) in own.enumerate() {
        let damaged = memory.revived();
        let mut state = damaged.0.lock().unwrap();
        let mut text = state.files.remove(name).unwrap();
        if turn % 2 == 0 && !text.is_empty() {
            let middle = text.len() / 2;
            text[middle] ^= 1;
            state.files.insert(name.clone(), text);
        }
        drop(state);
        let place = BackupPlace::Storage(&damaged);
        let new = at("damaged");
        restore(place, &new, None, &Unwatched).unwrap_err();
        assert!(!new.exists());
        let listed = backups(place, true, &Unwatched).unwrap();
        assert!(listed.backups[0].fault.is_none());
        assert!(listed.backups[1].fault.is_some(), "{name}");
        found += 1;
    }
    assert!(found > 3 * 2, "{found}");
}

#[test]
fn a_lost_lock_ends_a_backup_before_it_is_listed() {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    ingest(&bank, "https://a.example/");
    let memory = Memory::default();
    back_up(&bank, &memory, None).unwrap();
    memory.0.lock().unwrap().is_lock_lost = true;
    ingest(&bank, "https://b.example/");
    assert_eq!(back_up(&bank, &memory, Some(1)), None);
    assert_eq!(intact(&memory), [1]);
}
