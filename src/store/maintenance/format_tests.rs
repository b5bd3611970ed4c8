//! A changed declaration is another format, and every way to open a bank refuses another format without changing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Verdict, check, repair};
use crate::backup::{BackupPlace, BackupRequest, backup, restore};
use crate::disk::{MARKER, scratch};
use crate::error::{StoreError, StoreHint};
use crate::format::Format;
use crate::publish::commit::tests::{TestBank, dump, settings};
use crate::publish::published::publish;
use crate::publish::writer::{acknowledge, write_meta};
use crate::publish::{OtherProcesses, Reader, Writer, create_cluster};
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::table_info::{Family, Placement, TableInfo};
use crate::tables::records::Meta;
use crate::tables::store::Store;
use crate::tables::{ALL, MetaKey};
use seedbank_algorithms::watch::Unwatched;

fn other() -> Format {
    "0-0123456789abcdef".parse().unwrap()
}

/// Fails unless this is the error of another format, with its hint.
fn is_refused<T>(opened: Result<T, StoreError>) {
    match opened.err().expect("another format is refused") {
        error @ StoreError::OtherFormat { found, .. } => {
            assert_eq!(found, other());
            assert_eq!(error.hint(), Some(StoreHint::ExportWithItsBuild));
        }
        error => panic!("{error}"),
    }
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.append(&mut files(&path));
        } else {
            all.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn every_change_of_a_declaration_is_another_format() {
    let changes: [fn(&mut Vec<TableInfo>); 10] = [
        |tables| tables[3].name = "renamed",
        |tables| tables[3].family = Family::Plans,
        |tables| tables[3].prefix = 200,
        |tables| tables[3].key = "site u32",
        |tables| tables[3].value = "page index u32",
        |tables| tables[3].placement = Placement::First,
        |tables| tables[3].layout = || "another field".to_owned(),
        |tables| tables.swap(3, 4),
        |tables| {
            tables.pop();
        },
        |tables| tables.push(tables[0]),
    ];
    let mut found = vec![Format::current()];
    for change in changes {
        let mut tables = ALL.to_vec();
        assert_eq!(Format::with_tables(&tables), found[0]);
        change(&mut tables);
        let format = Format::with_tables(&tables);
        assert!(!found.contains(&format));
        found.push(format);
    }
    // The contents of a table and its group say nothing about its bytes.
    let mut tables = ALL.to_vec();
    tables[3].purpose = "Other words.";
    assert_eq!(Format::with_tables(&tables), found[0]);
}

#[test]
fn a_format_is_read_back() {
    for text in ["0", "1", "15", "0-0123456789abcdef"] {
        let format: Format = text.parse().unwrap();
        assert_eq!(format.to_string(), text);
        assert_ne!(format, Format::current());
    }
    let current = Format::current();
    assert_eq!(current.to_string().parse(), Ok(current));
    for text in [
        "",
        "-1",
        "x",
        "01",
        "0-",
        "0-12",
        "0-0123456789ABCDEF",
        "+1",
    ] {
        assert!(text.parse::<Format>().is_err(), "{text}");
    }
}

#[test]
fn a_marker_with_another_format_is_refused_and_nothing_changes() {
    let place = TestBank::new();
    let bank = place.path();
    let marker = bank.join(MARKER);
    let own = fs::read_to_string(&marker).unwrap();
    let current = Format::current().to_string();
    fs::write(&marker, own.replace(&current, &other().to_string())).unwrap();
    let before = files(&bank);
    is_refused(Reader::open(&bank));
    is_refused(Writer::open(&bank, false, &Unwatched));
    is_refused(Writer::probe(&bank));
    is_refused(check(&bank, &OtherProcesses::default(), &Unwatched));
    let folder = scratch();
    let backups = folder.path().join("backups");
    let to = BackupPlace::Folder(&backups);
    is_refused(backup(&bank, to, &BackupRequest::default(), 1, &Unwatched));
    assert!(!backups.exists());
    is_refused(repair(&bank, false, &Unwatched));
    assert_eq!(files(&bank), before);
    fs::write(&marker, own).unwrap();
    assert_eq!(dump(&Reader::open(&bank).unwrap()), place.before);
}

#[test]
fn tables_with_another_format_are_refused_and_nothing_is_lost() {
    let place = TestBank::new();
    let bank = place.path();
    let live = bank.join("live");
    let open = || Store::new(Database::open_writer(&live, ALL, AutoCompaction::Disabled).unwrap());
    let store = open();
    write_meta(&store, &[(MetaKey::Format, Meta::Format(other()))], None).unwrap();
    acknowledge(&bank, &store, false).unwrap();
    let is_flushed = publish(&bank, &store, store.counters().unwrap().epoch).unwrap();
    acknowledge(&bank, &store, is_flushed).unwrap();
    let before = dump(&store);
    drop(store);
    is_refused(Reader::open(&bank));
    is_refused(Writer::open(&bank, false, &Unwatched));
    let report = check(&bank, &OtherProcesses::default(), &Unwatched).unwrap();
    assert_eq!(report.published.verdict, Verdict::Damaged);
    assert!(!repair(&bank, false, &Unwatched).unwrap().usable);
    let folder = scratch();
    let backups = folder.path().join("backups");
    let to = BackupPlace::Folder(&backups);
    is_refused(backup(&bank, to, &BackupRequest::default(), 1, &Unwatched));
    // Without a marker too.
    fs::remove_file(bank.join(MARKER)).unwrap();
    assert!(Writer::open(&bank, false, &Unwatched).is_err());
    assert!(repair(&bank, false, &Unwatched).is_err());
    assert!(!bank.join(MARKER).exists());
    assert_eq!(dump(&open()), before);
}

#[test]
fn a_part_of_another_format_is_refused() {
    let folder = scratch();
    let bank = folder.path().join("bank");
    create_cluster(&bank, &settings(), 3).unwrap();
    let marker = bank.join("parts/002").join(MARKER);
    let own = fs::read_to_string(&marker).unwrap();
    let current = Format::current().to_string();
    fs::write(&marker, own.replace(&current, &other().to_string())).unwrap();
    let before = files(&bank);
    is_refused(Reader::open(&bank));
    is_refused(Writer::open(&bank, false, &Unwatched));
    assert_eq!(files(&bank), before);
}

#[test]
fn a_backup_of_another_format_is_refused() {
    let place = TestBank::new();
    let folder = scratch();
    let backups = folder.path().join("backups");
    let from = BackupPlace::Folder(&backups);
    backup(
        &place.path(),
        from,
        &BackupRequest::default(),
        1,
        &Unwatched,
    )
    .unwrap();
    let inventory = backups.join("backups/1");
    let text = fs::read_to_string(&inventory).unwrap();
    let (lines, _) = text.trim_end().rsplit_once('\n').unwrap();
    let lines = lines.replace(&Format::current().to_string(), &other().to_string()) + "\n";
    let sum = blake3::hash(lines.as_bytes()).to_hex();
    fs::write(&inventory, format!("{lines}{{\"sum\":\"{sum}\"}}\n")).unwrap();
    let new = folder.path().join("new");
    is_refused(restore(from, &new, None, &Unwatched));
    assert!(!new.exists());
}
