//! A table: columns with names, titles and types, and rows. It is declared once for all outputs: aligned text,
//! comma-separated values, Parquet and Arrow, and pages of HTML.

use std::collections::BTreeMap;

use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::clock::time;
use seedbank_formats::display::{age, csv_field, escape_controls};
use seedbank_formats::parquet_writer::{self as typed, ColumnType, TableRow};
use unicode_width::UnicodeWidthStr;

use super::facts::Line;

/// A table. Every row has a cell for each column; the first cell is the header of the row.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name in addresses and file names.
    pub name: &'static str,
    /// Title.
    pub caption: String,
    /// Columns, from the left.
    pub columns: Vec<Column>,
    /// Rows, from the top.
    pub rows: Vec<Vec<Cell>>,
    /// Names and addresses of files with all rows.
    pub files: Vec<(&'static str, String)>,
}

/// A column of a [`Table`].
#[derive(Clone, Debug)]
pub struct Column {
    /// Name in files; empty if files do not have the column.
    pub name: String,
    /// Title where people read it, with the unit; empty if only files have the column.
    pub title: String,
    /// How cells are set.
    pub style: Style,
    /// Factor of numbers where people read them: 100 for a column of shares whose title says per cent.
    pub scale: f64,
    /// Decimals of measurements in text.
    pub decimals: usize,
    /// Whether files have the standard error in a field of its own.
    pub has_error: bool,
    /// Whether files have the column after the others.
    pub is_late: bool,
    /// The address that sorts by the column, and its `aria-sort` attribute; `None` if it cannot be sorted by.
    pub sort: Option<(String, &'static str)>,
}

/// How the cells of a column are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Numbers, on the right.
    Number,
    /// Short texts, which are not wrapped.
    Word,
    /// URLs and sentences, which are wrapped.
    Text,
}

/// A cell of a [`Table`]. In files numbers are complete; where people read them they are rounded.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// No value: a dash where people read it, nothing in files.
    None,
    /// A text.
    Text(String),
    /// A count.
    Count(u64),
    /// A measurement.
    Number(f64),
    /// A mean with its standard error, which is a field of its own in files.
    Estimate(Option<Estimate>),
    /// A time in seconds since 1970.
    Time(u64),
    /// A duration in seconds.
    Age(u64),
    /// URL of a page.
    Page(String),
    /// URLs of several pages.
    Pages(Vec<String>),
    /// Name of a site.
    Site(String),
    /// Name of a plan.
    Plan(String),
    /// Names of several plans.
    Plans(Vec<String>),
    /// Number of a refresh.
    Refresh(u32),
    /// A sentence that names pages.
    Line(Line),
    /// A picture as SVG, and its numbers.
    Picture(String, String),
    /// A cell as a link to an address.
    Link(Box<Cell>, String),
    /// A cell followed by a highlighted text, whose kind is the second field.
    Tagged(Box<Cell>, &'static str, String),
}

macro_rules! cell_from {
    ($($From:ty => |$value:ident| $cell:expr;)+) => {$(
        impl From<$From> for Cell {
            fn from($value: $From) -> Self {
                $cell
            }
        }
    )+};
}

cell_from! {
    u32 => |count| Self::Count(count.into());
    u64 => |count| Self::Count(count);
    usize => |count| Self::Count(count as u64);
    f64 => |number| Self::Number(number);
    &str => |text| Self::Text(text.to_owned());
    &String => |text| Self::Text(text.clone());
    String => |text| Self::Text(text);
    Line => |line| Self::Line(line);
}

impl Cell {
    /// Returns the cell of a value that may be unknown.
    pub fn or_none(value: Option<impl Into<Self>>) -> Self {
        value.map_or(Self::None, Into::into)
    }

    /// Returns the cell of a page.
    #[must_use]
    pub fn page(url: &str) -> Self {
        Self::Page(url.to_owned())
    }

