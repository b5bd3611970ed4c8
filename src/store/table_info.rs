//! The entry of a table in the list of all tables: what the layer of RocksDB needs to know of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a table is read, which decides its RocksDB options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Mostly by key: it gets a filter that saves reads of absent keys.
    Lookup,
    /// The same, by keys that are as long as URLs.
    LookupByUrl,
    /// Mostly by range.
    Scan,
}

/// What a table is there for, as `status --sizes` sums it up.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum TableGroup {
    /// Sites and pages.
    Pages,
    /// Links, in both directions.
    Links,
    /// Batches and what they overwrote.
    History,
    /// Refreshes and their evidence.
    Refreshes,
    /// Records of which a bank has a single one, and plans.
    Bank,
}

impl TableGroup {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pages,
        Self::Links,
        Self::History,
        Self::Refreshes,
        Self::Bank,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Links => "links",
            Self::History => "history",
            Self::Refreshes => "refreshes",
            Self::Bank => "bank",
        }
    }
}

/// A table's entry in the list of all tables.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// The name of its column family.
    pub name: &'static str,
    /// What a key is, byte by byte.
    pub key: &'static str,
    /// What a value is.
    pub value: &'static str,
    /// What the table is for.
    pub purpose: &'static str,
    /// How it is read.
    pub access: Access,
    /// What it holds.
    pub holds: TableGroup,
}
