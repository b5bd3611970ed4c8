//! Writes scores of pages as tables, row by row.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::engine::scores::PageScore;
use crate::named_enum::named_enum;
use seedbank_formats::display::{csv_field, readable};
use seedbank_formats::parquet_writer::{Cell, Column, ColumnType, Table, TableRow};

named_enum! {
    /// Format of a table of scores.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ScoreFormat {
        #[default]
        Csv = "csv", "Comma-separated values (RFC 4180) with a header";
        Text = "text", "A human-readable table";
        Jsonl = "jsonl" | "json",
            "One JSON object per line; its JSON Schema is schema/scores.schema.json";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A Parquet file with the columns of CSV";
    }
}

impl TableRow for PageScore {
    const COLUMNS: &'static [Column] = &[
        Column::new("url", ColumnType::Text),
        Column::new("site", ColumnType::RepeatedText),
        Column::new("state", ColumnType::RepeatedText),
        Column::new("in_degree", ColumnType::Integer),
        Column::new("out_degree", ColumnType::Integer),
        Column::new("pagerank", ColumnType::Float),
        Column::new("harmonic", ColumnType::Float),
        Column::new("harmonic_error", ColumnType::Float),
        Column::new("seed_rank", ColumnType::Integer),
        Column::new("core", ColumnType::Integer),
        Column::new("hub_score", ColumnType::Float),
        Column::new("authority_score", ColumnType::Float),
        Column::new("covered_by", ColumnType::RepeatedText),
        Column::new("covered_at", ColumnType::Integer),
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            self.url.as_str().into(),
            self.site.as_str().into(),
            self.state.name().into(),
            self.in_degree.into(),
            self.out_degree.into(),
            self.pagerank.into(),
            self.harmonic.into(),
            self.harmonic_error.into(),
            self.seed_rank.into(),
            self.core.into(),
            self.hub_score.into(),
            self.authority_score.into(),
            self.covered_by.as_deref().into(),
            self.covered_at.into(),
        ]
    }
}

/// Writer of page scores.
pub struct ScoreWriter<W: Write + Send> {
    to: Sink<W>,
    /// Whether the header is still to be written.
    needs_header: bool,
}

enum Sink<W: Write + Send> {
    Csv(W),
    Text(W),
    Jsonl(W),
    Parquet(Box<Table<W>>),
}

impl<W: Write + Send> ScoreWriter<W> {
    /// Creates a writer. It writes nothing before the first page or [`finish`](Self::finish).
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::scores::ScoresRequest;
    /// use seedbank::render::{ScoreFormat, ScoreWriter};
    ///
    /// let mut out = ScoreWriter::new(Vec::new(), ScoreFormat::Csv)?;
    /// let each = |score| -> Result<(), Box<dyn std::error::Error>> { Ok(out.page(&score)?) };
    /// bank.scores(&ScoresRequest::default(), each)?;
    /// let csv = String::from_utf8(out.finish()?)?;
    /// assert!(csv.starts_with("url,site,state,in_degree"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(out: W, format: ScoreFormat) -> io::Result<Self> {
        let to = match format {
            ScoreFormat::Csv => Sink::Csv(out),
            ScoreFormat::Text => Sink::Text(out),
            ScoreFormat::Jsonl => Sink::Jsonl(out),
            ScoreFormat::Parquet => Sink::Parquet(Box::new(Table::new(out, PageScore::COLUMNS)?)),
        };
        Ok(Self {
            to,
            needs_header: true,
        })
    }

    fn write_header(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.needs_header) {
            match &mut self.to {
                Sink::Csv(out) => {
                    let names: Vec<&str> = PageScore::COLUMNS
                        .iter()
                        .map(|column| column.name)
                        .collect();
                    write!(out, "{}\r\n", names.join(","))?;
                }
                Sink::Text(out) => out.write_all(TEXT_HEADER.as_bytes())?,
                Sink::Jsonl(_) | Sink::Parquet(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the scores of a page.
    pub fn page(&mut self, score: &PageScore) -> io::Result<()> {
        self.write_header()?;
        match &mut self.to {
            Sink::Csv(out) => out.write_all(csv_line(score).as_bytes()),
            Sink::Text(out) => out.write_all(text_line(score).as_bytes()),
            Sink::Jsonl(out) => {
                serde_json::to_writer(&mut *out, score)?;
                out.write_all(b"\n")
            }
            Sink::Parquet(table) => table.row(&score.cells()),
        }
    }

    /// Writes buffered output and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_header()?;
        let mut out = match self.to {
            Sink::Csv(out) | Sink::Text(out) | Sink::Jsonl(out) => out,
            Sink::Parquet(table) => table.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

const TEXT_HEADER: &str =
    "pagerank    harmonic    ± error  linked from   links to   seed   core  url\n";

/// Formats a row of the table for people. The URL comes last, since its width is not limited.
fn text_line(score: &PageScore) -> String {
    let rank = |rank: Option<u32>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
    format!(
        "{:>8.2e} {:>11.2} {:>10.2}  {:>11}  {:>9}  {:>5}  {:>5}  {}\n",
        score.pagerank,
        score.harmonic,
        score.harmonic_error,
        score.in_degree,
        score.out_degree,
        rank(score.seed_rank),
        rank(score.core),
        readable(&score.url)
    )
}

fn csv_line(score: &PageScore) -> String {
    let mut line = format!(
        "{},{},{},{},{},{},{},{}",
        csv_field(&score.url),
        csv_field(&score.site),
        score.state.name(),
        score.in_degree,
        score.out_degree,
        score.pagerank,
        score.harmonic,
        score.harmonic_error
    );
    let shown = |value: Option<&dyn std::fmt::Display>| value.map(ToString::to_string);
    let known = [
        shown(score.seed_rank.as_ref().map(|value| value as _)),
        shown(score.core.as_ref().map(|value| value as _)),
        shown(score.hub_score.as_ref().map(|value| value as _)),
        shown(score.authority_score.as_ref().map(|value| value as _)),
        score.covered_by.as_deref().map(csv_field),
        shown(score.covered_at.as_ref().map(|value| value as _)),
    ];
    for value in known {
        // Writing to a String cannot fail.
        let _ = write!(line, ",{}", value.unwrap_or_default());
    }
    line + "\r\n"
}
