//! The API is what `/openapi.json` says: addresses, parameters, answers and errors.
//!
//! Bug classes: an operation without a description or without a route, a parameter that only one of the two
//! has, an answer or an error that does not match its schema, JSON at an address of a page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::serve::{crawled, ok};
use crate::support::command::Place;
use crate::support::http::{Answer, Served, encoded};
use crate::support::plans::refresh;

const LIST: &[u8] = b"http://h1.example/\nhttp://none.test/\nno URL\n";

/// The OpenAPI document in the repository.
fn document() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns a validator of the schema of a content in the document.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut whole = schema.clone();
    whole["components"] = document["components"].clone();
    jsonschema::validator_for(&whole).unwrap()
}

/// The method and the description of the operation at a path.
fn operation<'a>(document: &'a Value, path: &str) -> (&'static str, &'a Value) {
    match &document["paths"][path] {
        item if item["post"].is_object() => ("POST", &item["post"]),
        item => ("GET", &item["get"]),
    }
}

fn ask(served: &Served, method: &str, address: &str) -> Answer {
    match method {
        "POST" => served.ask("POST", address, &["Content-Type: text/plain"], LIST),
        _ => served.get(address),
    }
}

fn paths(document: &Value) -> Vec<&String> {
    document["paths"].as_object().unwrap().keys().collect()
}

/// Queries that have an answer, by path.
fn queries() -> BTreeMap<&'static str, Vec<String>> {
    let (hub, linked) = (encoded("http://h1.example/"), encoded("http://a3.example/"));
    let both = |rest: &str| {
        [&hub, &linked]
            .map(|url| format!("url={url}{rest}"))
            .to_vec()
    };
    let all = |all: &[&str]| all.iter().map(|query| (*query).to_owned()).collect();
    [
        ("/v1/status", all(&[""])),
        ("/v1/batches", all(&["", "method=cores"])),
        ("/v1/plans", all(&[""])),
        ("/v1/plan", all(&["name=default", "name=cover"])),
        ("/v1/refresh", all(&["", "refresh=1", "plan=cover"])),
        (
            "/v1/seeds",
            all(&["", "plan=cover&alive=true", "limit=1&offset=1"]),
        ),
        (
            "/v1/explain",
            [both(""), both("&plan=cover"), both("&refresh=1")].concat(),
        ),
        (
            "/v1/diff",
            all(&[
                "",
                "from=1",
                "to=2&limit=1",
                "against=cover",
                "from=2&to=1&offset=1",
            ]),
        ),
        (
            "/v1/search",
            all(&["q=example", "q=h1&state=crawled&limit=1"]),
        ),
        ("/v1/page", both("")),
        (
            "/v1/links",
            [both("&of=in"), both("&of=out&offset=1&limit=1")].concat(),
        ),
        ("/v1/history", [both(""), both("&plan=default")].concat()),
        ("/v1/site", all(&["name=h1.example", "name=a3.example"])),
        ("/v1/cores", all(&["", "refresh=1&limit=1", "offset=1"])),
        ("/v1/core", all(&["core=1", "core=2&refresh=1"])),
        ("/v1/core-links", all(&["core=1"])),
        (
            "/v1/quotas",
            all(&["pages=5", "pages=3&by=seeds&plan=cover"]),
        ),
        ("/v1/compare", all(&["", "plan=cover"])),
    ]
    .into()
}

/// A bank with two refreshes of a plan by cores and one by coverage.
fn place() -> Place {
    let place = Place::with_seeds();
    place.run(&refresh(&["--seeds", "1"])).done();
    let cover = ["--plan", "cover", "--method", "greedy", "--per-site", "1"];
    place.run(&refresh(&cover)).done();
    place
}

#[test]
fn every_operation_answers_as_the_document_says() {
    let place = place();
    let served = Served::start(&place, &["bank"]);
    let document = document();
    let answer = served.get("/openapi.json");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.json(), document);
    let queries = queries();
    let named: BTreeSet<&str> = queries.keys().copied().collect();
    let described: BTreeSet<&str> = paths(&document).into_iter().map(String::as_str).collect();
    assert_eq!(named, described);
    for (path, queries) in queries {
        let (method, operation) = operation(&document, path);
        assert_eq!(
            path,
            format!("/v1/{}", operation["operationId"].as_str().unwrap())
        );
        let content = &operation["responses"]["200"]["content"]["application/json"];
        let validator = validator(&document, &content["schema"]);
        for query in queries {
            let address = format!("{path}?{query}");
            let answer = ask(&served, method, &address);
            assert_eq!(answer.status, 200, "{address}: {}", answer.text());
            assert_eq!(
                answer.header("content-type"),
                "application/json",
                "{address}"
            );
            let answer = answer.json();
            let faults: Vec<String> = validator
                .iter_errors(&answer)
                .map(|e| e.to_string())
                .collect();
            assert!(faults.is_empty(), "{address}: {faults:?}\n{answer}");
            // The schema is not so wide that it says nothing.
            assert!(!validator.is_valid(&json!({})), "{path}");
        }
    }
    served.stop();
}

