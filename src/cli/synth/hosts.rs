//! `synth --shape hosts`: generates a graph of hosts.

use std::path::Path;

use schemars::JsonSchema;
use seedbank::display::{counted, escape_controls};
use seedbank::synth::hosts::{HostsList, HostsOptions, HostsSummary, generate};
use serde::Serialize;

use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::values::{Format, human_bytes};

pub(super) fn run(
    dir: &Path,
    options: &HostsOptions,
    format: Format,
    session: &Session,
) -> Result<Outcome, CliError> {
    let summary = session.run(|watch| generate(dir, options, watch))?;
    format.print(&result(&summary), |_| text(&summary))?;
    Ok(Outcome::Done)
}

/// The output of `synth --shape hosts --format json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HostsResult {
    /// Number of hosts.
    #[schemars(range(min = 1))]
    hosts: u64,
    /// Number of hosts without links to other hosts.
    dangling: u64,
    /// Number of links between hosts.
    links: u64,
    /// The files of vertices, edges and ranks, each with its parts in order.
    files: Vec<ListResult>,
}

/// A file of the graph.
#[derive(Serialize, JsonSchema)]
struct ListResult {
    /// The path of the file.
    path: String,
    /// Its contents: `vertices`, `edges` or `ranks`.
    list: &'static str,
    /// Number of lines; a file of ranks also has a header.
    lines: u64,
    /// The size of the file in bytes, compressed.
    file_bytes: u64,
    /// Size of the text in bytes before compression.
    text_bytes: u64,
}

fn result(summary: &HostsSummary) -> HostsResult {
    let files = summary.files.iter().map(|file| ListResult {
        path: file.path.to_string_lossy().into_owned(),
        list: match file.list {
            HostsList::Vertices => "vertices",
            HostsList::Edges => "edges",
            HostsList::Ranks => "ranks",
        },
        lines: file.lines,
        file_bytes: file.file_bytes,
        text_bytes: file.text_bytes,
    });
    HostsResult {
        hosts: summary.hosts,
        dangling: summary.dangling,
        links: summary.links,
        files: files.collect(),
    }
}

/// Formats the summary of a graph as text.
fn text(summary: &HostsSummary) -> String {
    let mut text = String::new();
    for file in &summary.files {
        append_line!(
            text,
            "{}: {}, {}",
            escape_controls(&file.path.to_string_lossy()),
            counted(file.lines, "line"),
            human_bytes(file.file_bytes)
        );
    }
    append_line!(
        text,
        "{}, {} without links; {}",
        counted(summary.hosts, "host"),
        summary.dangling,
        counted(summary.links, "link")
    );
    text
}
