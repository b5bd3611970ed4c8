//! A table of a page: HTML, and the same rows as a CSV file.

use seedbank_formats::clock::time;
use seedbank_formats::display::{age, csv_field, readable};

use super::address::{self, Address, line_html};
use super::answer::{Answer, CSV, RequestError};
use super::query_params::TableName;
use crate::html::text::{Count, Measure, escape};
use crate::render::Line;
use axum::http::StatusCode;

/// A table. Every row has a cell for each column; the first cell is the header of the row.
pub(super) struct Table {
    /// Name in addresses and file names.
    pub(super) name: &'static str,
    /// Description for screen readers.
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Names and addresses of the files with all rows.
    pub(super) files: Vec<(&'static str, Address)>,
}

/// A column of a table.
pub(super) struct Column {
    /// Name in CSV.
    name: String,
    pub(super) title: String,
    /// How its cells are set.
    pub(super) class: &'static str,
    /// The address that sorts by the column, and its `aria-sort` attribute; `None` if it cannot be sorted by.
    pub(super) sort: Option<(Address, &'static str)>,
}

impl Column {
    fn new(name: impl Into<String>, title: impl Into<String>, class: &'static str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            class,
            sort: None,
        }
    }

    /// Creates a column of numbers, set on the right.
    pub(super) fn number(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::new(name, title, "")
    }

    /// Creates a column of short texts, which are not wrapped.
    pub(super) fn word(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::new(name, title, "text keep")
    }

    /// Creates a column of URLs and sentences, which are wrapped.
    pub(super) fn text(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::new(name, title, "text")
    }

    /// Makes the header of the column a link that sorts by it.
    pub(super) fn sorted_at(mut self, address: Address, aria_sort: &'static str) -> Self {
        self.sort = Some((address, aria_sort));
        self
    }
}

/// A cell of a table. On pages numbers are rounded; in CSV they are complete.
pub(super) enum Cell {
    /// No value: a dash on pages, nothing in CSV.
    None,
    Text(String),
    Count(u64),
    Number(f64),
    /// A time in seconds since 1970.
    Time(u64),
    /// A duration in seconds.
    Age(u64),
    Page(String),
    /// Several pages, each on a line of its own.
    Pages(Vec<String>),
    Site(String),
    Plan(String),
    /// Several plans.
    Plans(Vec<String>),
    Refresh(u32),
    Line(Line),
    /// A picture as SVG, and its numbers.
    Picture(String, String),
    /// A cell as a link.
    Link(Box<Cell>, Address),
    /// A cell followed by a highlighted text, whose class is the first field.
    Tagged(Box<Cell>, &'static str, String),
}

impl Cell {
    /// Returns the cell of a number that may be unknown.
    pub(super) fn count(count: Option<impl Into<u64>>) -> Self {
        count.map_or(Self::None, |count| Self::Count(count.into()))
    }

    /// Returns the cell of a measurement that may be unknown.
    pub(super) fn number(number: Option<f64>) -> Self {
        number.map_or(Self::None, Self::Number)
    }

    /// Returns the cell of a text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes the cell a link.
    pub(super) fn linked(self, address: Address) -> Self {
        Self::Link(Box::new(self), address)
    }

    /// Appends a highlighted text if `text` is not `None`.
    pub(super) fn tagged(self, kind: &'static str, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => Self::Tagged(Box::new(self), kind, text.into()),
            None => self,
        }
    }

    /// Formats the cell as HTML.
    pub(super) fn html(&self) -> String {
        match self {
            Self::None => "–".to_owned(),
            Self::Text(text) => escape(&readable(text)),
            Self::Count(count) => count.whole(),
            Self::Number(number) => number.short(),
            Self::Time(at) => escape(&time(*at)),
            Self::Age(seconds) => escape(&age(*seconds)),
            Self::Page(url) => page_link(url),
            Self::Pages(urls) => {
                let links: Vec<String> = urls.iter().map(|url| page_link(url)).collect();
                links.join("<br>")
            }
            Self::Plans(names) if names.is_empty() => "–".to_owned(),
            Self::Plans(names) => {
                let links = names
                    .iter()
                    .map(|name| link(&address::plan(name), name, ""));
                links.collect::<Vec<String>>().join(", ")
            }
            Self::Site(name) => link(&address::site(name), name, " class=\"site\""),
            Self::Plan(name) => link(&address::plan(name), name, ""),
            Self::Refresh(number) => link(&address::refresh(*number), &number.to_string(), ""),
            Self::Line(line) => line_html(line),
            Self::Picture(svg, _) => svg.clone(),
            Self::Link(cell, address) => {
                let address = escape(&address.to_string());
                format!("<a href=\"{address}\">{}</a>", cell.html())
            }
            Self::Tagged(cell, kind, text) => {
                let text = escape(text);
                format!("{} <span class=\"tag {kind}\">{text}</span>", cell.html())
            }
        }
    }

