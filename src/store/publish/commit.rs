//! Commits: all changes of a batch or refresh, or none.
//!
//! A small set of changes is one synced write to the log, a large one a bulk load (`bulk_load`). Then the
//! state is acknowledged, published, and acknowledged again as published.
//!
//! # Cluster banks
//!
//! Several databases commit together, all or none.
//!
//! ```text
//! BANK/                  the first part: an ordinary bank, with all tables that are not stored by site
//! BANK/parts/001/        the other parts, each with the files of a bank
//! .../loads/N/PREPARED   the intent of a bulk load that is durable and not decided yet
//! ```
//!
//! Every commit is one of all parts, so that all have the same epoch and the same identity of the state:
//!
//! 1. *Prepare*: each part writes its changes to the sorted files of a bulk load (`bulk_load`), and then, synced,
//!    the file `PREPARED` with the intent. Readers and databases are unchanged.
//! 2. *Decide*: the first part is prepared last, and that decides the commit.
//! 3. *Finish*: each part ingests its files and publishes the new state, the first part last. A part keeps its
//!    previous published state until the next commit.
//!
//! A reader opens the epoch that the first part published. So it sees the new state once all parts have it, and
//! the previous one until then.
//!
//! | killed | next command that writes |
//! | --- | --- |
//! | before the first part is prepared | removes what is prepared: the commit is not in the bank |
//! | after it, at any moment | finishes the parts that are behind: the commit is in the bank |
//!
//! Other processes may have parts after the first. The process that runs a command reads and writes them by
//! requests (`part_server`), and decides commits in the same way: the lock of the first part excludes all others.
//!
//! Before the next writer removes or finishes anything, it compares the identities of the bank and of the states of
//! all parts (`part_files`). If a part does not agree with the first one, the bank is damaged and nothing is written.
//!
//! `check` verifies for each part what the next writer needs (`verify_parts`).
//!
//! If the files of a part leave a doubt about its live state, it is compared with its published state, or with what the
//! interrupted commit makes of that (`verify_parts`).

use std::path::PathBuf;

use rayon::prelude::*;

use super::acknowledged::Acknowledged;
use super::part_files::{MAX_PREPARED, PartStatus, discard_prepared, load_folder, read_prepared};
use super::published::publish;
use super::writer::{
    PartWriter, PrepareRecord, UndoPolicy, Writer, acknowledge, next_epoch, write_meta,
};
use crate::disk::{ACKNOWLEDGED, PREPARED, clear_load, clear_loads, replace_file};
use crate::error::StoreError;
use crate::rocks::table_files::compact_small_files;
use crate::tables::changes::{Changes, UndoCapture, encode};
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{BatchId, Counters, Lineage, Meta};
use crate::tables::table::Key;
use crate::tables::{META, MetaKey, UNDO};

/// What a commit writes besides its changes.
pub(crate) struct CommitMeta<'a> {
    pub(crate) counters: Counters,
    pub(crate) lineage: Lineage,
    pub(crate) undo_policy: UndoPolicy,
    /// Collects the overwritten values; present for [`super::writer::UndoPolicy::Capture`].
    pub(crate) capture: Option<UndoCapture<'a>>,
}

