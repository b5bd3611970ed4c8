//! A list that a plan names: its lines, or where the plan is kept their hash.

use std::borrow::Cow;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use crate::shown::last_part;
use crate::storage::Hash128;
use crate::storage::lists::ListText;

/// The most bytes of a list.
const MOST_BYTES: u64 = 256 << 20;

/// The name that takes a list off a plan.
const NONE: &str = "none";

/// A list of pages that a plan names. In a plan file it is the path of a file, `@media`, or `none`,
/// which takes off what the plan kept. As it is kept, and in answers, it has a hash of its lines:
/// the same lines are the same list, whatever the file is called.
///
/// ```
/// use seedbank::engine::List;
///
/// let list = List::of_text("no-documents", "# these\n*.pdf\n\n  *.doc\n*.pdf\n");
/// assert_eq!(list.lines(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct List {
    name: String,
    lines: u64,
    /// `None` while nothing but the name is known.
    hash: Option<Hash128>,
    /// `None` where the lines are in the bank.
    text: Option<Arc<str>>,
}

/// A list as it is kept and shown.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Kept<'a> {
    /// What it was called when it was given: a path, or `@media`.
    name: Cow<'a, str>,
    /// How many lines it has.
    lines: u64,
    /// A 128-bit hash of the lines, in hexadecimal digits; 32 zeros for a list that was taken off.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    hash: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Given<'a> {
    Name(String),
    Kept(Kept<'a>),
}

impl List {
    /// A list of these lines. White space around a line, empty lines, those that begin with `#` and
    /// those that were there before do not count.
    #[must_use]
    pub fn of_text(name: &str, text: &str) -> Self {
        let mut said = String::with_capacity(text.len() + 1);
        let mut lines = 0;
        let mut seen = std::collections::BTreeSet::new();
        for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') && seen.insert(line) {
                said.push_str(line);
                said.push('\n');
                lines += 1;
            }
        }
        let text = ListText(said);
        Self {
            name: name.to_owned(),
            lines,
            hash: Some(text.hash()),
            text: Some(text.0.into()),
        }
    }

    /// Reads a list from a file; `@media` is the built-in list of that name, and `none` is
    /// [`List::none`].
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let name = path.to_string_lossy();
        if name.starts_with('@') {
            return Ok(Self::of_text(&name, &name));
        }
        if name == NONE {
            return Ok(Self::none());
        }
        let mut bytes = Vec::new();
        let read = File::open(path)?
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)?;
        if read as u64 > MOST_BYTES {
            return Err(std::io::Error::other(format!(
                "a list has at most {} MiB",
                MOST_BYTES >> 20
            )));
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| std::io::Error::new(std::io::ErrorKind::InvalidData, e))?;
        Ok(Self::of_text(&name, &text))
    }

    /// No list: takes off what a plan kept.
    #[must_use]
    pub fn none() -> Self {
        Self {
            name: NONE.to_owned(),
            lines: 0,
            hash: Some(Hash128::default()),
            text: None,
        }
    }

    /// What it was called when it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same list, called by the last part of its path.
    pub(crate) fn without_folder(mut self) -> Self {
        self.name = last_part(&self.name).to_owned();
        self
    }

    /// How many lines it has.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads the file where nothing but its name is known; a relative path is one from `folder`.
    pub(crate) fn found(self, folder: &Path) -> std::io::Result<Self> {
        if self.hash.is_some() || self.name.starts_with('@') || self.name == NONE {
            let is_named = self.hash.is_none();
            return if is_named {
                Self::read(Path::new(&self.name))
            } else {
                Ok(self)
            };
        }
        let found = Self::read(&folder.join(&self.name))?;
        Ok(Self {
            name: self.name,
            ..found
        })
    }

    /// The hash of the lines; `None` where the list names nothing, having been taken off.
    pub(crate) fn hash(&self) -> Option<Hash128> {
        self.hash.filter(|hash| *hash != Hash128::default())
    }

    /// Whether it takes off what a plan kept.
    pub(crate) fn is_off(&self) -> bool {
        self.hash == Some(Hash128::default())
    }

    /// Whether nothing but the name is known.
    pub(crate) const fn is_unread(&self) -> bool {
        self.hash.is_none()
    }

    /// The lines, where they came with the list.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

impl Serialize for List {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hash = String::with_capacity(32);
        for byte in self.hash.unwrap_or_default() {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        let kept = Kept {
            name: Cow::Borrowed(&self.name),
            lines: self.lines,
            hash,
        };
        kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Given::deserialize(deserializer)? {
            Given::Name(name) => Ok(Self {
                name,
                lines: 0,
                hash: None,
                text: None,
            }),
            Given::Kept(kept) => {
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
        Kept::json_schema(generator)
    }
}