    /// Returns the cell of a site.
    #[must_use]
    pub fn site(name: &str) -> Self {
        Self::Site(name.to_owned())
    }

    /// Returns the cell of a plan.
    #[must_use]
    pub fn plan(name: &str) -> Self {
        Self::Plan(name.to_owned())
    }

    /// Makes the cell a link.
    #[must_use]
    pub fn linked(self, address: &impl ToString) -> Self {
        Self::Link(Box::new(self), address.to_string())
    }

    /// Appends a highlighted text if `text` is not `None`.
    #[must_use]
    pub fn tagged(self, kind: &'static str, text: Option<&str>) -> Self {
        match text {
            Some(text) => Self::Tagged(Box::new(self), kind, text.to_owned()),
            None => self,
        }
    }

    /// Formats the cell as text in a column.
    fn text(&self, column: &Column) -> String {
        let decimals = column.decimals;
        match self {
            Self::None | Self::Estimate(None) => "-".to_owned(),
            Self::Number(number) => format!("{:.decimals$}", column.scale * number),
            Self::Estimate(Some(estimate)) => with_error(estimate.times(column.scale), decimals),
            Self::Age(seconds) => age(*seconds),
            Self::Pages(texts) | Self::Plans(texts) => texts.join(", "),
            Self::Link(cell, _) | Self::Tagged(cell, _, _) => cell.text(column),
            other => other.plain(),
        }
    }

    /// Formats the complete value; a mean without its error.
    fn plain(&self) -> String {
        match self {
            Self::None | Self::Estimate(None) => String::new(),
            Self::Text(text)
            | Self::Page(text)
            | Self::Site(text)
            | Self::Plan(text)
            | Self::Picture(_, text) => text.clone(),
            Self::Pages(texts) | Self::Plans(texts) => texts.join(" "),
            Self::Count(count) | Self::Age(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Estimate(Some(estimate)) => estimate.mean.to_string(),
            Self::Time(at) => time(*at),
            Self::Refresh(number) => number.to_string(),
            Self::Line(line) => line.to_string(),
            Self::Link(cell, _) | Self::Tagged(cell, _, _) => cell.plain(),
        }
    }

    /// Appends the fields of the cell in a file.
    fn push_fields(&self, fields: &mut Vec<String>) {
        fields.push(csv_field(&self.plain()));
        if let Self::Estimate(estimate) = self {
            let error = estimate.and_then(|estimate| estimate.standard_error);
            fields.push(error.map_or_else(String::new, |error| error.to_string()));
        }
    }
}

/// Formats a mean with its standard error, with this many decimals.
#[must_use]
pub fn with_error(estimate: Estimate, decimals: usize) -> String {
    let mean = format!("{:.decimals$}", estimate.mean);
    // A number that rounds to zero has no sign.
    let is_zero = mean.trim_start_matches(['-', '0', '.']).is_empty();
    let mean = mean.trim_start_matches(if is_zero { "-" } else { "" });
    match estimate.standard_error {
        None => mean.to_owned(),
        Some(error) => format!("{mean} ±{error:.decimals$}"),
    }
}

/// A table that is being declared, column by column, from rows of the type `R`.
#[derive(Debug)]
pub struct Declaration<R> {
    rows: Vec<R>,
    table: Table,
}

impl<R: Copy> Declaration<R> {
    /// Adds a column.
    fn column<C: Into<Cell>>(
        mut self,
        style: Style,
        name: impl Into<String>,
        title: impl Into<String>,
        cell: impl Fn(R) -> C,
    ) -> Self {
        self.table.columns.push(Column {
            name: name.into(),
            title: title.into(),
            style,
            scale: 1.0,
            decimals: 0,
            has_error: false,
            is_late: false,
            sort: None,
        });
        for (row, of) in self.table.rows.iter_mut().zip(&self.rows) {
            row.push(cell(*of).into());
        }
        self
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        cell: impl Fn(R) -> C,
    ) -> Self {
        self.column(Style::Number, name, title, cell)
    }