impl Writer {
    /// Commits all changes and the counters, or nothing, and publishes the new state.
    ///
    /// The epoch in `counters` is replaced by the next one.
    pub fn commit(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Preserve)
    }

    /// Commits a batch, the last one in `counters`, and stores the values that it overwrites, so that it
    /// can be undone. The previous batch can no longer be undone.
    ///
    /// Cost: in addition to [`commit`](Self::commit), a get and an entry for each changed entry of sites,
    /// pages and links, unless the batch is the first one of the bank.
    pub fn commit_batch(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Capture)
    }

    /// Commits changes that cannot be undone. The last batch can no longer be undone.
    pub fn commit_irreversible(
        &self,
        changes: Changes,
        counters: Counters,
    ) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Discard)
    }

    fn commit_with(
        &self,
        changes: Changes,
        mut counters: Counters,
        undo_policy: UndoPolicy,
    ) -> Result<(), StoreError> {
        let before = self.counters()?;
        // At most one state may be unknown to ACKNOWLEDGED; recovery relies on that.
        self.ensure_acknowledged(before.epoch)?;
        // Before the write, so that a failing compaction leaves the state unchanged.
        compact_small_files(&self.store.rocks)?;
        counters.epoch = next_epoch(before.epoch)?;
        if self.parts().is_cluster() {
            return self.commit_parts(changes, before, counters, undo_policy);
        }
        let meta = CommitMeta {
            counters,
            lineage: self.next_lineage()?,
            undo_policy,
            capture: (undo_policy == UndoPolicy::Capture)
                .then(|| UndoCapture::new(&self.store.rocks, before, counters.batch)),
        };
        if !changes.is_large() {
            // A crash during the write leaves nothing of it: RocksDB drops an incomplete log record.
            self.write_batch(changes, meta)?;
            // A crash from here on leaves a stored state that the next writer publishes.
            return self.publish(&counters);
        }
        // A crash before the intent is written leaves files that the next writer removes.
        let intent = self.write_load(changes, meta);
        if intent.is_err() {
            // Best effort: on a full disk the incomplete files are in the way.
            let _ = clear_loads(&self.bank);
        }
        let intent = intent?;
        self.write_intent(&intent)?;
        // A crash after the intent: the next writer verifies the files and ingests all of them again.
        self.finish_load(&intent)?;
        // The intent is deleted together with writing the counters: the state is complete.
        self.publish(&counters)?;
        // Best effort: the next writer tries again, and removes the folder.
        let _ = clear_load(&self.bank.join("loads").join(&intent.folder));
        Ok(())
    }

    /// Fails unless the state with this epoch was acknowledged. Another commit on top of an unacknowledged
    /// state would leave two states that only the database knows of.
    fn ensure_acknowledged(&self, epoch: u64) -> Result<(), StoreError> {
        let acknowledged = Acknowledged::read(&self.bank)?;
        if acknowledged.is_some_and(|state| state.epoch == epoch) {
            return Ok(());
        }
        let what = format!("expected state {epoch} to be acknowledged before the next commit");
        Err(StoreError::state(ACKNOWLEDGED, what))
    }

    /// Returns the identities of the next state.
    pub(crate) fn next_lineage(&self) -> Result<Lineage, StoreError> {
        self.lineage()?.next()
    }

    /// Writes a small set of changes atomically.
    fn write_batch(&self, mut changes: Changes, meta: CommitMeta<'_>) -> Result<(), StoreError> {
        let CommitMeta {
            counters,
            lineage,
            undo_policy,
            mut capture,
        } = meta;
        changes.put(&META, &MetaKey::Counters, &Meta::Counters(counters))?;
        changes.put(&META, &MetaKey::Lineage, &Meta::Lineage(lineage))?;
        let mut sorted = changes.finish()?;
        let mut all = Vec::new();
        while let Some((table, key, value)) = sorted.next_change()? {
            // The previous value is read before the write below overwrites it.
            if let Some(capture) = &mut capture
                && let Some((key, previous)) = capture.capture(table, key)?
            {
                all.push((UNDO.name, key.to_vec(), Some(previous.to_vec())));
            }
            all.push((table, key.to_vec(), value.map(<[u8]>::to_vec)));
        }
        let undo = capture.map(UndoCapture::finish);
        let mut delete_before = None;
        if undo_policy != UndoPolicy::Preserve {
            all.push((META.name, MetaKey::Undo.bytes(), encode_undo(undo)?));
            delete_before = Some(first_undo_key(undo));
        }
        // One synced write: the changes, their undo entries and the counters stand or fall together.
        self.store.rocks.write(
            all.iter()
                .map(|(table, key, value)| (*table, (key.as_slice(), value.as_deref()))),
            delete_before.as_deref().map(|until| (UNDO.name, until)),
        )
    }

    /// Acknowledges the stored state and publishes it.
    pub(crate) fn publish(&self, counters: &Counters) -> Result<(), StoreError> {
        // From here on the state is known outside the database, so that it is missed if it is lost. A crash
        // before this line leaves one stored, unacknowledged state, which the next writer accepts.
        acknowledge(&self.bank, &self.store, false)?;
        // The second acknowledgement records the published epoch and whether the state is flushed.
        let published = publish(&self.bank, &self.store, counters.epoch);
        if published.is_ok() {
            self.remove_old_states(counters.epoch);
        }
        published
            .and_then(|is_flushed| acknowledge(&self.bank, &self.store, is_flushed))
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Publishes the current contents as a new state, with the current MANIFEST of the database.
    fn publish_anew(&self) -> Result<(), StoreError> {
        if self.parts().is_cluster() {
            // All parts have to have the same epoch.
            return self.commit(Changes::new(&self.spill_folder(), 0), self.counters()?);
        }
        let counters = self.advance_epoch()?;
        self.publish(&counters)
    }

    /// Publishes the current contents as a new state, in place of all earlier ones without readers. A cluster bank keeps
    /// the state before the last one, so it gets two.
    pub fn replace_states(&self) -> Result<(), StoreError> {
        if self.parts().is_cluster() {
            self.publish_anew()?;
        }
        self.publish_anew()
    }

    /// Stores a new state with the same contents, which is not published yet.
    pub(crate) fn advance_epoch(&self) -> Result<Counters, StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = next_epoch(counters.epoch)?;
        let lineage = self.next_lineage()?;
        write_meta(
            &self.store,
            &[
                (MetaKey::Counters, Meta::Counters(counters)),
                (MetaKey::Lineage, Meta::Lineage(lineage)),
            ],
            None,
        )?;
        Ok(counters)
    }
}

