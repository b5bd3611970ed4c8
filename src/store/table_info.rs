//! Metadata of tables, which the RocksDB layer and the table layer share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A column family: tables whose entries are in the same files.
///
/// A key of a table starts with the prefix of the table there. Opening a database takes several system calls for each family
/// and each file, so tables that change together share one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Sites, and the names of sites and pages. Some keys are as long as URLs.
    Sites,
    /// What is known of pages and rows.
    Pages,
    /// Batches, and what they overwrote.
    History,
    /// Plans, and what refreshes selected.
    Plans,
    /// What the next refresh can reuse.
    Caches,
    /// Records that a bank has once.
    Meta,
}

impl Family {
    /// All families, in the order in which the list of tables has them.
    pub const ALL: [Self; 6] = [
        Self::Sites,
        Self::Pages,
        Self::History,
        Self::Plans,
        Self::Caches,
        Self::Meta,
    ];

    /// Returns the name of the column family.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sites => "sites",
            Self::Pages => "pages",
            Self::History => "history",
            Self::Plans => "plans",
            Self::Caches => "caches",
            // RocksDB requires this one.
            Self::Meta => "default",
        }
    }

    /// Returns the family with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
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
    /// The name.
    pub name: &'static str,
    /// The column family.
    pub family: Family,
    /// The first byte of its keys in the family. It is also the position in the list of all tables.
    pub prefix: u8,
    /// The layout of a key.
    pub key: &'static str,
    /// The layout of a value.
    pub value: &'static str,
    /// Returns the fields of a record; nothing for any other value.
    pub layout: fn() -> String,
    /// The contents of the table.
    pub purpose: &'static str,
    /// The group.
    pub group: TableGroup,
    /// Where its keys are in a cluster bank.
    pub placement: Placement,
}