#[test]
fn every_operation_takes_the_parameters_of_the_document_and_no_others() {
    let place = place();
    let served = Served::start(&place, &["bank"]);
    let document = document();
    let problem = &document["components"]["responses"]["problem"]["content"];
    let problem = validator(&document, &problem["application/problem+json"]["schema"]);
    let refused = |method: &str, address: &str, statuses: &[u16]| {
        let answer = ask(&served, method, address);
        assert!(
            statuses.contains(&answer.status),
            "{address}: {}",
            answer.text()
        );
        let kind = "application/problem+json";
        assert_eq!(answer.header("content-type"), kind, "{address}");
        let error: Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(problem.is_valid(&error), "{address}: {error}");
        assert_eq!(error["status"], answer.status, "{address}");
        error["detail"].as_str().unwrap().to_owned()
    };
    for path in paths(&document) {
        let (method, operation) = operation(&document, path);
        let why = refused(method, &format!("{path}?nothing=1"), &[400]);
        let (_, expected) = why.split_once("unknown field `nothing`").unwrap();
        let taken: BTreeSet<&str> = expected.split('`').skip(1).step_by(2).collect();
        let parameters = operation["parameters"].as_array().unwrap();
        let described: BTreeSet<&str> = parameters
            .iter()
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(taken, described, "{path}: {why}");
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap();
            refused(method, &format!("{path}?{name}=a&{name}=a"), &[400]);
            let schema = &parameter["schema"];
            assert!(parameter["description"].is_string(), "{path} {name}");
            let others: Vec<String> = parameters
                .iter()
                .filter(|other| other["required"] == true && other["name"] != name)
                .map(|other| format!("{}=1&", other["name"].as_str().unwrap()))
                .collect();
            if schema["type"] == "integer" || schema["enum"].is_array() {
                for value in ["", "x", "-1", "99999999999999999999"] {
                    let address = format!("{path}?{}{name}={value}", others.concat());
                    refused(method, &address, &[400]);
                }
            }
            if parameter["required"] == true {
                let without = format!("{path}?{}", others.concat());
                refused(method, without.trim_end_matches(['&', '?']), &[400]);
            }
        }
        let other = if method == "POST" { "GET" } else { "POST" };
        refused(other, path, &[405]);
    }
    for address in ["/v1/", "/v1/nothing", "/v1/page/", "/v1/plan?name=none"] {
        refused("GET", address, &[404]);
    }
    let answer = served.ask("POST", "/v1/compare", &[], LIST);
    assert_eq!(answer.status, 415);
    let allowed = |method: &str, path: &str| {
        let answer = served.ask(method, path, &[], b"");
        assert_eq!(answer.status, 405, "{method} {path}");
        answer.header("allow").to_owned()
    };
    assert_eq!(allowed("GET", "/v1/compare"), "POST");
    assert_eq!(allowed("DELETE", "/v1/page"), "GET, HEAD");
    served.stop();
}

#[test]
fn an_empty_bank_is_answered_too() {
    let place = Place::with_bank();
    let served = Served::start(&place, &["bank"]);
    let document = document();
    for (path, queries) in queries() {
        let (method, operation) = operation(&document, path);
        let content = &operation["responses"]["200"]["content"]["application/json"];
        let validator = validator(&document, &content["schema"]);
        for query in queries {
            let address = format!("{path}?{query}");
            let answer = ask(&served, method, &address);
            let error: Value = serde_json::from_slice(&answer.body).unwrap();
            match answer.status {
                200 => assert!(validator.is_valid(&error), "{address}: {error}"),
                status => assert_eq!(status, 404, "{address}: {error}"),
            }
        }
    }
    served.stop();
}

/// Lists are objects with a part of the lines that the command line prints.
#[test]
fn lists_are_the_lines_of_the_command_line_in_parts() {
    let place = crawled();
    let served = Served::start(&place, &["bank"]);
    for (name, line, query) in [
        ("seeds", "seeds bank", "/v1/seeds?refresh=2"),
        ("cores", "cores bank", "/v1/cores?refresh=2"),
        ("seeds", "seeds bank --refresh 1", "/v1/seeds?refresh=1"),
        ("seeds", "diff bank", "/v1/diff?from=1&to=2"),
        ("seeds", "diff bank 2 1", "/v1/diff?from=2&to=1"),
    ] {
        let printed = ok(&place, &format!("{line} --format jsonl"));
        let printed = printed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let mut printed: Vec<Value> = printed.collect();
        let summary = line
            .starts_with("diff")
            .then(|| printed.remove(0)["summary"].take());
        let mut found = Vec::new();
        for offset in (0..=printed.len()).step_by(7) {
            let path = format!("{query}&limit=7&offset={offset}");
            let mut part = served.get(&path).json();
            match &summary {
                Some(summary) => assert_eq!(&part["summary"], summary, "{path}"),
                None => assert_eq!(
                    (&part["total"], &part["offset"]),
                    (&printed.len().into(), &offset.into()),
                    "{path}"
                ),
            }
            found.append(part[name].as_array_mut().unwrap());
        }
        assert_eq!(found, printed, "{line}");
    }
    served.stop();
}