/// Encodes the record for undoing the last batch; `None` deletes it.
pub(crate) fn encode_undo(undo: Option<UndoRecord>) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(undo) = undo else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    encode(&META, &MetaKey::Undo, &Meta::Undo(undo), &mut bytes)?;
    Ok(Some(bytes))
}

/// Returns the first key of `undo` that belongs to this record; smaller ones are obsolete.
pub(crate) fn first_undo_key(undo: Option<UndoRecord>) -> Vec<u8> {
    let first = undo.map_or(BatchId::MAX, |undo| undo.batch);
    first.bytes()
}

impl Writer {
    /// Commits changes to all parts or to none, and publishes the new state. `counters` have its epoch, and the current
    /// ones are `before`.
    pub(super) fn commit_parts(
        &self,
        changes: Changes,
        before: Counters,
        counters: Counters,
        undo_policy: UndoPolicy,
    ) -> Result<(), StoreError> {
        let status = PartStatus::read(&self.bank)?;
        if status.published != before.epoch || status.prepared.is_some() {
            let what = "the previous commit is not finished; open the bank again";
            return Err(StoreError::state("cluster", what));
        }
        let record = PrepareRecord {
            before,
            counters,
            lineage: self.next_lineage()?,
            undo_policy,
        };
        self.others
            .par_iter()
            .try_for_each(PartWriter::compact_small_files)?;
        // Changes of other processes are spilled here until they are sent.
        let own = self.spill_folder();
        let folders = self.others.iter().map(PartWriter::spill_folder);
        let folders = folders.map(|folder| folder.unwrap_or_else(|| own.clone()));
        let folders: Vec<PathBuf> = std::iter::once(own.clone()).chain(folders).collect();
        let parts = self.parts();
        let split = changes.split(&folders, |table, key| parts.of_key(table, key).unwrap_or(0))?;
        let mut split = split.into_iter();
        let first = split
            .next()
            .ok_or(StoreError::Protocol("a change belongs to no part"))?;
        let others: Vec<(&PartWriter, Changes)> = self.others.iter().zip(split).collect();
        let prepared: Vec<Result<(), StoreError>> = others
            .into_par_iter()
            .map(|(writer, changes)| writer.prepare(changes, &record))
            .collect();
        let prepared: Result<(), StoreError> = prepared.into_iter().collect();
        // The commit is decided as soon as the first part is prepared too.
        let prepared = prepared.and_then(|()| record.prepare(self, first));
        if prepared.is_err() {
            // Best effort: on a full disk the files are in the way. The next writer tries again.
            let _ = discard_prepared(&self.bank);
            for writer in &self.others {
                let _ = writer.discard();
            }
        }
        prepared?;
        // From here on the commit is in the bank: what fails now, the next writer finishes.
        self.finish_parts(counters.epoch)
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Finishes a commit that all parts have prepared, the first part last.
    fn finish_parts(&self, epoch: u64) -> Result<(), StoreError> {
        let finished: Vec<Result<(), StoreError>> = self
            .others
            .par_iter()
            .map(|writer| writer.finish(epoch))
            .collect();
        finished.into_iter().collect::<Result<(), _>>()?;
        self.finish_prepared(epoch)
    }

    /// Stores the changes of this part durably, without making them part of its state.
    fn prepare(&self, changes: Changes, meta: CommitMeta<'_>) -> Result<(), StoreError> {
        // A file that an earlier attempt left must not decide this commit.
        discard_prepared(&self.bank)?;
        let intent = self.write_load(changes, meta)?;
        let mut bytes = Vec::new();
        encode(
            &META,
            &MetaKey::Intent,
            &Meta::Intent(intent.clone()),
            &mut bytes,
        )?;
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        if bytes.len() as u64 > MAX_PREPARED {
            return Err(StoreError::Full("file of a commit"));
        }
        replace_file(
            &self.bank.join("loads").join(&intent.folder).join(PREPARED),
            bytes,
        )
    }

    /// Makes the prepared changes of this part its state, and publishes it.
    pub(super) fn finish_prepared(&self, epoch: u64) -> Result<(), StoreError> {
        let intent = read_prepared(&self.bank, epoch)?;
        self.write_intent(&intent)?;
        self.finish_load(&intent)?;
        self.publish(&intent.counters)?;
        // Best effort: the next writer tries again, and removes the folder.
        let _ = clear_load(&load_folder(&self.bank, epoch));
        Ok(())
    }
}

impl PrepareRecord {
    /// Prepares the changes of a part.
    pub(super) fn prepare(self, writer: &Writer, changes: Changes) -> Result<(), StoreError> {
        let capture = (self.undo_policy == UndoPolicy::Capture)
            .then(|| UndoCapture::new(&writer.store.rocks, self.before, self.counters.batch));
        let meta = CommitMeta {
            counters: self.counters,
            lineage: self.lineage,
            undo_policy: self.undo_policy,
            capture,
        };
        writer.prepare(changes, meta)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! What a killed writer can leave, made step by step, and what the next open makes of it.
    //!
    //! Every state between two steps of a commit, of publishing and of making a bank is built by hand;
    //! a reader must see the state before, and the next open must end in the state before or after the
    //! commit, entry by entry, with nothing left over. The kills are in `tests/storage/faults`.

    use std::collections::HashMap;
    use std::collections::hash_map::Entry;
    use std::fs::{self, File};
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;
    use crate::disk::{LOCK_GRACE, WRITER_LOCK, lock_file, scratch};
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
            let mut scan = store.rocks.scan(table.name).unwrap();
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
                fs::create_dir(half.join("000002.sst")).unwrap();
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
        fs::create_dir_all(loads.join("7/pages-000001.sst/folder")).unwrap();
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
}