    /// Adds a column of numbers that may be unknown.
    #[must_use]
    pub fn optional<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        cell: impl Fn(R) -> Option<C>,
    ) -> Self {
        self.number(name, title, |row| Cell::or_none(cell(row)))
    }

    /// Adds a column of means with standard errors, which are shown with this many decimals.
    #[must_use]
    pub fn estimate<E: Into<Option<Estimate>>>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        decimals: usize,
        estimate: impl Fn(R) -> E,
    ) -> Self {
        let cell = |row| Cell::Estimate(estimate(row).into());
        let with_error = |column: &mut Column| column.has_error = true;
        self.number(name, title, cell)
            .decimals(decimals)
            .with(with_error)
    }

    /// Adds a column of short texts.
    #[must_use]
    pub fn word<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        cell: impl Fn(R) -> C,
    ) -> Self {
        self.column(Style::Word, name, title, cell)
    }

    /// Adds a column of URLs or sentences.
    #[must_use]
    pub fn text<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        cell: impl Fn(R) -> C,
    ) -> Self {
        self.column(Style::Text, name, title, cell)
    }

    /// Adds a column of pages.
    #[must_use]
    pub fn page<'a>(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        url: impl Fn(R) -> &'a str,
    ) -> Self {
        self.text(name, title, |row| Cell::page(url(row)))
    }

    /// Adds a column that only files have.
    #[must_use]
    pub fn field<C: Into<Cell>>(self, name: impl Into<String>, cell: impl Fn(R) -> C) -> Self {
        self.number(name, "", cell)
    }

    /// Adds a column of values that may be unknown, which only files have.
    #[must_use]
    pub fn optional_field<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        cell: impl Fn(R) -> Option<C>,
    ) -> Self {
        self.optional(name, "", cell)
    }

    /// Adds a column of numbers that files do not have.
    #[must_use]
    pub fn shown<C: Into<Cell>>(self, title: impl Into<String>, cell: impl Fn(R) -> C) -> Self {
        self.number("", title, cell)
    }

    /// Changes the last column.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Column)) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            change(column);
        }
        self
    }

    /// Sets the decimals of the last column.
    #[must_use]
    pub fn decimals(self, decimals: usize) -> Self {
        self.with(|column| column.decimals = decimals)
    }

    /// Says that the last column has shares, which people read as percentages with this many decimals.
    #[must_use]
    pub fn percent(self, decimals: usize) -> Self {
        self.decimals(decimals).with(|column| column.scale = 100.0)
    }

    /// Says that people read the last column times a factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        self.with(|column| column.scale = factor)
    }

    /// Says that files have the last column after those that are not late.
    #[must_use]
    pub fn late(self) -> Self {
        self.with(|column| column.is_late = true)
    }

    /// Returns the table.
    #[must_use]
    pub fn done(self) -> Table {
        self.table
    }
}

impl Table {
    /// Begins the declaration of a table.
    pub fn of<R: Copy>(
        name: &'static str,
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
    ) -> Declaration<R> {
        let rows: Vec<R> = rows.into_iter().collect();
        let table = Self {
            name,
            caption: caption.into(),
            columns: Vec::new(),
            rows: vec![Vec::new(); rows.len()],
            files: Vec::new(),
        };
        Declaration { rows, table }
    }

