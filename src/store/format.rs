//! The format of banks.
//!
//! Until the release 0.1.0 the number of the format is 0, and a hash of the declarations of all tables tells one layout
//! from another, so that no change of a table needs a number of its own. A bank of another format is refused: the build
//! that wrote it exports it. The release fixes format 1, without a hash; from then on, later versions of the same
//! major version read every format.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::table_info::TableInfo;

/// The number of the format that this build reads and writes.
const NUMBER: u32 = 0;

/// The format of a bank, as text the number and the hash: `0-89abcdef01234567`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Format {
    number: u32,
    /// The first 64 bits of the hash of the declarations of the tables; `None` in a released format.
    tables: Option<u64>,
}

impl Format {
    /// Returns the format of a bank with these tables.
    ///
    /// The hash covers what the bytes of a bank depend on: the names, families and prefixes of the tables, the layouts of their
    /// keys and values as they are described, where their keys are in a cluster bank, and the fields of records, which
    /// come from their types. It depends neither on the machine nor on the compiler.
    pub(crate) fn with_tables(tables: &[TableInfo]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for table in tables {
            let placement = format!("{:?}", table.placement);
            let prefix = format!("{} {}", table.family.name(), table.prefix);
            let layout = (table.layout)();
            for text in [
                table.name,
                &prefix,
                table.key,
                table.value,
                &placement,
                &layout,
            ] {
                hasher.update(&(text.len() as u64).to_be_bytes());
                hasher.update(text.as_bytes());
            }
        }
        let hash = hasher.finalize();
        let first = hash.as_bytes().first_chunk();
        Self {
            number: NUMBER,
            tables: Some(first.map_or(0, |bytes| u64::from_be_bytes(*bytes))),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tables {
            Some(hash) => write!(f, "{}-{hash:016x}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

impl FromStr for Format {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (number, hash) = match text.split_once('-') {
            Some((number, hash)) => (number, Some(u64::from_str_radix(hash, 16))),
            None => (text, None),
        };
        let found = number.parse().ok().zip(hash.transpose().ok());
        let found = found.map(|(number, tables)| Self { number, tables });
        // One format has one text.
        found
            .filter(|found| found.to_string() == text)
            .ok_or("expected the format of a bank")
    }
}

impl TryFrom<String> for Format {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl From<Format> for String {
    fn from(format: Format) -> Self {
        format.to_string()
    }
}

impl JsonSchema for Format {
    fn schema_name() -> Cow<'static, str> {
        "Format".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9]+(-[0-9a-f]{16})?$"
        })
    }
}
