//! `check` finds damage: entries deleted, altered, swapped and added in every table; files of the
//! database with flipped bytes, cut short, and missing. Nothing panics, and where something cannot
//! be opened the error says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support;
use crate::support::folders::copy;
use crate::support::model::{assert_clean, ingest, pages_of, totals_of};
use crate::support::over_web::over_web;
use crate::support::plans::exact_cores;
use crate::support::records::{Batch, PAGES, Record, SiteLine, Uncrawled, url};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::PageKind;
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{SiteMode, UrlRules};
use seedbank::watch::Unwatched;
use seedbank_algorithms::cores::Hits;
use seedbank_store::records::{Counters, Meta};
use seedbank_store::tables::MetaKey;
use seedbank_store::{Key, RawEntry, Value, Verdict, Writer, raw_entries, raw_write, tables};
use tempfile::TempDir;

fn record(page: usize, round: usize) -> Record {
    Record {
        page,
        spelling: 0,
        outlinks: Some(
            (1..2 + page % 5)
                .map(|step| (page + step * (5 + round)) % PAGES)
                .collect(),
        ),
        junk: None,
        spam: (page % 7 == 3).then_some(true),
        clicks: Some(page as u64),
        uncrawled: Uncrawled::Absent,
        quality: if page.is_multiple_of(5) {
            Uncrawled::Given(u32::try_from(page).unwrap() * 100)
        } else {
            Uncrawled::Absent
        },
        digest: u8::try_from(page % 4).ok(),
        fetched: None,
        redirect: (page % 10 == 4).then_some((page + 3) % PAGES),
        canonical: (page % 10 == 7 && round == 2).then_some(Some((page + 10) % PAGES)),
        kind: (page % 10 == 6).then_some(Some(PageKind::Document)),
        gone: (page % 9 == 8 && round == 2).then_some(true),
    }
}

