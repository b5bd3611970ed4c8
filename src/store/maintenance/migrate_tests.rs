//! Migration, shown on a format 0 that exists in these tests alone.
//!
//! Format 0 has neither `seed_pages`, the way back from a page to the lists that it is on, nor the tables after it;
//! the step to format 1 puts it.

use std::fs;

use super::*;
use crate::disk::folder::{BankKind, write_marker};
use crate::disk::scratch::scratch;
use crate::error::StoreHint;
use crate::format::{LAST_UNRELEASED, OlderFormat};
use crate::publish::commit::tests::{Dump, TestBank, dump};
use crate::publish::published::publish;
use crate::publish::writer::{acknowledge, write_meta};
use crate::rocks::database::Database;
use crate::table_info::TableInfo;
use crate::tables::changes::Changes;
use crate::tables::records::{Meta, SeedEvidence, SeedRecord};
use crate::tables::store::Store;
use crate::tables::{ALL, MetaKey, SEED_PAGES, SEEDS};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;

const TABLES: &[TableInfo] = ALL.split_at(ALL.len() - FORMAT_0.missing_tables).0;

/// The older format.
pub(crate) const FORMAT_0: OlderFormat = OlderFormat {
    number: 0,
    next: 1,
    missing_tables: 6,
};

/// From format 0 to format 1.
pub(crate) fn step_from_0(store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    for entry in store.scan(&SEEDS)? {
        let ((refresh, rank), seed) = entry?;
        changes.put(&SEED_PAGES, &(seed.page, refresh), &rank)?;
    }
    Ok(())
}

const PAGE: PageId = PageId(7);

/// A bank of format 0 with a seed, and what it holds.
fn bank_of_format_0() -> (TestBank, Dump) {
    let place = TestBank::new();
    let bank = place.path();
    let writer = place.writer();
    let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
    let seed = SeedRecord {
        page: PAGE,
        evidence: SeedEvidence::ByPolicy,
        succeeds: None,
    };
    changes.put(&SEEDS, &(1, 3), &seed).unwrap();
    let counters = writer.counters().unwrap();
    writer.commit(changes, counters).unwrap();
    drop(writer);

    let live = bank.join("live");
    let names = ALL.iter().map(|table| table.name);
    let names = names.chain([rocksdb::DEFAULT_COLUMN_FAMILY_NAME]);
    let mut database = rocksdb::DB::open_cf(&rocksdb::Options::default(), &live, names).unwrap();
    for table in &ALL[TABLES.len()..] {
        database.drop_cf(table.name).unwrap();
    }
    drop(database);
    let store =
        Store::new(Database::open_writer(&live, TABLES, AutoCompaction::Disabled, false).unwrap());
    write_meta(&store, &[(MetaKey::Format, Meta::Format(0))], None).unwrap();
    let epoch = store.counters().unwrap().epoch;
    acknowledge(&bank, &store, false).unwrap();
    let is_flushed = publish(&bank, &store, epoch).unwrap();
    acknowledge(&bank, &store, is_flushed).unwrap();
    drop(store);
    write_marker(&bank, BankKind::Single, 0).unwrap();
    let held = dump(&Reader::open_to_migrate(&bank).unwrap());
    (place, held)
}

/// Compares a bank of the current format with what it held as one of format 0.
fn is_migrated(bank: &Path, before: &Dump) {
    assert_eq!(marker_format(bank).unwrap(), FORMAT);
    let reader = Reader::open(bank).unwrap();
    assert_eq!(reader.format().unwrap(), FORMAT);
    assert_eq!(reader.lists_with_page(PAGE).unwrap(), [(1, 3)]);
    let added = [SEED_PAGES.name, "step_cache", "meta"];
    let old = |dump: &Dump| -> Dump {
        let entries = dump.iter().filter(|entry| !added.contains(&entry.0));
        entries.cloned().collect()
    };
    assert_eq!(old(&dump(&reader)), old(before));
}

