//! Metadata of tables, which the RocksDB layer and the table layer share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The access pattern of a table, which determines its RocksDB options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Mostly point lookups: the table has a filter that saves reads of absent keys.
    Lookup,
    /// Mostly point lookups, with keys as long as URLs.
    LookupByUrl,
    /// Mostly range scans.
    Scan,
}

/// A group of tables, by which `status --sizes` sums sizes up.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum TableGroup {
    /// Sites and pages.
    Pages,
    /// Links, in both directions.
    Links,
    /// Batches and the values that they overwrote.
    History,
    /// Refreshes and their evidence.
    Refreshes,
    /// Plans, and records that a bank has once.
    Bank,
}

impl TableGroup {
    /// All groups.
    pub const ALL: [Self; 5] = [
        Self::Pages,
        Self::Links,
        Self::History,
        Self::Refreshes,
        Self::Bank,
    ];

    /// Returns the name of the group.
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

/// The part of a cluster bank that stores a key of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// The first part.
    First,
    /// The part of the site whose id is at this offset of the key, in bytes.
    Site(usize),
    /// The part of the site whose name is the key.
    SiteName,
    /// The part of the entry that an entry of `undo` restores.
    Restored,
}

/// The declaration of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// The name of its column family.
    pub name: &'static str,
    /// The layout of a key.
    pub key: &'static str,
    /// The layout of a value.
    pub value: &'static str,
    /// The contents of the table.
    pub purpose: &'static str,
    /// The access pattern.
    pub access: Access,
    /// The group.
    pub group: TableGroup,
    /// Where its keys are in a cluster bank.
    pub placement: Placement,
}
