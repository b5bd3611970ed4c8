//! The state of a bank that readers see, as hashes of all its tables.

use std::collections::BTreeMap;
use std::path::Path;

use seedbank_store::records::{BatchRecord, PlanRecord, RefreshRecord};
use seedbank_store::{Key, Reader, StoreError, Table, Value, tables};

/// A whole state; two runs of a command leave equal ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// The last batch and the last refresh.
    last: (u32, u32),
    tables: BTreeMap<&'static str, blake3::Hash>,
}

/// The hash of a table, without what `blank` takes out of its values: when something happened, and
/// how long it took.
fn hash<K: Key, V: Value>(
    reader: &Reader,
    table: &Table<K, V>,
    blank: impl Fn(&mut V),
) -> Result<(&'static str, blake3::Hash), StoreError> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    for entry in reader.scan(table)? {
        let (key, mut value) = entry?;
        blank(&mut value);
        let mut bytes = Vec::new();
        value.encode(&mut bytes).expect("it was read");
        add(&key.bytes());
        add(&bytes);
    }
    Ok((table.name, hasher.finalize()))
}

/// Takes out of the parameters of a plan what its list was found to be worth: a list is stored before that is known.
fn without_verdict(settings: &mut String) {
    let mut parameters: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(settings).unwrap();
    parameters.remove("judged");
    *settings = serde_json::to_string(&parameters).unwrap();
}

/// Reads a table; an error if any of it cannot be read.
fn read_all<K: Key, V: Value>(reader: &Reader, table: &Table<K, V>) -> Result<(), StoreError> {
    for entry in reader.scan(table)? {
        entry?;
    }
    Ok(())
}

impl State {
    /// What the published state holds; an error where any of it cannot be read.
    pub fn read(bank: &Path) -> Result<Self, StoreError> {
        let reader = &Reader::open(bank)?;
        let counters = reader.counters()?;
        // Epochs, secrets and times of fetches differ from run to run.
        read_all(reader, &tables::META)?;
        read_all(reader, &tables::BLOCKLIST)?;
        read_all(reader, &tables::FAILURES)?;
        read_all(reader, &tables::YIELDS)?;
        read_all(reader, &tables::FETCH_HISTORY)?;
        read_all(reader, &tables::SEED_FETCHES)?;
        Ok(Self {
            last: (counters.batch, counters.refresh),
            tables: BTreeMap::from([
                hash(reader, &tables::SITES, |_| ())?,
                hash(reader, &tables::SITE_IDS, |_| ())?,
                hash(reader, &tables::PAGES, |_| ())?,
                hash(reader, &tables::PAGE_IDS, |_| ())?,
                hash(reader, &tables::INTRA, |_| ())?,
                hash(reader, &tables::INTRA_IN, |_| ())?,
                hash(reader, &tables::ROWS, |_| ())?,
                hash(reader, &tables::ROW_HASHES, |_| ())?,
                hash(reader, &tables::ROW_MEMBERS, |_| ())?,
                hash(reader, &tables::CITERS, |_| ())?,
                hash(reader, &tables::DIGESTS, |_| ())?,
                hash(reader, &tables::BATCHES, |batch: &mut BatchRecord| {
                    (batch.at, batch.seconds) = (0, 0.0);
                })?,
                hash(reader, &tables::PAGE_HISTORY, |_| ())?,
                hash(reader, &tables::REMOVED_ROWS, |_| ())?,
                hash(reader, &tables::PLANS, |plan: &mut PlanRecord| {
                    without_verdict(&mut plan.settings);
                })?,
                hash(reader, &tables::REFRESHES, |refresh: &mut RefreshRecord| {
                    (refresh.at, refresh.seconds) = (0, 0.0);
                    without_verdict(&mut refresh.settings);
                })?,
                hash(reader, &tables::CORES, |_| ())?,
                hash(reader, &tables::CORE_SCORES, |_| ())?,
                hash(reader, &tables::COVERS, |_| ())?,
                hash(reader, &tables::PAGE_SETS, |_| ())?,
                hash(reader, &tables::SEEDS, |_| ())?,
                hash(reader, &tables::CORE_MEMBERS, |_| ())?,
                hash(reader, &tables::CORE_EVIDENCE, |_| ())?,
                hash(reader, &tables::ALIASES, |_| ())?,
                hash(reader, &tables::ALIAS_REFERENCES, |_| ())?,
                hash(reader, &tables::COMPONENT_CACHE, |_| ())?,
                hash(reader, &tables::NEAR_CORE_CACHE, |_| ())?,
                hash(reader, &tables::CORE_ORIGINS, |_| ())?,
                hash(reader, &tables::REACH, |_| ())?,
                hash(reader, &tables::PLAN_LISTS, |_| ())?,
                hash(reader, &tables::STEP_CACHE, |_| ())?,
                hash(reader, &tables::PAGE_EVIDENCE, |_| ())?,
                hash(reader, &tables::FINAL_LIST, |_| ())?,
                hash(reader, &tables::UNDO, |_| ())?,
                hash(reader, &tables::SEED_PAGES, |_| ())?,
                hash(reader, &tables::FULL_CAPS, |_| ())?,
            ]),
        })
    }

    /// How this state differs from another, for people.
    pub fn unlike(&self, other: &Self) -> String {
        let differ =
            |(table, hash): &(&&'static str, &blake3::Hash)| other.tables[*table] != **hash;
        let tables: Vec<_> = self.tables.iter().filter(differ).collect();
        let tables: Vec<_> = tables.into_iter().map(|(table, _)| *table).collect();
        let (batch, refresh) = self.last;
        format!("batch {batch}, refresh {refresh}, other {tables:?}")
    }
}