fn other_format(error: &StoreError) -> (u32, Option<StoreHint>) {
    match error {
        StoreError::OtherFormat { found, .. } => (*found, error.hint()),
        other => panic!("{other}"),
    }
}

#[test]
fn a_bank_is_migrated_in_place() {
    let (place, before) = bank_of_format_0();
    let report = migrate(&place.path(), false, &Unwatched).unwrap();
    assert_eq!((report.from, report.to), (0, FORMAT));
    is_migrated(&place.path(), &before);
    // There is nothing to do for a bank of this format.
    let epoch = Reader::open(&place.path()).unwrap().epoch();
    let report = migrate(&place.path(), false, &Unwatched).unwrap();
    assert_eq!((report.from, report.to), (FORMAT, FORMAT));
    assert_eq!(Reader::open(&place.path()).unwrap().epoch(), epoch);
}

#[test]
fn a_bank_is_migrated_to_a_new_one() {
    let (place, before) = bank_of_format_0();
    let elsewhere = scratch();
    let new = elsewhere.path().join("new");
    let report = migrate_to(&place.path(), &new, &Unwatched).unwrap();
    assert_eq!((report.from, report.to), (0, FORMAT));
    is_migrated(&new, &before);
    assert_eq!(marker_format(&place.path()).unwrap(), 0);
    let old = Reader::open_to_migrate(&place.path()).unwrap();
    assert_eq!(dump(&old), before);
}

#[test]
fn a_writer_migrates_and_a_reader_refuses() {
    let (place, before) = bank_of_format_0();
    let refused = Reader::open(&place.path()).err().unwrap();
    assert_eq!(other_format(&refused), (0, Some(StoreHint::Migrate)));
    drop(place.writer());
    is_migrated(&place.path(), &before);
}

/// The marker is written after the commit.
#[test]
fn a_migration_killed_before_the_marker_is_finished_by_the_next_writer() {
    let (place, before) = bank_of_format_0();
    migrate(&place.path(), false, &Unwatched).unwrap();
    write_marker(&place.path(), BankKind::Single, 0).unwrap();
    let report = migrate(&place.path(), false, &Unwatched).unwrap();
    assert_eq!((report.from, report.to), (0, FORMAT));
    is_migrated(&place.path(), &before);
}

#[test]
fn a_format_without_a_step_is_refused_and_not_touched() {
    let place = TestBank::new();
    let bank = place.path();
    let elsewhere = scratch();
    let new = elsewhere.path().join("new");
    for found in [2, 4, LAST_UNRELEASED, FORMAT + 1, 99] {
        write_marker(&bank, BankKind::Single, found).unwrap();
        let hint = if found <= LAST_UNRELEASED {
            StoreHint::NewBank
        } else {
            StoreHint::NewerBuild
        };
        let errors = [
            Reader::open(&bank).err(),
            Writer::open(&bank, false, &Unwatched).err(),
            migrate(&bank, false, &Unwatched).err(),
            migrate_to(&bank, &new, &Unwatched).err(),
        ];
        for error in errors.into_iter().map(Option::unwrap) {
            assert_eq!(other_format(&error), (found, Some(hint)));
            let text = format!("expected bank format {FORMAT}, found {found}");
            assert!(error.to_string().ends_with(&text), "{error}");
        }
        assert!(!new.exists());
    }
    write_marker(&bank, BankKind::Single, FORMAT).unwrap();
    place.reads(&place.before);

    // Also where the marker says otherwise than the database.
    let writer = place.writer();
    let format = Meta::Format(LAST_UNRELEASED);
    write_meta(&writer, &[(MetaKey::Format, format)], None).unwrap();
    drop(writer);
    let published = fs::read(bank.join("published/CURRENT")).unwrap();
    let refused = Writer::open(&bank, false, &Unwatched).err().unwrap();
    assert_eq!(
        other_format(&refused),
        (LAST_UNRELEASED, Some(StoreHint::NewBank))
    );
    assert_eq!(fs::read(bank.join("published/CURRENT")).unwrap(), published);
}
