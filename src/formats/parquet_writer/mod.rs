//! Tables of columns, as Parquet files: written row by row, a group of rows at a time.
//!
//! Whole numbers are 64 bits wide with a sign, since not every reader knows others. Numbers are coded
//! as differences, texts that repeat by a dictionary; all of it is compressed by zstd.
//!
//! Without the feature `parquet` there is the same table, which cannot be begun.

#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub use disabled::Table;
#[cfg(feature = "parquet")]
pub use enabled::Table;

/// A column of a table. Any value may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers with fractions.
    Real,
    /// Yes or no.
    Flag,
    /// Texts of which few are equal.
    Text,
    /// Texts of which many are equal.
    Name,
}

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// No value.
    None,
    /// A whole number.
    Whole(u64),
    /// A number with a fraction.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(&'a str),
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Column {
    /// A column of whole numbers.
    #[must_use]
    pub const fn whole(name: &'static str) -> Self {
        Self::of(name, Kind::Whole)
    }

    /// A column of real numbers.
    #[must_use]
    pub const fn real(name: &'static str) -> Self {
        Self::of(name, Kind::Real)
    }

    /// A column of true and false.
    #[must_use]
    pub const fn flag(name: &'static str) -> Self {
        Self::of(name, Kind::Flag)
    }

    /// A column of texts of which few are equal.
    #[must_use]
    pub const fn text(name: &'static str) -> Self {
        Self::of(name, Kind::Text)
    }

    /// A column of texts of which many are equal.
    #[must_use]
    pub const fn name(name: &'static str) -> Self {
        Self::of(name, Kind::Name)
    }

    const fn of(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }
}

/// Whether this build writes Parquet.
pub const ENABLED: bool = cfg!(feature = "parquet");