    /// Keeps the columns with these names, in their order in the table.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let kept: Vec<bool> = self
            .columns
            .iter()
            .map(|column| !names.contains(&&*column.name))
            .collect();
        let mut column = kept.iter();
        self.columns.retain(|_| *column.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut cell = kept.iter();
            row.retain(|_| *cell.next().unwrap_or(&true));
        }
        self
    }

    /// Formats the table as aligned text: the first column flush left, the others flush right. Widths are those on
    /// a terminal, where some characters take two columns and combining ones none.
    #[must_use]
    pub fn aligned(&self) -> String {
        let shown = |cells: Vec<String>| -> Vec<String> {
            let columns = self.columns.iter().zip(cells);
            columns
                .filter(|(column, _)| !column.title.is_empty())
                .map(|(_, text)| escape_controls(&text).into_owned())
                .collect()
        };
        let titles = self.columns.iter().map(|column| column.title.clone());
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row);
            shown(cells.map(|(column, cell)| cell.text(column)).collect())
        });
        let lines: Vec<Vec<String>> = std::iter::once(shown(titles.collect()))
            .chain(rows)
            .collect();
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, cell) in lines.iter().flat_map(|line| line.iter().enumerate()) {
            let width = widths.entry(at).or_default();
            *width = (*width).max(cell.width());
        }
        let mut text = String::new();
        for line in &lines {
            for ((at, width), cell) in widths.iter().zip(line) {
                let missing = " ".repeat(width - cell.width());
                if *at == 0 {
                    text.extend([cell.as_str(), &missing]);
                } else {
                    text.extend(["  ", &missing, cell]);
                }
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    /// Formats the table as comma-separated values (RFC 4180) with a header.
    #[must_use]
    pub fn csv(&self) -> String {
        let in_files = self.columns.iter().enumerate();
        let in_files = in_files.filter(|(_, column)| !column.name.is_empty());
        let (late, first): (Vec<_>, Vec<_>) = in_files.partition(|(_, column)| column.is_late);
        let columns: Vec<(usize, &Column)> = first.into_iter().chain(late).collect();
        let mut header = Vec::new();
        for (_, column) in &columns {
            header.push(csv_field(&column.name));
            if column.has_error {
                header.push(csv_field(&format!("{}_error", column.name)));
            }
        }
        let mut text = header.join(",") + "\r\n";
        for row in &self.rows {
            let mut fields = Vec::new();
            for cell in columns.iter().filter_map(|(at, _)| row.get(*at)) {
                cell.push_fields(&mut fields);
            }
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

/// Returns the header of a file of comma-separated values with records.
pub(super) fn record_header<R: TableRow>() -> String {
    let names: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
    names.join(",") + "\r\n"
}

/// Returns the line of a record in a file of comma-separated values.
pub(super) fn record_line(record: &impl TableRow) -> String {
    let cells = record.cells();
    let fields: Vec<String> = cells.iter().map(|cell| csv_field(&value(*cell))).collect();
    fields.join(",") + "\r\n"
}

/// Formats a value of a record; the text of a missing value is empty.
pub(super) fn value(cell: typed::Cell<'_>) -> String {
    match cell {
        typed::Cell::None => String::new(),
        typed::Cell::Integer(number) => number.to_string(),
        typed::Cell::Float(number) => number.to_string(),
        typed::Cell::Boolean(is) => is.to_string(),
        typed::Cell::Text(text) => text.to_owned(),
    }
}

/// How people read the values of a column of records.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// As they are.
    Plain,
    /// As the name of a site.
    Site,
    /// A share as a percentage with this many decimals.
    Percent(usize),
}

/// A record whose columns have titles, so that tables of records can be shown.
pub trait Record: TableRow {
    /// Titles and looks of the columns.
    const SHOWN: &'static [(&'static str, Look)];

    /// Returns a table of records.
    fn table<'a>(
        name: &'static str,
        caption: &str,
        records: impl IntoIterator<Item = &'a Self>,
    ) -> Table
    where
        Self: 'a,
    {
        let mut table = Table::of(name, caption, records);
        for (at, (column, (title, look))) in Self::COLUMNS.iter().zip(Self::SHOWN).enumerate() {
            let style = match column.kind {
                ColumnType::Integer | ColumnType::Float | ColumnType::Boolean => Style::Number,
                ColumnType::Text | ColumnType::RepeatedText => Style::Text,
            };
            table = table.column(style, column.name, *title, |record: &Self| {
                match (record.cells().get(at), look) {
                    (None | Some(typed::Cell::None), _) => Cell::None,
                    (Some(typed::Cell::Integer(count)), _) => Cell::Count(*count),
                    (Some(typed::Cell::Float(number)), _) => Cell::Number(*number),
                    (Some(text), Look::Site) => Cell::Site(value(*text)),
                    (Some(text), _) => Cell::Text(value(*text)),
                }
            });
            if let Look::Percent(decimals) = look {
                table = table.percent(*decimals);
            }
        }
        table.done()
    }
}

