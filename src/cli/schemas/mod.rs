//! `schema/*.schema.json` is what the printed types give: their fields, and their doc comments as
//! descriptions. Only the schema of the records that are read is written by hand.
//!
//! After a type or a doc comment has changed, the files are written again with
//!
//! ```text
//! SEEDBANK_WRITE_SCHEMA=1 cargo test --bin seedbank schemas
//! ```
//!
//! It is a test of the command line, since what it prints is partly its own types.

mod bundle;
mod ordered;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seedbank::render::{PlanWithCommand, SummaryLine};
use seedbank::{engine, report};
use serde_json::{Value, json};

use self::bundle::{Bundle, Kinds, SHARED};
use super::{check, explain, log, synth};

/// The schema of one kind of output.
type Give = fn(&mut SchemaGenerator) -> Schema;

/// A file of `schema/`.
struct File {
    /// The file's name, which is also the command's, or begins with it.
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// What is printed: one type, or one of several, each of them with its title.
    kinds: &'static [(Option<&'static str>, Give)],
}

const fn file(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    kinds: &'static [(Option<&'static str>, Give)],
) -> File {
    File {
        name,
        title,
        description,
        kinds,
    }
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const FILES: &[File] = &[
    file(
        "backup",
        "Seedbank backup",
        "What `seedbank backup --format json` prints.",
        &[(None, of::<engine::BackupReport>)],
    ),
    file(
        "check",
        "Seedbank check",
        "What `seedbank check --format json` prints.",
        &[(None, of::<check::CheckResult<'_>>)],
    ),
    file(
        "compact",
        "Seedbank compact",
        "What `seedbank compact --format json` prints.",
        &[(None, of::<engine::CompactReport>)],
    ),
    file(
        "compare",
        "Seedbank comparison of a list",
        "What `seedbank compare --format json` prints: a list of start pages beside the list of a plan.",
        &[(None, of::<engine::ListComparison>)],
    ),
    file(
        "cores",
        "Seedbank core",
        "One line of `seedbank cores --format jsonl`: a core, in the order of extraction; with --links, \
         which of its hubs link to which of its authorities today.",
        &[
            (Some("a core"), of::<engine::CoreView>),
            (Some("the links of a core today"), of::<engine::CoreLinks>),
        ],
    ),
    file(
        "diff",
        "Seedbank diff",
        "One line of `seedbank diff --format jsonl`: first the counts, then every seed of the two \
         lists.",
        &[
            (Some("the counts, on the first line"), of::<SummaryLine<'_>>),
            (Some("a seed"), of::<engine::SeedChange>),
        ],
    ),
    file(
        "evaluate-budget",
        "Seedbank evaluation: budget",
        "What `seedbank evaluate BANK budget --format json` prints: what a crawl of at most so many \
         pages gives from each of several lists.",
        &[(None, of::<engine::BudgetEvaluation>)],
    ),
    file(
        "evaluate-coverage",
        "Seedbank evaluation: coverage",
        "What `seedbank evaluate BANK coverage --format json` prints: what every cover method \
         covers of the same sites, beside random seeds. Means over sites with standard errors.",
        &[(None, of::<engine::CoverageEvaluation>)],
    ),
    file(
        "evaluate-crawl",
        "Seedbank evaluation: crawl",
        "What `seedbank evaluate BANK crawl --format json` prints: a breadth-first crawl from seeds \
         beside crawls from random seeds. PageRank adds up to 1 over the whole graph; values are \
         in units.",
        &[(None, of::<engine::CrawlEvaluation>)],
    ),
    file(
        "evaluate-distances",
        "Seedbank evaluation: distances",
        "What `seedbank evaluate BANK distances --format json` prints: directed distances between \
         the cores of a refresh, beside the average distance between pages.",
        &[(None, of::<engine::DistancesEvaluation>)],
    ),
    file(
        "evaluate-methods",
        "Seedbank evaluation: methods",
        "What `seedbank evaluate BANK methods --format json` prints: what crawls from the lists of \
         every method and baseline gather within so many fetches. PageRank adds up to 1 over the \
         whole graph; values are in units.",
        &[(None, of::<engine::MethodsEvaluation>)],
    ),
    file(
        "explain",
        "Seedbank explanation",
        "What `seedbank explain --format json` prints: why a page is a seed of a refresh, or why \
         not; with --site, what became of a site; of several pages one line for each.",
        &[
            (None, of::<engine::Explanation>),
            (None, of::<engine::SiteExplanation>),
            (
                Some("one of several pages, about which there is no answer"),
                of::<explain::NoAnswer<'_>>,
            ),
        ],
    ),
    file(
        "history",
        "Seedbank history",
        "What `seedbank history --format json` prints; with a URL, what it prints of the page.",
        &[
            (Some("of the bank"), of::<engine::History>),
            (Some("of a page"), of::<engine::PageHistory>),
        ],
    ),
    file(
        "ingest",
        "Seedbank ingest",
        "What `seedbank ingest --format json` prints.",
        &[(None, of::<engine::IngestReport>)],
    ),
    file(
        "log",
        "Seedbank log line",
        "One line of what commands write to standard error with `--log-format json`.",
        &[(None, of::<log::LogLine>)],
    ),
    file(
        "migrate",
        "Seedbank migrate",
        "What `seedbank migrate --format json` prints.",
        &[(None, of::<engine::MigrateReport>)],
    ),
    file(
        "page",
        "Seedbank page",
        "What `seedbank page --format json` prints: what the bank knows of a page; with --links, pages \
         that it is linked with.",
        &[
            (Some("a page"), of::<engine::PageFacts>),
            (
                Some("pages that it is linked with"),
                of::<engine::LinkedPages>,
            ),
        ],
    ),
    file(
        "plans",
        "Seedbank plans",
        "What `seedbank plans BANK --format json` prints; with show, one plan whole; with delete, what \
         went.",
        &[
            (Some("all plans"), of::<engine::Plans>),
            (Some("one plan"), of::<PlanWithCommand<'_>>),
            (Some("a plan that was deleted"), of::<engine::DeletedPlan>),
        ],
    ),
    file(
        "quotas",
        "Seedbank quotas",
        "What `seedbank quotas --format json` prints; with `--format jsonl` one line for each site.",
        &[
            (Some("all quotas"), of::<engine::Quotas>),
            (Some("the quota of a site"), of::<engine::SiteQuota>),
        ],
    ),
    file(
        "refresh",
        "Seedbank refresh",
        "What `seedbank refresh --format json` prints; with --dry-run, what it would select.",
        &[
            (Some("a refresh"), of::<engine::RefreshReport>),
            (Some("a dry run"), of::<engine::DryRun>),
        ],
    ),
    file(
        "repair",
        "Seedbank repair",
        "What `seedbank repair --format json` prints.",
        &[(None, of::<engine::RepairReport>)],
    ),
    file(
        "report",
        "Seedbank report",
        "The JSON file that `seedbank report` writes beside the page, and what `seedbank report \
         --format json` prints.",
        &[(None, of::<report::Report>)],
    ),
    file(
        "restore",
        "Seedbank restore",
        "What `seedbank restore --format json` prints; with --list, the backups of a folder.",
        &[
            (Some("what was restored"), of::<engine::RestoreReport>),
            (Some("the backups of a folder"), of::<engine::Backups>),
        ],
    ),
    file(
        "scores",
        "Seedbank scores of a page",
        "One line of `seedbank scores --format jsonl`: a page, in the order of site names and of the \
         URLs of each site.",
        &[(None, of::<engine::PageScore>)],
    ),
    file(
        "search",
        "Seedbank search",
        "What `seedbank search --format json` prints: the pages and sites that a text names or is a \
         part of.",
        &[(None, of::<engine::SearchResult>)],
    ),
    // `site.schema.json` is of the records of sites that are read.
    file(
        "site-facts",
        "Seedbank site",
        "What `seedbank site --format json` prints: what the bank knows of a site.",
        &[(None, of::<engine::SiteFacts>)],
    ),
    file(
        "seeds",
        "Seedbank seed",
        "One line of `seedbank seeds --format jsonl`: a seed, best first, with its evidence.",
        &[(None, of::<engine::Seed>)],
    ),
    file(
        "status",
        "Seedbank status",
        "What `seedbank status --format json` prints.",
        &[(None, of::<engine::Status>)],
    ),
    file(
        "forget",
        "Seedbank forget",
        "What `seedbank forget --format json` prints.",
        &[(None, of::<engine::ForgetReport>)],
    ),
    file(
        "undo",
        "Seedbank undo",
        "What `seedbank undo --format json` prints.",
        &[(None, of::<engine::UndoReport>)],
    ),
    file(
        "synth",
        "Seedbank synth",
        "What `seedbank synth --format json` prints.",
        &[(None, of::<synth::SynthResult>)],
    ),
    file(
        "synth-hosts",
        "Seedbank graph of hosts",
        "What `seedbank synth --shape hosts --format json` prints.",
        &[(None, of::<synth::HostsResult>)],
    ),
];

/// The name of the file of a schema.
fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

/// Completes a schema with what a file says of itself.
fn headed(mut schema: Value, title: &str, description: &str) -> Value {
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title);
    schema["description"] = json!(description);
    schema
}

/// What every file should hold, by the file's name.
fn schemas() -> BTreeMap<String, Value> {
    // One generator for all, so that a definition has one name everywhere.
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut kinds_of = |file: &File| -> Kinds {
        let kinds = file.kinds.iter();
        kinds
            .map(|(title, give)| (*title, give(&mut generator).to_value()))
            .collect()
    };
    let files: Vec<(&File, Kinds)> = FILES.iter().map(|file| (file, kinds_of(file))).collect();
    let kinds = files.iter().map(|(_, kinds)| kinds);
    let bundle = Bundle::new(kinds, &generator.take_definitions(false));
    let mut schemas: BTreeMap<String, Value> = files
        .iter()
        .map(|(file, kinds)| {
            let schema = headed(bundle.schema(kinds), file.title, file.description);
            (file_name(file.name), schema)
        })
        .collect();
    let description = "Definitions that several of the schemas in this folder refer to, by the name of \
                       this file; nothing that is printed is described by it alone.";
    let shared = headed(bundle.shared(), "Seedbank definitions", description);
    schemas.insert(SHARED.to_owned(), shared);
    schemas
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

#[test]
fn the_schemas_are_what_the_types_give() {
    let mut stale = Vec::new();
    for (name, schema) in schemas() {
        let path = folder().join(&name);
        let text = ordered::text(&schema);
        if std::env::var_os("SEEDBANK_WRITE_SCHEMA").is_some() {
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "not what the types give: {stale:?}; write them anew with\n  \
         SEEDBANK_WRITE_SCHEMA=1 cargo test --bin seedbank schemas"
    );
}

#[test]
fn no_schema_is_left_over() {
    let there: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(&file_name("")))
        .collect();
    let mut named: BTreeSet<String> = schemas().into_keys().collect();
    // What is read.
    named.extend(["record", "site"].map(file_name));
    assert_eq!(there, named);
}

#[test]
fn definitions_are_named_for_what_they_are() {
    // A number after a name tells that two types have it; `#[schemars(rename)]` gives one its own.
    for (file, schema) in schemas() {
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for name in definitions.into_iter().flat_map(|all| all.keys()) {
            let has_number = name.ends_with(|c: char| c.is_ascii_digit());
            assert!(!has_number, "{file}: {name}");
        }
    }
}
