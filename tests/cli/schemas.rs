//! JSON output matches `schema/`, without further fields.

use std::path::Path;

use crate::support::command::{Place, TWO_CORES, names};
use crate::support::plans::refresh;
use crate::support::schemas::{fits, schema, validator};
use serde_json::{Value, json};

#[test]
fn what_is_printed_fits() {
    let place = Place::with_bank();
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat());
    fits("status", &json(&["status", "bank"]).json());
    fits("history", &json(&["history", "bank"]).json());
    fits("check", &json(&["check", "bank"]).json());
    fits("repair", &json(&["repair", "bank"]).json());
    let crawl = ["synth", "crawl", "--pages", "50", "--days", "1"];
    fits("synth", &json(&crawl).json());
    let hosts = ["synth", "graph", "--shape", "hosts", "--pages", "50"];
    fits("synth-hosts", &json(&hosts).json());
    place.write("day0.jsonl", TWO_CORES);
    fits(
        "ingest",
        &json(&["ingest", "bank", "--snapshot", "day0.jsonl"]).json(),
    );
    fits(
        "ingest",
        &json(&["ingest", "bank", "--snapshot", "day0.jsonl"]).json(),
    );
    let odd = "bad\n{\"url\": \"http://o.example/\", \"odd\": 1, \"outlinks\": \
        [\"mailto:x\", \"/a\", \"http://o.example/\", \"http://a.example/\", \"http://a.example/\"]}\n\n";
    place.write("odd.jsonl", odd);
    let report = json(&["ingest", "bank", "odd.jsonl", "--max-rejects", "50"]).json();
    assert!(report["rejects_file"].is_string(), "{report}");
    fits("ingest", &report);
    fits(
        "ingest",
        &json(&[
            "ingest",
            "bank",
            "odd.jsonl",
            "--max-rejects",
            "50",
            "--dry-run",
        ])
        .json(),
    );
    fits(
        "refresh",
        &json(&["refresh", "bank", "--method", "cores", "--within", "0"]).json(),
    );
    let flags = [
        "--seeds",
        "1",
        "--hits",
        "classic",
        "--iterations",
        "9",
        "--growth",
        "literal",
        "--density",
        "99.5",
        "--max-hubs",
        "5",
        "--pick",
        "stable",
        "--keep-spam",
        "--pages",
        "all",
        "--method",
        "cores",
        "--keep",
        "1",
    ];
    fits("refresh", &json(&refresh(&flags[..])).json());
    let other = ["--plan", "other", "--core-size", "4", "--new-members", "2"];
    for flags in [&other[..], &["--plan", "near", "--within", "1"]] {
        let refresh = [&["refresh", "bank", "--method", "cores"], flags].concat();
        fits("refresh", &json(&refresh).json());
    }
    let empty = json(&["refresh", "bank", "--plan", "empty", "--pages", "crawled"]);
    assert_eq!(empty.status, Some(5));
    fits("refresh", &serde_json::from_str(&empty.out).unwrap());
    for plan in ["default", "other", "near", "empty"] {
        for seed in json(&["seeds", "bank", "--plan", plan]).json_lines() {
            fits("seeds", &seed);
        }
        for core in json(&["cores", "bank", "--plan", plan]).json_lines() {
            fits("cores", &core);
        }
    }
    for url in [
        "http://h1.example/",
        "http://h2.example/",
        "http://a1.example/",
    ] {
        fits("explain", &json(&["explain", "bank", url]).json());
    }
    fits(
        "explain",
        &json(&["explain", "bank", "--site", "h1.example"]).json(),
    );
    fits("site-facts", &json(&["site", "bank", "h1.example"]).json());
    fits("search", &json(&["search", "bank", "h1"]).json());
    let linked = ["page", "bank", "http://h1.example/", "--links", "out"];
    fits("page", &json(&linked).json());
    fits("status", &json(&["status", "bank"]).json());
    fits("history", &json(&["history", "bank"]).json());
    fits("check", &json(&["check", "bank"]).json());
}