/// Declares the columns of a record: name, type and value, once for CSV, Parquet and Arrow; with a title and a
/// [`Look`], also for text and pages.
macro_rules! record {
    ($Row:ty, $row:ident; $($name:literal: $kind:ident = $value:expr;)+) => {
        impl seedbank_formats::parquet_writer::TableRow for $Row {
            const COLUMNS: &'static [seedbank_formats::parquet_writer::Column] = &[$(
                seedbank_formats::parquet_writer::Column::new(
                    $name,
                    seedbank_formats::parquet_writer::ColumnType::$kind,
                ),
            )+];

            fn cells(&self) -> Vec<seedbank_formats::parquet_writer::Cell<'_>> {
                let $row = self;
                vec![$($value.into(),)+]
            }
        }
    };
    ($Row:ty, $row:ident; $($name:literal ($title:literal, $look:expr): $kind:ident = $value:expr;)+) => {
        $crate::answers::table::record! { $Row, $row; $($name: $kind = $value;)+ }

        impl $crate::answers::table::Record for $Row {
            const SHOWN: &'static [(&'static str, $crate::answers::table::Look)] =
                &[$(($title, $look),)+];
        }
    };
}

pub(super) use record;

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, standard_error: Option<f64>) -> Estimate {
        Estimate {
            mean,
            standard_error,
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [("a", "1 ±2"), ("lo\nng", "")];
        let table = Table::of("t", "", rows).text("x", "x", |row| row.0);
        let table = table.text("y", "y", |row| row.1).done();
        assert_eq!(table.aligned(), "x          y\na       1 ±2\nlo\\nng\n");
        // Wide characters, an emoji, and an accent of its own.
        let rows = ["日本語", "😀", "e\u{301}te"];
        let table = Table::of("t", "", rows).text("", "name", |name| name);
        let table = table
            .number("", "n", |_| 1_u32)
            .field("f", |_| 2_u32)
            .done();
        assert_eq!(
            table.aligned(),
            "name    n\n日本語  1\n😀      1\ne\u{301}te     1\n"
        );
        assert_eq!(table.csv(), "f\r\n2\r\n2\r\n2\r\n");
    }

    #[test]
    fn numbers_are_complete_in_files() {
        let rows = [("a\"b", Some(0.5)), ("a,b", None)];
        let table = Table::of("t", "", rows)
            .text("x", "x", |row| row.0)
            .optional("share", "share, %", |row| row.1)
            .percent(1)
            .estimate("mean", "mean", 2, |row| {
                row.1.map(|mean| estimate(mean, row.1))
            })
            .done();
        assert_eq!(
            table.csv(),
            "x,share,mean,mean_error\r\n\"a\"\"b\",0.5,0.5,0.5\r\n\"a,b\",,,\r\n"
        );
        assert_eq!(
            table.aligned(),
            "x    share, %        mean\na\"b      50.0  0.50 ±0.50\na,b         -           -\n"
        );
        let table = table.without(&["share"]);
        assert_eq!((table.columns.len(), table.rows[0].len()), (2, 2));
    }

    #[test]
    fn estimates_have_their_errors() {
        assert_eq!(with_error(estimate(1.25, Some(0.5)), 2), "1.25 ±0.50");
        assert_eq!(with_error(estimate(1.25, None), 1), "1.2");
        assert_eq!(with_error(estimate(-0.04, None), 1), "0.0");
        assert_eq!(with_error(estimate(-0.05, None), 2), "-0.05");
    }
}