/// A bank with entries in every table, several in all but one.
fn bank() -> (TempDir, Bank) {
    let place = support::scratch();
    let bank = Bank::create(
        place.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    for round in 1..=2 {
        // What is barred, and a log beside files of tables.
        let barred = ForgetRequest {
            what: vec!["http://barred.example/".to_owned()],
            block: true,
            ..ForgetRequest::default()
        };
        bank.forget(&barred).unwrap();
        let writer = Writer::open(bank.path(), false, &Unwatched).unwrap();
        writer.compact(&Unwatched).unwrap();
        drop(writer);
        let pages = (0..PAGES).filter(|page| page % 3 != round);
        let records = pages.map(|page| record(page, round)).collect();
        let sites = vec![SiteLine {
            site: "a.example",
            quality: Uncrawled::Given(7_000),
            spam: Uncrawled::Absent,
            quota: Uncrawled::Given(9),
        }];
        let batch = Batch {
            sites,
            ..Batch::delta(records)
        };
        ingest(&bank, &batch, 512 << 20);
        let busy = |page| {
            let status = "503".parse().unwrap();
            let record = seedbank::ingest::Record::new(url(page)).status(status);
            record.seed(url(0)).via(url(1)).depth(2)
        };
        let request = IngestRequest {
            as_of: Some(4_000_000_000 + round as u64),
            ..IngestRequest::default()
        };
        let busy = [0, 5, 12].map(busy);
        bank.ingest_records(&request, busy).unwrap();
        let cover = PlanOptions {
            method: Some(Method::Cover(CoverMethod::MaxWeight)),
            per_site: Some(2),
            ..PlanOptions::default()
        };
        let web = PlanOptions {
            hops: Some(1),
            seeds: Some(2),
            ..over_web(CoverMethod::Greedy, 2)
        };
        let cores = |keep_spam| PlanOptions {
            seeds: Some(3),
            keep_spam: Some(keep_spam),
            ..PlanOptions::default()
        };
        for (plan, options) in [
            ("one", cores(false)),
            ("two", cores(true)),
            (
                "near",
                PlanOptions {
                    within: Some("1".parse().unwrap()),
                    ..cores(true)
                },
            ),
            (
                "classic",
                PlanOptions {
                    hits: Some(Hits::Classic),
                    ..cores(true)
                },
            ),
            ("web", web),
            ("sites", cover),
        ] {
            let request = RefreshRequest {
                plan: Some(plan.to_owned()),
                options: exact_cores(options),
                ..RefreshRequest::default()
            };
            assert!(bank.refresh(&request).unwrap().view.seeds > 1);
        }
    }
    assert_clean(&bank);
    (place, bank)
}

/// The tables in which damage to this one may show: itself and those that mirror it.
fn mirrors(table: &str) -> &'static [&'static str] {
    match table {
        "sites" => &["sites", "site_ids", "pages", "meta"],
        "site_ids" => &["site_ids", "sites"],
        "pages" => &["pages", "page_ids", "sites", "row_members"],
        "page_ids" => &["page_ids", "pages", "sites"],
        "intra" => &["intra", "intra_in", "sites", "pages"],
        "intra_in" => &["intra_in", "intra", "pages"],
        "rows" => &["rows", "row_hashes", "row_members", "citers"],
        "row_hashes" => &["row_hashes", "rows"],
        "row_members" => &["row_members", "rows", "pages", "sites"],
        "citers" => &["citers", "rows"],
        "digests" => &["digests", "sites", "pages"],
        "batches" => &["batches", "page_sets", "failures", "seed_fetches"],
        "page_history" => &["page_history", "page_sets"],
        "removed_rows" => &["removed_rows", "page_history"],
        "plans" => &["plans", "refreshes"],
        "refreshes" => &[
            "refreshes",
            "plans",
            "cores",
            "seeds",
            "covers",
            "core_scores",
        ],
        "cores" => &[
            "cores",
            "core_scores",
            "refreshes",
            "core_evidence",
            "core_members",
        ],
        "core_scores" => &["core_scores", "cores"],
        "component_cache" => &["component_cache", "near_core_cache"],
        "near_core_cache" => &["near_core_cache"],
        "step_cache" => &["step_cache"],
        "gain_cache" => &["gain_cache"],
        "core_origins" => &["core_origins", "component_cache"],
        "covers" => &["covers", "seeds", "page_sets", "refreshes"],
        "page_sets" => &[
            "page_sets",
            "batches",
            "refreshes",
            "covers",
            "page_history",
        ],
        "seeds" => &["seeds", "cores", "covers", "refreshes"],
        "core_members" => &["core_members", "cores"],
        "core_evidence" => &["core_evidence", "cores"],
        "page_evidence" => &["page_evidence", "component_cache", "page_sets"],
        "reach" => &["reach", "page_sets", "covers", "gain_cache"],
        "aliases" => &["aliases", "alias_references", "pages"],
        "alias_references" => &["alias_references", "aliases"],
        "canonical_references" => &["canonical_references"],
        "final_list" => &["final_list", "seeds", "refreshes"],
        "plan_lists" => &["plan_lists", "plans", "refreshes"],
        "undo" => &["undo"],
        "blocklist" => &["blocklist"],
        "seed_pages" => &["seed_pages"],
        "full_caps" => &["full_caps"],
        "failures" => &["failures"],
        "yields" => &["yields"],
        "fetch_history" => &["fetch_history"],
        "seed_fetches" => &["seed_fetches"],
        "meta" => &["meta", "undo", "blocklist"],
        other => panic!("a table that this test does not know: {other}"),
    }
}

