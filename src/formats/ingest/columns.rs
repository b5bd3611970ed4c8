//! The fields of records, and the columns of tables that have other names.

use std::fmt;
use std::str::FromStr;

/// The names of the fields of a record.
pub const RECORD_FIELDS: [&str; 23] = [
    "url",
    "outlinks",
    "spam",
    "clicks",
    "uncrawled_outlinks",
    "quality",
    "digest",
    "fetched",
    "changed",
    "redirect",
    "canonical",
    "kind",
    "gone",
    "status",
    "failures",
    "failing_since",
    "failed",
    "failed_before",
    "observed_days",
    "new_links",
    "seed",
    "via",
    "depth",
];

/// The columns of a table that are fields of records, if they do not have the names of these.
///
/// ```
/// use seedbank_formats::ingest::ColumnNames;
///
/// let columns: ColumnNames = "url=Address,outlinks=Links,split=|".parse()?;
/// assert_eq!(columns.to_string(), "url=Address,outlinks=Links,split=|");
/// # Ok::<(), seedbank_formats::ingest::ColumnNamesError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColumnNames {
    /// Fields, with the names of their columns.
    pub(super) fields: Vec<(&'static str, String)>,
    /// What separates the links in a cell.
    pub(super) split: Option<String>,
}

/// A text that does not say which columns are which fields.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ColumnNamesError {
    /// A part without a field and a column.
    #[error("expected FIELD=COLUMN, found {0}")]
    NoName(String),
    /// Not a field of a record.
    #[error("{0} is not a field of a record, such as url or outlinks")]
    UnknownField(String),
    /// A field that is named twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
}

impl FromStr for ColumnNames {
    type Err = ColumnNamesError;

    /// Parses `FIELD=COLUMN,...`, and `split=SEPARATOR` at the end.
    fn from_str(text: &str) -> Result<Self, ColumnNamesError> {
        let mut columns = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            // The separator may be a comma.
            if let Some(split) = rest
                .strip_prefix("split=")
                .filter(|split| !split.is_empty())
            {
                columns.split = Some(split.to_owned());
                break;
            }
            let (part, after) = rest.split_once(',').unwrap_or((rest, ""));
            let names = part.split_once('=').filter(|(_, name)| !name.is_empty());
            let (field, name) = names.ok_or_else(|| ColumnNamesError::NoName(part.to_owned()))?;
            let known = RECORD_FIELDS.into_iter().find(|known| *known == field);
            let field = known.ok_or_else(|| ColumnNamesError::UnknownField(field.to_owned()))?;
            if columns.column(field).is_some() {
                return Err(ColumnNamesError::Twice(field));
            }
            columns.fields.push((field, name.to_owned()));
            rest = after;
        }
        Ok(columns)
    }
}

impl fmt::Display for ColumnNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.iter().map(|(field, name)| (*field, name));
        let parts = fields.chain(self.split.iter().map(|split| ("split", split)));
        for (at, (name, value)) in parts.enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl ColumnNames {
    /// Returns whether no column is named.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.split.is_none()
    }

    pub(super) fn column(&self, field: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(name, _)| *name == field);
        found.map(|(_, column)| &**column)
    }

    /// Returns whether columns with these names are those of a table.
    pub(super) fn is_table(&self, names: &[String]) -> bool {
        let has = |column: &str| names.iter().any(|name| is_named(name, column));
        if self.fields.is_empty() {
            has("url") || link_columns(names).is_some()
        } else {
            self.fields.iter().all(|(_, column)| has(column))
        }
    }

    /// Returns the columns of the source and the target, if each row is one link: then nothing else is named, nor how
    /// to split several links.
    pub(super) fn link_columns(&self) -> Option<[&str; 2]> {
        let columns = [self.column("url")?, self.column("outlinks")?];
        (self.fields.len() == 2 && self.split.is_none()).then_some(columns)
    }
}

/// The fields of a table of links.
pub(super) const LINK_FIELDS: [&str; 2] = ["source", "target"];

/// The names that exports of crawlers and of graphs give to the two columns of a link.
const LINK_COLUMNS: [[&str; 2]; 5] = [
    // Screaming Frog also has a column `Target`, for the frame.
    ["source", "destination"],
    LINK_FIELDS,
    ["from", "to"],
    ["from_url", "to_url"],
    ["src", "dst"],
];

/// Returns the columns of the source and the target of links; `None` if there are none, or several of a name.
pub(super) fn link_columns(names: &[String]) -> Option<[usize; 2]> {
    let index = |field: &str| {
        let mut found = (0..).zip(names).filter(|(_, name)| is_named(name, field));
        let (at, _) = found.next()?;
        found.next().is_none().then_some(at)
    };
    LINK_COLUMNS
        .iter()
        .find_map(|[source, target]| Some([index(source)?, index(target)?]))
}

pub(super) fn is_named(name: &str, field: &str) -> bool {
    name.trim().eq_ignore_ascii_case(field)
}