    /// Formats the cell as a field of CSV.
    fn field(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Text(text)
            | Self::Page(text)
            | Self::Site(text)
            | Self::Plan(text)
            | Self::Picture(_, text) => csv_field(text),
            Self::Pages(texts) | Self::Plans(texts) => csv_field(&texts.join(" ")),
            Self::Count(count) | Self::Age(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Time(at) => csv_field(&time(*at)),
            Self::Refresh(number) => number.to_string(),
            Self::Line(line) => csv_field(&line.to_string()),
            Self::Link(cell, _) | Self::Tagged(cell, _, _) => cell.field(),
        }
    }

    fn has_link(&self) -> bool {
        match self {
            Self::Page(_) | Self::Site(_) | Self::Plan(_) | Self::Refresh(_) | Self::Link(..) => {
                true
            }
            Self::Tagged(cell, _, _) => cell.has_link(),
            _ => false,
        }
    }
}

/// Formats a link to what the bank knows about a page.
fn page_link(url: &str) -> String {
    link(&address::page(url), &readable(url), "")
}

/// Formats a link to an address; text alone if the address is too long.
fn link(address: &Address, text: &str, attributes: &str) -> String {
    let text = escape(text);
    if address.fits() {
        let address = escape(&address.to_string());
        format!("<a{attributes} href=\"{address}\">{text}</a>")
    } else {
        format!("<span title=\"too long for a link; use the command line\">{text}</span>")
    }
}

impl Table {
    /// Creates a table without files.
    pub(super) fn new(
        name: &'static str,
        caption: impl Into<String>,
        columns: Vec<Column>,
        rows: Vec<Vec<Cell>>,
    ) -> Self {
        Self {
            name,
            caption: caption.into(),
            columns,
            rows,
            files: Vec::new(),
        }
    }

    /// Adds the files of the table: CSV at the address of its page, and the JSON of the API that contains it.
    pub(super) fn with_files(mut self, csv: &Address, json: &Address) -> Self {
        let csv = csv.clone().with("table", self.name).with("format", "csv");
        self.files.push(("CSV", csv));
        self.files.push(("JSON", json.clone()));
        self
    }

    /// Whether the keyboard reaches the table without a stop of its own.
    pub(super) fn has_links(&self) -> bool {
        self.columns.iter().any(|column| column.sort.is_some())
            || self.rows.iter().flatten().any(Cell::has_link)
    }

    /// Formats the table as CSV (RFC 4180) with a header.
    fn csv(&self) -> String {
        let names = self.columns.iter();
        let names: Vec<String> = names.map(|column| csv_field(&column.name)).collect();
        let mut text = names.join(",") + "\r\n";
        for row in &self.rows {
            let fields: Vec<String> = row.iter().map(Cell::field).collect();
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

/// Returns the named table as a CSV file; without a name the first one.
pub(super) fn csv_answer(
    tables: &[Table],
    name: Option<&TableName>,
    file: &str,
) -> Result<Answer, RequestError> {
    let found = match name {
        None => tables.first(),
        Some(name) => tables.iter().find(|table| table.name == name.0),
    };
    let Some(table) = found else {
        let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
        let text = format!(
            "there is no such table here, expected one of {}",
            names.join(", ")
        );
        return Err(RequestError::new(StatusCode::BAD_REQUEST, text));
    };
    let file = if file.is_empty() {
        format!("{}.csv", table.name)
    } else {
        format!("{file}-{}.csv", table.name)
    };
    Ok(Answer::new(CSV, table.csv()).saved_as(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_same_as_html_and_as_csv() {
        let columns = vec![
            Column::text("page", "Page"),
            Column::number("score", "Score"),
            Column::number("links", "Links"),
            Column::text("why", "Why"),
        ];
        let row = vec![
            Cell::Page("http://a.example/<i>,".to_owned()).tagged("lost", Some("gone")),
            Cell::Number(1_234.567_8),
            Cell::count(None::<u64>),
            Cell::Line(Line::from("covered by ").and_page("http://b.example/")),
        ];
        let table = Table::new("pages", "", columns, vec![row]);
        assert_eq!(
            table.csv(),
            "page,score,links,why\r\n\"http://a.example/<i>,\",1234.5678,,covered by http://b.example/\r\n"
        );
        let cells: Vec<String> = table.rows[0].iter().map(Cell::html).collect();
        assert_eq!(
            cells,
            [
                "<a href=\"/page?url=http%3A%2F%2Fa.example%2F%3Ci%3E%2C\">http://a.example/&lt;i&gt;,</a> \
                 <span class=\"tag lost\">gone</span>",
                "1,235",
                "–",
                "covered by <a href=\"/page?url=http%3A%2F%2Fb.example%2F\">http://b.example/</a>",
            ]
        );
        let named = |name: &str| csv_answer(&[], Some(&TableName(name.to_owned())), "").is_err();
        assert!(named("other") && csv_answer(&[table], None, "x").is_ok());
    }
}
