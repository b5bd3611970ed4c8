//! Tables on pages and as CSV files.

use axum::http::StatusCode;

use super::address::{self, Address, line_html};
use super::answer::{Answer, CSV, RequestError};
use super::params::TableName;
use crate::answers::{Cell, Column, Style, Table};
use crate::html::text::{Count, Measure, WithError, escape};
use seedbank_formats::clock::time;
use seedbank_formats::display::{age, readable};

/// A table whose rows are also in files.
pub(super) trait Files {
    /// Adds the files of the table: CSV at the address of its page, and the JSON of the API that contains it.
    fn with_files(self, csv: &Address, json: &Address) -> Self;
}

impl Files for Table {
    fn with_files(mut self, csv: &Address, json: &Address) -> Self {
        let csv = csv.clone().with("table", self.name).with("format", "csv");
        self.files.push(("CSV", csv.to_string()));
        self.files.push(("JSON", json.to_string()));
        self
    }
}

/// Returns the columns that people read, each with its index.
pub(super) fn shown(table: &Table) -> impl Iterator<Item = (usize, &Column)> {
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, column)| !column.title.is_empty())
}

/// Returns the title of a column with a capital.
pub(super) fn title(column: &Column) -> String {
    let mut letters = column.title.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns the attribute with the class of a column.
pub(super) const fn class(column: &Column) -> &'static str {
    match column.style {
        Style::Number => "",
        Style::Word => " class=\"text keep\"",
        Style::Text => " class=\"text\"",
    }
}

/// Whether the keyboard reaches a table without a stop of its own.
pub(super) fn has_links(table: &Table) -> bool {
    table.columns.iter().any(|column| column.sort.is_some())
        || table.rows.iter().flatten().any(has_link)
}

fn has_link(cell: &Cell) -> bool {
    match cell {
        Cell::Page(_) | Cell::Site(_) | Cell::Plan(_) | Cell::Refresh(_) | Cell::Link(..) => true,
        Cell::Tagged(cell, _, _) => has_link(cell),
        _ => false,
    }
}

/// Formats the cell of a row in a column as HTML.
pub(super) fn cell(row: &[Cell], at: usize, column: &Column) -> String {
    row.get(at)
        .map_or_else(String::new, |cell| html(cell, column))
}

fn html(cell: &Cell, column: &Column) -> String {
    match cell {
        Cell::None | Cell::Estimate(None) => "–".to_owned(),
        Cell::Text(text) => escape(&readable(text)),
        Cell::Count(count) => count.whole(),
        Cell::Number(number) => (column.scale * number).short(),
        Cell::Estimate(Some(estimate)) => estimate.times(column.scale).with_error(),
        Cell::Time(at) => escape(&time(*at)),
        Cell::Age(seconds) => escape(&age(*seconds)),
        Cell::Page(url) => page_link(url),
        Cell::Pages(urls) => {
            let links: Vec<String> = urls.iter().map(|url| page_link(url)).collect();
            links.join("<br>")
        }
        Cell::Plans(names) if names.is_empty() => "–".to_owned(),
        Cell::Plans(names) => {
            let links = names.iter().map(|name| plan_link(name));
            links.collect::<Vec<String>>().join(", ")
        }
        Cell::Site(name) => link(&address::site(name), name, " class=\"site\""),
        Cell::Plan(name) => plan_link(name),
        Cell::Refresh(number) => link(&address::refresh(*number), &number.to_string(), ""),
        Cell::Line(line) => line_html(line),
        Cell::Picture(svg, _) => svg.clone(),
        Cell::Link(cell, address) => {
            format!("<a href=\"{}\">{}</a>", escape(address), html(cell, column))
        }
        Cell::Tagged(cell, kind, text) => {
            let (cell, text) = (html(cell, column), escape(text));
            format!("{cell} <span class=\"tag {kind}\">{text}</span>")
        }
    }
}

/// Formats a link to what the bank knows about a page.
fn page_link(url: &str) -> String {
    link(&address::page(url), &readable(url), "")
}

fn plan_link(name: &str) -> String {
    link(&address::plan(name), name, "")
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
    use crate::answers::Line;

    #[test]
    fn a_table_is_the_same_as_html_and_as_csv() {
        let url = "http://a.example/<i>,";
        let table = Table::of("pages", "", [url])
            .text("page", "page", |url| {
                Cell::page(url).tagged("lost", Some("gone"))
            })
            .number("score", "score", |_| 1_234.567_8)
            .optional("links", "links", |_| None::<u64>)
            .text("why", "why", |_| {
                Line::from("covered by ").and_page("http://b.example/")
            })
            .done();
        assert_eq!(
            table.csv(),
            "page,score,links,why\r\n\"http://a.example/<i>,\",1234.5678,,covered by http://b.example/\r\n"
        );
        let cells = shown(&table).map(|(at, column)| cell(&table.rows[0], at, column));
        assert_eq!(
            cells.collect::<Vec<String>>(),
            [
                "<a href=\"/page?url=http%3A%2F%2Fa.example%2F%3Ci%3E%2C\">http://a.example/&lt;i&gt;,</a> \
                 <span class=\"tag lost\">gone</span>",
                "1,235",
                "–",
                "covered by <a href=\"/page?url=http%3A%2F%2Fb.example%2F\">http://b.example/</a>",
            ]
        );
        assert_eq!(title(&table.columns[0]), "Page");
        let named = |name: &str| csv_answer(&[], Some(&TableName(name.to_owned())), "").is_err();
        assert!(named("other") && csv_answer(&[table], None, "x").is_ok());
    }
}
