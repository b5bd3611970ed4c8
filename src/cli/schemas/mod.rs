//! Generates `schema/*.schema.json` and `schema/openapi.json` from the printed types, with their doc comments as descriptions. Only
//! the schemas of input records are written by hand.
//!
//! After a type or a doc comment has changed, regenerate the files with
//!
//! ```text
//! SEEDBANK_WRITE_SCHEMA=1 cargo test --bin seedbank schemas
//! ```
//!
//! This is a test of the binary, because some of the printed types belong to it.

#[cfg(feature = "serve")]
mod openapi;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use seedbank::answers::{PlanWithCommand, SummaryLine};
use seedbank::{engine, report};
use serde_json::{Value, json};

use self::shape::{Alternatives, Bundle, SHARED, schema_of, text};
use super::{log, lookups, maintenance, synth};

/// Returns the schema of a type.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A file of `schema/`.
struct File {
    /// File name without extension: the name of a command, with a suffix if there are several files.
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The types that are printed, each with an optional title.
    alternatives: &'static [(Option<&'static str>, SchemaOf)],
}

const fn file(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    alternatives: &'static [(Option<&'static str>, SchemaOf)],
) -> File {
    File {
        name,
        title,
        description,
        alternatives,
    }
}

const FILES: &[File] = &[
    file(
        "backup",
        "Seedbank backup",
        "Output of `seedbank backup --format json`.",
        &[(None, schema_of::<engine::maintenance::BackupReport>)],
    ),
    file(
        "check",
        "Seedbank check",
        "Output of `seedbank check --format json`.",
        &[(None, schema_of::<maintenance::CheckResult<'_>>)],
    ),
    file(
        "compact",
        "Seedbank compact",
        "Output of `seedbank compact --format json`.",
        &[(None, schema_of::<engine::maintenance::CompactReport>)],
    ),
    file(
        "compare",
        "Seedbank comparison of a list",
        "Output of `seedbank compare --format json`: a list of start pages compared with the seeds of a plan.",
        &[(None, schema_of::<engine::query::ListComparison>)],
    ),
    file(
        "cores",
        "Seedbank core",
        "One line of `seedbank cores --format jsonl`: a core, in the order of extraction; with --links, \
         the current links from its hubs to its authorities.",
        &[
            (Some("a core"), schema_of::<engine::query::CoreView>),
            (
                Some("the current links of a core"),
                schema_of::<engine::query::CoreLinks>,
            ),
        ],
    ),
    file(
        "diff",
        "Seedbank diff",
        "One line of `seedbank diff --format jsonl`: first the counts, then each seed of the two \
         lists.",
        &[
            (
                Some("the counts, on the first line"),
                schema_of::<SummaryLine<'_>>,
            ),
            (Some("a seed"), schema_of::<engine::query::SeedChange>),
        ],
    ),
    file(
        "evaluate-actual",
        "Seedbank evaluation: actual crawls",
        "Output of `seedbank evaluate BANK actual --format json`: what crawlers fetched from each seed \
         according to their own records, beside what the lists promised. Values are in units.",
        &[(None, schema_of::<engine::evaluate::ActualEvaluation>)],
    ),
    file(
        "evaluate-budget",
        "Seedbank evaluation: budget",
        "Output of `seedbank evaluate BANK budget --format json`: the results of crawls of a fixed \
         number of pages from several lists.",
        &[(None, schema_of::<engine::evaluate::BudgetEvaluation>)],
    ),
    file(
        "evaluate-coverage",
        "Seedbank evaluation: coverage",
        "Output of `seedbank evaluate BANK coverage --format json`: the coverage of every cover method \
         on the same sites, compared with random seeds, as means over sites with standard errors.",
        &[(None, schema_of::<engine::evaluate::CoverageEvaluation>)],
    ),
    file(
        "evaluate-crawl",
        "Seedbank evaluation: crawl",
        "Output of `seedbank evaluate BANK crawl --format json`: a breadth-first crawl from seeds \
         compared with crawls from random seeds. PageRank adds up to 1 over the whole graph; values are \
         in units.",
        &[(None, schema_of::<engine::evaluate::CrawlEvaluation>)],
    ),
    file(
        "evaluate-distances",
        "Seedbank evaluation: distances",
        "Output of `seedbank evaluate BANK distances --format json`: directed distances between \
         the cores of a refresh, compared with the average distance between pages.",
        &[(None, schema_of::<engine::evaluate::DistancesEvaluation>)],
    ),
    file(
        "evaluate-methods",
        "Seedbank evaluation: methods",
        "Output of `seedbank evaluate BANK methods --format json`: the results of crawls from the \
         seeds of every method and baseline, by number of fetches. PageRank adds up to 1 over the \
         whole graph; values are in units.",
        &[
            (None, schema_of::<engine::evaluate::MethodsEvaluation>),
            (
                Some("with --next"),
                schema_of::<engine::evaluate::NextEvaluation>,
            ),
        ],
    ),
    file(
        "explain",
        "Seedbank explanation",
        "Output of `seedbank explain --format json`: why a page is a seed of a refresh, or why \
         not; with --site, how a site was treated; for several pages, one line for each.",
        &[
            (None, schema_of::<engine::query::Explanation>),
            (None, schema_of::<engine::query::SiteExplanation>),
            (
                Some("one of several pages, without an answer"),
                schema_of::<lookups::NoAnswer<'_>>,
            ),
        ],
    ),
    file(
        "history",
        "Seedbank history",
        "Output of `seedbank history --format json`; with a URL, the history of the page.",
        &[
            (
                Some("the history of the bank"),
                schema_of::<engine::query::History>,
            ),
            (
                Some("the history of a page"),
                schema_of::<engine::query::PageHistory>,
            ),
        ],
    ),
    file(
        "ingest",
        "Seedbank ingest",
        "Output of `seedbank ingest --format json`.",
        &[(None, schema_of::<engine::IngestReport>)],
    ),
    file(
        "log",
        "Seedbank log line",
        "One line of what commands write to standard error with `--log-format json`.",
        &[(None, schema_of::<log::LogLine>)],
    ),
    file(
        "page",
        "Seedbank page",
        "Output of `seedbank page --format json`: facts about a page; with --links, its \
         linked pages.",
        &[
            (Some("a page"), schema_of::<engine::query::PageFacts>),
            (
                Some("linked pages"),
                schema_of::<engine::query::LinkedPages>,
            ),
        ],
    ),
    file(
        "plans",
        "Seedbank plans",
        "Output of `seedbank plans BANK --format json`; with show, one plan; with delete, the \
         deleted plan.",
        &[
            (Some("all plans"), schema_of::<engine::query::Plans>),
            (Some("one plan"), schema_of::<PlanWithCommand>),
            (
                Some("a deleted plan"),
                schema_of::<engine::refresh::DeletedPlan>,
            ),
        ],
    ),
    file(
        "quotas",
        "Seedbank quotas",
        "Output of `seedbank quotas --format json`; with `--format jsonl`, one line for each site.",
        &[
            (Some("all quotas"), schema_of::<engine::query::Quotas>),
            (
                Some("the quota of a site"),
                schema_of::<engine::query::SiteQuota>,
            ),
        ],
    ),
    file(
        "refresh",
        "Seedbank refresh",
        "Output of `seedbank refresh --format json`; with --dry-run, the result of the dry run.",
        &[
            (Some("a refresh"), schema_of::<engine::RefreshReport>),
            (Some("a dry run"), schema_of::<engine::query::DryRun>),
        ],
    ),
    file(
        "repair",
        "Seedbank repair",
        "Output of `seedbank repair --format json`.",
        &[(None, schema_of::<engine::maintenance::RepairReport>)],
    ),
    file(
        "report",
        "Seedbank report",
        "The JSON file that `seedbank report` writes beside the page, and what `seedbank report \
         --format json`.",
        &[(None, schema_of::<report::Report>)],
    ),
    file(
        "restore",
        "Seedbank restore",
        "Output of `seedbank restore --format json`; with --list, the backups in a folder.",
        &[
            (
                Some("the restored backup"),
                schema_of::<engine::maintenance::RestoreReport>,
            ),
            (
                Some("the backups of a folder"),
                schema_of::<engine::maintenance::Backups>,
            ),
        ],
    ),
    file(
        "scores",
        "Seedbank scores of a page",
        "One line of `seedbank scores --format jsonl`: a page, ordered by site name, and by URL \
         within a site.",
        &[(None, schema_of::<engine::scores::PageScore>)],
    ),
    file(
        "search",
        "Seedbank search",
        "Output of `seedbank search --format json`: the pages and sites whose names contain a \
         text.",
        &[(None, schema_of::<engine::query::SearchResult>)],
    ),
    // `site.schema.json` describes input.
    file(
        "site-facts",
        "Seedbank site",
        "Output of `seedbank site --format json`: facts about a site.",
        &[(None, schema_of::<engine::query::SiteFacts>)],
    ),
    file(
        "seeds",
        "Seedbank seed",
        "One line of `seedbank seeds --format jsonl`: a seed, best first, with its evidence.",
        &[(None, schema_of::<engine::query::Seed>)],
    ),
    file(
        "status",
        "Seedbank status",
        "Output of `seedbank status --format json`; with --graph, the structure of the graph.",
        &[
            (Some("the status"), schema_of::<engine::query::Status>),
            (
                Some("the structure of the graph"),
                schema_of::<engine::evaluate::GraphStructure>,
            ),
        ],
    ),
    file(
        "forget",
        "Seedbank forget",
        "Output of `seedbank forget --format json`.",
        &[(None, schema_of::<engine::ingest::ForgetReport>)],
    ),
    file(
        "undo",
        "Seedbank undo",
        "Output of `seedbank undo --format json`.",
        &[
            (
                Some("the batch that was taken back"),
                schema_of::<engine::ingest::UndoReport>,
            ),
            (
                Some("with --refused, the batch that was dismissed; null for none"),
                schema_of::<Option<engine::ingest::RefusedBatch>>,
            ),
        ],
    ),
    file(
        "synth",
        "Seedbank synth",
        "Output of `seedbank synth --format json`.",
        &[(None, schema_of::<synth::SynthResult>)],
    ),
    file(
        "synth-hosts",
        "Seedbank graph of hosts",
        "Output of `seedbank synth --shape hosts --format json`.",
        &[(None, schema_of::<synth::HostsResult>)],
    ),
];

fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

/// Adds the version, title and description of a file to a schema.
fn headed(mut schema: Value, title: &str, description: &str) -> Value {
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title);
    schema["description"] = json!(description);
    schema
}

/// Returns the expected contents of all files, by file name.
fn schemas() -> BTreeMap<String, Value> {
    // One generator for all, so that a definition has one name everywhere.
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut alternatives_of = |file: &File| -> Alternatives {
        let alternatives = file.alternatives.iter();
        alternatives
            .map(|(title, give)| (*title, give(&mut generator).to_value()))
            .collect()
    };
    let files: Vec<(&File, Alternatives)> = FILES
        .iter()
        .map(|file| (file, alternatives_of(file)))
        .collect();
    let alternatives = files.iter().map(|(_, alternatives)| alternatives);
    let bundle = Bundle::new(alternatives, &generator.take_definitions(false));
    let mut schemas: BTreeMap<String, Value> = files
        .iter()
        .map(|(file, alternatives)| {
            let schema = headed(bundle.schema(alternatives), file.title, file.description);
            (file_name(file.name), schema)
        })
        .collect();
    let description = "Definitions that several schemas in this folder refer to; this file alone describes \
                       no output.";
    let shared = headed(bundle.shared(), "Seedbank definitions", description);
    schemas.insert(SHARED.to_owned(), shared);
    #[cfg(feature = "serve")]
    schemas.insert(openapi::FILE.to_owned(), openapi::document());
    schemas
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

#[test]
fn the_schemas_match_the_types() {
    let mut stale = Vec::new();
    for (name, schema) in schemas() {
        let path = folder().join(&name);
        let text = text(&schema);
        if std::env::var_os("SEEDBANK_WRITE_SCHEMA").is_some() {
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "schemas that do not match the types: {stale:?}; regenerate them with\n  \
         SEEDBANK_WRITE_SCHEMA=1 cargo test --bin seedbank schemas"
    );
}

#[test]
fn no_schema_is_left_over() {
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(&file_name("")))
        .collect();
    let mut named: BTreeSet<String> = schemas().into_keys().collect();
    // Schemas of input, written by hand.
    named.extend(["record", "site"].map(file_name));
    named.retain(|name| name.ends_with(&file_name("")));
    assert_eq!(files, named);
}

#[test]
fn definitions_have_unique_names() {
    // schemars appends a number if two types have the same name; use `#[schemars(rename)]` for one.
    for (file, schema) in schemas() {
        let definitions = schema
            .get("$defs")
            .or_else(|| schema.pointer("/components/schemas"))
            .and_then(Value::as_object);
        for name in definitions.into_iter().flat_map(|all| all.keys()) {
            let has_number = name.ends_with(|c: char| c.is_ascii_digit());
            assert!(!has_number, "{file}: {name}");
        }
    }
}