/// The tables that `check` names, or the one that keeps the bank from being opened.
fn named(bank: &Bank) -> BTreeSet<String> {
    match bank.check() {
        Ok(check) => {
            let live = check.live;
            let why = live.why.unwrap_or_default();
            let walked = live.walk.findings.iter().map(|found| found.table.clone());
            let tables = tables::ALL.iter().map(|table| table.name.to_owned());
            let whole = tables.filter(|name| why.contains(&format!("table {name},")));
            walked.chain(whole).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

/// Asks the bank for everything; an error is allowed, a panic is not.
fn ask(bank: &Bank) {
    let _ = bank.status();
    let _ = bank.history();
    let _ = bank.pages::<EngineError>(|_| Ok(()));
    for plan in ["one", "two", "sites"] {
        let which = Which {
            plan: Some(plan.to_owned()),
            refresh: None,
        };
        let _ = bank.seeds(&which).map(Iterator::count);
        let _ = bank.cores(&which).map(Iterator::count);
    }
}

/// Has the damage published, and then asks.
fn ask_damaged(bank: &Bank) {
    let published = bank.path().join("published");
    let kept = bank.path().join("kept");
    fs::rename(&published, &kept).unwrap();
    // Either fails, or makes the missing checkpoint.
    let _ = Writer::open(bank.path(), false, &Unwatched);
    ask(bank);
    let _ = fs::remove_dir_all(&published);
    fs::rename(&kept, &published).unwrap();
}

type Change = (Vec<u8>, Option<Vec<u8>>);

/// The next key of the same length.
fn next_key(key: &[u8]) -> Vec<u8> {
    let mut next = key.to_vec();
    for byte in next.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    next
}

/// The kinds of damage to a table: their names and what they write.
fn damages(table: &str, entries: &[RawEntry]) -> Vec<(String, Vec<Change>)> {
    let mut damages = Vec::new();
    let mut places = BTreeSet::from([0, entries.len() - 1]);
    if table == "core_scores" {
        // The last part of a core has its accuracy, if its plan stores that.
        let of_part = |part| entries.iter().position(|(key, _)| key.ends_with(&[part]));
        places.extend([2, 3].map(|part| of_part(part).unwrap()));
    }
    for place in places {
        let (key, value) = &entries[place];
        let mut push = |what: &str, value: Option<Vec<u8>>| {
            damages.push((format!("{what} {place}"), vec![(key.clone(), value)]));
        };
        push("delete", None);
        push("empty", Some(Vec::new()));
        push("cut", Some(value[..value.len() - 1].to_vec()));
        let mut longer = value.clone();
        longer.push(1);
        push("lengthen", Some(longer));
        push("garble", Some(vec![0xff; value.len()]));
        if table == "core_scores" && key.ends_with(&[3]) {
            let negative = (-1_f64).to_le_bytes();
            let negative = [&value[..value.len() - negative.len()], &negative].concat();
            push("negate", Some(negative));
        }
    }
    let (key, value) = &entries[entries.len() - 1];
    damages.push(("add".to_owned(), vec![(next_key(key), Some(value.clone()))]));
    damages.push((
        "add a key that is none".to_owned(),
        vec![(vec![0xff, 0xfe], Some(value.clone()))],
    ));
    // Where nothing else determines a value, replacing it by another good one cannot be found.
    let swappable = [
        "sites",
        "site_ids",
        "pages",
        "page_ids",
        "intra",
        "intra_in",
        "rows",
        "row_hashes",
        "row_members",
        "citers",
        "digests",
        "plans",
        "cores",
        "meta",
    ];
    let pair = entries
        .iter()
        .zip(entries.iter().skip(1))
        .find(|(a, b)| a.1 != b.1);
    if swappable.contains(&table)
        && let Some(((one, value), (other, other_value))) = pair
    {
        damages.push((
            "swap".to_owned(),
            vec![
                (one.clone(), Some(other_value.clone())),
                (other.clone(), Some(value.clone())),
            ],
        ));
    }
    damages
}

/// Damages one table after another, and repairs each before the next.
fn check_tables(tables: &[&str]) {
    let (_place, bank) = bank();
    for table in tables {
        check_table(&bank, table);
    }
}

fn check_table(bank: &Bank, table: &str) {
    let entries = raw_entries(bank.path(), table).unwrap();
    assert!(entries.len() > 1, "{table} has {} entries", entries.len());
    let before: BTreeMap<Vec<u8>, Vec<u8>> = entries.iter().cloned().collect();
    let mut unfound = Vec::new();
    let mut undone: Vec<Change> = Vec::new();
    for (number, (what, changes)) in damages(table, &entries).into_iter().enumerate() {
        // One write repairs the table and damages it again: opening a bank takes longer than a write.
        let damaged = changes.iter().cloned();
        let both: Vec<Change> = undone.into_iter().chain(damaged).collect();
        raw_write(bank.path(), table, &both).unwrap();
        let found = named(bank);
        if !mirrors(table).iter().any(|name| found.contains(*name)) {
            unfound.push(format!("{what}: {found:?}"));
        }
        // Readers see the published state, into which a commit would carry the damage.
        if number % 5 == 0 {
            ask_damaged(bank);
        }
        undone = changes
            .into_iter()
            .map(|(key, _)| (key.clone(), before.get(&key).cloned()))
            .collect();
    }
    raw_write(bank.path(), table, &undone).unwrap();
    assert_eq!(unfound, Vec::<String>::new(), "not found in {table}");
    assert_clean(bank);
}

#[test]
fn damage_to_sites_and_pages_is_found() {
    check_tables(&["sites", "site_ids", "pages", "page_ids", "digests"]);
}

#[test]
fn damage_to_links_is_found() {
    check_tables(&[
        "intra",
        "intra_in",
        "rows",
        "row_hashes",
        "row_members",
        "citers",
    ]);
}

#[test]
fn damage_to_history_is_found() {
    check_tables(&[
        "batches",
        "page_history",
        "removed_rows",
        "plans",
        "refreshes",
        "page_sets",
        "seed_fetches",
        "meta",
    ]);
}

#[test]
fn damage_to_evidence_is_found() {
    check_tables(&["core_members", "core_evidence", "page_evidence", "reach"]);
}

#[test]
fn damage_to_what_refreshes_keep_is_found() {
    check_tables(&["covers", "cores", "core_scores", "seeds", "component_cache"]);
}

/// A number of batches that is far off is one finding, and does not make `check` run for long.
#[test]
fn a_damaged_number_of_batches_is_found() {
    let (_place, bank) = bank();
    let key = MetaKey::Counters.bytes();
    let entries = raw_entries(bank.path(), "meta").unwrap();
    let (_, value) = entries.iter().find(|entry| entry.0 == key).unwrap();
    let Meta::Counters(counters) = Meta::decode(value).unwrap() else {
        panic!("other counters");
    };
    for batch in [0, u32::MAX] {
        let mut damaged = Vec::new();
        Meta::Counters(Counters { batch, ..counters })
            .encode(&mut damaged)
            .unwrap();
        let change = (key.clone(), Some(damaged));
        raw_write(bank.path(), "meta", &[change]).unwrap();
        let count = bank.check().unwrap().live.walk.count;
        assert!((1..200).contains(&count), "{count}");
        ask(&bank);
    }
}

#[test]
fn every_table_is_damaged_here() {
    for table in tables::ALL {
        assert!(mirrors(table.name).contains(&table.name));
    }
    assert_eq!(tables::ALL.len(), 44);
}

/// Files of the live database that hold data.
fn files(bank: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(bank.join("live"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_table = path.extension().is_some_and(|end| end == "sst");
            let is_log = path.extension().is_some_and(|end| end == "log");
            (is_table || is_log || name == "CURRENT" || name.starts_with("MANIFEST"))
                && fs::metadata(path).unwrap().len() > 0
        })
        .collect();
    files.sort();
    files
}

/// Damage to files of the live state is found, or keeps it from being opened, or changes nothing
/// that anyone can see (not every byte of a file counts). A repair brings everything back.
#[test]
fn damage_to_files_is_found() {
    let (place, whole) = bank();
    let before = (pages_of(&whole), totals_of(&whole));
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..40 {
        let bank = Bank::at(place.path().join("damaged"));
        copy(whole.path(), bank.path());
        let mut files = files(bank.path());
        if number % 4 > 1 {
            // Flipped bits of other files mostly keep the database from being opened.
            files.retain(|file| file.extension().is_some_and(|end| end == "sst"));
        }
        let file = &files[rng.random_range(0..files.len())];
        let mut bytes = fs::read(file).unwrap();
        let at = rng.random_range(0..bytes.len());
        match number % 4 {
            0 => bytes.truncate(at),
            1 => bytes[at..].fill(0),
            _ => bytes[at] ^= 1 << rng.random_range(0..8),
        }
        // The published state has the same files under names of its own, and keeps them.
        fs::remove_file(file).unwrap();
        if number % 15 != 0 {
            fs::write(file, &bytes).unwrap();
        }
        let check = bank.check().unwrap();
        assert_eq!(check.published.verdict, Verdict::Good);
        let outcome = match check.live {
            live if live.why.is_some() => "cannot be opened",
            live if live.verdict == Verdict::Good => "nothing lost",
            _ => "found",
        };
        let report = bank.repair(false).unwrap();
        assert_eq!(report.lost, None);
        assert_clean(&bank);
        assert_eq!((pages_of(&bank), totals_of(&bank)), before, "{file:?}");
        *outcomes.entry(outcome).or_default() += 1;
        fs::remove_dir_all(bank.path()).unwrap();
    }
    println!("{outcomes:?}");
    assert!(outcomes["cannot be opened"] > 5, "{outcomes:?}");
    assert!(outcomes["found"] > 5, "{outcomes:?}");
}
