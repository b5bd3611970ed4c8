//! A list that a plan references: its lines, or their hash if they are stored in the bank.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use crate::engine::error::PlanError;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Interrupted, Interruptible, Watch, is_interrupted};
use seedbank_formats::display::file_name;
use seedbank_store::Hash128;
use seedbank_store::plan_lists::ListText;

/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The name that removes a list from a plan.
const NONE: &str = "none";

/// A list of pages that a plan references. In a plan file it is the path of a file, `@media`, or
/// `none`, which removes the stored list. When stored, and in JSON, it is represented by a hash of
/// its lines, so that equal lists are the same whatever their file names.
///
/// ```
/// use seedbank::engine::policy::List;
///
/// let list = List::parse("no-documents", "# these\n*.pdf\n\n  *.doc\n*.pdf\n");
/// assert_eq!(list.lines(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct List {
    name: String,
    lines: u64,
    /// `None` if only the name is known.
    hash: Option<Hash128>,
    /// `None` if the lines are in the bank.
    text: Option<Arc<str>>,
}

/// The stored and JSON form of a list.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StoredList<'a> {
    /// Its name as given: a path, or `@media`.
    name: Cow<'a, str>,
    /// Number of lines.
    lines: u64,
    /// A 128-bit hash of the lines in hexadecimal; 32 zeros for a removed list.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    hash: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ListOrName<'a> {
    Name(String),
    StoredList(StoredList<'a>),
}

impl List {
    /// Parses a list. White space around a line, empty lines, lines that begin with `#` and
    /// repeated lines are skipped.
    #[must_use]
    pub fn parse(name: &str, text: &str) -> Self {
        let Ok(list) = Self::parse_lines(name, text, || Ok::<_, Infallible>(()));
        list
    }

    /// Parses a list. Calls `each` for every line; its error ends parsing.
    fn parse_lines<E>(
        name: &str,
        text: &str,
        mut each: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut kept_lines = String::with_capacity(text.len() + 1);
        let mut lines = 0;
        let mut seen = std::collections::BTreeSet::new();
        for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
            each()?;
            if !line.is_empty() && !line.starts_with('#') && seen.insert(line) {
                kept_lines.push_str(line);
                kept_lines.push('\n');
                lines += 1;
            }
        }
        let text = ListText(kept_lines);
        Ok(Self {
            name: name.to_owned(),
            lines,
            hash: Some(text.hash()),
            text: Some(text.0.into()),
        })
    }

    /// Reads a list from a file of any kind, including a pipe. `@media` is the built-in list of
    /// that name, and `none` is [`List::none`].
    ///
    /// # Errors
    ///
    /// [`PlanError::List`] if the file cannot be read, is longer than 256 MiB or not UTF-8;
    /// [`EngineError::Interrupted`] if the watch stops the work, even while waiting for a pipe.
    pub fn read(path: impl AsRef<Path>, watch: &dyn Watch) -> Result<Self> {
        let path = path.as_ref();
        let name = path.to_string_lossy();
        if name.starts_with('@') {
            return Ok(Self::parse(&name, &name));
        }
        if name == NONE {
            return Ok(Self::none());
        }
        let text = read_text(path, watch).map_err(|source| {
            if is_interrupted(&source) {
                return EngineError::from(Interrupted);
            }
            let name = name.clone().into_owned();
            PlanError::List { name, source }.into()
        })?;
        Ok(Self::parse_lines(&name, &text, || watch.proceed())?)
    }

    /// Returns the value that removes the list of a plan.
    #[must_use]
    pub fn none() -> Self {
        Self {
            name: NONE.to_owned(),
            lines: 0,
            hash: Some(Hash128::default()),
            text: None,
        }
    }

    /// Returns the name as given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the list with the last part of its path as name.
    pub(crate) fn without_folder(mut self) -> Self {
        self.name = file_name(&self.name).to_owned();
        self
    }

    /// Returns the number of lines.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads the file if only its name is known. A relative path starts from `folder`.
    pub(crate) fn load_from(self, folder: &Path, watch: &dyn Watch) -> Result<Self> {
        if self.hash.is_some() {
            return Ok(self);
        }
        if self.name.starts_with('@') || self.name == NONE {
            return Self::read(Path::new(&self.name), watch);
        }
        let found = Self::read(folder.join(&self.name), watch)?;
        Ok(Self {
            name: self.name,
            ..found
        })
    }

    /// Returns the hash of the lines; `None` if the list is removed or was not read.
    pub(crate) fn hash(&self) -> Option<Hash128> {
        self.hash.filter(|hash| *hash != Hash128::default())
    }

    /// Whether this value removes the list of a plan.
    pub(crate) fn is_off(&self) -> bool {
        self.hash == Some(Hash128::default())
    }

    /// Whether only the name is known.
    pub(crate) const fn is_unread(&self) -> bool {
        self.hash.is_none()
    }

    /// Returns the lines, unless they are only in the bank.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// Reads a file that may be an endless pipe.
fn read_text(path: &Path, watch: &dyn Watch) -> io::Result<String> {
    let mut bytes = Vec::new();
    let read = Interruptible::file(path, watch)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if read as u64 > MAX_BYTES {
        let most = MAX_BYTES >> 20;
        return Err(io::Error::other(format!("expected at most {most} MiB")));
    }
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

impl Serialize for List {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hash = u128::from_be_bytes(self.hash.unwrap_or_default());
        let kept = StoredList {
            name: Cow::Borrowed(&self.name),
            lines: self.lines,
            hash: format!("{hash:032x}"),
        };
        kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match ListOrName::deserialize(deserializer)? {
            ListOrName::Name(name) => Ok(Self {
                name,
                lines: 0,
                hash: None,
                text: None,
            }),
            ListOrName::StoredList(kept) => {
                let hash = u128::from_str_radix(&kept.hash, 16);
                Ok(Self {
                    name: kept.name.into_owned(),
                    lines: kept.lines,
                    hash: Some(hash.map_err(serde::de::Error::custom)?.to_be_bytes()),
                    text: None,
                })
            }
        }
    }
}

impl JsonSchema for List {
    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StoredList::json_schema(generator)
    }
}
