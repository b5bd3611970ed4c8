//! Writes tables as Parquet files, and collects them as batches of Arrow, row by row.
//!
//! Integers are signed 64-bit, the type that every reader supports. They are delta-encoded, repeated
//! texts are dictionary-encoded, and all columns are compressed with zstd.
//!
//! Without the feature `parquet`, [`Table::new`] returns an error.

#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub use disabled::Table;
#[cfg(feature = "parquet")]
pub use enabled::BatchBuilder;
#[cfg(feature = "parquet")]
pub use enabled::Table;

/// Whether this build can write Parquet.
pub const ENABLED: bool = cfg!(feature = "parquet");

/// A column of a table. Every column is nullable.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name of the column.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnType,
}

impl Column {
    /// Creates a column.
    #[must_use]
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self { name, kind }
    }
}

/// The type of a column's values, which also selects the encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    /// Integers.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Booleans.
    Boolean,
    /// Texts that are mostly distinct.
    Text,
    /// Texts that repeat; encoded by a dictionary.
    RepeatedText,
}

/// A value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// Null.
    None,
    /// An integer; values above `i64::MAX` are written as `i64::MAX`.
    Integer(u64),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A text.
    Text(&'a str),
}

/// An answer that is a row of a table.
pub trait TableRow {
    /// The columns of the table.
    const COLUMNS: &'static [Column];

    /// Returns the cells, in the order of the columns.
    fn cells(&self) -> Vec<Cell<'_>>;
}

macro_rules! cell_from {
    ($($Value:ty => $Variant:ident),+) => {$(
        impl<'a> From<$Value> for Cell<'a> {
            fn from(value: $Value) -> Self {
                Self::$Variant(value.into())
            }
        }
    )+};
}

cell_from!(u32 => Integer, u64 => Integer, f64 => Float, bool => Boolean, &'a str => Text);

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
