//! Keys and values of every table: bytes are rejected, or are an entry that comes back.
//!
//! An input is the number of a table, the length of a key, the key and the value.

use std::fs;

use seedbank::engine::plan::{CoverMethod, Method, Scope, Slack};
use seedbank::engine::policy::Limit;
use seedbank::engine::{Bank, IngestRequest, PlanOptions, RefreshRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::plan_lists::ListText;
use seedbank_store::records::{
    BlocklistEntry, Counters, FinalListEntry, Intent, Lineage, LoadFile, Meta,
};
use seedbank_store::step_cache::{StepCacheRecord, StepRegion};
use seedbank_store::tables::{self, ALL, MetaKey};
use seedbank_store::{Key, Table, Value, raw_tables};

use super::cursor::Cursor;

/// Checks an entry of the table with this name.
macro_rules! entry_of_any {
    ($name:expr, $key:expr, $value:expr, $($table:ident)+) => {
        match $name {
            $(name if name == tables::$table.name => entry(&tables::$table, $key, $value),)+
            name => panic!("the table {name} is not fuzzed: name it here"),
        }
    };
}

/// Their values take more memory than others, so they have a target of their own.
const BLOCKS_OF_LINKS: [&str; 4] = [
    tables::INTRA.name,
    tables::INTRA_IN.name,
    tables::ROWS.name,
    tables::CITERS.name,
];

pub(super) fn run(data: &[u8]) {
    let mut from = Cursor::of(data);
    let table = &ALL[usize::from(from.byte()) % ALL.len()];
    let length = usize::from(from.byte());
    let key = from.bytes(length);
    let mut value = from.bytes(usize::MAX);
    if BLOCKS_OF_LINKS.contains(&table.name) {
        value = &[];
    }
    entry_of_any!(table.name, key, value,
        SITES SITE_IDS PAGES PAGE_IDS INTRA INTRA_IN ROWS ROW_HASHES ROW_MEMBERS CITERS DIGESTS
        BATCHES PAGE_HISTORY REMOVED_ROWS PLANS REFRESHES CORES CORE_SCORES COMPONENT_CACHE
        NEAR_CORE_CACHE CORE_ORIGINS COVERS PAGE_SETS SEEDS CORE_MEMBERS CORE_EVIDENCE PAGE_EVIDENCE REACH META
        ALIASES ALIAS_REFERENCES FINAL_LIST PLAN_LISTS UNDO BLOCKLIST SEED_PAGES STEP_CACHE FAILURES YIELDS
        FETCH_HISTORY SEED_FETCHES CANONICAL_REFERENCES GAIN_CACHE FULL_CAPS);
}

fn entry<K: Key, V: Value>(table: &Table<K, V>, key: &[u8], value: &[u8]) {
    if let Some(found) = K::take(key) {
        assert_eq!(found.bytes(), key, "a key of {}: {found:?}", table.name);
    }
    comes_back::<V>(value);
}

/// Bytes that are a value: written again, it is the same value and the same bytes as when it was
/// first written.
///
/// Compared as bytes: a record may hold a NaN, which equals nothing.
pub(super) fn comes_back<V: Value>(bytes: &[u8]) {
    let Ok(value) = V::decode(bytes) else {
        return;
    };
    let once = written(&value);
    let again = V::decode(&once).expect("what was written can be read");
    assert_eq!(once, written(&again));
}

pub(super) fn written<V: Value>(value: &V) -> Vec<u8> {
    let mut bytes = Vec::new();
    value
        .encode(&mut bytes)
        .expect("what was read can be written");
    bytes
}

/// Entries of a small bank with two batches and two refreshes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank");
    let bank = Bank::create(&path, SiteMode::Host.with(UrlRules::Whatwg)).unwrap();
    for (name, crawl) in [("first.jsonl", FIRST), ("second.jsonl", SECOND)] {
        let file = folder.path().join(name);
        fs::write(&file, crawl).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        let greedy = Method::Cover(CoverMethod::Greedy);
        let plans = [
            ("cores", Method::Cores, None),
            ("sites", greedy, None),
            ("web", greedy, Some(Scope::Web)),
        ];
        for (plan, method, scope) in plans {
            let request = RefreshRequest {
                plan: Some(plan.to_owned()),
                options: PlanOptions {
                    method: Some(method),
                    scope,
                    within: (method == Method::Cores).then_some(Slack::EXACT),
                    max_per_site: Some(Limit::AtMost(1)),
                    ..PlanOptions::default()
                },
                ..RefreshRequest::default()
            };
            bank.refresh(&request).unwrap();
        }
    }
    let mut seeds = Vec::new();
    let mut stored = raw_tables(&path).unwrap();
    for (number, table) in (0..).zip(ALL) {
        let mut entries = stored.remove(table.name).unwrap();
        entries.sort_by_key(|(_, value)| value.len());
        // The shortest, the longest and one between.
        for at in [0, entries.len() / 2, entries.len().saturating_sub(1)] {
            if let Some((key, value)) = entries.get(at) {
                seeds.push(input(number, key, value));
            }
        }
        if table.name == tables::META.name {
            seeds.push(input(number, &MetaKey::Intent.bytes(), &written(&intent())));
        }
        if table.name == tables::FINAL_LIST.name {
            let listed = FinalListEntry {
                page: PageId::new(SiteId(1), 2),
                chosen: Some(3),
                last_chosen: 4,
            };
            seeds.push(input(number, &(4_u32, 1_u32).bytes(), &written(&listed)));
        }
        if table.name == tables::STEP_CACHE.name {
            let kept = StepCacheRecord {
                pages: vec![PageId::new(SiteId(1), 2), PageId::new(SiteId(1), 3)],
                groups: vec![1, 0],
                regions: vec![StepRegion {
                    fingerprint: [5; 16],
                    sample: vec![1, 9],
                }],
                region: 0,
                bound: 2.5,
                scores: vec![(0, 145)],
                weights: vec![(1, 4096)],
            };
            seeds.push(input(number, &(4_u32, 1_u32).bytes(), &written(&kept)));
        }
        if table.name == tables::BLOCKLIST.name {
            let barred = BlocklistEntry {
                site: true,
                batch: 3,
            };
            seeds.push(input(number, &[7; 16], &written(&barred)));
        }
        if table.name == tables::PLAN_LISTS.name {
            let list = ListText("*.pdf\n.example.org\n".to_owned());
            seeds.push(input(number, &list.hash(), &written(&list)));
        }
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

fn input(table: u8, key: &[u8], value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(key.len()).unwrap();
    [&[table, length], key, value].concat()
}

fn intent() -> Meta {
    Meta::Intent(Intent {
        folder: "3".to_owned(),
        files: vec![LoadFile {
            family: "pages".to_owned(),
            name: "pages-000000.sst".to_owned(),
            bytes: 1200,
            hash: [7; 32],
        }],
        counters: Counters::default(),
        lineage: Lineage {
            bank: 1,
            state: 3,
            previous: 2,
        },
    })
}

/// Two sites that link to the same two pages of others; hubs of one core.
const FIRST: &str = r#"
{"url": "http://a.example/", "outlinks": ["http://a.example/1", "http://c.example/", "http://d.example/"], "digest": "x", "clicks": 3}
{"url": "http://a.example/1", "outlinks": ["http://a.example/", "http://c.example/", "http://d.example/"], "digest": "x", "canonical": "http://a.example/"}
{"url": "http://b.example/", "outlinks": ["http://b.example/1", "http://c.example/", "http://d.example/", "http://e.example/"], "spam": false}
{"url": "http://b.example/1", "outlinks": ["http://c.example/"], "uncrawled_outlinks": 7}
{"url": "http://e.example/", "outlinks": ["http://a.example/"], "fetched": "2026-11-19T04:00:00Z"}
{"url": "http://s.example/", "outlinks": ["http://c.example/"], "spam": true}
{"url": "http://busy.example/", "status": 503, "seed": "http://a.example/", "via": "http://b.example/", "depth": 2}
"#;

const SECOND: &str = r#"
{"url": "http://b.example/1", "outlinks": []}
{"url": "http://e.example/", "gone": true}
{"url": "http://f.example/", "outlinks": ["http://c.example/", "http://d.example/", "http://g.example/"]}
{"url": "http://g.example/", "redirect": "http://h.example/"}
"#;