#[test]
fn what_diff_and_the_history_of_a_page_print_fits() {
    let place = Place::with_seeds();
    let more = r#"{"url": "http://h1.example/", "gone": true}
{"url": "http://h0.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
{"url": "http://k2.example/", "outlinks": []}
"#;
    place.write("day1.jsonl", more);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    for flags in [
        &["--succeed"][..],
        &["--plan", "cover", "--method", "greedy", "--per-site", "1"],
    ] {
        place.run(&refresh(flags)).done();
    }
    place.write(
        "list.txt",
        "http://h1.example/\nhttp://h2.example/\nhttp://no.example/\n",
    );
    let mut causes = Vec::new();
    for args in [
        &["diff", "bank"][..],
        &["diff", "bank", "2", "1"],
        &["diff", "bank", "1", "1"],
        &["diff", "bank", "--against", "cover"],
        &["diff", "bank", "--seeds-file", "list.txt"],
        &[
            "diff",
            "bank",
            "--seeds-file",
            "list.txt",
            "--plan",
            "cover",
        ],
    ] {
        let lines = place.run(&[args, &["--format", "jsonl"]].concat());
        for (number, line) in lines.json_lines().iter().enumerate() {
            fits("diff", line);
            assert_eq!(line["summary"].is_object(), number == 0);
            causes.extend(line["cause"].as_str().map(str::to_owned));
        }
    }
    for cause in ["gone", "not-listed", "not-in-bank", "parameters", "revived"] {
        assert!(causes.iter().any(|told| told == cause), "{causes:?}");
    }
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).json();
    for url in [
        "http://h1.example/",
        "HTTP://H2.example",
        "http://a1.example/",
    ] {
        fits("history", &json(&["history", "bank", url]));
    }
    let seeds = place.run(&["seeds", "bank", "--format", "jsonl"]);
    let seeds = seeds.json_lines();
    for seed in &seeds {
        fits("seeds", seed);
    }
    let succeeds = &seeds[0]["succeeds"];
    assert_eq!(seeds[0]["url"], "http://h2.example/");
    assert_eq!(
        (&succeeds["url"], &succeeds["same_core"]),
        (&json!("http://h1.example/"), &json!(true))
    );
}

#[test]
fn schemas_are_sound_strict_and_described() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let all = names(&folder);
    let schemas: Vec<&str> = all
        .iter()
        .filter_map(|name| name.strip_suffix(".schema.json"))
        .collect();
    for needed in [
        "check", "cores", "diff", "explain", "history", "ingest", "record", "refresh", "report",
        "seeds", "status", "synth",
    ] {
        assert!(schemas.contains(&needed), "{needed}");
    }
    for name in schemas {
        let schema = schema(name);
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{name}"
        );
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        // All that it refers to is there.
        validator(name);
        assert!(schema["description"].is_string(), "{name}");
        // What goes in may have more.
        if !["record", "site"].contains(&name) {
            strict(name, &schema);
        }
    }
}

/// Every object with named fields allows no others, and describes each of them.
fn strict(name: &str, schema: &Value) {
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
        for (field, about) in fields {
            assert!(about["description"].is_string(), "{name}.{field}");
        }
    }
    match schema {
        Value::Object(parts) => parts.values().for_each(|part| strict(name, part)),
        Value::Array(parts) => parts.iter().for_each(|part| strict(name, part)),
        _ => {}
    }
}

#[test]
fn drift_is_caught() {
    let validator = validator("seeds");
    let seed = json!({"rank": 1, "url": "http://a.example/", "site": "a.example", "method": "cores",
        "plan": "p", "refresh": 1, "core": 1, "sigma": 1.0, "hub_score": 0.5});
    assert!(validator.is_valid(&seed));
    for (field, value) in [
        ("more", json!(1)),
        ("rank", json!(0)),
        ("url", json!("a")),
        ("gain", json!(1)),
    ] {
        let mut other = seed.clone();
        other[field] = value;
        assert!(!validator.is_valid(&other), "{field}");
    }
    let mut cover = json!({"rank": 1, "url": "http://a.example/", "site": "a.example",
        "method": "greedy", "plan": "p", "refresh": 1, "gain": -0.5, "covered_pages": 3,
        "covered_value": -0.25, "pick": 2, "since": 1});
    assert!(validator.is_valid(&cover));
    cover["seats"] = json!(3);
    assert!(validator.is_valid(&cover));
    cover["alive"] = json!(false);
    assert!(validator.is_valid(&cover));
    let mut less = seed;
    less.as_object_mut().unwrap().remove("sigma");
    assert!(!validator.is_valid(&less));
}
