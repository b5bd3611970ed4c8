//! A list that a plan names: its lines, or where the plan is kept their hash.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use crate::engine::{EngineError, PlanError};
use seedbank_algorithms::watch::{Interrupted, Interruptible, Watch, is_interrupted};
use seedbank_formats::display::file_name;
use seedbank_store::Hash128;
use seedbank_store::lists::ListText;

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
        let Ok(list) = Self::of_lines(name, text, || Ok::<_, Infallible>(()));
        list
    }

    /// The list of a text; `each` is called for every line and can stop the work.
    fn of_lines<E>(
        name: &str,
        text: &str,
        mut each: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut said = String::with_capacity(text.len() + 1);
        let mut lines = 0;
        let mut seen = std::collections::BTreeSet::new();
        for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
            each()?;
            if !line.is_empty() && !line.starts_with('#') && seen.insert(line) {
                said.push_str(line);
                said.push('\n');
                lines += 1;
            }
        }
        let text = ListText(said);
        Ok(Self {
            name: name.to_owned(),
            lines,
            hash: Some(text.hash()),
            text: Some(text.0.into()),
        })
    }

    /// Reads a list from a file of any kind, a pipe too; `@media` is the built-in list of that name,
    /// and `none` is [`List::none`].
    ///
    /// # Errors
    ///
    /// [`PlanError::List`] if the file cannot be read, is longer than 256 MiB or not UTF-8;
    /// [`EngineError::Interrupted`] if the watch stops the work, also while a pipe has nothing to say.
    pub fn read(path: &Path, watch: &dyn Watch) -> Result<Self, EngineError> {
        let name = path.to_string_lossy();
        if name.starts_with('@') {
            return Ok(Self::of_text(&name, &name));
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
        Ok(Self::of_lines(&name, &text, || watch.proceed())?)
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
        self.name = file_name(&self.name).to_owned();
        self
    }

    /// How many lines it has.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads the file where nothing but its name is known; a relative path is one from `folder`.
    pub(crate) fn found(self, folder: &Path, watch: &dyn Watch) -> Result<Self, EngineError> {
        if self.hash.is_some() {
            return Ok(self);
        }
        if self.name.starts_with('@') || self.name == NONE {
            return Self::read(Path::new(&self.name), watch);
        }
        let found = Self::read(&folder.join(&self.name), watch)?;
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

/// The text of a file that may be a pipe without an end.
fn read_text(path: &Path, watch: &dyn Watch) -> io::Result<String> {
    let mut bytes = Vec::new();
    let read = Interruptible::file(path, watch)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if read as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(io::Error::other(format!("a list has at most {most} MiB")));
    }
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
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
