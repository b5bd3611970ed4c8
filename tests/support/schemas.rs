//! Validation of printed JSON against `schema/`.

use std::error::Error;
use std::fs;
use std::path::Path;

use jsonschema::{Retrieve, Uri, Validator};
use seedbank::engine::evaluate::{
    ActualEvaluation, BudgetEvaluation, CoverageEvaluation, CrawlEvaluation, DistancesEvaluation,
    GraphStructure, MethodsEvaluation, NextEvaluation,
};
use seedbank::engine::ingest::{ForgetReport, UndoReport};
use seedbank::engine::maintenance::{
    BackupReport, Backups, BankCheck, CompactReport, RepairReport, RestoreReport,
};
use seedbank::engine::query::{
    CoreLinks, CoreView, DiffSummary, DryRun, Explanation, History, LinkedPages, ListComparison,
    PageFacts, PageHistory, PlanDetail, Plans, Quotas, SearchResult, Seed, SeedChange,
    SiteExplanation, SiteFacts, SiteQuota, Status,
};
use seedbank::engine::refresh::DeletedPlan;
use seedbank::engine::scores::PageScore;
use seedbank::engine::{IngestReport, RefreshReport};
use seedbank::report::Report;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A schema by name.
pub fn schema(name: &str) -> Value {
    read(&format!("{name}.schema.json"))
}

fn read(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

/// Finds the files of `schema/` that a schema refers to by their names.
struct Folder;

impl Retrieve for Folder {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let name = uri.path().as_str().trim_start_matches('/');
        assert!(!name.contains('/'), "{uri}");
        Ok(read(name))
    }
}

/// The validator of a schema by name.
pub fn validator(name: &str) -> Validator {
    let options = jsonschema::options().with_retriever(Folder);
    options.build(&schema(name)).unwrap()
}

/// The schema of the JSON that a single command prints.
pub fn schema_of(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut pairs = words.windows(2);
    let is_json = pairs.any(|pair| pair[0] == "--format" && pair[1].starts_with("json"));
    let is_single = !line.contains(['|', ';', '\n']) && !line.contains(" > ");
    let verb = words.iter().position(|word| *word == "seedbank")? + 1;
    let name = match *words.get(verb)? {
        "evaluate" => format!("evaluate-{}", words.get(verb + 2)?),
        "site" => "site-facts".to_owned(),
        verb => verb.to_owned(),
    };
    let file = format!("schema/{name}.schema.json");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    (is_json && is_single && file.exists()).then_some(name)
}

/// Checks printed JSON against its schema, and that its type reads it back.
#[track_caller]
pub fn fits(name: &str, output: &Value) {
    let faults: Vec<String> = validator(name)
        .iter_errors(output)
        .map(|e| e.to_string())
        .collect();
    assert!(faults.is_empty(), "{name}: {faults:?}\n{output}");
    match name {
        "backup" => reads::<BackupReport>(output),
        "check" => reads::<BankCheck>(&without(output, &["clean", "count"])),
        "compact" => reads::<CompactReport>(output),
        "compare" => reads::<ListComparison>(output),
        "cores" if output["links"].is_array() => reads::<CoreLinks>(output),
        "cores" => reads::<CoreView>(output),
        "diff" if output["summary"].is_object() => reads::<DiffSummary>(&output["summary"]),
        "diff" => reads::<SeedChange>(output),
        "evaluate-actual" => reads::<ActualEvaluation>(output),
        "evaluate-budget" => reads::<BudgetEvaluation>(output),
        "evaluate-coverage" => reads::<CoverageEvaluation>(output),
        "evaluate-crawl" => reads::<CrawlEvaluation>(output),
        "evaluate-distances" => reads::<DistancesEvaluation>(output),
        "evaluate-methods" if output.get("followed").is_some() => {
            reads::<NextEvaluation>(output);
        }
        "evaluate-methods" => reads::<MethodsEvaluation>(output),
        "explain" if output["error"].is_string() => {}
        "explain" if output["url"].is_string() => reads::<Explanation>(output),
        "explain" => reads::<SiteExplanation>(output),
        "history" if output["url"].is_string() => reads::<PageHistory>(output),
        "history" => reads::<History>(output),
        "ingest" => reads::<IngestReport>(output),
        "page" if output["linked"].is_array() => reads::<LinkedPages>(output),
        "page" => reads::<PageFacts>(output),
        "plans" if output["plans"].is_array() => reads::<Plans>(output),
        "plans" if output["plan"].is_string() => {
            reads::<PlanDetail>(&without(output, &["command"]));
        }
        "plans" => reads::<DeletedPlan>(output),
        "quotas" if output["sites"].is_array() => reads::<Quotas>(output),
        "quotas" => reads::<SiteQuota>(output),
        "refresh" if output["dry_run"].is_boolean() => reads::<DryRun>(output),
        "refresh" => reads::<RefreshReport>(output),
        "repair" => reads::<RepairReport>(output),
        "report" => reads::<Report>(output),
        "restore" if output["backups"].is_array() => reads::<Backups>(output),
        "restore" => reads::<RestoreReport>(output),
        "scores" => reads::<PageScore>(output),
        "search" => reads::<SearchResult>(output),
        "seeds" => reads::<Seed>(output),
        "site-facts" => reads::<SiteFacts>(output),
        "status" if output["degrees"].is_array() => reads::<GraphStructure>(output),
        "status" => reads::<Status>(output),
        "forget" => reads::<ForgetReport>(output),
        "undo" => reads::<UndoReport>(output),
        "log" | "record" | "site" | "synth" | "synth-hosts" => {}
        other => panic!("{other}"),
    }
}

/// A caller of the library reads an answer back from what was printed, and has all of it.
#[track_caller]
fn reads<T: Serialize + DeserializeOwned>(output: &Value) {
    let answer: T = serde_json::from_value(output.clone()).unwrap();
    assert_eq!(serde_json::to_value(answer).unwrap(), *output);
}

/// What the command line adds to an answer is left out.
fn without(output: &Value, fields: &[&str]) -> Value {
    let mut answer = output.clone();
    answer
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !fields.contains(&name.as_str()));
    answer
}
